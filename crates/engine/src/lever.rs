//! Levers: each looks at what earlier steps left and says what to change, or why not.

use std::collections::BTreeMap;

use lowwater_model::id::WorkloadName;
use lowwater_model::money::Estimate;
use lowwater_model::plan::{Declined, Phase, Target, Verdict};
use lowwater_model::policy::{Policy, Section};
use lowwater_model::workload::{Class, Role};

use crate::class;
use crate::replay::Replay;

mod evidence;
mod owner;
mod running;

pub(crate) use evidence::compute_cost;

/// What the documentation and the policy say of a lever.
#[derive(Clone, Copy, Debug)]
pub struct LeverMeta {
    /// As in plan.json and in `[lever.NAME]`.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// Paragraphs: what it looks for, what it refuses, what it may get wrong.
    pub doc: &'static str,
    /// When its steps have their turn.
    pub phase: Phase,
    /// Its keys in the policy, each with default and reason.
    pub section: Section,
    /// Kinds of change that it may propose.
    pub changes: &'static [&'static str],
}

/// One way to save money.
pub trait Lever: Sync {
    /// What the documentation says.
    fn meta(&self) -> &'static LeverMeta;
    /// What to change and what not, given what earlier steps left.
    fn find(&self, so_far: &Replay<'_>, policy: &Policy) -> Vec<Verdict>;
}

macro_rules! levers {
    ($($module:ident :: $name:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// Every lever, in the order in which they look: what nobody uses goes before what is used at times.
        pub const LEVERS: &[&dyn Lever] = &[$(&$module::$name),+];
    };
}

levers! {
    idle::Idle,
    off_hours::OffHours,
    spot_training::SpotTraining,
    commit_baseline::CommitBaseline,
}

/// The policy sections of all levers.
pub fn sections() -> Vec<Section> {
    LEVERS.iter().map(|lever| lever.meta().section).collect()
}

/// What the lines for workloads.toml declare.
type Declaration = (Class, Role);

/// Why not, in words; for an undeclared resource also what it would be declared as.
#[derive(Clone, Debug, PartialEq)]
struct Refusal {
    why: String,
    declare: Option<Declaration>,
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self { why, declare: None }
    }
}

/// A refusal of one target, before those for the same reason become one.
#[derive(Debug)]
struct Refused {
    declined: Declined,
    declare: Option<Declaration>,
}

impl From<Declined> for Refused {
    fn from(declined: Declined) -> Self {
        Self {
            declined,
            declare: None,
        }
    }
}

impl Refusal {
    /// What a lever refuses for this reason.
    fn by(self, lever: &str, target: Target, numbers: BTreeMap<String, Estimate>) -> Refused {
        Refused {
            declare: self.declare,
            declined: Declined {
                lever: lever.into(),
                target,
                why: self.why,
                numbers,
                declare: None,
            },
        }
    }
}

/// What refusals that become one have in common: workload, reason, what to declare.
type Group = (Option<WorkloadName>, String, Option<Declaration>);

/// Joins refusals of the same workload for the same reason: their resources together, their numbers added. One that asks
/// for a declaration has the lines that declare all of them.
fn merged(refused: impl IntoIterator<Item = impl Into<Refused>>) -> Vec<Declined> {
    let mut groups: BTreeMap<Group, Declined> = BTreeMap::new();
    for Refused { declined: one, declare } in refused.into_iter().map(Into::into) {
        let key = (one.target.workload.clone(), one.why.clone(), declare);
        match groups.get_mut(&key) {
            None => {
                groups.insert(key, one);
            }
            Some(group) => {
                group.target.resources.extend(one.target.resources);
                for (name, number) in one.numbers {
                    *group.numbers.entry(name).or_default() += number;
                }
            }
        }
    }
    let lines = |((_, _, declare), group): (Group, Declined)| {
        let declare = declare.map(|(class, role)| class::declaration(class, role, &group.target.resources));
        Declined { declare, ..group }
    };
    groups.into_iter().map(lines).collect()
}

/// A resource as the target of a step or a refusal.
fn target_of(resource: &lowwater_model::facts::Resource) -> Target {
    Target {
        workload: resource.owner.workload.clone(),
        resources: [resource.id.clone()].into(),
        scope: None,
    }
}
