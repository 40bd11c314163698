//! How numbers are written for people: exact money with cents, estimates short, shares in percent, unknown as `unknown`.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
pub use lowwater_model::money::grouped;
use lowwater_model::money::{Estimate, Money, Range};
use lowwater_model::period::Period;

/// Where there is no number.
pub const UNKNOWN: &str = "unknown";

/// Characters of an argument that an error repeats.
pub const ECHO: usize = 80;

/// Exact money with cents and separators: `1,234.50`.
pub fn cents(money: Money) -> String {
    grouped(&money.fixed(2))
}

/// An estimate with cents and separators: `1,234.50`.
pub fn estimate_cents(estimate: Estimate) -> String {
    grouped(&unsigned_zero(format!("{:.2}", estimate.amount())))
}

/// An estimate for headlines and ranges: `914`, `18.2k`, `1.24M`.
pub fn short(estimate: Estimate) -> String {
    let amount = estimate.amount();
    let size = amount.abs();
    unsigned_zero(if size < 9.995 {
        format!("{amount:.2}")
    } else if size < 999.5 {
        format!("{amount:.0}")
    } else if size < 999_950.0 {
        format!("{:.1}k", amount / 1e3)
    } else {
        format!("{:.2}M", amount / 1e6)
    })
}

/// A range: `18.2k (15.9k to 20.1k)`, or only the number where there is no doubt.
pub fn range(range: &Range) -> String {
    let (low, middle, high) = (short(range.p10), short(range.p50), short(range.p90));
    if low == middle && high == middle {
        middle
    } else {
        format!("{middle} ({low} to {high})")
    }
}

/// A share of 1 in percent: `43.1 %`.
pub fn share(share: f64) -> String {
    format!("{} %", unsigned_zero(format!("{:.1}", share * 100.0)))
}

/// A part of a whole in percent; none where the whole is nothing.
pub fn share_of(part: Money, whole: Money) -> Option<f64> {
    (!whole.is_zero()).then(|| part.estimate().amount() / whole.estimate().amount())
}

/// Rounded to six digits, as every float that leaves the program.
pub fn six_digits(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// A share, or `unknown`.
pub fn share_or_unknown(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), share)
}

/// A count with separators: `12,345`.
pub fn count(count: u64) -> String {
    grouped(&count.to_string())
}

/// A quantity such as hours with one digit: `1,234.5`.
pub fn quantity(value: f64) -> String {
    grouped(&unsigned_zero(format!("{value:.1}")))
}

/// A number without needless digits: `14`, `0.5`, `1,234.57`.
pub fn plain(value: f64) -> String {
    let text = unsigned_zero(format!("{value:.2}"));
    grouped(text.trim_end_matches('0').trim_end_matches('.'))
}

/// `28 Nov 2026 14:05 UTC`.
pub fn instant(at: Timestamp) -> String {
    TimeZone::UTC
        .to_datetime(at)
        .strftime("%-d %b %Y %H:%M UTC")
        .to_string()
}

/// `4 Oct to 31 Oct 2026 (28 days)`: the first and the last of some days, as `2026-10-04`; of another zone than UTC with its name:
/// the reader must know, since the last hour of such a day can be of the next day of the bill.
pub fn days(first: &str, last: &str, zone: &str) -> String {
    let (Ok(first_day), Ok(last_day)) = (first.parse::<Date>(), last.parse::<Date>()) else {
        return format!("{first} to {last}");
    };
    let count = first_day.until(last_day).map_or(0, |span| span.get_days()) + 1;
    let of_zone = if zone == "UTC" {
        String::new()
    } else {
        format!(" of {zone}")
    };
    let begin = if first_day.year() == last_day.year() {
        "%-d %b"
    } else {
        "%-d %b %Y"
    };
    let last = last_day.strftime("%-d %b %Y");
    match count {
        1 => format!("{last} (1 day{of_zone})"),
        _ => format!("{} to {last} ({count} days{of_zone})", first_day.strftime(begin)),
    }
}

/// `4 Oct to 31 Oct 2026 (28 days)`: the days of a period, or its instants where it does not begin and end at midnight.
pub fn period(period: &Period) -> String {
    const DAY: i64 = 86_400;
    let whole = |t: Timestamp| t.as_second().rem_euclid(DAY) == 0;
    if period.seconds() == 0 || !whole(period.start) || !whole(period.end) {
        return format!("{} to {}", instant(period.start), instant(period.end));
    }
    let days = period.seconds() / DAY;
    let first = TimeZone::UTC.to_datetime(period.start);
    let last = TimeZone::UTC.to_datetime(period.end - SignedDuration::from_hours(24));
    if days == 1 {
        return first.strftime("%-d %b %Y").to_string();
    }
    let begin = if first.year() == last.year() {
        "%-d %b"
    } else {
        "%-d %b %Y"
    };
    format!(
        "{} to {} ({days} days)",
        first.strftime(begin),
        last.strftime("%-d %b %Y")
    )
}

/// What a user typed, in backticks; of a very long text only the beginning.
pub fn echoed(text: &str) -> String {
    format!("`{}`", shortened(text, ECHO))
}

/// At most that many characters; what is cut off is said by its sign.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// `1 row`, `2 rows`.
pub fn plural(number: u64, one: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {one}{ending}", count(number))
}

/// `-0.00` is nothing, and nothing has no sign.
fn unsigned_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if !rest.contains(|c: char| ('1'..='9').contains(&c)) => rest.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_echo_is_cut() {
        assert_eq!(echoed("i-0aaa"), "`i-0aaa`");
        assert_eq!(echoed(&"é".repeat(5000)), format!("`{}…`", "é".repeat(ECHO)));
    }

    fn money(text: &str) -> Money {
        Money::parse(text).unwrap()
    }

    #[test]
    fn money_has_cents_and_separators() {
        assert_eq!(cents(money("1234.5")), "1,234.50");
        assert_eq!(cents(money("-1234567.895")), "-1,234,567.90");
        assert_eq!(cents(money("999.999")), "1,000.00");
        assert_eq!(cents(money("-100")), "-100.00");
        assert_eq!(cents(money("-0.001")), "0.00");
        assert_eq!(estimate_cents(Estimate::new(-0.001)), "0.00");
        assert_eq!(estimate_cents(Estimate::new(98765.4321)), "98,765.43");
    }

    #[test]
    fn estimates_are_short() {
        let of = |v: f64| short(Estimate::new(v));
        assert_eq!(
            [
                of(0.0),
                of(3.146),
                of(9.996),
                of(914.2),
                of(999.6),
                of(18_249.0),
                of(999_949.0),
                of(999_951.0)
            ],
            ["0.00", "3.15", "10", "914", "1.0k", "18.2k", "999.9k", "1.00M"]
        );
        assert_eq!([of(-18_249.0), of(-0.001)], ["-18.2k", "0.00"]);
    }

    #[test]
    fn ranges_are_ranges() {
        let of = |a: f64, b: f64, c: f64| {
            range(&Range {
                p10: Estimate::new(a),
                p50: Estimate::new(b),
                p90: Estimate::new(c),
            })
        };
        assert_eq!(of(15_900.0, 18_200.0, 20_100.0), "18.2k (15.9k to 20.1k)");
        assert_eq!(of(914.0, 914.0, 914.0), "914");
        assert_eq!(of(914.0, 914.0, 990.0), "914 (914 to 990)");
    }

    #[test]
    fn counts_and_shares() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(plural(1, "row"), "1 row");
        assert_eq!(plural(1000, "row"), "1,000 rows");
        assert_eq!(share(0.4312), "43.1 %");
        assert_eq!(share(-0.0001), "0.0 %");
        assert_eq!(share_of(money("1"), money("4")), Some(0.25));
        assert_eq!(share_or_unknown(share_of(money("1"), Money::ZERO)), UNKNOWN);
        assert_eq!(quantity(1234.56), "1,234.6");
    }

    #[test]
    fn numbers_times_and_periods() {
        assert_eq!(
            [plain(14.0), plain(0.5), plain(1234.567), plain(-0.0), plain(100.0)],
            ["14", "0.5", "1,234.57", "0", "100"]
        );
        let of = |from: &str, to: &str| {
            period(&Period {
                start: from.parse().unwrap(),
                end: to.parse().unwrap(),
            })
        };
        assert_eq!(
            of("2026-10-04T00:00:00Z", "2026-11-01T00:00:00Z"),
            "4 Oct to 31 Oct 2026 (28 days)"
        );
        assert_eq!(
            of("2025-12-31T00:00:00Z", "2026-01-02T00:00:00Z"),
            "31 Dec 2025 to 1 Jan 2026 (2 days)"
        );
        assert_eq!(of("2026-10-04T00:00:00Z", "2026-10-05T00:00:00Z"), "4 Oct 2026");
        assert_eq!(
            of("2026-10-04T00:00:00Z", "2026-10-05T07:30:00Z"),
            "4 Oct 2026 00:00 UTC to 5 Oct 2026 07:30 UTC"
        );
    }
}
