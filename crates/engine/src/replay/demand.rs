//! On-demand hours that are left, and what lots cover of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use lowwater_model::id::ResourceId;
use lowwater_model::money::{Estimate, Money};
use lowwater_model::period::{HOUR_SECONDS, Period, Spans};

use super::{Replay, clip, is_on_demand, removable};
use crate::solve::quantile::{HourDemand, Outcome, outcome};

/// A commitment for some resources.
#[derive(Clone, Debug)]
pub(super) struct Lot {
    pub(super) resources: Arc<[ResourceId]>,
    pub(super) level: f64,
    pub(super) rate: f64,
    /// Demand as a share of what the hours show.
    pub(super) demand: f64,
}

/// Seconds that run in an hour and their cost, both times the seconds that are kept of it: exact until the one division.
#[derive(Clone, Copy, Default)]
struct Running {
    square_seconds: i64,
    cost_seconds: i128,
}

impl Running {
    fn demand(self) -> HourDemand {
        if self.square_seconds == 0 {
            return HourDemand::default();
        }
        let units = self.square_seconds as f64 / (HOUR_SECONDS * HOUR_SECONDS) as f64;
        let cost = Money::from_units(self.cost_seconds).estimate().amount() / HOUR_SECONDS as f64;
        HourDemand {
            units,
            price: cost / units,
        }
    }
}

impl Replay<'_> {
    /// For each hour of a part of the history what runs on demand of these resources after all changes, lots apart.
    pub fn on_demand<'i>(&self, ids: impl IntoIterator<Item = &'i ResourceId>, within: Period) -> Vec<HourDemand> {
        let mut hours = vec![Running::default(); within.hour_range().count()];
        for place in ids.into_iter().filter_map(|id| self.place(id)) {
            self.add_running(place, within, &mut hours);
        }
        hours.into_iter().map(Running::demand).collect()
    }

    /// Adds what one resource runs on demand. Several lines of one hour are one machine.
    fn add_running(&self, place: usize, within: Period, hours: &mut [Running]) {
        let range = within.hour_range();
        let touched = self.touched.get(&place).map(|touched| &touched.work);
        let gone = touched.map_or_else(Spans::default, |work| work.removed.union(&work.rerated));
        let mut square_seconds = vec![0_i64; hours.len()];
        for line in removable(&self.facts.resources[place]).filter(|line| is_on_demand(line)) {
            for run in &line.runs {
                let Some((start, end)) = clip(run, &range) else {
                    continue;
                };
                for second in (start..end).step_by(HOUR_SECONDS as usize) {
                    let index = (second / HOUR_SECONDS - range.start) as usize;
                    let kept = HOUR_SECONDS - gone.overlap(second, second + HOUR_SECONDS);
                    square_seconds[index] = square_seconds[index].max(i64::from(run.seconds) * kept);
                    hours[index].cost_seconds += run.cost.units() * i128::from(kept);
                }
            }
        }
        for (hour, square_seconds) in hours.iter_mut().zip(square_seconds) {
            hour.square_seconds += square_seconds;
        }
    }

    /// What each lot would have covered and cost over a part of the history, in their order.
    fn lots_over(&self, within: Period) -> Vec<Outcome> {
        let mut taken: BTreeSet<&ResourceId> = BTreeSet::new();
        let mut outcomes = Vec::new();
        for lot in &self.lots {
            let own = lot.resources.iter().filter(|id| !taken.contains(id));
            let mut hours = self.on_demand(own, within);
            for hour in &mut hours {
                hour.units *= lot.demand;
            }
            outcomes.push(outcome(&hours, lot.level, lot.rate));
            taken.extend(lot.resources.iter());
        }
        outcomes
    }

    /// What all lots save over a part of the history, less their fees.
    pub(super) fn lots_saved(&self, within: Period) -> Estimate {
        let outcomes = self.lots_over(within);
        outcomes
            .iter()
            .map(|lot| Estimate::new(lot.covered - lot.committed))
            .sum()
    }
}

#[cfg(test)]
mod tests;
