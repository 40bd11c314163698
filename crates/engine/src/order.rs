//! What other orders of the same steps would bring by when.
//!
//! People work on one step after another, as many hours a week as the policy gives them; a step saves from the end of its
//! work on. What it saves is replay(steps before) - replay(steps before and this), in this order. Every order starts at
//! once and has the same hours, so that only the order differs.

use std::collections::BTreeSet;

use lowwater_model::change::Change;
use lowwater_model::change::commit::Commit;
use lowwater_model::facts::Facts;
use lowwater_model::id::ResourceId;
use lowwater_model::money::Estimate;
use lowwater_model::order::{LISTED_WEEKS, Order, OrderName, YEAR_WEEKS, work_hours};
use lowwater_model::plan::{Finding, Phase, Step, Verdict};
use lowwater_model::policy::{Policy, Settings};

use crate::lever::{LEVERS, commit_baseline};
use crate::replay::{MONTH_HOURS, Replay};

#[cfg(test)]
mod tests;

const WEEK_HOURS: f64 = 168.0;

/// One piece of work: a change, and how long people are busy with it.
#[derive(Clone, Copy)]
struct Task<'a> {
    change: &'a Change,
    hours: f64,
}

/// When a step is done, and what it saves each week from then on.
#[derive(Clone, Copy, Debug)]
struct Flow {
    week: f64,
    cash_per_week: f64,
}

/// The orders of a plan's steps, its own first; none where there is nothing to do.
pub(crate) fn orders(facts: &Facts, policy: &Policy, steps: &[Step]) -> Vec<Order> {
    if steps.is_empty() {
        return Vec::new();
    }
    let settings = policy.section("plan");
    let desk = Desk {
        facts,
        settings: &settings,
        steps,
    };
    let own: Vec<usize> = (0..steps.len()).collect();
    let mut orders = vec![
        desk.order(OrderName::Plan, &own),
        desk.order(OrderName::CashPerEngineerWeek, &desk.richest_first()),
    ];
    orders.extend(desk.commit_first(policy));
    if steps.iter().any(|step| step.phase == Phase::Spot) {
        orders.push(desk.order(OrderName::SpotFirst, &by_rank(steps, spot_first)));
    }
    let in_year = |order: &Order| order.cash_in_year.amount();
    let best = orders.iter().map(in_year).fold(f64::NEG_INFINITY, f64::max);
    for order in &mut orders {
        order.forgone_in_year = (Estimate::new(best) - order.cash_in_year).rounded();
    }
    orders
}

/// Reserve the base, spot above it, then switch off.
const fn commit_first(phase: Phase) -> u8 {
    match phase {
        Phase::SeeClearly => 0,
        Phase::Commit => 1,
        Phase::Spot => 2,
        Phase::StopWaste => 3,
        Phase::RightSize => 4,
    }
}

/// The largest discount first.
const fn spot_first(phase: Phase) -> u8 {
    match phase {
        Phase::SeeClearly => 0,
        Phase::Spot => 1,
        Phase::StopWaste => 2,
        Phase::RightSize => 3,
        Phase::Commit => 4,
    }
}

/// The plan's order inside phases, the phases by rank.
fn by_rank(steps: &[Step], rank: fn(Phase) -> u8) -> Vec<usize> {
    let mut places: Vec<usize> = (0..steps.len()).collect();
    places.sort_by_key(|place| (rank(steps[*place].phase), *place));
    places
}

/// Where the work lies.
struct Desk<'a> {
    facts: &'a Facts,
    settings: &'a Settings,
    steps: &'a [Step],
}

impl<'a> Desk<'a> {
    fn task(&self, place: usize) -> Task<'a> {
        let step = &self.steps[place];
        Task {
            change: &step.change,
            hours: work_hours(self.settings, step.effort),
        }
    }

    /// The steps as they are, in this order.
    fn order(&self, name: OrderName, places: &[usize]) -> Order {
        let tasks: Vec<Task<'_>> = places.iter().map(|place| self.task(*place)).collect();
        let flows = self.flows(&tasks);
        self.summed(name, places, &flows)
    }

    fn flows(&self, tasks: &[Task<'_>]) -> Vec<Flow> {
        let pace = self.settings.float("work_hours_per_week");
        let (mut replay, mut worked) = (Replay::of(self.facts), 0.0);
        let mut flows = Vec::new();
        for task in tasks {
            worked += task.hours;
            flows.push(Flow {
                week: worked / pace,
                cash_per_week: self.cash_per_week(&replay, task.change),
            });
            replay = replay.with(task.change);
        }
        flows
    }

    /// What a week saves in which the change acts throughout, after those before.
    fn cash_per_week(&self, before: &Replay<'_>, change: &Change) -> f64 {
        let hours = change.acting_hours(self.facts.period);
        if hours > 0.0 {
            before.gain(change).cash.amount() * WEEK_HOURS / hours
        } else {
            0.0
        }
    }

    fn summed(&self, name: OrderName, places: &[usize], flows: &[Flow]) -> Order {
        let until = |week: f64| -> Estimate {
            let saved = |flow: &Flow| flow.cash_per_week * (week - flow.week).max(0.0);
            Estimate::new(flows.iter().map(saved).sum()).rounded()
        };
        let per_week: f64 = flows.iter().map(|flow| flow.cash_per_week).sum();
        Order {
            name,
            steps: places.iter().map(|place| self.steps[*place].id.clone()).collect(),
            bought: Vec::new(),
            weeks: Estimate::new(flows.last().map_or(0.0, |flow| flow.week))
                .rounded()
                .amount(),
            cash_by_week: (1..=LISTED_WEEKS).map(|week| until(f64::from(week))).collect(),
            cash_in_year: until(YEAR_WEEKS),
            forgone_in_year: Estimate::ZERO,
            per_month: Estimate::new(per_week * MONTH_HOURS / WEEK_HOURS).rounded(),
            unsafe_because: None,
        }
    }

    /// Phases in the plan's order; inside each always the step that brings most for an hour of work after those before.
    fn richest_first(&self) -> Vec<usize> {
        let (mut replay, mut places) = (Replay::of(self.facts), Vec::new());
        for phase in Phase::ALL {
            let mut left: Vec<Candidate> = (0..self.steps.len())
                .filter(|place| self.steps[*place].phase == *phase)
                .map(|place| self.candidate(&replay, place))
                .collect();
            while let Some(best) = richest(&left) {
                let chosen = left.remove(best);
                replay = replay.with(&self.steps[chosen.place].change);
                places.push(chosen.place);
                // Only steps on the same resources save another amount now.
                for other in left
                    .iter_mut()
                    .filter(|other| !other.resources.is_disjoint(&chosen.resources))
                {
                    *other = self.candidate(&replay, other.place);
                }
            }
        }
        places
    }

    fn candidate(&self, before: &Replay<'_>, place: usize) -> Candidate {
        let task = self.task(place);
        Candidate {
            place,
            cash_per_hour: self.cash_per_week(before, task.change) / task.hours,
            resources: task.change.kind().resources(),
        }
    }

    /// What today's demand would make somebody buy, then everything else. None where nothing would be bought.
    fn commit_first(&self, policy: &Policy) -> Option<Order> {
        let found = bought_today(self.facts, policy);
        if found.is_empty() {
            return None;
        }
        let places = by_rank(self.steps, commit_first);
        let own = |is_wanted: fn(Phase) -> bool| {
            let wanted = places.iter().filter(move |place| is_wanted(self.steps[**place].phase));
            wanted.map(|place| self.task(*place))
        };
        let bought = found.iter().map(|finding| Task {
            change: &finding.change,
            hours: work_hours(self.settings, finding.effort),
        });
        let rest = own(|phase| phase != Phase::SeeClearly && phase != Phase::Commit);
        let tasks: Vec<Task<'_>> = own(|phase| phase == Phase::SeeClearly)
            .chain(bought)
            .chain(rest)
            .collect();
        let mut order = self.summed(OrderName::CommitFirst, &places, &self.flows(&tasks));
        let today = commits(found.iter().map(|finding| &finding.change));
        let planned = commits(self.steps.iter().map(|step| &step.change));
        let is_as_planned = today.len() == planned.len() && today.iter().all(|commit| planned.contains(commit));
        if !is_as_planned {
            order.unsafe_because = Some(self.over_bought(&today, &planned));
            order.bought = today;
        }
        Some(order)
    }

    /// What is bought too much, scope by scope.
    fn over_bought(&self, today: &[Commit], planned: &[Commit]) -> String {
        let level = |commits: &[Commit], of: &Commit| -> u32 {
            let same = commits
                .iter()
                .filter(|commit| commit.scope == of.scope && commit.term == of.term);
            same.map(|commit| commit.level).sum()
        };
        let mut words = Vec::new();
        for commit in today {
            let later = level(planned, commit);
            if later < commit.level {
                words.push(format!(
                    "{} x {} in {}, of which the plan commits to {later}",
                    commit.level, commit.scope.sku, commit.scope.region
                ));
            }
        }
        if words.is_empty() {
            words.push("machines that later steps take away".into());
        }
        let promised = |commits: &[Commit]| -> f64 {
            let fees = commits
                .iter()
                .map(|commit| f64::from(commit.level) * commit.rate * MONTH_HOURS);
            fees.sum()
        };
        format!(
            "it commits on demand that later steps take away: {}; {} {} a month are promised in place of {}, used or not",
            words.join(", "),
            Estimate::new(promised(today)).grouped(2),
            self.facts.currency,
            Estimate::new(promised(planned)).grouped(2)
        )
    }
}

/// A step that may be next.
struct Candidate {
    place: usize,
    cash_per_hour: f64,
    resources: BTreeSet<ResourceId>,
}

/// The one that brings most for an hour of work; of equal ones the first.
fn richest(left: &[Candidate]) -> Option<usize> {
    let better = |best: usize, other: usize| {
        if left[other].cash_per_hour > left[best].cash_per_hour {
            other
        } else {
            best
        }
    };
    (0..left.len()).reduce(better)
}

/// What the levers of commitments find before anything else is done. Who commits first does not ask what idles.
fn bought_today(facts: &Facts, policy: &Policy) -> Vec<Finding> {
    let today = Replay::of(facts);
    let policy = &policy.with_lever(commit_baseline::META.name, "max_idle_share", 1.0);
    let committing = LEVERS.iter().filter(|lever| lever.meta().phase == Phase::Commit);
    let verdicts = committing.flat_map(|lever| lever.find(&today, policy));
    verdicts
        .filter_map(|verdict| match verdict {
            Verdict::Found(finding) => Some(finding),
            Verdict::Declined(_) => None,
        })
        .collect()
}

/// The commitments among changes, in their order.
fn commits<'c>(changes: impl Iterator<Item = &'c Change>) -> Vec<Commit> {
    let commit = |change: &Change| match change {
        Change::Commit(commit) => Some(commit.clone()),
        _ => None,
    };
    changes.filter_map(commit).collect()
}
