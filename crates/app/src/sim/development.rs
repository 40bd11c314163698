//! Development machines: people of other zones, holidays, machines that change hands, that nobody uses, or only seldom.

use jiff::civil::Date;

use super::cases::{Case, Planted, works_when};
use crate::demo::clock::{HOURS, LocalHour, MONTHS, local};
use crate::demo::dice::Dice;
use crate::demo::machine::{Work, runs_of};
use crate::demo::notebooks::Person;
use crate::demo::places::{CODE, DEVELOPMENT_EAST, DEVELOPMENT_WEST, MODELS, Place};

const fn case(name: &'static str, wanted: Option<&'static str>) -> Case {
    Case { name, wanted }
}

/// Left on day and night, used in working hours.
const LEFT_ON: Case = case("left on", Some("off_hours"));
/// People who work while UTC sleeps, and whose zone nobody wrote down.
const NIGHT: Case = case("used at night, zone unsaid", None);
/// The company shut for two weeks just before the earlier plan: used before and after.
const HOLIDAY: Case = case("company holiday", Some("off_hours"));
/// Used on Sundays alone.
const SUNDAYS: Case = case("only on Sundays", None);
/// Changed its owner in the middle of a month.
const MOVED: Case = case("owner changed mid-month", Some("off_hours"));
/// Campaigns of days with weeks between them.
const CAMPAIGNS: Case = case("weeks between campaigns", None);
/// Its person is gone.
const GONE: Case = case("abandoned", Some("idle"));
/// Idle, and kept by a tag.
const KEPT: Case = case("kept by tag", None);
/// Two machines of one name in two clouds, one of them idle.
const TWINS: Case = case("one host name on two clouds", None);
/// Off for weeks, on again shortly before its next work.
const RESTARTED: Case = case("stopped and restarted", None);

/// Zones of people, with the calendar that they share.
pub const ZONES: [&str; 6] = [
    "Asia/Tokyo",
    "Australia/Sydney",
    "America/Sao_Paulo",
    "Asia/Kolkata",
    "Europe/Warsaw",
    "America/Chicago",
];

/// The zone of the people who wrote theirs down.
pub fn zone(seed: u64) -> &'static str {
    ZONES[Dice::new(seed, "zone").below(ZONES.len() as u32) as usize]
}

/// First and last day of the company holiday, as days of the sample.
pub fn shutdown(seed: u64) -> (i64, i64) {
    let last = Dice::new(seed, "shutdown").between(58, 60);
    (last - 16, last)
}

/// All of it.
pub fn planted(seed: u64) -> Vec<Planted> {
    let mut all = left_on(seed);
    all.extend(night(seed));
    all.extend(holiday(seed));
    all.extend(moved(seed));
    all.extend(campaigns(seed));
    all.extend(gone(seed));
    all.extend(twins(seed));
    all.extend([sundays(seed), kept(seed), restarted(seed)]);
    all
}

/// A machine under the name of its case.
fn lab(case: Case, place: &'static Place, name: &str, dice: &mut Dice) -> Planted {
    let sku = match place.cloud.id {
        "gcp" => "g2-standard-4",
        _ if dice.chance(500) => "g6.xlarge",
        _ => "g5.2xlarge",
    };
    let mut planted = Planted::new(case, place, sku, name, dice);
    planted.machine.disk_gb = 100;
    planted
}

/// What a person does, hour by hour.
fn person(clock: &[LocalHour], holidays: &[Date], dice: &mut Dice) -> Vec<Work> {
    Person::new(false, dice).hours(clock, holidays, dice)
}

fn left_on(seed: u64) -> Vec<Planted> {
    let clock = local(zone(seed));
    let count = Dice::new(seed, "left on").between(4, 7);
    (1..=count)
        .map(|number| {
            let name = format!("lab-{number}");
            let mut dice = Dice::new(seed, &name);
            lab(LEFT_ON, DEVELOPMENT_EAST, &name, &mut dice)
                .of("optics", "lens-lab", &mut dice)
                .workload("lab")
                .works(person(&clock, &[], &mut dice))
        })
        .collect()
}

fn night(seed: u64) -> Vec<Planted> {
    let zone = ["Pacific/Auckland", "America/Los_Angeles", "Asia/Tokyo"][Dice::new(seed, "night").below(3) as usize];
    let clock = local(zone);
    (1..=3)
        .map(|number| {
            let name = format!("desk-{number}");
            let mut dice = Dice::new(seed, &name);
            lab(NIGHT, DEVELOPMENT_WEST, &name, &mut dice)
                .of("antipodes", "desks", &mut dice)
                .workload("desks")
                .works(person(&clock, &[], &mut dice))
        })
        .collect()
}

fn holiday(seed: u64) -> Vec<Planted> {
    let clock = local("UTC");
    let (first, last) = shutdown(seed);
    let days: Vec<Date> = (first..=last).map(|day| clock[day as usize * 24].day).collect();
    (1..=4)
        .map(|number| {
            let name = format!("bench-{number}");
            let mut dice = Dice::new(seed, &name);
            lab(HOLIDAY, DEVELOPMENT_EAST, &name, &mut dice)
                .of("ceramics", "benches", &mut dice)
                .workload("benches")
                .works(person(&clock, &days, &mut dice))
        })
        .collect()
}

fn sundays(seed: u64) -> Planted {
    let mut dice = Dice::new(seed, "sundays");
    let clock = local("UTC");
    let first = dice.between(6, 11) as u8;
    let work = works_when(&mut dice, (300, 900), 9_000, |hour| {
        clock[hour].weekday == 6 && (first..first + 8).contains(&clock[hour].hour)
    });
    lab(SUNDAYS, MODELS, "hobby-1", &mut dice)
        .of("optics", "open-day", &mut dice)
        .workload("open-day")
        .works(work)
}

/// One machine under two owners: two stretches of it with tags of their own.
fn moved(seed: u64) -> Vec<Planted> {
    let mut dice = Dice::new(seed, "moved");
    let at = MONTHS[1].day(dice.between(9, 20)) + dice.between(0, 23) as usize;
    let clock = local(zone(seed));
    let work = person(&clock, &[], &mut dice);
    let whole = lab(MOVED, DEVELOPMENT_WEST, "shared-1", &mut dice).works(work);
    let mut of = |team, (from, to)| {
        let mut part = whole
            .clone()
            .of(team, "lens-lab", &mut dice)
            .workload("lab")
            .billed(from, to);
        part.machine.disk_gb = 0;
        part
    };
    vec![of("ceramics", (0, at)), of("optics", (at, HOURS))]
}

fn campaigns(seed: u64) -> Vec<Planted> {
    (1..=2)
        .map(|number| {
            let name = format!("campaign-{number}");
            let mut dice = Dice::new(seed, &name);
            let (days, pause, begin) = (dice.between(3, 5), dice.between(16, 19), dice.between(0, 6));
            let work = works_when(&mut dice, (400, 950), 12_000, |hour| {
                (hour as i64 / 24 + begin) % (days + pause) < days && (8..20).contains(&(hour % 24))
            });
            lab(CAMPAIGNS, DEVELOPMENT_EAST, &name, &mut dice)
                .of("optics", "campaigns", &mut dice)
                .workload("campaigns")
                .works(work)
        })
        .collect()
}

fn gone(seed: u64) -> Vec<Planted> {
    let clock = local("UTC");
    (1..=3)
        .map(|number| {
            let name = format!("left-{number}");
            let mut dice = Dice::new(seed, &name);
            let since = dice.between(20, 44) as usize * 24;
            let mut work = person(&clock, &[], &mut dice);
            work[since..].fill(Work::NONE);
            lab(GONE, DEVELOPMENT_WEST, &name, &mut dice)
                .of("ceramics", "kiln", &mut dice)
                .workload("kiln")
                .works(work)
        })
        .collect()
}

fn kept(seed: u64) -> Planted {
    let mut dice = Dice::new(seed, "kept");
    let mut planted = lab(KEPT, DEVELOPMENT_EAST, "reference-1", &mut dice)
        .of("optics", "reference", &mut dice)
        .workload("reference")
        .works(vec![Work::NONE; HOURS])
        .must_run();
    planted.machine = planted
        .machine
        .tagged(&[("Lowwater-Keep", "calibration until 2027-03-01")]);
    planted
}

/// Both are called the same, and metrics say only that.
fn twins(seed: u64) -> Vec<Planted> {
    let mut dice = Dice::new(seed, "twins");
    let busy = dice.below(2);
    let places: [&'static Place; 2] = [DEVELOPMENT_EAST, CODE];
    let mut all = Vec::new();
    for (number, place) in (0..).zip(places) {
        let work = works_when(&mut dice, (200, 900), 7_000, |_| number == busy);
        let planted = lab(TWINS, place, "gpu-1", &mut dice);
        all.push(planted.of("optics", "twins", &mut dice).workload("twins").works(work));
    }
    all
}

fn restarted(seed: u64) -> Planted {
    let mut dice = Dice::new(seed, "restarted");
    let (stop, start, work_from) = (dice.between(28, 32), dice.between(52, 56), dice.between(61, 63));
    let on: Vec<bool> = (0..HOURS as i64 / 24).map(|day| day < stop || day >= start).collect();
    let work = works_when(&mut dice, (400, 900), 9_000, |hour| {
        let day = hour as i64 / 24;
        (day < stop || day >= work_from) && (7..19).contains(&(hour % 24))
    });
    let mut planted = lab(RESTARTED, DEVELOPMENT_WEST, "probe-1", &mut dice)
        .of("ceramics", "probes", &mut dice)
        .workload("probes")
        .works(work);
    let mask: Vec<bool> = (0..HOURS).map(|hour| on[hour / 24]).collect();
    planted.machine.runs = runs_of(&mask, &mut dice);
    planted
}
