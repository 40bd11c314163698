//! What a reader must know before trusting the numbers.

use std::collections::{BTreeMap, BTreeSet};

use lowwater_model::change::forbiddable;
use lowwater_model::charge::{CostMetric, Spread};
use lowwater_model::facts::{CostRun, Facts, LineKind, Resource};
use lowwater_model::id::Currency;
use lowwater_model::money::{Estimate, Money};
use lowwater_model::period::{Hour, Period};
use lowwater_model::plan::{MinimumOutcome, Phase, Step};
use lowwater_model::policy::Policy;
use lowwater_model::workload::Class;

use super::minimum;
use crate::replay::{Saved, billed};

pub(super) fn of(facts: &Facts, policy: &Policy, steps: &[Step], minimums: &[MinimumOutcome]) -> Vec<String> {
    let notes = [
        waiting(steps, &facts.currency),
        later_starts(facts, steps),
        idle_money(facts, steps),
        joined(facts, policy),
        days(facts),
        basis(facts),
        unexplained(facts),
        unknown_never(facts, policy),
    ];
    notes
        .into_iter()
        .flatten()
        .chain(minimums.iter().map(|minimum| minimum::words(facts, minimum)))
        .chain(facts.quality.warnings.iter().cloned())
        .collect()
}

/// How much of the saving stands behind conditions that are not met.
fn waiting(steps: &[Step], currency: &Currency) -> Option<String> {
    let cash = |blocked_only: bool| -> Estimate {
        let counted = steps.iter().filter(|step| !blocked_only || step.is_blocked());
        counted.map(|step| step.per_month.cash.p50).sum()
    };
    let blocked = steps.iter().filter(|step| step.is_blocked()).count();
    (blocked > 0).then(|| {
        format!(
            "{blocked} of {} steps wait for a condition: {} of {} {currency} a month",
            steps.len(),
            cash(true).grouped(2),
            cash(false).grouped(2)
        )
    })
}

/// What a month saves in which every step acts throughout, where some begin inside the replayed days.
fn later_starts(facts: &Facts, steps: &[Step]) -> Option<String> {
    let is_late = |step: &&Step| step.change.acting_hours(facts.period) < facts.period.hours();
    let late = steps.iter().filter(is_late).count();
    let month = |step: &Step| {
        let saved = Saved {
            cash: step.saving.cash.p50,
            freed: step.saving.freed.p50,
        };
        saved.in_acting_month(facts, &step.change).cash
    };
    (late > 0).then(|| {
        format!(
            "{late} of {} steps act in a part of the replayed days only; a month in which all act throughout saves {} {} in cash",
            steps.len(),
            steps.iter().map(month).sum::<Estimate>().grouped(2),
            facts.currency
        )
    })
}

/// What idle hours cost, and how much of that the steps take: the rest is named, so that nobody looks for it in vain.
fn idle_money(facts: &Facts, steps: &[Step]) -> Option<String> {
    let mut by_class: BTreeMap<Class, Money> = BTreeMap::new();
    for resource in &facts.resources {
        *by_class.entry(resource.owner.class).or_default() += idle_cost(resource, facts.period);
    }
    let all: Money = by_class.values().sum();
    let stopping = steps.iter().filter(|step| step.phase == Phase::StopWaste);
    let taken: Estimate = stopping.map(|s| s.saving.cash.p50 + s.saving.freed.p50).sum();
    let mut classes: Vec<(Class, Money)> = by_class.into_iter().filter(|(_, cost)| *cost > Money::ZERO).collect();
    classes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let list: Vec<String> = classes
        .iter()
        .map(|(class, cost)| format!("{class} {}", cost.grouped(2)))
        .collect();
    (all > Money::ZERO).then(|| {
        format!(
            "hours in which every GPU of a machine was idle cost {} {} in these days ({}); the steps take {} of that, in \
             cash and freed commitment; refusals say why not more, and only `idle` looks at classes other than development",
            all.grouped(2),
            facts.currency,
            list.join(", "),
            taken.grouped(2)
        )
    })
}

/// Compute cost of the idle hours of a resource inside a period.
fn idle_cost(resource: &Resource, period: Period) -> Money {
    let range = period.hour_range();
    let idle = |hour: i64| resource.usage.at(Hour(hour)).is_some_and(|usage| usage.idle);
    let compute = resource
        .lines
        .iter()
        .filter(|line| line.kind == LineKind::Compute && line.spread != Spread::Even);
    let cost = |run: &CostRun| {
        let hours = (run.start.0.max(range.start)..run.end().0.min(range.end))
            .filter(|hour| idle(*hour))
            .count();
        run.cost.times(hours as i64)
    };
    compute.flat_map(|line| &line.runs).map(cost).sum()
}

fn joined(facts: &Facts, policy: &Policy) -> Option<String> {
    let share = facts.quality.join_share()?;
    let limit = policy.section("usage").float("min_join_share");
    let verdict = match measured(facts) {
        _ if share < limit => "so idle findings are only `measure this first`".to_owned(),
        Some(measured) => format!("and {:.1} % of the hours of these were measured", measured * 100.0),
        None => "and none of these was measured in these days".to_owned(),
    };
    Some(format!(
        "{:.1} % of the GPU money is on machines that are joined to metrics (the policy wants {:.0} %), {verdict}",
        share * 100.0,
        limit * 100.0
    ))
}

/// Share of the billed GPU-hours of joined machines that was measured in the period; none where none was seen in it.
fn measured(facts: &Facts) -> Option<f64> {
    let hours = facts.period.hour_range();
    let (mut seen, mut all) = (0.0, 0.0);
    for resource in &facts.resources {
        let observed = resource
            .usage
            .iter()
            .filter(|(hour, _)| hours.contains(&hour.0))
            .count();
        if observed > 0 {
            let ran = billed(resource, facts.period).hours();
            seen += resource.gpus * (observed as f64).min(ran);
            all += resource.gpus * ran;
        }
    }
    (all > 0.0).then(|| seen / all)
}

fn days(facts: &Facts) -> Option<String> {
    let quality = &facts.quality;
    (quality.days_with_charges < quality.days).then(|| {
        format!(
            "{} of the {} replayed days have charges: amounts a month are too low",
            quality.days_with_charges, quality.days
        )
    })
}

fn basis(facts: &Facts) -> Option<String> {
    let basis = &facts.basis;
    (basis.metric != CostMetric::Effective).then(|| {
        format!(
            "replayed on {} and not on EffectiveCost: {}",
            basis.metric.column(),
            basis.why
        )
    })
}

fn unexplained(facts: &Facts) -> Option<String> {
    let unexplained = facts.ledger.unexplained;
    (!unexplained.is_zero()).then(|| {
        format!(
            "{unexplained} {} of the difference to BilledCost have no name",
            facts.currency
        )
    })
}

/// A misspelt word in `never` forbids nothing, and its owner believes that it does.
fn unknown_never(facts: &Facts, policy: &Policy) -> Option<String> {
    let owners = facts.resources.iter().map(|resource| &resource.owner);
    let words = owners.flat_map(|owner| {
        let team = owner.team.as_ref().and_then(|team| policy.team(team));
        let environment = owner.environment.as_ref().and_then(|name| policy.environment(name));
        let inherited = team.into_iter().chain(environment).flat_map(|rules| &rules.never);
        owner.never.iter().chain(inherited)
    });
    let kinds = forbiddable();
    let unknown: BTreeSet<&str> = words.map(String::as_str).filter(|word| !kinds.contains(word)).collect();
    (!unknown.is_empty()).then(|| {
        let unknown: Vec<&str> = unknown.into_iter().collect();
        format!(
            "`never` names {}, which forbids nothing: kinds of change are {}",
            unknown.join(", "),
            kinds.join(", ")
        )
    })
}
