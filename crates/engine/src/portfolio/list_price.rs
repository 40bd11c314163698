//! How much of a plan's money rests on list prices.

use std::collections::BTreeSet;

use lowwater_model::facts::Facts;
use lowwater_model::id::ResourceId;
use lowwater_model::money::{Estimate, Money};
use lowwater_model::offer::PriceBasis;
use lowwater_model::plan::ListShare;
use lowwater_model::policy::Policy;

use super::Chosen;
use crate::lever::compute_cost;

/// The share of the machines that steps price anew at list price, by what they cost, among all that steps touch; none
/// where there are none of them.
pub(super) fn share(facts: &Facts, policy: &Policy, chosen: &[Chosen]) -> Option<ListShare> {
    let is_list = |step: &&Chosen| step.finding.price.is_some_and(PriceBasis::is_list);
    let cost = cost_of(facts, chosen.iter().filter(is_list));
    let of = cost_of(facts, chosen.iter());
    (cost > Money::ZERO && of > Money::ZERO).then(|| ListShare {
        cost,
        of,
        share: Estimate::new(cost.estimate().amount() / of.estimate().amount()).rounded(),
        limit: policy.section("plan").float("max_list_share"),
    })
}

/// What the machines of the steps cost in the period, each once.
fn cost_of<'a>(facts: &Facts, steps: impl Iterator<Item = &'a Chosen>) -> Money {
    let ids: BTreeSet<&ResourceId> = steps.flat_map(|step| &step.resources).collect();
    let resources = ids.into_iter().filter_map(|id| facts.resource(id));
    resources.map(|resource| compute_cost(resource, facts.period)).sum()
}
