//! "180k to 72k": two machines stay on demand as anchors, the others go to spot.

use super::{SOBER_DISCOUNT, billed_anew, close, least, months, on_spot, planned_month, sober_market};
use crate::sample;
use lowwater_model::change::Change;
use lowwater_model::facts::Facts;

const RATE: f64 = 32.77;

/// Two anchors and so many others, each so many hours of a month of thirty days: about 180,000.
fn fleet(spot: u32, hours: u32, market: &str) -> Facts {
    let mut facts = sample::facts(&format!(
        r#"
        as_of = "2026-12-01T00:00:00Z"
        history_days = 30
        replay_days = 30
        spot = [{market}]
        [[resource]]
        id = "anchor-{{}}"
        count = 2
        sku = "p4d.24xlarge"
        class = "training"
        workload = "anchors"
        never = ["use_spot", "commit"]
        line = [{{ rate = "32.77" }}]
        [[resource]]
        id = "spot-{{}}"
        count = {spot}
        sku = "p4d.24xlarge"
        class = "training"
        workload = "training"
        checkpoint = {{ every = "1h", gb = 100, resumable = true }}
        never = ["commit"]
        line = [{{ rate = "32.77" }}]
        "#
    ));
    for resource in &mut facts.resources {
        resource.lines[0].runs[0].hours = hours;
    }
    billed_anew(facts)
}

/// The anchors run on, the others run on spot, and all of them so much longer.
fn changes(spot: u32, discount: f64, stretch: f64) -> [Change; 2] {
    let named = |kind: &str, count: u32| (0..count).map(|n| format!("{kind}-{n:02}")).collect::<Vec<_>>();
    [
        on_spot(named("anchor", 2), RATE, RATE, stretch),
        on_spot(named("spot", spot), RATE, RATE * (1.0 - discount), stretch),
    ]
}

/// Share of the bill that is left.
fn left(facts: &Facts, spot: u32, discount: f64, stretch: f64) -> f64 {
    let (before, after) = months(facts, &changes(spot, discount, stretch));
    after / before
}

/// Machines beside the anchors, hours of each, and the discounts that 72k needs when the work takes as long as before, 12 %
/// longer and 15 % longer.
const FLEETS: [(u32, u32, [f64; 3]); 3] = [
    (6, 687, [80.0, 85.7, 87.0]),
    (8, 549, [75.0, 80.4, 81.5]),
    (10, 458, [72.0, 77.1, 78.3]),
];

#[test]
fn the_bill_falls_to_72k_only_at_discounts_of_72_percent_and_more() {
    for (spot, hours, needed) in FLEETS {
        let facts = fleet(spot, hours, "");
        let bill = facts.ledger.total.estimate().amount();
        close(bill, 180_000.0, 200.0);
        for (stretch, needed) in [1.0, 1.12, 1.15].into_iter().zip(needed) {
            let discount = least(0.0, 1.0, |discount| left(&facts, spot, discount, stretch) <= 0.4);
            close(discount * 100.0, needed, 0.05);
        }
    }
}

#[test]
fn at_its_own_discounts_it_ends_at_75k_to_99k() {
    let table = [
        (6, 687, [99.0, 92.25, 85.5]),
        (8, 549, [93.6, 86.4, 79.2]),
        (10, 458, [90.0, 82.5, 75.0]),
    ];
    for (spot, hours, expected) in table {
        let facts = fleet(spot, hours, "");
        for (discount, expected) in [0.60, 0.65, 0.70].into_iter().zip(expected) {
            close(left(&facts, spot, discount, 1.0) * 180.0, expected, 1e-6);
        }
    }
}

/// Six, eight or ten machines at the middle of the markets, with saves, restarts and a person's hour an interruption.
#[test]
fn sober_it_ends_at_127k_to_130k() {
    let ends = FLEETS.map(|(spot, hours, _)| {
        let facts = fleet(spot, hours, &sober_market(RATE * (1.0 - SOBER_DISCOUNT)));
        let (_, plan) = planned_month(&facts, "");
        assert_eq!(plan.steps.len(), 1, "{:?}", plan.declined);
        plan.planned.total.amount() / plan.bill.total.amount() * 180.0
    });
    for (end, expected) in ends.into_iter().zip([130.43, 127.98, 126.63]) {
        close(end, expected, 0.005);
    }
}
