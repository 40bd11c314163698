//! Machines that are paid and do nothing most of the time.

use super::{Kind, Mistake, Scene, fleets, observed, place};
use lowwater_model::facts::{LineKind, Resource};
use lowwater_model::money::Money;
use lowwater_model::workload::{Class, Role};

/// See the module.
pub(super) const KIND: Kind = Kind {
    id: "running_idle",
    title: "running but idle",
    doc: "GPU machines that idle more than [check] min_idle_share of their observed hours; development has a mistake of its own, standbys wait on purpose. \
          Cost: the idle hours.",
    find,
};

/// Cost of the hours in which all its GPUs idled.
fn idle_cost(resource: &Resource, scene: &Scene<'_>) -> Money {
    let hours = scene.facts.period.hour_range();
    let compute = resource.lines.iter().filter(|line| line.kind == LineKind::Compute);
    let runs: Vec<_> = compute.flat_map(|line| &line.runs).collect();
    let idle = resource.usage.iter().filter(|(hour, usage)| usage.idle && hours.contains(&hour.0));
    idle.flat_map(|(hour, _)| runs.iter().filter(move |run| (run.start.0..run.end().0).contains(&hour.0)))
        .map(|run| run.cost)
        .sum()
}

fn find(scene: &Scene<'_>) -> Vec<Mistake> {
    let facts = scene.facts;
    let least = scene.policy.section("check").float("min_idle_share");
    let idles = |r: &&Resource| {
        let (idle, all) = observed(r, facts.period);
        r.gpus > 0.0
            && r.owner.class != Class::Development
            && r.owner.role != Role::Standby
            && r.owner.keep.is_none()
            && all >= 24
            && f64::from(idle) > least * f64::from(all)
    };
    let mut out = Vec::new();
    for (name, resources) in fleets(facts.resources.iter().filter(idles)) {
        let cost: Money = resources.iter().map(|r| idle_cost(r, scene)).sum();
        let (idle, all) = resources.iter().map(|r| observed(r, facts.period)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        if cost.is_zero() {
            continue;
        }
        out.push(Mistake {
            id: KIND.id,
            cost: Some(cost),
            place: place(&name, &resources),
            why: format!("{idle} of {all} observed machine-hours were idle on every GPU"),
            hint: "`lowwater plan` stops what has idled for long, or says what to declare first; share, pack or schedule the rest".into(),
        });
    }
    out
}
