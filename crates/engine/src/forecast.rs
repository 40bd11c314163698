//! What the days to come will cost, from the days that were: by weekday, with a band as wide as they were uneven.

use jiff::civil::{Date, Weekday};
use lowwater_model::money::{Estimate, Range};

/// Days that are looked back on: four of each weekday.
const LOOK_BACK_DAYS: usize = 28;
/// The tenth and the ninetieth part of a normal distribution lie so many standard deviations from its middle.
const NINE_TENTHS: f64 = 1.2816;
/// A forecast is never surer than this: prices and habits change.
const LEAST_BAND: f64 = 0.03;

/// The cost of whole days from `first` to before `after`, from the days before, in order. None without a week of them.
///
/// The middle is the mean of each weekday over the last 28 days. The band is the standard deviation of the days from
/// these means, times the square root of the days to come, as if days were independent; at least 3 % either way.
pub fn forecast(days: &[(Date, f64)], first: Date, after: Date) -> Option<Range> {
    let recent = &days[days.len().saturating_sub(LOOK_BACK_DAYS)..];
    if recent.len() < 7 {
        return None;
    }
    let overall = mean(recent.iter().map(|(_, cost)| *cost))?;
    let usual = |weekday: Weekday| {
        let same = recent.iter().filter(|(day, _)| day.weekday() == weekday);
        mean(same.map(|(_, cost)| *cost)).unwrap_or(overall)
    };
    let squares = recent.iter().map(|(day, cost)| (cost - usual(day.weekday())).powi(2));
    // As many means were taken from the days as there are weekdays.
    let free = recent.len().saturating_sub(7).max(1);
    let deviation = (squares.sum::<f64>() / free as f64).sqrt();
    let ahead: Vec<f64> = first
        .series(jiff::Span::new().days(1))
        .take_while(|day| *day < after)
        .map(|day| usual(day.weekday()))
        .collect();
    let middle: f64 = ahead.iter().sum();
    let half = (NINE_TENTHS * deviation * (ahead.len() as f64).sqrt()).max(middle.abs() * LEAST_BAND);
    let range = Range {
        p10: Estimate::new(middle - half),
        p50: Estimate::new(middle),
        p90: Estimate::new(middle + half),
    };
    Some(range.rounded())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::ToSpan;
    use jiff::civil::date;

    /// Weekdays cost 100, weekends 40.
    fn office(days: i64) -> Vec<(Date, f64)> {
        let first = date(2026, 9, 1);
        let cost = |day: Date| {
            if day.weekday().to_monday_one_offset() > 5 {
                40.0
            } else {
                100.0
            }
        };
        (0..days)
            .map(|n| first + n.days())
            .map(|day| (day, cost(day)))
            .collect()
    }

    #[test]
    fn weekends_are_not_weekdays() {
        // 2026-10-05 is a Monday.
        let range = forecast(&office(34), date(2026, 10, 5), date(2026, 10, 12)).unwrap();
        assert_eq!(range.p50, Estimate::new(5.0 * 100.0 + 2.0 * 40.0));
        assert_eq!(range.p10, Estimate::new(580.0 * 0.97), "even days have the least band");
        let weekend = forecast(&office(34), date(2026, 10, 10), date(2026, 10, 12)).unwrap();
        assert_eq!(weekend.p50, Estimate::new(80.0));
    }

    #[test]
    fn uneven_days_have_a_wide_band() {
        let mut days = office(28);
        days.iter_mut()
            .enumerate()
            .for_each(|(at, day)| day.1 += if at / 7 % 2 == 0 { 30.0 } else { -30.0 });
        let range = forecast(&days, date(2026, 9, 29), date(2026, 10, 6)).unwrap();
        // 28 squares of 900 over 21 free, times seven days.
        let half = NINE_TENTHS * (28.0 * 900.0 / 21.0_f64).sqrt() * 7.0_f64.sqrt();
        assert_eq!(range.p50, Estimate::new(580.0));
        assert!((range.p90.amount() - (580.0 + half)).abs() < 1e-5, "{range:?}");
    }

    #[test]
    fn less_than_a_week_says_nothing_and_no_day_costs_nothing() {
        assert_eq!(forecast(&office(6), date(2026, 10, 1), date(2026, 10, 2)), None);
        let none = forecast(&office(28), date(2026, 10, 1), date(2026, 10, 1)).unwrap();
        assert_eq!(none, Range::exactly(Estimate::ZERO));
    }
}
