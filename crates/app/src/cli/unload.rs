//! `lowwater unload`

use clap::builder::PossibleValuesParser;
use lowwater_store::layout::Layout;
use lowwater_store::unload::{Chosen, KINDS, held, unload};

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::output;
use crate::progress::Watch;
use crate::view::next::Next;
use crate::view::unload::Unloaded;

/// Take loads back: whole months of bills, metrics, jobs or prices; without an option, list what is loaded
///
/// All that fits every given option is removed, at once or not at all. Load the files again to have
/// it back: they are read anew, also under another --source, --provider, --host or --tz.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lowwater unload                                   what is loaded
  lowwater unload --kind usage --source nvidia-smi  all of these metrics
  lowwater unload --source aws --month 2026-10      one month of a bill")]
pub struct Args {
    /// Only this kind
    #[arg(long, value_parser = PossibleValuesParser::new(KINDS))]
    kind: Option<String>,
    /// Only this source
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Only this billing account, or this provider of price lists
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Only this month, such as 2026-10
    #[arg(long, value_name = "MONTH", value_parser = month)]
    month: Option<String>,
}

fn month(text: &str) -> Result<String, String> {
    let is_month = text.len() == 7 && jiff::civil::Date::strptime("%Y-%m-%d", format!("{text}-01")).is_ok();
    is_month
        .then(|| text.to_owned())
        .ok_or_else(|| "write a month such as 2026-10".to_owned())
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let chosen = Chosen {
            kind: self.kind.clone(),
            source: self.source.clone(),
            account: self.account.clone(),
            month: self.month.clone(),
        };
        let next = Next::new(settings);
        let there = held(&Layout::open(&settings.data)?.manifest()?);
        if chosen == Chosen::default() {
            output::show(settings, &Unloaded::list(&there, next))?;
            return Ok(Outcome::Done);
        }
        let gone = unload(&settings.data, &chosen, &Watch::new(settings))?;
        if gone.is_empty() {
            return Err(AppError::Usage(format!(
                "nothing that is loaded fits all of these options\nhint: `{}` lists what is loaded",
                next.command("unload")
            )));
        }
        output::show(settings, &Unloaded::gone(&gone, next))?;
        Ok(Outcome::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_a_month() {
        assert_eq!(month("2026-10"), Ok("2026-10".to_owned()));
        for wrong in ["2026-13", "2026", "2026-1", "2026-10-01", "", "10-2026"] {
            assert!(month(wrong).is_err(), "{wrong}");
        }
    }
}
