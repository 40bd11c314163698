//! Random organisations: few machines, every mixture of what a machine can be.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::time;
use lowwater_model::change::Change;
use lowwater_model::change::commit::Commit;
use lowwater_model::change::set_schedule::{CapacityRisk, SetSchedule};
use lowwater_model::change::stop::Stop;
use lowwater_model::change::use_spot::{Outlook, UseSpot};
use lowwater_model::charge::{CostMetric, PricingCategory, Spread};
use lowwater_model::clue::Clues;
use lowwater_model::contract::MinimumFacts;
use lowwater_model::facts::{Basis, CostLine, CostRun, Facts, Ledger, LedgerLine, LineKind, Owner, Quality, Resource};
use lowwater_model::known::Known;
use lowwater_model::money::Money;
use lowwater_model::offer::{Market, Offer, PriceBasis, PriceBook, builtin_offers};
use lowwater_model::period::{HOUR_SECONDS, Hour, Period};
use lowwater_model::plan::Scope;
use lowwater_model::schedule::{DAYS, Schedule, Window};
use lowwater_model::spot::{Likely, SpotMarket, SpotPlace};
use lowwater_model::unit::HourlyRate;
use lowwater_model::usage::{HourUsage, Usage};
use lowwater_model::workload::{Checkpoint, Class, Criticality, Keep, Role};
use proptest::prelude::*;

/// A spring change of European clocks and one of American clocks lie in the history.
const END_HOUR: i64 = 493_032;
const HISTORY_DAYS: i64 = 42;
const REPLAY_DAYS: i64 = 28;

/// How a machine is used over the week.
#[derive(Clone, Debug)]
enum Habit {
    Unmeasured,
    Idle {
        since_day: i64,
        memory: Option<u8>,
        power: Option<u16>,
    },
    Office {
        from: i64,
        to: i64,
        machines_share: u8,
    },
    Busy,
    Patchy,
}

fn habit() -> impl Strategy<Value = Habit> {
    let memory = prop_oneof![6 => Just(Some(0)), 1 => Just(None), 1 => (0..20_u8).prop_map(Some)];
    let power = prop_oneof![6 => Just(Some(20)), 1 => Just(None), 1 => (0..400_u16).prop_map(Some)];
    prop_oneof![
        1 => Just(Habit::Unmeasured),
        4 => (0..HISTORY_DAYS, memory, power).prop_map(|(since_day, memory, power)| Habit::Idle { since_day, memory, power }),
        5 => (0..12_i64, 12..24_i64, 1..5_u8).prop_map(|(from, to, machines_share)| Habit::Office { from, to, machines_share }),
        1 => Just(Habit::Busy),
        1 => Just(Habit::Patchy),
    ]
}

fn seen(idle: bool, memory: Option<u8>, power: Option<u16>) -> HourUsage {
    HourUsage {
        gpus: 1,
        observed_minutes: 60,
        idle,
        activity_max_bin: if idle { 0 } else { 15 },
        activity_permille: if idle { 0 } else { 600 },
        memory_max_bin: memory,
        power_max_w: power,
    }
}

impl Habit {
    fn at(&self, index: i64) -> Option<HourUsage> {
        let (day, hour) = (index / 24, index % 24);
        match self {
            Self::Unmeasured => None,
            Self::Idle {
                since_day,
                memory,
                power,
            } => Some(seen(day >= *since_day, *memory, *power)),
            Self::Office {
                from,
                to,
                machines_share,
            } => {
                let works = day % 7 < 5 && (*from..*to).contains(&hour) && index % i64::from(*machines_share) == 0;
                Some(seen(!works, Some(1), Some(30)))
            }
            Self::Busy => Some(seen(false, Some(18), Some(250))),
            Self::Patchy => (index % 9 != 0).then(|| {
                let mut seen = seen(index % 5 != 0, Some(0), Some(15));
                // Every eleventh hour was seen too briefly to say that it was idle.
                if index % 11 == 0 {
                    (seen.idle, seen.activity_max_bin, seen.observed_minutes) = (false, 0, 20);
                }
                seen
            }),
        }
    }

    fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        let start = END_HOUR - HISTORY_DAYS * 24;
        for hour in start..END_HOUR {
            if let Some(seen) = self.at(hour - start) {
                usage.push(Hour(hour), seen);
            }
        }
        usage
    }
}

fn line() -> impl Strategy<Value = CostLine> {
    let kind = prop_oneof![5 => Just(LineKind::Compute), 1 => Just(LineKind::Other)];
    let terms = prop_oneof![
        5 => Just((PricingCategory::Standard, None)),
        1 => Just((PricingCategory::Committed, None)),
        1 => Just((PricingCategory::Committed, Some("sp-1".into()))),
        1 => Just((PricingCategory::Dynamic, None)),
    ];
    let spread = prop_oneof![12 => Just(Spread::Hourly), 1 => Just(Spread::Activity), 1 => Just(Spread::Even)];
    (kind, terms, spread, runs()).prop_map(|(kind, (pricing, commitment), spread, runs)| CostLine {
        kind,
        pricing,
        commitment,
        spread,
        runs,
    })
}

/// Mostly one run over everything, sometimes runs with gaps.
fn runs() -> impl Strategy<Value = Vec<CostRun>> {
    let start = END_HOUR - HISTORY_DAYS * 24;
    let cost = || (1..40_000_000_000_000_i128).prop_map(Money::from_units);
    let whole = cost().prop_map(move |cost| {
        vec![CostRun {
            start: Hour(start),
            hours: (HISTORY_DAYS * 24) as u32,
            cost,
            seconds: 3600,
        }]
    });
    let pieces = prop::collection::vec((1..300_u32, 0..100_i64, cost(), 1..=3600_u32), 1..6).prop_map(move |parts| {
        let mut runs = Vec::new();
        let mut next = start;
        for (hours, gap, cost, seconds) in parts {
            let hours = hours.min((END_HOUR - next).max(0) as u32);
            if hours > 0 {
                runs.push(CostRun {
                    start: Hour(next),
                    hours,
                    cost,
                    seconds,
                });
            }
            next += i64::from(hours) + gap;
        }
        runs
    });
    prop_oneof![4 => whole, 1 => pieces]
}

fn owner() -> impl Strategy<Value = Owner> {
    let class = prop_oneof![24 => Just(Class::Development), 20 => Just(Class::Training), 12 => Just(Class::Unknown)];
    let role = prop_oneof![24 => Just(Role::Primary), 1 => Just(Role::Standby)];
    let zone = prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]);
    let never = prop_oneof![36 => Just(""), 1 => Just("stop"), 1 => Just("set_schedule"), 1 => Just("use_spot"), 1 => Just("commit")];
    let keep = prop_oneof![24 => Just(None), 4 => Just(Some("2026-03-01")), 1 => Just(Some("2027-01-01"))];
    let criticality = prop_oneof![
        24 => Just(None),
        4 => Just(Some(Criticality::Low)),
        1 => Just(Some(Criticality::Critical))
    ];
    let holidays = prop_oneof![Just(None), Just(Some("DE".into())), Just(Some("nowhere".into()))];
    let workload = prop_oneof![1 => Just(None), 3 => Just(Some("nb".into())), 3 => Just(Some("lab".into()))];
    let deadline = prop_oneof![
        8 => Just(None),
        1 => Just(Some("2026-04-20")),
        1 => Just(Some("2026-03-20")),
        1 => Just(Some("06:00 daily"))
    ];
    let deadline = deadline.prop_map(|text: Option<&str>| text.map(|text| text.parse().unwrap()));
    let resumable = prop_oneof![6 => Just(Some(true)), 1 => Just(Some(false)), 1 => Just(None)];
    (
        class,
        role,
        zone,
        (never, keep, criticality),
        (holidays, deadline, resumable),
        workload,
    )
        .prop_map(
            |(class, role, zone, (never, keep, criticality), (holidays, deadline, resumable), workload)| Owner {
                workload,
                class,
                role,
                team: Some("vision".into()),
                project: None,
                environment: None,
                model: None,
                zone: zone.into(),
                holidays,
                criticality,
                never: if never.is_empty() {
                    BTreeSet::new()
                } else {
                    [never.to_owned()].into()
                },
                keep: keep.map(|day: &str| Keep {
                    reason: "demo".into(),
                    until: Some(day.parse().unwrap()),
                }),
                deadline,
                latency_p99: None,
                checkpoint: resumable.map(|resumable| Checkpoint {
                    every: None,
                    gb: Some(50.0),
                    resumable,
                }),
                because: Vec::new(),
            },
        )
}

/// What people call a machine: nothing, something true or false, something that forbids a guess.
fn called() -> impl Strategy<Value = (Option<String>, Clues)> {
    let name = prop::sample::select(vec![
        "",
        "jupyter-1",
        "train-7",
        "vllm-2",
        "notebook-prod",
        "standby-3",
        "ci-runner",
    ]);
    let tag = prop::sample::select(vec!["", "notebook", "training", "serving", "production"]);
    let product = prop::sample::select(vec!["", "Notebook", "Training", "Hosting"]);
    let traffic = prop_oneof![6 => Just(false), 1 => Just(true)];
    (name, tag, product, traffic).prop_map(|(name, tag, product, traffic)| {
        let mut clues = Clues::default();
        if !tag.is_empty() {
            clues.tags.insert("purpose".into(), tag.into());
        }
        if !product.is_empty() {
            clues.service = Some("Amazon SageMaker".into());
            clues.usage_types.insert(product.into());
        }
        if traffic {
            clues.traffic_from.insert("alb-1".into());
        }
        ((!name.is_empty()).then(|| name.to_owned()), clues)
    })
}

fn resource() -> impl Strategy<Value = Resource> {
    let sku = prop::sample::select(vec![
        "g5.xlarge",
        "p4d.24xlarge",
        "a2-highgpu-1g",
        "g6.xlarge",
        "unheard-of",
    ]);
    let cloud = prop_oneof![4 => Just("aws"), 1 => Just("azure")];
    (
        cloud,
        sku,
        owner(),
        called(),
        prop::collection::vec(line(), 1..4),
        habit(),
    )
        .prop_map(|(cloud, sku, owner, (name, clues), lines, habit)| Resource {
            id: "".into(),
            name,
            cloud: cloud.into(),
            account: "1".into(),
            region: "us-east-1".into(),
            sku: Known::Value(sku.into()),
            gpus: 1.0,
            owner,
            lines,
            usage: habit.usage(),
            clues,
        })
}

/// Commitments for two types, one of them for three years as well.
fn promises() -> Vec<Offer> {
    let offer = |sku: &str, market, rate| Offer {
        cloud: "aws".into(),
        region: "us-east-1".into(),
        zone: String::new(),
        sku: sku.into(),
        list: None,
        holds: None,
        market,
        rate: HourlyRate(rate),
        currency: "USD".into(),
        basis: if market == Market::OneYear {
            PriceBasis::List
        } else {
            PriceBasis::Net
        },
        as_of: jiff::civil::date(2026, 2, 1),
        source: "offers.csv".into(),
    };
    vec![
        offer("g5.xlarge", Market::OneYear, 3.0),
        offer("p4d.24xlarge", Market::OneYear, 6.0),
        offer("p4d.24xlarge", Market::ThreeYears, 4.5),
    ]
}

/// Markets of two types, calm and wild, cheap and dear.
fn spot() -> impl Strategy<Value = Vec<SpotMarket>> {
    let sku = prop::sample::select(vec!["g5.xlarge", "p4d.24xlarge", "g6.xlarge"]);
    let known = prop_oneof![6 => (0.0..0.05_f64).prop_map(Some), 1 => Just(Some(0.0)), 1 => Just(None)];
    let one = (sku, 0.1..10.0_f64, known, 0.0..4.0_f64, 1..29_i8).prop_map(|(sku, rate, known, wait_hours, day)| {
        SpotMarket {
            place: SpotPlace {
                cloud: "aws".into(),
                region: "us-east-1".into(),
                zone: Some(format!("zone-{day}")),
                sku: sku.into(),
            },
            rate: Likely {
                low: rate * 0.8,
                middle: rate,
                high: rate * 1.3,
            },
            interruptions_per_hour: known.map_or(Known::unknown("no trace"), |middle| {
                Known::Value(Likely {
                    low: middle / 2.0,
                    middle,
                    high: middle * 2.0,
                })
            }),
            wait_hours,
            currency: "USD".into(),
            as_of: jiff::civil::date(2026, 3, day),
            source: "trace".into(),
        }
    });
    prop::collection::vec(one, 0..5)
}

fn facts_of(mut resources: Vec<Resource>, rest: Money, joined: i64) -> Facts {
    let hours = |days: i64| Period::from_seconds((END_HOUR - days * 24) * HOUR_SECONDS, END_HOUR * HOUR_SECONDS);
    let (history, period) = (hours(HISTORY_DAYS), hours(REPLAY_DAYS));
    for (number, resource) in resources.iter_mut().enumerate() {
        resource.id = format!("r{number:02}").into();
    }
    let gpu_cost = super::cost_of(resources.iter(), period);
    let (tax, unexplained) = (Money::whole(19), Money::from_units(7));
    let total = gpu_cost + rest;
    Facts {
        id: "random".into(),
        as_of: history.end,
        currency: "USD".into(),
        history,
        period,
        basis: Basis {
            metric: CostMetric::Effective,
            why: "it is there".into(),
        },
        ledger: Ledger {
            total,
            billed: total + tax + unexplained,
            reconciliation: vec![LedgerLine {
                label: "tax".into(),
                amount: tax,
            }],
            unexplained,
        },
        resources,
        commitments: Vec::new(),
        transfer: Vec::new(),
        prices: PriceBook(builtin_offers().into_iter().chain(promises()).collect()),
        spot: Vec::new(),
        minimums: Vec::new(),
        jobs: Vec::new(),
        calendars: [("DE".into(), ["2026-03-10".parse().unwrap()].into())].into(),
        quality: Quality {
            gpu_cost,
            joined_gpu_cost: gpu_cost.times(joined).split(100).0,
            days: REPLAY_DAYS as u32,
            days_with_charges: REPLAY_DAYS as u32,
            ..Quality::default()
        },
    }
}

/// Contracts of all sizes: met with and without a plan, just missed, far from it, over, and with unknown spend.
fn minimums(period: Period) -> impl Strategy<Value = Vec<MinimumFacts>> {
    let spent = prop_oneof![5 => (0..9000_i64).prop_map(Some), 1 => Just(None)];
    let one = (1..20_000_i64, spent, 0..9000_i64, -30..20_i64, 1..400_i64);
    let build = move |(amount, spent, pace, start, days): (i64, Option<i64>, i64, i64, i64)| {
        let day = 24 * HOUR_SECONDS;
        let start = period.end.as_second() + start * day;
        let end = (start + days * day).max(period.end.as_second() + day);
        MinimumFacts {
            cloud: "aws".into(),
            period: Period::from_seconds(start, end),
            amount: Money::whole(amount),
            spent: spent.map_or(Known::unknown("nobody says"), |spent| Known::Value(Money::whole(spent))),
            pace: Money::whole(pace),
            source: "contract.toml:3".into(),
        }
    };
    prop_oneof![
        1 => Just(Vec::new()),
        2 => one.prop_map(move |minimum| vec![build(minimum)]),
    ]
}

/// Any small organisation.
pub(crate) fn facts() -> impl Strategy<Value = Facts> {
    let rest = (-5_000_000_000_000_000..5_000_000_000_000_000_i128).prop_map(Money::from_units);
    let joined = prop_oneof![5 => Just(95_i64), 1 => 0..100_i64];
    let hours = |days: i64| Period::from_seconds((END_HOUR - days * 24) * HOUR_SECONDS, END_HOUR * HOUR_SECONDS);
    let minimums = minimums(hours(REPLAY_DAYS));
    (prop::collection::vec(resource(), 0..7), rest, joined, spot(), minimums).prop_map(
        |(resources, rest, joined, spot, minimums)| Facts {
            spot,
            minimums,
            ..facts_of(resources, rest, joined)
        },
    )
}

/// Policies that make a difference.
pub(crate) fn policy_text() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "",
        "[plan]\nmin_saving_per_month = 0.0\ninstance_store_acknowledged = [\"nb\", \"r01\"]",
        "[lever.off_hours]\nallow_scarce = true\nneeded_share = 0.3\nmargin_hours = 0",
        "[lever.off_hours]\nreserved_capacity = [\"A100-40\", \"unheard-of\"]\n[lever.idle]\nwindow_days = 7",
        "[team.vision]\ncriticality = \"high\"",
        "[lever.commit_baseline]\nmin_history_days = 10\nmax_fall_share = 0.9\nmax_price_age_days = 900\nmax_purchase = 9000000.0\nthree_years_for = [\"p4d.24xlarge\", \"A10G\"]",
        "[lever.commit_baseline]\nmin_history_days = 20\nmax_fall_share = 0.5\nmax_hourly_exposure = 12.5\n[plan]\nmin_saving_per_month = 0.0",
        "[lever.spot_training]\nmin_net_saving_share = 0.0\nengineer_hours_per_interruption = 0.1\nstart_minutes = 90.0",
        "[lever.idle]\nmax_criticality = \"critical\"\n[team.vision.lever.off_hours]\nmax_criticality = \"critical\"\nmin_history_days = 60",
    ])
}

fn machine() -> impl Strategy<Value = lowwater_model::id::ResourceId> {
    (0..8_u8).prop_map(|number| format!("r{number:02}").into())
}

fn stop() -> impl Strategy<Value = Change> {
    let first = (END_HOUR - (HISTORY_DAYS + 1) * 24) * HOUR_SECONDS;
    (machine(), first..END_HOUR * HOUR_SECONDS).prop_map(|(resource, since)| {
        Change::Stop(Stop {
            name: None,
            resource,
            since: Timestamp::from_second(since).unwrap(),
        })
    })
}

fn set_schedule() -> impl Strategy<Value = Change> {
    let zone = prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]);
    let times = (0..24_i8, 0..60_i8, 0..24_i8, 0..60_i8);
    let days = prop::collection::btree_set(0..7_usize, 1..7);
    let risk =
        prop_oneof![3 => Just(None), 1 => Just(Some(CapacityRisk { failure: 0.1, wait_hours: 2.0, hour_cost: 50.0 }))];
    (prop::collection::btree_set(machine(), 1..5), zone, times, days, risk).prop_map(
        |(resources, zone, (h, m, to_h, to_m), days, capacity_risk)| {
            let window = Window {
                days: days.into_iter().map(|day| DAYS[day].into()).collect(),
                start: time(h, m, 0, 0),
                end: time(to_h, to_m, 0, 0),
            };
            let schedule = Schedule {
                zone: zone.into(),
                windows: vec![window],
                holidays: None,
                holiday_dates: BTreeSet::new(),
            };
            Change::SetSchedule(SetSchedule {
                workload: "nb".into(),
                resources: resources.into_iter().collect(),
                schedule,
                capacity_risk,
            })
        },
    )
}

/// Changes that overlap in all ways, on machines of which some do not exist.
pub(crate) fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec(prop_oneof![stop(), set_schedule()], 0..5)
}

/// Some machines on spot and a commitment for some, of which some do not exist.
pub(crate) fn discounts() -> impl Strategy<Value = (Change, Change)> {
    let machines = || prop::collection::btree_set(machine(), 0..5).prop_map(|ids| ids.into_iter().collect::<Vec<_>>());
    let outlook = (0.0..30.0_f64, 1.0..2.0_f64, 0.0..0.1_f64).prop_map(|(rate, hours, interruptions)| Outlook {
        rate,
        hours,
        interruptions,
    });
    let sku = || "p4d.24xlarge".into();
    let spot = (machines(), outlook, 1.0..30.0_f64).prop_map(move |(resources, outlook, on_demand_rate)| {
        Change::UseSpot(UseSpot {
            workload: "nb".into(),
            resources,
            place: Box::new(SpotPlace {
                cloud: "aws".into(),
                region: "us-east-1".into(),
                zone: None,
                sku: sku(),
            }),
            checkpoint_every_hours: 1.0,
            on_demand_rate,
            interruption_cost: 100.0,
            storage_per_month: 10.0,
            expected: outlook,
            worse: outlook,
            better: outlook,
        })
    });
    let commit = (machines(), 0..4_u32, 0.0..30.0_f64).prop_map(move |(resources, level, rate)| {
        Change::Commit(Commit {
            scope: Scope {
                provider: "aws".into(),
                sku: sku(),
                region: "us-east-1".into(),
            },
            resources,
            term: Market::OneYear,
            level,
            rate,
            demand: 1.0,
            worst_demand: 0.9,
        })
    });
    (spot, commit)
}

/// Seeded numbers for simulations (SplitMix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Above 0 and at most 1.
    pub(crate) fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        ((bits >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential with that mean.
    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.share().ln()
    }
}
