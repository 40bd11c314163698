//! Training and fine-tuning: long runs with evaluations, failures and gaps.

use lowwater_model::workload::Class;

use super::clock::HOURS;
use super::dice::Dice;
use super::machine::{Machine, State, Work, runs_of};
use super::places::{FOUNDATION, Place, RESEARCH_EAST, RESEARCH_WEST};

/// What a cluster does in an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Switched off between runs.
    Off,
    /// Switched on between runs.
    Waits,
    /// Trains on all GPUs.
    Trains,
    /// Evaluates a checkpoint on two GPUs.
    Evaluates,
    /// Hangs: memory held, nothing runs, until somebody notices.
    Hangs,
}

/// A cluster that runs one campaign.
struct Cluster {
    place: &'static Place,
    sku: &'static str,
    name: &'static str,
    nodes: usize,
    team: &'static str,
    /// Shortest and longest run in hours.
    run_hours: (i64, i64),
    /// Shortest and longest gap in hours.
    gap_hours: (i64, i64),
    /// What it does in a gap.
    gap: Phase,
    memory_mib: u32,
    /// How metrics call its nodes, before the number.
    host: (&'static str, &'static str),
}

const CLUSTERS: [Cluster; 3] = [
    Cluster {
        place: RESEARCH_WEST,
        sku: "p4d.24xlarge",
        name: "pretrain-vla",
        nodes: 4,
        team: "language",
        run_hours: (90, 200),
        gap_hours: (24, 60),
        gap: Phase::Off,
        memory_mib: 36_200,
        host: ("ip-10-20-1-", ".us-west-2.compute.internal"),
    },
    Cluster {
        place: RESEARCH_EAST,
        sku: "p5.48xlarge",
        name: "pretrain-sim",
        nodes: 2,
        team: "simulation",
        run_hours: (60, 130),
        gap_hours: (14, 40),
        gap: Phase::Waits,
        memory_mib: 71_400,
        host: ("pretrain-sim-", ""),
    },
    Cluster {
        place: FOUNDATION,
        sku: "gpu-h100-sxm_8gpu-128vcpu-1600gb",
        name: "foundation",
        nodes: 3,
        team: "perception",
        run_hours: (200, 330),
        gap_hours: (20, 70),
        gap: Phase::Off,
        memory_mib: 74_800,
        host: ("h100-node-", ".mk8s.internal"),
    },
];

/// All training machines.
pub fn machines(seed: u64) -> Vec<Machine> {
    let clusters = CLUSTERS.iter().flat_map(|c| c.machines(seed));
    clusters.chain(fine_tunes(seed)).collect()
}

impl Cluster {
    fn machines(&self, seed: u64) -> Vec<Machine> {
        let mut dice = Dice::new(seed, self.name);
        let phases = self.campaign(&mut dice);
        (1..=self.nodes)
            .map(|number| self.node(number, &phases, &mut dice))
            .collect()
    }

    /// Runs and gaps, one after the other. Each run is evaluated once a day; about every third one hangs for some hours.
    fn campaign(&self, dice: &mut Dice) -> Vec<Phase> {
        let mut phases = Vec::with_capacity(HOURS);
        while phases.len() < HOURS {
            let run = dice.between(self.run_hours.0, self.run_hours.1);
            let hang = dice.chance(330).then(|| dice.between(run / 3, run - 12));
            let hang_hours = dice.between(4, 9);
            phases.extend((0..run).map(|hour| match hang {
                Some(at) if (at..at + hang_hours).contains(&hour) => Phase::Hangs,
                _ if hour % 24 >= 22 => Phase::Evaluates,
                _ => Phase::Trains,
            }));
            let gap = dice.between(self.gap_hours.0, self.gap_hours.1);
            phases.extend((0..gap).map(|_| self.gap));
        }
        phases.truncate(HOURS);
        phases
    }

    fn node(&self, number: usize, phases: &[Phase], dice: &mut Dice) -> Machine {
        let name = format!("{}-{number}", self.name);
        let state = match self.gap {
            Phase::Waits => State::IdleBetweenRuns,
            _ => State::InUse,
        };
        let mut machine = Machine::new(self.place, self.sku, &name, dice)
            .tagged(&[
                ("team", self.team),
                ("project", self.name),
                ("environment", "research"),
                ("purpose", "training"),
            ])
            .truth(Class::Training, state);
        let on: Vec<bool> = phases.iter().map(|p| *p != Phase::Off).collect();
        machine.host = Some(format!("{}{number}{}", self.host.0, self.host.1));
        machine.disk_gb = 2_000;
        machine.runs = runs_of(&on, dice);
        machine.work = phases.iter().map(|p| self.work(*p, machine.gpus(), dice)).collect();
        machine
    }

    fn work(&self, phase: Phase, gpus: u8, dice: &mut Dice) -> Work {
        match phase {
            Phase::Off | Phase::Waits => Work::NONE,
            Phase::Hangs => Work::held(gpus, self.memory_mib),
            Phase::Trains => Work {
                activity: dice.between(870, 965) as u16,
                gpus,
                memory_mib: self.memory_mib,
            },
            Phase::Evaluates => Work {
                activity: dice.between(280, 420) as u16,
                gpus: 2,
                memory_mib: self.memory_mib / 2,
            },
        }
    }
}

/// Fine-tunes: a machine for each, started for the job and stopped after it, some only the next morning.
fn fine_tunes(seed: u64) -> Vec<Machine> {
    const MODELS: [&str; 5] = ["grasp-vla-7b", "route-llm-8b", "depth-vit-l", "speech-1b", "code-15b"];
    let mut dice = Dice::new(seed, "fine-tunes");
    let mut start = dice.between(5, 30);
    let mut machines = Vec::new();
    while start < HOURS as i64 - 80 {
        let model = MODELS[dice.below(MODELS.len() as u32) as usize];
        let number = machines.len() + 1;
        machines.push(fine_tune(model, number, start as usize, &mut dice));
        start += dice.between(18, 70);
    }
    machines
}

fn fine_tune(model: &str, number: usize, start: usize, dice: &mut Dice) -> Machine {
    let works = dice.between(6, 44) as usize;
    let forgotten = if dice.chance(350) {
        dice.between(4, 14) as usize
    } else {
        0
    };
    let team = if model == "code-15b" { "platform" } else { "perception" };
    let mut machine = Machine::new(RESEARCH_EAST, "g5.12xlarge", &format!("ft-{model}-{number:02}"), dice)
        .tagged(&[
            ("team", team),
            ("project", "fine-tuning"),
            ("environment", "research"),
            ("model", model),
            ("purpose", "fine-tuning"),
        ])
        .truth(Class::FineTuning, State::InUse);
    let end = start + works;
    let on: Vec<bool> = (0..HOURS).map(|h| (start..end + forgotten).contains(&h)).collect();
    machine.runs = runs_of(&on, dice);
    machine.work = (0..HOURS)
        .map(|hour| {
            if !(start..end).contains(&hour) {
                return Work::NONE;
            }
            Work {
                activity: dice.between(720, 930) as u16,
                gpus: 4,
                memory_mib: 20_600,
            }
        })
        .collect();
    machine
}

#[cfg(test)]
mod tests {
    use super::super::clock::second;
    use super::*;

    fn share(machine: &Machine, is: impl Fn(&Work) -> bool) -> f64 {
        let billed: Vec<&Work> = (0..HOURS)
            .filter(|h| machine.seconds(*h) > 0)
            .map(|h| &machine.work[h])
            .collect();
        billed.iter().filter(|w| is(w)).count() as f64 / billed.len() as f64
    }

    #[test]
    fn clusters_train_most_of_the_time_and_pause() {
        for machine in CLUSTERS.iter().flat_map(|c| c.machines(11)) {
            let busy = share(&machine, |w| w.activity > 800);
            assert!((0.6..0.95).contains(&busy), "{} trains {busy}", machine.name);
            assert!(
                share(&machine, |w| w.gpus == 2) > 0.03,
                "{} never evaluates",
                machine.name
            );
            let on = machine.runs.hours() / HOURS as f64;
            if machine.truth.state == State::IdleBetweenRuns {
                assert_eq!(on, 1.0, "{} is left on", machine.name);
                assert!(share(&machine, |w| *w == Work::NONE) > 0.08);
            } else {
                assert!((0.6..0.97).contains(&on), "{} runs {on}", machine.name);
            }
        }
    }

    #[test]
    fn nodes_of_a_cluster_work_together() {
        let nodes = CLUSTERS[0].machines(11);
        for hour in 0..HOURS {
            let on: Vec<bool> = nodes.iter().map(|n| n.seconds(hour) > 0).collect();
            assert!(on.iter().all(|o| *o == on[0]), "hour {hour}");
        }
    }

    #[test]
    fn a_fine_tune_is_billed_for_its_job_only() {
        let all = fine_tunes(11);
        assert!((30..70).contains(&all.len()), "{}", all.len());
        let mut tails = 0;
        for machine in &all {
            let (start, end) = machine.runs.iter().next().unwrap();
            assert_eq!(machine.runs.iter().count(), 1);
            assert!(start > second(0) && end < second(HOURS));
            assert!(machine.runs.hours() < 60.0);
            tails += usize::from(share(machine, |w| *w == Work::NONE) > 0.0);
        }
        assert!(tails > 5 && tails < all.len() / 2, "{tails} of {}", all.len());
    }
}
