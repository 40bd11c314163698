//! Resources that are always on and never do anything.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use lowwater_model::change::stop::Stop;
use lowwater_model::change::{Change, Effort};
use lowwater_model::facts::{Facts, Resource};
use lowwater_model::money::Estimate;
use lowwater_model::period::{HOUR_SECONDS, Hour, Period, Spans};
use lowwater_model::plan::{Finding, Phase, Verdict};
use lowwater_model::policy::KeyDefault::{Float, Int, Text};
use lowwater_model::policy::{Policy, Section, Settings, key};
use lowwater_model::sku::find_accelerator;
use lowwater_model::usage::{BINS, HourUsage};

use super::{Lever, LeverMeta, Refusal, Refused, evidence, merged, owner, target_of};
use crate::replay::{Replay, billed};

/// See the module.
pub const META: LeverMeta = LeverMeta {
    name: "idle",
    title: "Stop what nobody uses",
    doc: "Looks at GPU resources that were billed in every hour of the window. One whose GPUs never left the lowest \
          twentieth of activity, held next to no memory and drew next to no power in all of these hours is stopped, \
          and replay has it stopped since its idle time began.\n\n\
          Idle but memory held is no finding: a model or a kernel may wait in that memory. An hour that nobody \
          measured, memory or power that nobody measured, is no evidence: the answer is `measure this first`, and so \
          it is where too little of the GPU money is joined to metrics at all, and where too much of the \
          window is holidays of the owner's calendar, or where it rested nearly as long before and was used again. `never`, `keep`, standby and \
          criticality are respected, and a class must be declared: whoever has not said what a resource is for can't \
          be told that it does nothing.\n\n\
          A stop keeps disks and empties instance stores; where the type has one, or that is not known, the step \
          waits until its owner has said that the data is safe.",
    phase: Phase::StopWaste,
    section: Section {
        name: "idle",
        keys: &[
            key(
                "window_days",
                Int(14),
                "Days without any activity after which a resource counts as idle. Two weeks: longer than a holiday of one person, a sprint or a wait for data.",
            ),
            key(
                "max_holiday_share",
                Float(0.3),
                "Share of the window's days that may be holidays of the owner's calendar. Three tenths: beyond, the company was shut, and nobody would have missed the machine.",
            ),
            key(
                "min_rest_ratio",
                Float(1.5),
                "So many times the longest rest after which it was used again must it have rested now. One and a half: people come back late, not twice as late.",
            ),
            key(
                "max_memory_share",
                Float(0.1),
                "Share of GPU memory below which it counts as free, in steps of 0.05. A driver and an empty context take up to a tenth of a small GPU.",
            ),
            key(
                "max_power_share",
                Float(0.3),
                "Share of the thermal design power below which a GPU counts as idle. Idle GPUs draw 10 to 25 % of it.",
            ),
            key(
                "max_power_watts",
                Float(60.0),
                "The same in watts, for GPUs whose design power is not known.",
            ),
            key(
                "max_criticality",
                Text("medium"),
                "Gravest criticality that may be stopped: `low`, `medium`, `high` or `critical`. Where customers would notice, a person decides.",
            ),
        ],
    },
    changes: &["stop"],
};

/// Words in `never` that forbid a step of this lever.
const FORBIDDING: &[&str] = &["stop"];

/// See [`META`].
#[derive(Debug)]
pub struct Idle;

impl Lever for Idle {
    fn meta(&self) -> &'static LeverMeta {
        &META
    }

    fn find(&self, so_far: &Replay<'_>, policy: &Policy) -> Vec<Verdict> {
        let (mut found, mut declined) = (Vec::new(), Vec::new());
        for resource in &so_far.facts().resources {
            if resource.gpus <= 0.0 {
                declined.extend(uncounted(so_far.facts(), resource));
                continue;
            }
            match Look::at(so_far, policy, resource).verdict() {
                Some(Ok(finding)) => found.push(Verdict::Found(finding)),
                Some(Err(refused)) => declined.push(refused),
                None => {}
            }
        }
        found.extend(merged(declined).into_iter().map(Verdict::Declined));
        found
    }
}

/// A machine with GPUs whose number nobody knows: no lever can judge it.
fn uncounted(facts: &Facts, resource: &Resource) -> Option<Refused> {
    let cost = evidence::compute_cost(resource, facts.period);
    let why = "how many GPUs it has is unknown, so no change is looked at: a row of its type in offers.csv with `accelerator` and \
               `count` says it";
    let refusal = Refusal::from(why.to_owned());
    (!cost.is_zero()).then(|| refusal.by(META.name, target_of(resource), BTreeMap::new()))
}

/// What the metrics say over the window.
#[derive(Debug, Default)]
struct Seen {
    hours: usize,
    observed: usize,
    active: usize,
    without_memory: usize,
    without_power: usize,
    memory_bin: u8,
    power_w: u16,
}

impl Seen {
    fn over(resource: &Resource, window: Period) -> Self {
        let mut seen = Self {
            hours: window.hour_range().count(),
            ..Self::default()
        };
        for usage in window.hour_range().filter_map(|hour| resource.usage.at(Hour(hour))) {
            seen.observed += usize::from(usage.idle || usage.is_active());
            seen.active += usize::from(usage.is_active());
            seen.without_memory += usize::from(usage.memory_max_bin.is_none());
            seen.without_power += usize::from(usage.power_max_w.is_none());
            seen.memory_bin = seen.memory_bin.max(usage.memory_max_bin.unwrap_or(0));
            seen.power_w = seen.power_w.max(usage.power_max_w.unwrap_or(0));
        }
        seen
    }
}

/// The most that an idle GPU may hold and draw.
#[derive(Debug)]
struct Limits {
    memory_bins: u8,
    power_w: f64,
    power_words: String,
}

impl Limits {
    fn of(resource: &Resource, settings: &Settings) -> Self {
        let share = settings.float("max_power_share");
        let tdp = resource
            .sku_fact()
            .and_then(|fact| find_accelerator(fact.accelerator.as_str()))
            .and_then(|fact| fact.tdp_w);
        let (power_w, power_words) = if let Some(tdp) = tdp {
            (
                share * tdp,
                format!("{:.0} W, {:.0} % of its design power", share * tdp, share * 100.0),
            )
        } else {
            let watts = settings.float("max_power_watts");
            (watts, format!("{watts:.0} W; its design power is not known"))
        };
        let memory_bins = (settings.float("max_memory_share") * BINS as f64).round() as u8;
        Self {
            memory_bins,
            power_w,
            power_words,
        }
    }

    fn allow_memory(&self, bin: u8) -> bool {
        bin < self.memory_bins
    }

    fn allow_power(&self, watts: u16) -> bool {
        f64::from(watts) <= self.power_w
    }

    /// Is the hour idle beyond doubt?
    fn is_quiet(&self, usage: &HourUsage) -> bool {
        usage.idle
            && usage.memory_max_bin.is_some_and(|bin| self.allow_memory(bin))
            && usage.power_max_w.is_some_and(|watts| self.allow_power(watts))
    }
}

/// A look at one resource.
struct Look<'a> {
    so_far: &'a Replay<'a>,
    policy: &'a Policy,
    resource: &'a Resource,
    settings: Settings,
    limits: Limits,
    window: Period,
    billed: Spans,
    seen: Seen,
}

/// The last days of the history.
fn window_of(facts: &Facts, days: i64) -> Period {
    let end = facts.history.end.as_second();
    let start = end - days * 24 * HOUR_SECONDS;
    Period::from_seconds(start.max(facts.history.start.as_second()), end)
}

/// Upper end of a bin in percent.
fn percent(bin: u8) -> usize {
    (usize::from(bin) + 1) * 100 / BINS
}

impl<'a> Look<'a> {
    fn at(so_far: &'a Replay<'a>, policy: &'a Policy, resource: &'a Resource) -> Self {
        let facts = so_far.facts();
        let owner = &resource.owner;
        let settings = policy.lever(META.name, owner.team.as_ref(), owner.environment.as_deref());
        let window = window_of(facts, settings.int("window_days"));
        Self {
            so_far,
            policy,
            resource,
            limits: Limits::of(resource, &settings),
            window,
            billed: billed(resource, facts.history),
            seen: Seen::over(resource, window),
            settings,
        }
    }

    fn is_always_on(&self) -> bool {
        let (start, end) = (self.window.start.as_second(), self.window.end.as_second());
        end > start && self.so_far.remaining(&self.resource.id).overlap(start, end) == end - start
    }

    /// None where there is nothing to say: not always on, or seen to work.
    fn verdict(&self) -> Option<Result<Finding, Refused>> {
        if !self.is_always_on() || self.seen.active > 0 {
            return None;
        }
        let allowed = self.wanted().and_then(|standing| {
            let doubt = self.unmeasured().or_else(|| self.not_quiet()).or_else(|| self.comes_back());
            doubt.map_or(Ok(standing), |why| Err(why.into()))
        });
        let verdict = allowed.map(|standing| self.finding(standing.guessed));
        Some(verdict.map_err(|refusal| self.refused(refusal)))
    }

    fn refused(&self, refusal: Refusal) -> Refused {
        let stop = Stop {
            resource: self.resource.id.clone(),
            name: self.resource.name.clone(),
            since: self.window.start,
        };
        refusal.by(META.name, target_of(self.resource), self.numbers(&Change::Stop(stop)))
    }

    fn numbers(&self, stop: &Change) -> BTreeMap<String, Estimate> {
        let mut numbers = evidence::at_stake(self.so_far, stop);
        // The change is looked at over the window only: a month is scaled from its hours, not from those of the period.
        let facts = self.so_far.facts();
        let seen = Spans::of(self.window).intersect(&Spans::of(facts.period)).hours();
        if seen > 0.0 {
            for amount in numbers.values_mut() {
                *amount = amount.scaled(facts.period.hours() / seen).rounded();
            }
        }
        numbers.insert("hours_observed".into(), Estimate::new(self.seen.observed as f64));
        numbers.insert("hours_in_window".into(), Estimate::new(self.seen.hours as f64));
        numbers
    }

    /// What its class rests on, where its owner does not mind.
    fn wanted(&self) -> Result<owner::Standing, Refusal> {
        let limit = self.settings.text("max_criticality");
        let facts = self.so_far.facts();
        if let Some(why) = owner::refusal(facts, self.policy, self.resource, FORBIDDING, limit) {
            return Err(why.into());
        }
        let standing = owner::standing(facts, self.policy, self.resource)?;
        if self.resource.is_hourly() {
            Ok(standing)
        } else {
            Err(evidence::NEEDS_HOURS.to_owned().into())
        }
    }

    fn unmeasured(&self) -> Option<String> {
        let seen = &self.seen;
        let days = self.settings.int("window_days");
        if self.window.seconds() < days * 24 * HOUR_SECONDS {
            return Some(format!(
                "measure this first: the history is shorter than the window of {days} days"
            ));
        }
        if seen.observed == 0 {
            return Some(format!("measure this first: no GPU metrics in the last {days} days"));
        }
        if seen.observed < seen.hours {
            return Some(format!(
                "measure this first: {} of {} hours were observed, all of them idle",
                seen.observed, seen.hours
            ));
        }
        if let Some(why) = self.badly_joined().or_else(|| self.on_holiday()) {
            return Some(why);
        }
        (seen.without_memory > 0).then(|| {
            format!(
                "measure this first: idle, but memory held is unknown in {} of {} hours",
                seen.without_memory, seen.hours
            )
        })
    }

    /// Nobody misses a machine while the company is shut: too few days of the window were none of the owner's holidays.
    fn on_holiday(&self) -> Option<String> {
        let owner = &self.resource.owner;
        let calendar = owner.holidays.as_ref()?;
        let holidays = self.so_far.facts().calendars.get(calendar)?;
        let zone = owner::zone(self.resource);
        let days: BTreeSet<Date> =
            self.window.hour_range().map(|hour| zone.to_datetime(Hour(hour).period().start).date()).collect();
        let off = days.intersection(holidays).count();
        (off as f64 > self.settings.float("max_holiday_share") * days.len() as f64).then(|| {
            format!(
                "measure this first: {off} of the {} days of the window are holidays of {calendar}, on which nobody would miss it",
                days.len()
            )
        })
    }

    fn badly_joined(&self) -> Option<String> {
        let share = self.so_far.facts().quality.join_share()?;
        let limit = self.policy.section("usage").float("min_join_share");
        (share < limit).then(|| {
            format!(
                "measure this first: {:.1} % of the GPU money is joined to metrics, the policy wants {:.0} %",
                share * 100.0,
                limit * 100.0
            )
        })
    }

    fn not_quiet(&self) -> Option<String> {
        let (seen, limits) = (&self.seen, &self.limits);
        if !limits.allow_memory(seen.memory_bin) {
            return Some(format!(
                "idle but memory held: no activity in {} hours, yet up to {} % of the memory of a GPU is held (limit {} %); \
                 ask what waits in it, save that, then stop",
                seen.hours,
                percent(seen.memory_bin),
                usize::from(limits.memory_bins) * 100 / BINS
            ));
        }
        if seen.without_power > 0 {
            return Some(format!(
                "measure this first: idle, but power is unknown in {} of {} hours",
                seen.without_power, seen.hours
            ));
        }
        (!limits.allow_power(seen.power_w)).then(|| {
            format!(
                "no activity in {} hours, yet a GPU drew {} W (limit {}): something runs that the activity metric does not see",
                seen.hours, seen.power_w, limits.power_words
            )
        })
    }

    /// The first hour of the idle time that reaches to the end of the history.
    fn idle_since(&self) -> Hour {
        let first = self.so_far.facts().history.hour_range().start;
        let quiet = |hour: &i64| {
            let start = hour * HOUR_SECONDS;
            self.billed.overlap(start, start + HOUR_SECONDS) > 0
                && self
                    .resource
                    .usage
                    .at(Hour(*hour))
                    .is_some_and(|usage| self.limits.is_quiet(usage))
        };
        let before = (first..self.window.hour_range().start).rev().take_while(quiet);
        Hour(before.last().unwrap_or(self.window.hour_range().start))
    }

    /// Who let it rest as long before, and used it again, will want it again.
    fn comes_back(&self) -> Option<String> {
        let history = self.so_far.facts().history.hour_range();
        let idle_hours = history.end - self.idle_since().0;
        let active: Vec<i64> = history
            .filter(|hour| self.resource.usage.at(Hour(*hour)).is_some_and(HourUsage::is_active))
            .collect();
        let rest = active.windows(2).map(|pair| pair[1] - pair[0] - 1).max()?;
        (idle_hours as f64 <= self.settings.float("min_rest_ratio") * rest as f64).then(|| {
            format!(
                "measure this first: it rested for {} days before and was used again; now it has rested for {}",
                rest / 24,
                idle_hours / 24
            )
        })
    }

    fn finding(&self, guessed: Option<String>) -> Finding {
        let since = self.idle_since().period().start;
        let idle_hours = (self.window.end.as_second() - since.as_second()) / HOUR_SECONDS;
        let facts = self.so_far.facts();
        Finding {
            target: target_of(self.resource),
            change: Change::Stop(Stop {
                resource: self.resource.id.clone(),
                name: self.resource.name.clone(),
                since,
            }),
            needs: evidence::store_condition(&[self.resource], self.policy)
                .into_iter()
                .collect(),
            because: vec![
                format!(
                    "billed and idle in each of {idle_hours} hours since {since}: no GPU left the lowest twentieth of activity"
                ),
                format!(
                    "in the last {} days at most {} % of the memory of a GPU was held (limit {} %) and at most {} W were drawn (limit {})",
                    self.settings.int("window_days"),
                    percent(self.seen.memory_bin),
                    usize::from(self.limits.memory_bins) * 100 / BINS,
                    self.seen.power_w,
                    self.limits.power_words
                ),
                evidence::price(facts, self.resource),
            ]
            .into_iter()
            .chain(guessed)
            .collect(),
            effort: Effort::Minutes,
            price: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// An A100 (design power 400 W) without instance store, with this use in its last 20 days.
    fn machine(uses: &str) -> Facts {
        sample::facts(&format!(
            "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 20\nreplay_days = 14\n[[resource]]\nid = \"a\"\n\
             sku = \"a2-highgpu-1g\"\nclass = \"training\"\nworkload = \"w\"\nline = [{{ rate = \"3.67\" }}]\nuse = [{uses}]"
        ))
    }

    fn verdicts(facts: &Facts, policy: &str) -> Vec<Verdict> {
        Idle.find(&Replay::of(facts), &sample::policy(policy))
    }

    /// The instant since which it is stopped, or why not.
    fn answer(facts: &Facts, policy: &str) -> Result<String, String> {
        match &verdicts(facts, policy)[..] {
            [] => Err("nothing to say".into()),
            [Verdict::Declined(declined)] => Err(declined.why.clone()),
            [
                Verdict::Found(Finding {
                    change: Change::Stop(stop),
                    ..
                }),
            ] => Ok(stop.since.to_string()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn limits_hold_up_to_the_last_bin_and_watt() {
        let of = |memory: u8, power: u16| {
            answer(
                &machine(&format!("{{ idle = true, memory = {memory}, power = {power} }}")),
                "",
            )
        };
        assert!(of(1, 120).is_ok(), "two bins of 5 % are 10 %, 120 W are 30 % of 400 W");
        assert!(of(2, 120).unwrap_err().starts_with("idle but memory held"));
        assert!(of(1, 121).unwrap_err().contains("drew 121 W (limit 120 W"));
        let strict = "[lever.idle]\nmax_memory_share = 0.05\nmax_power_share = 0.25";
        let facts = machine("{ idle = true, memory = 1, power = 100 }");
        assert!(answer(&facts, strict).unwrap_err().contains("limit 5 %"));
    }

    #[test]
    fn it_is_stopped_since_its_idle_time_began() {
        let since = |uses: &str| answer(&machine(uses), "").unwrap();
        let idle = "{ idle = true, memory = 0, power = 50 }";
        assert_eq!(since(idle), "2026-10-13T00:00:00Z", "the whole history");
        let worked = format!(
            "{idle}, {{ from = \"2026-10-15T10:00:00Z\", to = \"2026-10-15T12:00:00Z\", memory = 9, power = 300 }}"
        );
        assert_eq!(since(&worked), "2026-10-15T12:00:00Z");
        let gap = format!("{idle}, {{ from = \"2026-10-15T10:00:00Z\", to = \"2026-10-15T12:00:00Z\", gap = true }}");
        assert_eq!(
            since(&gap),
            "2026-10-15T12:00:00Z",
            "an hour that nobody measured is not idle"
        );
        let held = format!(
            "{idle}, {{ from = \"2026-10-15T10:00:00Z\", to = \"2026-10-15T12:00:00Z\", idle = true, memory = 9, power = 50 }}"
        );
        assert_eq!(since(&held), "2026-10-15T12:00:00Z", "nor one with memory held");
    }

    #[test]
    fn the_window_is_whole_and_its_hours_are_billed() {
        let idle = "{ idle = true, memory = 0, power = 50 }";
        let long = answer(&machine(idle), "[lever.idle]\nwindow_days = 21").unwrap_err();
        assert!(long.starts_with("measure this first: the history is shorter than the window of 21 days"));
        assert!(answer(&machine(idle), "[lever.idle]\nwindow_days = 20").is_ok());
        let mut facts = machine(idle);
        facts.resources[0].lines[0].runs[0].hours -= 1;
        assert_eq!(
            answer(&facts, "").unwrap_err(),
            "nothing to say",
            "it stopped by itself"
        );
        facts.resources[0].gpus = 0.0;
        assert!(answer(&facts, "").unwrap_err().starts_with("how many GPUs it has is unknown"));
        let worked = machine(&format!(
            "{idle}, {{ from = \"2026-11-01T23:00:00Z\", memory = 9, power = 300 }}"
        ));
        assert_eq!(answer(&worked, "").unwrap_err(), "nothing to say");
    }

    #[test]
    fn an_hour_that_was_seen_too_briefly_is_no_evidence() {
        let mut facts = machine("{ idle = true, memory = 0, power = 50 }");
        facts.resources[0].usage.hours[400].as_mut().unwrap().idle = false;
        assert_eq!(
            answer(&facts, "").unwrap_err(),
            "measure this first: 335 of 336 hours were observed, all of them idle"
        );
    }

    #[test]
    fn what_an_earlier_step_stopped_is_not_stopped_again() {
        let facts = machine("{ idle = true, memory = 0, power = 50 }");
        let stop = Change::Stop(Stop {
            name: None,
            resource: "a".into(),
            since: "2026-10-30T00:00:00Z".parse().unwrap(),
        });
        let stopped = Replay::of(&facts).with(&stop);
        assert!(Idle.find(&stopped, &sample::policy("")).is_empty());
    }

    #[test]
    fn refusals_for_the_same_reason_are_one() {
        let facts = sample::facts(
            "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 20\nreplay_days = 14\n[[resource]]\nid = \"m{}\"\ncount = 3\n\
             class = \"training\"\nworkload = \"w\"\nline = [{ rate = \"1\" }]\n[[resource]]\nid = \"z\"\nclass = \"training\"\n\
             workload = \"other\"\nline = [{ rate = \"1\" }]",
        );
        let all = verdicts(&facts, "");
        let [Verdict::Declined(other), Verdict::Declined(three)] = &all[..] else {
            panic!("{all:?}")
        };
        assert_eq!((three.target.resources.len(), other.target.resources.len()), (3, 1));
        assert_eq!(three.numbers["cash_per_month"].amount(), 3.0 * 730.0);
    }

    #[test]
    fn idle_while_the_company_is_shut_says_nothing() {
        let of = |days: std::ops::RangeInclusive<u8>, rules: &str| {
            let mut facts = machine("{ idle = true, memory = 0, power = 50 }");
            facts.resources[0].owner.holidays = Some("WORKS".into());
            let days = days.map(|day| format!("2026-10-{day:02}").parse().unwrap());
            facts.calendars.insert("WORKS".into(), days.collect());
            let policy = sample::policy(rules);
            let plan = crate::plan(&facts, &policy, 1);
            assert_eq!(crate::audit(&facts, &policy, &plan), []);
            answer(&facts, rules)
        };
        assert!(of(19..=22, "").is_ok(), "four of fourteen days");
        assert!(of(19..=23, "[lever.idle]\nmax_holiday_share = 0.4").is_ok());
        assert!(of(19..=23, "").unwrap_err().starts_with("measure this first: 5 of the 14 days of the window are holidays of WORKS"));
    }

    #[test]
    fn what_came_back_after_as_long_a_rest_is_not_stopped() {
        // Works in one hour of the first day, rests, works in one hour later, rests to the end: 14 days and more.
        let of = |days: i64, again: &str, rules: &str| {
            let work = |at: &str, to: &str| format!(", {{ from = \"{at}\", to = \"{to}\", memory = 9, power = 300 }}");
            let uses = format!(
                "{{ idle = true, memory = 0, power = 50 }}{}{}",
                work("2026-09-20T10:00:00Z", "2026-09-20T11:00:00Z"),
                work(again, &again.replace("T10", "T11")),
            );
            let facts = sample::facts(&format!(
                "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = {days}\nreplay_days = 14\n[[resource]]\nid = \"a\"\n\
                 sku = \"a2-highgpu-1g\"\nclass = \"training\"\nworkload = \"w\"\nline = [{{ rate = \"3.67\" }}]\nuse = [{uses}]"
            ));
            let policy = sample::policy(rules);
            assert_eq!(crate::audit(&facts, &policy, &crate::plan(&facts, &policy, 1)), []);
            answer(&facts, rules)
        };
        let back = of(60, "2026-10-10T10:00:00Z", "").unwrap_err();
        assert!(back.starts_with("measure this first: it rested for 19 days before and was used again; now it has rested for 22"), "{back}");
        assert!(of(60, "2026-09-25T10:00:00Z", "").is_ok(), "five days of rest, then 37");
        assert!(of(30, "2026-10-10T10:00:00Z", "").is_ok(), "what the history does not show nobody knows");
        assert!(of(60, "2026-10-10T10:00:00Z", "[lever.idle]\nmin_rest_ratio = 1.1").is_ok());
    }
}
