//! Rules on evidence: what was not measured is never acted on, and a schedule covers what is needed.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use lowwater_model::change::Change;
use lowwater_model::change::set_schedule::SetSchedule;
use lowwater_model::change::stop::Stop;
use lowwater_model::facts::{LineKind, Resource};
use lowwater_model::period::Hour;
use lowwater_model::plan::Step;
use lowwater_model::policy::Settings;
use lowwater_model::schedule::Schedule;
use lowwater_model::sku::find_accelerator;
use lowwater_model::usage::HourUsage;

use super::{Case, Report, at, clock};

pub(super) fn check(case: Case<'_>, report: &mut Report) {
    for step in &case.plan.steps {
        match &step.change {
            Change::Stop(stop) => stopped(case, step, stop, report),
            Change::SetSchedule(set) => scheduled(case, step, set, report),
            Change::UseSpot(_) | Change::Commit(_) => {}
        }
    }
}

fn settings(case: Case<'_>, step: &Step, resource: &Resource) -> Settings {
    case.policy.lever(
        &step.lever,
        resource.owner.team.as_ref(),
        resource.owner.environment.as_deref(),
    )
}

/// The hours for which a compute line has seconds or a cost.
fn billed_hours(resource: &Resource) -> BTreeSet<i64> {
    let compute = resource.lines.iter().filter(|line| line.kind == LineKind::Compute);
    let runs = compute.flat_map(|line| &line.runs);
    runs.filter(|run| run.seconds > 0 || !run.cost.is_zero())
        .flat_map(|run| run.start.0..run.start.0 + i64::from(run.hours))
        .collect()
}

/// Nothing happened in that hour, and everything that could have shown it was measured.
fn is_quiet(resource: &Resource, seen: &HourUsage, settings: &Settings) -> bool {
    let tdp = resource
        .sku_fact()
        .and_then(|f| find_accelerator(f.accelerator.as_str()))
        .and_then(|a| a.tdp_w);
    let most_watts = tdp.map_or(settings.float("max_power_watts"), |tdp| {
        tdp * settings.float("max_power_share")
    });
    // The upper end of the highest bin must not lie above the limit; a thousandth for the sake of binary fractions.
    let most_memory = settings.float("max_memory_share") + 0.001;
    seen.idle
        && seen
            .memory_max_bin
            .is_some_and(|bin| f64::from(bin + 1) * 0.05 <= most_memory)
        && seen.power_max_w.is_some_and(|watts| f64::from(watts) <= most_watts)
}

/// Seen to be idle or seen to work; anything else was not seen well enough.
fn is_known(seen: &HourUsage) -> bool {
    seen.idle || seen.activity_max_bin > 0
}

fn stopped(case: Case<'_>, step: &Step, stop: &Stop, report: &mut Report) {
    let at = at(step);
    if let Some(share) = case.facts.quality.join_share() {
        let least = case.policy.section("usage").float("min_join_share");
        report.demand(share >= least, "measured", &at, || {
            format!("only {share:.3} of the GPU money is joined to metrics")
        });
    }
    let Some(resource) = case.facts.resources.iter().find(|r| r.id == stop.resource) else {
        return;
    };
    let settings = settings(case, step, resource);
    let hours = case.facts.history.hour_range();
    let first = stop.since.as_second().div_euclid(3600);
    report.demand(
        stop.since.as_second() % 3600 == 0 && first >= hours.start,
        "measured",
        &at,
        || format!("{} is not an hour of the history", stop.since),
    );
    let need = settings.int("window_days") * 24;
    report.demand(hours.end - first >= need, "measured", &at, || {
        format!("it was idle for {} hours, the policy wants {need}", hours.end - first)
    });
    missed(case, step, resource, (first, need), report);
    let billed = billed_hours(resource);
    let loud = (first.max(hours.start)..hours.end).find(|hour| {
        let seen = resource.usage.at(Hour(*hour));
        !billed.contains(hour) || !seen.is_some_and(|seen| is_quiet(resource, seen, &settings))
    });
    report.demand(loud.is_none(), "measured", &at, || {
        format!(
            "{} was not seen to be idle at {}",
            resource.id,
            Hour(loud.unwrap_or(0)).period().start
        )
    });
}

/// Would somebody have missed it: not while the company was shut, and not where it rested as long before and came back.
fn missed(case: Case<'_>, step: &Step, resource: &Resource, (first, need): (i64, i64), report: &mut Report) {
    let (at, settings) = (at(step), settings(case, step, resource));
    let hours = case.facts.history.hour_range();
    if let Some(calendar) = &resource.owner.holidays {
        let zone = TimeZone::get(&resource.owner.zone).unwrap_or(TimeZone::UTC);
        let days: BTreeSet<Date> = (hours.end - need..hours.end)
            .map(|hour| zone.to_datetime(Hour(hour).period().start).date())
            .collect();
        let shut = case.facts.calendars.get(calendar);
        let off = days
            .iter()
            .filter(|day| shut.is_some_and(|shut| shut.contains(day)))
            .count();
        report.demand(
            off as f64 <= settings.float("max_holiday_share") * days.len() as f64,
            "measured",
            &at,
            || {
                format!(
                    "{off} of the {} days on which it was idle are holidays of {calendar}",
                    days.len()
                )
            },
        );
    }
    let (mut rest, mut longest, mut worked) = (0_i64, 0_i64, false);
    for hour in hours.clone() {
        if resource
            .usage
            .at(Hour(hour))
            .is_some_and(|seen| seen.activity_max_bin > 0)
        {
            longest = longest.max(if worked { rest } else { 0 });
            (rest, worked) = (0, true);
        } else {
            rest += 1;
        }
    }
    report.demand(
        (hours.end - first) as f64 > settings.float("min_rest_ratio") * longest as f64,
        "measured",
        &at,
        || format!("{} rested for {longest} hours before and was used again", resource.id),
    );
}

fn scheduled(case: Case<'_>, step: &Step, set: &SetSchedule, report: &mut Report) {
    let at = at(step);
    let members: Vec<&Resource> = case
        .facts
        .resources
        .iter()
        .filter(|r| set.resources.contains(&r.id))
        .collect();
    for member in &members {
        calendar(case, &at, &set.schedule, member, report);
        watched(case, step, member, report);
    }
    let Some(first) = members.first() else { return };
    let settings = settings(case, step, first);
    let history = case.facts.history.hour_range();
    let known = members
        .iter()
        .filter_map(|m| first_seen(m, history.clone()))
        .min()
        .map_or(0, |h| history.end - h);
    let need = settings.int("min_history_days") * 24;
    report.demand(known >= need, "schedule", &at, || {
        format!("{known} hours of metrics, the policy wants {need}")
    });
    report.demand(!set.schedule.windows.is_empty(), "schedule", &at, || {
        "the machines would never run".into()
    });
    covered(case, step, set, &members, report);
    foretold(case, step, set, &members, report);
}

/// Did the windows hold most of the hours in which the machines were at work, all together and each?
fn foretold(case: Case<'_>, step: &Step, set: &SetSchedule, members: &[&Resource], report: &mut Report) {
    let history = case.facts.history.hour_range();
    // Minutes of each hour in which the schedule runs; an hour that is off in part counts as its beginning does.
    let minutes = clock::running(&set.schedule, history.clone());
    let (mut of_fleet, mut fleet_outside, mut least) = (0_u32, 0_u32, 0.0);
    let mut demand = |outside: u32, all: u32, least: f64, who: &str| {
        let inside = f64::from(all - outside);
        report.demand(
            inside >= least * f64::from(all) - 1e-9 * f64::from(all),
            "foretold",
            &at(step),
            || format!("{outside} of {all} hours of work of {who} were outside of its windows"),
        );
    };
    for member in members {
        let rules = settings(case, step, member);
        let at_work = |hour: i64| {
            member
                .usage
                .at(Hour(hour))
                .is_some_and(|seen| seen.activity_max_bin > 0)
        };
        let running: Vec<bool> = history
            .clone()
            .zip(&minutes)
            .filter(|(h, _)| at_work(*h))
            .map(|(_, m)| m & 1 == 1)
            .collect();
        let (all, outside) = (running.len() as u32, running.iter().filter(|on| !**on).count() as u32);
        demand(
            outside,
            all,
            rules.float("min_member_covered_share"),
            member.id.as_str(),
        );
        of_fleet += all;
        fleet_outside += outside;
        least = rules.float("min_covered_share");
    }
    demand(fleet_outside, of_fleet, least, "the fleet");
}

fn first_seen(resource: &Resource, mut hours: std::ops::Range<i64>) -> Option<i64> {
    hours.find(|hour| resource.usage.at(Hour(*hour)).is_some_and(is_known))
}

fn calendar(case: Case<'_>, at: &str, schedule: &Schedule, member: &Resource, report: &mut Report) {
    let owner = &member.owner;
    report.demand(schedule.zone == owner.zone, "schedule", at, || {
        format!("{} is in the zone {}", member.id, owner.zone)
    });
    let zone = TimeZone::get(&schedule.zone);
    report.demand(zone.is_ok(), "schedule", at, || {
        format!("`{}` is no zone", schedule.zone)
    });
    let Ok(zone) = zone else { return };
    let days = owner.holidays.as_ref().and_then(|name| case.facts.calendars.get(name));
    let name = days.and(owner.holidays.clone());
    report.demand(schedule.holidays == name, "schedule", at, || {
        format!("{} has another calendar", member.id)
    });
    let from = zone.to_datetime(case.facts.history.start).date();
    let free = days.into_iter().flatten().copied().filter(|day| *day >= from).collect();
    report.demand(schedule.holiday_dates == free, "schedule", at, || {
        "its holidays are not those of the calendar".into()
    });
}

/// Enough of a machine's billed hours since its first metrics must have been seen.
fn watched(case: Case<'_>, step: &Step, member: &Resource, report: &mut Report) {
    let history = case.facts.history.hour_range();
    let first = first_seen(member, history.clone());
    report.demand(first.is_some(), "measured", &at(step), || {
        format!("{} was never observed", member.id)
    });
    let Some(first) = first else { return };
    let billed: Vec<i64> = billed_hours(member).range(first..history.end).copied().collect();
    let seen = billed
        .iter()
        .filter(|hour| member.usage.at(Hour(**hour)).is_some_and(is_known))
        .count() as f64;
    let least = settings(case, step, member).float("min_observed_share");
    report.demand(seen >= least * billed.len() as f64, "measured", &at(step), || {
        format!("{} was observed in {seen} of {} hours", member.id, billed.len())
    });
}

/// Every hour of the week in which more than the policy's share of resource-hours is active lies inside a window.
fn covered(case: Case<'_>, step: &Step, set: &SetSchedule, members: &[&Resource], report: &mut Report) {
    let Ok(zone) = TimeZone::get(&set.schedule.zone) else {
        return;
    };
    let mut week: BTreeMap<(i8, i8), (f64, f64)> = BTreeMap::new();
    for hour in case.facts.history.hour_range() {
        let mut locals: Vec<DateTime> = [0, 3599]
            .into_iter()
            .filter_map(|second| Timestamp::from_second(hour * 3600 + second).ok())
            .map(|instant| zone.to_datetime(instant))
            .filter(|local| !set.schedule.holiday_dates.contains(&local.date()))
            .collect();
        locals.dedup_by_key(|local| (local.date(), local.hour()));
        for local in locals {
            let cell = week
                .entry((local.weekday().to_monday_zero_offset(), local.hour()))
                .or_default();
            for seen in members.iter().filter_map(|m| m.usage.at(Hour(hour))) {
                cell.0 += f64::from(u8::from(is_known(seen)));
                cell.1 += f64::from(u8::from(seen.activity_max_bin > 0));
            }
        }
    }
    let share = members
        .first()
        .map_or(1.0, |m| settings(case, step, m).float("needed_share"));
    for ((day, hour), (observed, active)) in week {
        let is_needed = active > share * observed || observed == 0.0;
        let is_off = !clock::is_open(&without_holidays(&set.schedule), a_week_day(day, hour));
        report.demand(!(is_needed && is_off), "schedule", &at(step), || {
            format!("{active} of {observed} resource-hours were active on day {day} of the week at {hour}:00, and it is stopped then")
        });
    }
}

fn without_holidays(schedule: &Schedule) -> Schedule {
    Schedule {
        holiday_dates: BTreeSet::new(),
        ..schedule.clone()
    }
}

/// Some day of that weekday (0 = Monday), at that hour.
fn a_week_day(day: i8, hour: i8) -> DateTime {
    let monday = jiff::civil::date(2024, 1, 1);
    debug_assert_eq!(monday.weekday(), Weekday::Monday);
    monday.at(hour, 0, 0, 0).saturating_add(i64::from(day).days())
}
