//! When a result is needed, as an owner writes it.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::period::has_impossible_offset;
use crate::workload::TomlText;

/// When the result of a workload is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "TomlText", into = "String")]
pub enum Deadline {
    /// At an instant.
    At(Timestamp),
    /// By the end of a day in the owner's zone.
    Day(Date),
    /// Every day at that time in the owner's zone.
    Daily(Time),
}

/// A text that is no deadline.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no deadline\nhint: write an instant with offset (`2026-11-20T06:00:00Z`; at most 14:00), a day (`2026-11-20`) or a \
     time of every day (`06:00 daily`)"
)]
pub struct NoDeadline(String);

impl Deadline {
    /// Has its last instant passed? A daily one never ends. `zone` is the owner's, IANA.
    pub fn is_over(self, zone: &str, at: Timestamp) -> bool {
        let end = match self {
            Self::At(end) => Some(end),
            Self::Day(day) => {
                let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
                day.tomorrow()
                    .ok()
                    .and_then(|next| zone.to_timestamp(next.at(0, 0, 0, 0)).ok())
            }
            Self::Daily(_) => None,
        };
        end.is_some_and(|end| end <= at)
    }
}

impl FromStr for Deadline {
    type Err = NoDeadline;

    fn from_str(text: &str) -> Result<Self, NoDeadline> {
        let wrong = || NoDeadline(text.to_owned());
        if let Some(time) = text.strip_suffix("daily") {
            return time.trim().parse().map(Self::Daily).map_err(|_| wrong());
        }
        if has_impossible_offset(text) {
            return Err(wrong());
        }
        if let Ok(at) = text.parse() {
            return Ok(Self::At(at));
        }
        // A time without an offset would read as its day: it says more than that, but not where.
        if text.len() > "2026-11-20".len() {
            return Err(wrong());
        }
        text.parse().map(Self::Day).map_err(|_| wrong())
    }
}

impl TryFrom<TomlText> for Deadline {
    type Error = NoDeadline;

    fn try_from(text: TomlText) -> Result<Self, NoDeadline> {
        String::from(text).parse()
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(at) => write!(f, "{at}"),
            Self::Day(day) => write!(f, "{day}"),
            Self::Daily(time) => write!(f, "{} daily", time.strftime("%H:%M:%S")),
        }
    }
}

impl From<Deadline> for String {
    fn from(deadline: Deadline) -> Self {
        deadline.to_string()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_day_is_over_when_the_next_begins_there() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let over = |deadline: &str, zone: &str, now: &str| deadline.parse::<Deadline>().unwrap().is_over(zone, at(now));
        assert!(!over("2026-10-24", "America/Los_Angeles", "2026-10-25T06:59:59Z"));
        assert!(over("2026-10-24", "America/Los_Angeles", "2026-10-25T07:00:00Z"));
        assert!(over("2026-10-24T12:00:00Z", "UTC", "2026-10-24T12:00:00Z"));
        assert!(!over("06:00 daily", "UTC", "2036-01-01T00:00:00Z"));
    }

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn instants_days_and_times_of_every_day() {
        let read = |text: &str| text.parse::<Deadline>();
        let at = "2026-11-20T05:00:00Z".parse().unwrap();
        assert_eq!(read("2026-11-20T06:00:00+01:00"), Ok(Deadline::At(at)));
        assert_eq!(read("2026-11-20"), Ok(Deadline::Day("2026-11-20".parse().unwrap())));
        assert_eq!(read("06:00 daily"), Ok(Deadline::Daily("06:00".parse().unwrap())));
        for text in [
            "",
            "soon",
            "2026-11-31",
            "2026-11-20T06:00",
            "2026-11-20 06:00:00",
            "2026-11-20T06:00:00+24:00",
            "25:00 daily",
            "daily",
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(
                error.contains(&format!("`{text}`")) && error.contains("hint:"),
                "{error}"
            );
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(second in 0_i64..4_000_000_000, day in 0_i32..20_000, minute in 0_i8..60) {
            let date = Date::constant(2000, 1, 1).checked_add(jiff::Span::new().days(day)).unwrap();
            for deadline in [
                Deadline::At(Timestamp::from_second(second).unwrap()),
                Deadline::Day(date),
                Deadline::Daily(Time::constant(5, minute, 0, 0)),
            ] {
                prop_assert_eq!(deadline.to_string().parse(), Ok(deadline));
                let json = serde_json::to_string(&deadline).unwrap();
                prop_assert_eq!(serde_json::from_str::<Deadline>(&json).unwrap(), deadline);
            }
        }

        #[test]
        fn any_text_is_a_deadline_or_an_error(text in "[0-9TZ: dailyx-]{0,24}") {
            let _ = text.parse::<Deadline>();
        }
    }
}
