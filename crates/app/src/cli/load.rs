//! `lowwater load`

use std::path::PathBuf;

use jiff::Timestamp;
use lowwater_store::load::{Existing, LoadRequest};
use lowwater_store::store::Store;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::progress::Watch;
use crate::view::load::Loaded;
use crate::view::next::Next;
use crate::{output, registry};

/// Load bills and GPU metrics; prints every sum to its last digit
///
/// All files of one call are one export. A newer export of a month replaces that month of that
/// source and account whole; the same files again change nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lowwater load bills/2026-10/
  lowwater load scrape.prom --at 2026-10-31T14:05:00Z
  lowwater load smi.csv --host node-7 --tz Europe/Berlin")]
pub struct Args {
    /// Files or folders
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Format by name [default: found from the content]
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(lowwater_store::format::FORMATS.iter().map(|f| f.name)))]
    format: Option<String>,
    /// Name of the source [default: the provider of a bill, the format of metrics]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Provider, where the bill names none
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Replace months that are there, whatever that removes
    #[arg(long, conflicts_with = "append")]
    replace: bool,
    /// Add to months that are there
    #[arg(long)]
    append: bool,
    /// Host, where the metrics name none
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Time zone of times without offset, such as Europe/Berlin
    #[arg(long, value_name = "ZONE", value_parser = zone)]
    tz: Option<String>,
    /// Time of a scrape without timestamps, such as 2026-10-31T14:05:00Z
    #[arg(long, value_name = "TIME", value_parser = instant)]
    at: Option<Timestamp>,
}

fn zone(text: &str) -> Result<String, String> {
    let known = jiff::tz::TimeZone::get(text).map(|_| text.to_owned());
    known.map_err(|_| "is not an IANA time zone such as Europe/Berlin".to_owned())
}

fn instant(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| "write an instant with offset, such as 2026-10-31T14:05:00Z".to_owned())
}

impl Args {
    fn request(&self) -> LoadRequest {
        LoadRequest {
            paths: self.paths.clone(),
            format: self.format.clone(),
            source: self.source.clone(),
            provider: self.provider.clone(),
            existing: match (self.replace, self.append) {
                (true, _) => Existing::Replace,
                (_, true) => Existing::Append,
                _ => Existing::Guarded,
            },
            host: self.host.clone(),
            tz: self.tz.clone(),
            at: self.at,
        }
    }

    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let policy = registry::policy(settings, None)?;
        let watch = Watch::new(settings);
        let report = lowwater_store::load::load(&settings.data, &self.request(), &policy, &watch)?;
        // What is committed stays committed: from here on Ctrl-C has nothing to undo.
        watch.step("joining metrics to the bill");
        let store = Store::open(&settings.data, &registry::lever_sections())?;
        let currency = store.manifest().currency.clone();
        let loaded = Loaded::new(&report, currency, &store.coverage()?, Next::new(settings));
        drop(watch);
        output::show(settings, &loaded)?;
        Ok(Outcome::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_and_instants_are_checked_before_anything_is_read() {
        assert_eq!(zone("Europe/Berlin"), Ok("Europe/Berlin".to_owned()));
        assert!(zone("Berlin").is_err());
        assert!(instant("2026-10-31T14:05:00Z").is_ok());
        assert!(instant("2026-10-31 14:05").unwrap_err().contains("offset"));
    }
}
