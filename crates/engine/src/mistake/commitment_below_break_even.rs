//! Commitments that are used so little that on-demand prices would have been less.

use super::{Kind, Mistake, Scene};
use lowwater_model::facts::{CommitmentUse, Facts, LineKind};
use lowwater_model::id::CommitmentId;
use lowwater_model::known::Known;
use lowwater_model::money::Money;
use lowwater_model::offer::{Market, PriceKey};

/// See the module.
pub(super) const KIND: Kind = Kind {
    id: "commitment_below_break_even",
    title: "commitment below break-even",
    doc: "A commitment whose utilisation is below the utilisation at which it costs as much as its hours on demand: utilisation* = committed rate / on-demand rate \
          (reference: utilisation at break-even is one minus the discount). Where no on-demand rate of what it covered is known, one below half is named without a verdict. \
          Cost: what was paid and not used.",
    find,
};

/// Below this a commitment is named even where its discount is not known: no discount of a cloud is larger than half for long.
const SURELY_BAD: f64 = 0.5;

/// Cost of what it covered, and of the same hours on demand; none where a rate is unknown.
fn covered(facts: &Facts, id: &CommitmentId) -> Option<(f64, f64)> {
    let day = jiff::tz::TimeZone::UTC.to_datetime(facts.as_of).date();
    let hours = facts.period.hour_range();
    let (mut paid, mut on_demand) = (0.0, 0.0);
    for resource in &facts.resources {
        let lines = resource.lines.iter().filter(|l| l.kind == LineKind::Compute && l.commitment.as_ref() == Some(id));
        for run in lines.flat_map(|line| &line.runs) {
            let count = (run.end().0.min(hours.end) - run.start.0.max(hours.start)).max(0) as f64;
            let sku = resource.sku.value()?;
            let key = PriceKey { cloud: &resource.cloud, region: resource.region.as_str(), sku: sku.as_str(), market: Market::OnDemand };
            let Known::Value(offer) = facts.prices.find(&key, day) else { return None };
            paid += run.cost.estimate().amount() * count;
            on_demand += offer.rate.0 * f64::from(run.seconds) / 3600.0 * count;
        }
    }
    (on_demand > 0.0).then_some((paid, on_demand))
}

fn utilisation(commitment: &CommitmentUse) -> Option<f64> {
    let whole = commitment.used + commitment.unused;
    (whole > Money::ZERO).then(|| commitment.used.estimate().amount() / whole.estimate().amount())
}

fn find(scene: &Scene<'_>) -> Vec<Mistake> {
    let mut out = Vec::new();
    for commitment in &scene.facts.commitments {
        let Some(used) = utilisation(commitment) else { continue };
        let break_even = covered(scene.facts, &commitment.id).map(|(paid, on_demand)| paid / on_demand);
        if used >= break_even.unwrap_or(SURELY_BAD) {
            continue;
        }
        let against = break_even.map_or_else(
            || "its break-even is not known, because no on-demand rate of what it covers is".to_owned(),
            |b| format!("it pays off from {:.1} %", b * 100.0),
        );
        let name = commitment.name.as_deref().unwrap_or(commitment.id.as_str());
        out.push(Mistake {
            id: KIND.id,
            cost: Some(commitment.unused),
            place: format!("{} {name}", commitment.kind),
            why: format!("{:.1} % of it is used; {against}", used * 100.0),
            hint: "move work that it can cover onto it, share it, or let it end; buy no more of it".into(),
        });
    }
    out
}
