//! `lowwater rejects`

use lowwater_store::store::Store;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::view::rejects::Rejects;
use crate::{output, registry};

/// Rows that the text form shows.
const MOST: usize = 50;

/// List the rows that were not kept: file, row, column, value, reason, money at stake
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show every row, not only the first 50
    #[arg(long)]
    all: bool,
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let store = Store::open(&settings.data, &registry::lever_sections())?;
        let most = if self.all { usize::MAX } else { MOST };
        output::show(settings, &Rejects::new(store.rejects()?, store.currency(), most))?;
        Ok(Outcome::Done)
    }
}
