//! Run a fleet only when its people work.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{ChangeMeta, Effect, Kind, Risk};
use crate::facts::{Facts, Resource};
use crate::id::{ResourceId, WorkloadName};
use crate::money::Estimate;
use crate::period::{HOUR_SECONDS, Period, Spans};
use crate::schedule::Schedule;

/// See the module.
pub const META: ChangeMeta = ChangeMeta {
    kind: "set_schedule",
    title: "Run on a schedule",
    doc: "The resources run inside the windows of the schedule and are stopped outside. Replay removes only \
          those hours outside the windows in which the resource was seen to be idle: an hour in which somebody \
          worked at night is kept, as if it had been woken by hand, and so is an hour that nobody measured. \
          Undo: remove the schedule.",
};

/// What it may cost when a machine does not come back in the morning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapacityRisk {
    /// Chance that a start fails for lack of capacity.
    pub failure: f64,
    /// Hours until it works.
    pub wait_hours: f64,
    /// What an hour of waiting costs, in the dataset's currency.
    pub hour_cost: f64,
}

/// Run resources on a schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetSchedule {
    /// Whose fleet.
    pub workload: WorkloadName,
    /// Its resources, sorted.
    pub resources: Vec<ResourceId>,
    /// When they run.
    pub schedule: Schedule,
    /// Priced where the SKU is scarce.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_risk: Option<CapacityRisk>,
}

/// The idle, observed hours of the resource among the instants at which it would be stopped.
fn idle_within(resource: &Resource, stopped: &Spans) -> Spans {
    let idle = resource.usage.iter().filter(|(_, usage)| usage.idle).map(|(hour, _)| {
        let start = hour.start_second();
        (start, start + HOUR_SECONDS)
    });
    Spans::new(idle.collect()).intersect(stopped)
}

impl SetSchedule {
    /// The expected cost of starts that fail, over `period`.
    fn capacity_charge(&self, period: Period) -> Option<Effect> {
        let risk = self.capacity_risk?;
        let starts = self.schedule.running(period).iter().count() * self.resources.len();
        Some(Effect::AddCharge {
            label: format!("expected wait for capacity at {starts} starts"),
            amount: Estimate::new(starts as f64 * risk.failure * risk.wait_hours * risk.hour_cost),
        })
    }
}

impl Kind for SetSchedule {
    fn describe(&self) -> String {
        let count = self.resources.len();
        let noun = if count == 1 { "resource" } else { "resources" };
        format!("Run {count} {noun} of {} only {}", self.workload, self.schedule.describe())
    }

    fn effects(&self, facts: &Facts) -> Vec<Effect> {
        let stopped = self.schedule.stopped(facts.history);
        let removed = self.resources.iter().filter_map(|id| facts.resource(id)).map(|resource| Effect::RemoveHours {
            resource: resource.id.clone(),
            spans: idle_within(resource, &stopped),
        });
        removed.chain(self.capacity_charge(facts.period)).collect()
    }

    fn resources(&self) -> BTreeSet<ResourceId> {
        self.resources.iter().cloned().collect()
    }

    fn risk(&self) -> Risk {
        if self.capacity_risk.is_some() { Risk::Medium } else { Risk::Low }
    }

    fn undo(&self) -> String {
        "remove the schedule; the machines run all the time again".into()
    }
}
