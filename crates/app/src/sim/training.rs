//! Training: pauses that are no idleness, work that can be interrupted, and work that can't.

use super::cases::{Case, Planted};
use crate::demo::clock::HOURS;
use crate::demo::dice::Dice;
use crate::demo::machine::Work;
use crate::demo::places::{RESEARCH_EAST, RESEARCH_WEST};

/// GPUs do nothing for hours between two epochs, while CPUs evaluate.
const EPOCHS: Case = Case {
    name: "training, idle between epochs",
    wanted: Some("spot_training"),
};
/// Begins again from nothing when it is interrupted.
const NOT_RESUMABLE: Case = Case {
    name: "training without checkpoints",
    wanted: None,
};

/// All of it.
pub fn planted(seed: u64) -> Vec<Planted> {
    let mut all = epochs(seed);
    all.push(not_resumable(seed));
    all
}

fn epochs(seed: u64) -> Vec<Planted> {
    let mut dice = Dice::new(seed, "epochs");
    let (trains, pauses) = (dice.between(3, 6) as usize, dice.between(1, 3) as usize);
    let hour = |hour: usize, dice: &mut Dice| {
        if hour % (trains + pauses) < trains {
            Work {
                activity: dice.between(850, 960) as u16,
                gpus: 4,
                memory_mib: 20_000,
            }
        } else {
            // Weights stay on the GPUs, or an offload takes them away.
            Work::held(4, 200)
        }
    };
    (1..=2)
        .map(|number| {
            let name = format!("epoch-{number}");
            let mut own = Dice::new(seed, &name);
            let work: Vec<Work> = (0..HOURS).map(|h| hour(h, &mut own)).collect();
            let mut planted = Planted::new(EPOCHS, RESEARCH_EAST, "g5.12xlarge", &name, &mut own)
                .of("optics", "epochs", &mut own)
                .workload("epochs")
                .works(work);
            // The run goes on while the GPUs pause.
            planted.used = vec![true; HOURS];
            planted.may_spot = true;
            planted
        })
        .collect()
}

fn not_resumable(seed: u64) -> Planted {
    let mut dice = Dice::new(seed, "not resumable");
    let work = (0..HOURS)
        .map(|_| Work {
            activity: dice.between(800, 950) as u16,
            gpus: 8,
            memory_mib: 30_000,
        })
        .collect();
    let mut dice = Dice::new(seed, "not resumable, id");
    Planted::new(NOT_RESUMABLE, RESEARCH_WEST, "p4d.24xlarge", "monolith-1", &mut dice)
        .of("optics", "monolith", &mut dice)
        .workload("monolith")
        .works(work)
        .must_run()
}
