//! Orders against hand counts, against every permutation, and where commitments come too early.

use lowwater_model::change::stop::Stop;
use lowwater_model::change::{Effort, Risk};
use lowwater_model::money::Range;
use lowwater_model::plan::{Saving, Target};
use proptest::prelude::*;

use super::*;
use crate::{audit, plan, sample};

/// Machines over four weeks, one for each rate an hour.
fn machines(rates: &[u32]) -> Facts {
    let resources: String = rates
        .iter()
        .enumerate()
        .map(|(number, rate)| format!("[[resource]]\nid = \"m{number}\"\nline = [{{ rate = \"{rate}\" }}]\n"))
        .collect();
    sample::facts(&format!(
        "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 28\nreplay_days = 28\n{resources}"
    ))
}

fn step(change: Change, phase: Phase, effort: Effort) -> Step {
    let saving = Saving {
        cash: Range::default(),
        freed: Range::default(),
    };
    Step {
        id: crate::step_id("idle", &change),
        lever: "idle".into(),
        title: change.kind().describe(),
        target: Target::default(),
        phase,
        saving,
        per_month: saving,
        share: Estimate::ZERO,
        without: Estimate::ZERO,
        risk: Risk::Low,
        effort,
        needs: Vec::new(),
        because: Vec::new(),
        undo: String::new(),
        change,
    }
}

fn stop(machine: usize, since: &str) -> Change {
    Change::Stop(Stop {
        name: None,
        resource: format!("m{machine}").as_str().into(),
        since: since.parse().unwrap(),
    })
}

fn named(orders: &[Order], name: OrderName) -> &Order {
    orders.iter().find(|order| order.name == name).unwrap()
}

fn amounts(estimates: &[Estimate]) -> Vec<f64> {
    estimates.iter().map(|estimate| estimate.amount()).collect()
}

const START: &str = "2026-10-05T00:00:00Z";

#[test]
fn cash_flows_from_the_week_in_which_the_work_is_done() {
    let facts = machines(&[1, 10]);
    // Two hours of work a week: the first is done after two weeks, the second a quarter of a week later.
    let policy = sample::policy("[plan]\nwork_hours_per_week = 2");
    let steps = [
        step(stop(0, START), Phase::StopWaste, Effort::Hours),
        step(stop(1, START), Phase::StopWaste, Effort::Minutes),
    ];
    let orders = orders(&facts, &policy, &steps);
    let own = named(&orders, OrderName::Plan);
    assert_eq!(own.weeks, 2.25);
    // 168 a week from week 2 on, and 1,680 from week 2.25 on.
    assert_eq!(
        amounts(&own.cash_by_week)[..4],
        [0.0, 0.0, 168.0 + 0.75 * 1680.0, 336.0 + 1.75 * 1680.0]
    );
    assert_eq!(own.per_month.amount(), 11.0 * 730.0);
    let best = named(&orders, OrderName::CashPerEngineerWeek);
    assert_eq!(best.steps, [steps[1].id.clone(), steps[0].id.clone()]);
    assert_eq!(amounts(&best.cash_by_week)[..2], [0.75 * 1680.0, 1.75 * 1680.0]);
    assert_eq!((best.forgone_in_year.amount(), best.per_month), (0.0, own.per_month));
    // Two weeks of the ten, less a quarter of a week of the one.
    assert_eq!(own.forgone_in_year.amount(), 2.0 * 1680.0 - 0.25 * 168.0);
    assert_eq!(orders.len(), 2, "nothing to buy, nothing for spot");
}

#[test]
fn a_stop_that_begins_late_flows_as_a_whole_week() {
    let (facts, policy) = (machines(&[2]), sample::policy(""));
    let late = [step(stop(0, "2026-10-26T00:00:00Z"), Phase::StopWaste, Effort::Minutes)];
    let order = &orders(&facts, &policy, &late)[0];
    assert_eq!(
        order.per_month.amount(),
        1460.0,
        "it saved one week of the four, and saves all of the next"
    );
}

/// The best of all orders, by trying each: cash in the year, week by week, with no sum shared with the code.
fn best_by_trying(jobs: &[(f64, f64)], pace: f64) -> f64 {
    fn visit(left: &[(f64, f64)], worked: f64, pace: f64, saved: f64, best: &mut f64) {
        if left.is_empty() {
            *best = best.max(saved);
        }
        for index in 0..left.len() {
            let (hours, cash_per_week) = left[index];
            let rest: Vec<(f64, f64)> = [&left[..index], &left[index + 1..]].concat();
            let done = worked + hours;
            let weeks = (365.0 / 7.0 - done / pace).max(0.0);
            visit(&rest, done, pace, saved + weeks * cash_per_week, best);
        }
    }
    let mut best = f64::NEG_INFINITY;
    visit(jobs, 0.0, pace, 0.0, &mut best);
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_permutation_of_independent_steps_beats_the_richest_first(
        jobs in prop::collection::vec((1..40_u32, 0..3_usize), 1..6),
        pace in 5.0..40.0_f64,
    ) {
        let efforts = [(Effort::Minutes, 0.5), (Effort::Hours, 4.0), (Effort::Days, 24.0)];
        let facts = machines(&jobs.iter().map(|(rate, _)| *rate).collect::<Vec<_>>());
        let policy = sample::policy(&format!("[plan]\nwork_hours_per_week = {pace:.3}"));
        let pace = policy.section("plan").float("work_hours_per_week");
        let job = |(place, (_, effort)): (usize, &(u32, usize))| step(stop(place, START), Phase::StopWaste, efforts[*effort].0);
        let steps: Vec<Step> = jobs.iter().enumerate().map(job).collect();
        let orders = orders(&facts, &policy, &steps);
        let best = best_by_trying(
            &jobs.iter().map(|(rate, effort)| (efforts[*effort].1, f64::from(*rate) * 168.0)).collect::<Vec<_>>(),
            pace,
        );
        let found = named(&orders, OrderName::CashPerEngineerWeek);
        prop_assert!((found.cash_in_year.amount() - best).abs() < 1e-4, "{} {best}", found.cash_in_year.amount());
        prop_assert_eq!(found.forgone_in_year.amount(), 0.0);
        let mut ids: Vec<_> = found.steps.clone();
        ids.sort();
        let mut own: Vec<_> = steps.iter().map(|step| step.id.clone()).collect();
        own.sort();
        prop_assert_eq!(ids, own);
        for pair in found.cash_by_week.windows(2) {
            prop_assert!(pair[0] <= pair[1]);
        }
    }
}

/// Four machines of a type run all the time at 20 an hour; nobody uses two of them. A year costs 12 an hour each.
const FLEET: &str = r#"
    as_of = "2026-11-02T00:00:00Z"
    history_days = 91
    replay_days = 28
    price = [{ sku = "p4d.24xlarge", rate = 12.0, market = "1y", as_of = "2026-11-01" }]
    [[resource]]
    id = "idle-{}"
    count = 2
    sku = "p4d.24xlarge"
    class = "experiment"
    workload = "old"
    line = [{ rate = "20" }]
    use = [{ idle = true, memory = 0, power = 50 }]
    [[resource]]
    id = "busy-{}"
    count = 2
    sku = "p4d.24xlarge"
    class = "realtime-inference"
    workload = "chat"
    line = [{ rate = "20" }]
    use = [{ memory = 15, power = 300 }]
"#;

#[test]
fn a_commitment_bought_first_is_bought_for_what_is_switched_off() {
    let (facts, policy) = (
        sample::facts(FLEET),
        sample::policy("[lever.commit_baseline]\nmax_purchase = 900000"),
    );
    let plan = plan(&facts, &policy, 1);
    assert_eq!(audit(&facts, &policy, &plan), []);
    let safe = named(&plan.alternatives, OrderName::Plan);
    // Two stopped at 20, two committed at 12.
    assert_eq!(safe.per_month.amount(), (2.0 * 20.0 + 2.0 * 8.0) * 730.0);
    assert_eq!((&safe.unsafe_because, safe.bought.len()), (&None, 0));
    let early = named(&plan.alternatives, OrderName::CommitFirst);
    // Four are promised at 12; what is stopped no longer saves anything.
    assert_eq!(early.per_month.amount(), (80.0 - 48.0) * 730.0);
    assert_eq!((early.bought.len(), early.bought[0].level), (1, 4));
    let why = early.unsafe_because.as_deref().unwrap();
    assert!(
        why.contains("4 x p4d.24xlarge in us-east-1, of which the plan commits to 2"),
        "{why}"
    );
    assert!(
        why.contains("35,040.00 USD a month are promised in place of 17,520.00"),
        "{why}"
    );
    let forgone = safe.cash_in_year.amount() - early.cash_in_year.amount();
    assert!(
        (early.forgone_in_year.amount() - forgone).abs() < 1e-6 && forgone > 200_000.0,
        "{forgone}"
    );
    assert_eq!(early.steps.len(), plan.steps.len());
    let last = plan.steps.iter().position(|step| step.phase == Phase::Commit).unwrap();
    assert_eq!(early.steps[0], plan.steps[last].id, "the commitment leads");
}

#[test]
fn of_two_commitments_the_larger_saving_is_bought_first() {
    // A scope whose name comes first, and which saves less.
    let small = r#"
        [[resource]]
        id = "small"
        sku = "g6.xlarge"
        class = "realtime-inference"
        workload = "chat"
        line = [{ rate = "0.8" }]
        use = [{ memory = 15, power = 60 }]
    "#;
    let price = "price = [{ sku = \"g6.xlarge\", rate = 0.5, market = \"1y\", as_of = \"2026-11-01\" }, ";
    let text = FLEET.replace("price = [", price) + small;
    let (facts, policy) = (
        sample::facts(&text),
        sample::policy("[lever.commit_baseline]\nmax_purchase = 900000"),
    );
    let plan = plan(&facts, &policy, 1);
    assert_eq!(audit(&facts, &policy, &plan), []);
    let early = named(&plan.alternatives, OrderName::CommitFirst);
    let bought: Vec<&str> = early.bought.iter().map(|lot| lot.scope.sku.as_str()).collect();
    assert_eq!(bought, ["p4d.24xlarge", "g6.xlarge"]);
}

#[test]
fn a_commitment_that_nothing_touches_may_come_first() {
    let alone = FLEET.replace("idle = true, memory = 0, power = 50", "memory = 15, power = 300");
    let (facts, policy) = (
        sample::facts(&alone),
        sample::policy("[lever.commit_baseline]\nmax_purchase = 900000"),
    );
    let plan = plan(&facts, &policy, 1);
    assert_eq!(plan.steps.len(), 1, "{:?}", plan.declined);
    let early = named(&plan.alternatives, OrderName::CommitFirst);
    assert_eq!((&early.unsafe_because, early.bought.len()), (&None, 0));
    assert_eq!(
        early.cash_by_week,
        named(&plan.alternatives, OrderName::Plan).cash_by_week
    );
}

#[test]
fn a_lot_is_seen_with_all_that_it_covers() {
    // One unit for three machines: stopping one of them frees no cash of the lot, stopping all three does not end it.
    let facts = sample::facts(&FLEET.replace("count = 2", "count = 3"));
    let ids = |kind: &str| {
        (0..3)
            .map(|n| ResourceId::from(format!("{kind}-{n:02}").as_str()))
            .collect::<Vec<_>>()
    };
    let commit = Change::Commit(Commit {
        scope: lowwater_model::plan::Scope {
            provider: "aws".into(),
            sku: "p4d.24xlarge".into(),
            region: "us-east-1".into(),
        },
        resources: ids("idle"),
        term: lowwater_model::offer::Market::OneYear,
        level: 1,
        rate: 12.0,
        demand: 1.0,
        worst_demand: 0.9,
    });
    let stop = |id: &ResourceId| {
        Change::Stop(Stop {
            name: None,
            resource: id.clone(),
            since: facts.history.start,
        })
    };
    let mut replay = Replay::of(&facts).with(&commit);
    let gains: Vec<f64> = ids("idle")
        .iter()
        .map(|id| {
            let gain = replay.gain(&stop(id)).cash.amount();
            let whole = replay.with(&stop(id)).saved().cash - replay.saved().cash;
            assert!((gain - whole.amount()).abs() < 1e-6);
            replay = replay.with(&stop(id));
            gain / facts.period.hours()
        })
        .collect();
    assert_eq!(gains, [20.0, 20.0, 0.0], "the last one leaves the unit unused");
}

#[test]
fn nothing_to_do_has_no_order() {
    assert!(orders(&machines(&[1]), &sample::policy(""), &[]).is_empty());
}
