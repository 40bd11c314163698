//! Rules on contracts: what a minimum takes of the saving, and how much of the plan rests on list prices.

use std::collections::BTreeSet;

use lowwater_model::change::Change;
use lowwater_model::contract::MinimumFacts;
use lowwater_model::facts::{Facts, LineKind};
use lowwater_model::id::ResourceId;
use lowwater_model::money::{Estimate, Money, Range};
use lowwater_model::offer::{PriceBasis, PriceKey};
use lowwater_model::plan::{MinimumOutcome, Step};

use super::recount::Recount;
use super::shape::named;
use super::{Case, Report};

/// Plans hold amounts to six digits; a rest of a contract may be many periods long.
const TOLERANCE: f64 = 1e-4;

pub(super) fn check(case: Case<'_>, report: &mut Report) {
    minimums(case, report);
    list_share(case, report);
}

fn demand(report: &mut Report, holds: bool, what: impl FnOnce() -> String) {
    report.demand(holds, "contract", "plan", what);
}

fn is_near(given: Estimate, counted: f64) -> bool {
    (given.amount() - counted).abs() <= TOLERANCE + counted.abs() * 1e-9
}

fn minimums(case: Case<'_>, report: &mut Report) {
    let (facts, plan) = (case.facts, case.plan);
    let recount = Recount::new(facts, plan.steps.iter().map(|step| &step.change));
    let is_same = |(known, given): (&MinimumFacts, &MinimumOutcome)| {
        known.cloud == given.provider
            && (known.period, known.amount) == (given.period, given.amount)
            && known.spent == given.spent
            && known.source == given.source
    };
    let all_same =
        facts.minimums.len() == plan.minimums.len() && facts.minimums.iter().zip(&plan.minimums).all(is_same);
    demand(report, all_same, || "its minimums are not those of the facts".into());
    for (known, given) in facts.minimums.iter().zip(&plan.minimums) {
        let mut saved = Range::default();
        for (index, step) in plan.steps.iter().enumerate() {
            saved = saved + step.saving.cash.scaled(recount.part(index, &known.cloud));
        }
        outcome(facts, known, (given, saved), report);
    }
    let taken: f64 = plan.minimums.iter().map(|minimum| minimum.taken.p50.amount()).sum();
    demand(report, is_near(plan.planned.shortfall, taken), || {
        format!(
            "the planned bill pays {} to minimums, not {taken}",
            plan.planned.shortfall.amount()
        )
    });
    demand(report, plan.bill.shortfall == Estimate::ZERO, || {
        "the bill as it was pays a shortfall".into()
    });
}

fn outcome(facts: &Facts, known: &MinimumFacts, (given, saved): (&MinimumOutcome, Range), report: &mut Report) {
    let Some(spent) = known.spent.value() else {
        let says_nothing =
            given.taken == Range::default() && (given.unchanged, given.planned, given.shortfall) == (None, None, None);
        demand(report, says_nothing, || {
            format!("{} caps by what nobody knows", known.source)
        });
        return;
    };
    // Hour by hour in words: what the rest of the contract costs an hour, with and without the steps.
    let hours = facts.period.hours();
    let begins = known.period.start.as_second().max(facts.as_of.as_second());
    let left = (known.period.end.as_second() - begins).max(0) as f64 / 3600.0;
    let counts = |cash: f64| {
        let an_hour = if hours > 0.0 {
            (known.pace.estimate().amount() - cash) / hours
        } else {
            0.0
        };
        spent.estimate().amount() + an_hour * left
    };
    let least = known.amount.estimate().amount();
    let paid = |cash: f64| counts(cash).max(least);
    let expected = |cash: f64| {
        if left <= 0.0 || hours <= 0.0 || cash <= 0.0 {
            return 0.0;
        }
        // What is paid less, brought back to the period, is what a step really saves.
        (cash - (paid(0.0) - paid(cash)) / left * hours).max(0.0)
    };
    let middle = saved.p50.amount();
    let numbers = [
        ("counts without the plan", given.unchanged, counts(0.0)),
        ("counts with the plan", given.planned, counts(middle)),
        ("is missing", given.shortfall, paid(middle) - counts(middle)),
        (
            "takes at the low end",
            Some(given.taken.p10),
            expected(saved.p10.amount()),
        ),
        ("takes", Some(given.taken.p50), expected(middle)),
        (
            "takes at the high end",
            Some(given.taken.p90),
            expected(saved.p90.amount()),
        ),
    ];
    for (name, given, counted) in numbers {
        demand(report, given.is_some_and(|given| is_near(given, counted)), || {
            format!("{}: {name} {given:?}, counted {counted}", known.source)
        });
    }
}

fn list_share(case: Case<'_>, report: &mut Report) {
    let is_listed = |step: &&Step| {
        let basis = basis(case.facts, &step.change);
        basis == Some(PriceBasis::List) || basis == Some(PriceBasis::BuiltIn)
    };
    let steps = &case.plan.steps;
    let all: BTreeSet<&ResourceId> = steps.iter().flat_map(|step| named(&step.change)).collect();
    let listed: BTreeSet<&ResourceId> = steps
        .iter()
        .filter(is_listed)
        .flat_map(|step| named(&step.change))
        .collect();
    let (cost, of) = (cost(case.facts, &listed), cost(case.facts, &all));
    let limit = case.policy.section("plan").float("max_list_share");
    let is_right = match &case.plan.at_list_price {
        None => cost <= Money::ZERO || of <= Money::ZERO,
        Some(given) => {
            let share = cost.estimate().amount() / of.estimate().amount();
            (given.cost, given.of, given.limit) == (cost, of, limit) && is_near(given.share, share)
        }
    };
    demand(report, is_right, || format!("{cost} of {of} rest on list prices"));
}

/// Who says the price of a change; none where it needs none, or where a market makes it.
fn basis(facts: &Facts, change: &Change) -> Option<PriceBasis> {
    match change {
        Change::Commit(commit) => {
            let key = PriceKey {
                cloud: &commit.scope.provider,
                region: commit.scope.region.as_str(),
                sku: commit.scope.sku.as_str(),
                market: commit.term,
            };
            let day = jiff::tz::TimeZone::UTC.to_datetime(facts.as_of).date();
            Some(facts.prices.find(&key, day).value()?.basis)
        }
        Change::Stop(_) | Change::SetSchedule(_) | Change::UseSpot(_) => None,
    }
}

fn cost(facts: &Facts, ids: &BTreeSet<&ResourceId>) -> Money {
    let mut sum = Money::ZERO;
    let hours = facts.period.hour_range();
    for resource in facts.resources.iter().filter(|resource| ids.contains(&resource.id)) {
        for line in resource.lines.iter().filter(|line| line.kind == LineKind::Compute) {
            for run in &line.runs {
                let inside = (run.start.0..run.end().0).filter(|hour| hours.contains(hour)).count();
                sum += run.cost.times(inside as i64);
            }
        }
    }
    sum
}
