//! `lowwater plan`

use std::path::PathBuf;

use jiff::Timestamp;
use lowwater_engine::Violation;
use lowwater_model::facts::Facts;
use lowwater_model::plan::Plan;
use lowwater_model::policy::Policy;
use lowwater_store::config::Config;
use lowwater_store::store::Store;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::view::next::Next;
use crate::view::plan::{Extent, PlanView};
use crate::{amount, output, plan_file, registry};

/// Seed of a plan's random parts where nobody names one.
pub const SEED: u64 = 1;

/// Make a plan: what to change, in which order, and what each step saves, replayed on your past
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lowwater plan\n  lowwater plan --as-of 2026-10-01 --out september.json")]
pub struct Args {
    /// See nothing after this day or instant [default: the end of the bill]
    #[arg(long, value_name = "TIME", value_parser = crate::time::instant_or_day)]
    as_of: Option<Timestamp>,
    /// Use these limits instead of DIR/policy.toml
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Write the plan there instead of DIR/plan.json
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Plans and audits: a plan that the auditor finds fault with does not leave this function.
pub fn make(store: &Store, as_of: Option<Timestamp>) -> Result<Plan, AppError> {
    of(&store.facts(as_of)?, &store.config().policy)
}

/// The same of facts that are there.
pub fn of(facts: &Facts, policy: &Policy) -> Result<Plan, AppError> {
    let plan = lowwater_engine::plan(facts, policy, SEED);
    let violations = lowwater_engine::audit(facts, policy, &plan);
    if violations.is_empty() { Ok(plan) } else { Err(AppError::Refused(faults(&violations))) }
}

fn faults(violations: &[Violation]) -> String {
    let lines: Vec<String> = violations.iter().map(|v| format!("  {} at {}: {}", v.rule, v.where_, v.what)).collect();
    format!("the auditor finds fault with the plan; it was not written\n{}\nhint: this is a fault of Lowwater: please report it", lines.join("\n"))
}

impl Args {
    /// A plan sees whole days that the bill has, whatever was asked for.
    fn late_words(&self, plan: &Plan) -> Option<String> {
        let asked = self.as_of.filter(|at| at.as_second() - plan.as_of.as_second() >= 24 * 3600)?;
        let (asked, end) = (amount::instant(asked), amount::instant(plan.as_of));
        Some(format!("--as-of {asked} is after the end of the bill: planned as of {end}"))
    }

    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let levers = registry::lever_sections();
        let store = match &self.policy {
            Some(file) => Store::open_with(&settings.data, Config::read_under(&settings.data, file, &levers)?)?,
            None => Store::open(&settings.data, &levers)?,
        };
        let plan = make(&store, self.as_of)?;
        let path = plan_file::path(settings, self.out.as_deref());
        plan_file::write(&path, &plan)?;
        if let Some(words) = self.late_words(&plan) {
            output::remark(settings, &words);
        }
        let view = PlanView { plan: &plan, written: Some(path.display().to_string()), stale: None, extent: Extent::Short, next: Next::new(settings) };
        output::show(settings, &view)?;
        Ok(Outcome::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named_one_by_one() {
        let violation = Violation { rule: "shares", where_: "plan".into(), what: "do not sum".into() };
        assert!(faults(&[violation]).contains("\n  shares at plan: do not sum\nhint: "));
    }
}
