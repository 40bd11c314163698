//! Orders in which the steps of a plan may be carried out, and what each brings by when.

use serde::{Deserialize, Serialize};

use crate::change::Effort;
use crate::change::commit::Commit;
use crate::charge::focus_enum;
use crate::id::StepId;
use crate::money::Estimate;
use crate::policy::Settings;

/// Weeks for which cash is listed one by one: those of the phases of a plan.
pub const LISTED_WEEKS: u32 = 13;
/// Weeks of the year over which orders are compared.
pub const YEAR_WEEKS: f64 = 365.0 / 7.0;

focus_enum! {
    /// Which order.
    OrderName {
        /// That of the plan: by phases, inside a lever the largest saving first.
        Plan = "plan",
        /// The same phases; inside a phase the most cash for an hour of work first.
        CashPerEngineerWeek = "cash_per_engineer_week",
        /// Commitments on today's demand, then spot, then what is switched off: reserve the base, spot above it.
        CommitFirst = "commit_first",
        /// Spot, then what is switched off, then commitments: the largest discount first.
        SpotFirst = "spot_first",
    }
}

/// One order of the steps of a plan. Amounts are the middles of the ranges; conditions are taken to be met in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Which.
    pub name: OrderName,
    /// Every step of the plan, once.
    pub steps: Vec<StepId>,
    /// Commitments that this order buys in place of the plan's, because it buys them on other demand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bought: Vec<Commit>,
    /// Weeks until the last step is done, at the policy's hours of work a week.
    pub weeks: f64,
    /// Cash that is saved by the end of each of the first weeks.
    pub cash_by_week: Vec<Estimate>,
    /// Cash that is saved in the first year.
    pub cash_in_year: Estimate,
    /// How much less that is than in the best of the orders.
    pub forgone_in_year: Estimate,
    /// Cash a month once all is done.
    pub per_month: Estimate,
    /// Why it should not be followed, whatever it brings early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsafe_because: Option<String>,
}

/// Hours of work that a step takes, by the policy's section `plan`.
pub fn work_hours(plan: &Settings, effort: Effort) -> f64 {
    plan.float(match effort {
        Effort::Minutes => "work_hours_for_minutes",
        Effort::Hours => "work_hours_for_hours",
        Effort::Days => "work_hours_for_days",
    })
}
