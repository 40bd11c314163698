//! `lowwater log`: who decided what.

use lowwater_store::layout::check_data_dir;
use lowwater_store::state::State;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::output;
use crate::view::log::Log;

/// Show who approved, logged in or was added, and check that no line was changed or is gone
///
/// Each line holds the hash of the one before. Write the newest hash down elsewhere: a log that was
/// made anew from the beginning would not have it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lowwater log
  lowwater log --last 1000 --json")]
pub struct Args {
    /// Lines to show, the newest
    #[arg(long, default_value_t = 50)]
    last: usize,
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        check_data_dir(&settings.data)?;
        let entries = State::there(&settings.data)?.map(|state| state.log()).transpose()?;
        output::show(settings, &Log::new(entries.unwrap_or_default(), self.last))?;
        Ok(Outcome::Done)
    }
}
