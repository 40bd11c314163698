//! The independent auditor: checks any plan against facts and policy, and shares no code with the planner's levers.
//!
//! Facts are shared, and so is the guess of an undeclared class; what may be done with it is judged here again.
//! It counts hours one by one, evaluates schedules by looking at the owner's clock, and works out every amount again.

use lowwater_model::facts::Facts;
use lowwater_model::plan::Plan;
use lowwater_model::policy::Policy;
use serde::Serialize;

mod bill;
mod class;
mod clock;
mod commit;
mod contract;
mod evidence;
mod limits;
mod order;
mod recount;
mod shape;
mod spot;

#[cfg(test)]
mod mutations;

/// Hours of the month to which savings are scaled: its own count, because the auditor shares no code with the planner.
const MONTH_HOURS: f64 = 730.0;

/// Something in a plan that must not be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Violation {
    /// The rule that is broken, one of [`RULES`].
    pub rule: &'static str,
    /// Plan, step or refusal.
    #[serde(rename = "where")]
    pub where_: String,
    /// What is there and what should be.
    pub what: String,
}

/// Every rule: its name and what it demands.
pub const RULES: &[(&str, &str)] = &[
    (
        "identity",
        "The plan's id is the hash of the rest, a step's id the hash of its change; it names these facts and this policy, their period, instant, currency and basis.",
    ),
    (
        "target",
        "Every resource exists, once; a step is about exactly what its change touches, and about the workload that owns it.",
    ),
    (
        "form",
        "Title, risk and undo are those of the change; there is evidence.",
    ),
    ("order", "Phases never go back; no step stands twice."),
    ("owner", "Never, keep, standby and criticality are respected."),
    (
        "class",
        "The class fits the change. It is declared; or it is guessed beyond the policy's confidence, bears an interruption, nothing speaks against it, and the step says that it is a guess.",
    ),
    (
        "condition",
        "Where a stop may empty disks the step says so, and waits unless the policy acknowledges it.",
    ),
    ("hours", "Costs that are spread evenly are not touched."),
    (
        "measured",
        "Only hours that were observed to be idle go; a stop has a whole window of them, with memory and power known and low, and enough GPU money joined to metrics.",
    ),
    (
        "schedule",
        "A schedule is in its owner's zone and calendar, rests on enough history, and covers every hour of the week that is needed.",
    ),
    (
        "foretold",
        "The windows hold most of the hours in which a fleet was at work, and many of those of each machine in it.",
    ),
    (
        "scarce",
        "GPUs that are hard to get back are scheduled only with reserved capacity or with the risk allowed and priced.",
    ),
    (
        "spot",
        "Only declared, resumable checkpoints go to spot, once, on a known and fresh market of their type and region, with expected hours and interruptions that follow from it, the best interval, all side costs, time before the deadline and the policy's net saving.",
    ),
    (
        "commit",
        "A commitment is for machines of its scope, each in one only, at a known and fresh price; its last unit replaces more than it costs on what earlier steps leave; history, trend, complete days, term, exposure and size are as the policy asks.",
    ),
    (
        "saving",
        "Cash, freed commitment, share, loss-without and monthly amounts are what counting the hours gives; ranges are in order; a step saves at least what the policy asks.",
    ),
    ("overlap", "No hour is saved by two steps."),
    (
        "total",
        "Shares, less what minimums take, sum to the total, and the planned bill is the bill less the cash.",
    ),
    (
        "contract",
        "What each contract's minimum takes of the saving, and the share of the plan that rests on list prices, are what counting gives.",
    ),
    ("bill", "With no change the bill is the loaded bill, exactly."),
    (
        "alternative",
        "Every other order holds the same steps in the order of its name, with cash by week as counting gives it; one that commits on other demand than the plan says so, and buys what is worth it there.",
    ),
    (
        "declined",
        "A refusal has a lever, a reason and a target, and is not a step too.",
    ),
];

/// Everything that is wrong with the plan, in the order of the rules; empty = nothing found.
pub fn audit(facts: &Facts, policy: &Policy, plan: &Plan) -> Vec<Violation> {
    let case = Case { facts, policy, plan };
    let mut report = Report::default();
    shape::check(case, &mut report);
    limits::check(case, &mut report);
    evidence::check(case, &mut report);
    spot::check(case, &mut report);
    commit::check(case, &mut report);
    bill::check(case, &mut report);
    contract::check(case, &mut report);
    order::check(case, &mut report);
    let place = |v: &Violation| RULES.iter().position(|(rule, _)| *rule == v.rule);
    report.0.sort_by_key(|v| (place(v), v.clone()));
    report.0.dedup();
    report.0
}

/// What is audited.
#[derive(Clone, Copy)]
struct Case<'a> {
    facts: &'a Facts,
    policy: &'a Policy,
    plan: &'a Plan,
}

/// What was found so far.
#[derive(Default)]
struct Report(Vec<Violation>);

impl Report {
    /// Notes a violation unless the rule holds.
    fn demand(&mut self, holds: bool, rule: &'static str, at: &str, what: impl FnOnce() -> String) {
        debug_assert!(
            RULES.iter().any(|(name, _)| *name == rule),
            "rule `{rule}` is not listed"
        );
        if !holds {
            self.0.push(Violation {
                rule,
                where_: at.to_owned(),
                what: what(),
            });
        }
    }
}

/// Where a step is, for a reader.
fn at(step: &lowwater_model::plan::Step) -> String {
    format!("step {}", step.id)
}
