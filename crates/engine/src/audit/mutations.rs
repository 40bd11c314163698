//! The auditor can fail: good plans are broken in many ways, and each must be caught by its rule.

use std::collections::{BTreeMap, BTreeSet};

use lowwater_model::change::set_schedule::SetSchedule;
use lowwater_model::change::stop::Stop;
use lowwater_model::change::{Change, Risk};
use lowwater_model::charge::Spread;
use lowwater_model::clue::Clues;
use lowwater_model::facts::{Facts, Resource};
use lowwater_model::known::Known;
use lowwater_model::money::{Estimate, Money};
use lowwater_model::period::Period;
use lowwater_model::plan::{Declined, Phase, Plan, Step, Target};
use lowwater_model::policy::Policy;
use lowwater_model::usage::{HourUsage, Usage};
use lowwater_model::workload::{Class, Criticality, Keep, Role};
use proptest::prelude::*;

use crate::{audit, plan, plan_id, sample, step_id};

mod contracts;
mod discounts;
mod orders;

/// A way to break a plan, and the rule that must notice. `None` = it does not apply to this plan.
type Mutation = (&'static str, &'static str, fn(&mut Plan) -> Option<()>);

fn first(plan: &mut Plan) -> Option<&mut Step> {
    plan.steps.first_mut()
}

/// Applies to the first change of that kind, and names the step anew.
fn change(plan: &mut Plan, edit: impl Fn(&mut Change) -> Option<()>) -> Option<()> {
    let step = plan
        .steps
        .iter_mut()
        .find(|step| edit(&mut step.change.clone()).is_some())?;
    edit(&mut step.change)?;
    step.id = step_id(&step.lever, &step.change);
    (step.title, step.undo) = (step.change.kind().describe(), step.change.kind().undo());
    if step.target.scope.is_none() {
        step.target.resources = step.change.kind().resources();
    }
    Some(())
}

fn stop(plan: &mut Plan, edit: impl Fn(&mut Stop) -> Option<()>) -> Option<()> {
    change(plan, |change| {
        if let Change::Stop(stop) = change {
            edit(stop)
        } else {
            None
        }
    })
}

fn schedule(plan: &mut Plan, edit: impl Fn(&mut SetSchedule) -> Option<()>) -> Option<()> {
    change(plan, |change| {
        if let Change::SetSchedule(set) = change {
            edit(set)
        } else {
            None
        }
    })
}

#[expect(clippy::unnecessary_wraps, reason = "it ends mutations")]
fn add(amount: &mut Estimate, more: f64) -> Option<()> {
    *amount = Estimate::new(amount.amount() + more);
    Some(())
}

const MUTATIONS: &[Mutation] = &[
    ("another version", "identity", |p| {
        p.version += 1;
        Some(())
    }),
    ("a machine that is called like another one", "target", |p| {
        let id = p.steps.first()?.change.kind().resources().into_iter().next()?;
        p.names.insert(id, "somebody-else".into());
        Some(())
    }),
    ("other facts", "identity", |p| {
        p.facts = "others".into();
        Some(())
    }),
    ("another policy", "identity", |p| {
        p.policy = "another".into();
        Some(())
    }),
    ("another instant", "identity", |p| {
        p.as_of = "2020-01-01T00:00:00Z".parse().ok()?;
        Some(())
    }),
    ("a longer period", "identity", |p| {
        p.period = Period::from_seconds(p.period.start.as_second() - 3600, p.period.end.as_second());
        Some(())
    }),
    ("another currency", "identity", |p| {
        p.currency = "EUR".into();
        Some(())
    }),
    ("another basis", "identity", |p| {
        p.basis.why.push('!');
        Some(())
    }),
    ("a step with another name", "identity", |p| {
        first(p)?.id = "0123".into();
        Some(())
    }),
    ("a resource that is not there", "target", |p| {
        stop(p, |stop| {
            stop.resource = "nobody".into();
            Some(())
        })
    }),
    ("a resource too many in the target", "target", |p| {
        first(p)?.target.resources.insert("zzz".into());
        Some(())
    }),
    ("another workload", "target", |p| {
        first(p)?.target.workload = Some("others".into());
        Some(())
    }),
    ("a resource twice", "target", |p| {
        schedule(p, |set| {
            set.resources.push(set.resources[0].clone());
            Some(())
        })
    }),
    ("no resources", "target", |p| {
        schedule(p, |set| {
            set.resources.clear();
            Some(())
        })
    }),
    ("another title", "form", |p| {
        first(p)?.title.push('!');
        Some(())
    }),
    ("a higher risk", "form", |p| {
        let step = first(p)?;
        step.risk = if step.risk == Risk::High { Risk::Low } else { Risk::High };
        Some(())
    }),
    ("no evidence", "form", |p| {
        first(p)?.because.clear();
        Some(())
    }),
    ("a guess that is not said to be one", "class", |p| {
        let guesses = |line: &String| line.starts_with("class guessed: ");
        let step = p.steps.iter_mut().find(|step| step.because.iter().any(guesses))?;
        step.because.retain(|line| !guesses(line));
        Some(())
    }),
    ("empty evidence", "form", |p| {
        first(p)?.because.push(" ".into());
        Some(())
    }),
    ("no way back", "form", |p| {
        first(p)?.undo.clear();
        Some(())
    }),
    ("another phase", "order", |p| {
        first(p)?.phase = Phase::SeeClearly;
        Some(())
    }),
    ("a step twice", "order", |p| {
        let step = first(p)?.clone();
        p.steps.push(step);
        Some(())
    }),
    ("more cash", "saving", |p| {
        let step = first(p)?;
        add(&mut step.saving.cash.p50, 0.01);
        add(&mut step.saving.cash.p90, 0.02)
    }),
    ("no number", "saving", |p| {
        first(p)?.saving.cash.p50 = Estimate::new(f64::NAN);
        Some(())
    }),
    ("more freed", "saving", |p| add(&mut first(p)?.saving.freed.p50, 0.01)),
    ("a larger share", "saving", |p| add(&mut first(p)?.share, 0.01)),
    ("a smaller share", "total", |p| add(&mut first(p)?.share, -0.01)),
    ("a larger loss without it", "saving", |p| {
        add(&mut first(p)?.without, 0.01)
    }),
    ("a negative low end", "saving", |p| {
        first(p)?.saving.cash.p10 = Estimate::new(-1.0);
        Some(())
    }),
    ("a low end above the middle", "saving", |p| {
        let cash = &mut first(p)?.saving.cash;
        cash.p10 = Estimate::new(cash.p50.amount() + 1.0);
        Some(())
    }),
    ("a high end below the middle", "saving", |p| {
        let cash = &mut first(p)?.saving.cash;
        cash.p90 = Estimate::new(cash.p50.amount() - 1.0);
        Some(())
    }),
    ("more a month", "saving", |p| {
        add(&mut first(p)?.per_month.cash.p50, 0.01)
    }),
    ("a month of another length", "saving", |p| {
        let step = first(p)?;
        // Nothing saved is nothing saved in a month of any length.
        (step.per_month.cash.p50.amount() > 0.001).then_some(())?;
        step.per_month.cash = step.per_month.cash.scaled(720.0 / 730.0);
        Some(())
    }),
    ("more a month in all", "saving", |p| {
        add(&mut p.per_month.cash.p50, 0.01)
    }),
    ("more cash in all", "total", |p| add(&mut p.saving.cash.p50, 0.01)),
    ("more freed in all", "total", |p| add(&mut p.saving.freed.p50, 0.01)),
    ("a rosier end in all", "total", |p| add(&mut p.saving.cash.p90, 1.0)),
    ("a cheaper plan", "total", |p| add(&mut p.planned.total, -0.01)),
    ("less modelled", "total", |p| add(&mut p.planned.modelled, -0.01)),
    ("more freed in the bill", "total", |p| add(&mut p.planned.freed, 0.01)),
    ("less untouched", "total", |p| {
        p.planned.exact -= Money::from_units(1);
        Some(())
    }),
    ("a step left out", "total", |p| {
        p.steps.pop()?;
        Some(())
    }),
    ("a larger bill", "bill", |p| {
        p.bill.exact += Money::from_units(1);
        Some(())
    }),
    ("a modelled bill", "bill", |p| add(&mut p.bill.modelled, 0.01)),
    ("another sum of the bill", "bill", |p| add(&mut p.bill.total, 0.01)),
    ("another reconciliation", "bill", |p| {
        p.planned.reconciliation.clear();
        Some(())
    }),
    ("less unexplained", "bill", |p| {
        p.bill.unexplained = Money::ZERO;
        Some(())
    }),
    ("no condition", "condition", |p| {
        p.steps.iter_mut().find(|s| !s.needs.is_empty())?.needs.clear();
        Some(())
    }),
    ("a condition that is met by saying so", "condition", |p| {
        let need = p.steps.iter_mut().flat_map(|s| &mut s.needs).next()?;
        need.met = !need.met;
        Some(())
    }),
    ("a condition without words", "condition", |p| {
        p.steps.iter_mut().flat_map(|s| &mut s.needs).next()?.text.clear();
        Some(())
    }),
    ("a stop from an earlier hour on", "measured", |p| {
        stop(p, |stop| {
            stop.since =
                (stop.since - jiff::SignedDuration::from_hours(2000)).max("2000-01-01T00:00:00Z".parse().ok()?);
            Some(())
        })
    }),
    ("a stop since yesterday", "measured", |p| {
        let end = p.period.end;
        stop(p, |stop| {
            stop.since = end - jiff::SignedDuration::from_hours(24);
            Some(())
        })
    }),
    ("a stop in the middle of an hour", "measured", |p| {
        stop(p, |stop| {
            stop.since += jiff::SignedDuration::from_secs(60);
            Some(())
        })
    }),
    ("another zone", "schedule", |p| {
        schedule(p, |set| {
            set.schedule.zone = "Asia/Tokyo".into();
            Some(())
        })
    }),
    ("no zone at all", "schedule", |p| {
        schedule(p, |set| {
            set.schedule.zone = "Mars/Base".into();
            Some(())
        })
    }),
    ("a shorter day", "schedule", |p| {
        schedule(p, |set| {
            let window = set.schedule.windows.first_mut()?;
            window.end = window.start + jiff::SignedDuration::from_mins(1);
            Some(())
        })
    }),
    ("a day less", "schedule", |p| {
        schedule(p, |set| {
            set.schedule.windows.first_mut()?.days.pop()?;
            Some(())
        })
    }),
    ("never", "schedule", |p| {
        schedule(p, |set| {
            set.schedule.windows.clear();
            Some(())
        })
    }),
    ("a free day of one's own", "schedule", |p| {
        schedule(p, |set| {
            set.schedule.holiday_dates.insert("2026-03-17".parse().ok()?);
            Some(())
        })
    }),
    ("a refusal without a reason", "declined", |p| {
        p.declined.first_mut()?.why.clear();
        Some(())
    }),
    ("a refusal without a lever", "declined", |p| {
        p.declined.first_mut()?.lever.clear();
        Some(())
    }),
    ("a refusal without a target", "declined", |p| {
        p.declined.first_mut()?.target = Target::default();
        Some(())
    }),
    ("a refusal of what is not there", "declined", |p| {
        p.declined.first_mut()?.target.resources.insert("nobody".into());
        Some(())
    }),
    ("a refusal of a step", "declined", |p| {
        let step = p.steps.first()?;
        let refusal = Declined {
            lever: step.lever.clone(),
            target: step.target.clone(),
            why: "no".into(),
            numbers: BTreeMap::default(),
            declare: None,
        };
        p.declined.push(refusal);
        Some(())
    }),
];

fn mutations() -> impl Iterator<Item = &'static Mutation> {
    MUTATIONS
        .iter()
        .chain(discounts::MUTATIONS)
        .chain(contracts::MUTATIONS)
        .chain(orders::MUTATIONS)
}

/// The rules that the broken plan, named anew, violates; none where the mutation does not apply.
fn broken(facts: &Facts, policy: &Policy, good: &Plan, (_, _, mutate): &Mutation) -> Option<Vec<&'static str>> {
    let mut plan = good.clone();
    mutate(&mut plan)?;
    plan.id = plan_id(&plan);
    Some(
        audit(facts, policy, &plan)
            .into_iter()
            .map(|violation| violation.rule)
            .collect(),
    )
}

/// An organisation in which every mutation applies.
const ORGANISATION: &str = r#"
as_of = "2026-04-14T00:00:00Z"
history_days = 63
replay_days = 28
rest = "17.5"
price = [{ sku = "g6.xlarge", market = "1y", rate = 0.52392, basis = "list", as_of = "2026-04-01" }]
reconciliation = { tax = "19" }
unexplained = "0.000000000003"
holidays.DE = ["2026-04-03", "2026-04-06"]
spot = [{ sku = "p4d.24xlarge", rate = [6, 8, 9], interruptions = [0.005, 0.01, 0.02], as_of = "2026-04-10" }]
minimum = [{ from = "2026-01-01T00:00:00Z", to = "2027-01-01T00:00:00Z", amount = "400000", spent = "70000", pace = "38000" }]
[[resource]]
id = "idle"
sku = "p4d.24xlarge"
class = "training"
workload = "training"
line = [{ rate = "21.9" }, { rate = "3", pricing = "Committed" }]
use = [{ memory = 9, power = 300 }, { from = "2026-03-20T00:00:00Z", idle = true, memory = 0, power = 60 }]
[[resource]]
id = "nb-{}"
count = 3
sku = "g5.xlarge"
class = "development"
workload = "notebooks"
zone = "Europe/Berlin"
holidays = "DE"
line = [{ rate = "1.006" }]
use = [{ idle = true, memory = 0, power = 20 }, { days = [0, 4], hours = [9, 18], memory = 9, power = 200 }]
[[resource]]
id = "train-{}"
count = 2
sku = "p4d.24xlarge"
class = "training"
workload = "llm"
checkpoint = { every = "1h", gb = 100, resumable = true }
line = [{ rate = "20" }]
use = [{ memory = 18, power = 390 }]
[[resource]]
id = "undeclared"
sku = "g5.xlarge"
line = [{ rate = "1.006" }]
use = [{ idle = true, memory = 0, power = 20 }]
[[resource]]
id = "web"
sku = "g6.xlarge"
class = "realtime-inference"
workload = "web"
line = [{ rate = "0.8048" }]
use = [{ memory = 9, power = 50 }]
[[resource]]
id = "z-guessed"
name = "jupyter-3"
sku = "g5.xlarge"
clues.tags = { purpose = "notebook" }
line = [{ rate = "1.006" }]
use = [{ idle = true, memory = 0, power = 20 }, { days = [0, 4], hours = [9, 18], memory = 9, power = 200 }]
"#;

#[test]
fn every_mutation_of_a_plan_is_caught_by_its_rule() {
    let (facts, policy) = (sample::facts(ORGANISATION), sample::policy(""));
    let good = plan(&facts, &policy, 1);
    assert_eq!((audit(&facts, &policy, &good), good.steps.len()), (vec![], 5));
    for mutation in mutations() {
        let (name, rule, _) = mutation;
        let rules = broken(&facts, &policy, &good, mutation).unwrap_or_else(|| panic!("`{name}` does not apply"));
        assert!(rules.contains(rule), "`{name}` must break {rule}, and breaks {rules:?}");
    }
}

/// A change of the facts, and the rule that must notice.
type World = (&'static str, &'static str, fn(&mut Facts));

/// Facts under which the plan of [`ORGANISATION`] must not have been made, and the rule that says so.
const WORLDS: &[World] = &[
    ("kept", "owner", |f| {
        f.resources[0].owner.keep = Some(Keep {
            reason: "demo".into(),
            until: None,
        });
    }),
    ("standby", "owner", |f| f.resources[0].owner.role = Role::Standby),
    ("never stopped", "owner", |f| {
        f.resources[1].owner.never = ["stop".to_owned()].into();
    }),
    ("critical", "owner", |f| {
        f.resources[1].owner.criticality = Some(Criticality::High);
    }),
    ("undeclared", "class", |f| f.resources[0].owner.class = Class::Unknown),
    ("no development", "class", |f| {
        f.resources[1].owner.class = Class::Training;
    }),
    ("nothing speaks for its class", "class", |f| {
        guessed(f).name = None;
        guessed(f).clues = Clues::default();
    }),
    ("a guess of another class", "class", |f| {
        guessed(f).name = Some("train-1".into());
        guessed(f).clues.tags = [("purpose".to_owned(), "training".to_owned())].into();
    }),
    ("a guess in production", "class", |f| {
        guessed(f).owner.environment = Some("prod".into());
    }),
    ("a guess behind a load balancer", "class", |f| {
        guessed(f).clues.traffic_from.insert("alb-1".into());
    }),
    ("a guess that counts requests", "class", |f| {
        guessed(f)
            .clues
            .request_metrics
            .insert("vllm:request_success_total".into());
    }),
    ("a guess that promises an answer", "class", |f| {
        guessed(f).owner.latency_p99 = Some(jiff::SignedDuration::from_secs(1));
    }),
    ("a guess that may wait", "class", |f| {
        guessed(f).name = Some("jupyter-failover".into());
    }),
    ("spread evenly", "hours", |f| {
        f.resources[1].lines[0].spread = Spread::Even;
    }),
    ("a scarce type", "scarce", |f| {
        f.resources[1].sku = Known::Value("p5.48xlarge".into());
    }),
    ("an unknown type", "scarce", |f| {
        f.resources[1].sku = Known::unknown("why");
    }),
    ("badly joined", "measured", |f| {
        f.quality.joined_gpu_cost = Money::whole(1);
    }),
    ("memory held", "measured", |f| last(f, 0).memory_max_bin = Some(2)),
    ("memory unknown", "measured", |f| last(f, 0).memory_max_bin = None),
    ("power drawn", "measured", |f| last(f, 0).power_max_w = Some(121)),
    ("power unknown", "measured", |f| last(f, 0).power_max_w = None),
    ("not idle", "measured", |f| last(f, 0).idle = false),
    ("an hour unseen", "measured", |f| {
        *f.resources[0].usage.hours.last_mut().unwrap() = None;
    }),
    ("an hour unbilled", "measured", |f| {
        f.resources[0].lines.iter_mut().for_each(|line| line.runs[0].hours -= 1);
    }),
    ("no metrics of a machine", "measured", |f| {
        f.resources[1].usage = Usage::default();
    }),
    ("few metrics of a machine", "measured", |f| {
        f.resources[1]
            .usage
            .hours
            .iter_mut()
            .skip(1)
            .step_by(2)
            .for_each(|hour| *hour = None);
    }),
    ("another zone", "schedule", |f| f.resources[1].owner.zone = "UTC".into()),
    ("another calendar", "schedule", |f| f.resources[1].owner.holidays = None),
    ("another holiday", "schedule", |f| {
        f.calendars.values_mut().for_each(|days| {
            days.pop_first();
        });
    }),
    ("a young fleet", "schedule", |f| {
        f.resources[1..4].iter_mut().for_each(|r| {
            let count = r.usage.hours.len();
            r.usage.hours[..count - 200].fill(None);
        });
    }),
    ("work at night", "schedule", |f| {
        f.resources[1..4].iter_mut().for_each(|r| {
            r.usage.hours.iter_mut().skip(2).step_by(24).flatten().for_each(|seen| {
                seen.idle = false;
                seen.activity_max_bin = 9;
            });
        });
    }),
    ("work at times that no week foretells", "foretold", |f| {
        // One hour of thirteen: each hour of the week now and then, none often.
        f.resources[1..4].iter_mut().for_each(|r| {
            r.usage.hours.iter_mut().step_by(13).flatten().for_each(|seen| {
                seen.idle = false;
                seen.activity_max_bin = 9;
            });
        });
    }),
    ("one machine of a fleet that works at other times", "foretold", |f| {
        let seen = f.resources[1].usage.hours.iter_mut().enumerate();
        seen.filter_map(|(hour, seen)| seen.as_mut().map(|seen| (hour, seen)))
            .for_each(|(hour, seen)| {
                seen.idle = hour % 300 != 0;
                seen.activity_max_bin = if seen.idle { 0 } else { 9 };
            });
    }),
    ("a cent less", "bill", |f| f.ledger.total -= Money::from_units(1)),
    ("a cheaper hour", "saving", |f| {
        f.resources[0].lines[0].runs[0].cost -= Money::from_units(1_000_000_000);
    }),
    ("a covered hour", "saving", |f| {
        f.resources[0].lines[0].commitment = Some("sp".into());
    }),
];

/// The resource whose class nobody declared.
fn guessed(facts: &mut Facts) -> &mut Resource {
    facts.resources.last_mut().unwrap()
}

fn last(facts: &mut Facts, resource: usize) -> &mut HourUsage {
    facts.resources[resource]
        .usage
        .hours
        .iter_mut()
        .flatten()
        .last()
        .unwrap()
}

fn worlds() -> impl Iterator<Item = &'static World> {
    WORLDS.iter().chain(discounts::WORLDS).chain(contracts::WORLDS)
}

#[test]
fn a_plan_that_does_not_fit_the_facts_is_caught() {
    let (facts, policy) = (sample::facts(ORGANISATION), sample::policy(""));
    let good = plan(&facts, &policy, 1);
    for (name, rule, change) in worlds() {
        let mut facts = facts.clone();
        change(&mut facts);
        let rules: Vec<&str> = audit(&facts, &policy, &good).into_iter().map(|v| v.rule).collect();
        assert!(rules.contains(rule), "`{name}` must break {rule}, and breaks {rules:?}");
    }
}

/// Policies under which that plan must not have been made.
const POLICIES: &[(&str, &str)] = &[
    ("[plan]\nmin_saving_per_month = 100000.0", "saving"),
    ("[plan]\ninstance_store_acknowledged = [\"notebooks\"]", "condition"),
    ("[classes]\nmin_confidence = 0.999", "class"),
    ("[classes]\nmin_confidence = 1", "class"),
    ("[lever.idle]\nwindow_days = 30", "measured"),
    ("[lever.idle]\nmax_power_share = 0.1", "measured"),
    ("[lever.idle]\nmax_memory_share = 0.0", "measured"),
    ("[lever.off_hours]\nmin_history_days = 70", "schedule"),
    ("[lever.off_hours]\nneeded_share = 0.0\nscarce = [\"A10G\"]", "scarce"),
    ("[lever.off_hours]\nscarce = [\"A10G\"]\nallow_scarce = true", "scarce"),
];

fn policies() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    POLICIES.iter().chain(discounts::POLICIES).chain(contracts::POLICIES)
}

#[test]
fn a_plan_that_does_not_fit_the_policy_is_caught() {
    let facts = sample::facts(ORGANISATION);
    let good = plan(&facts, &sample::policy(""), 1);
    for (text, rule) in policies() {
        let rules: Vec<&str> = audit(&facts, &sample::policy(text), &good)
            .into_iter()
            .map(|v| v.rule)
            .collect();
        assert!(rules.contains(rule), "{text} must break {rule}, and breaks {rules:?}");
        assert!(rules.contains(&"identity"));
    }
}

/// A second step on the same machine that claims what the first one saves already.
#[test]
fn an_hour_that_two_steps_save_is_caught() {
    let (facts, policy) = (sample::facts(ORGANISATION), sample::policy(""));
    let mut plan = plan(&facts, &policy, 1);
    let mut again = plan.steps[0].clone();
    let Change::Stop(stop) = &mut again.change else {
        panic!("the larger saving is the stop")
    };
    stop.since += jiff::SignedDuration::from_hours(24);
    again.id = step_id(&again.lever, &again.change);
    let alone = crate::replay::Replay::of(&facts).with(&again.change).saved();
    again.saving.cash.p50 = alone.cash.rounded();
    plan.steps.insert(1, again);
    plan.id = plan_id(&plan);
    let rules: Vec<&str> = audit(&facts, &policy, &plan).into_iter().map(|v| v.rule).collect();
    assert!(rules.contains(&"overlap"), "{rules:?}");
}

#[test]
fn each_rule_has_a_way_to_be_broken() {
    let tried: BTreeSet<&str> = mutations()
        .map(|(_, rule, _)| *rule)
        .chain(worlds().map(|(_, rule, _)| *rule))
        .chain(policies().map(|(_, rule)| *rule))
        .chain(["overlap"])
        .collect();
    let rules: BTreeSet<&str> = super::RULES.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(tried, rules);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the organisation: a plan that was broken is never clean.
    #[test]
    fn no_broken_plan_passes(facts in sample::random::facts(), text in sample::random::policy_text(), turn in any::<prop::sample::Index>()) {
        let policy = sample::policy(text);
        let good = plan(&facts, &policy, 1);
        let all: Vec<&Mutation> = mutations().collect();
        for offset in 0..8 {
            let mutation = all[(turn.index(all.len()) + offset * 7) % all.len()];
            if let Some(rules) = broken(&facts, &policy, &good, mutation) {
                prop_assert!(!rules.is_empty(), "`{}` passed", mutation.0);
            }
        }
    }
}
