//! The only cost model: the bill as it was, and as it would have been with changes, over the same hours.
//!
//! Sums are kept as whole numbers (cost times seconds), so they depend neither on the order of resources nor on the
//! order of changes, and a replay built step by step equals one built at once to the last bit.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Add, Sub};
use std::sync::Arc;

use lowwater_model::change::{Change, Effect};
use lowwater_model::charge::{PricingCategory, Spread};
use lowwater_model::facts::{CostLine, CostRun, Facts, LineKind, Resource};
use lowwater_model::id::ResourceId;
use lowwater_model::money::{Estimate, Money};
use lowwater_model::period::{HOUR_SECONDS, Hour, Period, Spans};
use lowwater_model::plan::Bill;

/// The same hours once more, with changes.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    facts: &'a Facts,
    /// By place in `facts.resources`; only touched resources are here, and only they are ever computed.
    removals: BTreeMap<usize, Arc<Removal>>,
    charges: Vec<Charge>,
    sums: Sums,
}

/// What the changes took from one resource.
#[derive(Debug)]
struct Removal {
    spans: Spans,
    sums: Sums,
}

/// Something new that costs money over the period.
#[derive(Clone, Debug, PartialEq)]
pub struct Charge {
    /// What for.
    pub label: String,
    /// How much over the period.
    pub amount: Estimate,
}

/// Money that changes save over some period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Saved {
    /// Not paid any more, less what the changes cost.
    pub cash: Estimate,
    /// Still paid, because a commitment covered the hours, and free for other use.
    pub freed: Estimate,
}

impl Saved {
    /// A saving over the period of the facts, scaled to a month and rounded as it enters a plan.
    #[must_use]
    pub fn per_month(self, facts: &Facts) -> Self {
        let month = |amount: Estimate| amount.scaled(month_factor(facts)).rounded();
        Self {
            cash: month(self.cash),
            freed: month(self.freed),
        }
    }
}

impl Sub for Saved {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            cash: self.cash - other.cash,
            freed: self.freed - other.freed,
        }
    }
}

/// Whole-number sums. A cost of a partly removed hour counts by its removed seconds: 3600 of them are the whole cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    /// Cost of the hours that a removal touches at all.
    touched: Money,
    /// Cost times removed seconds of hours that are paid by the hour.
    cash: i128,
    /// Cost times removed seconds of hours that a commitment covers.
    freed: i128,
}

impl Add for Sums {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            touched: self.touched + other.touched,
            cash: self.cash + other.cash,
            freed: self.freed + other.freed,
        }
    }
}

impl Sub for Sums {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            touched: self.touched - other.touched,
            cash: self.cash - other.cash,
            freed: self.freed - other.freed,
        }
    }
}

/// Hours of the month to which a saving is scaled for display.
const MONTH_HOURS: f64 = 730.0;

/// Scales money over the period of the facts to a month; nothing where the period is empty.
pub(crate) fn month_factor(facts: &Facts) -> f64 {
    let hours = facts.period.hours();
    if hours > 0.0 { MONTH_HOURS / hours } else { 0.0 }
}

/// The one-way door for a cost times seconds.
fn per_hour(cost_seconds: i128) -> Estimate {
    Estimate::new(Money::from_units(cost_seconds).estimate().amount() / HOUR_SECONDS as f64)
}

/// An hour that a commitment covers is paid whether the resource runs or not.
fn is_covered(line: &CostLine) -> bool {
    line.commitment.is_some() || line.pricing == PricingCategory::Committed
}

/// Lines that end with their resource and whose hours are known.
fn removable(resource: &Resource) -> impl Iterator<Item = &CostLine> {
    resource
        .lines
        .iter()
        .filter(|line| line.kind == LineKind::Compute && line.spread != Spread::Even)
}

/// The part of a run inside whole hours, in epoch seconds.
fn clip(run: &CostRun, hours: &std::ops::Range<i64>) -> Option<(i64, i64)> {
    let start = run.start.0.max(hours.start);
    let end = run.end().0.min(hours.end);
    (start < end).then_some((start * HOUR_SECONDS, end * HOUR_SECONDS))
}

/// Every hour that the spans touch, whole.
fn whole_hours(spans: &Spans) -> Spans {
    let up = |second: i64| (second + HOUR_SECONDS - 1).div_euclid(HOUR_SECONDS) * HOUR_SECONDS;
    Spans::new(
        spans
            .iter()
            .map(|(start, end)| (start.div_euclid(HOUR_SECONDS) * HOUR_SECONDS, up(end)))
            .collect(),
    )
}

/// The hours of the history for which a compute line of the resource has a cost or seconds.
pub fn billed(resource: &Resource, within: Period) -> Spans {
    let hours = within.hour_range();
    let compute = resource.lines.iter().filter(|line| line.kind == LineKind::Compute);
    let runs = compute.flat_map(|line| &line.runs);
    Spans::new(
        runs.filter(|run| run.seconds > 0 || !run.cost.is_zero())
            .filter_map(|run| clip(run, &hours))
            .collect(),
    )
}

fn sums(resource: &Resource, removed: &Spans, within: Period) -> Sums {
    let hours = within.hour_range();
    let touched = whole_hours(removed);
    let mut out = Sums::default();
    for line in removable(resource) {
        let covered = is_covered(line);
        for run in &line.runs {
            let Some((start, end)) = clip(run, &hours) else {
                continue;
            };
            let seconds = removed.overlap(start, end);
            let cost_seconds = run.cost.units() * i128::from(seconds);
            out.touched += run.cost.times(touched.overlap(start, end) / HOUR_SECONDS);
            if covered {
                out.freed += cost_seconds;
            } else {
                out.cash += cost_seconds;
            }
        }
    }
    out
}

impl<'a> Replay<'a> {
    /// The hours as they were.
    pub fn of(facts: &'a Facts) -> Self {
        Self {
            facts,
            removals: BTreeMap::new(),
            charges: Vec::new(),
            sums: Sums::default(),
        }
    }

    /// What is replayed.
    pub const fn facts(&self) -> &'a Facts {
        self.facts
    }

    /// The same, with one more change. An hour that is removed twice is removed once.
    #[must_use]
    pub fn with(&self, change: &Change) -> Self {
        let mut next = self.clone();
        for effect in change.kind().effects(self.facts) {
            match effect {
                Effect::RemoveHours { resource, spans } => next.remove(&resource, &spans),
                Effect::AddCharge { label, amount } => next.charges.push(Charge { label, amount }),
            }
        }
        next
    }

    /// The same changes, seen on these resources alone and without what they cost by themselves.
    #[must_use]
    pub fn part(&self, resources: &BTreeSet<ResourceId>) -> Self {
        let places = resources.iter().filter_map(|id| self.place(id));
        let removals: BTreeMap<_, _> = places
            .filter_map(|place| Some((place, Arc::clone(self.removals.get(&place)?))))
            .collect();
        let sums = removals
            .values()
            .fold(Sums::default(), |all, removal| all + removal.sums);
        Self {
            facts: self.facts,
            removals,
            charges: Vec::new(),
            sums,
        }
    }

    fn place(&self, id: &ResourceId) -> Option<usize> {
        self.facts.resources.binary_search_by(|r| r.id.cmp(id)).ok()
    }

    fn remove(&mut self, id: &ResourceId, spans: &Spans) {
        let facts = self.facts;
        let Some(place) = self.place(id) else { return };
        let before = self.removals.get(&place);
        let known = spans.intersect(&Spans::of(facts.history));
        let spans = before.map_or(known.clone(), |before| before.spans.union(&known));
        let sums = sums(&facts.resources[place], &spans, facts.period);
        let sums_before = before.map_or(Sums::default(), |before| before.sums);
        self.sums = self.sums - sums_before + sums;
        self.removals.insert(place, Arc::new(Removal { spans, sums }));
    }

    /// The bill of the period. With no change its exact part is the loaded bill.
    pub fn bill(&self) -> Bill {
        let ledger = &self.facts.ledger;
        let exact = ledger.total - self.sums.touched;
        let modelled = self.sums.touched.estimate() - per_hour(self.sums.cash) + self.charged();
        Bill {
            exact,
            modelled: modelled.rounded(),
            freed: per_hour(self.sums.freed).rounded(),
            reconciliation: ledger.reconciliation.clone(),
            unexplained: ledger.unexplained,
            total: (exact.estimate() + modelled).rounded(),
        }
    }

    /// What the changes save over the period.
    pub fn saved(&self) -> Saved {
        Saved {
            cash: per_hour(self.sums.cash) - self.charged(),
            freed: per_hour(self.sums.freed),
        }
    }

    /// What the changes save over another part of the history; charges count by its length.
    pub fn saved_in(&self, within: Period) -> Saved {
        let resources = &self.facts.resources;
        let all = self
            .removals
            .iter()
            .map(|(place, removal)| sums(&resources[*place], &removal.spans, within));
        let sums = all.fold(Sums::default(), Add::add);
        let hours = self.facts.period.hours();
        let part = if hours > 0.0 { within.hours() / hours } else { 0.0 };
        Saved {
            cash: per_hour(sums.cash) - self.charged().scaled(part),
            freed: per_hour(sums.freed),
        }
    }

    /// The first instant of the history at which the changes save anything.
    pub fn first_saving(&self) -> Option<i64> {
        let firsts = self.removals.iter().filter_map(|(place, removal)| {
            let billed = billed(&self.facts.resources[*place], self.facts.history);
            removal.spans.intersect(&billed).iter().next().map(|(start, _)| start)
        });
        firsts.min()
    }

    /// What the changes cost by themselves.
    pub fn charges(&self) -> &[Charge] {
        &self.charges
    }

    fn charged(&self) -> Estimate {
        self.charges.iter().map(|charge| charge.amount).sum()
    }

    /// The billed hours of a resource over the history that no change removed; empty for an unknown one.
    pub fn remaining(&self, id: &ResourceId) -> Spans {
        let Some(place) = self.place(id) else {
            return Spans::default();
        };
        let billed = billed(&self.facts.resources[place], self.facts.history);
        match self.removals.get(&place) {
            Some(removal) => billed.minus(&removal.spans),
            None => billed,
        }
    }

    /// Does the resource still run in that hour?
    pub fn runs_in(&self, id: &ResourceId, hour: Hour) -> bool {
        let start = hour.start_second();
        self.remaining(id).overlap(start, start + HOUR_SECONDS) > 0
    }
}
