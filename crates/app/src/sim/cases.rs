//! What is planted: a machine, the case that it is of, and what is true of it.

use crate::demo::clock::{HOURS, second};
use crate::demo::dice::Dice;
use crate::demo::machine::{Machine, Work};
use crate::demo::places::Place;

use super::{development, serving, training};

/// A case, as the table of scores calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// The lever that should find its machines; none = no step is expected.
    pub wanted: Option<&'static str>,
}

/// A machine of a case.
#[derive(Clone, Debug)]
pub struct Planted {
    /// Which case.
    pub case: Case,
    /// What is billed and measured.
    pub machine: Machine,
    /// The workload of workloads.toml that it is of.
    pub workload: Option<&'static str>,
    /// Its team as its people write it; tags may differ in case.
    pub team: Option<&'static str>,
    /// Its project.
    pub project: Option<&'static str>,
    /// Is it divided into instances (MIG)?
    pub is_divided: bool,
    /// Hours in which somebody really used it.
    pub used: Vec<bool>,
    /// Must it run in every hour that it is billed, used or not?
    pub must_run: bool,
    /// May its work be interrupted?
    pub may_spot: bool,
}

impl Planted {
    /// A machine that always runs, of nobody.
    pub fn new(case: Case, place: &'static Place, sku: &'static str, name: &str, dice: &mut Dice) -> Self {
        Self {
            case,
            machine: Machine::new(place, sku, name, dice),
            workload: None,
            team: None,
            project: None,
            is_divided: false,
            used: Vec::new(),
            must_run: false,
            may_spot: false,
        }
    }

    /// With an owner, whose team is spelled in some case.
    #[must_use]
    pub fn of(mut self, team: &'static str, project: &'static str, dice: &mut Dice) -> Self {
        (self.team, self.project) = (Some(team), Some(project));
        self.machine = self
            .machine
            .tagged(&[("team", &spelled(team, dice)), ("project", project)]);
        self
    }

    /// With a workload of workloads.toml.
    #[must_use]
    pub fn workload(mut self, name: &'static str) -> Self {
        self.workload = Some(name);
        self
    }

    /// It does this; an hour in which it does something is a used one.
    #[must_use]
    pub fn works(mut self, work: Vec<Work>) -> Self {
        self.used = work.iter().map(|w| w.activity > 0).collect();
        self.machine.work = work;
        self
    }

    /// Somebody needs it in every hour.
    #[must_use]
    pub fn must_run(mut self) -> Self {
        self.must_run = true;
        self
    }

    /// Billed from one hour of the sample to another only.
    #[must_use]
    pub fn billed(mut self, from: usize, to: usize) -> Self {
        self.machine.runs = lowwater_model::period::Spans::new(vec![(second(from), second(to))]);
        self
    }

    /// No metrics are left of these hours.
    #[must_use]
    pub fn unmeasured(mut self, is: impl Fn(usize) -> bool) -> Self {
        self.machine.unmeasured = (0..HOURS).map(is).collect();
        self
    }
}

/// A team as somebody typed it.
fn spelled(team: &str, dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => team.to_uppercase(),
        1 => team[..1].to_uppercase() + &team[1..],
        _ => team.to_owned(),
    }
}

/// One GPU at work in the hours that a rule names.
pub fn works_when(dice: &mut Dice, activity: (i64, i64), memory_mib: u32, is: impl Fn(usize) -> bool) -> Vec<Work> {
    let hour = |hour| {
        if is(hour) {
            Work::one_gpu(dice.between(activity.0, activity.1), memory_mib)
        } else {
            Work::NONE
        }
    };
    (0..HOURS).map(hour).collect()
}

/// Every machine of an organisation.
pub fn planted(seed: u64) -> Vec<Planted> {
    let mut all = development::planted(seed);
    all.extend(serving::planted(seed));
    all.extend(training::planted(seed));
    all
}
