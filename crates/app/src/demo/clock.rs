//! The ninety days of the sample: 2026-08-03 (a Monday) to 2026-10-31, in UTC. The autumn change of Europe's clocks is inside.

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use lowwater_model::period::Period;

/// First second: 2026-08-03T00:00:00Z.
pub const START: i64 = 1_785_715_200;
/// Days.
pub const DAYS: usize = 90;
/// Hours.
pub const HOURS: usize = DAYS * 24;
/// First hour of the last week, whose notebooks are measured every five minutes.
pub const LAST_WEEK: usize = HOURS - 7 * 24;

/// First second of an hour of the sample.
pub const fn second(hour: usize) -> i64 {
    START + hour as i64 * 3600
}

/// A billing month; the first one began before the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Month {
    /// As in file names.
    pub name: &'static str,
    /// Its first day, counted from the first day of the sample.
    pub first_day: i64,
    /// Its days.
    pub days: i64,
}

/// The billing months of the sample.
pub const MONTHS: [Month; 3] = [
    Month {
        name: "2026-08",
        first_day: -2,
        days: 31,
    },
    Month {
        name: "2026-09",
        first_day: 29,
        days: 30,
    },
    Month {
        name: "2026-10",
        first_day: 59,
        days: 31,
    },
];

impl Month {
    /// The whole month.
    pub fn period(self) -> Period {
        let day = |d: i64| START + d * 86_400;
        Period::from_seconds(day(self.first_day), day(self.first_day + self.days))
    }

    /// Its hours that are in the sample.
    pub fn hours(self) -> Range<usize> {
        let hour = |d: i64| (d.max(0) * 24) as usize;
        hour(self.first_day)..hour(self.first_day + self.days)
    }

    /// The hour at which a day of the month begins.
    pub const fn day(self, day: i64) -> usize {
        ((self.first_day + day - 1) * 24) as usize
    }
}

/// September.
pub const SEPTEMBER: Month = MONTHS[1];
/// October.
pub const OCTOBER: Month = MONTHS[2];

/// The month that an hour is billed in.
pub fn month_of(hour: usize) -> Month {
    *MONTHS.iter().find(|m| m.hours().contains(&hour)).unwrap_or(&OCTOBER)
}

/// An hour as the clocks of a zone show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalHour {
    /// Day.
    pub day: Date,
    /// Monday is 0.
    pub weekday: u8,
    /// 0 to 23.
    pub hour: u8,
}

impl LocalHour {
    /// Saturday or Sunday?
    pub const fn is_weekend(self) -> bool {
        self.weekday >= 5
    }
}

/// Every hour of the sample as the clocks of a zone show it.
pub fn local(zone: &str) -> Vec<LocalHour> {
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    (0..HOURS)
        .map(|hour| {
            let at = Timestamp::from_second(second(hour)).unwrap_or(Timestamp::UNIX_EPOCH);
            let civil = zone.to_datetime(at);
            LocalHour {
                day: civil.date(),
                weekday: civil.weekday().to_monday_zero_offset().unsigned_abs(),
                hour: civil.hour().unsigned_abs(),
            }
        })
        .collect()
}

/// Every hour of the sample as files write it: `2026-08-03T00:00:00Z`.
pub fn stamps() -> Vec<String> {
    (0..HOURS)
        .map(|hour| {
            Timestamp::from_second(second(hour))
                .unwrap_or(Timestamp::UNIX_EPOCH)
                .to_string()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AUGUST: Month = MONTHS[0];

    #[test]
    fn months_cover_the_sample_without_overlap() {
        assert_eq!(AUGUST.hours().start, 0);
        assert_eq!(AUGUST.hours().end, SEPTEMBER.hours().start);
        assert_eq!(SEPTEMBER.hours().end, OCTOBER.hours().start);
        assert_eq!(OCTOBER.hours().end, HOURS);
        assert_eq!(AUGUST.period().start.to_string(), "2026-08-01T00:00:00Z");
        assert_eq!(OCTOBER.period().end.to_string(), "2026-11-01T00:00:00Z");
        assert_eq!(AUGUST.period().end, SEPTEMBER.period().start);
        for month in MONTHS {
            assert!(month.hours().all(|h| month_of(h) == month));
        }
    }

    #[test]
    fn stamps_begin_on_a_monday_and_end_before_november() {
        let stamps = stamps();
        assert_eq!(stamps[0], "2026-08-03T00:00:00Z");
        assert_eq!(stamps[OCTOBER.day(3)], "2026-10-03T00:00:00Z");
        assert_eq!(stamps[HOURS - 1], "2026-10-31T23:00:00Z");
        assert_eq!(local("UTC")[0].weekday, 0);
    }

    #[test]
    fn the_clocks_of_berlin_go_back_inside() {
        let local = local("Europe/Berlin");
        let day = OCTOBER.day(25);
        // 2026-10-25: 02:00 comes twice.
        let hours: Vec<u8> = local[day..day + 4].iter().map(|l| l.hour).collect();
        assert_eq!(hours, [2, 2, 3, 4]);
        assert!(local[day].is_weekend());
    }
}
