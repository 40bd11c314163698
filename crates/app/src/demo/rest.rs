//! Machines without a GPU, machines without an owner, build machines.

use lowwater_model::workload::Class;

use super::clock::{HOURS, local};
use super::dice::Dice;
use super::machine::{Machine, State, Work, runs_of};
use super::places::{CHAT, CODE, DEVELOPMENT_EAST, Place, RESEARCH_EAST, RESEARCH_WEST, SERVING_EAST, SHARED_EAST};

/// A fleet of machines that always run.
struct Fleet {
    place: &'static Place,
    sku: &'static str,
    name: &'static str,
    count: usize,
    /// Team, project, environment; none = untagged.
    owner: Option<(&'static str, &'static str, &'static str)>,
    is_spot: bool,
}

const fn fleet(place: &'static Place, sku: &'static str, name: &'static str, count: usize) -> Fleet {
    Fleet {
        place,
        sku,
        name,
        count,
        owner: None,
        is_spot: false,
    }
}

impl Fleet {
    const fn of(mut self, team: &'static str, project: &'static str, environment: &'static str) -> Self {
        self.owner = Some((team, project, environment));
        self
    }
}

/// Machines without a GPU. Two of the teams are written in another case: real tags are.
const FLEETS: [Fleet; 8] = [
    fleet(SHARED_EAST, "m6i.2xlarge", "eks-node", 14).of("platform", "kubernetes", "prod"),
    fleet(RESEARCH_EAST, "c6i.4xlarge", "data-prep", 6).of("perception", "data-prep", "research"),
    fleet(SERVING_EAST, "r6i.2xlarge", "feature-store", 4).of("Platform", "search", "prod"),
    fleet(SHARED_EAST, "m6i.2xlarge", "ci-controller", 2).of("platform", "ci", "shared"),
    Fleet {
        is_spot: true,
        ..fleet(RESEARCH_WEST, "c6i.4xlarge", "sim-render", 6).of("Simulation", "rendering", "research")
    },
    fleet(CHAT, "n2-standard-8", "chat-gateway", 4).of("assistant", "chat", "prod"),
    fleet(CODE, "e2-standard-4", "code-index", 3).of("platform", "code", "prod"),
    fleet(DEVELOPMENT_EAST, "c6i.4xlarge", "", 8),
];

/// All machines of this part.
pub fn machines(seed: u64) -> Vec<Machine> {
    let mut machines: Vec<Machine> = FLEETS.iter().flat_map(|fleet| fleet.machines(seed)).collect();
    machines.extend(unowned_gpus(seed));
    machines.extend(build_machines(seed));
    machines
}

impl Fleet {
    fn machines(&self, seed: u64) -> Vec<Machine> {
        let mut dice = Dice::new(seed, &format!("fleet/{}", self.name));
        (1..=self.count)
            .map(|number| {
                let name = match self.name {
                    "" => String::new(),
                    name => format!("{name}-{number:02}"),
                };
                let mut machine = Machine::new(self.place, self.sku, &name, &mut dice);
                machine.host = None;
                machine.is_spot = self.is_spot;
                match self.owner {
                    None => machine.truth(Class::Unknown, State::Unowned),
                    Some((team, project, environment)) => {
                        machine.tagged(&[("team", team), ("project", project), ("environment", environment)])
                    }
                }
            })
            .collect()
    }
}

/// Four GPU machines that nobody tagged; two of them are measured, under their instance id.
fn unowned_gpus(seed: u64) -> Vec<Machine> {
    let clock = local("America/Los_Angeles");
    (1..=4)
        .map(|number| {
            let mut dice = Dice::new(seed, &format!("unowned-{number}"));
            let mut machine =
                Machine::new(DEVELOPMENT_EAST, "g5.xlarge", "", &mut dice).truth(Class::Unknown, State::Unowned);
            machine.host = (number <= 2).then(|| machine.id.clone());
            machine.work = clock
                .iter()
                .map(|at| {
                    let busy = (7..22).contains(&at.hour) && dice.chance(600);
                    Work::one_gpu(if busy { dice.between(150, 500) } else { 0 }, 9_300)
                })
                .collect();
            machine
        })
        .collect()
}

/// A workstation of the laboratory: its metrics arrive with the others, but no cloud bills it.
pub fn unbilled(seed: u64) -> Vec<Machine> {
    let mut dice = Dice::new(seed, "lab-workstation-1");
    let mut machine = Machine::new(DEVELOPMENT_EAST, "g5.xlarge", "lab-workstation-1", &mut dice);
    machine.work = (0..HOURS)
        .map(|_| {
            if dice.chance(200) {
                Work::one_gpu(dice.between(300, 900), 11_000)
            } else {
                Work::NONE
            }
        })
        .collect();
    vec![machine]
}

/// GPU machines that build and test on working days, started when there is something to do.
fn build_machines(seed: u64) -> Vec<Machine> {
    let clock = local("Europe/Berlin");
    (1..=4)
        .map(|number| {
            let name = format!("ci-gpu-{number}");
            let mut dice = Dice::new(seed, &name);
            let on: Vec<bool> = clock
                .iter()
                .map(|at| !at.is_weekend() && (8..20).contains(&at.hour) && dice.chance(900 - 160 * number as u32))
                .collect();
            let mut machine = Machine::new(SHARED_EAST, "g4dn.xlarge", &name, &mut dice)
                .tagged(&[
                    ("team", "platform"),
                    ("project", "ci"),
                    ("environment", "shared"),
                    ("purpose", "ci"),
                ])
                .truth(Class::Ci, State::InUse);
            machine.runs = runs_of(&on, &mut dice);
            machine.work = on
                .iter()
                .map(|on| {
                    if *on {
                        Work::one_gpu(dice.between(240, 620), 6_800)
                    } else {
                        Work::NONE
                    }
                })
                .collect();
            machine
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unowned_machines_have_no_tags_and_no_name() {
        let unowned: Vec<Machine> = machines(4)
            .into_iter()
            .filter(|m| m.truth.state == State::Unowned)
            .collect();
        assert_eq!(unowned.len(), 12);
        assert!(unowned.iter().all(|m| m.tags.is_empty() && m.name.is_empty()));
        assert_eq!(unowned.iter().filter(|m| m.gpus() > 0 && m.host.is_none()).count(), 2);
    }

    #[test]
    fn build_machines_run_on_working_days() {
        let clock = local("Europe/Berlin");
        for machine in build_machines(4) {
            let on: Vec<usize> = (0..HOURS).filter(|h| machine.seconds(*h) > 0).collect();
            assert!((200..1_000).contains(&on.len()), "{}", on.len());
            assert!(
                on.iter()
                    .all(|h| !clock[*h].is_weekend() && (8..20).contains(&clock[*h].hour))
            );
        }
    }

    #[test]
    fn fleets_run_always_and_are_named_after_their_number() {
        let all: Vec<Machine> = FLEETS.iter().flat_map(|f| f.machines(4)).collect();
        assert_eq!(all.len(), FLEETS.iter().map(|f| f.count).sum::<usize>());
        assert!(
            all.iter()
                .all(|m| m.runs.hours() == HOURS as f64 && m.gpus() == 0 && m.host.is_none())
        );
        assert!(all.iter().any(|m| m.name == "eks-node-14"));
        assert_eq!(all.iter().filter(|m| m.is_spot).count(), 6);
    }
}
