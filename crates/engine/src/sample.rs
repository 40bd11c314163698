//! Facts for tests, from a short form that a person writes and reads.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use lowwater_model::charge::{CostMetric, PricingCategory, Spread};
use lowwater_model::clue::Clues;
use lowwater_model::contract::MinimumFacts;
use lowwater_model::deadline::Deadline;
use lowwater_model::facts::{Basis, CostLine, CostRun, Facts, Ledger, LedgerLine, LineKind, Owner, Quality, Resource};
use lowwater_model::id::{CalendarName, CommitmentId};
use lowwater_model::job::JobRun;
use lowwater_model::known::Known;
use lowwater_model::money::Money;
use lowwater_model::offer::{Market, Offer, PriceBasis, PriceBook};
use lowwater_model::period::{HOUR_SECONDS, Hour, Period};
use lowwater_model::policy::Policy;
use lowwater_model::sku::find_sku;
use lowwater_model::spot::{Likely, SpotMarket, SpotPlace};
use lowwater_model::unit::HourlyRate;
use lowwater_model::usage::{HourUsage, Usage};
use lowwater_model::workload::{Checkpoint, Class, Criticality, Keep, Role};
use serde::Deserialize;

pub(crate) mod random;

/// `facts.toml` of a case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sample {
    /// What the case shows.
    #[serde(default)]
    pub(crate) about: String,
    as_of: Timestamp,
    history_days: i64,
    replay_days: i64,
    /// Money of the ledger that is in no resource.
    #[serde(default)]
    rest: Option<Money>,
    #[serde(default)]
    reconciliation: BTreeMap<String, Money>,
    #[serde(default)]
    unexplained: Option<Money>,
    /// Share of GPU money joined to metrics; else that of the resources with metrics.
    #[serde(default)]
    joined_percent: Option<i64>,
    #[serde(default)]
    warnings: Vec<String>,
    #[serde(default)]
    basis: Option<CostMetric>,
    #[serde(default)]
    holidays: BTreeMap<CalendarName, BTreeSet<Date>>,
    #[serde(default)]
    price: Vec<Price>,
    #[serde(default)]
    spot: Vec<Spot>,
    #[serde(default)]
    minimum: Vec<Minimum>,
    #[serde(default)]
    job: Vec<JobRun>,
    #[serde(default)]
    resource: Vec<Machine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Price {
    sku: String,
    rate: f64,
    #[serde(default = "on_demand")]
    market: Market,
    #[serde(default = "observed")]
    basis: PriceBasis,
    as_of: Date,
}

/// A contract's minimum with a provider, with what was spent (none = unknown) and what goes on in the replayed period.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Minimum {
    #[serde(default = "aws")]
    provider: String,
    from: Timestamp,
    to: Timestamp,
    amount: Money,
    #[serde(default)]
    spent: Option<Money>,
    pace: Money,
}

impl Minimum {
    fn build(self) -> MinimumFacts {
        MinimumFacts {
            cloud: self.provider,
            period: Period {
                start: self.from,
                end: self.to,
            },
            amount: self.amount,
            spent: self.spent.map_or(Known::unknown("the bill begins later"), Known::Value),
            pace: self.pace,
            source: "contract.toml:1".into(),
        }
    }
}

/// A spot market: low, middle and high ends of its price and of interruptions an hour.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spot {
    sku: String,
    #[serde(default)]
    zone: Option<String>,
    rate: [f64; 3],
    /// None = nobody knows.
    #[serde(default)]
    interruptions: Option<[f64; 3]>,
    #[serde(default)]
    wait_hours: f64,
    as_of: Date,
}

impl Spot {
    fn build(self) -> SpotMarket {
        let spread = |[low, middle, high]: [f64; 3]| Likely { low, middle, high };
        SpotMarket {
            place: SpotPlace {
                cloud: "aws".into(),
                region: "us-east-1".into(),
                zone: self.zone,
                sku: self.sku.into(),
            },
            rate: spread(self.rate),
            interruptions_per_hour: self
                .interruptions
                .map_or(Known::unknown("no trace"), |known| Known::Value(spread(known))),
            wait_hours: self.wait_hours,
            currency: "USD".into(),
            as_of: self.as_of,
            source: "trace".into(),
        }
    }
}

/// One or more equal machines.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Machine {
    /// `{}` is the number of the machine, from 0.
    id: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default = "one")]
    count: u32,
    #[serde(default)]
    sku: Option<String>,
    #[serde(default)]
    gpus: Option<f64>,
    #[serde(default = "unknown")]
    class: Class,
    #[serde(default = "primary")]
    role: Role,
    #[serde(default)]
    workload: Option<String>,
    #[serde(default)]
    team: Option<String>,
    #[serde(default)]
    environment: Option<String>,
    #[serde(default = "utc")]
    zone: String,
    #[serde(default)]
    holidays: Option<CalendarName>,
    #[serde(default)]
    criticality: Option<Criticality>,
    #[serde(default)]
    never: BTreeSet<String>,
    #[serde(default)]
    keep: Option<Keep>,
    #[serde(default)]
    deadline: Option<Deadline>,
    #[serde(default)]
    checkpoint: Option<Checkpoint>,
    #[serde(default)]
    because: Vec<String>,
    #[serde(default)]
    clues: Clues,
    #[serde(default)]
    line: Vec<Line>,
    /// Later rules go over earlier ones; an hour without a rule is not observed.
    #[serde(default, rename = "use")]
    uses: Vec<Use>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    rate: Money,
    #[serde(default = "compute")]
    kind: LineKind,
    #[serde(default = "standard")]
    pricing: PricingCategory,
    #[serde(default)]
    commitment: Option<CommitmentId>,
    #[serde(default = "hourly")]
    spread: Spread,
    #[serde(default)]
    from: Option<Timestamp>,
    #[serde(default)]
    to: Option<Timestamp>,
    #[serde(default = "whole")]
    seconds: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Use {
    #[serde(default)]
    idle: bool,
    /// Not observed.
    #[serde(default)]
    gap: bool,
    /// Bins of memory held.
    #[serde(default)]
    memory: Option<u8>,
    /// Watts.
    #[serde(default)]
    power: Option<u16>,
    #[serde(default)]
    from: Option<Timestamp>,
    #[serde(default)]
    to: Option<Timestamp>,
    /// Local days, Monday = 0: first and last.
    #[serde(default)]
    days: Option<(i8, i8)>,
    /// Local hours, first and the one after the last.
    #[serde(default)]
    hours: Option<(i8, i8)>,
    /// Only machines with these numbers.
    #[serde(default)]
    machines: Option<Vec<u32>>,
}

const fn on_demand() -> Market {
    Market::OnDemand
}
const fn observed() -> PriceBasis {
    PriceBasis::Observed
}
const fn one() -> u32 {
    1
}
const fn whole() -> u32 {
    3600
}
const fn unknown() -> Class {
    Class::Unknown
}
const fn primary() -> Role {
    Role::Primary
}
const fn compute() -> LineKind {
    LineKind::Compute
}
const fn standard() -> PricingCategory {
    PricingCategory::Standard
}
const fn hourly() -> Spread {
    Spread::Hourly
}
fn aws() -> String {
    "aws".into()
}
fn utc() -> String {
    "UTC".into()
}

impl Use {
    fn matches(&self, hour: i64, zone: &TimeZone, machine: u32) -> bool {
        let at = Timestamp::from_second(hour * HOUR_SECONDS).unwrap();
        let local = zone.to_datetime(at);
        let day = local.weekday().to_monday_zero_offset();
        self.from.is_none_or(|from| from <= at)
            && self.to.is_none_or(|to| at < to)
            && self.days.is_none_or(|(first, last)| (first..=last).contains(&day))
            && self
                .hours
                .is_none_or(|(first, end)| (first..end).contains(&local.hour()))
            && self
                .machines
                .as_ref()
                .is_none_or(|machines| machines.contains(&machine))
    }

    fn usage(&self, gpus: u16) -> Option<HourUsage> {
        let seen = HourUsage {
            gpus,
            observed_minutes: 60,
            idle: self.idle,
            activity_max_bin: if self.idle { 0 } else { 12 },
            activity_permille: if self.idle { 0 } else { 500 },
            memory_max_bin: self.memory,
            power_max_w: self.power,
        };
        (!self.gap).then_some(seen)
    }
}

impl Line {
    fn build(&self, history: Period) -> CostLine {
        let from = Hour::of(self.from.unwrap_or(history.start));
        let to = Hour::of(self.to.unwrap_or(history.end));
        let run = CostRun {
            start: from,
            hours: (to.0 - from.0) as u32,
            cost: self.rate,
            seconds: self.seconds,
        };
        CostLine {
            kind: self.kind,
            pricing: self.pricing,
            commitment: self.commitment.clone(),
            spread: self.spread,
            runs: vec![run],
        }
    }
}

impl Machine {
    fn owner(&self) -> Owner {
        Owner {
            workload: self.workload.as_ref().map(Into::into),
            class: self.class,
            role: self.role,
            team: self.team.as_ref().map(Into::into),
            project: None,
            environment: self.environment.clone(),
            model: None,
            zone: self.zone.clone(),
            holidays: self.holidays.clone(),
            criticality: self.criticality,
            never: self.never.clone(),
            keep: self.keep.clone(),
            deadline: self.deadline,
            latency_p99: None,
            checkpoint: self.checkpoint.clone(),
            because: self.because.clone(),
        }
    }

    fn build(&self, number: u32, history: Period) -> Resource {
        let fact = self.sku.as_deref().and_then(find_sku);
        let gpus = self.gpus.or(fact.map(|f| f.count)).unwrap_or(1.0);
        let zone = TimeZone::get(&self.zone).unwrap_or(TimeZone::UTC);
        let mut usage = Usage::default();
        for hour in history.hour_range() {
            let rule = self.uses.iter().rev().find(|rule| rule.matches(hour, &zone, number));
            if let Some(seen) = rule.and_then(|rule| rule.usage(gpus as u16)) {
                usage.push(Hour(hour), seen);
            }
        }
        Resource {
            id: self.id.replace("{}", &format!("{number:02}")).into(),
            name: self
                .name
                .as_ref()
                .map(|name| name.replace("{}", &format!("{number:02}"))),
            cloud: fact.map_or("aws", |f| f.cloud).into(),
            account: "1234".into(),
            region: "us-east-1".into(),
            sku: self
                .sku
                .as_ref()
                .map_or(Known::unknown("no SKU on the bill"), |sku| Known::Value(sku.into())),
            gpus,
            owner: self.owner(),
            lines: self.line.iter().map(|line| line.build(history)).collect(),
            usage,
            clues: self.clues.clone(),
        }
    }
}

/// What the resources cost in the period, disks included.
pub(crate) fn cost_of<'a>(resources: impl Iterator<Item = &'a Resource>, period: Period) -> Money {
    let hours = period.hour_range();
    let mut sum = Money::ZERO;
    for run in resources.flat_map(|r| &r.lines).flat_map(|l| &l.runs) {
        sum += run
            .cost
            .times((run.start.0..run.end().0).filter(|hour| hours.contains(hour)).count() as i64);
    }
    sum
}

impl Sample {
    fn build(self) -> Facts {
        let end = self.as_of.as_second();
        let back = |days: i64| Period::from_seconds(end - days * 24 * HOUR_SECONDS, end);
        let (history, period) = (back(self.history_days), back(self.replay_days));
        let machines = self
            .resource
            .iter()
            .flat_map(|m| (0..m.count).map(|number| m.build(number, history)));
        let mut resources: Vec<Resource> = machines.collect();
        resources.sort_by(|a, b| a.id.cmp(&b.id));
        let gpu = || resources.iter().filter(|r| r.gpus > 0.0);
        let gpu_cost = cost_of(gpu(), period);
        let joined = cost_of(gpu().filter(|r| r.usage.start.is_some()), period);
        let total = cost_of(resources.iter(), period) + self.rest.unwrap_or_default();
        let reconciliation: Vec<LedgerLine> = self
            .reconciliation
            .into_iter()
            .map(|(label, amount)| LedgerLine { label, amount })
            .collect();
        let unexplained = self.unexplained.unwrap_or_default();
        let metric = self.basis.unwrap_or(CostMetric::Effective);
        Facts {
            id: "facts".into(),
            as_of: self.as_of,
            currency: "USD".into(),
            history,
            period,
            basis: Basis {
                metric,
                why: "as the case says".into(),
            },
            ledger: Ledger {
                total,
                billed: total + unexplained + reconciliation.iter().map(|line| line.amount).sum(),
                reconciliation,
                unexplained,
            },
            quality: Quality {
                gpu_cost,
                joined_gpu_cost: self
                    .joined_percent
                    .map_or(joined, |percent| gpu_cost.times(percent).split(100).0),
                days: self.replay_days as u32,
                days_with_charges: self.replay_days as u32,
                bill_until: Some(self.as_of),
                metrics_until: Some(self.as_of),
                warnings: self.warnings,
            },
            resources,
            commitments: Vec::new(),
            transfer: Vec::new(),
            spot: self.spot.into_iter().map(Spot::build).collect(),
            minimums: self.minimum.into_iter().map(Minimum::build).collect(),
            jobs: self.job,
            prices: PriceBook(self.price.into_iter().map(Price::build).collect()),
            calendars: self.holidays,
        }
    }
}

impl Price {
    fn build(self) -> Offer {
        Offer {
            cloud: "aws".into(),
            region: "us-east-1".into(),
            zone: String::new(),
            sku: self.sku.into(),
            list: None,
            holds: None,
            market: self.market,
            rate: HourlyRate(self.rate),
            currency: "USD".into(),
            basis: self.basis,
            as_of: self.as_of,
            source: "bill".into(),
        }
    }
}

/// Facts from the short form.
pub(crate) fn facts(toml: &str) -> Facts {
    match toml::from_str::<Sample>(toml) {
        Ok(sample) => sample.build(),
        Err(error) => panic!("{error}"),
    }
}

/// A policy over the defaults of all levers.
pub(crate) fn policy(toml: &str) -> Policy {
    match Policy::parse(toml, "policy.toml", &crate::lever::sections()) {
        Ok(policy) => policy,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_short_form_says_what_it_means() {
    let facts = facts(
        r#"
        as_of = "2026-11-02T00:00:00Z"
        history_days = 14
        replay_days = 7
        rest = "0.5"
        [[resource]]
        id = "m{}"
        count = 2
        sku = "g5.xlarge"
        zone = "Europe/Berlin"
        line = [{ rate = "1.5" }, { rate = "0.1", kind = "other" }]
        use = [{ idle = true }, { days = [0, 4], hours = [9, 18], machines = [1] }]
        "#,
    );
    assert_eq!(
        facts.ledger.total,
        Money::parse("538.1").unwrap(),
        "2 machines x 168 h x 1.6, and the rest"
    );
    let active = |id: &str| {
        let machine = facts.resource(&id.into()).unwrap();
        machine
            .usage
            .iter()
            .filter(|(_, seen)| !seen.idle)
            .map(|(hour, _)| hour)
            .collect::<Vec<_>>()
    };
    assert_eq!((active("m00").len(), active("m01").len()), (0, 90));
    assert_eq!(
        active("m01")[0].period().start,
        "2026-10-19T07:00:00Z".parse().unwrap(),
        "nine in summer Berlin"
    );
    assert_eq!(facts.resources[0].usage.hours.len(), 14 * 24);
}
