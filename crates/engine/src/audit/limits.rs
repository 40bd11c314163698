//! Rules on what owners allow: never, keep, standby, criticality, disks, scarce GPUs, spread costs.

use jiff::tz::TimeZone;
use lowwater_model::change::Change;
use lowwater_model::charge::Spread;
use lowwater_model::facts::{LineKind, Resource};
use lowwater_model::plan::Step;
use lowwater_model::policy::OwnerRules;
use lowwater_model::workload::{Criticality, Role};

use super::{Case, Report, at, class, shape};

pub(super) fn check(case: Case<'_>, report: &mut Report) {
    for step in &case.plan.steps {
        if matches!(step.change, Change::Commit(_)) {
            forbidden_commitment(case, step, report);
            continue;
        }
        let ids = shape::named(&step.change);
        let touched: Vec<&Resource> = case.facts.resources.iter().filter(|r| ids.contains(&&r.id)).collect();
        for resource in &touched {
            owner(case, step, resource, report);
            class::check(case, step, resource, report);
            scarce(case, step, resource, report);
            let is_spread = resource
                .lines
                .iter()
                .any(|l| l.kind == LineKind::Compute && l.spread == Spread::Even);
            report.demand(!is_spread, "hours", &at(step), || {
                format!("the cost of {} is spread evenly", resource.id)
            });
        }
        condition(case, step, &touched, report);
    }
}

/// Did the owner, the team or the environment say that it is to stay as it is on the day of the plan?
pub(super) fn is_kept(case: Case<'_>, resource: &Resource) -> bool {
    let zone = TimeZone::get(&resource.owner.zone).unwrap_or(TimeZone::UTC);
    let day = zone.to_datetime(case.facts.as_of).date();
    let own = resource.owner.keep.iter();
    own.chain(rules(case, resource).filter_map(|r| r.keep.as_ref()))
        .any(|k| k.until.is_none_or(|until| day <= until))
}

fn rules<'a>(case: Case<'a>, resource: &Resource) -> impl Iterator<Item = &'a OwnerRules> {
    let of_team = resource.owner.team.as_ref().and_then(|team| case.policy.team(team));
    let of_environment = resource
        .owner
        .environment
        .as_ref()
        .and_then(|name| case.policy.environment(name));
    of_team.into_iter().chain(of_environment)
}

/// Words in `never` that forbid a step.
fn forbidding(step: &Step) -> &'static [&'static str] {
    match step.change {
        Change::Stop(_) => &["stop"],
        // A schedule stops machines.
        Change::SetSchedule(_) => &["set_schedule", "stop"],
        Change::UseSpot(_) => &["use_spot"],
        Change::Commit(_) => &["commit"],
    }
}

/// A commitment leaves machines as they are: only its own ban stands against it.
fn forbidden_commitment(case: Case<'_>, step: &Step, report: &mut Report) {
    let words = forbidding(step);
    for id in shape::named(&step.change) {
        let Some(resource) = case.facts.resource(id) else {
            continue;
        };
        let inherited = rules(case, resource).flat_map(|r| &r.never);
        let is_forbidden = resource
            .owner
            .never
            .iter()
            .chain(inherited)
            .any(|w| words.contains(&w.as_str()));
        report.demand(!is_forbidden, "owner", &at(step), || {
            format!("{id} must never be committed for")
        });
    }
}

fn owner(case: Case<'_>, step: &Step, resource: &Resource, report: &mut Report) {
    let (at, id, owner) = (at(step), &resource.id, &resource.owner);
    let words = forbidding(step);
    let forbidden = owner
        .never
        .iter()
        .chain(rules(case, resource).flat_map(|r| &r.never))
        .find(|w| words.contains(&w.as_str()));
    report.demand(forbidden.is_none(), "owner", &at, || {
        format!("{id} must never be changed so")
    });

    report.demand(!is_kept(case, resource), "owner", &at, || format!("{id} is to be kept"));
    report.demand(owner.role != Role::Standby, "owner", &at, || {
        format!("{id} is a standby")
    });

    let settings = case
        .policy
        .lever(&step.lever, owner.team.as_ref(), owner.environment.as_deref());
    let limit = Criticality::parse(settings.text("max_criticality")).unwrap_or(Criticality::Low);
    let gravest = owner
        .criticality
        .into_iter()
        .chain(rules(case, resource).filter_map(|r| r.criticality))
        .max();
    report.demand(gravest.is_none_or(|c| c <= limit), "owner", &at, || {
        format!("{id} is more critical than {limit}")
    });
}

fn condition(case: Case<'_>, step: &Step, touched: &[&Resource], report: &mut Report) {
    let section = case.policy.section("plan");
    let acknowledged = section.list("instance_store_acknowledged");
    let mut losing = touched
        .iter()
        .filter(|r| r.sku_fact().is_none_or(|fact| fact.instance_store != Some(false)))
        .peekable();
    let needs_it = losing.peek().is_some();
    let is_met = losing.all(|r| {
        let by_workload = r
            .owner
            .workload
            .as_ref()
            .is_some_and(|w| acknowledged.contains(&w.as_str()));
        by_workload || acknowledged.contains(&r.id.as_str())
    });
    let need = step.needs.iter().find(|need| need.id == "instance_store_acknowledged");
    report.demand(!needs_it || need.is_some(), "condition", &at(step), || {
        "it may empty disks and does not say so".into()
    });
    if let Some(need) = need {
        report.demand(needs_it, "condition", &at(step), || {
            "no disk of it can lose data".into()
        });
        report.demand(need.met == (is_met && needs_it), "condition", &at(step), || {
            format!(
                "the policy says that the condition is {}",
                if is_met { "met" } else { "not met" }
            )
        });
        report.demand(!need.text.trim().is_empty(), "condition", &at(step), || {
            "the condition has no words".into()
        });
    }
}

fn scarce(case: Case<'_>, step: &Step, resource: &Resource, report: &mut Report) {
    let Change::SetSchedule(set) = &step.change else { return };
    let owner = &resource.owner;
    let settings = case
        .policy
        .lever(&step.lever, owner.team.as_ref(), owner.environment.as_deref());
    let fact = resource.sku_fact();
    let is_scarce = fact.is_none_or(|fact| settings.list("scarce").contains(&fact.accelerator.as_str()));
    let reserved = settings.list("reserved_capacity");
    let is_reserved = reserved.contains(&resource.id.as_str())
        || owner.workload.as_ref().is_some_and(|w| reserved.contains(&w.as_str()))
        || resource.sku.value().is_some_and(|sku| reserved.contains(&sku.as_str()))
        || fact.is_some_and(|fact| reserved.contains(&fact.accelerator.as_str()));
    if !is_scarce || is_reserved {
        return;
    }
    let (at, id) = (at(step), &resource.id);
    report.demand(settings.bool("allow_scarce"), "scarce", &at, || {
        format!("{id} may not come back")
    });
    let hour_cost = case.policy.section("plan").float("engineer_hour");
    let is_priced = set.capacity_risk.is_some_and(|risk| {
        risk.failure == settings.float("start_failure_chance")
            && risk.wait_hours == settings.float("start_wait_hours")
            && risk.hour_cost == hour_cost
    });
    report.demand(is_priced, "scarce", &at, || {
        format!("the risk that {id} does not come back is not priced as the policy says")
    });
}
