//! What still runs on demand after the steps before.

use lowwater_model::charge::PricingCategory;
use lowwater_model::facts::{Facts, LineKind, Resource};
use lowwater_model::period::{HOUR_SECONDS, Period};

use crate::replay::Replay;

const WEEK_SECONDS: i64 = 7 * 24 * HOUR_SECONDS;

/// The last week of the replayed period.
pub(super) fn last_week(facts: &Facts) -> Period {
    let end = facts.period.end.as_second();
    Period::from_seconds((end - WEEK_SECONDS).max(facts.period.start.as_second()), end)
}

/// Does it run on demand at all in these hours?
pub(super) fn runs(replay: &Replay<'_>, resource: &Resource, within: Period) -> bool {
    replay
        .on_demand([&resource.id], within)
        .iter()
        .any(|hour| hour.units > 0.0)
}

/// Does it run on demand in these hours, or may it, for all that a bill without hours says?
pub(super) fn may_run(replay: &Replay<'_>, resource: &Resource, within: Period) -> bool {
    let hours = within.hour_range();
    let on_demand = resource
        .lines
        .iter()
        .filter(|line| line.kind == LineKind::Compute && line.pricing == PricingCategory::Standard);
    let mut runs_there = on_demand.flat_map(|line| &line.runs);
    let is_billed = runs_there.any(|run| run.start.0 < hours.end && run.end().0 > hours.start);
    runs(replay, resource, within) || (!resource.is_hourly() && is_billed)
}

/// Did a step before switch it off for good, or move it? What it ran until then is no reason to do more with it.
pub(super) fn is_taken(so_far: &Replay<'_>, resource: &Resource) -> bool {
    let week = last_week(so_far.facts());
    !runs(so_far, resource, week) && runs(&Replay::of(so_far.facts()), resource, week)
}

#[cfg(test)]
mod tests {
    use lowwater_model::change::Change;
    use lowwater_model::change::stop::Stop;

    use super::*;
    use crate::sample;

    #[test]
    fn a_machine_that_a_step_stopped_is_taken_and_one_that_ended_is_not() {
        let facts = sample::facts(
            "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 28\nreplay_days = 28\n[[resource]]\nid = \"ended\"\n\
             line = [{ rate = \"1\", to = \"2026-10-20T00:00:00Z\" }]\n[[resource]]\nid = \"on\"\nline = [{ rate = \"1\" }]",
        );
        let [ended, on] = &facts.resources[..] else {
            panic!("two machines")
        };
        let replay = Replay::of(&facts);
        let stop = |since: &str| {
            replay.with(&Change::Stop(Stop {
                resource: "on".into(),
                name: None,
                since: since.parse().unwrap(),
            }))
        };
        assert!(runs(&replay, ended, facts.period) && !runs(&replay, ended, last_week(&facts)));
        assert!(!is_taken(&replay, ended) && !is_taken(&replay, on));
        assert!(is_taken(&stop("2026-10-20T00:00:00Z"), on));
        assert!(
            !is_taken(&stop("2026-10-28T00:00:00Z"), on),
            "it ran for some of the week"
        );
    }

    #[test]
    fn a_bill_without_hours_does_not_say_when_a_machine_ran() {
        let facts = sample::facts(
            "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 28\nreplay_days = 28\n[[resource]]\nid = \"by-the-day\"\n\
             line = [{ rate = \"1\", spread = \"even\", to = \"2026-10-20T00:00:00Z\" }]\n\
             [[resource]]\nid = \"committed\"\nline = [{ rate = \"1\", spread = \"even\", pricing = \"Committed\" }]",
        );
        let replay = Replay::of(&facts);
        let [of_days, committed] = &facts.resources[..] else {
            panic!("two machines")
        };
        assert!(!runs(&replay, of_days, facts.period) && may_run(&replay, of_days, facts.period));
        assert!(!may_run(&replay, of_days, last_week(&facts)), "it was not billed then");
        assert!(!may_run(&replay, committed, facts.period), "it is not on demand");
    }
}
