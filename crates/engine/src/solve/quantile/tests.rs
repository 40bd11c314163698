use proptest::prelude::*;

use super::*;

fn at_one(units: &[f64]) -> Vec<HourDemand> {
    units
        .iter()
        .map(|units| HourDemand {
            units: *units,
            price: 1.0,
        })
        .collect()
}

fn cost(hours: &[HourDemand], level: u64, rate: f64) -> f64 {
    let spill = |hour: &HourDemand| hour.price * (hour.units - level as f64).max(0.0);
    rate * level as f64 * hours.len() as f64 + hours.iter().map(spill).sum::<f64>()
}

/// Looks at every level.
fn by_force(hours: &[HourDemand], rate: f64) -> u64 {
    (0..=60).fold(0, |best, level| {
        if cost(hours, level, rate) < cost(hours, best, rate) - 1e-9 {
            level
        } else {
            best
        }
    })
}

fn whole() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((0..50_u32).prop_map(f64::from), 1..80)
}

fn hours() -> impl Strategy<Value = Vec<HourDemand>> {
    let one = (0.0..50.0_f64, 0.1..4.0_f64).prop_map(|(units, price)| HourDemand { units, price });
    prop::collection::vec(one, 1..80)
}

proptest! {
    /// These discounts tie with no count of fewer than 80 hours.
    #[test]
    fn the_best_of_all_levels_whole_demand(units in whole(), discount in prop::sample::select(&[0.2807, 0.5701, 0.8993][..])) {
        let hours = at_one(&units);
        let level = best_level(&hours, 1.0 - discount);
        prop_assert_eq!(level, by_force(&hours, 1.0 - discount));
        let reached = |level: u64| units.iter().filter(|units| **units >= level as f64).count() as f64;
        let needed = (1.0 - discount) * units.len() as f64;
        prop_assert!(level == 0 || reached(level) > needed);
        prop_assert!(reached(level + 1) <= needed);
        prop_assert_eq!(quantile_level(&units, discount), level as f64);
    }

    #[test]
    fn the_best_of_all_levels_any_demand(hours in hours(), rate in 0.05..4.0_f64) {
        let level = best_level(&hours, rate);
        let force = by_force(&hours, rate);
        prop_assert!((cost(&hours, level, rate) - cost(&hours, force, rate)).abs() < 1e-6, "{} against {}", level, force);
    }

    #[test]
    fn no_part_of_a_unit_is_better_than_the_quantile(demand in prop::collection::vec(0.0..50.0_f64, 1..60), discount in 0.01..0.99_f64, other in 0.0..60.0_f64) {
        let hours = at_one(&demand);
        let total = |level| outcome(&hours, level, 1.0 - discount).total();
        prop_assert!(total(quantile_level(&demand, discount)) <= total(other) + 1e-9);
    }

    #[test]
    fn the_metrics_fit_together(hours in hours(), level in 0..60_u32, rate in 0.05..4.0_f64) {
        let got = outcome(&hours, f64::from(level), rate);
        prop_assert!((got.total() - cost(&hours, level.into(), rate)).abs() < 1e-6);
        prop_assert!((got.covered + got.spill - got.on_demand).abs() < 1e-6);
        prop_assert!(got.utilisation().is_none_or(|share| (0.0..=1.0 + 1e-12).contains(&share)));
        // With one price: ESR = coverage x (1 - (1 - d) / utilisation).
        let flat: Vec<_> = hours.iter().map(|hour| HourDemand { price: 4.0, ..*hour }).collect();
        let got = outcome(&flat, f64::from(level), rate);
        if let (Some(u), Some(c), Some(esr)) = (got.utilisation(), got.coverage(), got.effective_savings_rate()) {
            let even = break_even_utilisation(rate, 4.0).unwrap();
            prop_assert!((esr - c * (1.0 - even / u)).abs() < 1e-9);
            prop_assert_eq!(esr < -1e-9, u < even - 1e-9 * u && esr < -1e-9);
        }
    }
}

#[test]
fn a_unit_that_breaks_even_is_not_bought() {
    let hours = at_one(&[0.0, 1.0, 2.0, 2.0]);
    assert_eq!(
        best_level(&hours, 0.5),
        1,
        "two of four hours reach 2: no more than half"
    );
    assert_eq!(
        (quantile_level(&[0.0, 1.0, 2.0, 2.0], 0.5), best_level(&hours, 0.49)),
        (1.0, 2)
    );
    assert_eq!(
        (best_level(&[], 0.5), quantile_level(&[], 0.5), best_level(&hours, 5.0)),
        (0, 0.0, 0)
    );
    let nothing = outcome(&[], 3.0, 0.5);
    assert_eq!(
        (
            nothing.utilisation(),
            nothing.coverage(),
            nothing.effective_savings_rate()
        ),
        (None, None, None)
    );
    assert_eq!(break_even_utilisation(1.0, 0.0), None);
}
