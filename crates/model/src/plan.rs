//! A plan: immutable data, so specific that carrying it out leaves nothing to decide.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::change::{Change, Condition, Effort, Risk};
use crate::charge::focus_enum;
use crate::facts::{Basis, LedgerLine};
use crate::id::{Currency, FactsId, PlanId, PolicyId, RegionId, ResourceId, Sku, StepId, WorkloadName};
use crate::known::Known;
use crate::money::{Estimate, Money, Range};
use crate::offer::PriceBasis;
use crate::order::Order;
use crate::period::Period;

/// Version of the form of plan.json.
pub const PLAN_VERSION: u32 = 1;

focus_enum! {
    /// When a step's turn is: waste before discounts, commitments last.
    Phase {
        /// Measure, declare, tag.
        SeeClearly = "see-clearly",
        /// Stop what nobody uses.
        StopWaste = "stop-waste",
        /// Right-size, choose SKUs, pack.
        RightSize = "right-size",
        /// Spot for interruptible work.
        Spot = "spot",
        /// Commit on the demand that remains.
        Commit = "commit",
    }
}

impl Phase {
    /// Weeks of the thirteen-week plan, first and last.
    pub const fn weeks(self) -> (u8, u8) {
        match self {
            Self::SeeClearly => (1, 2),
            Self::StopWaste => (3, 4),
            Self::RightSize => (5, 6),
            Self::Spot => (7, 8),
            Self::Commit => (9, 13),
        }
    }
}

/// The bill of a period, as it was or as it would have been.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bill {
    /// Money of hours that no change touches, in the basis metric. Exact.
    pub exact: Money,
    /// Money of touched hours. Estimated.
    pub modelled: Estimate,
    /// Of `modelled`: hours that were freed but stay paid, because a commitment covered them.
    pub freed: Estimate,
    /// Named differences to BilledCost.
    pub reconciliation: Vec<LedgerLine>,
    /// What no name explains. With no change, `exact` + reconciliation + `unexplained` = the loaded BilledCost.
    pub unexplained: Money,
    /// What contracts' minimums take although no hour costs it: savings that are paid all the same.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub shortfall: Estimate,
    /// `exact` + `modelled` + `shortfall`: what is paid, in the basis metric.
    pub total: Estimate,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_nothing(amount: &Estimate) -> bool {
    *amount == Estimate::ZERO
}

/// A contract's minimum under the plan. The rest of the contract is taken to go on as the replayed period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MinimumOutcome {
    /// Cloud id.
    pub provider: String,
    /// When spend counts.
    pub period: Period,
    /// What was promised.
    pub amount: Money,
    /// What counted until the plan's instant.
    pub spent: Known<Money>,
    /// What will have counted at the end without the plan; none where `spent` is unknown.
    pub unchanged: Option<Estimate>,
    /// The same with the plan.
    pub planned: Option<Estimate>,
    /// What is missing from the minimum then: it has to be paid all the same.
    pub shortfall: Option<Estimate>,
    /// Cash that the steps save over the plan's period and that goes into the shortfall.
    pub taken: Range,
    /// `contract.toml:12`.
    pub source: String,
}

/// How much of a plan rests on published prices, that few pay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListShare {
    /// Compute cost in the period of machines that a step prices anew at list price.
    pub cost: Money,
    /// Of all machines that steps touch.
    pub of: Money,
    /// `cost` of `of`, 0 to 1.
    pub share: Estimate,
    /// What the policy takes without a word.
    pub limit: f64,
}

impl ListShare {
    /// Must a reader know before anything else?
    pub fn is_much(&self) -> bool {
        self.share.amount() > self.limit
    }
}

/// A saving over a period: cash, and commitment set free, which saves nothing until it ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saving {
    /// Not paid any more.
    pub cash: Range,
    /// Still paid, free for other use.
    pub freed: Range,
}

/// What a step or a refusal is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Target {
    /// A workload of workloads.toml.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadName>,
    /// Its resources.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub resources: BTreeSet<ResourceId>,
    /// A scope of SKUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
}

/// A scope of SKUs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scope {
    /// Cloud id.
    pub provider: String,
    /// Instance type.
    pub sku: Sku,
    /// Region.
    pub region: RegionId,
}

/// What a lever found, before it is ordered, replayed and priced.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// About what.
    pub target: Target,
    /// What to do.
    pub change: Change,
    /// What must be true before.
    pub needs: Vec<Condition>,
    /// Why: evidence with numbers.
    pub because: Vec<String>,
    /// What it takes.
    pub effort: Effort,
    /// Who says the price that it rests on; none = the bill alone, or a market.
    pub price: Option<PriceBasis>,
}

/// What a lever says of one target.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Do this.
    Found(Finding),
    /// Not this, and why.
    Declined(Declined),
}

/// A change that was looked at and not proposed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Declined {
    /// Which lever looked.
    pub lever: String,
    /// At what.
    pub target: Target,
    /// Why not, in words, with what would change the answer.
    pub why: String,
    /// The numbers behind it.
    pub numbers: BTreeMap<String, Estimate>,
    /// Where a declaration would answer it: the lines of workloads.toml that declare the target as what it looks like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declare: Option<String>,
}

impl Declined {
    /// Money a month that it is about: what would be saved or set free, else what its machines cost.
    pub fn at_stake(&self) -> f64 {
        let number = |name: &str| self.numbers.get(name).map_or(0.0, |n| n.amount());
        let saved = number("cash_per_month") + number("freed_per_month");
        if saved > 0.0 { saved } else { number("cost_per_month") }
    }
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Stable for the same change.
    pub id: StepId,
    /// Which lever found it.
    pub lever: String,
    /// One sentence that begins with a verb.
    pub title: String,
    /// About what.
    pub target: Target,
    /// When its turn is.
    pub phase: Phase,
    /// What to do.
    pub change: Change,
    /// Over the plan's period.
    pub saving: Saving,
    /// The same, scaled to a month of 730 hours.
    pub per_month: Saving,
    /// replay(steps before) - replay(steps before and this): shares sum to the total.
    pub share: Estimate,
    /// What the total would lose without it.
    pub without: Estimate,
    /// What can go wrong.
    pub risk: Risk,
    /// What it takes.
    pub effort: Effort,
    /// What must be true before.
    pub needs: Vec<Condition>,
    /// Why: evidence with numbers.
    pub because: Vec<String>,
    /// How today's state comes back.
    pub undo: String,
}

impl Step {
    /// Does a condition stand in its way?
    pub fn is_blocked(&self) -> bool {
        self.needs.iter().any(|n| !n.met)
    }
}

/// A plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Form of this file.
    pub version: u32,
    /// Hash of the rest.
    pub id: PlanId,
    /// The plan that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<PlanId>,
    /// What it was made from.
    pub facts: FactsId,
    /// Under which limits.
    pub policy: PolicyId,
    /// Sees nothing after this.
    pub as_of: Timestamp,
    /// The replayed hours.
    pub period: Period,
    /// Of all money.
    pub currency: Currency,
    /// The cost column it stands on.
    pub basis: Basis,
    /// Of the random parts.
    pub seed: u64,
    /// As it was.
    pub bill: Bill,
    /// As it would have been.
    pub planned: Bill,
    /// All steps together, over the period: one replay, less what contracts' minimums take of it.
    pub saving: Saving,
    /// The same, scaled to a month of 730 hours.
    pub per_month: Saving,
    /// Contracts' minimums with providers; empty where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub minimums: Vec<MinimumOutcome>,
    /// What of it rests on list prices; none where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_list_price: Option<ListShare>,
    /// In order.
    pub steps: Vec<Step>,
    /// What was not proposed, and why.
    pub declined: Vec<Declined>,
    /// The plan's order of its steps and others, with what each brings by when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Order>,
    /// What a reader must know of the facts.
    pub notes: Vec<String>,
    /// FOCUS ResourceName of the resources in here, where the bill has one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<ResourceId, String>,
}
