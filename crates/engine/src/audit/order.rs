//! Rules on other orders of the steps: the same steps, cash counted again week by week, nothing unsafe without a word.

use std::collections::BTreeSet;

use lowwater_model::change::commit::Commit;
use lowwater_model::change::{Change, Effort};
use lowwater_model::id::{ResourceId, StepId};
use lowwater_model::order::{Order, OrderName};
use lowwater_model::plan::{Phase, Step};

use super::recount::Recount;
use super::{Case, MONTH_HOURS, Report, bill, commit};

const WEEK_HOURS: f64 = 168.0;
const LISTED: usize = 13;
const YEAR_WEEKS: f64 = 365.0 / 7.0;
/// Plans hold amounts to six digits; a year has many of them.
const TOLERANCE: f64 = 1e-4;

pub(super) fn check(case: Case<'_>, report: &mut Report) {
    let (steps, orders) = (&case.plan.steps, &case.plan.alternatives);
    let is_there = orders.first().is_some_and(|order| order.name == OrderName::Plan);
    report.demand(is_there != steps.is_empty(), "alternative", "plan", || {
        "the plan's own order comes first, and is there where there are steps".into()
    });
    let names: BTreeSet<OrderName> = orders.iter().map(|order| order.name).collect();
    report.demand(names.len() == orders.len(), "alternative", "plan", || {
        "an order stands twice".into()
    });
    let most = orders
        .iter()
        .map(|order| order.cash_in_year.amount())
        .fold(f64::NEG_INFINITY, f64::max);
    for order in orders {
        let look = Look { case, order };
        let Some(places) = look.places() else {
            look.demand(false, report, || "it does not hold every step once".into());
            continue;
        };
        look.phases(&places, report);
        look.bought(report);
        look.amounts(&places, report);
        let forgone = most - order.cash_in_year.amount();
        look.demand(is_close(order.forgone_in_year.amount(), forgone), report, || {
            format!("the best order saves {forgone} more in a year")
        });
    }
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE + b.abs() * 1e-9
}

/// Hours of work of an effort.
fn hours(case: Case<'_>, effort: Effort) -> f64 {
    let plan = case.policy.section("plan");
    match effort {
        Effort::Minutes => plan.float("work_hours_for_minutes"),
        Effort::Hours => plan.float("work_hours_for_hours"),
        Effort::Days => plan.float("work_hours_for_days"),
    }
}

struct Look<'a> {
    case: Case<'a>,
    order: &'a Order,
}

impl Look<'_> {
    fn demand(&self, holds: bool, report: &mut Report, what: impl FnOnce() -> String) {
        report.demand(holds, "alternative", &format!("order {}", self.order.name), what);
    }

    /// The steps by their places in the plan; none where one is missing, foreign or twice.
    fn places(&self) -> Option<Vec<usize>> {
        let steps = &self.case.plan.steps;
        let place = |id: &StepId| steps.iter().position(|step| step.id == *id);
        let places: Vec<usize> = self.order.steps.iter().map(place).collect::<Option<_>>()?;
        let once: BTreeSet<usize> = places.iter().copied().collect();
        (once.len() == places.len() && places.len() == steps.len()).then_some(places)
    }

    fn phases(&self, places: &[usize], report: &mut Report) {
        let steps = &self.case.plan.steps;
        let follows = |order: &[Phase]| {
            let rank = |place: &usize| order.iter().position(|phase| *phase == steps[*place].phase);
            places.iter().map(rank).is_sorted()
        };
        let (see, stop, size, spot, buy) = (
            Phase::SeeClearly,
            Phase::StopWaste,
            Phase::RightSize,
            Phase::Spot,
            Phase::Commit,
        );
        let is_right = match self.order.name {
            OrderName::Plan => places.is_sorted(),
            OrderName::CashPerEngineerWeek => follows(&[see, stop, size, spot, buy]),
            OrderName::CommitFirst => follows(&[see, buy, spot, stop, size]),
            OrderName::SpotFirst => follows(&[see, spot, stop, size, buy]),
        };
        self.demand(is_right, report, || {
            "its steps do not stand in the order of its name".into()
        });
    }

    /// What is bought on today's demand is worth it there, and is said where it is not what the plan buys.
    fn bought(&self, report: &mut Report) {
        let bought = &self.order.bought;
        let may_buy = self.order.name == OrderName::CommitFirst || bought.is_empty();
        self.demand(may_buy, report, || "it buys what the plan does not".into());
        self.demand(self.order.unsafe_because.is_some() != bought.is_empty(), report, || {
            "an order that buys on other demand says so, and no other".into()
        });
        let planned: Vec<&Commit> = self
            .case
            .plan
            .steps
            .iter()
            .filter_map(|step| lot(&step.change))
            .collect();
        let is_other = bought.len() != planned.len() || bought.iter().any(|lot| !planned.contains(&lot));
        self.demand(bought.is_empty() || is_other, report, || {
            "it buys what the plan buys".into()
        });
        let lots: Vec<Change> = bought.iter().cloned().map(Change::Commit).collect();
        let recount = Recount::new(self.case.facts, lots.iter());
        for lot in bought {
            let ids: Vec<&ResourceId> = lot.resources.iter().collect();
            let today = recount.demand(&ids, &[]);
            let (replaced, fee) = commit::last_unit(lot, &today);
            self.demand(lot.level > 0 && replaced > fee - TOLERANCE, report, || {
                format!("the last unit of {} replaces {replaced} and costs {fee}", lot.scope.sku)
            });
        }
    }

    /// Changes and their work in this order, with what is bought in place of the plan's commitments.
    fn work(&self, places: &[usize]) -> (Vec<Change>, Vec<f64>) {
        let steps = places.iter().map(|place| &self.case.plan.steps[*place]);
        let own = |step: &Step| (step.change.clone(), hours(self.case, step.effort));
        if self.order.bought.is_empty() {
            return steps.map(own).unzip();
        }
        let lots = self.order.bought.iter();
        let lots = lots.map(|lot| (Change::Commit(lot.clone()), hours(self.case, Effort::Hours)));
        let (seen, rest): (Vec<&Step>, Vec<&Step>) = steps
            .filter(|step| step.phase != Phase::Commit)
            .partition(|step| step.phase == Phase::SeeClearly);
        seen.into_iter()
            .map(own)
            .chain(lots)
            .chain(rest.into_iter().map(own))
            .unzip()
    }

    fn amounts(&self, places: &[usize], report: &mut Report) {
        let (changes, hours) = self.work(places);
        let pace = self.case.policy.section("plan").float("work_hours_per_week");
        let recount = Recount::new(self.case.facts, changes.iter());
        let weekly = |index: usize, cash: f64| cash * WEEK_HOURS / bill::acting_hours(self.case, &changes[index]);
        let (mut done, mut flows) = (0.0, Vec::new());
        for (index, spent) in hours.iter().enumerate() {
            done += spent;
            flows.push((done / pace, weekly(index, recount.share(index).cash)));
        }
        let until = |week: f64| -> f64 {
            let running = flows.iter().filter(|(start, _)| *start < week);
            running.map(|(start, cash)| (week - start) * cash).sum()
        };
        let listed: Vec<f64> = self.order.cash_by_week.iter().map(|cash| cash.amount()).collect();
        let is_counted = listed
            .iter()
            .zip(1_u32..)
            .all(|(cash, week)| is_close(*cash, until(f64::from(week))));
        self.demand(listed.len() == LISTED && is_counted, report, || {
            format!("its cash by week is not what counting gives: {}", until(LISTED as f64))
        });
        let all: f64 = flows.iter().map(|(_, cash)| cash).sum();
        let amounts = [
            ("cash in a year", self.order.cash_in_year.amount(), until(YEAR_WEEKS)),
            (
                "cash a month",
                self.order.per_month.amount(),
                all * MONTH_HOURS / WEEK_HOURS,
            ),
            ("weeks of work", self.order.weeks, done / pace),
        ];
        for (name, given, counted) in amounts {
            self.demand(is_close(given, counted), report, || {
                format!("{name}: {given}, counted {counted}")
            });
        }
        if self.order.name == OrderName::CashPerEngineerWeek {
            self.richest(places, &hours, &recount, report);
        }
    }

    /// No step brings less for an hour of work than the next one of its phase would in its place.
    fn richest(&self, places: &[usize], hours: &[f64], recount: &Recount<'_>, report: &mut Report) {
        let steps = &self.case.plan.steps;
        for next in 1..places.len() {
            let index = next - 1;
            if steps[places[index]].phase != steps[places[next]].phase {
                continue;
            }
            let before: Vec<usize> = (0..index).collect();
            let worth = |at: usize| {
                let change = &steps[places[at]].change;
                recount.beyond(at, &before).cash / bill::acting_hours(self.case, change) / hours[at]
            };
            self.demand(worth(index) >= worth(next) - TOLERANCE, report, || {
                format!(
                    "{} brings more for its work than {}",
                    steps[places[next]].id, steps[places[index]].id
                )
            });
        }
    }
}

fn lot(change: &Change) -> Option<&Commit> {
    match change {
        Change::Commit(commit) => Some(commit),
        _ => None,
    }
}
