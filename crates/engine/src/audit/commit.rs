//! Rules on commitments: scope, price, history, trend, level, limits.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use lowwater_model::change::Change;
use lowwater_model::change::commit::Commit;
use lowwater_model::charge::Spread;
use lowwater_model::facts::{LineKind, Resource};
use lowwater_model::id::ResourceId;
use lowwater_model::offer::{Market, PriceKey};
use lowwater_model::period::Hour;
use lowwater_model::plan::Step;
use lowwater_model::policy::Settings;
use lowwater_model::sku::find_sku;
use lowwater_model::workload::Role;

use super::limits::is_kept;
use super::recount::Recount;
use super::{Case, Report, at};

/// Hours of a year's term.
const YEAR_HOURS: f64 = 8760.0;
const WEEK_HOURS: usize = 168;
const TOLERANCE: f64 = 1e-6;

pub(super) fn check(case: Case<'_>, report: &mut Report) {
    let steps = &case.plan.steps;
    if !steps.iter().any(|step| matches!(step.change, Change::Commit(_))) {
        return;
    }
    let recount = Recount::over(
        case.facts,
        case.facts.history.hour_range(),
        steps.iter().map(|step| &step.change),
    );
    let settings = case.policy.lever("commit_baseline", None, None);
    let mut seen: BTreeSet<&ResourceId> = BTreeSet::new();
    let mut exposure = promised(case);
    for (index, step) in steps.iter().enumerate() {
        let Change::Commit(commit) = &step.change else { continue };
        let is_first = commit.resources.iter().all(|id| seen.insert(id));
        report.demand(is_first, "commit", &at(step), || {
            "a machine stands in two commitments".into()
        });
        exposure += f64::from(commit.level) * commit.rate;
        let look = Look {
            case,
            step,
            commit,
            settings: &settings,
        };
        look.members(report);
        look.price(report);
        look.limits(exposure, report);
        let ids: Vec<&ResourceId> = commit.resources.iter().collect();
        let before: Vec<usize> = (0..index).collect();
        let demand = recount.demand(&ids, &before);
        let taken = ids.iter().find(|id| recount.is_taken(id, &before));
        look.demand(taken.is_none(), report, || {
            format!("{} is taken by an earlier step", taken.map_or("", |id| id.as_str()))
        });
        for resource in look.resources() {
            look.waste(resource, &recount.demand(&[&resource.id], &before), report);
        }
        look.trend(&demand, report);
        look.level(&demand, report);
        let as_billed = recount.demand(&ids, &[]);
        let is_changed = demand.iter().zip(&as_billed).any(|(left, billed)| left.0 != billed.0);
        look.condition(is_changed, report);
    }
}

/// What commitments on the bill cost an hour.
fn promised(case: Case<'_>) -> f64 {
    let commitments = &case.facts.commitments;
    let paid: f64 = commitments
        .iter()
        .map(|c| c.used.estimate().amount() + c.unused.estimate().amount())
        .sum();
    paid / case.facts.period.hours().max(1.0)
}

struct Look<'a> {
    case: Case<'a>,
    step: &'a Step,
    commit: &'a Commit,
    settings: &'a Settings,
}

impl Look<'_> {
    fn demand(&self, holds: bool, report: &mut Report, what: impl FnOnce() -> String) {
        report.demand(holds, "commit", &at(self.step), what);
    }

    fn resources(&self) -> impl Iterator<Item = &Resource> {
        let named = |r: &&Resource| self.commit.resources.contains(&r.id);
        self.case.facts.resources.iter().filter(named)
    }

    fn members(&self, report: &mut Report) {
        let scope = &self.commit.scope;
        for resource in self.resources() {
            let is_inside = resource.cloud == scope.provider
                && resource.region == scope.region
                && resource.sku.value() == Some(&scope.sku);
            self.demand(is_inside, report, || format!("{} is outside of the scope", resource.id));
            let is_spread = |kind, spread| kind == LineKind::Compute && spread == Spread::Even;
            let has_hours = !resource.lines.iter().any(|l| is_spread(l.kind, l.spread));
            report.demand(has_hours, "hours", &at(self.step), || {
                format!("the cost of {} is spread evenly", resource.id)
            });
        }
        let quality = &self.case.facts.quality;
        self.demand(quality.days_with_charges >= quality.days, report, || {
            "days without charges".into()
        });
    }

    /// What idles most of the time, and should not, is no demand.
    fn waste(&self, resource: &Resource, demand: &[(f64, f64)], report: &mut Report) {
        if resource.owner.role == Role::Standby || is_kept(self.case, resource) {
            return;
        }
        let facts = self.case.facts;
        let start = facts.history.hour_range().start;
        let idle: Vec<bool> = facts
            .period
            .hour_range()
            .zip(demand.iter().skip((facts.period.hour_range().start - start) as usize))
            .filter(|(_, (running, _))| *running > 0.0)
            .filter_map(|(hour, _)| resource.usage.at(Hour(hour)).map(|usage| usage.idle))
            .collect();
        let wasted = idle.iter().filter(|idle| **idle).count() as f64;
        let is_waste = idle.len() >= 24 && wasted > self.settings.float("max_idle_share") * idle.len() as f64;
        self.demand(!is_waste, report, || format!("{} idles most of the time", resource.id));
    }

    fn price(&self, report: &mut Report) {
        let (facts, commit) = (self.case.facts, self.commit);
        let today = TimeZone::UTC.to_datetime(facts.as_of).date();
        let key = PriceKey {
            cloud: &commit.scope.provider,
            region: commit.scope.region.as_str(),
            sku: commit.scope.sku.as_str(),
            market: commit.term,
        };
        let known = facts.prices.find(&key, today);
        let offer = known.value().filter(|offer| {
            let age = i64::from((today - offer.as_of).get_days());
            offer.currency == facts.currency && age <= self.settings.int("max_price_age_days")
        });
        let is_right = offer.is_some_and(|offer| (offer.rate.0 - commit.rate).abs() <= TOLERANCE);
        let fall = self.settings.float("max_fall_share");
        let is_whole = commit.demand == 1.0 && (commit.worst_demand - (1.0 - fall)).abs() <= TOLERANCE;
        self.demand(is_whole, report, || {
            format!("demand is whole, and at worst {} of it", 1.0 - fall)
        });
        self.demand(is_right, report, || {
            format!(
                "{} for {} is not known to cost {}",
                commit.scope.sku, commit.term, commit.rate
            )
        });
    }

    fn is_listed(&self, list: &str) -> bool {
        let (words, sku) = (self.settings.list(list), self.commit.scope.sku.as_str());
        let accelerator = find_sku(sku).map(|fact| fact.accelerator.as_str());
        words.iter().any(|word| *word == sku || Some(*word) == accelerator)
    }

    fn limits(&self, exposure: f64, report: &mut Report) {
        let years = match self.commit.term {
            Market::OneYear => 1.0,
            Market::ThreeYears => 3.0,
            _ => f64::NAN,
        };
        self.demand(
            years == 1.0 || (years == 3.0 && self.is_listed("three_years_for")),
            report,
            || format!("the policy allows no {}", self.commit.term),
        );
        self.demand(!self.is_listed("nothing_for"), report, || {
            "its generation is on its way out".into()
        });
        let most = self.settings.float("max_hourly_exposure");
        self.demand(exposure <= most + TOLERANCE, report, || {
            format!("{exposure} an hour would be promised, the policy allows {most}")
        });
        let (whole, most) = (
            f64::from(self.commit.level) * self.commit.rate * years * YEAR_HOURS,
            self.settings.float("max_purchase"),
        );
        self.demand(whole <= most + TOLERANCE * YEAR_HOURS, report, || {
            format!("it promises {whole}, the policy allows {most}")
        });
    }

    /// Where the replayed period begins among the hours of the history.
    fn period_start(&self) -> usize {
        let (history, period) = (
            self.case.facts.history.hour_range(),
            self.case.facts.period.hour_range(),
        );
        (period.start - history.start).max(0) as usize
    }

    fn trend(&self, demand: &[(f64, f64)], report: &mut Report) {
        let mean = |hours: &[(f64, f64)]| {
            let running: f64 = hours.iter().map(|(running, _)| running).sum();
            running / hours.len().max(1) as f64
        };
        let (before, period) = demand.split_at(self.period_start().min(demand.len()));
        let week = &period[period.len().saturating_sub(WEEK_HOURS)..];
        let least = 1.0 - self.settings.float("max_fall_share");
        let holds = |from: f64, to: f64| to >= least * from - TOLERANCE;
        let is_steady = (before.is_empty() || holds(mean(before), mean(period))) && holds(mean(period), mean(week));
        self.demand(is_steady, report, || {
            format!(
                "demand falls: {} before, {} in the period, {} in its last week",
                mean(before),
                mean(period),
                mean(week)
            )
        });
        let first = self.resources().filter_map(first_hour).min();
        let hours = self.case.facts.history.hour_range();
        let known = first.map_or(0, |first| hours.end - first.max(hours.start));
        self.demand(known >= self.settings.int("min_history_days") * 24, report, || {
            format!("its history has {known} hours")
        });
    }

    /// The last unit must replace more than it costs.
    fn level(&self, demand: &[(f64, f64)], report: &mut Report) {
        let period = &demand[self.period_start().min(demand.len())..];
        let (replaced, fee) = last_unit(self.commit, period);
        self.demand(self.commit.level > 0 && replaced > fee - TOLERANCE, report, || {
            format!("its last unit replaces {replaced} and costs {fee}")
        });
    }

    fn condition(&self, is_changed: bool, report: &mut Report) {
        let waits = self
            .step
            .needs
            .iter()
            .any(|need| need.id == "earlier_steps_done" && !need.met);
        report.demand(waits == is_changed, "condition", &at(self.step), || {
            format!("earlier steps change its machines: {is_changed}, it waits for them: {waits}")
        });
    }
}

/// What the last unit of a commitment replaces in these hours, and what it costs.
pub(super) fn last_unit(commit: &Commit, period: &[(f64, f64)]) -> (f64, f64) {
    let below = f64::from(commit.level) - 1.0;
    let replaced = period
        .iter()
        .filter(|(running, _)| *running > 0.0)
        .map(|(running, cost)| (running - below).clamp(0.0, 1.0) * cost / running)
        .sum();
    (replaced, commit.rate * period.len() as f64)
}

/// The first hour with a compute charge.
fn first_hour(resource: &Resource) -> Option<i64> {
    let compute = resource.lines.iter().filter(|line| line.kind == LineKind::Compute);
    let runs = compute.flat_map(|line| &line.runs);
    runs.filter(|run| run.hours > 0 && (run.seconds > 0 || !run.cost.is_zero()))
        .map(|run| run.start.0)
        .min()
}
