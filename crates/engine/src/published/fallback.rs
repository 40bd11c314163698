//! "40 % with fallback": training on spot that goes on on demand while there is no spot capacity.

use super::{SOBER_DISCOUNT, billed_anew, close, months, on_spot, planned_month};
use crate::solve::checkpoint::{Interruptions, best_interval};
use crate::{sample, shared};
use lowwater_model::facts::Facts;
use std::collections::BTreeMap;

const HOURS: u32 = 1_000;
const RATE: f64 = 21.957_642;

/// A job of a thousand hours, the first of them with spot capacity at hand, the others without.
fn job(with_spot: u32, market: &str) -> Facts {
    let mut facts = sample::facts(&format!(
        r#"
        as_of = "2026-12-01T16:00:00Z"
        history_days = 42
        replay_days = 42
        spot = [{market}]
        [[resource]]
        id = "with"
        sku = "p4d.24xlarge"
        class = "training"
        workload = "training"
        checkpoint = {{ every = "1h", gb = 100, resumable = true }}
        never = ["commit"]
        line = [{{ rate = "{RATE}" }}]
        [[resource]]
        id = "without"
        sku = "p4d.24xlarge"
        class = "training"
        workload = "waiting"
        never = ["use_spot", "commit"]
        line = [{{ rate = "{RATE}" }}]
        "#
    ));
    let start = facts.period.hour_range().start;
    for (resource, (first, hours)) in facts
        .resources
        .iter_mut()
        .zip([(0, with_spot), (with_spot, HOURS - with_spot)])
    {
        let run = &mut resource.lines[0].runs[0];
        (run.start, run.hours) = (lowwater_model::period::Hour(start + i64::from(first)), hours);
    }
    billed_anew(facts)
}

/// Hours of a thousand that need spot capacity for 40 % less; none where all would not be enough.
fn needed(discount: f64, stretch: f64) -> Option<u32> {
    let left = |hours: u32| {
        let facts = job(hours, "");
        let (before, after) = months(
            &facts,
            &[on_spot(["with".into()], RATE, RATE * (1.0 - discount), stretch)],
        );
        after / before
    };
    (left(HOURS) <= 0.6).then(|| {
        let (mut low, mut high) = (0, HOURS);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if left(middle) <= 0.6 {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    })
}

/// Spot hours for an hour of work where capacity is taken back once in so many hours, saves take six minutes and restarts
/// twelve.
fn stretch(mean_hours: f64) -> f64 {
    let costs = Interruptions {
        mean_hours,
        checkpoint_hours: 0.1,
        restart_hours: 0.2,
        wait_hours: 0.0,
        during_restart: true,
    };
    costs.stretch(best_interval(mean_hours, 0.1))
}

#[test]
fn capacity_must_be_there_most_of_the_time() {
    assert_eq!(needed(0.65, 1.0), Some(616), "65 % off and never interrupted");
    assert_eq!(needed(0.65, stretch(168.0)), Some(628), "once a week");
    assert_eq!(needed(0.65, stretch(6.1)), Some(710), "as the better V100 zones");
    assert_eq!(needed(SOBER_DISCOUNT, 1.0), Some(951), "the middle of the A100 zones");
    assert_eq!(needed(SOBER_DISCOUNT, stretch(168.0)), None, "and once a week");
}

#[test]
fn sober_the_whole_job_on_spot_saves_37_6_percent() {
    let facts = job(HOURS, &super::sober_market(RATE * (1.0 - SOBER_DISCOUNT)));
    let (_, plan) = planned_month(&facts, "");
    assert_eq!(plan.steps.len(), 1, "{:?}", plan.declined);
    close(plan.planned.total.amount() / plan.bill.total.amount(), 0.624, 5e-4);
}

/// Measured on real traces at 70 % off: policies with fallback by deadline, and what a seer would have saved.
#[test]
fn on_real_traces_only_slack_brings_it_near() {
    let Some(rows) = shared::rows("spot/expected/single_region_policy_costs.csv") else {
        return;
    };
    let mut sums: BTreeMap<(String, String, String), (f64, f64)> = BTreeMap::new();
    for row in &rows {
        let key = (
            row["deadline_h"].clone(),
            row["restart_h"].clone(),
            row["policy"].clone(),
        );
        let sum = sums.entry(key).or_default();
        *sum = (sum.0 + row["cost_usd"].parse::<f64>().unwrap(), sum.1 + 1.0);
    }
    let saved = |deadline: &str, policy: &str| {
        let of = |policy: &str| {
            let key = (deadline.to_owned(), "0.2".to_owned(), policy.to_owned());
            let (cost, runs) = sums[&key];
            assert_eq!(runs, 18.0);
            cost / runs
        };
        (1.0 - of(policy) / of("on_demand")) * 100.0
    };
    // A job of 48 hours with 4, 22 and 44 hours to spare.
    for (deadline, uniform, seer) in [("52", 18.2, 27.1), ("70", 30.8, 35.3), ("92", 36.8, 43.1)] {
        close(saved(deadline, "uniform_progress"), uniform, 0.06);
        close(saved(deadline, "omniscient_dp"), seer, 0.06);
    }
}
