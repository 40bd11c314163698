//! A machine of the sample: what is billed of it, what its GPUs do, and what is really the matter with it.

use std::collections::BTreeMap;

use lowwater_model::period::Spans;
use lowwater_model::sku::{AcceleratorFact, find_accelerator, find_sku};
use lowwater_model::workload::Class;

use super::clock::{HOURS, second};
use super::dice::Dice;
use super::places::Place;

/// What the GPUs of a machine do in one hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Activity of each busy GPU in thousandths.
    pub activity: u16,
    /// GPUs that are busy; the others do nothing.
    pub gpus: u8,
    /// MiB held on each busy GPU.
    pub memory_mib: u32,
}

impl Work {
    /// Nothing runs and nothing is held.
    pub const NONE: Self = Self {
        activity: 0,
        gpus: 0,
        memory_mib: 0,
    };

    /// One GPU at work, at an activity in thousandths.
    pub fn one_gpu(activity: i64, memory_mib: u32) -> Self {
        Self {
            activity: activity.clamp(0, 1000) as u16,
            gpus: 1,
            memory_mib,
        }
    }

    /// Memory held on GPUs that do nothing.
    pub const fn held(gpus: u8, memory_mib: u32) -> Self {
        Self {
            activity: 0,
            gpus,
            memory_mib,
        }
    }
}

/// What is really the matter with a machine: what a good tool finds without being told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Does what it is paid for, or stands still when it has nothing to do.
    InUse,
    /// Used in working hours, paid for day and night.
    LeftOn,
    /// Used in working hours, paid for day and night, of a kind that may not be there again tomorrow.
    LeftOnScarce,
    /// Nothing has run on it since that hour of the sample.
    Idle {
        /// Hour of the sample.
        since: usize,
    },
    /// Nothing has run since that hour, but memory is held.
    IdleMemoryHeld {
        /// Hour of the sample.
        since: usize,
    },
    /// Nothing has run since that hour, as far as can be seen without a power reading.
    IdlePowerUnknown {
        /// Hour of the sample.
        since: usize,
    },
    /// Idle on purpose: waits for the primary to fail.
    Standby,
    /// Idle on purpose: its owner said to keep it.
    Kept,
    /// A whole GPU for a small model.
    Underused,
    /// Waits, switched on, between runs.
    IdleBetweenRuns,
    /// No tags and no workload.
    Unowned,
}

impl State {
    /// As in `answers.csv`, with the hour since which it is so, where there is one.
    pub const fn words(self) -> (&'static str, Option<usize>) {
        match self {
            Self::InUse => ("in use", None),
            Self::LeftOn => ("left on", None),
            Self::LeftOnScarce => ("left on, scarce", None),
            Self::Idle { since } => ("idle", Some(since)),
            Self::IdleMemoryHeld { since } => ("idle, memory held", Some(since)),
            Self::IdlePowerUnknown { since } => ("idle, power unknown", Some(since)),
            Self::Standby => ("standby", None),
            Self::Kept => ("kept", None),
            Self::Underused => ("underused", None),
            Self::IdleBetweenRuns => ("idle between runs", None),
            Self::Unowned => ("unowned", None),
        }
    }
}

/// What is true of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    /// What kind of work it does, whether or not anybody declared it.
    pub class: Class,
    /// What is the matter with it.
    pub state: State,
}

/// One billed machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Where.
    pub place: &'static Place,
    /// ResourceId.
    pub id: String,
    /// Name tag or ResourceName; empty where nobody named it.
    pub name: String,
    /// Host in its metrics; none where nobody measures it.
    pub host: Option<String>,
    /// Do its metrics name GPUs by UUID, or by index?
    pub names_gpus_by_uuid: bool,
    /// Is power among its metrics?
    pub measures_power: bool,
    /// Instance type.
    pub sku: &'static str,
    /// Interruptible?
    pub is_spot: bool,
    /// Tags without the name.
    pub tags: BTreeMap<&'static str, String>,
    /// Size of its disk; 0 = none of its own.
    pub disk_gb: i64,
    /// When it is billed.
    pub runs: Spans,
    /// Hours of the sample of which no metrics are left.
    pub unmeasured: Vec<bool>,
    /// What its GPUs do, hour by hour; empty where it has none.
    pub work: Vec<Work>,
    /// What is true of it.
    pub truth: Truth,
}

impl Machine {
    /// A machine that runs all the time, measured under its own name.
    pub fn new(place: &'static Place, sku: &'static str, name: &str, dice: &mut Dice) -> Self {
        Self {
            place,
            id: resource_id(place, name, dice),
            name: name.to_owned(),
            host: Some(name.to_owned()),
            names_gpus_by_uuid: false,
            measures_power: true,
            sku,
            is_spot: false,
            tags: BTreeMap::new(),
            disk_gb: 0,
            runs: Spans::new(vec![(second(0), second(HOURS))]),
            unmeasured: Vec::new(),
            work: Vec::new(),
            truth: Truth {
                class: Class::Unknown,
                state: State::InUse,
            },
        }
    }

    /// With tags.
    #[must_use]
    pub fn tagged(mut self, tags: &[(&'static str, &str)]) -> Self {
        self.tags
            .extend(tags.iter().map(|(key, value)| (*key, (*value).to_owned())));
        self
    }

    /// With what is true of it.
    #[must_use]
    pub fn truth(mut self, class: Class, state: State) -> Self {
        self.truth = Truth { class, state };
        self
    }

    /// Seconds billed in an hour of the sample.
    pub fn seconds(&self, hour: usize) -> i64 {
        self.runs.overlap(second(hour), second(hour + 1))
    }

    /// GPUs in it.
    pub fn gpus(&self) -> u8 {
        find_sku(self.sku).map_or(0, |fact| fact.count as u8)
    }

    /// What its GPUs are.
    pub fn accelerator(&self) -> Option<&'static AcceleratorFact> {
        find_accelerator(find_sku(self.sku)?.accelerator.as_str())
    }
}

fn resource_id(place: &Place, name: &str, dice: &mut Dice) -> String {
    match place.cloud.id {
        "aws" => format!("i-0{}", dice.word(16, 16)),
        "gcp" => format!(
            "//compute.googleapis.com/projects/{}/zones/{}/instances/{name}",
            place.account, place.zone
        ),
        _ => format!("computeinstance-e00{}", dice.word(16, 36)),
    }
}

/// When a machine is billed that runs in the hours of a mask: it starts and stops somewhere inside an hour.
///
/// All seconds are multiples of 9, so that hours have four exact decimals.
pub fn runs_of(mask: &[bool], dice: &mut Dice) -> Spans {
    let mut spans = Vec::new();
    let mut hour = 0;
    while hour < mask.len() {
        let length = mask[hour..].iter().take_while(|on| **on).count();
        if length > 0 {
            let late = |at: usize, by: i64| if at == 0 || at == HOURS { 0 } else { by * 9 };
            let start = second(hour) + late(hour, dice.between(0, 150));
            let end = second(hour + length) - late(hour + length, dice.between(0, 150));
            spans.push((start, end));
        }
        hour += length.max(1);
    }
    Spans::new(spans)
}

#[cfg(test)]
mod tests {
    use super::super::places::{CHAT, DEVELOPMENT_EAST, FOUNDATION};
    use super::*;

    #[test]
    fn runs_follow_the_mask_to_within_half_an_hour() {
        let mut mask = vec![false; HOURS];
        mask[0..5].fill(true);
        mask[9] = true;
        mask[HOURS - 3..].fill(true);
        let runs = runs_of(&mask, &mut Dice::new(3, "runs"));
        let spans: Vec<(i64, i64)> = runs.iter().collect();
        assert_eq!(spans.len(), 3);
        assert_eq!((spans[0].0, spans[2].1), (second(0), second(HOURS)));
        for (hour, on) in mask.iter().enumerate() {
            let seconds = runs.overlap(second(hour), second(hour + 1));
            assert_eq!(seconds % 9, 0);
            assert_eq!(seconds > 0, *on, "hour {hour}");
        }
    }

    #[test]
    fn each_cloud_has_its_own_kind_of_id() {
        let mut dice = Dice::new(3, "ids");
        let id = |place, dice: &mut Dice| Machine::new(place, "g5.2xlarge", "a-1", dice).id;
        assert!(id(DEVELOPMENT_EAST, &mut dice).starts_with("i-0"));
        assert!(id(CHAT, &mut dice).ends_with("/zones/us-central1-a/instances/a-1"));
        assert!(id(FOUNDATION, &mut dice).starts_with("computeinstance-e00"));
        assert_ne!(id(DEVELOPMENT_EAST, &mut dice), id(DEVELOPMENT_EAST, &mut dice));
    }

    #[test]
    fn facts_come_from_the_table() {
        let machine = Machine::new(CHAT, "a2-highgpu-1g", "a", &mut Dice::new(3, "x"));
        assert_eq!(machine.gpus(), 1);
        assert_eq!(machine.accelerator().unwrap().accelerator.as_str(), "A100-40");
        assert_eq!(
            Machine::new(CHAT, "e2-standard-4", "a", &mut Dice::new(3, "x")).gpus(),
            0
        );
    }
}
