//! Contracts' minimums: what a plan saves below one has to be paid all the same.
//!
//! The rest of a contract goes on as the replayed period: `pace` an hour without the plan, less what the steps save with
//! its provider with it. What the plan makes missing from the minimum is paid, so it is no cash; it is spread evenly over
//! the rest of the contract, and the plan's period bears its part.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use lowwater_model::contract::MinimumFacts;
use lowwater_model::facts::Facts;
use lowwater_model::id::ResourceId;
use lowwater_model::known::Known;
use lowwater_model::money::{Estimate, Money, Range};
use lowwater_model::period::HOUR_SECONDS;
use lowwater_model::plan::{Bill, MinimumOutcome, Saving};

use super::{Chosen, band};
use crate::replay::Replay;

/// The parts of a step's cash by the cloud of its resources; a step of one cloud saves all of it there.
pub(super) fn parts(
    before: &Replay<'_>,
    after: &Replay<'_>,
    resources: &BTreeSet<ResourceId>,
) -> BTreeMap<String, f64> {
    let facts = before.facts();
    let mut clouds: BTreeMap<&str, BTreeSet<ResourceId>> = BTreeMap::new();
    for resource in resources.iter().filter_map(|id| facts.resource(id)) {
        clouds.entry(&resource.cloud).or_default().insert(resource.id.clone());
    }
    if clouds.len() == 1 {
        return clouds.into_keys().map(|cloud| (cloud.to_owned(), 1.0)).collect();
    }
    let saved = |ids: &BTreeSet<ResourceId>| (after.part(ids).saved() - before.part(ids).saved()).cash.amount();
    let by_cloud: Vec<(&str, f64)> = clouds.iter().map(|(cloud, ids)| (*cloud, saved(ids))).collect();
    let all: f64 = by_cloud.iter().map(|(_, cash)| cash).sum();
    let part = |cash: f64| if all > 0.0 { cash / all } else { 0.0 };
    by_cloud
        .into_iter()
        .map(|(cloud, cash)| (cloud.to_owned(), part(cash)))
        .collect()
}

/// Every minimum of the facts under these steps.
pub(super) fn outcomes(facts: &Facts, chosen: &[Chosen]) -> Vec<MinimumOutcome> {
    let outcome = |minimum: &MinimumFacts| {
        let saved = chosen.iter().fold(Range::default(), |sum, step| {
            let part = step.by_cloud.get(&minimum.cloud).copied().unwrap_or(0.0);
            sum + step.saving.cash.scaled(part)
        });
        outcome(facts, minimum, saved)
    };
    facts.minimums.iter().map(outcome).collect()
}

fn outcome(facts: &Facts, minimum: &MinimumFacts, saved: Range) -> MinimumOutcome {
    let rest = minimum.spent.value().map(|spent| Rest::of(facts, minimum, *spent));
    let at_end = |cash: Estimate| rest.map(|rest| Estimate::new(rest.at_end(cash.amount())).rounded());
    let taken = |cash: Estimate| Estimate::new(rest.map_or(0.0, |rest| rest.taken(cash.amount()))).rounded();
    MinimumOutcome {
        provider: minimum.cloud.clone(),
        period: minimum.period,
        amount: minimum.amount,
        spent: minimum.spent.clone(),
        unchanged: at_end(Estimate::ZERO),
        planned: at_end(saved.p50),
        shortfall: rest.map(|rest| Estimate::new(rest.missing(saved.p50.amount())).rounded()),
        taken: Range {
            p10: taken(saved.p10),
            p50: taken(saved.p50),
            p90: taken(saved.p90),
        },
        source: minimum.source.clone(),
    }
}

/// The rest of a contract.
#[derive(Clone, Copy)]
struct Rest {
    amount: f64,
    spent: f64,
    /// Of the replayed period.
    pace: f64,
    /// How many replayed periods there are left.
    periods: f64,
}

impl Rest {
    fn of(facts: &Facts, minimum: &MinimumFacts, spent: Money) -> Self {
        let start = minimum.period.start.max(facts.as_of);
        let seconds = (minimum.period.end.as_second() - start.as_second()).max(0);
        let hours = facts.period.hours();
        Self {
            amount: minimum.amount.estimate().amount(),
            spent: spent.estimate().amount(),
            pace: minimum.pace.estimate().amount(),
            periods: if hours > 0.0 {
                seconds as f64 / HOUR_SECONDS as f64 / hours
            } else {
                0.0
            },
        }
    }

    /// What will have counted when the steps save so much in each period.
    fn at_end(self, cash: f64) -> f64 {
        self.spent + (self.pace - cash) * self.periods
    }

    fn missing(self, cash: f64) -> f64 {
        (self.amount - self.at_end(cash)).max(0.0)
    }

    /// What of the cash of one period is paid all the same. A minimum never makes a saving larger.
    fn taken(self, cash: f64) -> f64 {
        if self.periods <= 0.0 {
            return 0.0;
        }
        ((self.missing(cash) - self.missing(0.0)) / self.periods).clamp(0.0, cash.max(0.0))
    }
}

/// A saving without what minimums take of it, which is no more than there is.
pub(super) fn capped(saving: Saving, taken: Range) -> Saving {
    let cash = saving.cash;
    // Parts are rounded one by one: together they may take a millionth too much.
    let left = |cash: Estimate, taken: Estimate| Estimate::new((cash - taken).amount().max(cash.amount().min(0.0)));
    Saving {
        cash: band::around(
            left(cash.p50, taken.p50),
            left(cash.p10, taken.p10),
            left(cash.p90, taken.p90),
        ),
        ..saving
    }
}

/// The planned bill with what is paid to minimums all the same; `saved` is what is left of the cash.
pub(super) fn with_shortfall(before: &Bill, planned: Bill, (taken, saved): (Estimate, Estimate)) -> Bill {
    if taken == Estimate::ZERO {
        return planned;
    }
    Bill {
        shortfall: taken.rounded(),
        total: (before.total - saved).rounded(),
        ..planned
    }
}

/// One sentence on the minimum, whatever becomes of it.
pub(super) fn words(facts: &Facts, minimum: &MinimumOutcome) -> String {
    let currency = &facts.currency;
    let last = minimum.period.end - jiff::SignedDuration::from_hours(1);
    let head = format!(
        "the contract with {} promises {} {currency} until {} ({})",
        minimum.provider,
        minimum.amount.grouped(2),
        TimeZone::UTC.to_datetime(last).date(),
        minimum.source
    );
    let (Some(unchanged), Some(planned), Some(shortfall)) = (minimum.unchanged, minimum.planned, minimum.shortfall)
    else {
        let why = match &minimum.spent {
            Known::Unknown(why) => why.as_str(),
            Known::Value(_) => "",
        };
        return format!("{head}; how much of it is spent is unknown, so no saving is capped: {why}");
    };
    let spend = format!(
        "{head}; at the pace of these days {} will have counted, with the plan {}",
        unchanged.grouped(2),
        planned.grouped(2)
    );
    if shortfall == Estimate::ZERO {
        return format!("{spend}: it is met");
    }
    let missing = shortfall.grouped(2);
    if minimum.taken.p50 == Estimate::ZERO {
        return format!("{spend}: {missing} are missing and have to be paid, with or without the plan");
    }
    format!(
        "{spend}: {missing} are missing and have to be paid all the same, so {} of what the steps save in these days is no \
         cash: shares of steps are before that, the total is after it",
        minimum.taken.p50.grouped(2)
    )
}
