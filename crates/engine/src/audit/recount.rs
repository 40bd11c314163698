//! Every hour of every touched resource, counted again one by one.

use std::collections::BTreeMap;
use std::ops::Range;

use lowwater_model::change::Change;
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
}

/// Money of one step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub(super) cash: f64,
    pub(super) freed: f64,
}

/// All steps of a plan, hour by hour.
pub(super) struct Recount<'a> {
    resources: BTreeMap<&'a ResourceId, &'a Resource>,
    hours: Range<i64>,
    costs: BTreeMap<&'a ResourceId, Costs>,
    steps: Vec<BTreeMap<&'a ResourceId, Minutes>>,
    charges: Vec<f64>,
}

fn costs(resource: &Resource, hours: &Range<i64>) -> Costs {
    let count = hours.clone().count();
    let mut costs = Costs {
        paid: vec![0; count],
        covered: vec![0; count],
    };
    for line in &resource.lines {
        if line.kind == LineKind::Other || line.spread == Spread::Even {
            continue;
        }
        let stays = line.commitment.is_some() || line.pricing == PricingCategory::Committed;
        let column = if stays { &mut costs.covered } else { &mut costs.paid };
        for run in &line.runs {
            for hour in run.start.0..run.start.0 + i64::from(run.hours) {
                if hours.contains(&hour) {
                    column[(hour - hours.start) as usize] += run.cost.units();
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
        let hours = facts.period.hour_range();
        let resources = facts.resources.iter().map(|r| (&r.id, r)).collect();
        let mut recount = Self {
            resources,
            hours,
            costs: BTreeMap::new(),
            steps: Vec::new(),
            charges: Vec::new(),
        };
        for change in changes {
            recount.add(change);
        }
        recount
    }

    fn add(&mut self, change: &'a Change) {
        let mut removed = BTreeMap::new();
        let mut charge = 0.0;
        match change {
            Change::Stop(stop) => {
                let from = stop.since.as_second().div_euclid(3600);
                let mask = |hour: i64| if hour >= from { WHOLE } else { 0 };
                removed.insert(&stop.resource, self.hours.clone().map(mask).collect());
            }
            Change::SetSchedule(set) => {
                let running = clock::running(&set.schedule, self.hours.clone());
                for id in &set.resources {
                    removed.insert(id, self.idle_and_stopped(id, &running));
                }
                if let Some(risk) = set.capacity_risk {
                    let starts = f64::from(clock::starts(&running)) * set.resources.len() as f64;
                    charge = starts * risk.failure * risk.wait_hours * risk.hour_cost;
                }
            }
        }
        for id in removed.keys() {
            if let Some(resource) = self.resources.get(id) {
                self.costs.entry(id).or_insert_with(|| costs(resource, &self.hours));
            }
        }
        self.steps.push(removed);
        self.charges.push(charge);
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

    /// What the minutes of a resource that are in `removed` and not in `gone` are worth.
    fn worth(&self, id: &ResourceId, removed: &[u64], gone: &[u64]) -> (i128, i128) {
        let Some(costs) = self.costs.get(id) else { return (0, 0) };
        let mut sum = (0, 0);
        for (index, mask) in removed.iter().enumerate() {
            let minutes = i128::from((mask & !gone.get(index).unwrap_or(&0)).count_ones());
            sum.0 += costs.paid[index] * minutes;
            sum.1 += costs.covered[index] * minutes;
        }
        sum
    }

    /// The minutes that any of these steps removes from a resource.
    fn union(&self, id: &ResourceId, steps: impl Iterator<Item = usize>) -> Minutes {
        let mut all = vec![0; self.hours.clone().count()];
        for minutes in steps.filter_map(|step| self.steps[step].get(id)) {
            for (mask, more) in all.iter_mut().zip(minutes) {
                *mask |= more;
            }
        }
        all
    }

    /// What a step saves that none of the `others` does.
    fn beyond(&self, step: usize, others: impl Iterator<Item = usize> + Clone) -> Counted {
        let mut sum = (0, 0);
        for (id, minutes) in &self.steps[step] {
            let (cash, freed) = self.worth(id, minutes, &self.union(id, others.clone()));
            sum = (sum.0 + cash, sum.1 + freed);
        }
        Counted {
            cash: amount(sum.0) - self.charges[step],
            freed: amount(sum.1),
        }
    }

    /// What the step saves by itself.
    pub(super) fn alone(&self, step: usize) -> Counted {
        self.beyond(step, 0..0)
    }

    /// What the step saves after the ones before it.
    pub(super) fn share(&self, step: usize) -> Counted {
        self.beyond(step, 0..step)
    }

    /// What the total loses without the step.
    pub(super) fn without(&self, step: usize) -> Counted {
        self.beyond(step, (0..self.steps.len()).filter(move |other| *other != step))
    }

    /// What all hours cost that any step touches.
    pub(super) fn touched(&self) -> Money {
        let mut units = 0;
        for (id, costs) in &self.costs {
            let all = self.union(id, 0..self.steps.len());
            for (index, _) in all.iter().enumerate().filter(|(_, mask)| **mask != 0) {
                units += costs.paid[index] + costs.covered[index];
            }
        }
        Money::from_units(units)
    }
}
