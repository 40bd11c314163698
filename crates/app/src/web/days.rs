//! The days that a page is about, and those it compares them with.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};
use lowwater_model::period::Period;
use lowwater_store::store::Store;

use super::asked::Asked;

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
    pub fn of(asked: &Asked, store: &Store) -> Option<Self> {
        let period = asked.get("period").unwrap_or_else(|| usual(&asked.path));
        let bill = store.bill_period()?;
        let zone = zone(store);
        let first = zone.to_datetime(bill.start).date();
        // The instant after the last charge is mostly the midnight after it.
        let last = zone.to_datetime(bill.end - 1.second()).date();
        let after = last.tomorrow().ok()?;
        let custom = |key: &str| asked.get(key).and_then(|day| day.parse::<Date>().ok());
        if let (Some(from), Some(to)) = (custom("from"), custom("to")) {
            return Some(Self { first: from, after: to }).filter(|days| days.first < days.after);
        }
        let begin = match period {
            "7d" => before(after, 7.days())?,
            "90d" => before(after, 90.days())?,
            "month" => last.first_of_month(),
            "last-month" => {
                let begin = before(last.first_of_month(), 1.month())?;
                return Some(Self {
                    first: begin,
                    after: last.first_of_month(),
                });
            }
            "quarter" => before(last.first_of_month(), i32::from((last.month() - 1) % 3).months())?,
            "year" => last.first_of_year(),
            "all" => first,
            _ => before(after, 30.days())?,
        };
        Some(Self { first: begin, after })
    }

    /// The same number of days just before, where the bill has them all.
    pub fn before(self, store: &Store) -> Option<Self> {
        let length = self.after.since(self.first).ok()?;
        let first = self.first.checked_sub(length).ok()?;
        let bill = zone(store).to_datetime(store.bill_period()?.start).date();
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
