//! A schedule as the owner's clock on the wall would see it, minute by minute.

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use lowwater_model::schedule::{Schedule, Window};

/// Minutes of an hour, one bit each.
pub(super) const MINUTES: u32 = 60;
/// All minutes of an hour.
pub(super) const WHOLE: u64 = (1 << MINUTES) - 1;
/// A window that is open at the start began at most two days before.
const RUN_UP_HOURS: i64 = 48;

/// For each hour the minutes in which the machine runs.
///
/// A window opens when the clock first shows its start or a later time, and closes when it first shows its end or a
/// later time. The clock may be set back: what counts is the latest time that it has shown.
pub(super) fn running(schedule: &Schedule, hours: Range<i64>) -> Vec<u64> {
    let Ok(zone) = TimeZone::get(&schedule.zone) else {
        return hours.map(|_| WHOLE).collect();
    };
    let step = step_minutes(schedule);
    let mut latest = DateTime::MIN;
    let mut masks = Vec::new();
    for hour in hours.start - RUN_UP_HOURS..hours.end {
        let mut mask = 0;
        for minute in (0..MINUTES).step_by(step as usize) {
            let second = hour * 3600 + i64::from(minute) * 60;
            let local = Timestamp::from_second(second).map_or(DateTime::MIN, |at| zone.to_datetime(at));
            latest = latest.max(local);
            if is_open(schedule, latest) {
                mask |= ((1 << step) - 1) << minute;
            }
        }
        if hour >= hours.start {
            masks.push(mask);
        }
    }
    masks
}

/// Clocks differ from UTC by quarters of an hour, so windows that begin and end at quarters need no finer look.
fn step_minutes(schedule: &Schedule) -> u32 {
    let times = schedule.windows.iter().flat_map(|w| [w.start, w.end]);
    if times.into_iter().all(|t| t.minute() % 15 == 0) {
        15
    } else {
        1
    }
}

/// Is any window open when the clock shows that?
pub(super) fn is_open(schedule: &Schedule, local: DateTime) -> bool {
    let (today, time) = (local.date(), local.time());
    let begins = |window: &Window, day: Date| {
        !schedule.holiday_dates.contains(&day) && window.days.iter().any(|word| word.weekday() == day.weekday())
    };
    schedule.windows.iter().any(|window| {
        let over_midnight = window.end <= window.start;
        let since_today = begins(window, today) && time >= window.start && (over_midnight || time < window.end);
        let since_yesterday =
            over_midnight && time < window.end && today.yesterday().is_ok_and(|day| begins(window, day));
        since_today || since_yesterday
    })
}

/// How often the machine starts.
pub(super) fn starts(masks: &[u64]) -> u32 {
    let mut was_on = false;
    let mut count = 0;
    for mask in masks {
        for minute in 0..MINUTES {
            let is_on = mask & (1 << minute) != 0;
            count += u32::from(is_on && !was_on);
            was_on = is_on;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::{Time, time};
    use lowwater_model::period::{HOUR_SECONDS, Period};
    use lowwater_model::schedule::DAYS;
    use proptest::prelude::*;

    const ZONES: &[&str] = &[
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Asia/Kathmandu",
    ];

    fn windows(quarters: bool) -> impl Strategy<Value = Vec<Window>> {
        let minute =
            move || (0..24_i8, 0..60_i8).prop_map(move |(h, m)| time(h, if quarters { m / 15 * 15 } else { m }, 0, 0));
        let one = (prop::collection::btree_set(0..7_usize, 1..7), minute(), minute()).prop_map(
            |(days, start, end): (_, Time, Time)| Window {
                days: days.into_iter().map(|day| DAYS[day].into()).collect(),
                start,
                end,
            },
        );
        prop::collection::vec(one, 0..3)
    }

    /// The clock on the wall and the schedule's own arithmetic agree, also where clocks change.
    fn agree(zone: &str, windows: Vec<Window>, first: i64) -> Result<(), TestCaseError> {
        let holiday = TimeZone::get(zone)
            .unwrap()
            .to_datetime(Timestamp::from_second(first * HOUR_SECONDS + 200_000).unwrap())
            .date();
        let schedule = Schedule {
            zone: zone.into(),
            windows,
            holidays: None,
            holiday_dates: [holiday].into(),
        };
        let hours = first..first + 24 * 8;
        let spans = schedule.running(Period::from_seconds(
            hours.start * HOUR_SECONDS,
            hours.end * HOUR_SECONDS,
        ));
        let masks = running(&schedule, hours.clone());
        for (hour, mask) in hours.zip(&masks) {
            let start = hour * HOUR_SECONDS;
            prop_assert_eq!(
                i64::from(mask.count_ones()) * 60,
                spans.overlap(start, start + HOUR_SECONDS),
                "hour {}",
                hour
            );
        }
        prop_assert_eq!(starts(&masks) as usize, spans.iter().count());
        Ok(())
    }

    /// Hours in which clocks change: New York, Berlin and Lord Howe in 2026, and Samoa's lost day of 2011.
    const CHANGES: &[i64] = &[492_487, 492_985, 493_143, 497_511, 498_025, 498_198, 368_122];

    fn first_hour() -> impl Strategy<Value = i64> {
        (prop::sample::select(CHANGES), 2..190_i64).prop_map(|(change, before)| change - before)
    }

    proptest! {
        #[test]
        fn agrees_with_the_schedule_at_quarters(zone in prop::sample::select(ZONES), windows in windows(true), first in first_hour()) {
            agree(zone, windows, first)?;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn agrees_with_the_schedule_at_minutes(zone in prop::sample::select(ZONES), windows in windows(false), first in first_hour()) {
            agree(zone, windows, first)?;
        }
    }
}
