//! A small plan and its facts for tests of views.

use std::collections::BTreeSet;

use lowwater_model::change::{Change, Condition, Effort, Risk, stop};
use lowwater_model::charge::CostMetric;
use lowwater_model::charge::{PricingCategory, Spread};
use lowwater_model::facts::{Basis, CostLine, CostRun, Facts, Ledger, LedgerLine, LineKind, Owner, Quality, Resource};
use lowwater_model::known::Known;
use lowwater_model::money::{Estimate, Money, Range};
use lowwater_model::offer::{Market, Offer, PriceBasis, PriceBook, builtin_offers};
use lowwater_model::order::{Order, OrderName};
use lowwater_model::period::{Hour, Period};
use lowwater_model::plan::{Bill, Declined, PLAN_VERSION, Phase, Plan, Saving, Step, Target};
use lowwater_model::unit::HourlyRate;
use lowwater_model::usage::{HourUsage, Usage};
use lowwater_model::workload::{Class, Role};

fn range(low: f64, middle: f64, high: f64) -> Range {
    Range {
        p10: Estimate::new(low),
        p50: Estimate::new(middle),
        p90: Estimate::new(high),
    }
}

fn step(id: &str, resource: &str, blocked: bool) -> Step {
    let cash = range(15_900.0, 18_200.0, 20_100.0);
    let saving = Saving {
        cash,
        freed: range(0.0, 0.0, 0.0),
    };
    Step {
        id: id.into(),
        lever: "idle".into(),
        title: format!("Stop {resource}"),
        target: Target {
            workload: Some("notebooks".into()),
            resources: [resource.into()].into(),
            scope: None,
        },
        phase: Phase::StopWaste,
        change: Change::Stop(stop::Stop {
            resource: resource.into(),
            name: None,
            since: "2026-10-10T00:00:00Z".parse().unwrap(),
        }),
        saving,
        per_month: saving,
        share: Estimate::new(18_200.0),
        without: Estimate::new(18_200.0),
        risk: Risk::Medium,
        effort: Effort::Minutes,
        needs: vec![Condition {
            id: "instance_store_acknowledged".into(),
            text: "say that nothing on the instance store is needed".into(),
            met: !blocked,
        }],
        because: vec!["all 8 GPUs idle in all 336 hours".into()],
        undo: "start it again".into(),
    }
}

fn period() -> Period {
    Period {
        start: "2026-10-04T00:00:00Z".parse().unwrap(),
        end: "2026-11-01T00:00:00Z".parse().unwrap(),
    }
}

/// A declared development machine with 8 GPUs, on all the time, idle in every hour, its memory never measured.
pub fn resource(id: &str) -> Resource {
    let hours = period().hour_range();
    let idle = HourUsage {
        gpus: 8,
        observed_minutes: 60,
        idle: true,
        activity_max_bin: 0,
        activity_permille: 3,
        memory_max_bin: None,
        power_max_w: Some(61),
    };
    let mut usage = Usage::default();
    hours.clone().for_each(|hour| usage.push(Hour(hour), idle));
    let run = CostRun {
        start: Hour(hours.start),
        hours: (hours.end - hours.start) as u32,
        cost: Money::whole(22),
        seconds: 3600,
    };
    Resource {
        id: id.into(),
        name: Some(format!("notebook-{id}")),
        cloud: "aws".into(),
        account: "1234".into(),
        region: "us-east-1".into(),
        sku: Known::Value("p4d.24xlarge".into()),
        gpus: 8.0,
        owner: Owner {
            workload: Some("notebooks".into()),
            class: Class::Development,
            role: Role::Primary,
            team: Some("vision".into()),
            project: None,
            environment: None,
            model: None,
            zone: "Europe/Berlin".into(),
            holidays: None,
            criticality: None,
            never: BTreeSet::new(),
            keep: None,
            deadline: None,
            latency_p99: None,
            checkpoint: None,
            because: vec!["class: workload notebooks in workloads.toml".into()],
        },
        lines: vec![CostLine {
            kind: LineKind::Compute,
            pricing: PricingCategory::Standard,
            commitment: None,
            spread: Spread::Hourly,
            runs: vec![run],
        }],
        usage,
        clues: lowwater_model::clue::Clues::default(),
    }
}

/// The built-in table and what the bill shows.
fn prices() -> PriceBook {
    let mut offers = builtin_offers();
    offers.push(Offer {
        cloud: "aws".into(),
        region: "us-east-1".into(),
        zone: String::new(),
        sku: "p4d.24xlarge".into(),
        list: None,
        holds: None,
        market: Market::OnDemand,
        rate: HourlyRate(22.0),
        currency: "USD".into(),
        basis: PriceBasis::Observed,
        as_of: "2026-10-31".parse().unwrap(),
        source: "bill".into(),
    });
    PriceBook(offers)
}

/// Facts of two such machines; nothing is wrong with them.
pub fn facts() -> Facts {
    let resources = vec![resource("i-0aaa"), resource("i-0bbb")];
    let cost: Money = resources.iter().map(|r| super::resource::cost(r, &period())).sum();
    Facts {
        id: "fafafafafafafafa".into(),
        as_of: period().end,
        currency: "USD".into(),
        history: period(),
        period: period(),
        basis: Basis {
            metric: CostMetric::Effective,
            why: "as loaded".into(),
        },
        ledger: Ledger {
            total: cost,
            billed: cost,
            ..Ledger::default()
        },
        resources,
        commitments: Vec::new(),
        transfer: Vec::new(),
        jobs: Vec::new(),
        prices: prices(),
        spot: Vec::new(),
        minimums: Vec::new(),
        calendars: lowwater_model::schedule::Calendars::new(),
        quality: Quality {
            gpu_cost: cost,
            joined_gpu_cost: cost,
            days: 28,
            days_with_charges: 28,
            bill_until: Some(period().end),
            metrics_until: Some(period().end),
            warnings: Vec::new(),
        },
    }
}

/// The order of the plan, and one that commits too early.
fn orders() -> Vec<Order> {
    let order = |name, in_year: f64| Order {
        name,
        steps: vec!["aa11bb22cc33".into(), "aa99bb22cc33".into()],
        bought: Vec::new(),
        weeks: 0.5,
        cash_by_week: (1..=13).map(|week| Estimate::new(f64::from(week) * 1_080.0)).collect(),
        cash_in_year: Estimate::new(in_year),
        forgone_in_year: Estimate::new(436_800.0 - in_year),
        per_month: Estimate::new(36_400.0),
        unsafe_because: None,
    };
    let early = Order {
        unsafe_because: Some("it commits on demand that later steps take away: 4 where 2 are left".into()),
        ..order(OrderName::CommitFirst, 200_000.0)
    };
    vec![order(OrderName::Plan, 436_800.0), early]
}

/// Two steps, one of them blocked, and one refusal.
pub fn plan() -> Plan {
    let period = Period {
        start: "2026-10-04T00:00:00Z".parse().unwrap(),
        end: "2026-11-01T00:00:00Z".parse().unwrap(),
    };
    let bill = |total: f64| Bill {
        exact: Money::whole(100),
        total: Estimate::new(total),
        unexplained: Money::parse("-0.02").unwrap(),
        reconciliation: vec![LedgerLine {
            label: "tax".into(),
            amount: Money::whole(19),
        }],
        ..Bill::default()
    };
    let saving = Saving {
        cash: range(31_800.0, 36_400.0, 40_200.0),
        freed: range(900.0, 1_000.0, 1_100.0),
    };
    let mut plan = Plan {
        version: PLAN_VERSION,
        id: "".into(),
        parent: None,
        facts: "fafafafafafafafa".into(),
        policy: "popopopopopopopo".into(),
        as_of: period.end,
        period,
        currency: "USD".into(),
        basis: Basis {
            metric: CostMetric::Effective,
            why: "as loaded".into(),
        },
        seed: 1,
        bill: bill(412_300.0),
        planned: bill(375_900.0),
        saving,
        per_month: saving,
        minimums: Vec::new(),
        at_list_price: None,
        steps: vec![
            step("aa11bb22cc33", "i-0aaa", false),
            step("aa99bb22cc33", "i-0bbb", true),
        ],
        declined: vec![Declined {
            lever: "idle".into(),
            target: Target {
                workload: Some("standby".into()),
                ..Target::default()
            },
            why: "a standby waits on purpose, says workload standby".into(),
            numbers: [("cash_per_month".to_owned(), Estimate::new(2_645.5))].into(),
            declare: None,
        }],
        alternatives: orders(),
        notes: vec!["1 of 2 steps wait for a condition".into()],
        names: std::collections::BTreeMap::new(),
    };
    plan.id = lowwater_engine::plan_id(&plan);
    plan
}

/// Everything that `doctor` looks at; nothing is wrong but that no memory was measured.
pub fn evidence() -> super::doctor::Evidence {
    super::doctor::Evidence {
        facts: facts(),
        unmatched: Vec::new(),
        ambiguous: Vec::new(),
        untagged: Money::ZERO,
        uncarried_tags: Vec::new(),
        rejects: Vec::new(),
        unknown_costs: 0,
        config_warnings: Vec::new(),
        min_join_share: 0.8,
    }
}

/// Gives every observed hour a memory.
pub fn measure_memory(resource: &mut Resource) {
    resource
        .usage
        .hours
        .iter_mut()
        .flatten()
        .for_each(|hour| hour.memory_max_bin = Some(0));
}
