use lowwater_model::change::Change;
use lowwater_model::change::commit::Commit;
use lowwater_model::change::stop::Stop;
use lowwater_model::change::use_spot::{Outlook, UseSpot};
use lowwater_model::facts::Facts;
use lowwater_model::money::Money;
use lowwater_model::offer::Market;
use lowwater_model::plan::Scope;
use lowwater_model::spot::SpotPlace;
use proptest::prelude::*;

use crate::replay::Replay;
use crate::sample;

/// Ten days of two machines at 10 an hour: `a` always, `b` on five days and one more under a commitment.
fn facts() -> Facts {
    sample::facts(
        r#"
        as_of = "2026-04-21T00:00:00Z"
        history_days = 20
        replay_days = 10
        rest = "1000"
        [[resource]]
        id = "a"
        sku = "p4d.24xlarge"
        line = [{ rate = "10" }, { rate = "0.5", kind = "other" }]
        [[resource]]
        id = "b"
        sku = "p4d.24xlarge"
        line = [
            { rate = "10", from = "2026-04-16T00:00:00Z" },
            { rate = "6", from = "2026-04-11T00:00:00Z", to = "2026-04-12T00:00:00Z", commitment = "sp-1" },
        ]
        "#,
    )
}

fn spot(resources: &[&str], rate: f64) -> Change {
    let outlook = Outlook {
        rate,
        hours: 1.25,
        interruptions: 0.01,
    };
    Change::UseSpot(UseSpot {
        workload: "w".into(),
        resources: resources.iter().map(|id| (*id).into()).collect(),
        place: Box::new(SpotPlace {
            cloud: "aws".into(),
            region: "us-east-1".into(),
            zone: None,
            sku: "p4d.24xlarge".into(),
        }),
        checkpoint_every_hours: 1.0,
        on_demand_rate: 10.0,
        interruption_cost: 50.0,
        storage_per_month: 73.0,
        expected: outlook,
        worse: outlook,
        better: outlook,
    })
}

fn commit(resources: &[&str], level: u32, rate: f64) -> Change {
    Change::Commit(Commit {
        scope: Scope {
            provider: "aws".into(),
            sku: "p4d.24xlarge".into(),
            region: "us-east-1".into(),
        },
        resources: resources.iter().map(|id| (*id).into()).collect(),
        term: Market::OneYear,
        level,
        rate,
        demand: 1.0,
        worst_demand: 0.5,
    })
}

fn stop(id: &str, since: &str) -> Change {
    Change::Stop(Stop {
        resource: id.into(),
        name: None,
        since: since.parse().unwrap(),
    })
}

fn replay<'a>(facts: &'a Facts, changes: &[Change]) -> Replay<'a> {
    changes
        .iter()
        .fold(Replay::of(facts), |replay, change| replay.with(change))
}

fn cash(facts: &Facts, changes: &[Change]) -> f64 {
    replay(facts, changes).saved().cash.rounded().amount()
}

#[test]
fn on_demand_hours_cost_more_hours_at_another_price() {
    let facts = facts();
    // 240 + 120 hours at 10 become 4 x 1.25 + 0.01 x 50 = 5.5 each; keeping the saves costs 24 in ten days.
    let all = [spot(&["a", "b"], 4.0)];
    assert_eq!(cash(&facts, &all), 360.0 * (10.0 - 5.5) - 24.0);
    let bill = replay(&facts, &all).bill();
    assert_eq!(
        bill.exact,
        facts.ledger.total - Money::whole(3600 + 24 * 6),
        "disks and the rest stay exact"
    );
    assert_eq!(
        bill.total.amount(),
        facts.ledger.total.estimate().amount() - (360.0 * 4.5 - 24.0)
    );
    assert_eq!(bill.freed.amount(), 0.0, "covered hours stay covered");
    assert_eq!(
        cash(&facts, &[spot(&["a", "b"], 8.0)]),
        360.0 * -0.5 - 24.0,
        "it may cost more"
    );
    assert_eq!(
        replay(&facts, &all).first_saving(),
        Some(facts.history.start.as_second())
    );
    let week = lowwater_model::period::Period::from_seconds(
        facts.period.end.as_second() - 604_800,
        facts.period.end.as_second(),
    );
    assert!((replay(&facts, &all).saved_in(week).cash.amount() - (288.0 * 4.5 - 16.8)).abs() < 1e-9);
}

#[test]
fn what_is_stopped_is_neither_rerated_nor_covered() {
    let facts = facts();
    let (stop, spot) = (stop("a", "2026-04-20T00:00:00Z"), spot(&["a"], 4.0));
    let both = 24.0 * 10.0 + 216.0 * 4.5 - 24.0;
    assert_eq!(cash(&facts, &[stop.clone(), spot.clone()]), both);
    assert_eq!(cash(&facts, &[spot.clone(), stop.clone()]), both, "in any order");
    let commit = commit(&["a", "b"], 2, 6.0);
    // Two units for 240 hours cost 2880; `a` runs on spot, so 120 hours of `b` are covered.
    assert_eq!(
        cash(&facts, &[spot.clone(), commit.clone()]),
        cash(&facts, &[spot]) + 1200.0 - 2880.0
    );
    assert_eq!(cash(&facts, &[stop, commit]), 240.0 + (216.0 + 120.0) * 10.0 - 2880.0);
}

#[test]
fn a_lot_covers_up_to_its_level_and_is_always_paid() {
    let facts = facts();
    assert_eq!(cash(&facts, &[commit(&["a", "b"], 1, 6.0)]), 2400.0 - 1440.0);
    assert_eq!(cash(&facts, &[commit(&["a", "b"], 2, 6.0)]), 3600.0 - 2880.0);
    assert_eq!(
        cash(&facts, &[commit(&["b"], 1, 6.0)]),
        1200.0 - 1440.0,
        "unused half of the time: it loses"
    );
    assert_eq!(cash(&facts, &[commit(&["nobody"], 1, 1.0)]), -240.0);
    let two = [commit(&["a", "b"], 1, 6.0), commit(&["b"], 1, 1.0)];
    assert_eq!(cash(&facts, &two), 2400.0 - 1440.0 - 240.0, "`b` belongs to the first");
    let bill = replay(&facts, &two[..1]).bill();
    assert_eq!(bill.exact, facts.ledger.total - Money::whole(3600 + 144));
    assert_eq!(bill.modelled.amount(), 3744.0 - 960.0);
}

#[test]
fn a_worse_world_has_less_to_cover() {
    let facts = facts();
    let commit = commit(&["a"], 1, 6.0);
    let (worse, better) = commit.kind().outlooks().unwrap();
    assert_eq!(
        cash(&facts, &[worse]),
        1200.0 - 1440.0,
        "half of the demand is left, all of the fee"
    );
    assert_eq!(cash(&facts, &[better]), cash(&facts, &[commit]));
}

#[test]
fn a_part_has_the_lots_of_its_resources() {
    let facts = facts();
    let all = replay(&facts, &[commit(&["a", "b"], 1, 6.0), spot(&["a"], 4.0)]);
    let saved = |ids: &[&str]| {
        all.part(&ids.iter().map(|id| (*id).into()).collect())
            .saved()
            .cash
            .amount()
    };
    assert_eq!(
        saved(&["a", "b"]),
        all.saved().cash.amount() + 24.0,
        "charges belong to no resource"
    );
    assert_eq!(saved(&["nobody"]), 0.0);
}

#[test]
fn demand_counts_machines_not_lines() {
    let facts = sample::facts(
        "as_of = \"2026-04-21T00:00:00Z\"\nhistory_days = 1\nreplay_days = 1\n[[resource]]\nid = \"a\"\n\
         line = [{ rate = \"9\", seconds = 1800 }, { rate = \"1\", seconds = 1800 }, { rate = \"5\", spread = \"even\" }, { rate = \"7\", pricing = \"Dynamic\" }]",
    );
    let demand = Replay::of(&facts).on_demand([&"a".into()], facts.period);
    assert_eq!(demand.len(), 24);
    assert!(demand.iter().all(|hour| (hour.units, hour.price) == (0.5, 20.0)));
    let stopped = replay(&facts, &[stop("a", "2026-04-20T12:15:00Z")]).on_demand([&"a".into()], facts.period);
    assert_eq!(
        (stopped[11].units, stopped[12].units, stopped[13].units),
        (0.5, 0.125, 0.0)
    );
}

proptest! {
    /// Every hour again by hand, whatever the order of the changes.
    #[test]
    fn equals_every_hour_by_hand(since in 0..240_i64, level in 0..4_u32, rate in 0..12_u32, price in 0..12_u32, turn in 0..3_usize) {
        let facts = facts();
        let from = facts.period.start.as_second() + since * 3600;
        let stop = Change::Stop(Stop { resource: "b".into(), name: None, since: jiff::Timestamp::from_second(from).unwrap() });
        let mut changes = [stop, spot(&["a"], f64::from(price)), commit(&["a", "b"], level, f64::from(rate))];
        changes.rotate_left(turn);
        let mut saved = -24.0;
        for hour in 0..240_i64 {
            let b_ran = hour >= 120;
            let b_runs = b_ran && hour < since;
            saved += 10.0 - (f64::from(price) * 1.25 + 0.5);
            saved += if b_ran && !b_runs { 10.0 } else { 0.0 };
            saved += if b_runs { f64::from(level.min(1)) * 10.0 } else { 0.0 };
            saved -= f64::from(level * rate);
        }
        prop_assert!((cash(&facts, &changes) - saved).abs() < 1e-6);
    }
}

#[test]
fn a_part_of_a_part_of_an_hour_is_not_cut_to_seconds() {
    let facts = sample::facts(
        "as_of = \"2026-04-21T00:00:00Z\"\nhistory_days = 1\nreplay_days = 1\n\
         [[resource]]\nid = \"a\"\nsku = \"p4d.24xlarge\"\nline = [{ rate = \"10\", seconds = 1911 }]\n",
    );
    let stop = Change::Stop(Stop {
        name: None,
        resource: "a".into(),
        since: "2026-04-20T12:30:00Z".parse().unwrap(),
    });
    let hours = Replay::of(&facts).with(&stop).on_demand([&"a".into()], facts.period);
    assert_eq!(hours[12].units, 1911.0 / 3600.0 / 2.0);
    assert_eq!(hours[12].units * hours[12].price, 5.0);
}
