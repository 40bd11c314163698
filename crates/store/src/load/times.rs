//! Instants as bills write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use lowwater_model::period::has_impossible_offset;

use super::dictionary::Dictionary;

/// Instants of charges lie in here; another year is a misread column.
const FIRST_SECOND: i64 = 631_152_000;
const LAST_SECOND: i64 = 7_258_118_400;
/// Distinct texts that are remembered; more only cost time.
const MAX_REMEMBERED: usize = 100_000;

/// An instant, and whether its text said where on earth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant {
    pub(crate) micros: i64,
    pub(crate) zoned: bool,
    /// A local time that came twice that night, or never: the clocks changed.
    pub(crate) unsure: bool,
    /// As it is written: an invoice of October at +14:00 begins in September of UTC.
    pub(crate) written_month: Month,
    pub(crate) utc_month: Month,
}

/// A month of some year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Month {
    year: i16,
    month: i8,
}

impl std::fmt::Display for Month {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl From<DateTime> for Month {
    fn from(civil: DateTime) -> Self {
        Self {
            year: civil.year(),
            month: civil.month(),
        }
    }
}

/// Reads the texts of one column; the same text is read once.
#[derive(Default)]
pub(crate) struct Times {
    texts: Dictionary,
    instants: Vec<Result<Instant, String>>,
}

impl Times {
    /// The instant of a text; the error says what is wrong with it.
    pub(crate) fn read(&mut self, text: &str, zone: &TimeZone) -> &Result<Instant, String> {
        if self.instants.len() > MAX_REMEMBERED {
            *self = Self::default();
        }
        let code = self.texts.code(text) as usize;
        if code == self.instants.len() {
            self.instants.push(read(text, zone));
        }
        &self.instants[code]
    }
}

/// ISO 8601 with `Z` or an offset; without, it is civil time in the zone. A date alone is its first instant.
fn read(text: &str, zone: &TimeZone) -> Result<Instant, String> {
    let text = text.trim();
    let not_a_time = || "is not a time (as `2026-10-01T00:00:00Z`)".to_owned();
    if has_impossible_offset(text) {
        return Err("has an offset of more than 14 hours from UTC, which no zone has".into());
    }
    let (at, written, zoned, unsure) = if let Ok(at) = text.parse::<Timestamp>() {
        // With `Z` it is no civil time, and UTC is what is written.
        let written = text.parse().unwrap_or_else(|_| TimeZone::UTC.to_datetime(at));
        (at, written, true, false)
    } else {
        let (civil, zone, zoned) = match text.strip_suffix("UTC") {
            Some(civil) => (civil.trim_end(), &TimeZone::UTC, true),
            None => (text, zone, false),
        };
        let civil: DateTime = civil.parse().map_err(|_| not_a_time())?;
        let at = zone.to_ambiguous_zoned_datetime(civil);
        let unsure = at.is_ambiguous();
        (
            at.compatible().map_err(|_| not_a_time())?.timestamp(),
            civil,
            zoned,
            unsure,
        )
    };
    if !(FIRST_SECOND..LAST_SECOND).contains(&at.as_second()) {
        return Err("is not a time at which a cloud was billed".into());
    }
    Ok(Instant {
        micros: at.as_microsecond(),
        zoned,
        unsure,
        written_month: written.into(),
        utc_month: TimeZone::UTC.to_datetime(at).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, zone: &str) -> Result<(String, bool), String> {
        let instant = Times::default().read(text, &TimeZone::get(zone).unwrap()).clone()?;
        let at = Timestamp::from_microsecond(instant.micros).unwrap();
        Ok((at.to_string(), instant.zoned))
    }

    #[test]
    fn forms_of_real_bills() {
        for (text, zone, expected, zoned) in [
            ("2026-10-01T00:00:00Z", "UTC", "2026-10-01T00:00:00Z", true),
            ("2026-10-01T00:00:00.000Z", "Asia/Tokyo", "2026-10-01T00:00:00Z", true),
            ("2026-10-01T02:00:00+02:00", "UTC", "2026-10-01T00:00:00Z", true),
            ("2024-09-18 23:00:00", "UTC", "2024-09-18T23:00:00Z", false),
            ("2024-09-18T23:00:00", "Europe/Berlin", "2024-09-18T21:00:00Z", false),
            ("2026-10-31 23:00:00 UTC", "Europe/Berlin", "2026-10-31T23:00:00Z", true),
            (" 2026-10-01 ", "UTC", "2026-10-01T00:00:00Z", false),
        ] {
            assert_eq!(at(text, zone), Ok((expected.to_owned(), zoned)), "{text}");
        }
        for text in [
            "",
            "10/01/2026",
            "2026-13-01",
            "yesterday",
            "0024-09-18 23:00:00",
            "45566.0",
            "2026-10-01T00:00:00+24:00",
            "2026-10-01 00:00:00-14:30",
        ] {
            assert!(at(text, "UTC").is_err(), "{text}");
        }
    }

    #[test]
    fn local_times_that_came_twice_or_never_are_known_as_such() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        for (text, instant, unsure) in [
            ("2026-10-25 01:59:59", "2026-10-24T23:59:59Z", false),
            ("2026-10-25 02:30:00", "2026-10-25T00:30:00Z", true),
            ("2026-10-25 03:00:00", "2026-10-25T02:00:00Z", false),
            ("2026-03-29 02:30:00", "2026-03-29T01:30:00Z", true),
            ("2026-10-25T02:30:00+01:00", "2026-10-25T01:30:00Z", false),
            ("2026-10-25 02:30:00 UTC", "2026-10-25T02:30:00Z", false),
        ] {
            let read = read(text, &berlin).unwrap();
            let at = Timestamp::from_microsecond(read.micros).unwrap();
            assert_eq!((at.to_string().as_str(), read.unsure), (instant, unsure), "{text}");
        }
    }

    #[test]
    fn remembers_and_forgets() {
        let mut times = Times::default();
        for second in 0..(MAX_REMEMBERED as i64 + 10) {
            let stamp = Timestamp::from_second(FIRST_SECOND + second).unwrap();
            let read = times.read(&stamp.to_string(), &TimeZone::UTC).clone();
            assert_eq!(read.unwrap().micros, stamp.as_microsecond());
        }
        assert!(times.instants.len() < 100);
    }

    #[test]
    fn the_month_is_the_one_that_is_written() {
        for (text, zone, month) in [
            ("2026-10-01T00:00:00Z", "Asia/Tokyo", "2026-10"),
            ("2026-10-01T00:00:00+14:00", "UTC", "2026-10"),
            ("2026-10-31T23:59:59-12:00", "UTC", "2026-10"),
            ("2026-10-01T00:00:00.000+00:00", "UTC", "2026-10"),
            ("2026-10-01 00:00:00+0530", "UTC", "2026-10"),
            ("2026-10-01 00:00:00", "Asia/Tokyo", "2026-10"),
            ("2026-10-01", "America/Los_Angeles", "2026-10"),
            ("2026-09-30 23:00:00 UTC", "Asia/Tokyo", "2026-09"),
        ] {
            let instant = read(text, &TimeZone::get(zone).unwrap()).unwrap();
            assert_eq!(instant.written_month.to_string(), month, "{text}");
        }
    }
}
