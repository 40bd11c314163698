//! Rules on the form of a plan: names, targets, order, words, refusals.

use std::collections::BTreeSet;

use lowwater_model::change::Change;
use lowwater_model::id::ResourceId;
use lowwater_model::plan::{Declined, PLAN_VERSION, Phase, Step, Target};

use super::{Case, Report, at};
use crate::identity::{plan_id, policy_id, step_id};

pub(super) fn check(case: Case<'_>, report: &mut Report) {
    identity(case, report);
    for step in &case.plan.steps {
        target(case, step, report);
        form(step, report);
    }
    order(case, report);
    names(case, report);
    for declined in &case.plan.declined {
        refusal(case, declined, report);
    }
}

/// A resource must not be called like another one.
fn names(case: Case<'_>, report: &mut Report) {
    for (id, name) in &case.plan.names {
        let known = case.facts.resources.iter().find(|r| r.id == *id);
        let is_its = known.and_then(|r| r.name.as_ref()) == Some(name);
        report.demand(is_its, "target", &format!("names {id}"), || {
            format!("the facts do not call it `{name}`")
        });
    }
}

fn identity(case: Case<'_>, report: &mut Report) {
    let Case { facts, policy, plan } = case;
    let checks = [
        (plan.id == plan_id(plan), "the id is not the hash of the rest"),
        (plan.version == PLAN_VERSION, "the form is of another version"),
        (plan.facts == facts.id, "it was made from other facts"),
        (plan.policy == policy_id(policy), "it was made under another policy"),
        (
            plan.as_of == facts.as_of,
            "it was made at another instant than the facts",
        ),
        (
            plan.period == facts.period,
            "it replays another period than the facts have",
        ),
        (
            plan.currency == facts.currency,
            "it is in another currency than the facts",
        ),
        (
            plan.basis == facts.basis,
            "it stands on another cost column than the facts",
        ),
    ];
    for (holds, what) in checks {
        report.demand(holds, "identity", "plan", || what.into());
    }
    for step in &plan.steps {
        let id = step_id(&step.lever, &step.change);
        report.demand(step.id == id, "identity", &at(step), || {
            format!("its change has the id {id}")
        });
    }
}

/// The resources that a change names, in its order.
pub(super) fn named(change: &Change) -> Vec<&ResourceId> {
    match change {
        Change::Stop(stop) => vec![&stop.resource],
        Change::SetSchedule(set) => set.resources.iter().collect(),
        Change::UseSpot(spot) => spot.resources.iter().collect(),
        Change::Commit(commit) => commit.resources.iter().collect(),
    }
}

fn target(case: Case<'_>, step: &Step, report: &mut Report) {
    let at = at(step);
    let named = named(&step.change);
    let once: BTreeSet<ResourceId> = named.iter().map(|id| (*id).clone()).collect();
    report.demand(!once.is_empty(), "target", &at, || "it touches nothing".into());
    report.demand(once.len() == named.len(), "target", &at, || {
        "it names a resource twice".into()
    });
    let scope = match &step.change {
        Change::Commit(commit) => Some(&commit.scope),
        _ => None,
    };
    report.demand(step.target.scope.as_ref() == scope, "target", &at, || {
        "it is about another scope than it touches".into()
    });
    // A commitment is about its scope and leaves the machines as they are.
    let touched = if scope.is_some() { &BTreeSet::new() } else { &once };
    report.demand(*touched == step.target.resources, "target", &at, || {
        "it is about other resources than it touches".into()
    });
    for id in &once {
        let resource = case.facts.resources.iter().find(|r| r.id == *id);
        report.demand(resource.is_some(), "target", &at, || {
            format!("{id} is not in the facts")
        });
        let Some(resource) = resource else { continue };
        // A commitment covers whatever runs in its scope, whoever owns it.
        let is_scope = matches!(step.change, Change::Commit(_)) && step.target.workload.is_none();
        let is_own = is_scope || resource.owner.workload == step.target.workload;
        report.demand(is_own, "target", &at, || format!("{id} belongs to another workload"));
    }
}

fn form(step: &Step, report: &mut Report) {
    let at = at(step);
    let kind = step.change.kind();
    report.demand(step.title == kind.describe(), "form", &at, || {
        format!("the title is not `{}`", kind.describe())
    });
    report.demand(step.risk == kind.risk(), "form", &at, || {
        format!("the risk is not {}", kind.risk())
    });
    report.demand(step.undo == kind.undo(), "form", &at, || {
        format!("the undo is not `{}`", kind.undo())
    });
    let has_evidence = !step.because.is_empty() && step.because.iter().all(|line| !line.trim().is_empty());
    report.demand(has_evidence, "form", &at, || "it gives no evidence".into());
}

/// When a change of that kind may be made.
fn phase_of(change: &Change) -> Phase {
    match change {
        Change::Stop(_) | Change::SetSchedule(_) => Phase::StopWaste,
        Change::UseSpot(_) => Phase::Spot,
        Change::Commit(_) => Phase::Commit,
    }
}

fn order(case: Case<'_>, report: &mut Report) {
    let steps = &case.plan.steps;
    for pair in steps.windows(2) {
        report.demand(pair[0].phase <= pair[1].phase, "order", &at(&pair[1]), || {
            format!("{} comes after {}", pair[1].phase, pair[0].phase)
        });
    }
    let mut seen = BTreeSet::new();
    for step in steps {
        report.demand(seen.insert(&step.id), "order", &at(step), || "it stands twice".into());
        let phase = phase_of(&step.change);
        report.demand(step.phase == phase, "order", &at(step), || {
            format!("its phase is {phase}, not {}", step.phase)
        });
    }
}

/// In words, for a reader.
fn name(target: &Target) -> String {
    let workload = target.workload.as_ref().map(|w| w.as_str().to_owned());
    let first = target.resources.first().map(|r| r.as_str().to_owned());
    workload.or(first).unwrap_or_else(|| "nothing".into())
}

fn refusal(case: Case<'_>, declined: &Declined, report: &mut Report) {
    let at = format!("declined {} of {}", declined.lever, name(&declined.target));
    report.demand(!declined.lever.trim().is_empty(), "declined", &at, || "no lever".into());
    report.demand(!declined.why.trim().is_empty(), "declined", &at, || "no reason".into());
    let has_numbers = declined.numbers.values().all(|number| number.amount().is_finite());
    report.demand(has_numbers, "declined", &at, || "a number is not a number".into());
    let target = &declined.target;
    let is_empty = target.workload.is_none() && target.resources.is_empty() && target.scope.is_none();
    report.demand(!is_empty, "declined", &at, || "it is about nothing".into());
    for id in &target.resources {
        report.demand(
            case.facts.resources.iter().any(|r| r.id == *id),
            "declined",
            &at,
            || format!("{id} is not in the facts"),
        );
    }
    for step in case.plan.steps.iter().filter(|step| step.lever == declined.lever) {
        let both = named(&step.change)
            .into_iter()
            .find(|id| target.resources.contains(*id));
        report.demand(both.is_none() && *target != step.target, "declined", &at, || {
            format!("step {} does it all the same", step.id)
        });
    }
}
