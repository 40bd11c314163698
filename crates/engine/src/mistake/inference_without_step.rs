//! Inference is most of the money, and nothing is planned for it.

use super::{Kind, Mistake, Scene, cost, is_class};
use lowwater_model::facts::Resource;
use lowwater_model::id::ResourceId;
use lowwater_model::money::Money;
use lowwater_model::workload::Class;

/// See the module.
pub(super) const KIND: Kind = Kind {
    id: "inference_without_step",
    title: "inference the larger share but without a step",
    doc: "Declared inference costs more than half of all GPU money and no step of the plan touches it. Cost: that of inference.",
    find,
};

const INFERENCE: &[Class] = &[Class::RealtimeInference, Class::BatchInference];

fn find(scene: &Scene<'_>) -> Vec<Mistake> {
    let facts = scene.facts;
    let gpus: Vec<&Resource> = facts.resources.iter().filter(|r| r.gpus > 0.0).collect();
    let (inference, all): (Money, Money) = {
        let serving: Vec<&Resource> = gpus.iter().copied().filter(|r| is_class(r, INFERENCE)).collect();
        (cost(&serving, facts.period, |_| true), cost(&gpus, facts.period, |_| true))
    };
    let touches = |id: &ResourceId| facts.resource(id).is_some_and(|r| is_class(r, INFERENCE));
    let has_step = scene.plan.steps.iter().any(|step| step.change.kind().resources().iter().any(touches));
    if has_step || inference.times(2) <= all {
        return Vec::new();
    }
    vec![Mistake {
        id: KIND.id,
        cost: Some(inference),
        place: "all inference".into(),
        why: "inference is the larger share of the GPU money, and no step of the plan touches it".into(),
        hint: "`lowwater show plan` says why; commit to its baseline, choose its SKU by cost per token, pack small models".into(),
    }]
}
