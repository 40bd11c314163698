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

mod demand;

use demand::Lot;

/// The same hours once more, with changes.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    facts: &'a Facts,
    /// By place in `facts.resources`; only touched resources are here, and only they are ever computed.
    touched: BTreeMap<usize, Arc<Touched>>,
    lots: Vec<Lot>,
    charges: Vec<Charge>,
    sums: Sums,
}

/// What the changes do to one resource.
#[derive(Debug)]
struct Touched {
    work: Work,
    sums: Sums,
}

/// Which of its hours go, and which cost another amount.
#[derive(Clone, Debug, Default)]
struct Work {
    removed: Spans,
    rerated: Spans,
    /// New cost for a unit of the old.
    factor: f64,
    /// Does a lot cover hours of it?
    in_lot: bool,
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
        self.month_of(facts.period.hours())
    }

    /// What a change saves over the period, as a month in all of whose hours it acts.
    pub(crate) fn in_acting_month(self, facts: &Facts, change: &Change) -> Self {
        self.month_of(change.acting_hours(facts.period))
    }

    fn month_of(self, hours: f64) -> Self {
        let month = |amount: Estimate| amount.scaled(months_in(hours)).rounded();
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
    /// Cost times kept seconds of on-demand hours that cost another amount.
    rerated: i128,
}

impl Add for Sums {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            touched: self.touched + other.touched,
            cash: self.cash + other.cash,
            freed: self.freed + other.freed,
            rerated: self.rerated + other.rerated,
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
            rerated: self.rerated - other.rerated,
        }
    }
}

/// Hours of the month to which a saving is scaled for display.
pub(crate) const MONTH_HOURS: f64 = 730.0;

/// Scales money over the period of the facts to a month; nothing where the period is empty.
pub(crate) fn month_factor(facts: &Facts) -> f64 {
    months_in(facts.period.hours())
}

fn months_in(hours: f64) -> f64 {
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

/// Paid by the hour, with no promise: what a spot price or a commitment may replace.
fn is_on_demand(line: &CostLine) -> bool {
    line.pricing == PricingCategory::Standard && !is_covered(line)
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

impl Work {
    /// Every instant that the changes touch.
    fn spans(&self, history: Period) -> Spans {
        if self.in_lot {
            return Spans::of(history);
        }
        self.removed.union(&self.rerated)
    }

    /// What they do to the resource over a part of the history.
    fn sums(&self, resource: &Resource, history: Period, within: Period) -> Sums {
        let (hours, touched) = (within.hour_range(), whole_hours(&self.spans(history)));
        let rerated = self.rerated.minus(&self.removed);
        let mut out = Sums::default();
        for line in removable(resource) {
            let (covered, on_demand) = (is_covered(line), is_on_demand(line));
            for run in &line.runs {
                let Some((start, end)) = clip(run, &hours) else {
                    continue;
                };
                let cost_seconds = run.cost.units() * i128::from(self.removed.overlap(start, end));
                out.touched += run.cost.times(touched.overlap(start, end) / HOUR_SECONDS);
                if covered {
                    out.freed += cost_seconds;
                } else {
                    out.cash += cost_seconds;
                }
                if on_demand {
                    out.rerated += run.cost.units() * i128::from(rerated.overlap(start, end));
                }
            }
        }
        out
    }

    /// What the other price saves of these sums.
    fn saved(&self, sums: Sums) -> Estimate {
        per_hour(sums.rerated).scaled(1.0 - self.factor)
    }
}

impl<'a> Replay<'a> {
    /// The hours as they were.
    pub fn of(facts: &'a Facts) -> Self {
        Self {
            facts,
            touched: BTreeMap::new(),
            lots: Vec::new(),
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
                Effect::Rerate {
                    resource,
                    spans,
                    factor,
                } => next.rerate(&resource, spans, factor),
                Effect::AddLot {
                    resources,
                    level,
                    rate,
                    demand,
                } => next.add_lot(Lot {
                    resources: resources.into(),
                    level,
                    rate,
                    demand,
                }),
                Effect::AddCharge { label, amount } => next.charges.push(Charge { label, amount }),
            }
        }
        next
    }

    /// The same changes, seen on these resources alone and without what they cost by themselves.
    #[must_use]
    pub fn part(&self, resources: &BTreeSet<ResourceId>) -> Self {
        let places = resources.iter().filter_map(|id| self.place(id));
        let touched: BTreeMap<_, _> = places
            .filter_map(|place| Some((place, Arc::clone(self.touched.get(&place)?))))
            .collect();
        let sums = touched
            .values()
            .fold(Sums::default(), |all, touched| all + touched.sums);
        let is_seen = |lot: &&Lot| lot.resources.iter().any(|id| resources.contains(id));
        Self {
            facts: self.facts,
            touched,
            lots: self.lots.iter().filter(is_seen).cloned().collect(),
            charges: Vec::new(),
            sums,
        }
    }

    /// What one more change saves after those before. Lots that cover its resources are seen with all that they cover.
    pub fn gain(&self, change: &Change) -> Saved {
        let before = self.part(&self.near(change.kind().resources()));
        before.with(change).saved() - before.saved()
    }

    /// These resources and all that share lots with them.
    fn near(&self, mut resources: BTreeSet<ResourceId>) -> BTreeSet<ResourceId> {
        let mut far: Vec<&Lot> = self.lots.iter().collect();
        while let Some(index) = far
            .iter()
            .position(|lot| lot.resources.iter().any(|id| resources.contains(id)))
        {
            resources.extend(far.swap_remove(index).resources.iter().cloned());
        }
        resources
    }

    fn place(&self, id: &ResourceId) -> Option<usize> {
        self.facts.resources.binary_search_by(|r| r.id.cmp(id)).ok()
    }

    fn remove(&mut self, id: &ResourceId, spans: &Spans) {
        let known = spans.intersect(&Spans::of(self.facts.history));
        self.edit(id, |work| work.removed = work.removed.union(&known));
    }

    fn rerate(&mut self, id: &ResourceId, spans: Spans, factor: f64) {
        self.edit(id, |work| (work.rerated, work.factor) = (spans, factor));
    }

    fn add_lot(&mut self, lot: Lot) {
        for id in &*lot.resources {
            self.edit(id, |work| work.in_lot = true);
        }
        self.lots.push(lot);
    }

    fn edit(&mut self, id: &ResourceId, change: impl FnOnce(&mut Work)) {
        let facts = self.facts;
        let Some(place) = self.place(id) else { return };
        let before = self.touched.get(&place);
        let mut work = before.map_or_else(Work::default, |before| before.work.clone());
        change(&mut work);
        let sums = work.sums(&facts.resources[place], facts.history, facts.period);
        let sums_before = before.map_or(Sums::default(), |before| before.sums);
        self.sums = self.sums - sums_before + sums;
        self.touched.insert(place, Arc::new(Touched { work, sums }));
    }

    /// The bill of the period. With no change its exact part is the loaded bill.
    pub fn bill(&self) -> Bill {
        let ledger = &self.facts.ledger;
        let exact = ledger.total - self.sums.touched;
        let modelled = self.sums.touched.estimate() - self.saved().cash;
        Bill {
            exact,
            modelled: modelled.rounded(),
            freed: per_hour(self.sums.freed).rounded(),
            reconciliation: ledger.reconciliation.clone(),
            unexplained: ledger.unexplained,
            shortfall: Estimate::ZERO,
            total: (exact.estimate() + modelled).rounded(),
        }
    }

    /// What the changes save over the period.
    pub fn saved(&self) -> Saved {
        Saved {
            cash: per_hour(self.sums.cash) + self.repriced() - self.charged(),
            freed: per_hour(self.sums.freed),
        }
    }

    /// What other prices and lots save over the period.
    fn repriced(&self) -> Estimate {
        let rerated = self.touched.values().map(|touched| touched.work.saved(touched.sums));
        rerated.sum::<Estimate>() + self.lots_saved(self.facts.period)
    }

    /// What the changes save over another part of the history; charges count by its length.
    pub fn saved_in(&self, within: Period) -> Saved {
        let (resources, history) = (&self.facts.resources, self.facts.history);
        let (mut sums, mut repriced) = (Sums::default(), self.lots_saved(within));
        for (place, touched) in &self.touched {
            let of = touched.work.sums(&resources[*place], history, within);
            sums = sums + of;
            repriced += touched.work.saved(of);
        }
        let hours = self.facts.period.hours();
        let part = if hours > 0.0 { within.hours() / hours } else { 0.0 };
        Saved {
            cash: per_hour(sums.cash) + repriced - self.charged().scaled(part),
            freed: per_hour(sums.freed),
        }
    }

    /// The first instant of the history at which the changes save anything.
    pub fn first_saving(&self) -> Option<i64> {
        let firsts = self.touched.iter().filter_map(|(place, touched)| {
            let billed = billed(&self.facts.resources[*place], self.facts.history);
            touched
                .work
                .spans(self.facts.history)
                .intersect(&billed)
                .iter()
                .next()
                .map(|(start, _)| start)
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
        match self.touched.get(&place) {
            Some(touched) => billed.minus(&touched.work.removed),
            None => billed,
        }
    }

    /// Does the resource still run in that hour?
    pub fn runs_in(&self, id: &ResourceId, hour: Hour) -> bool {
        let start = hour.start_second();
        self.remaining(id).overlap(start, start + HOUR_SECONDS) > 0
    }
}

#[cfg(test)]
mod tests {
    use lowwater_model::change::stop::Stop;

    use super::*;
    use crate::sample;

    /// Ten days that are replayed, after ten more of history, with these lines on one machine.
    fn facts(lines: &str) -> Facts {
        sample::facts(&format!(
            "as_of = \"2026-04-21T00:00:00Z\"\nhistory_days = 20\nreplay_days = 10\nrest = \"0.000000000001\"\n\
             reconciliation = {{ tax = \"19\" }}\nunexplained = \"-0.5\"\n\
             [[resource]]\nid = \"a\"\nsku = \"g5.xlarge\"\nline = [{lines}]\n\
             [[resource]]\nid = \"b\"\nline = [{{ rate = \"0.000000000007\" }}]\n"
        ))
    }

    fn stop(since: &str) -> Change {
        Change::Stop(Stop {
            name: None,
            resource: "a".into(),
            since: since.parse().unwrap(),
        })
    }

    fn saved(replay: &Replay<'_>) -> (f64, f64) {
        (replay.saved().cash.amount(), replay.saved().freed.amount())
    }

    /// The last hundred hours, at one a hour: 60 of them are covered.
    const COVERED: &str = r#"
        { rate = "1", from = "2026-04-16T20:00:00Z", to = "2026-04-19T08:00:00Z", pricing = "Committed", commitment = "sp-1" },
        { rate = "1", from = "2026-04-19T08:00:00Z" }"#;

    #[test]
    fn an_hour_that_a_commitment_covers_saves_no_cash() {
        let facts = facts(COVERED);
        let replay = Replay::of(&facts).with(&stop("2026-04-11T00:00:00Z"));
        assert_eq!(
            saved(&replay),
            (40.0, 60.0),
            "100 hours are stopped, 60 are covered: cash for 40"
        );
        let bill = replay.bill();
        assert_eq!(
            (bill.modelled.amount(), bill.freed.amount()),
            (60.0, 60.0),
            "what is covered stays paid"
        );
        assert_eq!(bill.exact, facts.ledger.total - Money::whole(100));
        assert_eq!(
            bill.total.amount(),
            facts.ledger.total.estimate().rounded().amount() - 40.0
        );
    }

    #[test]
    fn a_line_without_a_commitment_id_may_be_covered_too() {
        let facts = facts(r#"{ rate = "2", pricing = "Committed" }, { rate = "3", commitment = "block" }"#);
        assert_eq!(
            saved(&Replay::of(&facts).with(&stop("2026-04-20T00:00:00Z"))),
            (0.0, 120.0)
        );
    }

    #[test]
    fn what_nothing_touches_stays_exact() {
        let facts = facts(r#"{ rate = "1.212" }"#);
        let none = Replay::of(&facts).bill();
        assert_eq!(none.exact, facts.ledger.total);
        assert_eq!((none.modelled, none.freed), (Estimate::ZERO, Estimate::ZERO));
        assert_eq!(none.reconciliation, facts.ledger.reconciliation);
        assert_eq!(none.unexplained.to_string(), "-0.50");
        let day = Replay::of(&facts).with(&stop("2026-04-20T00:00:00Z")).bill();
        // 216 hours of `a`, all 240 of `b` at 7e-12, and the rest.
        assert_eq!(day.exact.full(), "261.792000001681");
        assert_eq!(day.modelled, Estimate::ZERO);
    }

    #[test]
    fn disks_and_spread_costs_go_on() {
        let facts = facts(
            r#"{ rate = "5", kind = "other" }, { rate = "7", spread = "even" }, { rate = "1", spread = "activity" }"#,
        );
        let replay = Replay::of(&facts).with(&stop("2026-04-20T00:00:00Z"));
        assert_eq!(saved(&replay), (24.0, 0.0));
        assert_eq!(replay.bill().exact, facts.ledger.total - Money::whole(24));
    }

    #[test]
    fn a_part_of_an_hour_saves_that_part_of_its_cost() {
        let facts = facts(r#"{ rate = "8", seconds = 1800 }"#);
        let replay = Replay::of(&facts).with(&stop("2026-04-20T22:45:00Z"));
        assert_eq!(saved(&replay), (10.0, 0.0));
        let bill = replay.bill();
        assert_eq!(
            bill.exact,
            facts.ledger.total - Money::whole(16),
            "both hours are touched"
        );
        assert_eq!(bill.modelled.amount(), 6.0, "three quarters of one stay");
    }

    #[test]
    fn an_hour_is_saved_once_and_only_inside_the_period() {
        let facts = facts(r#"{ rate = "1" }"#);
        let once = Replay::of(&facts).with(&stop("2026-04-20T00:00:00Z"));
        let twice = once
            .with(&stop("2026-04-20T12:00:00Z"))
            .with(&stop("2026-04-20T00:00:00Z"));
        assert_eq!(once.bill(), twice.bill());
        let all = once.with(&stop("2020-01-01T00:00:00Z"));
        assert_eq!(
            saved(&all),
            (240.0, 0.0),
            "ten days are replayed, not the history before"
        );
        assert_eq!(all.saved_in(facts.history).cash.amount(), 480.0);
        assert_eq!(all.first_saving(), Some(facts.history.start.as_second()));
        assert!(all.remaining(&"a".into()).is_empty());
        assert_eq!(all.remaining(&"b".into()).hours(), 480.0);
    }

    #[test]
    fn a_resource_that_is_not_there_changes_nothing() {
        let facts = facts("");
        let change = Change::Stop(Stop {
            name: None,
            resource: "nobody".into(),
            since: facts.history.start,
        });
        let replay = Replay::of(&facts).with(&change);
        assert_eq!(replay.bill(), Replay::of(&facts).bill());
        assert_eq!(replay.first_saving(), None);
        assert!(replay.remaining(&"nobody".into()).is_empty());
    }

    #[test]
    fn a_part_sees_only_its_resources() {
        let facts = facts(r#"{ rate = "1" }"#);
        let replay = Replay::of(&facts).with(&stop("2026-04-20T00:00:00Z"));
        assert_eq!(saved(&replay.part(&["a".into()].into())), (24.0, 0.0));
        assert_eq!(saved(&replay.part(&["b".into(), "nobody".into()].into())), (0.0, 0.0));
    }

    #[test]
    fn a_month_is_730_hours_and_an_empty_period_saves_nothing() {
        let mut facts = facts("");
        let saved = Saved {
            cash: Estimate::new(24.0),
            freed: Estimate::new(2.4),
        };
        assert_eq!(
            saved.per_month(&facts),
            Saved {
                cash: Estimate::new(73.0),
                freed: Estimate::new(7.3)
            }
        );
        facts.period = Period::from_seconds(0, 0);
        assert_eq!(saved.per_month(&facts), Saved::default());
    }
}
