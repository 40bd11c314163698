//! Promise to pay for some capacity in every hour, for a lower price.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Change, ChangeMeta, Effect, Kind, Risk};
use crate::facts::Facts;
use crate::id::ResourceId;
use crate::offer::Market;
use crate::plan::Scope;

/// See the module.
pub const META: ChangeMeta = ChangeMeta {
    kind: "commit",
    title: "Commit",
    doc: "A commitment covers up to so many instances of a type in a region in every hour of its term, and is paid in \
          every hour, used or not. Replay lets it cover what on-demand hours are left, hour by hour, and adds its fee. \
          It is the last step of a plan: what is switched off or moved afterwards leaves it unused. Undo: none before \
          the term ends.",
};

/// Buy a commitment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Commit {
    /// For what.
    pub scope: Scope,
    /// Resources whose hours it was sized on, sorted.
    pub resources: Vec<ResourceId>,
    /// How long.
    pub term: Market,
    /// Instances.
    pub level: u32,
    /// Price of one of them in every hour, in the dataset's currency.
    pub rate: f64,
    /// How much there is to cover, as a share of what the past hours show: 1.
    pub demand: f64,
    /// The same where demand falls.
    pub worst_demand: f64,
}

impl Kind for Commit {
    fn describe(&self) -> String {
        let years = if self.term == Market::ThreeYears { "three years" } else { "a year" };
        format!(
            "Commit to {} x {} in {} for {years} at {:.4} an hour each",
            self.level, self.scope.sku, self.scope.region, self.rate
        )
    }

    fn effects(&self, _facts: &Facts) -> Vec<Effect> {
        vec![Effect::AddLot {
            resources: self.resources.clone(),
            level: f64::from(self.level),
            rate: self.rate,
            demand: self.demand,
        }]
    }

    fn resources(&self) -> BTreeSet<ResourceId> {
        self.resources.iter().cloned().collect()
    }

    fn risk(&self) -> Risk {
        Risk::High
    }

    fn undo(&self) -> String {
        "none before the term ends: it is paid whether it is used or not".into()
    }

    fn outlooks(&self) -> Option<(Change, Change)> {
        let worse = Self { demand: self.worst_demand, ..self.clone() };
        Some((Change::Commit(worse), Change::Commit(self.clone())))
    }
}
