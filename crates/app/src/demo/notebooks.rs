//! Development machines: fifty notebooks that nobody switches off, and what else stands on desks.

use jiff::civil::{Date, date};
use lowwater_model::workload::Class;

use super::clock::{HOURS, LocalHour, OCTOBER, SEPTEMBER, local};
use super::dice::Dice;
use super::machine::{Machine, State, Work};
use super::places::{DEVELOPMENT_EAST, DEVELOPMENT_WEST, MODELS, Place};

/// Where people of one zone sit.
struct Site {
    name: &'static str,
    prefix: &'static str,
    place: &'static Place,
    zone: &'static str,
    people: usize,
    /// The first so many people are of the first team, the others of the second.
    teams: (usize, &'static str, &'static str),
    holidays: &'static [Date],
}

/// Days of 2026 in the sample on which nobody works in Berlin: German Unity Day is a Saturday, so the company closes on the Monday after.
const BERLIN_HOLIDAYS: &[Date] = &[date(2026, 10, 3), date(2026, 10, 5)];
/// The same for Los Angeles: Labor Day, Indigenous Peoples' Day.
const LOS_ANGELES_HOLIDAYS: &[Date] = &[date(2026, 9, 7), date(2026, 10, 12)];

const SITES: [Site; 2] = [
    Site {
        name: "berlin",
        prefix: "nb-ber",
        place: DEVELOPMENT_EAST,
        zone: "Europe/Berlin",
        people: 30,
        teams: (16, "perception", "language"),
        holidays: BERLIN_HOLIDAYS,
    },
    Site {
        name: "los-angeles",
        prefix: "nb-lax",
        place: DEVELOPMENT_WEST,
        zone: "America/Los_Angeles",
        people: 20,
        teams: (12, "simulation", "planning"),
        holidays: LOS_ANGELES_HOLIDAYS,
    },
];

/// People who work on odd weekends.
const WEEKEND_PEOPLE: [&str; 3] = ["nb-ber-07", "nb-ber-22", "nb-lax-11"];

/// Notebooks whose people are gone.
const ABANDONED: [(&str, State); 5] = [
    (
        "nb-ber-11",
        State::Idle {
            since: SEPTEMBER.day(12),
        },
    ),
    (
        "nb-ber-19",
        State::Idle {
            since: SEPTEMBER.day(28),
        },
    ),
    ("nb-lax-04", State::Idle { since: OCTOBER.day(2) }),
    (
        "nb-lax-15",
        State::IdleMemoryHeld {
            since: SEPTEMBER.day(25),
        },
    ),
    (
        "nb-ber-28",
        State::IdlePowerUnknown {
            since: SEPTEMBER.day(20),
        },
    ),
];

/// All development machines.
pub fn machines(seed: u64) -> Vec<Machine> {
    let mut machines: Vec<Machine> = SITES.iter().flat_map(|site| site.machines(seed)).collect();
    machines.extend(workbenches(seed));
    machines.push(demo_rig(seed));
    machines
}

impl Site {
    fn machines(&self, seed: u64) -> Vec<Machine> {
        let clock = local(self.zone);
        (1..=self.people)
            .map(|number| self.notebook(seed, number, &clock))
            .collect()
    }

    fn notebook(&self, seed: u64, number: usize, clock: &[LocalHour]) -> Machine {
        let name = format!("{}-{number:02}", self.prefix);
        let mut dice = Dice::new(seed, &name);
        let state = ABANDONED
            .iter()
            .find(|(n, _)| *n == name)
            .map_or(State::LeftOn, |a| a.1);
        let team = if number <= self.teams.0 {
            self.teams.1
        } else {
            self.teams.2
        };
        let mut machine = Machine::new(self.place, "g5.2xlarge", &name, &mut dice)
            .tagged(&[
                ("team", team),
                ("project", "notebooks"),
                ("environment", "dev"),
                ("purpose", "notebook"),
                ("site", self.name),
                ("timezone", self.zone),
            ])
            .truth(Class::Development, state);
        let person = Person::new(WEEKEND_PEOPLE.contains(&name.as_str()), &mut dice);
        machine.disk_gb = 250;
        machine.names_gpus_by_uuid = true;
        machine.measures_power = !matches!(state, State::IdlePowerUnknown { .. });
        machine.work = person.hours(clock, self.holidays, &mut dice);
        abandon(&mut machine.work, state);
        machine
    }
}

/// From the hour at which its person was gone.
fn abandon(work: &mut [Work], state: State) {
    match state {
        State::Idle { since } | State::IdlePowerUnknown { since } => work[since..].fill(Work::NONE),
        State::IdleMemoryHeld { since } => work[since..].fill(Work::held(1, 18_432)),
        _ => {}
    }
}

/// Habits of one person.
pub struct Person {
    /// Hour at which the day begins.
    start: u8,
    /// Hours of a day.
    hours: u8,
    /// Days at work, in thousandths of working days.
    attendance: u32,
    /// Evenings at work, in thousandths of working days.
    evenings: u32,
    /// Weekend days at work, in thousandths.
    weekends: u32,
    /// First day of a holiday of their own, and its days.
    away: (Date, i32),
    /// MiB that the model at hand holds.
    memory_mib: u32,
}

/// What a person does on a day: hours at work, and whether a kernel stays open afterwards.
#[derive(Clone, Copy, Default)]
struct Plan {
    work: (u8, u8),
    evening: (u8, u8),
    keeps_kernel: bool,
}

impl Person {
    /// Somebody.
    pub fn new(works_weekends: bool, dice: &mut Dice) -> Self {
        let leaves = dice.between(0, 70) as i32;
        Self {
            start: dice.between(8, 10) as u8,
            hours: dice.between(8, 9) as u8,
            attendance: dice.between(860, 960) as u32,
            evenings: dice.between(15, 70) as u32,
            weekends: if works_weekends { 400 } else { 4 },
            away: (
                date(2026, 8, 10).saturating_add(jiff::Span::new().days(leaves)),
                dice.between(5, 12) as i32,
            ),
            memory_mib: dice.between(2_200, 14_500) as u32,
        }
    }

    /// What their machine does, hour by hour.
    pub fn hours(&self, clock: &[LocalHour], holidays: &[Date], dice: &mut Dice) -> Vec<Work> {
        let mut plan = Plan::default();
        let mut day = None;
        clock
            .iter()
            .map(|at| {
                if day != Some(at.day) {
                    day = Some(at.day);
                    plan = self.plan(*at, holidays, dice);
                }
                self.hour(at.hour, plan, dice)
            })
            .collect()
    }

    fn plan(&self, at: LocalHour, holidays: &[Date], dice: &mut Dice) -> Plan {
        let away = (at.day - self.away.0).get_days();
        let is_away = (0..self.away.1).contains(&away) || holidays.contains(&at.day);
        let chance = if at.is_weekend() {
            self.weekends
        } else {
            self.attendance
        };
        if is_away || !dice.chance(chance) {
            return Plan::default();
        }
        let start = if at.is_weekend() { self.start + 3 } else { self.start };
        let length = if at.is_weekend() { 4 } else { self.hours };
        let late = dice.chance(self.evenings);
        Plan {
            work: (start, start + length),
            evening: if late { (20, 22) } else { (0, 0) },
            keeps_kernel: dice.chance(300),
        }
    }

    fn hour(&self, hour: u8, plan: Plan, dice: &mut Dice) -> Work {
        let at_work = (plan.work.0..plan.work.1).contains(&hour);
        let in_evening = (plan.evening.0..plan.evening.1).contains(&hour);
        let has_kernel = hour >= plan.work.0 && plan.keeps_kernel && plan.work.1 > 0;
        if !at_work && !in_evening {
            return if has_kernel {
                Work::held(1, self.memory_mib)
            } else {
                Work::NONE
            };
        }
        // People read and talk too; over lunch more than else.
        let busy = dice.chance(if hour == 12 { 400 } else { 820 });
        if !busy {
            return Work::held(1, self.memory_mib);
        }
        Work::one_gpu(dice.between(90, 880), self.memory_mib)
    }
}

/// Three development machines with an A100 each: left on because nobody is sure to get one again.
fn workbenches(seed: u64) -> Vec<Machine> {
    let clock = local("America/Los_Angeles");
    (1..=3)
        .map(|number| {
            let name = format!("wb-llm-{number}");
            let mut dice = Dice::new(seed, &name);
            let mut machine = Machine::new(MODELS, "a2-highgpu-1g", &name, &mut dice)
                .tagged(&[
                    ("team", "planning"),
                    ("project", "workbenches"),
                    ("environment", "dev"),
                    ("purpose", "workbench"),
                ])
                .truth(Class::Development, State::LeftOnScarce);
            machine.host = Some(format!("jupyter-{number}"));
            machine.names_gpus_by_uuid = true;
            machine.disk_gb = 500;
            let person = Person::new(false, &mut dice);
            machine.work = person.hours(&clock, LOS_ANGELES_HOLIDAYS, &mut dice);
            machine
        })
        .collect()
}

/// A machine that is almost always idle, and that its owner wants to keep.
fn demo_rig(seed: u64) -> Machine {
    let mut dice = Dice::new(seed, "rig-demo-01");
    let mut machine = Machine::new(DEVELOPMENT_EAST, "g5.2xlarge", "rig-demo-01", &mut dice)
        .tagged(&[
            ("team", "perception"),
            ("project", "customer-demo"),
            ("environment", "dev"),
            ("purpose", "demo-rig"),
        ])
        .truth(Class::Development, State::Kept);
    machine.disk_gb = 250;
    machine.work = vec![Work::NONE; HOURS];
    machine
}

/// The days off of the sample by the name of their calendar in `holidays.csv`.
#[cfg(test)]
pub fn holidays() -> [(&'static str, &'static [Date]); 2] {
    [("DE-BE", BERLIN_HOLIDAYS), ("US-CA", LOS_ANGELES_HOLIDAYS)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet() -> Vec<Machine> {
        machines(5)
    }

    fn named(name: &str) -> Machine {
        fleet().into_iter().find(|m| m.name == name).unwrap()
    }

    fn active(machine: &Machine, clock: &[LocalHour], when: impl Fn(&LocalHour) -> bool) -> f64 {
        let hours: Vec<usize> = (0..HOURS).filter(|h| when(&clock[*h])).collect();
        hours.iter().filter(|h| machine.work[**h].activity >= 50).count() as f64 / hours.len() as f64
    }

    #[test]
    fn fifty_notebooks_run_day_and_night() {
        let fleet = fleet();
        let notebooks: Vec<&Machine> = fleet.iter().filter(|m| m.name.starts_with("nb-")).collect();
        assert_eq!(notebooks.len(), 50);
        assert_eq!(notebooks.iter().filter(|m| m.tags["site"] == "berlin").count(), 30);
        assert!(
            fleet
                .iter()
                .all(|m| m.runs.hours() == HOURS as f64 && m.work.len() == HOURS)
        );
    }

    #[test]
    fn people_work_in_their_own_working_hours() {
        for site in &SITES {
            let clock = local(site.zone);
            let mut of = [0.0; 3];
            let fleet: Vec<Machine> = site
                .machines(5)
                .into_iter()
                .filter(|m| m.truth.state == State::LeftOn)
                .collect();
            for machine in &fleet {
                of[0] += active(machine, &clock, |l| !l.is_weekend() && (10..17).contains(&l.hour));
                of[1] += active(machine, &clock, |l| l.hour < 7 || l.hour == 23);
                of[2] += active(machine, &clock, |l| l.is_weekend());
            }
            let [day, night, weekend] = of.map(|sum| sum / fleet.len() as f64);
            assert!(day > 0.5, "{}: {day}", site.name);
            assert_eq!(night, 0.0, "{}", site.name);
            assert!(weekend < 0.03, "{}: {weekend}", site.name);
        }
    }

    #[test]
    fn weekend_people_are_seen_on_weekends() {
        let clock = local("Europe/Berlin");
        assert!(active(&named("nb-ber-07"), &clock, |l| l.is_weekend()) > 0.03);
    }

    #[test]
    fn nobody_works_on_a_holiday() {
        for site in &SITES {
            let clock = local(site.zone);
            for machine in site.machines(5) {
                assert_eq!(active(&machine, &clock, |l| site.holidays.contains(&l.day)), 0.0);
            }
        }
    }

    #[test]
    fn the_abandoned_do_nothing_from_their_hour_on_and_did_something_before() {
        for (name, state) in ABANDONED {
            let machine = named(name);
            let (since, memory) = match state {
                State::Idle { since } | State::IdlePowerUnknown { since } => (since, 0),
                State::IdleMemoryHeld { since } => (since, 18_432),
                other => unreachable!("{other:?}"),
            };
            assert!(machine.work[..since].iter().any(|w| w.activity > 0), "{name}");
            assert!(
                machine.work[since..]
                    .iter()
                    .all(|w| w.activity == 0 && w.memory_mib == memory)
            );
            assert!(HOURS - since >= 14 * 24, "{name} is idle for less than two weeks");
            assert_eq!(machine.measures_power, !matches!(state, State::IdlePowerUnknown { .. }));
        }
    }
}
