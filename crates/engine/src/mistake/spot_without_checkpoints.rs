//! Work on interruptible machines that begins again from nothing.

use super::{Kind, Mistake, Scene, cost, fleets, is_class, is_spot, place};
use lowwater_model::workload::Class;

/// See the module.
pub(super) const KIND: Kind = Kind {
    id: "spot_without_checkpoints",
    title: "spot without checkpoints",
    doc: "Training or fine-tuning on interruptible machines without a declared checkpoint that it can go on from: an eviction loses the whole run. Cost: its spot hours.",
    find,
};

fn find(scene: &Scene<'_>) -> Vec<Mistake> {
    let training = scene.facts.resources.iter().filter(|r| {
        let resumes = r.owner.checkpoint.as_ref().is_some_and(|c| c.resumable);
        is_class(r, &[Class::Training, Class::FineTuning]) && !resumes
    });
    let mut out = Vec::new();
    for (name, resources) in fleets(training) {
        let spot = cost(&resources, scene.facts.period, is_spot);
        if spot.is_zero() {
            continue;
        }
        out.push(Mistake {
            id: KIND.id,
            cost: Some(spot),
            place: place(&name, &resources),
            why: "it runs on spot, and no checkpoint is declared that it can go on from: an eviction loses the run".into(),
            hint: "save checkpoints and declare them: checkpoint = { every = \"30m\", gb = 140, resumable = true } in workloads.toml".into(),
        });
    }
    out
}
