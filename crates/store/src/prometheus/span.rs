//! Stretches of time as a server is asked for them: instants on a grid, day by day.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lowwater_model::period::HOUR_SECONDS;

use crate::error::{InputError, StoreError};

const DAY_SECONDS: i64 = 24 * HOUR_SECONDS;

/// From an instant to before another, with a point at every multiple of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub start: Timestamp,
    pub end: Timestamp,
    pub step: i64,
}

/// One day of a span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Day {
    pub span: Span,
    /// Its number of so many, for progress.
    pub number: u64,
    pub count: u64,
}

impl Span {
    /// Between epoch seconds.
    pub(super) fn new(start: i64, end: i64, step: i64) -> Result<Self, StoreError> {
        let far =
            || InputError::new("--start and --end", "is too far from now").hint("name a time within these decades");
        let at = |second: i64| Timestamp::from_second(second).map_err(|_| StoreError::from(far()));
        Ok(Self {
            start: at(start)?,
            end: at(end)?,
            step,
        })
    }

    /// The first and the last point, epoch seconds; none where there is none.
    pub(super) fn points(&self) -> Option<(i64, i64)> {
        let up = |second: i64| -(-second).div_euclid(self.step) * self.step;
        let (first, last) = (up(self.start.as_second()), up(self.end.as_second()) - self.step);
        (first <= last).then_some((first, last))
    }

    /// Its days, UTC; the first and the last may be parts.
    pub(super) fn days(self) -> impl Iterator<Item = Day> {
        let (start, end) = (self.start.as_second(), self.end.as_second());
        let first = start.div_euclid(DAY_SECONDS);
        let count = ((end - 1).div_euclid(DAY_SECONDS) - first + 1).max(0);
        (0..count).filter_map(move |number| {
            let day = (first + number) * DAY_SECONDS;
            let span = Self::new(day.max(start), (day + DAY_SECONDS).min(end), self.step).ok()?;
            Some(Day {
                span,
                number: number as u64,
                count: count as u64,
            })
        })
    }
}

impl Day {
    /// `2026-10-01`.
    pub(super) fn name(&self) -> String {
        TimeZone::UTC.to_datetime(self.span.start).date().to_string()
    }
}

/// The beginning of the hour.
pub(super) fn hour(second: i64) -> i64 {
    second.div_euclid(HOUR_SECONDS) * HOUR_SECONDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The points of the days are the points of the span, each once.
        #[test]
        fn days_have_every_point_once(start in 1_700_000_000..1_700_300_000_i64, length in 1..400_000_i64, step in 1..3700_i64) {
            let span = Span::new(start, start + length, step).unwrap();
            let mut got = Vec::new();
            for day in span.days() {
                prop_assert_eq!(day.name(), day.span.start.to_string()[..10].to_owned());
                if let Some((first, last)) = day.span.points() {
                    got.extend((first..=last).step_by(step as usize));
                }
            }
            let want: Vec<i64> = (start..start + length).filter(|s| s % step == 0).collect();
            prop_assert_eq!(got, want);
        }
    }

    #[test]
    fn names_and_hours() {
        let span = Span::new(1_790_812_800 - 60, 1_790_812_800 + 60, 60).unwrap();
        let days: Vec<String> = span.days().map(|d| d.name()).collect();
        assert_eq!(days, ["2026-09-30", "2026-10-01"]);
        assert_eq!(hour(1_790_812_800 + 3599), 1_790_812_800);
        assert!(Span::new(i64::MAX, 0, 60).is_err());
    }
}
