//! The frozen input of every decision: what was billed, what was used, what is promised.
//!
//! Hourly columns exist only for resources that a lever may touch. All other money is one exact rest.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::charge::{CostMetric, PricingCategory, Spread};
use crate::clue::Clues;
use crate::contract::MinimumFacts;
use crate::deadline::Deadline;
use crate::id::{
    AccountId, CalendarName, CommitmentId, Currency, FactsId, RegionId, ResourceId, Sku, Team, WorkloadName,
};
use crate::job::JobRun;
use crate::known::Known;
use crate::money::Money;
use crate::offer::PriceBook;
use crate::period::{Hour, Period};
use crate::schedule::Calendars;
use crate::sku::SkuFact;
use crate::spot::SpotMarket;
use crate::usage::Usage;
use crate::workload::{Checkpoint, Class, Criticality, Keep, Role};

/// Everything that a plan is made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Hash of manifest, configuration and catalogue.
    pub id: FactsId,
    /// Nothing after this instant is in here.
    pub as_of: Timestamp,
    /// Of all money.
    pub currency: Currency,
    /// Hours that profiles may look at.
    pub history: Period,
    /// Hours that replay replays, the last part of `history`; savings are for these.
    pub period: Period,
    /// Which cost column the replay stands on.
    pub basis: Basis,
    /// The bill of `period`.
    pub ledger: Ledger,
    /// Resources with hourly columns, sorted by id.
    pub resources: Vec<Resource>,
    /// What was committed, and how much of it was used, in `period`.
    pub commitments: Vec<CommitmentUse>,
    /// What was paid in `period` for data that left its region, by workload and resource, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfer: Vec<Transfer>,
    /// Runs of jobs that were asked for or began in the history, sorted by job and start; empty where no job records are loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobRun>,
    /// Every known price.
    pub prices: PriceBook,
    /// Known spot markets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spot: Vec<SpotMarket>,
    /// Minimums of contracts that are not over, at most one a cloud, by its id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub minimums: Vec<MinimumFacts>,
    /// Holidays.
    pub calendars: Calendars,
    /// How far to trust all this.
    pub quality: Quality,
}

impl Facts {
    /// Looks a resource up.
    pub fn resource(&self, id: &ResourceId) -> Option<&Resource> {
        self.resources
            .binary_search_by(|r| r.id.cmp(id))
            .ok()
            .map(|i| &self.resources[i])
    }
}

/// The cost column that replay stands on, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// EffectiveCost, or BilledCost where EffectiveCost can't be trusted.
    pub metric: CostMetric,
    /// In words.
    pub why: String,
}

/// The exact bill of the replayed period.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Everything in the basis metric.
    pub total: Money,
    /// Everything as invoiced.
    pub billed: Money,
    /// Named differences from `total` to `billed`: purchases, amortisation, tax. They and `unexplained` sum to `billed - total`.
    pub reconciliation: Vec<LedgerLine>,
    /// What no name explains, such as costs that the provider rounded.
    pub unexplained: Money,
}

/// A named amount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerLine {
    /// In words.
    pub label: String,
    /// Exact.
    pub amount: Money,
}

/// A billed resource with its hours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    /// FOCUS ResourceId.
    pub id: ResourceId,
    /// FOCUS ResourceName or Name tag.
    pub name: Option<String>,
    /// Cloud id.
    pub cloud: String,
    /// Sub account, else billing account.
    pub account: AccountId,
    /// FOCUS RegionId.
    pub region: RegionId,
    /// Instance type.
    pub sku: Known<Sku>,
    /// GPUs; 0 = nobody says how many. The store hands over machines with GPUs only.
    pub gpus: f64,
    /// Who owns it and how it may be treated.
    pub owner: Owner,
    /// What it cost over the history, by kind of line.
    pub lines: Vec<CostLine>,
    /// What its GPUs did; empty where no metrics are joined.
    pub usage: Usage,
    /// What else speaks for its class.
    #[serde(default, skip_serializing_if = "Clues::is_empty")]
    pub clues: Clues,
}

impl Resource {
    /// The table's facts of its instance type.
    pub fn sku_fact(&self) -> Option<&'static SkuFact> {
        self.sku.value().and_then(|sku| crate::sku::find_sku(sku.as_str()))
    }

    /// Is all of its compute cost known by the hour?
    pub fn is_hourly(&self) -> bool {
        self.lines
            .iter()
            .all(|l| l.kind != LineKind::Compute || l.spread != Spread::Even)
    }
}

/// Who owns a resource: declared in workloads.toml, else from tags; rules inherited from team, environment and tags.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Owner {
    /// Workload of workloads.toml.
    pub workload: Option<WorkloadName>,
    /// Declared class; unknown where nobody declared one.
    pub class: Class,
    /// Part it plays.
    pub role: Role,
    /// Who pays.
    pub team: Option<Team>,
    /// Project.
    pub project: Option<String>,
    /// Environment.
    pub environment: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// IANA zone of its people.
    pub zone: String,
    /// Their holidays.
    pub holidays: Option<CalendarName>,
    /// What a stop costs.
    pub criticality: Option<Criticality>,
    /// Kinds of change that must not be proposed.
    pub never: std::collections::BTreeSet<String>,
    /// Must stay as it is.
    pub keep: Option<Keep>,
    /// When its result is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Deadline>,
    /// Promise on the latency of 99 in 100 answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_p99: Option<SignedDuration>,
    /// How it saves its progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// Says which rule gave what, one line a field: `keep: workload notebooks in workloads.toml`.
    pub because: Vec<String>,
}

impl Owner {
    /// Who said so, for a field of this struct.
    pub fn said_by(&self, field: &str) -> Option<&str> {
        self.because
            .iter()
            .find_map(|line| line.strip_prefix(field)?.strip_prefix(": "))
    }

    /// Who forbids a kind of change. A rule that came on top names its kind, `never: stop, by tag never`; the line
    /// without one is of the declaration itself.
    pub fn forbidden_by(&self, kind: &str) -> Option<&str> {
        let lines = || self.because.iter().filter_map(|line| line.strip_prefix("never: "));
        let of_kind = lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(", by "));
        of_kind.or_else(|| lines().find(|line| !line.contains(", by ")))
    }
}

/// Does the cost end when the resource stops?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// Ends with it: instance hours.
    Compute,
    /// Goes on: disks, addresses, transfer already made.
    Other,
}

/// Hourly cost of one kind on one set of terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CostLine {
    /// Does it end with the resource?
    pub kind: LineKind,
    /// Terms.
    pub pricing: PricingCategory,
    /// Which commitment covered it: hours covered by one save no cash when they stop.
    pub commitment: Option<CommitmentId>,
    /// How it came to its hours.
    pub spread: Spread,
    /// Runs of equal hours, in order, disjoint.
    pub runs: Vec<CostRun>,
}

/// Consecutive hours with the same cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostRun {
    /// First hour.
    pub start: Hour,
    /// How many.
    pub hours: u32,
    /// Cost of each hour in the basis metric.
    pub cost: Money,
    /// Resource-seconds billed in each hour: 3600 for a whole one.
    pub seconds: u32,
}

impl CostRun {
    /// First hour after.
    pub const fn end(&self) -> Hour {
        Hour(self.start.0 + self.hours as i64)
    }
}

/// How much of a commitment was used in the replayed period, in the basis metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommitmentUse {
    /// FOCUS CommitmentDiscountId.
    pub id: CommitmentId,
    /// FOCUS CommitmentDiscountName.
    pub name: Option<String>,
    /// FOCUS CommitmentDiscountType, such as `Savings Plan`.
    pub kind: String,
    /// Paid and used.
    pub used: Money,
    /// Paid and not used.
    pub unused: Money,
}

/// Paid for data that left its region, in the basis metric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Whose, where the resource that paid belongs to a workload.
    pub workload: Option<WorkloadName>,
    /// Which resource paid: a machine, a bucket, a gateway.
    pub resource: Option<ResourceId>,
    /// How much.
    pub cost: Money,
}

/// How far to trust the facts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Cost of GPU resources in the period, in the basis metric.
    pub gpu_cost: Money,
    /// The part of it that belongs to resources with joined metrics.
    pub joined_gpu_cost: Money,
    /// Days of the period.
    pub days: u32,
    /// Days of it with charges.
    pub days_with_charges: u32,
    /// Newest hour with charges (its end).
    pub bill_until: Option<Timestamp>,
    /// Newest hour with metrics (its end).
    pub metrics_until: Option<Timestamp>,
    /// What a reader must know.
    pub warnings: Vec<String>,
}

impl Quality {
    /// Share of GPU money that is on machines with joined metrics, 0 to 1; none where there is no GPU money.
    pub fn join_share(&self) -> Option<f64> {
        (!self.gpu_cost.is_zero()).then(|| self.joined_gpu_cost.estimate().amount() / self.gpu_cost.estimate().amount())
    }
}
