//! Half-open stretches of time: a period, an hour, a set of spans.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Seconds of an hour.
pub const HOUR_SECONDS: i64 = 3600;

/// The farthest that a zone is from UTC, as the digits of an offset.
const FARTHEST: &str = "1400";

/// Is the offset of a written instant one that no zone has? `+24:00` is a slip, and would move the instant by a day.
pub fn has_impossible_offset(text: &str) -> bool {
    let Some((_, time)) = text.trim().split_once(['T', 't', ' ']) else {
        return false;
    };
    let Some(sign) = time.find(['+', '-']) else {
        return false;
    };
    let offset = time[sign + 1..].chars().take_while(|c| c.is_ascii_digit() || *c == ':');
    let digits: String = offset.filter(|c| *c != ':').collect();
    // As text: `14` is before `1400`, and `140001` after it.
    digits.as_str() > FARTHEST
}

/// A half-open stretch of time in UTC: `start <= t < end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Period {
    /// First instant inside.
    pub start: Timestamp,
    /// First instant after.
    pub end: Timestamp,
}

impl Period {
    /// From epoch seconds; an end before the start gives an empty period at the start.
    pub fn from_seconds(start: i64, end: i64) -> Self {
        let at = |s: i64| Timestamp::from_second(s).unwrap_or(Timestamp::UNIX_EPOCH);
        Self {
            start: at(start),
            end: at(end.max(start)),
        }
    }

    /// Length in seconds.
    pub fn seconds(&self) -> i64 {
        (self.end.as_second() - self.start.as_second()).max(0)
    }

    /// Length in hours.
    pub fn hours(&self) -> f64 {
        self.seconds() as f64 / HOUR_SECONDS as f64
    }

    /// Is the instant inside?
    pub fn contains(&self, at: Timestamp) -> bool {
        self.start <= at && at < self.end
    }

    /// The whole hours that begin inside.
    pub fn hour_range(&self) -> std::ops::Range<i64> {
        let up = |s: i64| s.div_euclid(HOUR_SECONDS) + i64::from(s.rem_euclid(HOUR_SECONDS) != 0);
        let start = up(self.start.as_second());
        start..up(self.end.as_second()).max(start)
    }
}

/// One whole UTC hour, counted from the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hour(pub i64);

impl Hour {
    /// The hour that holds the instant.
    pub fn of(at: Timestamp) -> Self {
        Self(at.as_second().div_euclid(HOUR_SECONDS))
    }

    /// First second, from the epoch.
    pub const fn start_second(self) -> i64 {
        self.0 * HOUR_SECONDS
    }

    /// The hour as a period.
    pub fn period(self) -> Period {
        Period::from_seconds(self.start_second(), self.start_second() + HOUR_SECONDS)
    }
}

/// A set of instants as sorted, disjoint, half-open spans of epoch seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Spans(Vec<(i64, i64)>);

impl Spans {
    /// From spans in any order; empty ones vanish, touching ones join.
    pub fn new(mut spans: Vec<(i64, i64)>) -> Self {
        spans.retain(|(start, end)| start < end);
        spans.sort_unstable();
        let mut out: Vec<(i64, i64)> = Vec::with_capacity(spans.len());
        for (start, end) in spans {
            match out.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => out.push((start, end)),
            }
        }
        Self(out)
    }

    /// One period.
    pub fn of(period: Period) -> Self {
        Self::new(vec![(period.start.as_second(), period.end.as_second())])
    }

    /// The spans, sorted and disjoint, in epoch seconds.
    pub fn iter(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.0.iter().copied()
    }

    /// Nothing in it?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Length in seconds.
    pub fn seconds(&self) -> i64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// Length in hours.
    pub fn hours(&self) -> f64 {
        self.seconds() as f64 / HOUR_SECONDS as f64
    }

    /// Both together.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::new(self.iter().chain(other.iter()).collect())
    }

    /// What is in both.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let mut out = Vec::new();
        let (mut i, mut j) = (0, 0);
        while let (Some(a), Some(b)) = (self.0.get(i), other.0.get(j)) {
            out.push((a.0.max(b.0), a.1.min(b.1)));
            if a.1 <= b.1 {
                i += 1;
            } else {
                j += 1;
            }
        }
        Self::new(out)
    }

    /// What is in `self` and not in `other`.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let mut out = Vec::new();
        for (start, end) in self.iter() {
            let first = other.0.partition_point(|cut| cut.1 <= start);
            let mut rest = start;
            for (cut_start, cut_end) in other.0[first..].iter().take_while(|cut| cut.0 < end) {
                out.push((rest, *cut_start));
                rest = *cut_end;
            }
            out.push((rest, end));
        }
        Self::new(out)
    }

    /// How many seconds of `start..end` are inside.
    pub fn overlap(&self, start: i64, end: i64) -> i64 {
        let first = self.0.partition_point(|span| span.1 <= start);
        self.0[first..]
            .iter()
            .take_while(|span| span.0 < end)
            .map(|span| span.1.min(end) - span.0.max(start))
            .sum()
    }

    /// Is the second inside?
    pub fn contains(&self, second: i64) -> bool {
        self.overlap(second, second + 1) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_zone_is_farther_from_utc_than_fourteen_hours() {
        for sound in [
            "2026-10-01T00:00:00Z",
            "2026-10-01T00:00:00+14:00",
            "2026-10-01 00:00:00-1200",
            "2026-10-01T00:00:00+05:30[Asia/Kolkata]",
            "2026-10-01T00:00:00.123456-03[America/Port-au-Prince]",
            "2026-10-01",
            "2026-10-01T23:59:59",
            "",
        ] {
            assert!(!has_impossible_offset(sound), "{sound}");
        }
        for wrong in [
            "2026-10-01T00:00:00+24:00",
            "2026-10-01T00:00:00-24:00",
            "2026-10-01t00:00:00+14:01",
            " 2026-10-01 00:00:00-1500",
            "2026-10-01T00:00:00+15",
        ] {
            assert!(has_impossible_offset(wrong), "{wrong}");
        }
    }

    fn spans() -> impl Strategy<Value = Spans> {
        prop::collection::vec((0_i64..60, 0_i64..60), 0..8).prop_map(Spans::new)
    }

    proptest! {
        /// Every set operation equals what membership of each second says.
        #[test]
        fn set_algebra(a in spans(), b in spans(), from in 0_i64..60, to in 0_i64..60) {
            for s in 0..60 {
                let (x, y) = (a.contains(s), b.contains(s));
                prop_assert_eq!(a.union(&b).contains(s), x || y);
                prop_assert_eq!(a.intersect(&b).contains(s), x && y);
                prop_assert_eq!(a.minus(&b).contains(s), x && !y);
            }
            let count = (from..to).filter(|s| a.contains(*s)).count() as i64;
            prop_assert_eq!(a.overlap(from, to.max(from)), count);
            prop_assert_eq!(a.union(&b).seconds() + a.intersect(&b).seconds(), a.seconds() + b.seconds());
        }
    }

    #[test]
    fn hours_of_a_period_begin_inside() {
        assert_eq!(Period::from_seconds(0, 7200).hour_range(), 0..2);
        assert_eq!(Period::from_seconds(1, 7201).hour_range(), 1..3);
        assert_eq!(Period::from_seconds(-3600, 0).hour_range(), -1..0);
    }
}
