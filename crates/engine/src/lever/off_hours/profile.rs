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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use lowwater_model::facts::Facts;
    use proptest::prelude::*;

    use super::*;
    use crate::sample;

    /// Counts every minute by the clock on the wall.
    fn by_minutes(facts: &Facts, zone: &TimeZone, holidays: &BTreeSet<Date>) -> BTreeMap<(usize, usize), (u32, u32)> {
        let mut week = BTreeMap::new();
        for hour in facts.history.hour_range() {
            let minutes = (0..60).map(|minute| jiff::Timestamp::from_second(hour * 3600 + minute * 60).unwrap());
            let locals = minutes
                .map(|at| zone.to_datetime(at))
                .filter(|local| !holidays.contains(&local.date()));
            let cells: BTreeSet<_> = locals
                .map(|l| (l.weekday().to_monday_zero_offset() as usize, l.hour() as usize))
                .collect();
            for cell in cells {
                let count: &mut (u32, u32) = week.entry(cell).or_default();
                for seen in facts.resources.iter().filter_map(|r| r.usage.at(Hour(hour))) {
                    count.0 += u32::from(seen.idle || seen.activity_max_bin > 0);
                    count.1 += u32::from(seen.activity_max_bin > 0);
                }
            }
        }
        week
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn the_profile_is_what_the_clock_on_the_wall_says(
            facts in sample::random::facts(),
            zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu"]),
            share in 0.0..0.6_f64,
            margin in 0..3_usize,
        ) {
            let zone = TimeZone::get(zone).unwrap();
            let holidays: BTreeSet<Date> = ["2026-03-10".parse().unwrap(), "2026-03-15".parse().unwrap()].into();
            let members: Vec<&Resource> = facts.resources.iter().collect();
            let profile = Profile::of(&members, facts.history, &zone, &holidays);
            let week = by_minutes(&facts, &zone, &holidays);
            for day in 0..7 {
                for hour in 0..24 {
                    let cell = day * 24 + hour;
                    let counted = week.get(&(day, hour)).copied().unwrap_or_default();
                    prop_assert_eq!((profile.observed[cell], profile.active[cell]), counted, "day {} hour {}", day, hour);
                }
            }
            windows_are_tight(&profile, share, margin)?;
        }
    }

    /// Each day has at most one window: all needed hours in it, needed hours at its ends but for the margin.
    fn windows_are_tight(profile: &Profile, share: f64, margin: usize) -> Result<(), TestCaseError> {
        let windows = profile.windows(share, margin);
        for (day, weekday) in DAYS.into_iter().enumerate() {
            let mine: Vec<_> = windows.iter().filter(|w| w.days.contains(&weekday.into())).collect();
            let needed: Vec<usize> = (0..24)
                .filter(|hour| profile.is_needed(day * 24 + hour, share))
                .collect();
            prop_assert_eq!(mine.len(), usize::from(!needed.is_empty()));
            let (Some(window), Some(first), Some(last)) = (mine.first(), needed.first(), needed.last()) else {
                continue;
            };
            prop_assert_eq!(window.start.hour() as usize, first.saturating_sub(margin));
            let end = if window.end == Time::midnight() {
                24
            } else {
                window.end.hour() as usize
            };
            prop_assert_eq!(end, (last + 1 + margin).min(24));
        }
        Ok(())
    }

    /// A profile in which only these hours of the week are active.
    fn needing(cells: &[usize]) -> Profile {
        let mut profile = Profile {
            observed: [10; WEEK_HOURS],
            active: [0; WEEK_HOURS],
        };
        for cell in cells {
            profile.active[*cell] = 5;
        }
        profile
    }

    #[test]
    fn days_with_the_same_hours_share_a_window() {
        let nine_to_five: Vec<usize> = (0..4).flat_map(|day| [day * 24 + 9, day * 24 + 16]).collect();
        let friday = [4 * 24 + 9, 4 * 24 + 12];
        let windows = needing(&[nine_to_five.as_slice(), &friday].concat()).windows(0.1, 0);
        let words: Vec<String> = windows.iter().map(|w| serde_json::to_string(w).unwrap()).collect();
        assert_eq!(
            words,
            [
                r#"{"days":["mon","tue","wed","thu"],"start":"09:00","end":"17:00"}"#,
                r#"{"days":["fri"],"start":"09:00","end":"13:00"}"#
            ]
        );
    }

    #[test]
    fn the_share_is_a_limit_and_the_unknown_is_needed() {
        let mut profile = needing(&[12]);
        assert_eq!(profile.windows(0.5, 0), [], "half is not more than half");
        assert_eq!(profile.windows(0.49, 0).len(), 1);
        profile.observed[100] = 0;
        assert_eq!(
            profile.windows(0.5, 0).len(),
            1,
            "an hour of the week that nobody observed"
        );
    }

    #[test]
    fn the_clock_goes_round_only_if_every_day_is_whole() {
        let ends: Vec<usize> = (0..7).flat_map(|day| [day * 24, day * 24 + 23]).collect();
        assert!(is_round_the_clock(&needing(&ends).windows(0.1, 0)));
        let inner: Vec<usize> = (0..7).flat_map(|day| [day * 24 + 1, day * 24 + 22]).collect();
        assert!(
            is_round_the_clock(&needing(&inner).windows(0.1, 1)),
            "the margin reaches midnight"
        );
        assert!(!is_round_the_clock(&needing(&ends[1..]).windows(0.1, 0)));
        assert!(!is_round_the_clock(&needing(&ends[..12]).windows(0.1, 0)));
        assert!(!is_round_the_clock(&[]));
    }
}
