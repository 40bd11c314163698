//! Schedules: when a machine runs, in civil time of its owner, exact over daylight saving.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use jiff::civil::{Date, Time, Weekday};
use jiff::tz::{AmbiguousOffset, TimeZone};
use serde::{Deserialize, Serialize};

use crate::id::CalendarName;
use crate::period::{Period, Spans};

/// Holiday calendars by name: the days on which nobody works.
pub type Calendars = std::collections::BTreeMap<CalendarName, BTreeSet<Date>>;

/// The days of a working week, Monday first.
pub const DAYS: [Weekday; 7] = [
    Weekday::Monday,
    Weekday::Tuesday,
    Weekday::Wednesday,
    Weekday::Thursday,
    Weekday::Friday,
    Weekday::Saturday,
    Weekday::Sunday,
];

const DAY_WORDS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// `mon` to `sun`.
pub fn day_word(day: Weekday) -> &'static str {
    DAY_WORDS[usize::from(day.to_monday_zero_offset().unsigned_abs())]
}

/// A daily stretch in which the machine runs.
///
/// `end` is exclusive; `end <= start` means that it ends on the next day (an overnight window), and 00:00 to 00:00 is a whole day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Days on which it begins, as `mon` to `sun`.
    pub days: Vec<DayWord>,
    /// Local time at which it begins.
    #[serde(with = "hour_minute")]
    pub start: Time,
    /// Local time at which it ends.
    #[serde(with = "hour_minute")]
    pub end: Time,
}

/// A weekday that serialises as `mon`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct DayWord(u8);

impl DayWord {
    /// The weekday.
    pub fn weekday(self) -> Weekday {
        DAYS[usize::from(self.0)]
    }
}

impl From<Weekday> for DayWord {
    fn from(day: Weekday) -> Self {
        Self(day.to_monday_zero_offset().unsigned_abs())
    }
}

impl From<DayWord> for String {
    fn from(day: DayWord) -> Self {
        DAY_WORDS[usize::from(day.0)].to_owned()
    }
}

impl TryFrom<String> for DayWord {
    type Error = String;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let index = DAY_WORDS.iter().position(|w| *w == text);
        index
            .map(|i| Self(i as u8))
            .ok_or_else(|| format!("`{text}` is not a day (mon, tue, wed, thu, fri, sat, sun)"))
    }
}

mod hour_minute {
    use jiff::civil::Time;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:02}:{:02}", time.hour(), time.minute()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        let text = String::deserialize(deserializer)?;
        // 24:00 is how people write the end of a day.
        if text == "24:00" {
            return Ok(Time::midnight());
        }
        text.parse()
            .map_err(|_| serde::de::Error::custom(format!("`{text}` is not a time such as 08:00")))
    }
}

/// When a machine runs. Outside its windows, and on holidays, it is stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// IANA time zone of the owner.
    pub zone: String,
    /// When it runs.
    pub windows: Vec<Window>,
    /// Calendar of days on which no window begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holidays: Option<CalendarName>,
    /// The days of that calendar, frozen with the schedule so that it can be replayed as it was meant.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub holiday_dates: BTreeSet<Date>,
}

impl Schedule {
    /// The zone, or none where the name is unknown.
    pub fn time_zone(&self) -> Option<TimeZone> {
        TimeZone::get(&self.zone).ok()
    }

    /// The instants inside `period` at which the machine runs. With an unknown zone it always runs: nothing is stopped on a guess.
    ///
    /// Each window is a stretch of civil time turned into instants, so a window over a spring change is an hour shorter.
    /// A time that the clocks skip counts as the first instant after the gap, one that comes twice as its first coming.
    pub fn running(&self, period: Period) -> Spans {
        let Some(zone) = self.time_zone() else {
            return Spans::of(period);
        };
        let first = zone
            .to_datetime(period.start)
            .date()
            .saturating_sub(jiff::Span::new().days(1));
        let last = zone.to_datetime(period.end).date();
        let mut spans = Vec::new();
        let mut day = first;
        while day <= last {
            if !self.holiday_dates.contains(&day) {
                spans.extend(self.windows.iter().filter_map(|w| w.on(day, &zone)));
            }
            match day.tomorrow() {
                Ok(next) => day = next,
                Err(_) => break,
            }
        }
        Spans::new(spans).intersect(&Spans::of(period))
    }

    /// The instants inside `period` at which the machine is stopped.
    pub fn stopped(&self, period: Period) -> Spans {
        Spans::of(period).minus(&self.running(period))
    }

    /// In words: `mon-fri 08:00-19:00 Europe/Berlin, not on holidays DE-SN`.
    pub fn describe(&self) -> String {
        let mut out = String::new();
        for (i, window) in self.windows.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let _ = write!(out, "{comma}{}", window.describe());
        }
        if self.windows.is_empty() {
            out.push_str("never");
        }
        let _ = write!(out, " {}", self.zone);
        if let Some(calendar) = &self.holidays {
            let _ = write!(out, ", not on holidays {calendar}");
        }
        out
    }
}

impl Window {
    /// The window that begins on that local day, in epoch seconds.
    fn on(&self, day: Date, zone: &TimeZone) -> Option<(i64, i64)> {
        if !self.days.iter().any(|d| d.weekday() == day.weekday()) {
            return None;
        }
        let end_day = if self.end <= self.start {
            day.tomorrow().ok()?
        } else {
            day
        };
        Some((instant(day, self.start, zone)?, instant(end_day, self.end, zone)?))
    }

    fn describe(&self) -> String {
        let mut days: Vec<u8> = self.days.iter().map(|d| d.0).collect();
        days.sort_unstable();
        days.dedup();
        let mut parts: Vec<String> = Vec::new();
        let mut i = 0;
        while i < days.len() {
            let mut j = i;
            while j + 1 < days.len() && days[j + 1] == days[j] + 1 {
                j += 1;
            }
            let word = |k: usize| DAY_WORDS[usize::from(days[k])];
            parts.push(if i == j {
                word(i).into()
            } else {
                format!("{}-{}", word(i), word(j))
            });
            i = j + 1;
        }
        let end = if self.end == Time::midnight() {
            "24:00".into()
        } else {
            clock(self.end)
        };
        format!("{} {}-{end}", parts.join(","), clock(self.start))
    }
}

/// The second at which the clocks of the zone first show this time or a later one.
fn instant(day: Date, time: Time, zone: &TimeZone) -> Option<i64> {
    let ambiguous = zone.to_ambiguous_timestamp(day.to_datetime(time));
    let in_gap = matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. });
    let first = ambiguous.earlier().ok()?;
    let after_gap = || zone.following(first).next().map(|t| t.timestamp());
    let at = if in_gap { after_gap()? } else { first };
    Some(at.as_second())
}

fn clock(time: Time) -> String {
    format!("{:02}:{:02}", time.hour(), time.minute())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(days: &str, start: &str, end: &str) -> Window {
        let json = format!(
            r#"{{"days":[{}],"start":"{start}","end":"{end}"}}"#,
            days.split(',')
                .map(|d| format!("\"{d}\""))
                .collect::<Vec<_>>()
                .join(",")
        );
        serde_json::from_str(&json).unwrap()
    }

    fn schedule(zone: &str, windows: Vec<Window>) -> Schedule {
        Schedule {
            zone: zone.into(),
            windows,
            holidays: None,
            holiday_dates: BTreeSet::new(),
        }
    }

    /// Everything but Friday 18:00 to Monday 09:00.
    fn weekend_off(zone: &str) -> Schedule {
        schedule(
            zone,
            vec![
                window("mon", "09:00", "24:00"),
                window("tue,wed,thu", "00:00", "24:00"),
                window("fri", "00:00", "18:00"),
            ],
        )
    }

    fn local(zone: &str, from: &str, to: &str) -> Period {
        let tz = TimeZone::get(zone).unwrap();
        let at = |d: &str| tz.to_timestamp(d.parse::<Date>().unwrap().at(0, 0, 0, 0)).unwrap();
        Period {
            start: at(from),
            end: at(to),
        }
    }

    #[test]
    fn a_weekend_has_62_63_or_64_hours() {
        let off = |zone: &str, from: &str, to: &str| weekend_off(zone).stopped(local(zone, from, to)).hours();
        assert_eq!(off("Europe/Berlin", "2026-03-27", "2026-03-31"), 62.0);
        assert_eq!(off("Europe/Berlin", "2026-04-10", "2026-04-14"), 63.0);
        assert_eq!(off("Europe/Berlin", "2026-10-23", "2026-10-27"), 64.0);
        assert_eq!(off("America/New_York", "2026-03-06", "2026-03-10"), 62.0);
        assert_eq!(off("America/New_York", "2026-10-30", "2026-11-03"), 64.0);
        assert_eq!(off("UTC", "2026-10-23", "2026-10-27"), 63.0);
    }

    #[test]
    fn an_overnight_window_and_a_window_over_the_gap() {
        let night = schedule("Europe/Berlin", vec![window("mon", "22:00", "06:00")]);
        assert_eq!(
            night
                .running(local("Europe/Berlin", "2026-04-13", "2026-04-20"))
                .hours(),
            8.0
        );
        // A period that begins inside an overnight window still sees it.
        assert_eq!(
            night
                .running(local("Europe/Berlin", "2026-04-14", "2026-04-15"))
                .hours(),
            6.0
        );
        let sunday = schedule("Europe/Berlin", vec![window("sun", "01:00", "04:00")]);
        assert_eq!(
            sunday
                .running(local("Europe/Berlin", "2026-03-29", "2026-03-30"))
                .hours(),
            2.0
        );
        assert_eq!(
            sunday
                .running(local("Europe/Berlin", "2026-10-25", "2026-10-26"))
                .hours(),
            4.0
        );
        // The clocks jump from 02:00 to 03:00: a time in between counts as 03:00, not as 03:30.
        let half = schedule("Europe/Berlin", vec![window("sun", "02:30", "04:00")]);
        let spring = local("Europe/Berlin", "2026-03-29", "2026-03-30");
        assert_eq!(half.running(spring).hours(), 1.0);
        let dawn = schedule("Europe/Berlin", vec![window("sun", "01:00", "02:30")]);
        assert_eq!(dawn.running(spring).hours(), 1.0);
    }

    #[test]
    fn holidays_are_local_days_and_an_unknown_zone_never_stops() {
        let mut week = schedule("Asia/Kolkata", vec![window("mon,tue,wed,thu,fri", "09:30", "18:00")]);
        let period = local("Asia/Kolkata", "2026-10-19", "2026-10-26");
        assert_eq!(week.running(period).hours(), 42.5);
        week.holiday_dates.insert("2026-10-20".parse().unwrap());
        assert_eq!(week.running(period).hours(), 34.0);
        week.zone = "Mars/Base".into();
        assert!(week.stopped(period).is_empty());
    }

    #[test]
    fn round_trip_and_words() {
        let s = weekend_off("UTC");
        let json = serde_json::to_string(&s).unwrap();
        assert_eq!(serde_json::from_str::<Schedule>(&json).unwrap(), s);
        assert_eq!(
            s.describe(),
            "mon 09:00-24:00, tue-thu 00:00-24:00, fri 00:00-18:00 UTC"
        );
        assert!(serde_json::from_str::<Window>(r#"{"days":["monday"],"start":"08:00","end":"09:00"}"#).is_err());
        assert!(serde_json::from_str::<Window>(r#"{"days":["mon"],"start":"25:00","end":"09:00"}"#).is_err());
    }
}
