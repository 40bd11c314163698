//! "39k to 16k": a served model; the source does not say how the 59 % divide between model, runtime, machines and prices.

use super::{billed_anew, close, months, planned_month};
use crate::sample;
use lowwater_model::change::Change;
use lowwater_model::change::commit::Commit;
use lowwater_model::change::stop::Stop;
use lowwater_model::facts::Facts;
use lowwater_model::id::ResourceId;
use lowwater_model::offer::Market;
use lowwater_model::plan::{Phase, Scope};

const FLEET: u32 = 29;
/// For a year, 37 % below 1.861.
const COMMITTED: f64 = 1.17243;

/// Twenty-nine g6e.xlarge that serve all the time: 39,397 a month of 730 hours.
fn fleet(needed: &str) -> Facts {
    sample::facts(&format!(
        r#"
        as_of = "2026-12-01T00:00:00Z"
        history_days = 91
        replay_days = 28
        price = [{{ sku = "g6e.xlarge", rate = {COMMITTED}, market = "1y", as_of = "2026-11-20" }}]
        [[resource]]
        id = "serve-{{}}"
        count = {FLEET}
        sku = "g6e.xlarge"
        class = "realtime-inference"
        workload = "chat"
        line = [{{ rate = "1.861"{needed} }}]
        use = [{{ memory = 15, power = 250 }}]
        "#
    ))
}

fn id(number: u32) -> ResourceId {
    format!("serve-{number:02}").as_str().into()
}

/// So many machines less, and a year's commitment for the others at this rate.
fn with_fewer(facts: &Facts, gone: u32, rate: f64) -> f64 {
    let stop = |number: u32| {
        Change::Stop(Stop {
            resource: id(number),
            name: None,
            since: facts.history.start,
        })
    };
    let commit = Change::Commit(Commit {
        scope: Scope {
            provider: "aws".into(),
            sku: "g6e.xlarge".into(),
            region: "us-east-1".into(),
        },
        resources: (gone..FLEET).map(id).collect(),
        term: Market::OneYear,
        level: FLEET - gone,
        rate,
        demand: 1.0,
        worst_demand: 0.9,
    });
    let changes: Vec<Change> = (0..gone).map(stop).chain([commit]).collect();
    months(facts, &changes).1
}

#[test]
fn sober_a_commitment_alone_ends_at_24_800() {
    let facts = fleet("");
    let (month, plan) = planned_month(&facts, "");
    let (before, _) = months(&facts, &[]);
    close(before, 39_397.37, 0.01);
    close(month, 24_820.34, 0.01);
    assert_eq!(plan.steps.len(), 1);
    assert_eq!(plan.steps[0].phase, Phase::Commit);
}

#[test]
fn the_headline_needs_a_third_fewer_gpu_hours_or_three_years_at_59_percent_off() {
    let facts = fleet("");
    let months: Vec<f64> = (0..FLEET).map(|gone| with_fewer(&facts, gone, COMMITTED)).collect();
    let needed = months.iter().position(|month| *month <= 16_400.0).unwrap();
    assert_eq!(needed, 10, "ten of twenty-nine machines are not needed any more");
    close(months[10], 16_261.60, 0.01);
    close(months[9], 17_117.48, 0.01);
    // Without fewer machines the price itself would have to be 59 % lower: more than any known year, and three years' depth.
    let price = super::least(0.0, 1.0, |discount| {
        with_fewer(&facts, 0, 1.861 * (1.0 - discount)) <= 39_397.37 * 16.0 / 39.0
    });
    close(price * 100.0, 58.97, 0.01);
}

/// A fleet that follows its load: a third of it works in the day only.
#[test]
fn machines_that_follow_the_load_leave_less_to_commit_for() {
    let mut facts = fleet("");
    for resource in facts.resources.iter_mut().take(10) {
        let runs = &mut resource.lines[0].runs;
        let whole = runs[0];
        let day = |start: i64| lowwater_model::facts::CostRun {
            start: lowwater_model::period::Hour(start + 8),
            hours: 12,
            ..whole
        };
        *runs = (0..i64::from(whole.hours) / 24)
            .map(|n| day(whole.start.0 + n * 24))
            .collect();
    }
    let facts = billed_anew(facts);
    let (before, _) = months(&facts, &[]);
    let (month, plan) = planned_month(&facts, "");
    let Change::Commit(commit) = &plan.steps[0].change else {
        panic!("{:?}", plan.steps)
    };
    assert_eq!(
        commit.level, 19,
        "what runs half of the time is below the break-even of 63 %"
    );
    close(before, 32_604.72, 0.01);
    close(month, 23_054.25, 0.01);
}
