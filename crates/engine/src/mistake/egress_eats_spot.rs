//! Cheap machines far from their data.

use std::collections::BTreeSet;

use lowwater_model::facts::{Facts, LineKind, Resource};
use lowwater_model::known::Known;
use lowwater_model::money::{Estimate, Money};
use lowwater_model::offer::{Market, PriceKey};

use super::{Kind, Mistake, Scene, fleets, is_spot, place};

/// See the module.
pub(super) const KIND: Kind = Kind {
    id: "egress_eats_spot",
    title: "egress eats a spot saving",
    doc: "A workload on interruptible machines pays more for data that leaves its region than the spot price saves against the same hours on demand. \
          Egress is what its machines pay themselves and what other resources of the workload pay, such as the bucket that it reads: select them in \
          workloads.toml. Nothing is said where the on-demand price is not known. Cost: that egress.",
    find,
};

/// What the spot hours of a machine cost less than on demand; none where nobody knows the price.
fn saving(facts: &Facts, resource: &Resource) -> Option<Estimate> {
    let day = jiff::tz::TimeZone::UTC.to_datetime(facts.as_of).date();
    let hours = facts.period.hour_range();
    let key = PriceKey { cloud: &resource.cloud, region: resource.region.as_str(), sku: resource.sku.value()?.as_str(), market: Market::OnDemand };
    let Known::Value(offer) = facts.prices.find(&key, day) else { return None };
    let mut saved = 0.0;
    let spot = resource.lines.iter().filter(|l| l.kind == LineKind::Compute && is_spot(l.pricing));
    for run in spot.flat_map(|line| &line.runs) {
        let count = (run.end().0.min(hours.end) - run.start.0.max(hours.start)).max(0) as f64;
        saved += count * (offer.rate.0 * f64::from(run.seconds) / 3600.0 - run.cost.estimate().amount());
    }
    Some(Estimate::new(saved))
}

/// Paid by machines of the fleet, and by whatever else belongs to their workload.
fn egress(facts: &Facts, fleet: &[&Resource]) -> Money {
    let ids: BTreeSet<_> = fleet.iter().map(|r| &r.id).collect();
    let workload = fleet.first().and_then(|r| r.owner.workload.as_ref());
    let is_its = |resource: &Option<_>| resource.as_ref().is_some_and(|id| ids.contains(id));
    let paid = facts.transfer.iter().filter(|t| is_its(&t.resource) || (workload.is_some() && t.workload.as_ref() == workload));
    paid.map(|t| t.cost).sum()
}

fn find(scene: &Scene<'_>) -> Vec<Mistake> {
    let facts = scene.facts;
    let all = fleets(facts.resources.iter()).into_iter();
    let eaten = all.filter_map(|(name, resources)| {
        let spot: Vec<&Resource> = resources.iter().copied().filter(|r| !super::cost(&[r], facts.period, is_spot).is_zero()).collect();
        let paid = egress(facts, &resources);
        let saved = spot.iter().map(|r| saving(facts, r)).sum::<Option<Estimate>>()?.rounded();
        (!spot.is_empty() && paid.estimate() > saved).then(|| Mistake {
            id: KIND.id,
            cost: Some(paid),
            place: place(&name, &spot),
            why: format!("its spot hours cost {:.2} {} less than on demand, and data that left its region cost {:.2}", saved.amount(), facts.currency, paid.estimate().amount()),
            hint: "run where the data is, or copy the data once into the region of the machines; compare with `lowwater offers`".into(),
        })
    });
    eaten.filter(|mistake| mistake.cost > Some(Money::ZERO)).collect()
}
