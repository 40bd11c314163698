//! Days and instants as users write them.

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use lowwater_model::period::has_impossible_offset;

/// Years that every table can hold.
const YEARS: std::ops::RangeInclusive<i16> = 1970..=2200;

/// A day such as 2026-10-01.
pub fn day(text: &str) -> Result<Date, String> {
    // jiff takes a whole instant for its day: what is cut off would go unnoticed.
    let day = Some(text)
        .filter(|t| t.len() == 10)
        .and_then(|t| t.parse::<Date>().ok());
    let day = day.ok_or_else(|| "write a day such as 2026-10-01".to_owned())?;
    if YEARS.contains(&day.year()) {
        return Ok(day);
    }
    Err(format!(
        "a day is in the years {} to {}, such as 2026-10-01",
        YEARS.start(),
        YEARS.end()
    ))
}

/// An instant, or a day, which means its beginning in UTC.
pub fn instant_or_day(text: &str) -> Result<Timestamp, String> {
    if has_impossible_offset(text) {
        return Err(
            "write an offset of at most 14:00, such as 2026-10-01T14:00:00+02:00: no zone is further from UTC"
                .to_owned(),
        );
    }
    let date = match text.parse::<Timestamp>() {
        Ok(at) if YEARS.contains(&TimeZone::UTC.to_datetime(at).year()) => return Ok(at),
        Ok(at) => day(&TimeZone::UTC.to_datetime(at).date().to_string())?,
        Err(_) if text.len() == 10 => day(text)?,
        Err(_) => {
            return Err("write a day such as 2026-10-01 or an instant such as 2026-10-01T14:00:00Z".to_owned());
        }
    };
    TimeZone::UTC
        .to_timestamp(date.to_datetime(Time::midnight()))
        .map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_its_beginning_and_an_instant_is_itself() {
        let at = |text: &str| instant_or_day(text).map(|t| t.to_string());
        assert_eq!(at("2026-10-01").unwrap(), "2026-10-01T00:00:00Z");
        assert_eq!(at("2026-10-01T02:00:00+02:00").unwrap(), "2026-10-01T00:00:00Z");
        for wrong in ["2026-10-01T14:00:00+24:00", "2026-10-01T14:00:00-14:01"] {
            assert!(at(wrong).unwrap_err().contains("at most 14:00"), "{wrong}");
        }
        assert_eq!(at("2026-10-01T14:00:00+14:00").unwrap(), "2026-10-01T00:00:00Z");
        for wrong in ["x", "yesterday", "2026-10-01T14:00:00", "2026-13-41", "9999-12-31", ""] {
            assert!(at(wrong).unwrap_err().contains("such as 2026-10-01"), "{wrong}");
        }
        assert!(at("9999-12-30T00:00:00Z").unwrap_err().contains("1970 to 2200"));
    }

    #[test]
    fn a_day_is_nothing_else_and_has_a_year_that_tables_can_hold() {
        assert_eq!(day("2026-10-01").unwrap().to_string(), "2026-10-01");
        for wrong in [
            "yesterday",
            "2026-10-01T14:00:00Z",
            "20261001",
            "9999-12-31",
            "1600-01-01",
        ] {
            assert!(day(wrong).unwrap_err().contains("such as 2026-10-01"), "{wrong}");
        }
    }
}
