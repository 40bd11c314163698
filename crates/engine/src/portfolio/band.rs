//! How sure a saving is: the spread of what the step would have saved in each week of the history.
//!
//! Whole weeks are counted back from the end of the history to the first hour that the step saves. With w the weekly
//! savings, m their mean and q their quantile (linear between neighbours), p50 is the replayed amount,
//! p10 = p50 x min(0.95, q(0.1) / m) and p90 = p50 x max(1.05, q(0.9) / m). A good week and a bad week thus move the whole
//! period: wider than independent weeks would be, because bad weeks come together. Fewer than two whole weeks say
//! nothing of spread: the band is half to one and a half times the amount, and says so.
//!
//! A commitment may lose money, so its ends may lie below zero: with W the weeks of the replayed period,
//! p10 = p50 + W (q(0.1) - m) and p90 = p50 + W (q(0.9) - m), a twentieth of p50 away at least. Where the change knows a worse and a better world, what
//! it saves there moves the ends, as if bad weeks and bad markets came together.

use lowwater_model::change::Change;
use lowwater_model::money::{Estimate, Range};
use lowwater_model::period::{HOUR_SECONDS, Period};

use crate::replay::{Replay, Saved};

const WEEK_SECONDS: i64 = 7 * 24 * HOUR_SECONDS;
const LOW: f64 = 0.1;
const HIGH: f64 = 0.9;
/// Half and one and a half times: what nobody measured is worth saying out loud.
const BLIND: (f64, f64) = (0.5, 1.5);

/// No range is narrower than a twentieth either way: months differ by a weekend day or a holiday, whatever weeks say. In
/// backtests of the sample organisation two of five outcomes lay inside ranges without this.
const LEAST: (f64, f64) = (0.95, 1.05);

/// Differences that are no more than rounding of floats.
const TINY: f64 = 1e-9;

/// What one step would have saved, week by week.
pub(super) struct Weeks(Vec<Saved>);

impl Weeks {
    /// Between two replays that differ by the change.
    pub(super) fn of(before: &Replay<'_>, after: &Replay<'_>, change: &Change) -> Self {
        let facts = before.facts();
        let first = Replay::of(facts).with(change).first_saving();
        let weeks = whole_weeks(facts.history, first);
        Self(
            weeks
                .into_iter()
                .map(|week| after.saved_in(week) - before.saved_in(week))
                .collect(),
        )
    }

    pub(super) fn cash(&self, middle: Estimate) -> Range {
        range(
            middle,
            &self.0.iter().map(|week| week.cash.amount()).collect::<Vec<_>>(),
        )
    }

    /// The range of a change that may lose money.
    pub(super) fn open_cash(&self, middle: Estimate, period: Period) -> Range {
        let weeks = self.0.iter().map(|week| week.cash.amount()).collect();
        open_range(
            middle,
            weeks,
            period.hours() * HOUR_SECONDS as f64 / WEEK_SECONDS as f64,
        )
    }

    pub(super) fn freed(&self, middle: Estimate) -> Range {
        range(
            middle,
            &self.0.iter().map(|week| week.freed.amount()).collect::<Vec<_>>(),
        )
    }

    /// Where the band is from, in words, and which of its ends is the replayed amount because the weeks say less.
    pub(super) fn describe(&self) -> String {
        let weeks: Vec<f64> = self.0.iter().map(|week| week.cash.amount()).collect();
        if weeks.len() < 2 {
            return "range: fewer than two whole weeks to compare, so half to one and a half times the amount".into();
        }
        let (low, high) = spread(&weeks);
        let widened = match (low > LEAST.0 + TINY, high < LEAST.1 - TINY) {
            (true, true) => "; they differ so little that both ends are a twentieth away",
            (true, false) => "; they fall so little that the low end is a twentieth away",
            (false, true) => "; they rise so little that the high end is a twentieth away",
            (false, false) => "",
        };
        format!(
            "range: from the tenth to the ninetieth percentile of {} whole weeks{widened}",
            weeks.len()
        )
    }
}

/// Whole weeks of the history after its first saving, the newest first.
fn whole_weeks(history: Period, first: Option<i64>) -> Vec<Period> {
    let Some(first) = first else { return Vec::new() };
    let end = history.end.as_second();
    let count = (end - first.max(history.start.as_second()))
        .div_euclid(WEEK_SECONDS)
        .max(0);
    (0..count)
        .map(|week| end - week * WEEK_SECONDS)
        .map(|end| Period::from_seconds(end - WEEK_SECONDS, end))
        .collect()
}

/// The `q`-quantile of sorted values, linear between neighbours.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

/// The tenth and the ninetieth percentile of weekly savings as parts of their mean; nothing saved in any week is nothing
/// to spread.
fn spread(weeks: &[f64]) -> (f64, f64) {
    let mut weeks = weeks.to_vec();
    weeks.sort_by(f64::total_cmp);
    let mean = weeks.iter().sum::<f64>() / weeks.len() as f64;
    if mean <= 0.0 {
        return (1.0, 1.0);
    }
    (quantile(&weeks, LOW) / mean, quantile(&weeks, HIGH) / mean)
}

/// The ends of the band as parts of the middle.
fn factors(weeks: &[f64]) -> (f64, f64) {
    if weeks.len() < 2 {
        return BLIND;
    }
    let (low, high) = spread(weeks);
    (low.min(LEAST.0), high.max(LEAST.1))
}

fn range(middle: Estimate, weeks: &[f64]) -> Range {
    let (low, high) = factors(weeks);
    around(middle, middle.scaled(low.max(0.0)), middle.scaled(high))
}

fn open_range(middle: Estimate, mut weeks: Vec<f64>, count: f64) -> Range {
    if weeks.len() < 2 {
        let half = middle.amount().abs() / 2.0;
        return around(middle, middle - Estimate::new(half), middle + Estimate::new(half));
    }
    weeks.sort_by(f64::total_cmp);
    let mean = weeks.iter().sum::<f64>() / weeks.len() as f64;
    let least = middle.amount().abs() * (LEAST.1 - 1.0);
    let away = |q: f64| (quantile(&weeks, q) - mean) * count;
    let end = |away: f64| middle + Estimate::new(away);
    around(middle, end(away(LOW).min(-least)), end(away(HIGH).max(least)))
}

/// The range with its ends moved by what a worse and a better world make of its middle.
pub(super) fn widened(range: Range, worse: Estimate, better: Estimate) -> Range {
    let (down, up) = (worse - range.p50, better - range.p50);
    around(range.p50, range.p10 + down, range.p90 + up)
}

/// A range whose ends lie on their sides of the middle, as it enters a plan.
pub(super) fn around(middle: Estimate, low: Estimate, high: Estimate) -> Range {
    let middle = middle.rounded().amount();
    let end = |value: Estimate| value.rounded().amount();
    Range {
        p10: Estimate::new(end(low).min(middle)),
        p50: Estimate::new(middle),
        p90: Estimate::new(end(high).max(middle)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(middle: f64, weeks: &[f64]) -> (f64, f64, f64) {
        let range = range(Estimate::new(middle), weeks);
        (range.p10.amount(), range.p50.amount(), range.p90.amount())
    }

    #[test]
    fn the_band_is_the_spread_of_the_weeks() {
        assert_eq!(
            of(400.0, &[100.0; 4]),
            (380.0, 400.0, 420.0),
            "never surer than a twentieth"
        );
        // Mean 100; the tenth percentile of 0..=200 in steps of 20 is 20, the ninetieth 180.
        let weeks: Vec<f64> = (0..=10).map(|i| f64::from(i) * 20.0).collect();
        assert_eq!(of(1000.0, &weeks), (200.0, 1000.0, 1800.0));
        assert_eq!(
            of(100.0, &[50.0]),
            (50.0, 100.0, 150.0),
            "one week says nothing of spread"
        );
        assert_eq!(of(0.0, &[0.0, 0.0]), (0.0, 0.0, 0.0));
    }

    #[test]
    fn an_end_that_weeks_do_not_reach_is_said() {
        let words = |weeks: &[f64]| {
            let saved = |cash: &f64| Saved {
                cash: Estimate::new(*cash),
                freed: Estimate::ZERO,
            };
            Weeks(weeks.iter().map(saved).collect()).describe()
        };
        let mut one_bad = [100.0; 20];
        one_bad[0] = 0.0;
        // The tenth and the ninetieth percentile are both a twentieth above the mean.
        assert!(words(&one_bad).ends_with("20 whole weeks; they fall so little that the low end is a twentieth away"));
        let mut one_good = [1.0; 20];
        one_good[0] = 100.0;
        assert!(words(&one_good).contains("so little that the high end is a twentieth away"));
        assert!(words(&[1.0, 2.0]).ends_with("percentile of 2 whole weeks"));
        assert!(words(&[5.0, 5.0]).ends_with("so little that both ends are a twentieth away"));
    }

    #[test]
    fn a_change_that_may_lose_has_an_open_low_end() {
        let of = |middle: f64, weeks: &[f64], count: f64| {
            let range = open_range(Estimate::new(middle), weeks.to_vec(), count);
            (range.p10.amount(), range.p50.amount(), range.p90.amount())
        };
        // Mean 0; the tenth percentile of -100..=100 in steps of 20 is -80.
        let weeks: Vec<f64> = (-5..=5).map(|i| f64::from(i) * 20.0).collect();
        assert_eq!(of(50.0, &weeks, 4.0), (-270.0, 50.0, 370.0));
        assert_eq!(of(100.0, &[1.0], 4.0), (50.0, 100.0, 150.0));
        assert_eq!(of(-100.0, &[], 4.0), (-150.0, -100.0, -50.0));
        assert_eq!(
            of(100.0, &[25.0; 12], 4.0),
            (95.0, 100.0, 105.0),
            "never surer than a twentieth"
        );
        let range = widened(
            open_range(Estimate::new(50.0), weeks, 4.0),
            Estimate::new(-10.0),
            Estimate::new(80.0),
        );
        assert_eq!(
            (range.p10.amount(), range.p50.amount(), range.p90.amount()),
            (-330.0, 50.0, 400.0)
        );
        let odd = widened(range, Estimate::new(60.0), Estimate::new(0.0));
        assert_eq!((odd.p10.amount(), odd.p90.amount()), (-320.0, 350.0));
    }

    #[test]
    fn weeks_are_whole_and_counted_from_the_end() {
        let history = Period::from_seconds(0, 3 * WEEK_SECONDS + 5);
        let starts = |first| -> Vec<i64> {
            whole_weeks(history, first)
                .iter()
                .map(|w| (w.start.as_second() - 5) / WEEK_SECONDS)
                .collect()
        };
        assert_eq!(starts(Some(0)), [2, 1, 0]);
        assert_eq!(starts(Some(-WEEK_SECONDS)), [2, 1, 0], "nothing before the history");
        assert_eq!(
            starts(Some(6)),
            [2, 1],
            "a week that began before the first saving is not whole"
        );
        assert_eq!(starts(Some(9 * WEEK_SECONDS)), [0; 0]);
        assert_eq!(starts(None), [0; 0]);
    }

    proptest! {
        #[test]
        fn quantiles_lie_between_neighbours_and_ends_are_in_order(
            middle in 0.0..1e9_f64,
            weeks in prop::collection::vec(0.0..1e6_f64, 0..20),
        ) {
            let (p10, p50, p90) = of(middle, &weeks);
            prop_assert!(0.0 <= p10 && p10 <= p50 && p50 <= p90);
            let mut sorted = weeks;
            sorted.sort_by(f64::total_cmp);
            for q in [0.0, 0.1, 0.5, 0.9, 1.0] {
                if sorted.is_empty() { break; }
                let value = quantile(&sorted, q);
                let below = sorted.iter().filter(|w| **w < value).count() as f64;
                let above = sorted.iter().filter(|w| **w > value).count() as f64;
                let gaps = (sorted.len() - 1) as f64;
                prop_assert!(below <= (q * gaps).ceil() + 1e-9 && above <= ((1.0 - q) * gaps).ceil() + 1e-9);
            }
        }
    }
}
