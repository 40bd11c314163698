//! `lowwater check`

use lowwater_store::store::Store;

use super::Outcome;
use super::plan;
use crate::config::Settings;
use crate::error::AppError;
use crate::view::check::CheckView;
use crate::view::next::Next;
use crate::{output, plan_file, registry};

/// Look for the common mistakes with GPUs, each with what it costs; exit code 1 when there are any
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Leave plan.json out: do not say when it is too old
    #[arg(long)]
    no_plan: bool,
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let store = Store::open(&settings.data, &registry::lever_sections())?;
        let facts = store.facts(None)?;
        let policy = &store.config().policy;
        let plan = plan::of(&facts, policy)?;
        let mistakes = lowwater_engine::mistake::mistakes(&facts, policy, &plan);
        // The plan that people work from, if there is one: a missing file is no mistake.
        let written = if self.no_plan { None } else { plan_file::read(settings, None).ok() };
        let view = CheckView::new(mistakes, &facts, Next::new(settings))
            .with_tags(&store.tagging()?)
            .with_plan(written.as_ref(), policy.section("check").int("max_plan_age_days"));
        output::show(settings, &view)?;
        Ok(if view.is_good() { Outcome::Done } else { Outcome::Findings })
    }
}
