//! What idles: by workload, when in the week, and by month; what is kept on purpose stands apart.

use std::collections::BTreeMap;

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use lowwater_model::facts::{Facts, Resource};
use lowwater_model::money::Money;
use lowwater_model::period::Period;
use lowwater_model::workload::{Class, Role};
use serde::Serialize;

use super::hours::{Hours, WeekHours};
use super::resource::name;
use super::workloads::grouped;
use crate::amount::{self, cents, quantity};
use crate::screen::{Figure, figure};

/// Idle hours over the history of the plan.
#[derive(Debug, Serialize)]
pub struct IdleView {
    /// The history.
    pub period: Period,
    /// Of all money.
    pub currency: String,
    /// Idle and held, all of it.
    pub all: Hours,
    /// By workload, the most idle money first.
    pub rows: Vec<IdleRow>,
    /// By calendar month of UTC; the first and the last may be in it in part.
    pub months: Vec<IdleMonth>,
}

/// What idles of a workload.
#[derive(Debug, Serialize)]
pub struct IdleRow {
    /// Workload; of a machine without one its own name.
    pub name: String,
    /// Of workloads.toml?
    pub declared: bool,
    /// Declared class.
    pub class: Class,
    /// Why it idles on purpose: standby, or kept with a reason; none = it does not.
    pub kept: Option<String>,
    /// Machines.
    pub machines: usize,
    /// What their GPUs did.
    pub hours: Hours,
    /// When in the week, in its owner's zone.
    pub week: WeekHours,
    /// Holidays of its owner inside the history.
    pub holidays: Vec<Date>,
}

/// A month.
#[derive(Debug, Serialize)]
pub struct IdleMonth {
    /// `2026-10`.
    pub month: String,
    /// GPU-hours that were idle or held.
    pub idle_gpu_hours: f64,
    /// What they cost.
    pub idle_cost: Money,
}

fn kept(facts: &Facts, resource: &Resource) -> Option<String> {
    if resource.owner.role == Role::Standby {
        return Some("standby".into());
    }
    let keep = resource.owner.keep.as_ref()?;
    let today = TimeZone::UTC.to_datetime(facts.as_of).date();
    let holds = keep.until.is_none_or(|until| until >= today);
    holds.then(|| format!("kept: {}", keep.reason))
}

impl IdleView {
    /// Of facts.
    pub fn new(facts: &Facts) -> Self {
        let period = facts.history;
        let row = |((declared, workload), members): ((bool, String), Vec<&Resource>)| {
            let hours: Hours = members.iter().map(|r| Hours::of(r, &period)).sum();
            let owner = &members[0].owner;
            let calendar = owner.holidays.as_ref().and_then(|name| facts.calendars.get(name));
            let inside = |day: &&Date| {
                let midnight = TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0));
                midnight.is_ok_and(|at| period.contains(at))
            };
            IdleRow {
                name: if declared { workload } else { name(members[0]) },
                declared,
                class: owner.class,
                kept: kept(facts, members[0]),
                machines: members.len(),
                hours: hours.rounded(),
                week: WeekHours::of(members.iter().copied(), &period, &owner.zone),
                holidays: calendar.into_iter().flatten().filter(inside).copied().collect(),
            }
        };
        let mut rows: Vec<IdleRow> = grouped(facts).into_iter().map(row).collect();
        let all: Hours = rows.iter().map(|row| row.hours).sum();
        rows.retain(|row| !row.hours.idle_cost.is_zero());
        rows.sort_by(|a, b| {
            b.hours
                .idle_cost
                .cmp(&a.hours.idle_cost)
                .then_with(|| a.name.cmp(&b.name))
        });
        Self {
            period,
            currency: facts.currency.to_string(),
            all: all.rounded(),
            rows,
            months: months(facts),
        }
    }

    /// The one sentence.
    pub fn headline(&self) -> String {
        if self.rows.is_empty() {
            return format!(
                "No GPU-hour that was seen was idle in {}.",
                amount::period(&self.period)
            );
        }
        format!(
            "{} idle GPU-hours cost {} {} from {}.",
            quantity(self.all.idle + self.all.held),
            cents(self.all.idle_cost),
            self.currency,
            amount::period(&self.period)
        )
    }

    /// What stands out.
    pub fn figures(&self) -> Vec<Figure> {
        let on_purpose: Money = self
            .rows
            .iter()
            .filter(|row| row.kept.is_some())
            .map(|row| row.hours.idle_cost)
            .sum();
        let money = |money: Money| format!("{} {}", cents(money), self.currency);
        let hours = |value: f64| format!("{} GPU-hours", quantity(value));
        vec![
            figure(
                "idle",
                money(self.all.idle_cost),
                "compute cost of the hours in which every GPU of a machine did nothing",
            ),
            figure(
                "of which on purpose",
                money(on_purpose),
                "standby, or kept with a reason",
            ),
            figure("empty", hours(self.all.idle), "little memory held, or none measured"),
            figure(
                "held",
                hours(self.all.held),
                "a model or a notebook waits in the memory",
            ),
            figure(
                "not seen",
                hours(self.all.unknown),
                "paid hours without metrics: unknown, not idle",
            ),
        ]
    }
}

/// Month by month.
fn months(facts: &Facts) -> Vec<IdleMonth> {
    let mut by_month: BTreeMap<String, IdleMonth> = BTreeMap::new();
    let mut begin = TimeZone::UTC.to_datetime(facts.history.start).date();
    let midnight = |day: Date| {
        TimeZone::UTC
            .to_timestamp(day.at(0, 0, 0, 0))
            .unwrap_or(facts.history.end)
    };
    while midnight(begin) < facts.history.end {
        let Ok(next) = begin.first_of_month().checked_add(1.month()) else {
            break;
        };
        let part = Period {
            start: midnight(begin),
            end: midnight(next).min(facts.history.end),
        };
        let hours: Hours = facts.resources.iter().map(|r| Hours::of(r, &part)).sum();
        let month = begin.strftime("%Y-%m").to_string();
        by_month.insert(
            month.clone(),
            IdleMonth {
                month,
                idle_gpu_hours: amount::six_digits(hours.idle + hours.held),
                idle_cost: hours.idle_cost,
            },
        );
        begin = next;
    }
    by_month.into_values().collect()
}
