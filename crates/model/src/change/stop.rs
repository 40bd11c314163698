//! Stop a resource that does nothing.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{ChangeMeta, Effect, Kind, Risk};
use crate::facts::Facts;
use crate::id::ResourceId;
use crate::period::Spans;

/// See the module.
pub const META: ChangeMeta = ChangeMeta {
    kind: "stop",
    title: "Stop a resource",
    doc: "The resource is stopped, not deleted: its disks stay and go on costing. Memory and instance-store \
          disks are lost. Undo: start it again.",
};

/// Stop a resource, as if it had been stopped since `since`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// Which.
    pub resource: ResourceId,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// From when on the replay has it stopped: the beginning of its idle time.
    pub since: Timestamp,
}

impl Kind for Stop {
    fn describe(&self) -> String {
        match &self.name {
            Some(name) => format!("Stop {name} ({})", self.resource),
            None => format!("Stop {}", self.resource),
        }
    }

    fn effects(&self, facts: &Facts) -> Vec<Effect> {
        let spans = Spans::new(vec![(self.since.as_second(), facts.history.end.as_second())]);
        vec![Effect::RemoveHours { resource: self.resource.clone(), spans }]
    }

    fn resources(&self) -> BTreeSet<ResourceId> {
        BTreeSet::from([self.resource.clone()])
    }

    fn risk(&self) -> Risk {
        Risk::Medium
    }

    fn acts_from(&self) -> Option<Timestamp> {
        Some(self.since)
    }

    fn undo(&self) -> String {
        "start it again; its disks are as they were, memory and instance-store disks are empty".into()
    }
}
