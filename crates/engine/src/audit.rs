//! The independent auditor: checks any plan against facts and policy, and shares no code with the planner.

use lowwater_model::facts::Facts;
use lowwater_model::plan::Plan;
use lowwater_model::policy::Policy;
use serde::Serialize;

use crate::identity::{plan_id, policy_id};

/// Something in a plan that must not be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Violation {
    /// The rule that is broken.
    pub rule: &'static str,
    /// Plan, step or refusal.
    #[serde(rename = "where")]
    pub where_: String,
    /// What is there and what should be.
    pub what: String,
}

/// Everything that is wrong with the plan, in order; empty = nothing found.
pub fn audit(facts: &Facts, policy: &Policy, plan: &Plan) -> Vec<Violation> {
    let checks = [
        (plan.id == plan_id(plan), "the id is not the hash of the rest"),
        (plan.facts == facts.id, "made from other facts"),
        (plan.policy == policy_id(policy), "made under another policy"),
    ];
    let broken = checks.into_iter().filter(|(holds, _)| !holds);
    broken
        .map(|(_, what)| Violation {
            rule: "identity",
            where_: "plan".into(),
            what: what.into(),
        })
        .collect()
}
