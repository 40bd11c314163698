//! A plan judged on what came after it: each step expected against would have been.
//!
//! The plan saw nothing after its date. The later facts hold the hours that followed; the same replay prices them as
//! they were and with the steps, in the plan's order. What a step was expected to save is scaled from the hours of the
//! plan's period in which it acts to the length of the later one: a machine that worked until the middle of the plan's
//! period is stopped in all of the later one. Spot capacity is paid at the price that was seen after the plan, where
//! one was.

use jiff::tz::TimeZone;
use lowwater_model::change::Change;
use lowwater_model::facts::Facts;
use lowwater_model::id::{PlanId, StepId};
use lowwater_model::money::{Estimate, Range};
use lowwater_model::period::{HOUR_SECONDS, Period};
use lowwater_model::plan::{Plan, Step};
use lowwater_model::spot::SpotMarket;
use serde::Serialize;

use crate::replay::Replay;

/// How a plan would have done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Backtest {
    /// The plan.
    pub plan: PlanId,
    /// The hours it is judged on.
    pub period: Period,
    /// In the plan's order.
    pub steps: Vec<Judged>,
    /// Cash that all steps together were expected to save.
    pub expected: Range,
    /// Cash that they would have saved.
    pub would_have_been: Estimate,
    /// Steps whose outcome lies inside their range, of all; none where there is no step.
    pub inside_share: Option<f64>,
    /// GPU-hours of all machines that are billed in the period.
    pub gpu_hours: f64,
    /// GPU-hours that steps would have taken from machines while those worked: false stops.
    pub active_gpu_hours_removed: f64,
}

/// How one step would have done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// Its id in the plan.
    pub id: StepId,
    /// What it does.
    pub title: String,
    /// Which lever found it.
    pub lever: String,
    /// Cash expected over the period.
    pub expected: Range,
    /// Cash that it would have saved after the steps before it.
    pub would_have_been: Estimate,
    /// Does the outcome lie between p10 and p90?
    pub inside: bool,
    /// GPU-hours in which it would have taken a machine that worked.
    pub active_gpu_hours_removed: f64,
}

/// Judges a plan on later facts. Steps on resources that are gone save nothing.
pub fn backtest(plan: &Plan, later: &Facts) -> Backtest {
    let mut replay = Replay::of(later);
    let mut steps = Vec::new();
    for step in &plan.steps {
        let next = replay.with(&as_priced_later(&step.change, plan, later));
        let saved = (next.saved().cash - replay.saved().cash).rounded();
        let hours = step.change.acting_hours(plan.period);
        let scale = if hours > 0.0 { later.period.hours() / hours } else { 0.0 };
        let expected = step.saving.cash.scaled(scale).rounded();
        steps.push(Judged {
            id: step.id.clone(),
            title: step.title.clone(),
            lever: step.lever.clone(),
            expected,
            would_have_been: saved,
            inside: contains(expected, saved),
            active_gpu_hours_removed: active_removed(&replay, &next, step, later),
        });
        replay = next;
    }
    let inside = steps.iter().filter(|step| step.inside).count();
    Backtest {
        plan: plan.id.clone(),
        period: later.period,
        expected: steps
            .iter()
            .fold(Range::default(), |sum, step| sum + step.expected)
            .rounded(),
        would_have_been: replay.saved().cash.rounded(),
        inside_share: (!steps.is_empty()).then(|| inside as f64 / steps.len() as f64),
        gpu_hours: billed_gpu_hours(later),
        active_gpu_hours_removed: steps.iter().map(|step| step.active_gpu_hours_removed).sum(),
        steps,
    }
}

/// The change at the spot price that the later facts know, if it is newer than the plan.
fn as_priced_later(change: &Change, plan: &Plan, later: &Facts) -> Change {
    let Change::UseSpot(spot) = change else {
        return change.clone();
    };
    let day = TimeZone::UTC.to_datetime(plan.as_of).date();
    let seen =
        |market: &&SpotMarket| market.place == *spot.place && market.as_of > day && market.currency == later.currency;
    match later.spot.iter().find(seen) {
        Some(market) => Change::UseSpot(spot.at_rate(market.rate.middle)),
        None => change.clone(),
    }
}

/// To a millionth: the ends were rounded as they entered the plan.
fn contains(range: Range, value: Estimate) -> bool {
    let (low, high) = (range.p10.amount() - 1e-6, range.p90.amount() + 1e-6);
    (low..=high).contains(&value.amount())
}

/// GPU-hours that the step takes from its machines in hours in which they were seen to work.
fn active_removed(before: &Replay<'_>, after: &Replay<'_>, step: &Step, facts: &Facts) -> f64 {
    let hours = facts.period.hour_range();
    let ids = step.change.kind().resources();
    let resources = ids.iter().filter_map(|id| facts.resource(id));
    let of = |resource: &lowwater_model::facts::Resource| -> f64 {
        let taken = before.remaining(&resource.id).minus(&after.remaining(&resource.id));
        let active = resource
            .usage
            .iter()
            .filter(|(hour, usage)| hours.contains(&hour.0) && usage.is_active());
        let seconds: i64 = active
            .map(|(hour, _)| taken.overlap(hour.start_second(), hour.start_second() + HOUR_SECONDS))
            .sum();
        resource.gpus * seconds as f64 / HOUR_SECONDS as f64
    };
    resources.map(of).sum()
}

fn billed_gpu_hours(facts: &Facts) -> f64 {
    let of = |resource: &lowwater_model::facts::Resource| {
        resource.gpus * crate::replay::billed(resource, facts.period).hours()
    };
    facts.resources.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use lowwater_model::policy::Policy;

    /// A machine that idles for four weeks, and what it does in the two after.
    fn facts(as_of: &str, history_days: i64, replay_days: i64, after: &str) -> Facts {
        sample::facts(&format!(
            "as_of = \"{as_of}\"\nhistory_days = {history_days}\nreplay_days = {replay_days}\n\
             [[resource]]\nid = \"a\"\nworkload = \"tuning\"\nclass = \"experiment\"\nsku = \"g5.xlarge\"\n\
             line = [{{ rate = \"1\" }}]\nuse = [{{ idle = true, memory = 0, power = 28 }}{after}]\n"
        ))
    }

    fn plan() -> Plan {
        let facts = facts("2026-04-29T00:00:00Z", 28, 28, "");
        let policy = Policy::defaults(&crate::lever::sections());
        let plan = crate::plan(&facts, &policy, 1);
        assert!(!plan.steps.is_empty(), "{:?}", plan.declined);
        plan
    }

    #[test]
    fn a_machine_that_stays_idle_saves_what_was_expected() {
        let judged = backtest(&plan(), &facts("2026-05-13T00:00:00Z", 14, 14, ""));
        assert_eq!(judged.would_have_been.amount(), 336.0);
        assert_eq!(judged.expected.p50.amount(), 336.0);
        assert_eq!((judged.inside_share, judged.active_gpu_hours_removed), (Some(1.0), 0.0));
        assert_eq!(judged.gpu_hours, 336.0);
    }

    /// It worked in the first ten days of the four weeks: replay saves eighteen days of it, the next fourteen all.
    #[test]
    fn a_stop_that_begins_inside_the_period_expects_all_of_the_later_hours() {
        let worked = ", { to = \"2026-04-11T00:00:00Z\", memory = 15, power = 240 }";
        let early = facts("2026-04-29T00:00:00Z", 28, 28, worked);
        let plan = crate::plan(&early, &Policy::defaults(&crate::lever::sections()), 1);
        let step = &plan.steps[0];
        assert_eq!(step.saving.cash.p50.amount(), 432.0, "18 days of 24 hours");
        assert!(
            step.because.iter().any(
                |line| line.contains("the last 432 of the 672 hours") && line.ends_with("saves 730.00 USD in cash")
            )
        );
        let judged = backtest(&plan, &facts("2026-05-13T00:00:00Z", 14, 14, ""));
        assert_eq!(
            (judged.expected.p50.amount(), judged.would_have_been.amount()),
            (336.0, 336.0)
        );
        assert_eq!(judged.inside_share, Some(1.0));
    }

    #[test]
    fn work_that_comes_back_is_a_false_stop() {
        let busy = ", { from = \"2026-05-12T00:00:00Z\", memory = 15, power = 240 }";
        let judged = backtest(&plan(), &facts("2026-05-13T00:00:00Z", 14, 14, busy));
        assert_eq!(judged.active_gpu_hours_removed, 24.0);
    }

    #[test]
    fn a_machine_that_is_gone_saves_nothing_and_falls_out_of_its_range() {
        let later = sample::facts("as_of = \"2026-05-13T00:00:00Z\"\nhistory_days = 14\nreplay_days = 14\n");
        let judged = backtest(&plan(), &later);
        assert_eq!((judged.would_have_been.amount(), judged.inside_share), (0.0, Some(0.0)));
        assert!(!judged.steps[0].inside);
    }

    fn training(as_of: &str, history_days: i64, replay_days: i64, rate: f64) -> Facts {
        let day = &as_of[..10];
        sample::facts(&format!(
            "as_of = \"{as_of}\"\nhistory_days = {history_days}\nreplay_days = {replay_days}\n\
             spot = [{{ sku = \"p4d.24xlarge\", rate = [6, {rate}, 12], interruptions = [0.005, 0.01, 0.02], as_of = \"{day}\" }}]\n\
             [[resource]]\nid = \"t\"\nsku = \"p4d.24xlarge\"\nline = [{{ rate = \"20\" }}]\nworkload = \"llm\"\n\
             class = \"training\"\ncheckpoint = {{ every = \"2h\", gb = 100, resumable = true }}"
        ))
    }

    #[test]
    fn spot_is_paid_at_the_price_that_came() {
        let facts = training("2026-11-02T00:00:00Z", 42, 28, 8.0);
        let plan = crate::plan(&facts, &Policy::defaults(&crate::lever::sections()), 1);
        assert_eq!(plan.steps.len(), 1, "{:?}", plan.declined);
        let at = |rate: f64| {
            backtest(&plan, &training("2026-11-16T00:00:00Z", 14, 14, rate))
                .would_have_been
                .amount()
        };
        let Change::UseSpot(spot) = &plan.steps[0].change else {
            panic!("{:?}", plan.steps)
        };
        let dearer = 336.0 * spot.expected.hours * 2.0;
        assert!((at(8.0) - at(10.0) - dearer).abs() < 1e-3, "{} {}", at(8.0), at(10.0));
    }
}
