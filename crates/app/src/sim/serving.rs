//! Serving machines: steady, peaky, falling, waiting, divided, and some that do not look like what they are.

use super::cases::{Case, Planted, works_when};
use super::mig;
use crate::demo::clock::{HOURS, local};
use crate::demo::dice::Dice;
use crate::demo::machine::Work;
use crate::demo::places::{CHAT, CHAT_SECOND_ZONE, CODE, MODELS, SERVING_EAST, SHARED_EAST};

const fn case(name: &'static str) -> Case {
    Case { name, wanted: None }
}

/// Replicas that always work.
const STEADY: Case = Case {
    name: "steady serving",
    wanted: Some("commit_baseline"),
};
/// Waits with nothing loaded; only a tag says that it must not be stopped.
const STANDBY: Case = case("standby, only a tag says so");
/// Asked on Sundays alone.
const SUNDAY_PEAK: Case = case("service with a Sunday peak");
/// Nobody declared it, it is called a test, and customers of one country use it in their working hours.
const TEST_NAMED: Case = case("production named test");
/// Fewer replicas every week.
const FALLING: Case = case("falling demand");
/// A divided GPU of which one instance works.
const DIVIDED: Case = case("divided GPU, one part works");
/// Nightly work that is not measured on the days on which it runs.
const GAPS: Case = case("metrics missing when used");
/// An id that had another owner and another use before.
const REUSED_ID: Case = case("reused resource id");
/// A host name that a later machine took over.
const REUSED_HOST: Case = case("reused host name");
/// Machines without GPUs, for the bill alone.
const NO_GPU: Case = case("machines without GPUs");

/// All of it.
pub fn planted(seed: u64) -> Vec<Planted> {
    let mut all = steady(seed);
    all.extend(falling(seed));
    all.extend(reused_id(seed));
    all.extend(reused_host(seed));
    all.extend(without_gpus(seed));
    all.extend(test_named(seed));
    all.extend([standby(seed), sunday_peak(seed), divided(seed), gaps(seed)]);
    all
}

fn steady(seed: u64) -> Vec<Planted> {
    let count = Dice::new(seed, "steady").between(5, 9);
    (1..=count)
        .map(|number| {
            let name = format!("search-{number}");
            let mut dice = Dice::new(seed, &name);
            let work = works_when(&mut dice, (250, 800), 14_000, |_| true);
            Planted::new(STEADY, SERVING_EAST, "g6e.xlarge", &name, &mut dice)
                .of("shopfront", "search-serving", &mut dice)
                .workload("search-serving")
                .works(work)
                .must_run()
        })
        .collect()
}

fn standby(seed: u64) -> Planted {
    let mut dice = Dice::new(seed, "standby");
    let mut planted = Planted::new(STANDBY, SERVING_EAST, "g6.xlarge", "warm-1", &mut dice)
        .of("shopfront", "warm", &mut dice)
        .workload("warm")
        .works(vec![Work::NONE; HOURS])
        .must_run();
    planted.machine = planted.machine.tagged(&[("lowwater-never", "stop, set_schedule")]);
    planted
}

fn sunday_peak(seed: u64) -> Planted {
    let mut dice = Dice::new(seed, "sunday peak");
    let clock = local("UTC");
    let first = dice.between(10, 14) as u8;
    let work = works_when(&mut dice, (500, 950), 16_000, |hour| {
        clock[hour].weekday == 6 && (first..first + 6).contains(&clock[hour].hour)
    });
    Planted::new(SUNDAY_PEAK, SERVING_EAST, "g6.xlarge", "sermons-1", &mut dice)
        .of("shopfront", "sermons", &mut dice)
        .workload("sermons")
        .works(work)
        .must_run()
}

/// By seed with more or fewer hints of what it is; never declared.
fn test_named(seed: u64) -> Vec<Planted> {
    let clock = local("America/Chicago");
    (1..=3)
        .map(|number| {
            let mut dice = Dice::new(seed, &format!("test named {number}"));
            let name = ["test-router", "dev-api-old", "sandbox-pricing"][dice.below(3) as usize];
            let work = works_when(&mut dice, (100, 600), 11_000, |hour| {
                let at = clock[hour];
                !at.is_weekend() && (8..19).contains(&at.hour)
            });
            let mut planted = Planted::new(
                TEST_NAMED,
                SERVING_EAST,
                "g6.xlarge",
                &format!("{name}-{number}"),
                &mut dice,
            )
            .of("shopfront", "pricing", &mut dice)
            .works(work)
            .must_run();
            let hint = [("environment", "prod"), ("purpose", "api"), ("cost-center", "4711")][dice.below(3) as usize];
            planted.machine = planted.machine.tagged(&[hint]);
            planted
        })
        .collect()
}

fn falling(seed: u64) -> Vec<Planted> {
    (1..=6)
        .map(|number| {
            let name = format!("legacy-{number}");
            let mut dice = Dice::new(seed, &name);
            let end = HOURS - (6 - number as usize) * (96 + dice.below(24) as usize);
            let work = works_when(&mut dice, (250, 700), 9_000, |hour| hour < end);
            Planted::new(FALLING, CODE, "g4-standard-48", &name, &mut dice)
                .of("shopfront", "legacy", &mut dice)
                .workload("legacy")
                .works(work)
                .must_run()
                .billed(0, end)
        })
        .collect()
}

/// Billed from the day on which it was divided.
fn divided(seed: u64) -> Planted {
    let mut dice = Dice::new(seed, "divided");
    let work = works_when(&mut dice, (400, 900), 4_000, |_| true);
    let mut planted = Planted::new(DIVIDED, CHAT, "a2-highgpu-1g", "slices-1", &mut dice)
        .of("optics", "slices", &mut dice)
        .workload("slices")
        .works(work)
        .must_run()
        .billed(mig::FIRST_HOUR, HOURS)
        .unmeasured(|_| true);
    planted.is_divided = true;
    planted
}

/// Used on a few days only, and those are the days without metrics.
fn gaps(seed: u64) -> Planted {
    let mut dice = Dice::new(seed, "gaps");
    let every = dice.between(4, 6) as usize;
    let is_used = |hour: usize| hour / 24 % every == 2;
    let work = works_when(&mut dice, (300, 900), 12_000, is_used);
    Planted::new(GAPS, SHARED_EAST, "g6.xlarge", "nightly-1", &mut dice)
        .of("optics", "nightly", &mut dice)
        .workload("nightly")
        .works(work)
        .unmeasured(is_used)
}

/// First somebody's forgotten machine, then another team's production under the same name and id.
fn reused_id(seed: u64) -> Vec<Planted> {
    let mut dice = Dice::new(seed, "reused id");
    let (idle_from, end, begin) = (dice.between(5, 12), dice.between(38, 41), dice.between(42, 45));
    let at = |day: i64| day as usize * 24;
    let before = works_when(&mut dice, (200, 800), 5_000, |hour| hour < at(idle_from));
    let after = works_when(&mut dice, (300, 800), 15_000, |hour| hour >= at(begin));
    let machine = |dice: &mut Dice| Planted::new(REUSED_ID, MODELS, "g2-standard-4", "vm-7", dice);
    vec![
        machine(&mut dice)
            .of("ceramics", "probes", &mut dice)
            .workload("probes")
            .works(before)
            .billed(0, at(end)),
        machine(&mut dice)
            .of("shopfront", "checkout", &mut dice)
            .workload("checkout")
            .works(after)
            .must_run()
            .billed(at(begin), HOURS),
    ]
}

/// Two machines in turn under one name: the second does something in the hours after lunch only.
fn reused_host(seed: u64) -> Vec<Planted> {
    let mut dice = Dice::new(seed, "reused host");
    let turn = dice.between(38, 46) as usize * 24;
    let before = works_when(&mut dice, (200, 800), 5_000, |hour| hour < turn / 2);
    let after = works_when(&mut dice, (300, 800), 15_000, |hour| hour >= turn && hour % 24 >= 13);
    let machine = |dice: &mut Dice| Planted::new(REUSED_HOST, SHARED_EAST, "g5.2xlarge", "ip-10-9-8-7", dice);
    vec![
        machine(&mut dice)
            .of("ceramics", "probes", &mut dice)
            .workload("probes")
            .works(before)
            .billed(0, turn),
        machine(&mut dice)
            .of("optics", "nightly", &mut dice)
            .workload("nightly")
            .works(after)
            .billed(turn, HOURS),
    ]
}

/// Tagged, spelled in some case, or of nobody.
fn without_gpus(seed: u64) -> Vec<Planted> {
    (1..=6)
        .map(|number| {
            let name = format!("web-{number}");
            let mut dice = Dice::new(seed, &name);
            let place = if number % 2 == 0 {
                SERVING_EAST
            } else {
                CHAT_SECOND_ZONE
            };
            let sku = if number % 2 == 0 {
                "m6i.2xlarge"
            } else {
                "e2-standard-4"
            };
            let planted = Planted::new(NO_GPU, place, sku, &name, &mut dice);
            if number > 4 {
                return planted;
            }
            planted.of("shopfront", "web", &mut dice)
        })
        .collect()
}
