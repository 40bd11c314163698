//! Ways to break steps that go to spot or commit.

use lowwater_model::change::commit::Commit;
use lowwater_model::change::use_spot::UseSpot;
use lowwater_model::change::{Change, Condition};
use lowwater_model::facts::CommitmentUse;
use lowwater_model::known::Known;
use lowwater_model::money::Money;
use lowwater_model::offer::Market;
use lowwater_model::plan::Plan;
use lowwater_model::workload::Class;

use super::{Mutation, World, change};
use crate::{Violation, audit, plan, sample};

fn spot(plan: &mut Plan, edit: impl Fn(&mut UseSpot) -> Option<()>) -> Option<()> {
    change(plan, |change| {
        if let Change::UseSpot(spot) = change {
            edit(spot)
        } else {
            None
        }
    })
}

fn commit(plan: &mut Plan, edit: impl Fn(&mut Commit) -> Option<()>) -> Option<()> {
    change(plan, |change| {
        if let Change::Commit(commit) = change {
            edit(commit)
        } else {
            None
        }
    })
}

pub(super) const MUTATIONS: &[Mutation] = &[
    ("a spot place elsewhere", "spot", |p| {
        spot(p, |spot| {
            spot.place.region = "eu-north-1".into();
            Some(())
        })
    }),
    ("a cheaper market", "spot", |p| {
        spot(p, |spot| {
            spot.expected.rate *= 0.9;
            Some(())
        })
    }),
    ("a dearer today", "spot", |p| {
        spot(p, |spot| {
            spot.on_demand_rate *= 1.1;
            Some(())
        })
    }),
    ("fewer hours on spot", "spot", |p| {
        spot(p, |spot| {
            spot.expected.hours = 1.0;
            Some(())
        })
    }),
    ("a worst case that is none", "spot", |p| {
        spot(p, |spot| {
            spot.worse.hours = spot.expected.hours * 0.999;
            Some(())
        })
    }),
    ("other interruptions", "spot", |p| {
        spot(p, |spot| {
            spot.expected.interruptions += 0.1;
            Some(())
        })
    }),
    ("saves all the time", "spot", |p| {
        spot(p, |spot| {
            spot.checkpoint_every_hours *= 0.5;
            Some(())
        })
    }),
    ("saves hardly ever", "spot", |p| {
        spot(p, |spot| {
            spot.checkpoint_every_hours *= 3.0;
            Some(())
        })
    }),
    ("people who work for nothing", "spot", |p| {
        spot(p, |spot| {
            spot.interruption_cost = 0.0;
            Some(())
        })
    }),
    ("disks for nothing", "spot", |p| {
        spot(p, |spot| {
            spot.storage_per_month = 0.0;
            Some(())
        })
    }),
    ("on spot twice", "spot", |p| {
        let step = p.steps.iter().find(|s| matches!(s.change, Change::UseSpot(_)))?.clone();
        p.steps.push(step);
        Some(())
    }),
    ("a unit too many", "commit", |p| {
        commit(p, |commit| {
            commit.level += 1;
            Some(())
        })
    }),
    ("a commitment to nothing", "commit", |p| {
        commit(p, |commit| {
            commit.level = 0;
            Some(())
        })
    }),
    ("a cheaper commitment", "commit", |p| {
        commit(p, |commit| {
            commit.rate *= 0.9;
            Some(())
        })
    }),
    ("more demand than there is", "commit", |p| {
        commit(p, |commit| {
            commit.demand = 2.0;
            Some(())
        })
    }),
    ("no worse world", "commit", |p| {
        commit(p, |commit| {
            (commit.worst_demand < 1.0).then_some(())?;
            commit.worst_demand = 1.0;
            Some(())
        })
    }),
    ("a longer promise", "commit", |p| {
        commit(p, |commit| {
            let is_longer = commit.term != Market::ThreeYears;
            commit.term = Market::ThreeYears;
            is_longer.then_some(())
        })
    }),
    ("no term at all", "commit", |p| {
        commit(p, |commit| {
            commit.term = Market::OnDemand;
            Some(())
        })
    }),
    ("a commitment elsewhere", "commit", |p| {
        commit(p, |commit| {
            commit.scope.region = "eu-north-1".into();
            Some(())
        })
    }),
    ("another scope in the target", "target", |p| {
        let step = p.steps.iter_mut().find(|s| matches!(s.change, Change::Commit(_)))?;
        step.target.scope = None;
        Some(())
    }),
    ("a machine of another type", "commit", |p| {
        commit(p, |commit| {
            (!commit.resources.contains(&"undeclared".into())).then_some(())?;
            commit.resources.push("undeclared".into());
            Some(())
        })
    }),
    ("a commitment twice", "commit", |p| {
        let step = p.steps.iter().find(|s| matches!(s.change, Change::Commit(_)))?.clone();
        p.steps.push(step);
        Some(())
    }),
    ("a commitment that waits for nothing", "condition", |p| {
        let step = p.steps.iter_mut().find(|s| matches!(s.change, Change::Commit(_)))?;
        let waits = step.needs.iter().any(|need| need.id == "earlier_steps_done");
        step.needs.clear();
        (!waits).then(|| {
            step.needs.push(Condition {
                id: "earlier_steps_done".into(),
                text: "first the others".into(),
                met: false,
            });
        });
        Some(())
    }),
];

/// Machines 4 and 5 train, 7 serves.
pub(super) const WORLDS: &[World] = &[
    ("no word of checkpoints", "spot", |f| {
        f.resources[4].owner.checkpoint = None;
    }),
    ("no way to go on", "spot", |f| {
        if let Some(checkpoint) = &mut f.resources[5].owner.checkpoint {
            checkpoint.resumable = false;
        }
    }),
    ("a larger checkpoint", "spot", |f| {
        if let Some(checkpoint) = &mut f.resources[4].owner.checkpoint {
            checkpoint.gb = Some(500.0);
        }
    }),
    ("a deadline", "spot", |f| {
        f.resources[4].owner.deadline = Some("2026-04-20".parse().unwrap());
    }),
    ("inference", "class", |f| {
        f.resources[4].owner.class = Class::RealtimeInference;
    }),
    ("never on spot", "owner", |f| {
        f.resources[4].owner.never = ["use_spot".to_owned()].into();
    }),
    ("no market", "spot", |f| f.spot.clear()),
    ("an old market", "spot", |f| {
        f.spot[0].as_of = "2026-03-01".parse().unwrap();
    }),
    ("a market of the future", "spot", |f| {
        f.spot[0].as_of = "2026-05-01".parse().unwrap();
    }),
    ("a market in another currency", "spot", |f| {
        f.spot[0].currency = "EUR".into();
    }),
    ("a newer market", "spot", |f| {
        let mut newer = f.spot[0].clone();
        newer.as_of = "2026-04-12".parse().unwrap();
        newer.rate.middle += 0.1;
        f.spot.push(newer);
    }),
    ("a market that nobody watched", "spot", |f| {
        f.spot[0].interruptions_per_hour = Known::unknown("no trace");
    }),
    ("another type", "spot", |f| {
        f.resources[4].sku = Known::Value("p4de.24xlarge".into());
    }),
    ("no price of a promise", "commit", |f| f.prices.0.clear()),
    ("an old price of a promise", "commit", |f| {
        f.prices.0[0].as_of = "2025-12-01".parse().unwrap();
    }),
    ("a promise in another currency", "commit", |f| {
        f.prices.0[0].currency = "EUR".into();
    }),
    ("a young service", "commit", |f| {
        let run = &mut f.resources[7].lines[0].runs[0];
        (run.start.0, run.hours) = (run.start.0 + 96, run.hours - 96);
    }),
    ("a service that ends", "commit", |f| {
        f.resources[7].lines[0].runs[0].hours -= 30;
    }),
    ("a service at half of its size", "commit", |f| {
        let mut run = f.resources[7].lines[0].runs[0];
        run.hours = 672;
        f.resources[7].lines[0].runs[0].hours -= 672;
        run.start = f.resources[7].lines[0].runs[0].end();
        run.seconds = 1800;
        f.resources[7].lines[0].runs.push(run);
    }),
    ("a service for less than the promise", "commit", |f| {
        f.resources[7].lines[0].runs[0].cost = Money::parse("0.5").unwrap();
    }),
    ("a day without charges", "commit", |f| f.quality.days_with_charges -= 1),
    ("never committed", "owner", |f| {
        f.resources[7].owner.never = ["commit".to_owned()].into();
    }),
    ("promises enough already", "commit", |f| {
        f.commitments.push(CommitmentUse {
            id: "sp".into(),
            name: None,
            kind: "Savings Plan".into(),
            used: Money::whole(672 * 100),
            unused: Money::ZERO,
        });
    }),
];

pub(super) const POLICIES: &[(&str, &str)] = &[
    ("[lever.spot_training]\nmin_net_saving_share = 0.9", "spot"),
    ("[lever.spot_training]\nengineer_hours_per_interruption = 2.0", "spot"),
    ("[lever.spot_training]\nstart_minutes = 60.0", "spot"),
    ("[lever.spot_training]\ncheckpoint_gb_per_second = 0.1", "spot"),
    ("[lever.spot_training]\ncheckpoints_kept = 30", "spot"),
    ("[lever.spot_training]\nmax_price_age_days = 1", "spot"),
    ("[lever.spot_training]\nmax_interval_hours = 1.0", "spot"),
    ("[lever.commit_baseline]\nmax_hourly_exposure = 0.1", "commit"),
    ("[lever.commit_baseline]\nmax_purchase = 100.0", "commit"),
    ("[lever.commit_baseline]\nnothing_for = [\"L4\"]", "commit"),
    ("[lever.commit_baseline]\nmin_history_days = 70", "commit"),
    ("[lever.commit_baseline]\nmax_price_age_days = 1", "commit"),
];

/// A machine that is stopped, another of its kind that trains, and prices for both ways.
const TAKEN: &str = r#"
as_of = "2026-11-02T00:00:00Z"
history_days = 91
replay_days = 28
price = [{ sku = "p4d.24xlarge", market = "1y", rate = 13.921094, as_of = "2026-10-20" }]
SPOT
[[resource]]
id = "stopped"
sku = "p4d.24xlarge"
class = "training"
workload = "w"
checkpoint = { gb = 10, resumable = true }
line = [{ rate = "21.957642" }]
use = [{ memory = 18, power = 380 }, { from = "2026-10-12T00:00:00Z", idle = true, memory = 0, power = 55 }]
[[resource]]
id = "works"
sku = "p4d.24xlarge"
class = "training"
workload = "w"
checkpoint = { gb = 10, resumable = true }
line = [{ rate = "21.957642" }]
use = [{ memory = 18, power = 380 }]
"#;

#[test]
fn what_an_earlier_step_takes_is_not_discounted_too() {
    let market = "spot = [{ sku = \"p4d.24xlarge\", rate = [6, 7, 8], interruptions = [0.0005, 0.001, 0.002], as_of = \"2026-11-01\" }]";
    for (spot, rule) in [(market, "spot"), ("", "commit")] {
        let (facts, policy) = (sample::facts(&TAKEN.replace("SPOT", spot)), sample::policy(""));
        let mut plan = plan(&facts, &policy, 1);
        assert_eq!(audit(&facts, &policy, &plan), []);
        let step = plan.steps.last_mut().unwrap();
        match &mut step.change {
            Change::UseSpot(spot) => spot.resources.insert(0, "stopped".into()),
            Change::Commit(commit) => commit.resources.insert(0, "stopped".into()),
            other => panic!("{other:?}"),
        }
        let found = audit(&facts, &policy, &plan);
        let is_said = |v: &Violation| v.rule == rule && v.what == "stopped is taken by an earlier step";
        assert!(found.iter().any(is_said), "{found:?}");
    }
}
