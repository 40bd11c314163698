//! From a fleet to its schedule, or to the reason why it gets none.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use lowwater_model::change::set_schedule::{CapacityRisk, SetSchedule};
use lowwater_model::change::{Change, Effort};
use lowwater_model::facts::Resource;
use lowwater_model::id::WorkloadName;
use lowwater_model::money::Estimate;
use lowwater_model::period::{HOUR_SECONDS, Spans};
use lowwater_model::plan::{Declined, Finding, Target, Verdict};
use lowwater_model::policy::{Policy, Settings};
use lowwater_model::schedule::Schedule;
use lowwater_model::usage::HourUsage;

use super::profile::{self, Profile};
use super::{FleetKey, META, Member, Refused, evidence, first_observed, holidays};
use crate::replay::{Replay, Saved};

/// Machines of one fleet that may be scheduled.
pub(super) struct Fleet<'a> {
    so_far: &'a Replay<'a>,
    policy: &'a Policy,
    settings: Settings,
    name: WorkloadName,
    key: FleetKey,
    members: Vec<Member<'a>>,
}

/// The first bin above a tenth of the memory: less is a driver and an empty context.
const MEMORY_BIN: u8 = 2;

/// Resource-hours of the replayed period outside the windows.
#[derive(Debug, Default, PartialEq)]
struct Outside {
    billed: f64,
    idle: f64,
    active: f64,
}

/// Hours of the history in which machines were at work, and how many of them were outside the windows.
#[derive(Default)]
struct Work {
    active: u32,
    outside: u32,
}

impl Work {
    /// Share of the hours of work inside the windows; of none, all.
    fn covered(&self) -> f64 {
        1.0 - f64::from(self.outside) / f64::from(self.active.max(1))
    }
}

impl<'a> Fleet<'a> {
    pub(super) fn new(so_far: &'a Replay<'a>, policy: &'a Policy, name: WorkloadName, key: FleetKey, members: Vec<Member<'a>>) -> Self {
        let settings = policy.lever(META.name, key.team.as_ref(), key.environment.as_deref());
        Self {
            so_far,
            policy,
            settings,
            name,
            key,
            members,
        }
    }

    /// One verdict on the fleet, and a refusal of each machine that does not keep the fleet's hours.
    pub(super) fn verdicts(mut self) -> (Verdict, Vec<Refused>) {
        let mut apart = Vec::new();
        loop {
            let schedule = match self.schedule() {
                Ok(schedule) => schedule,
                Err(why) => return (Verdict::Declined(self.declined(why, BTreeMap::new())), apart),
            };
            let refused = self.leave_apart(&schedule);
            if refused.is_empty() {
                return (self.judge(schedule), apart);
            }
            // Their hours are in the windows too: without them the fleet may have other ones.
            apart.extend(refused);
        }
    }

    fn judge(&self, schedule: Schedule) -> Verdict {
        match self.check_covered(&schedule) {
            Err(why) => Verdict::Declined(self.declined(why, BTreeMap::new())),
            Ok(()) if self.key.scarce => self.scarce(schedule),
            Ok(()) => Verdict::Found(self.finding(schedule, None)),
        }
    }

    /// Takes out of the fleet the machines that work at other times than it does; never all of them.
    fn leave_apart(&mut self, schedule: &Schedule) -> Vec<Refused> {
        let least = self.settings.float("min_member_covered_share");
        let keeps = |member: &Member<'a>| self.work(&[member.resource], schedule).covered() >= least;
        let (kept, apart): (Vec<Member<'a>>, Vec<Member<'a>>) = self.members.iter().cloned().partition(keeps);
        if kept.is_empty() {
            return Vec::new();
        }
        self.members = kept;
        let why = format!(
            "does not keep the hours of the other machines of {}: under {:.0} % of its active hours were in {}; start it by hand \
             when needed",
            self.name,
            least * 100.0,
            schedule.describe()
        );
        apart.iter().map(|member| super::refused(member.resource, why.clone().into())).collect()
    }

    /// The hours in which these machines were at work.
    fn work(&self, machines: &[&Resource], schedule: &Schedule) -> Work {
        let history = self.so_far.facts().history;
        let stopped = schedule.stopped(history);
        let hours = machines.iter().flat_map(|machine| machine.usage.iter());
        let mut work = Work::default();
        for (hour, _) in hours.filter(|(hour, usage)| usage.is_active() && history.hour_range().contains(&hour.0)) {
            work.active += 1;
            work.outside += u32::from(stopped.contains(hour.start_second()));
        }
        work
    }

    fn resources(&self) -> Vec<&'a Resource> {
        self.members.iter().map(|member| member.resource).collect()
    }

    fn declined(&self, why: String, numbers: BTreeMap<String, Estimate>) -> Declined {
        Declined {
            lever: META.name.into(),
            target: self.target(),
            why,
            numbers, declare: None }
    }

    fn target(&self) -> Target {
        Target {
            workload: self.key.workload.clone(),
            resources: self.members.iter().map(|member| member.resource.id.clone()).collect(),
            scope: None,
        }
    }

    /// The schedule that its profile asks for, or why there is none.
    fn schedule(&self) -> Result<Schedule, String> {
        let facts = self.so_far.facts();
        let zone = TimeZone::get(&self.key.zone)
            .map_err(|_| format!("`{}` is not an IANA time zone: whose night is it?", self.key.zone))?;
        self.check_history()?;
        let dates = holidays(facts, self.key.holidays.as_ref(), &zone);
        let free = dates.clone().unwrap_or_default();
        let profile = Profile::of(&self.resources(), facts.history, &zone, &free);
        let margin = usize::try_from(self.settings.int("margin_hours")).unwrap_or(0);
        let windows = profile.windows(self.settings.float("needed_share"), margin);
        if windows.is_empty() {
            return Err(
                "no hour of the week is needed often enough for a schedule: start these by hand when needed".into(),
            );
        }
        if profile::is_round_the_clock(&windows) {
            return Err("used around the clock: no day of the week has an hour at its ends that nobody needs".into());
        }
        let holidays = dates.as_ref().and(self.key.holidays.clone());
        let schedule = Schedule {
            zone: self.key.zone.clone(),
            windows,
            holidays,
            holiday_dates: free,
        };
        Ok(schedule)
    }

    /// Were most of the hours in which somebody worked inside the windows?
    fn check_covered(&self, schedule: &Schedule) -> Result<(), String> {
        let work = self.work(&self.resources(), schedule);
        let least = self.settings.float("min_covered_share");
        if work.covered() >= least {
            return Ok(());
        }
        Err(format!(
            "used at times that no week foretells: {} of its {} active hours were outside {}, and the policy wants {:.0} % inside; \
             start these by hand when needed",
            work.outside,
            work.active,
            schedule.describe(),
            least * 100.0
        ))
    }

    fn check_history(&self) -> Result<(), String> {
        let history = self.so_far.facts().history;
        let first = self.resources().into_iter().filter_map(|r| first_observed(r, history)).min();
        let seconds = first.map_or(0, |hour| history.end.as_second() - hour.start_second());
        let (days, need) = (seconds / (24 * HOUR_SECONDS), self.settings.int("min_history_days"));
        if days < need {
            return Err(format!(
                "{days} days of metrics are too few for a weekly schedule, the policy wants {need}"
            ));
        }
        Ok(())
    }

    fn change(&self, schedule: Schedule, capacity_risk: Option<CapacityRisk>) -> Change {
        Change::SetSchedule(SetSchedule {
            workload: self.name.clone(),
            resources: self.members.iter().map(|member| member.resource.id.clone()).collect(),
            schedule,
            capacity_risk,
        })
    }

    fn risk(&self) -> CapacityRisk {
        CapacityRisk {
            failure: self.settings.float("start_failure_chance"),
            wait_hours: self.settings.float("start_wait_hours"),
            hour_cost: self.policy.section("plan").float("engineer_hour"),
        }
    }

    /// Hard to get back: refused, or priced where the owner accepts the risk.
    fn scarce(&self, schedule: Schedule) -> Verdict {
        let risk = self.risk();
        if self.settings.bool("allow_scarce") {
            return Verdict::Found(self.finding(schedule, Some(risk)));
        }
        let facts = self.so_far.facts();
        let before = self.so_far.part(&self.target().resources);
        let saved = |risk| before.with(&self.change(schedule.clone(), risk)).saved() - before.saved();
        let (plain, priced) = (saved(None), saved(Some(risk)));
        let month = plain.per_month(facts);
        let loss = month.cash - priced.per_month(facts).cash;
        let why = format!(
            "scarce GPUs may not come back: if {:.0} % of starts fail and cost {:.1} hours at {} {} each, waiting \
             costs {} {} a month and the schedule saves {} {} a month; reserve capacity and name it in \
             [lever.off_hours] reserved_capacity, or accept the risk with allow_scarce",
            risk.failure * 100.0,
            risk.wait_hours,
            Estimate::new(risk.hour_cost).grouped(0),
            facts.currency,
            loss.grouped(0),
            facts.currency,
            month.cash.grouped(0),
            facts.currency,
        );
        Verdict::Declined(self.declined(why, self.scarce_numbers(plain, loss, risk)))
    }

    fn scarce_numbers(&self, plain: Saved, loss: Estimate, risk: CapacityRisk) -> BTreeMap<String, Estimate> {
        let facts = self.so_far.facts();
        let mut numbers = evidence::stake_of(facts, plain);
        numbers.extend([
            ("start_failure_chance".to_owned(), Estimate::new(risk.failure)),
            ("start_wait_hours".to_owned(), Estimate::new(risk.wait_hours)),
            ("wait_hour_cost".to_owned(), Estimate::new(risk.hour_cost)),
            ("wait_cost_per_month".to_owned(), loss.rounded()),
        ]);
        numbers
    }

    fn finding(&self, schedule: Schedule, risk: Option<CapacityRisk>) -> Finding {
        Finding {
            target: self.target(),
            needs: evidence::store_condition(&self.resources(), self.policy)
                .into_iter()
                .collect(),
            because: self.because(&schedule, risk),
            change: self.change(schedule, risk),
            effort: Effort::Hours,
            price: None,
        }
    }

    fn because(&self, schedule: &Schedule, risk: Option<CapacityRisk>) -> Vec<String> {
        let facts = self.so_far.facts();
        let outside = self.outside(schedule);
        let mut because = vec![
            format!(
                "{} ran {:.1} hours outside {} from {} to {}",
                evidence::count(self.members.len(), "machine"),
                outside.billed,
                schedule.describe(),
                facts.period.start,
                facts.period.end
            ),
            format!(
                "{:.1} of these hours were idle and go; {:.1} were active and stay, {:.1} were not observed and stay",
                outside.idle,
                outside.active,
                outside.billed - outside.idle - outside.active
            ),
        ];
        let holding = self.holding_memory(schedule);
        if holding > 0 {
            because.push(format!(
                "{} held more than a tenth of a GPU's memory in hours that go: what is in it is lost at each stop, as with any \
                 shutdown",
                evidence::count(holding, "machine")
            ));
        }
        if let (Some(calendar), None) = (&self.key.holidays, &schedule.holidays) {
            because.push(format!(
                "calendar {calendar} is not known: its holidays count as working days"
            ));
        }
        if let Some(risk) = risk {
            because.push(format!(
                "scarce: the saving is net of starts that fail ({:.0} % of them, {:.1} hours each at {:.0} {})",
                risk.failure * 100.0,
                risk.wait_hours,
                risk.hour_cost,
                facts.currency
            ));
        }
        let mut prices: Vec<String> = self.resources().into_iter().map(|r| evidence::price(facts, r)).collect();
        prices.sort_unstable();
        prices.dedup();
        because.extend(prices);
        because.extend(self.members.iter().filter_map(|member| member.guessed.clone()));
        because
    }

    /// Machines that hold memory while idle outside the windows: a kernel or a model waits in it.
    fn holding_memory(&self, schedule: &Schedule) -> usize {
        let stopped = schedule.stopped(self.so_far.facts().period);
        let holds = |usage: &HourUsage| usage.idle && usage.memory_max_bin.is_some_and(|bin| bin >= MEMORY_BIN);
        let lost = |member: &&Resource| {
            let mut hours = member.usage.iter().filter(|(_, usage)| holds(usage));
            hours.any(|(hour, _)| stopped.contains(hour.start_second()))
        };
        self.resources().iter().filter(|member| lost(member)).count()
    }

    fn outside(&self, schedule: &Schedule) -> Outside {
        let stopped = schedule.stopped(self.so_far.facts().period);
        let mut outside = Outside::default();
        for member in self.resources() {
            let left = self.so_far.remaining(&member.id).intersect(&stopped);
            outside.billed += left.hours();
            let hours = |which: fn(&HourUsage) -> bool| {
                let observed = member.usage.iter().filter(|(_, usage)| which(usage));
                let spans = observed.map(|(hour, _)| (hour.start_second(), hour.start_second() + HOUR_SECONDS));
                Spans::new(spans.collect()).intersect(&left).hours()
            };
            outside.idle += hours(|usage| usage.idle);
            outside.active += hours(HourUsage::is_active);
        }
        outside
    }
}
