//! The days that a page is about, and those it compares them with.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};
use lowwater_model::period::Period;
use lowwater_store::store::Store;

use super::asked::Asked;
use super::live::Shown;

/// Periods that can be chosen, with their names.
pub const PERIODS: &[(&str, &str)] = &[
    ("7d", "7 days"),
    ("30d", "30 days"),
    ("90d", "90 days"),
    ("month", "this month"),
    ("last-month", "last month"),
    ("quarter", "this quarter"),
    ("year", "this year"),
    ("all", "all that is loaded"),
];

/// Those of a fiscal year, where it is not the calendar's.
const FISCAL: &[(&str, &str)] = &[
    ("fiscal-month", "this fiscal month"),
    ("last-fiscal-month", "last fiscal month"),
    ("fiscal-quarter", "this fiscal quarter"),
    ("fiscal-year", "this fiscal year"),
];

/// When fiscal years and their months begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fiscal {
    /// Month of the year, from 1.
    month: i8,
    /// Day of the month, from 1 to 28.
    day: i8,
}

impl Fiscal {
    fn of(store: &Store) -> Self {
        let calendar = store.config().policy.section("calendar");
        let within = |key: &str, most: i64| calendar.int(key).clamp(1, most) as i8;
        Self {
            month: within("fiscal_year_month", 12),
            day: within("fiscal_month_day", 28),
        }
    }

    /// First day of the fiscal month in which a day lies, so many months earlier.
    fn month_of(self, day: Date, earlier: i32) -> Option<Date> {
        let offset = i64::from(self.day - 1).days();
        before(before(day, offset)?.first_of_month(), earlier.months())?
            .checked_add(offset)
            .ok()
    }

    /// Months from the begin of its fiscal year to the fiscal month in which a day lies.
    fn months_in(self, day: Date) -> Option<i32> {
        let month = before(day, i64::from(self.day - 1).days())?.month();
        Some(i32::from((month - self.month).rem_euclid(12)))
    }

    /// The days of a fiscal period up to the last of these.
    fn last(self, bill: Days, period: &str) -> Option<Days> {
        let last = bill.after.yesterday().ok()?;
        let earlier = match period {
            "fiscal-month" | "last-fiscal-month" => 0,
            "fiscal-quarter" => self.months_in(last)? % 3,
            "fiscal-year" => self.months_in(last)?,
            _ => return None,
        };
        let first = self.month_of(last, earlier)?;
        if period == "last-fiscal-month" {
            return Some(Days {
                first: self.month_of(last, 1)?,
                after: first,
            });
        }
        Some(Days {
            first,
            after: bill.after,
        })
    }
}

/// Every period that an address may name.
pub fn all_periods() -> impl Iterator<Item = &'static str> {
    PERIODS.iter().chain(FISCAL).map(|(name, _)| *name).chain(["custom"])
}

/// Does an address name a period so?
pub fn is_period(name: &str) -> bool {
    all_periods().any(|known| known == name)
}

/// The periods that a store's owner can choose.
pub fn periods(store: Option<&Store>) -> Vec<(&'static str, &'static str)> {
    let calendar = Fiscal { month: 1, day: 1 };
    let fiscal = store.is_some_and(|store| Fiscal::of(store) != calendar);
    let more = if fiscal { FISCAL } else { &[] };
    PERIODS.iter().chain(more).copied().collect()
}

/// The period of a page where none is chosen.
pub fn usual(path: &str) -> &'static str {
    if path == "/" { "7d" } else { "30d" }
}

/// Half-open, in the owner's zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Days {
    /// First day.
    pub first: Date,
    /// First day after.
    pub after: Date,
}

impl Days {
    /// The days that were asked for, counted back from the last day of the bill; none where nothing is loaded.
    pub fn of(asked: &Asked, shown: &Shown) -> Option<Self> {
        let period = asked.get("period").unwrap_or_else(|| usual(&asked.path));
        let zone = zone(&shown.store);
        let first = zone.to_datetime(shown.store.bill_period()?.start).date();
        // The day in which the bill ends is not over, unless it ends at its midnight: a part of a day is no day.
        let end = zone.to_datetime(shown.until?).date();
        let after = if end > first { end } else { end.tomorrow().ok()? };
        let custom = |key: &str| asked.get(key).and_then(|day| day.parse::<Date>().ok());
        let by_hand = asked.get("period").is_none_or(|period| period == "custom");
        if by_hand && let (Some(from), Some(to)) = (custom("from"), custom("to")) {
            return Some(Self { first: from, after: to }).filter(|days| days.first < days.after);
        }
        let bill = Self { first, after };
        Fiscal::of(&shown.store)
            .last(bill, period)
            .or_else(|| bill.last(period))
    }

    /// The last part of these days that a name means; one that means nothing is 30 days.
    fn last(self, period: &str) -> Option<Self> {
        let last = self.after.yesterday().ok()?;
        let begin = match period {
            "7d" => before(self.after, 7.days())?,
            "90d" => before(self.after, 90.days())?,
            "month" => last.first_of_month(),
            "last-month" => {
                return Some(Self {
                    first: before(last.first_of_month(), 1.month())?,
                    after: last.first_of_month(),
                });
            }
            "quarter" => before(last.first_of_month(), i32::from((last.month() - 1) % 3).months())?,
            "year" => last.first_of_year(),
            "all" => self.first,
            _ => before(self.after, 30.days())?,
        };
        Some(Self {
            first: begin,
            after: self.after,
        })
    }

    /// The same number of days just before, where the bill has them all.
    pub fn before(self, shown: &Shown) -> Option<Self> {
        let length = self.after.since(self.first).ok()?;
        let first = self.first.checked_sub(length).ok()?;
        let bill = zone(&shown.store).to_datetime(shown.store.bill_period()?.start).date();
        (first >= bill).then_some(Self {
            first,
            after: self.first,
        })
    }

    /// From the first midnight to the last, of UTC: the days of facts and plans.
    pub fn period(self) -> Period {
        let midnight = |day: Date| TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).unwrap_or_default();
        Period {
            start: midnight(self.first),
            end: midnight(self.after),
        }
    }
}

/// The owner's zone.
fn zone(store: &Store) -> TimeZone {
    let name = store.config().policy.section("calendar").text("zone").to_owned();
    TimeZone::get(&name).unwrap_or(TimeZone::UTC)
}

fn before(day: Date, span: Span) -> Option<Date> {
    day.checked_sub(span).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn fiscal_periods_begin_when_their_owner_says() {
        let bill = Days {
            first: date(2024, 1, 1),
            after: date(2026, 3, 10),
        };
        let last = |month: i8, day: i8, name: &str| {
            let days = Fiscal { month, day }.last(bill, name).unwrap();
            format!("{} {}", days.first, days.after)
        };
        assert_eq!(last(4, 1, "fiscal-month"), "2026-03-01 2026-03-10");
        assert_eq!(last(4, 1, "fiscal-quarter"), "2026-01-01 2026-03-10");
        assert_eq!(last(4, 1, "fiscal-year"), "2025-04-01 2026-03-10");
        assert_eq!(last(2, 1, "fiscal-quarter"), "2026-02-01 2026-03-10");
        assert_eq!(last(1, 26, "fiscal-month"), "2026-02-26 2026-03-10");
        assert_eq!(last(1, 26, "last-fiscal-month"), "2026-01-26 2026-02-26");
        assert_eq!(last(1, 26, "fiscal-year"), "2026-01-26 2026-03-10");
        assert_eq!(
            last(3, 26, "fiscal-year"),
            "2025-03-26 2026-03-10",
            "its March has not begun"
        );
        assert_eq!(last(1, 1, "fiscal-month"), "2026-03-01 2026-03-10");
        assert_eq!(Fiscal { month: 4, day: 1 }.last(bill, "30d"), None);
    }

    #[test]
    fn names_of_periods() {
        let bill = Days {
            first: date(2025, 3, 10),
            after: date(2026, 11, 18),
        };
        let last = |name: &str| {
            let days = bill.last(name).unwrap();
            format!("{} {}", days.first, days.after)
        };
        assert_eq!(last("7d"), "2026-11-11 2026-11-18");
        assert_eq!(last("30d"), "2026-10-19 2026-11-18");
        assert_eq!(last("month"), "2026-11-01 2026-11-18");
        assert_eq!(last("last-month"), "2026-10-01 2026-11-01");
        assert_eq!(last("quarter"), "2026-10-01 2026-11-18");
        assert_eq!(last("year"), "2026-01-01 2026-11-18");
        assert_eq!(last("all"), "2025-03-10 2026-11-18");
        assert_eq!(last("nonsense"), last("30d"));
        let whole = Days {
            after: date(2026, 12, 1),
            ..bill
        };
        assert_eq!(
            whole.last("month").unwrap().first,
            date(2026, 11, 1),
            "a month that is over is the last one"
        );
    }
}
