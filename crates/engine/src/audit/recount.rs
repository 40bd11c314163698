//! Every hour of every touched resource, counted again one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use lowwater_model::change::Change;
use lowwater_model::change::commit::Commit;
use lowwater_model::charge::{PricingCategory, Spread};
use lowwater_model::facts::{Facts, LineKind, Resource};
use lowwater_model::id::ResourceId;
use lowwater_model::money::Money;
use lowwater_model::period::Hour;

use super::clock::{self, MINUTES, WHOLE};

/// For each hour of the period the minutes that a step removes.
type Minutes = Vec<u64>;

/// What the hours of a resource cost.
struct Costs {
    /// Saved in cash when they go.
    paid: Vec<i128>,
    /// Paid even when they go.
    covered: Vec<i128>,
    /// Of `paid`: on demand.
    on_demand: Vec<i128>,
    /// Seconds that run on demand.
    seconds: Vec<u32>,
}

/// Money of one step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub(super) cash: f64,
    pub(super) freed: f64,
}

/// What one step does.
#[derive(Default)]
struct Deed<'a> {
    removed: BTreeMap<&'a ResourceId, Minutes>,
    /// New cost for a unit of the old, of on-demand hours.
    rerated: BTreeMap<&'a ResourceId, f64>,
    lot: Option<&'a Commit>,
    charge: f64,
}

impl<'a> Deed<'a> {
    fn resources(&self) -> impl Iterator<Item = &'a ResourceId> {
        let lot = self.lot.into_iter().flat_map(|lot| &lot.resources);
        self.removed.keys().chain(self.rerated.keys()).copied().chain(lot)
    }
}

/// All steps of a plan, hour by hour.
pub(super) struct Recount<'a> {
    resources: BTreeMap<&'a ResourceId, &'a Resource>,
    hours: Range<i64>,
    costs: BTreeMap<&'a ResourceId, Costs>,
    steps: Vec<Deed<'a>>,
}

fn costs(resource: &Resource, hours: &Range<i64>) -> Costs {
    let count = hours.clone().count();
    let mut costs = Costs {
        paid: vec![0; count],
        covered: vec![0; count],
        on_demand: vec![0; count],
        seconds: vec![0; count],
    };
    for line in &resource.lines {
        if line.kind == LineKind::Other || line.spread == Spread::Even {
            continue;
        }
        let stays = line.commitment.is_some() || line.pricing == PricingCategory::Committed;
        let is_on_demand = line.commitment.is_none() && line.pricing == PricingCategory::Standard;
        for run in &line.runs {
            for hour in run.start.0..run.start.0 + i64::from(run.hours) {
                if !hours.contains(&hour) {
                    continue;
                }
                let index = (hour - hours.start) as usize;
                let column = if stays { &mut costs.covered } else { &mut costs.paid };
                column[index] += run.cost.units();
                if is_on_demand {
                    costs.on_demand[index] += run.cost.units();
                    costs.seconds[index] = costs.seconds[index].max(run.seconds);
                }
            }
        }
    }
    costs
}

/// Units times minutes as money.
fn amount(unit_minutes: i128) -> f64 {
    Money::from_units(unit_minutes).estimate().amount() / f64::from(MINUTES)
}

impl<'a> Recount<'a> {
    pub(super) fn new(facts: &'a Facts, changes: impl Iterator<Item = &'a Change>) -> Self {
        Self::over(facts, facts.period.hour_range(), changes)
    }

    /// The same over other hours than those of the period.
    pub(super) fn over(facts: &'a Facts, hours: Range<i64>, changes: impl Iterator<Item = &'a Change>) -> Self {
        let resources = facts.resources.iter().map(|r| (&r.id, r)).collect();
        let mut recount = Self {
            resources,
            hours,
            costs: BTreeMap::new(),
            steps: Vec::new(),
        };
        for change in changes {
            recount.add(change, facts.period.hours());
        }
        recount
    }

    fn add(&mut self, change: &'a Change, period_hours: f64) {
        let mut deed = Deed::default();
        match change {
            Change::Stop(stop) => {
                let from = stop.since.as_second().div_euclid(3600);
                let mask = |hour: i64| if hour >= from { WHOLE } else { 0 };
                deed.removed
                    .insert(&stop.resource, self.hours.clone().map(mask).collect());
            }
            Change::SetSchedule(set) => {
                let running = clock::running(&set.schedule, self.hours.clone());
                for id in &set.resources {
                    deed.removed.insert(id, self.idle_and_stopped(id, &running));
                }
                if let Some(risk) = set.capacity_risk {
                    let starts = f64::from(clock::starts(&running)) * set.resources.len() as f64;
                    deed.charge = starts * risk.failure * risk.wait_hours * risk.hour_cost;
                }
            }
            Change::UseSpot(spot) => {
                let outlook = spot.expected;
                let hour = outlook.rate * outlook.hours + outlook.interruptions * spot.interruption_cost;
                deed.rerated = spot
                    .resources
                    .iter()
                    .map(|id| (id, hour / spot.on_demand_rate))
                    .collect();
                deed.charge = spot.storage_per_month * period_hours / 730.0;
            }
            Change::Commit(commit) => deed.lot = Some(commit),
        }
        for id in deed.resources() {
            if let Some(resource) = self.resources.get(id) {
                self.costs.entry(id).or_insert_with(|| costs(resource, &self.hours));
            }
        }
        self.steps.push(deed);
    }

    fn idle_and_stopped(&self, id: &ResourceId, running: &[u64]) -> Minutes {
        let usage = self.resources.get(id).map(|r| &r.usage);
        let is_idle = |hour: i64| {
            usage
                .and_then(|usage| usage.at(Hour(hour)))
                .is_some_and(|seen| seen.idle)
        };
        self.hours
            .clone()
            .zip(running)
            .map(|(hour, on)| if is_idle(hour) { WHOLE & !on } else { 0 })
            .collect()
    }

    /// The minutes that any of these steps removes from a resource.
    fn gone(&self, id: &ResourceId, steps: &[usize]) -> Minutes {
        let mut all = vec![0; self.hours.clone().count()];
        for minutes in steps.iter().filter_map(|step| self.steps[*step].removed.get(id)) {
            for (mask, more) in all.iter_mut().zip(minutes) {
                *mask |= more;
            }
        }
        all
    }

    /// The last of these steps that gives a resource another price.
    fn factor(&self, id: &ResourceId, steps: &[usize]) -> Option<f64> {
        steps
            .iter()
            .rev()
            .find_map(|step| self.steps[*step].rerated.get(id).copied())
    }

    /// What these steps save on one resource, lots apart.
    fn on_resource(&self, id: &ResourceId, steps: &[usize]) -> Counted {
        let Some(costs) = self.costs.get(id) else {
            return Counted::default();
        };
        let (mut cash, mut freed, mut kept) = (0, 0, 0);
        for (index, mask) in self.gone(id, steps).into_iter().enumerate() {
            let minutes = i128::from(mask.count_ones());
            cash += costs.paid[index] * minutes;
            freed += costs.covered[index] * minutes;
            kept += costs.on_demand[index] * (i128::from(MINUTES) - minutes);
        }
        let rerated = self
            .factor(id, steps)
            .map_or(0.0, |factor| amount(kept) * (1.0 - factor));
        Counted {
            cash: amount(cash) + rerated,
            freed: amount(freed),
        }
    }

    /// Instances that run on demand after these steps in each hour, and what they cost.
    pub(super) fn demand(&self, ids: &[&ResourceId], steps: &[usize]) -> Vec<(f64, f64)> {
        let mut hours = vec![(0.0, 0.0); self.hours.clone().count()];
        for id in ids.iter().filter(|id| self.factor(id, steps).is_none()) {
            let Some(costs) = self.costs.get(*id) else { continue };
            for (index, mask) in self.gone(id, steps).into_iter().enumerate() {
                let kept = f64::from(MINUTES - mask.count_ones()) / f64::from(MINUTES);
                hours[index].0 += f64::from(costs.seconds[index]) / 3600.0 * kept;
                hours[index].1 += Money::from_units(costs.on_demand[index]).estimate().amount() * kept;
            }
        }
        hours
    }

    /// Does a machine that ran on demand in the last week run no more of it after these steps?
    pub(super) fn is_taken(&self, id: &ResourceId, steps: &[usize]) -> bool {
        let runs = |steps: &[usize]| {
            let hours = self.demand(&[id], steps);
            hours[hours.len().saturating_sub(168)..]
                .iter()
                .any(|(running, _)| *running > 0.0)
        };
        runs(&[]) && !runs(steps)
    }

    /// What the lots of these steps save, less their fees.
    fn on_lots(&self, ids: &BTreeSet<&ResourceId>, steps: &[usize]) -> f64 {
        let mut taken: BTreeSet<&ResourceId> = BTreeSet::new();
        let mut saved = 0.0;
        for lot in steps.iter().filter_map(|step| self.steps[*step].lot) {
            let own: Vec<&ResourceId> = lot.resources.iter().filter(|id| !taken.contains(id)).collect();
            taken.extend(&own);
            if !lot.resources.iter().any(|id| ids.contains(id)) {
                continue;
            }
            for (running, cost) in self.demand(&own, steps) {
                let share = if running > 0.0 {
                    (f64::from(lot.level) / running).min(1.0)
                } else {
                    0.0
                };
                saved += share * cost - f64::from(lot.level) * lot.rate;
            }
        }
        saved
    }

    /// What these steps save on these resources.
    fn saved(&self, ids: &BTreeSet<&ResourceId>, steps: &[usize]) -> Counted {
        let mut sum = Counted {
            cash: self.on_lots(ids, steps),
            freed: 0.0,
        };
        for id in ids {
            let more = self.on_resource(id, steps);
            (sum.cash, sum.freed) = (sum.cash + more.cash, sum.freed + more.freed);
        }
        sum
    }

    /// What a step saves that none of the `others` does.
    pub(super) fn beyond(&self, step: usize, others: &[usize]) -> Counted {
        let mut ids: BTreeSet<&ResourceId> = self.steps[step].resources().collect();
        let lots = others.iter().filter_map(|other| self.steps[*other].lot);
        let shared: Vec<&Commit> = lots
            .filter(|lot| lot.resources.iter().any(|id| ids.contains(id)))
            .collect();
        ids.extend(shared.into_iter().flat_map(|lot| &lot.resources));
        let mut all: Vec<usize> = others.iter().copied().chain([step]).collect();
        all.sort_unstable();
        let (with, without) = (self.saved(&ids, &all), self.saved(&ids, others));
        Counted {
            cash: with.cash - without.cash - self.steps[step].charge,
            freed: with.freed - without.freed,
        }
    }

    /// The part of what a step saves after the ones before it that it saves with one cloud, 0 to 1.
    pub(super) fn part(&self, step: usize, cloud: &str) -> f64 {
        let own: BTreeSet<&ResourceId> = self.steps[step].resources().collect();
        let cloud_of = |id: &ResourceId| self.resources.get(id).map(|resource| resource.cloud.as_str());
        let clouds: BTreeSet<&str> = own.iter().filter_map(|id| cloud_of(id)).collect();
        if clouds.len() <= 1 {
            return f64::from(u8::from(clouds.contains(cloud)));
        }
        let before: Vec<usize> = (0..step).collect();
        let after: Vec<usize> = (0..=step).collect();
        let saved = |cloud: &str| {
            let ids = own.iter().copied().filter(|id| cloud_of(id) == Some(cloud)).collect();
            self.saved(&ids, &after).cash - self.saved(&ids, &before).cash
        };
        let all: f64 = clouds.iter().map(|cloud| saved(cloud)).sum();
        if all > 0.0 && clouds.contains(cloud) {
            saved(cloud) / all
        } else {
            0.0
        }
    }

    /// What the step saves by itself.
    pub(super) fn alone(&self, step: usize) -> Counted {
        self.beyond(step, &[])
    }

    /// What the step saves after the ones before it.
    pub(super) fn share(&self, step: usize) -> Counted {
        self.beyond(step, &(0..step).collect::<Vec<_>>())
    }

    /// What the total loses without the step.
    pub(super) fn without(&self, step: usize) -> Counted {
        let others = (0..self.steps.len()).filter(|other| *other != step);
        self.beyond(step, &others.collect::<Vec<_>>())
    }

    /// What all hours cost that any step touches.
    pub(super) fn touched(&self) -> Money {
        let steps: Vec<usize> = (0..self.steps.len()).collect();
        let lots = self
            .steps
            .iter()
            .filter_map(|deed| deed.lot)
            .flat_map(|lot| &lot.resources);
        let in_lots: BTreeSet<&ResourceId> = lots.collect();
        let mut units = 0;
        for (id, costs) in &self.costs {
            let is_whole = in_lots.contains(id) || self.factor(id, &steps).is_some();
            for (index, mask) in self.gone(id, &steps).into_iter().enumerate() {
                if is_whole || mask != 0 {
                    units += costs.paid[index] + costs.covered[index];
                }
            }
        }
        Money::from_units(units)
    }
}
