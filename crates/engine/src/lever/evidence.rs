//! Evidence that several levers give: prices with their age, disks that a stop empties, money at stake.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use lowwater_model::change::{Change, Condition};
use lowwater_model::facts::{Facts, LineKind, Resource};
use lowwater_model::id::Sku;
use lowwater_model::known::Known;
use lowwater_model::money::{Estimate, Money};
use lowwater_model::offer::{Market, PriceKey};
use lowwater_model::period::Period;
use lowwater_model::policy::Policy;

use crate::replay::{Replay, Saved};

/// Name of the condition that somebody said the data on the disks is safe.
pub(crate) const STORE_CONDITION: &str = "instance_store_acknowledged";

/// What a lever that needs hours says of a cost without them.
pub(super) const NEEDS_HOURS: &str =
    "needs hours: its cost is billed by the day or month and spread evenly, so nobody can say which hours cost what";

/// The numbers of a refusal: what the change would save a month.
pub(super) fn at_stake(so_far: &Replay<'_>, change: &Change) -> BTreeMap<String, Estimate> {
    let before = so_far.part(&change.kind().resources());
    stake_of(so_far.facts(), before.with(change).saved() - before.saved())
}

/// A saving over the period as numbers of a refusal.
pub(super) fn stake_of(facts: &Facts, saved: Saved) -> BTreeMap<String, Estimate> {
    let month = saved.per_month(facts);
    BTreeMap::from([
        ("cash_per_month".to_owned(), month.cash),
        ("freed_per_month".to_owned(), month.freed),
    ])
}

/// The rate that the resource costs on demand, with basis and age; or why there is none.
pub(super) fn price(facts: &Facts, resource: &Resource) -> String {
    let sku = match &resource.sku {
        Known::Value(sku) => sku,
        Known::Unknown(why) => return format!("price of {} unknown: {why}", resource.id),
    };
    let key = PriceKey {
        cloud: &resource.cloud,
        region: resource.region.as_str(),
        sku: sku.as_str(),
        market: Market::OnDemand,
    };
    let day = TimeZone::UTC.to_datetime(facts.as_of).date();
    match facts.prices.find(&key, day) {
        Known::Value(offer) => {
            format!(
                "{sku} costs {:.4} {} an hour: {}",
                offer.rate.0,
                offer.currency,
                offer.evidence(day)
            )
        }
        Known::Unknown(why) => format!("price of {sku} unknown: {why}"),
    }
}

/// What the resource itself, without its disks, cost in a part of the history.
pub(crate) fn compute_cost(resource: &Resource, within: Period) -> Money {
    let hours = within.hour_range();
    let compute = resource.lines.iter().filter(|line| line.kind == LineKind::Compute);
    let runs = compute.flat_map(|line| &line.runs);
    runs.map(|run| {
        run.cost
            .times((run.end().0.min(hours.end) - run.start.0.max(hours.start)).max(0))
    })
    .sum()
}

/// A number with its noun.
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// May a stop empty disks of the resource? What is not known counts as yes.
pub(super) fn may_lose_disks(resource: &Resource) -> bool {
    resource.sku_fact().and_then(|fact| fact.instance_store) != Some(false)
}

/// The condition on the disks of the resources, where any of them may be emptied by a stop.
pub(super) fn store_condition(resources: &[&Resource], policy: &Policy) -> Option<Condition> {
    let plan = policy.section("plan");
    let acknowledged = plan.list("instance_store_acknowledged");
    let losing: Vec<&&Resource> = resources.iter().filter(|r| may_lose_disks(r)).collect();
    if losing.is_empty() {
        return None;
    }
    let is_named = |name: &str| acknowledged.contains(&name);
    let open = losing.iter().filter(|r| {
        let workload = r.owner.workload.as_ref();
        !is_named(r.id.as_str()) && !workload.is_some_and(|w| is_named(w.as_str()))
    });
    let open: BTreeSet<&str> = open.map(|r| r.id.as_str()).collect();
    let kinds: BTreeSet<&str> = losing.iter().filter_map(|r| r.sku.value().map(Sku::as_str)).collect();
    let kinds = if kinds.is_empty() {
        "unknown types".to_owned()
    } else {
        kinds.into_iter().collect::<Vec<_>>().join(", ")
    };
    let text = if open.is_empty() {
        format!("a stop empties the instance-store disks of {kinds}; their owners said that nothing on them is needed")
    } else {
        format!(
            "a stop empties the instance-store disks of {kinds} (not acknowledged for {} of {}): save what is on \
             them, then name the workload or the resource in [plan] {STORE_CONDITION}",
            open.len(),
            count(resources.len(), "resource")
        )
    };
    Some(Condition {
        id: STORE_CONDITION.into(),
        text,
        met: open.is_empty(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn facts(resources: &str) -> Facts {
        sample::facts(&format!(
            "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 2\nreplay_days = 1\n\
             price = [{{ sku = \"g5.xlarge\", rate = 1.006, as_of = \"2026-10-01\" }}]\n{resources}"
        ))
    }

    #[test]
    fn a_price_names_its_basis_and_age_or_why_there_is_none() {
        let of = |sku: &str| {
            let facts = facts(&format!("[[resource]]\nid = \"a\"\n{sku}"));
            price(&facts, &facts.resources[0])
        };
        assert_eq!(
            of("sku = \"g5.xlarge\""),
            "g5.xlarge costs 1.0060 USD an hour: observed price of 2026-10-01 (32 days old, bill)"
        );
        assert!(of("sku = \"g6.xlarge\"").starts_with("price of g6.xlarge unknown: no on_demand price"));
        assert_eq!(of(""), "price of a unknown: no SKU on the bill");
    }

    #[test]
    fn disks_may_be_lost_unless_the_table_says_no() {
        let facts = facts(
            "[[resource]]\nid = \"a\"\nsku = \"g5.xlarge\"\nworkload = \"nb\"\n[[resource]]\nid = \"b\"\n\
             [[resource]]\nid = \"c\"\nsku = \"a2-highgpu-1g\"",
        );
        let [a, b, c] = &facts.resources[..] else {
            panic!("three resources")
        };
        assert_eq!([a, b, c].map(may_lose_disks), [true, true, false]);
        let condition = |resources: &[&Resource], named: &str| {
            let policy = sample::policy(&format!("[plan]\ninstance_store_acknowledged = [{named}]"));
            store_condition(resources, &policy).map(|condition| condition.met)
        };
        assert_eq!(condition(&[c], ""), None);
        assert_eq!(condition(&[a, b, c], ""), Some(false));
        assert_eq!(condition(&[a, b, c], "\"nb\""), Some(false), "`b` is nobody's");
        assert_eq!(condition(&[a, b, c], "\"nb\", \"b\""), Some(true));
        let text = store_condition(&[a, b, c], &sample::policy("")).unwrap().text;
        assert!(
            text.contains("of g5.xlarge (not acknowledged for 2 of 3 resources)"),
            "{text}"
        );
    }

    #[test]
    fn compute_cost_is_that_of_the_period_without_disks() {
        let facts = facts(
            "[[resource]]\nid = \"a\"\nline = [{ rate = \"1.5\" }, { rate = \"9\", kind = \"other\" }, { rate = \"0.5\", spread = \"even\" }]",
        );
        assert_eq!(compute_cost(&facts.resources[0], facts.period), Money::whole(48));
        assert_eq!(compute_cost(&facts.resources[0], facts.history), Money::whole(96));
    }

    #[test]
    fn a_number_and_its_noun() {
        assert_eq!(
            (count(1, "machine"), count(2, "machine")),
            ("1 machine".into(), "2 machines".into())
        );
    }
}
