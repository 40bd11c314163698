//! Order, shares and what the total loses without a step, also where steps want the same hours.

use lowwater_model::change::Effort;
use lowwater_model::change::set_schedule::{CapacityRisk, SetSchedule};
use lowwater_model::change::stop::Stop;
use lowwater_model::id::ResourceId;
use lowwater_model::plan::Target;
use lowwater_model::schedule::{Schedule, Window};

use super::*;
use crate::lever::{idle, off_hours};
use crate::sample;

/// Two machines at one an hour over four weeks, always idle.
fn facts() -> Facts {
    sample::facts(
        r#"
        as_of = "2026-11-02T00:00:00Z"
        history_days = 28
        replay_days = 28
        rest = "100"
        [[resource]]
        id = "m{}"
        count = 2
        sku = "a2-highgpu-1g"
        class = "development"
        workload = "nb"
        line = [{ rate = "1" }]
        use = [{ idle = true, memory = 0, power = 20 }]
        "#,
    )
}

fn finding(change: Change) -> Finding {
    let resources = change.kind().resources();
    let target = Target {
        workload: Some("nb".into()),
        resources,
        scope: None,
    };
    Finding {
        target,
        change,
        needs: Vec::new(),
        because: vec!["a test".into()],
        effort: Effort::Minutes,
        price: None,
    }
}

fn stop(id: &str, since: &str) -> Finding {
    finding(Change::Stop(Stop {
        name: None,
        resource: id.into(),
        since: since.parse().unwrap(),
    }))
}

/// On for twelve hours of each day: 12 x 28 of the 672 hours go.
fn half_days(ids: &[&str], capacity_risk: Option<CapacityRisk>) -> Finding {
    let days = lowwater_model::schedule::DAYS.into_iter().map(Into::into).collect();
    let time = |hour| jiff::civil::time(hour, 0, 0, 0);
    finding(Change::SetSchedule(SetSchedule {
        workload: "nb".into(),
        resources: ids.iter().map(|id| ResourceId::from(*id)).collect(),
        schedule: Schedule {
            zone: "UTC".into(),
            windows: vec![Window {
                days,
                start: time(6),
                end: time(18),
            }],
            holidays: None,
            holiday_dates: BTreeSet::new(),
        },
        capacity_risk,
    }))
}

/// Share and loss without it of each step, and the cash in all.
fn shares(facts: &Facts, findings: Vec<(&'static LeverMeta, Finding)>) -> (Vec<(f64, f64)>, f64) {
    let policy = sample::policy("");
    let mut portfolio = Portfolio::new(facts, &policy);
    for (meta, finding) in findings {
        portfolio.take(meta, finding);
    }
    let plan = portfolio.into_plan(1);
    let steps = plan
        .steps
        .iter()
        .map(|step| (step.share.amount(), step.without.amount()))
        .collect();
    (steps, plan.saving.cash.p50.amount())
}

#[test]
fn steps_on_the_same_hours_share_them_and_lose_little_without_each_other() {
    let facts = facts();
    let last_two_weeks = || (&idle::META, stop("m00", "2026-10-19T00:00:00Z"));
    let nights = || (&off_hours::META, half_days(&["m00", "m01"], None));
    // The stop takes 336 hours, 168 of which the schedule would take too.
    assert_eq!(
        shares(&facts, vec![last_two_weeks(), nights()]),
        (vec![(336.0, 168.0), (504.0, 504.0)], 840.0)
    );
    assert_eq!(
        shares(&facts, vec![nights(), last_two_weeks()]),
        (vec![(672.0, 504.0), (168.0, 168.0)], 840.0)
    );
}

#[test]
fn a_step_that_others_do_already_is_declined_with_its_number() {
    let facts = facts();
    let policy = sample::policy("");
    let mut portfolio = Portfolio::new(&facts, &policy);
    portfolio.take(&idle::META, stop("m00", "2026-10-05T00:00:00Z"));
    portfolio.take(&off_hours::META, half_days(&["m00"], None));
    let plan = portfolio.into_plan(1);
    assert_eq!(plan.steps.len(), 1);
    assert_eq!(plan.declined[0].numbers["cash_per_month"].amount(), 0.0);
    assert!(
        plan.declined[0]
            .why
            .contains("saves 0.00 USD a month in cash, less than the 25.00"),
        "{}",
        plan.declined[0].why
    );
}

#[test]
fn what_a_change_costs_by_itself_is_taken_off_its_saving() {
    let facts = facts();
    let risk = CapacityRisk {
        failure: 0.1,
        wait_hours: 2.0,
        hour_cost: 10.0,
    };
    // 28 mornings, two machines, a tenth of them two hours at ten: 112 of the 672 that the nights save.
    let (steps, total) = shares(&facts, vec![(&off_hours::META, half_days(&["m00", "m01"], Some(risk)))]);
    assert_eq!((steps, total), (vec![(560.0, 560.0)], 560.0));
    let dear = CapacityRisk {
        hour_cost: 100.0,
        ..risk
    };
    assert_eq!(
        shares(&facts, vec![(&off_hours::META, half_days(&["m00", "m01"], Some(dear)))]),
        (vec![], 0.0),
        "it would cost"
    );
}

#[test]
fn the_least_saving_is_the_policys() {
    let facts = facts();
    let steps = |least: &str| {
        let policy = sample::policy(&format!("[plan]\nmin_saving_per_month = {least}"));
        let mut portfolio = Portfolio::new(&facts, &policy);
        portfolio.take(&idle::META, stop("m00", "2026-10-05T00:00:00Z"));
        portfolio.into_plan(1).steps.len()
    };
    // 672 hours of a period of 672 hours are 730 a month.
    assert_eq!((steps("730.0"), steps("730.01")), (1, 0));
}

#[test]
fn the_band_follows_the_weeks_and_the_whole_is_the_careful_sum() {
    let mut facts = facts();
    // Each week is dearer than the one before: 1, 2, 3 and 4 an hour.
    let line = &mut facts.resources[0].lines[0];
    let first = line.runs[0];
    let week = |n: i64| lowwater_model::facts::CostRun {
        start: lowwater_model::period::Hour(first.start.0 + n * 168),
        hours: 168,
        cost: lowwater_model::money::Money::whole(n + 1),
        ..first
    };
    line.runs = (0..4).map(week).collect();
    let policy = sample::policy("");
    let mut portfolio = Portfolio::new(&facts, &policy);
    portfolio.take(&idle::META, stop("m00", "2026-10-05T00:00:00Z"));
    portfolio.take(&idle::META, stop("m01", "2026-10-26T00:00:00Z"));
    let plan = portfolio.into_plan(1);
    let cash = plan.steps[0].saving.cash;
    // Weeks of 168, 336, 504 and 672: mean 420, tenth percentile 218.4, ninetieth 621.6.
    assert_eq!(
        (cash.p10.amount(), cash.p50.amount(), cash.p90.amount()),
        (873.6, 1680.0, 2486.4)
    );
    let blind = plan.steps[1].saving.cash;
    assert_eq!(
        (blind.p10.amount(), blind.p50.amount(), blind.p90.amount()),
        (84.0, 168.0, 252.0),
        "one week only"
    );
    assert!(
        plan.steps[1]
            .because
            .last()
            .unwrap()
            .contains("fewer than two whole weeks")
    );
    let all = plan.saving.cash;
    assert_eq!(
        (all.p10.amount(), all.p50.amount(), all.p90.amount()),
        (957.6, 1848.0, 2738.4)
    );
    assert_eq!(
        plan.per_month.cash.p50.amount(),
        (1848.0_f64 * 730.0 / 672.0 * 1e6).round() / 1e6
    );
}

#[test]
fn an_empty_organisation_has_an_empty_plan() {
    let facts = sample::facts("as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 28\nreplay_days = 28\nrest = \"3\"");
    let plan = plan(&facts, &sample::policy(""), 1);
    assert_eq!((plan.steps.len(), plan.declined.len(), plan.notes.len()), (0, 0, 0));
    assert_eq!(plan.bill, plan.planned);
    assert_eq!(plan.saving.cash.p50.amount(), 0.0);
}

#[test]
fn larger_savings_go_first_and_equal_ones_by_name() {
    let mut facts = facts();
    facts.resources[1].lines[0].runs[0].cost = lowwater_model::money::Money::whole(2);
    let titles = |facts: &Facts| -> Vec<String> {
        plan(facts, &sample::policy(""), 1)
            .steps
            .into_iter()
            .map(|step| step.title)
            .collect()
    };
    assert_eq!(titles(&facts), ["Stop m01", "Stop m00"]);
    facts.resources[0].lines[0].runs[0].cost = lowwater_model::money::Money::whole(2);
    assert_eq!(titles(&facts), ["Stop m00", "Stop m01"]);
}

#[test]
fn notes_say_what_to_know() {
    let mut facts = facts();
    facts.quality.days_with_charges = 27;
    facts.quality.joined_gpu_cost = facts.quality.gpu_cost.split(2).0;
    facts.basis.metric = lowwater_model::charge::CostMetric::Billed;
    facts.ledger.unexplained = lowwater_model::money::Money::from_units(5);
    facts.quality.warnings.push("mind the gap".into());
    facts.resources[0].owner.never = ["stop", "stpo", "use_spot"].map(str::to_owned).into();
    let notes = plan(&facts, &sample::policy(""), 1).notes;
    let expected = [
        "hours in which every GPU of a machine was idle cost 1,344.00 USD in these days (development 1,344.00); the steps take 0.00 of \
             that, in cash and freed commitment; refusals say why not more, and only `idle` looks at classes other than development",
        "50.0 % of the GPU money is on machines that are joined to metrics (the policy wants 80 %), so idle findings are only `measure this first`",
        "27 of the 28 replayed days have charges: amounts a month are too low",
        "replayed on BilledCost and not on EffectiveCost: as the case says",
        "0.000000000005 USD of the difference to BilledCost have no name",
        "`never` names stpo, which forbids nothing: kinds of change are stop, set_schedule, use_spot, \
         commit, replace_sku, set_checkpoint, set_mig, consolidate, delete_storage, set_tag",
        "mind the gap",
    ];
    assert_eq!(notes, expected);
}
