//! `lowwater offers`

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lowwater_model::offer::Market;
use lowwater_store::config::Config;
use lowwater_store::store::Store;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::view::offers::{Offers, Search};
use crate::{output, registry};

/// Search every known price: observed in the bill, written down, loaded price lists, the built-in table
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lowwater offers h100 --region 'us-*'
  lowwater offers p5.48xlarge --market spot
  lowwater load catalogs/v9/aws/vms.csv       (a SkyPilot price catalogue, for more of them)")]
pub struct Args {
    /// An accelerator (h100, a100) or an instance type (p5.48xlarge, `g6.*`) [default: all]
    #[arg(value_name = "ACCELERATOR|SKU")]
    what: Option<String>,
    /// Only regions that match, such as us-east-1 or `us-*`
    #[arg(long, value_name = "GLOB")]
    region: Option<String>,
    /// Only this provider
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Only these terms
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(Market::ALL.iter().map(|m| m.as_str())))]
    market: Option<String>,
    /// Only machines with so many accelerators
    #[arg(long, value_name = "N")]
    count: Option<f64>,
    /// Show every offer, not only the 40 cheapest
    #[arg(long)]
    all: bool,
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let config = Config::read(&settings.data, &registry::lever_sections())?;
        let store = Store::open_even_empty(&settings.data, config)?;
        let now = Timestamp::now();
        let search = Search {
            what: self.what.clone(),
            region: self.region.clone(),
            provider: self.provider.clone(),
            market: self.market.as_deref().and_then(Market::parse),
            count: self.count,
        };
        let view = Offers::new(&store.offers(now)?, &search, TimeZone::UTC.to_datetime(now).date(), self.all);
        output::show(settings, &view)?;
        Ok(Outcome::Done)
    }
}
