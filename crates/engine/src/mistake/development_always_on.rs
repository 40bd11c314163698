//! Development machines that run at night and on weekends.

use super::{Kind, Mistake, Scene, cost, fleets, is_class, place};
use lowwater_model::workload::Class;

/// See the module.
pub(super) const KIND: Kind = Kind {
    id: "development_always_on",
    title: "development GPUs without a schedule",
    doc: "Development machines with GPUs that were billed in more than nine tenths of all hours: people work in a third of them. Cost: two thirds of \
          what they cost is not counted as such; the whole cost is named, the plan says what a schedule saves.",
    find,
};

/// Share of the hours of the period from which a machine counts as always on.
const ALWAYS: f64 = 0.9;

fn find(scene: &Scene<'_>) -> Vec<Mistake> {
    let facts = scene.facts;
    let always_on = facts.resources.iter().filter(|r| {
        let hours = crate::replay::billed(r, facts.period).hours();
        is_class(r, &[Class::Development]) && r.is_hourly() && r.gpus > 0.0 && r.owner.keep.is_none() && hours > ALWAYS * facts.period.hours()
    });
    let mut out = Vec::new();
    for (name, resources) in fleets(always_on) {
        let cost = cost(&resources, facts.period, |_| true);
        if cost.is_zero() {
            continue;
        }
        out.push(Mistake {
            id: KIND.id,
            cost: Some(cost),
            place: place(&name, &resources),
            why: "people develop on it, and it was billed in more than nine tenths of all hours".into(),
            hint: "`lowwater plan` proposes a schedule from its own hours of use".into(),
        });
    }
    out
}
