//! `lowwater tags`

use lowwater_store::store::Store;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::view::next::Next;
use crate::view::tags::TagsView;
use crate::{output, registry};

/// Show how much of the money carries the required tags, and the fewest resources to tag
///
/// The required keys and the share that should carry them are `owner.required_tags` and
/// `tags.target_share` of policy.toml. Exit code 1 where a key is below that share.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show every resource to tag, not only the first 20
    #[arg(long)]
    all: bool,
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let store = Store::open(&settings.data, &registry::lever_sections())?;
        let view = TagsView::new(store.tagging()?, store.currency(), self.all, Next::new(settings));
        output::show(settings, &view)?;
        Ok(if view.is_good() { Outcome::Done } else { Outcome::Findings })
    }
}
