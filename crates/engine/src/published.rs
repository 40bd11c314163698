//! Headline figures of published articles as organisations of that spend, replayed: what would have to be true for the
//! headline, and what comes out under sober assumptions. The guide's page on published figures has the same numbers.
//!
//! Sober is what the reference data shows: an A100 machine costs 42.1 % less on spot (the median of 29 zones), is taken back
//! once a week in the middle, once a day or once a month at the ends; a year's commitment is 37 % cheaper.

use lowwater_model::change::Change;
use lowwater_model::change::use_spot::{Outlook, UseSpot};
use lowwater_model::facts::Facts;
use lowwater_model::id::ResourceId;
use lowwater_model::plan::Plan;
use lowwater_model::spot::SpotPlace;

use crate::replay::Replay;
use crate::{audit, plan, sample};

mod fallback;
mod hybrid;
mod inference;
mod whole_bill;

/// What an A100 machine of eight costs less on spot in the middle of 29 zones.
const SOBER_DISCOUNT: f64 = 0.421;

/// A month of the bill, as it was and after these changes.
fn months(facts: &Facts, changes: &[Change]) -> (f64, f64) {
    let after = changes
        .iter()
        .fold(Replay::of(facts), |replay, change| replay.with(change));
    let month = 730.0 / facts.period.hours();
    (
        Replay::of(facts).bill().total.amount() * month,
        after.bill().total.amount() * month,
    )
}

/// A month with the plan, audited.
fn planned_month(facts: &Facts, policy: &str) -> (f64, Plan) {
    let policy = sample::policy(policy);
    let plan = plan(facts, &policy, 1);
    assert_eq!(audit(facts, &policy, &plan), []);
    (plan.planned.total.amount() * 730.0 / facts.period.hours(), plan)
}

/// The facts with a ledger that holds what their resources cost now.
fn billed_anew(mut facts: Facts) -> Facts {
    let total = sample::cost_of(facts.resources.iter(), facts.period);
    (facts.ledger.total, facts.ledger.billed) = (total, total);
    (facts.quality.gpu_cost, facts.quality.joined_gpu_cost) = (total, total);
    facts
}

/// The smallest value at which the rising condition holds.
fn least(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    assert!(!holds(low) && holds(high), "nothing to find between {low} and {high}");
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if holds(middle) { high = middle } else { low = middle }
    }
    high
}

fn close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value}, not {expected}");
}

/// These machines at that hourly price and so many hours for one of today's, without any other cost.
fn on_spot(resources: impl IntoIterator<Item = String>, on_demand_rate: f64, rate: f64, hours: f64) -> Change {
    let outlook = Outlook {
        rate,
        hours,
        interruptions: 0.0,
    };
    Change::UseSpot(UseSpot {
        workload: "training".into(),
        resources: resources.into_iter().map(|id| ResourceId::from(id.as_str())).collect(),
        place: Box::new(SpotPlace {
            cloud: "aws".into(),
            region: "us-east-1".into(),
            zone: None,
            sku: "p4d.24xlarge".into(),
        }),
        checkpoint_every_hours: 1.0,
        on_demand_rate,
        interruption_cost: 0.0,
        storage_per_month: 0.0,
        expected: outlook,
        worse: outlook,
        better: outlook,
    })
}

/// A spot market for A100 machines: taken back once a week, a month or a day.
fn sober_market(rate: f64) -> String {
    format!(
        "{{ sku = \"p4d.24xlarge\", rate = [{rate}, {rate}, {rate}], interruptions = [{}, {}, {}], as_of = \"2026-11-20\" }}",
        1.0 / 730.0,
        1.0 / 168.0,
        1.0 / 24.0
    )
}
