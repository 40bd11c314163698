//! What a refusal is about in money: what the step would save a month, else what its machines cost a month.

use std::cmp::Reverse;

use lowwater_model::facts::Facts;
use lowwater_model::money::Money;
use lowwater_model::plan::Declined;

use super::month_factor;
use crate::lever::compute_cost;

/// The number that stands for the cost of the machines, where nothing says what the step would save.
const COST: &str = "cost_per_month";

/// Gives every refusal money and puts those with the most first.
pub(super) fn sorted(facts: &Facts, mut declined: Vec<Declined>) -> Vec<Declined> {
    for one in &mut declined {
        if one.at_stake() <= 0.0 {
            let members = one.target.resources.iter().filter_map(|id| facts.resource(id));
            let cost: Money = members.map(|resource| compute_cost(resource, facts.period)).sum();
            one.numbers
                .insert(COST.to_owned(), cost.estimate().scaled(month_factor(facts)).rounded());
        }
    }
    // Whole cents decide: what differs by less is in the order of its names.
    let cents = |one: &Declined| (one.at_stake() * 100.0).round() as i64;
    declined.sort_by(|a, b| {
        (Reverse(cents(a)), &a.lever, &a.target, &a.why).cmp(&(Reverse(cents(b)), &b.lever, &b.target, &b.why))
    });
    declined
}
