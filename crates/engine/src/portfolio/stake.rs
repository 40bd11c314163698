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
            // Machines without a known cost in these days are about money that nobody knows, not about none.
            if !cost.is_zero() {
                one.numbers
                    .insert(COST.to_owned(), cost.estimate().scaled(month_factor(facts)).rounded());
            }
        }
    }
    // Whole cents decide: what differs by less is in the order of its names.
    let cents = |one: &Declined| (one.at_stake() * 100.0).round() as i64;
    declined.sort_by(|a, b| {
        (Reverse(cents(a)), &a.lever, &a.target, &a.why).cmp(&(Reverse(cents(b)), &b.lever, &b.target, &b.why))
    });
    declined
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use lowwater_model::money::Estimate;
    use lowwater_model::plan::Target;

    use super::*;
    use crate::sample;

    #[test]
    fn the_most_money_comes_first_and_what_nobody_knows_is_no_zero() {
        let facts = sample::facts(
            "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 14\nreplay_days = 14\n[[resource]]\nid = \"a\"\nline = [{ rate = \"1\" }]\n",
        );
        let refusal = |id: &str, cash: Option<f64>| Declined {
            lever: "idle".into(),
            target: Target {
                resources: [id.into()].into(),
                ..Target::default()
            },
            why: "no".into(),
            numbers: cash
                .map(|cash| ("cash_per_month".to_owned(), Estimate::new(cash)))
                .into_iter()
                .collect(),
            declare: None,
        };
        let all = sorted(
            &facts,
            vec![refusal("gone", None), refusal("b", Some(40.0)), refusal("a", None)],
        );
        let of = |one: &Declined| (one.target.resources.first().unwrap().to_string(), one.at_stake());
        assert_eq!(
            all.iter().map(of).collect::<Vec<_>>(),
            [("a".into(), 730.0), ("b".into(), 40.0), ("gone".into(), 0.0)]
        );
        assert_eq!(all[2].numbers, BTreeMap::new(), "its cost is unknown");
    }
}
