//! Training that can go on from a checkpoint, on capacity that may be taken back.

use std::collections::BTreeMap;

use lowwater_model::facts::{Facts, Resource};
use lowwater_model::plan::{Declined, Phase, Target, Verdict};
use lowwater_model::policy::KeyDefault::{Float, Int, Text};
use lowwater_model::policy::{Policy, Section, key};
use lowwater_model::workload::Class;

use super::{Lever, LeverMeta, merged, owner, running, target_of};
use crate::replay::Replay;

mod fleet;
mod market;
#[cfg(test)]
mod published;
#[cfg(test)]
mod tests;
mod words;

use fleet::Fleet;

/// See the module.
pub const META: LeverMeta = LeverMeta {
    name: "spot_training",
    title: "Train on spot capacity",
    doc: "A fleet is the on-demand GPU resources of one training or fine-tuning workload, of one type in one region. \
          Its machines count as one job: an interruption of any of them interrupts all that run at once. Expected \
          hours follow from the rate of interruptions, the cost of a save, the restart and the work since the last \
          save, with saves at the best interval (Lambert's W); interruptions of a restart are counted too. Each \
          interruption also costs a person's time, and the saves cost storage. Only the same region is looked at, so \
          data stays where it is and no egress is paid.\n\n\
          Refused: work whose owner has not declared a resumable checkpoint and its size, work whose deadline would \
          be missed, markets whose price is old or whose interruptions nobody knows, and whatever saves less than \
          the policy's share of the on-demand cost, with the number. How much work is left before a deadline is not \
          known: a job with a deadline must have been off often enough that the same work fits into the same time \
          on spot, with interruptions at the high end of their spread. Hours that a commitment covers stay where \
          they are.\n\n\
          `never`, `keep`, standby and criticality are respected. Capacity that is taken back takes its \
          instance-store disks with it: checkpoints must lie elsewhere, and the step waits until the owner has said \
          so.",
    phase: Phase::Spot,
    section: Section {
        name: "spot_training",
        keys: &[
            key(
                "min_net_saving_share",
                Float(0.2),
                "Smallest share of the on-demand cost that is saved after everything. A fifth: below it a worse month of the market eats the saving.",
            ),
            key(
                "engineer_hours_per_interruption",
                Float(1.0),
                "Hours of a person for each interruption, priced at [plan] engineer_hour. One: until restarts have run by themselves for a month, somebody looks.",
            ),
            key(
                "start_minutes",
                Float(10.0),
                "Minutes from new capacity to the begin of loading the checkpoint. Ten: machines take six, large images longer.",
            ),
            key(
                "checkpoint_gb_per_second",
                Float(1.0),
                "Speed at which a checkpoint is written and read, in GB a second. Measured 1.2 between a machine and an object store of its region; a fifth off for others on the line.",
            ),
            key(
                "max_interval_hours",
                Float(24.0),
                "Longest time between two saves, however rare interruptions are. A day: hardware fails too.",
            ),
            key(
                "checkpoints_kept",
                Int(3),
                "Saves that are kept at once. Three: a half-written one must not be the only one, and the last may be of a run gone wrong.",
            ),
            key(
                "storage_per_gb_month",
                Float(0.023),
                "Price of keeping a GB for a month, in the dataset's currency. List price of standard object storage.",
            ),
            key(
                "max_price_age_days",
                Int(30),
                "Days after which a spot price is too old to plan on. A month: spot prices move by tens of percent in one.",
            ),
            key(
                "max_criticality",
                Text("medium"),
                "Gravest criticality that may be interrupted: `low`, `medium`, `high` or `critical`.",
            ),
        ],
    },
    changes: &["use_spot"],
};

/// Words in `never` that forbid a step of this lever.
const FORBIDDING: &[&str] = &["use_spot"];

/// See [`META`].
#[derive(Debug)]
pub struct SpotTraining;

impl Lever for SpotTraining {
    fn meta(&self) -> &'static LeverMeta {
        &META
    }

    fn find(&self, so_far: &Replay<'_>, policy: &Policy) -> Vec<Verdict> {
        let (mut verdicts, mut declined) = (Vec::new(), Vec::new());
        for members in fleets(so_far, policy) {
            let (mut willing, mut why) = (Vec::new(), Vec::new());
            for resource in members {
                match unwanted(so_far, policy, resource) {
                    Some(reason) => why.push(refused(resource, reason)),
                    None => willing.push(resource),
                }
            }
            declined.append(&mut why);
            if let Some(fleet) = Fleet::new(so_far, policy, willing) {
                verdicts.push(fleet.verdict());
            }
        }
        verdicts.extend(merged(declined).into_iter().map(Verdict::Declined));
        verdicts
    }
}

/// Training resources that run on demand after all steps before, by workload, team, environment, type and region.
fn fleets<'a>(so_far: &Replay<'a>, policy: &Policy) -> Vec<Vec<&'a Resource>> {
    let facts = so_far.facts();
    let mut fleets: BTreeMap<_, Vec<&Resource>> = BTreeMap::new();
    let training = facts
        .resources
        .iter()
        .filter(|r| r.gpus > 0.0 && is_training(facts, policy, r));
    for resource in training {
        if running::is_taken(so_far, resource) || !running::may_run(so_far, resource, facts.period) {
            continue;
        }
        let owner = &resource.owner;
        let of = (&owner.workload, &owner.team, &owner.environment);
        let place = (&resource.cloud, &resource.region, resource.sku.value());
        fleets.entry((of, place)).or_default().push(resource);
    }
    fleets.into_values().collect()
}

/// Declared as training or fine-tuning, or guessed to be so beyond the policy's doubt; what else is undeclared is refused
/// by the levers before.
fn is_training(facts: &Facts, policy: &Policy, resource: &Resource) -> bool {
    owner::standing(facts, policy, resource)
        .is_ok_and(|standing| matches!(standing.class, Class::Training | Class::FineTuning))
}

fn refused(resource: &Resource, why: String) -> Declined {
    Declined {
        lever: META.name.into(),
        target: target_of(resource),
        why,
        numbers: BTreeMap::new(), declare: None }
}

/// Why the resource itself must not be interrupted; none = its owner does not mind.
fn unwanted(so_far: &Replay<'_>, policy: &Policy, resource: &Resource) -> Option<String> {
    let of = &resource.owner;
    let settings = policy.lever(META.name, of.team.as_ref(), of.environment.as_deref());
    let limit = settings.text("max_criticality");
    if let Some(why) = owner::refusal(so_far.facts(), policy, resource, FORBIDDING, limit) {
        return Some(why);
    }
    if of.workload.is_none() {
        return Some("declare this first: it belongs to no workload of workloads.toml, so nobody has said how it saves its progress".into());
    }
    if !resource.is_hourly() {
        return Some(super::evidence::NEEDS_HOURS.into());
    }
    let Some(checkpoint) = &of.checkpoint else {
        return Some("no checkpoints: an interruption would lose all of its work; declare `checkpoint` in workloads.toml when it saves its progress".into());
    };
    if !checkpoint.resumable {
        return Some("it cannot go on from its checkpoints (`checkpoint.resumable` is not true), so an interruption would lose all of its work".into());
    }
    (!checkpoint.gb.is_some_and(|gb| gb > 0.0))
        .then(|| "declare this first: the size of a checkpoint (`checkpoint.gb`), which says how long a save takes and what it costs to keep".into())
}

/// The whole fleet as the target of a step or a refusal.
fn target(members: &[&Resource]) -> Target {
    Target {
        workload: members.first().and_then(|r| r.owner.workload.clone()),
        resources: members.iter().map(|r| r.id.clone()).collect(),
        scope: None,
    }
}
