//! When in the week a fleet is needed: 168 hours of its owner's time.

use std::collections::BTreeSet;

use jiff::civil::{Date, Time, time};
use jiff::tz::TimeZone;
use lowwater_model::facts::Resource;
use lowwater_model::period::{HOUR_SECONDS, Hour, Period};
use lowwater_model::schedule::{DAYS, DayWord, Window};

const DAY_HOURS: usize = 24;
/// Hours of a week.
pub(super) const WEEK_HOURS: usize = 7 * DAY_HOURS;

/// Resource-hours by hour of the local week, Monday 00:00 first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Profile {
    observed: [u32; WEEK_HOURS],
    active: [u32; WEEK_HOURS],
}

/// The cell of an instant; none on a holiday, which says nothing about a working week.
fn cell(second: i64, zone: &TimeZone, holidays: &BTreeSet<Date>) -> Option<usize> {
    let local = zone.to_datetime(jiff::Timestamp::from_second(second).ok()?);
    let day = usize::from(local.date().weekday().to_monday_zero_offset().unsigned_abs());
    let hour = usize::from(local.hour().unsigned_abs());
    (!holidays.contains(&local.date())).then_some(day * DAY_HOURS + hour)
}

impl Profile {
    /// Of the observed hours of the history. Where an hour of the bill falls into two local hours (zones that are half
    /// an hour off) it counts in both.
    pub(super) fn of(members: &[&Resource], history: Period, zone: &TimeZone, holidays: &BTreeSet<Date>) -> Self {
        let mut profile = Self {
            observed: [0; WEEK_HOURS],
            active: [0; WEEK_HOURS],
        };
        for hour in history.hour_range() {
            let first = hour * HOUR_SECONDS;
            let cells: BTreeSet<usize> = [first, first + HOUR_SECONDS - 1]
                .into_iter()
                .filter_map(|second| cell(second, zone, holidays))
                .collect();
            for usage in members.iter().filter_map(|member| member.usage.at(Hour(hour))) {
                for cell in &cells {
                    profile.observed[*cell] += u32::from(usage.idle || usage.is_active());
                    profile.active[*cell] += u32::from(usage.is_active());
                }
            }
        }
        profile
    }

    /// Is more than that share of the observed hours active? An hour of the week that nobody observed is needed.
    fn is_needed(&self, cell: usize, share: f64) -> bool {
        let (active, observed) = (self.active[cell], self.observed[cell]);
        observed == 0 || f64::from(active) > share * f64::from(observed)
    }

    /// One window a day, from its first to its last needed hour and `margin` hours on both sides, inside the day.
    /// Days with the same hours share a window; days without need have none.
    pub(super) fn windows(&self, share: f64, margin: usize) -> Vec<Window> {
        let mut windows: Vec<((usize, usize), Window)> = Vec::new();
        for (day, weekday) in DAYS.into_iter().enumerate() {
            let needed = |hour: &usize| self.is_needed(day * DAY_HOURS + hour, share);
            let Some(first) = (0..DAY_HOURS).find(needed) else {
                continue;
            };
            let last = (0..DAY_HOURS).rev().find(needed).unwrap_or(first);
            let hours = (first.saturating_sub(margin), (last + 1 + margin).min(DAY_HOURS));
            match windows.iter_mut().find(|(known, _)| *known == hours) {
                Some((_, window)) => window.days.push(DayWord::from(weekday)),
                None => windows.push((hours, window(weekday.into(), hours))),
            }
        }
        windows.into_iter().map(|(_, window)| window).collect()
    }
}

fn window(day: DayWord, (first, end): (usize, usize)) -> Window {
    Window {
        days: vec![day],
        start: at(first),
        end: at(end),
    }
}

/// That full hour; 24 is the midnight after.
fn at(hour: usize) -> Time {
    time((hour % DAY_HOURS) as i8, 0, 0, 0)
}

/// Do the windows cover every hour of every day?
pub(super) fn is_round_the_clock(windows: &[Window]) -> bool {
    let whole = windows.iter().filter(|window| window.start == window.end);
    whole.map(|window| window.days.len()).sum::<usize>() == DAYS.len()
}
