//! Run interruptible work on spot capacity.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Change, ChangeMeta, Effect, Kind, Risk};
use crate::facts::Facts;
use crate::id::{ResourceId, WorkloadName};
use crate::money::Estimate;
use crate::period::Spans;
use crate::spot::SpotPlace;

/// See the module.
pub const META: ChangeMeta = ChangeMeta {
    kind: "use_spot",
    title: "Run on spot capacity",
    doc: "The work runs on spot capacity of the same type and region, saves its progress at the given interval, and \
          goes on from its last save when the capacity is taken back. Replay prices every on-demand hour anew: more \
          hours, because of saves, restarts and lost work, at a lower price, and what an interruption costs in \
          people's time. Hours that a commitment covers are not touched. Undo: start it on demand; it goes on from \
          its last save.",
};

/// How it may go.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlook {
    /// Spot price of an hour.
    pub rate: f64,
    /// Spot hours for an hour of today's.
    pub hours: f64,
    /// Interruptions for an hour of today's.
    pub interruptions: f64,
}

/// Run a fleet on spot capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UseSpot {
    /// Whose work.
    pub workload: WorkloadName,
    /// Its resources, sorted.
    pub resources: Vec<ResourceId>,
    /// Where the capacity is bought.
    pub place: Box<SpotPlace>,
    /// Hours of work between two saves.
    pub checkpoint_every_hours: f64,
    /// What an hour costs today, on demand.
    pub on_demand_rate: f64,
    /// Price of one interruption beside machine time: a person who looks.
    pub interruption_cost: f64,
    /// What the saves cost to keep, a month of 730 hours.
    pub storage_per_month: f64,
    /// As expected.
    pub expected: Outlook,
    /// Dearer and interrupted more often.
    pub worse: Outlook,
    /// Cheaper and interrupted less often.
    pub better: Outlook,
}

impl UseSpot {
    /// What it costs to do an hour of today's work.
    pub fn hour_cost(&self, outlook: Outlook) -> f64 {
        outlook.rate * outlook.hours + outlook.interruptions * self.interruption_cost
    }

    /// The same on a market whose price turned out to be another.
    #[must_use]
    pub fn at_rate(&self, rate: f64) -> Self {
        let expected = Outlook { rate, ..self.expected };
        Self { expected, ..self.clone() }
    }

    fn as_expected(&self, outlook: Outlook) -> Change {
        Change::UseSpot(Self { expected: outlook, ..self.clone() })
    }
}

impl Kind for UseSpot {
    fn describe(&self) -> String {
        let count = self.resources.len();
        let noun = if count == 1 { "resource" } else { "resources" };
        let every = match self.checkpoint_every_hours {
            hours if hours < 0.1 => format!("{:.1} minutes", hours * 60.0),
            hours => format!("{hours:.2} hours"),
        };
        format!("Run {count} {noun} of {} on spot capacity: {}, a checkpoint every {every}", self.workload, self.place)
    }

    fn effects(&self, facts: &Facts) -> Vec<Effect> {
        let factor = self.hour_cost(self.expected) / self.on_demand_rate;
        let rerated = self.resources.iter().map(|resource| Effect::Rerate {
            resource: resource.clone(),
            spans: Spans::of(facts.history),
            factor,
        });
        let storage = Effect::AddCharge {
            label: format!("checkpoints of {}", self.workload),
            amount: Estimate::new(self.storage_per_month * facts.period.hours() / 730.0),
        };
        rerated.chain(std::iter::once(storage)).collect()
    }

    fn resources(&self) -> BTreeSet<ResourceId> {
        self.resources.iter().cloned().collect()
    }

    fn risk(&self) -> Risk {
        Risk::Medium
    }

    fn undo(&self) -> String {
        "start it on demand; it goes on from its last checkpoint".into()
    }

    fn outlooks(&self) -> Option<(Change, Change)> {
        Some((self.as_expected(self.worse), self.as_expected(self.better)))
    }
}
