//! Training that nobody waits for at full price.

use super::{Kind, Mistake, Scene, cost, fleets, is_class, place};
use lowwater_model::charge::PricingCategory;
use lowwater_model::workload::Class;

/// See the module.
pub(super) const KIND: Kind = Kind {
    id: "training_on_demand",
    title: "training on demand without a deadline",
    doc: "Training or fine-tuning on demand although no deadline is declared, or it is over: interruptible machines do the same work for less. Cost: its hours on demand.",
    find,
};

fn find(scene: &Scene<'_>) -> Vec<Mistake> {
    let facts = scene.facts;
    let training = facts.resources.iter().filter(|r| {
        let is_due = r.owner.deadline.is_some_and(|due| !due.is_over(&r.owner.zone, facts.as_of));
        is_class(r, &[Class::Training, Class::FineTuning]) && !is_due && !r.owner.never.contains("use_spot")
    });
    let on_demand = |pricing: PricingCategory| pricing == PricingCategory::Standard;
    let mut out = Vec::new();
    for (name, resources) in fleets(training) {
        let cost = cost(&resources, facts.period, on_demand);
        if cost.is_zero() {
            continue;
        }
        out.push(Mistake {
            id: KIND.id,
            cost: Some(cost),
            place: place(&name, &resources),
            why: "it trains on demand, and no deadline is declared that is to come".into(),
            hint: if resources.iter().all(|r| r.owner.checkpoint.is_some()) {
                "`lowwater plan` says what spot saves and risks, or why not; declare a `deadline` if there is one".into()
            } else {
                "declare `checkpoint` and, if there is one, `deadline` in workloads.toml: spot_training then says what spot saves and risks".into()
            },
        });
    }
    out
}
