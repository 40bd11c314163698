//! Workloads: what each is, what it costs, what its GPUs did, and what the plan makes of it.

use std::collections::BTreeMap;

use lowwater_model::facts::{Facts, Owner, Resource};
use lowwater_model::job::JobRun;
use lowwater_model::period::Period;
use lowwater_model::plan::{Plan, Target};
use lowwater_model::workload::Class;
use serde::Serialize;

use super::hours::{Hours, WeekHours};
use super::plan::target_words;
use super::resource::name;
use crate::amount::{self, cents, plural};

/// All workloads over the days that a plan replays.
#[derive(Debug, Serialize)]
pub struct WorkloadsView {
    /// These days.
    pub period: Period,
    /// Of all money.
    pub currency: String,
    /// The most expensive first; what nobody declared stands under its resource.
    pub rows: Vec<WorkloadRow>,
}

/// A workload, or a machine that belongs to none.
#[derive(Debug, Serialize)]
pub struct WorkloadRow {
    /// Its name; of a machine without a workload its own.
    pub name: String,
    /// Of workloads.toml?
    pub declared: bool,
    /// Id of the only resource, for a machine without a workload.
    pub resource: Option<String>,
    /// Declared class.
    pub class: Class,
    /// Team, where all agree.
    pub team: Option<String>,
    /// Machines.
    pub machines: usize,
    /// What their GPUs did.
    pub hours: Hours,
    /// Steps of the plan about it.
    pub steps: usize,
    /// Refusals about it.
    pub declined: usize,
}

/// The workload of a resource, else the resource.
fn key(resource: &Resource) -> (bool, String) {
    match &resource.owner.workload {
        Some(workload) => (true, workload.to_string()),
        None => (false, resource.id.to_string()),
    }
}

fn is_about(target: &Target, members: &[&Resource]) -> bool {
    members.iter().any(|r| {
        let of_workload = target.workload.is_some() && target.workload == r.owner.workload;
        of_workload || target.resources.contains(&r.id)
    })
}

/// Machines by workload.
pub fn grouped(facts: &Facts) -> BTreeMap<(bool, String), Vec<&Resource>> {
    let mut groups: BTreeMap<(bool, String), Vec<&Resource>> = BTreeMap::new();
    for resource in &facts.resources {
        groups.entry(key(resource)).or_default().push(resource);
    }
    groups
}

impl WorkloadsView {
    /// Of facts and the plan that was made from them.
    pub fn new(facts: &Facts, plan: &Plan) -> Self {
        let row = |((declared, name_of), members): ((bool, String), Vec<&Resource>)| {
            let hours: Hours = members.iter().map(|r| Hours::of(r, &facts.period)).sum();
            let first = &members[0].owner;
            let same_team = members.iter().all(|r| r.owner.team == first.team);
            WorkloadRow {
                name: if declared { name_of.clone() } else { name(members[0]) },
                declared,
                resource: (!declared).then_some(name_of),
                class: first.class,
                team: first.team.as_ref().filter(|_| same_team).map(ToString::to_string),
                machines: members.len(),
                hours: hours.rounded(),
                steps: plan
                    .steps
                    .iter()
                    .filter(|step| is_about(&step.target, &members))
                    .count(),
                declined: plan
                    .declined
                    .iter()
                    .filter(|one| is_about(&one.target, &members))
                    .count(),
            }
        };
        let mut rows: Vec<WorkloadRow> = grouped(facts)
            .into_iter()
            .map(row)
            .filter(|row| !row.hours.cost.is_zero())
            .collect();
        rows.sort_by(|a, b| b.hours.cost.cmp(&a.hours.cost).then_with(|| a.name.cmp(&b.name)));
        Self {
            period: facts.period,
            currency: facts.currency.to_string(),
            rows,
        }
    }

    /// The one sentence.
    pub fn headline(&self) -> String {
        let (declared, not): (Vec<&WorkloadRow>, Vec<&WorkloadRow>) = self.rows.iter().partition(|row| row.declared);
        let of_none = if not.is_empty() {
            "every GPU machine belongs to one".to_owned()
        } else {
            format!(
                "{} belong to none",
                plural(not.iter().map(|row| row.machines as u64).sum(), "GPU machine")
            )
        };
        format!(
            "{} with GPUs in {}; {of_none}.",
            plural(declared.len() as u64, "workload"),
            amount::period(&self.period)
        )
    }
}

/// One workload.
#[derive(Debug, Serialize)]
pub struct WorkloadView {
    /// Its name.
    pub name: String,
    /// The replayed days.
    pub period: Period,
    /// Of all money.
    pub currency: String,
    /// Its owner and who said so, of its first machine.
    pub owner: Owner,
    /// Do all machines belong to the team of the first?
    pub one_team: bool,
    /// What its GPUs did.
    pub hours: Hours,
    /// When in the week, in its owner's zone.
    pub week: WeekHours,
    /// Its machines, the most expensive first.
    pub machines: Vec<Machine>,
    /// What the plan proposes for it.
    pub steps: Vec<Mention>,
    /// What was looked at and not proposed.
    pub declined: Vec<Mention>,
    /// Its runs, the latest first.
    pub jobs: Vec<JobRun>,
}

/// A machine of it.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// ResourceId.
    pub id: String,
    /// Name and id.
    pub name: String,
    /// Instance type.
    pub sku: String,
    /// Cloud and region.
    pub place: String,
    /// What its GPUs did.
    pub hours: Hours,
}

/// A step, or a refusal.
#[derive(Debug, Serialize)]
pub struct Mention {
    /// Id of the step.
    pub step: Option<String>,
    /// Which lever.
    pub lever: String,
    /// What to do, or what was looked at.
    pub what: String,
    /// Why, or why not.
    pub why: Vec<String>,
}

/// Runs that are shown.
const MOST_RUNS: usize = 200;

impl WorkloadView {
    /// Of a workload of these facts; none where they have no such one.
    pub fn new(facts: &Facts, plan: &Plan, workload: &str) -> Option<Self> {
        let members = grouped(facts).remove(&(true, workload.to_owned()))?;
        let machine = |r: &&Resource| Machine {
            id: r.id.to_string(),
            name: name(r),
            sku: r
                .sku
                .value()
                .map_or_else(|| amount::UNKNOWN.to_owned(), ToString::to_string),
            place: format!("{} {}", r.cloud, r.region),
            hours: Hours::of(r, &facts.period).rounded(),
        };
        let mut machines: Vec<Machine> = members.iter().map(machine).collect();
        let hours: Hours = machines.iter().map(|machine| machine.hours).sum();
        machines.sort_by(|a, b| b.hours.cost.cmp(&a.hours.cost).then_with(|| a.id.cmp(&b.id)));
        let first = &members.first()?.owner;
        let steps = plan.steps.iter().filter(|step| is_about(&step.target, &members));
        let declined = plan.declined.iter().filter(|one| is_about(&one.target, &members));
        let mut jobs: Vec<JobRun> = facts
            .jobs
            .iter()
            .filter(|run| run.workload.as_deref() == Some(workload))
            .cloned()
            .collect();
        jobs.sort_by_key(|run| std::cmp::Reverse(run.start.or(run.submitted)));
        jobs.truncate(MOST_RUNS);
        Some(Self {
            name: workload.to_owned(),
            period: facts.period,
            currency: facts.currency.to_string(),
            owner: first.clone(),
            one_team: members.iter().all(|r| r.owner.team == first.team),
            hours: hours.rounded(),
            week: WeekHours::of(members.iter().copied(), &facts.history, &first.zone),
            machines,
            steps: steps
                .map(|step| Mention {
                    step: Some(step.id.to_string()),
                    lever: step.lever.clone(),
                    what: step.title.clone(),
                    why: step.because.clone(),
                })
                .collect(),
            declined: declined
                .map(|one| Mention {
                    step: None,
                    lever: one.lever.clone(),
                    what: target_words(plan, &one.target),
                    why: vec![one.why.clone()],
                })
                .collect(),
            jobs,
        })
    }

    /// The one sentence.
    pub fn headline(&self) -> String {
        let team = self
            .owner
            .team
            .as_ref()
            .filter(|_| self.one_team)
            .map_or_else(String::new, |team| format!(" of team {team}"));
        format!(
            "{}{team} ({}) cost {} {} in {} on {}.",
            self.name,
            self.owner.class,
            cents(self.hours.cost),
            self.currency,
            amount::period(&self.period),
            plural(self.machines.len() as u64, "machine")
        )
    }
}
