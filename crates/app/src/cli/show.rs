//! `lowwater show`

use lowwater_model::plan::Plan;
use lowwater_store::store::Store;

use super::Outcome;
use crate::amount::echoed;
use crate::config::Settings;
use crate::error::AppError;
use crate::view::next::Next;
use crate::view::plan::{Extent, PlanView};
use crate::view::prices::Prices;
use crate::view::step::StepView;
use crate::{output, plan_file, registry};

/// Show the whole plan, one step of it, or every price with its basis and age
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lowwater show plan\n  lowwater show 1\n  lowwater show prices")]
pub struct Args {
    /// `plan`, `prices`, or a step: its number, or the beginning of its id
    #[arg(value_name = "plan|prices|STEP")]
    what: String,
    /// Read this plan instead of DIR/plan.json
    #[arg(long, value_name = "FILE")]
    plan: Option<std::path::PathBuf>,
    /// With `prices`: every known price, not only those of what the bill holds
    #[arg(long)]
    all: bool,
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        if self.what == "prices" {
            let store = Store::open(&settings.data, &registry::lever_sections())?;
            output::show(settings, &Prices::new(&store.facts(None)?, self.all))?;
            return Ok(Outcome::Done);
        }
        let plan = plan_file::read(settings, self.plan.as_deref())?;
        let next = Next::new(settings);
        // A plan can be read without a bill: then there is nothing to compare it with.
        let store = Store::open(&settings.data, &registry::lever_sections()).ok();
        let stale = store.and_then(|store| plan_file::stale(&store, &plan, settings));
        if self.what == "plan" {
            output::show(settings, &PlanView { plan: &plan, written: None, stale, extent: Extent::Whole, next })?;
        } else {
            let index = find(&plan, &self.what)?;
            output::show(settings, &StepView { plan: &plan, index, stale, next })?;
        }
        Ok(Outcome::Done)
    }
}

/// A step by its number (from 1) or by the beginning of its id.
fn find(plan: &Plan, name: &str) -> Result<usize, AppError> {
    let number = name.parse::<usize>().ok().filter(|n| (1..=plan.steps.len()).contains(n));
    if let Some(number) = number {
        return Ok(number - 1);
    }
    let begins = plan.steps.iter().enumerate().filter(|(_, s)| !name.is_empty() && s.id.as_str().starts_with(name));
    let found: Vec<usize> = begins.map(|(i, _)| i).collect();
    match (found[..].first(), found.len()) {
        (Some(index), 1) => Ok(*index),
        (_, 0) => Err(AppError::Usage(format!(
            "the plan has no step {}; it has {}\nhint: `lowwater show plan` lists the steps by number and id",
            echoed(name),
            crate::amount::plural(plan.steps.len() as u64, "step")
        ))),
        (_, n) => Err(AppError::Usage(format!("{n} steps begin with {}\nhint: give more of the id, or the number", echoed(name)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    #[test]
    fn a_step_by_number_or_by_the_beginning_of_its_id() {
        let plan = sample::plan();
        assert_eq!(find(&plan, "1").unwrap(), 0);
        assert_eq!(find(&plan, "aa99").unwrap(), 1);
        let error = |name: &str| find(&plan, name).unwrap_err();
        assert!(error("aa").message().is_some_and(|m| m.starts_with("2 steps begin with `aa`")));
        assert!(error("3").message().is_some_and(|m| m.contains("has no step `3`; it has 2 steps")));
        assert!(error("").message().is_some_and(|m| m.contains("has no step")));
        assert_eq!(error("x").exit_code(), 2);
    }
}
