//! Why a cost changed: prices, how much was used, of what, and what is new or gone. The four parts sum to the change.

use std::collections::BTreeMap;

use lowwater_model::money::Estimate;
use serde::Serialize;

/// What was used of one thing, and what it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// How much, in one unit for all, such as GPU-hours.
    pub quantity: f64,
    /// What it cost.
    pub cost: f64,
}

impl Used {
    fn rate(self) -> f64 {
        self.cost / self.quantity
    }
}

/// The parts of a change of cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Movement {
    /// The same things at another price.
    pub price: Estimate,
    /// More or less of all that was there before and after, in the same proportions.
    pub volume: Estimate,
    /// More of some of it and less of others.
    pub mix: Estimate,
    /// What is new, less what is gone, and what is not counted in quantities.
    pub new: Estimate,
}

impl Movement {
    /// All of it.
    pub fn total(&self) -> Estimate {
        self.price + self.volume + self.mix + self.new
    }

    /// The largest part.
    pub fn cause(&self) -> Cause {
        let parts = [
            (Cause::New, self.new),
            (Cause::Volume, self.volume),
            (Cause::Price, self.price),
            (Cause::Mix, self.mix),
        ];
        let size = |part: &(Cause, Estimate)| part.1.amount().abs();
        // Of equals the first, so that the answer does not depend on chance.
        parts
            .iter()
            .rev()
            .max_by(|a, b| size(a).total_cmp(&size(b)))
            .map_or(Cause::New, |part| part.0)
    }
}

/// Why, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Another price.
    Price,
    /// More or less.
    Volume,
    /// Of other things.
    Mix,
    /// New, or gone.
    New,
}

/// Splits a change of cost. `before` and `now` are keyed by what has a price of its own, such as an SKU.
///
/// For the things of both periods, with quantities q, rates p and sums Q: volume = (Q1 - Q0) · C0/Q0,
/// price = Σ (p1 - p0) · q1, mix = the rest, Σ (q1 - q0·Q1/Q0) · p0. What is in one period alone, or has no quantity, is new.
pub fn movement(before: &BTreeMap<String, Used>, now: &BTreeMap<String, Used>) -> Movement {
    let counted = |key: &String| {
        let (was, is) = (before.get(key)?, now.get(key)?);
        (was.quantity > 0.0 && is.quantity > 0.0).then_some((*was, *is))
    };
    let both: Vec<(Used, Used)> = before.keys().filter_map(counted).collect();
    let sum = |pick: fn(&(Used, Used)) -> f64| both.iter().map(pick).sum::<f64>();
    let (quantity_before, quantity_now) = (sum(|b| b.0.quantity), sum(|b| b.1.quantity));
    let (cost_before, cost_now) = (sum(|b| b.0.cost), sum(|b| b.1.cost));
    let price: f64 = both
        .iter()
        .map(|(was, is)| (is.rate() - was.rate()) * is.quantity)
        .sum();
    let volume = if quantity_before > 0.0 {
        (quantity_now - quantity_before) * cost_before / quantity_before
    } else {
        0.0
    };
    let all = |used: &BTreeMap<String, Used>| used.values().map(|u| u.cost).sum::<f64>();
    Movement {
        price: Estimate::new(price),
        volume: Estimate::new(volume),
        mix: Estimate::new(cost_now - cost_before - price - volume),
        new: Estimate::new((all(now) - cost_now) - (all(before) - cost_before)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn used(parts: &[(&str, f64, f64)]) -> BTreeMap<String, Used> {
        parts
            .iter()
            .map(|(key, quantity, cost)| {
                (
                    (*key).to_owned(),
                    Used {
                        quantity: *quantity,
                        cost: *cost,
                    },
                )
            })
            .collect()
    }

    #[test]
    fn each_cause_alone() {
        let before = used(&[("h100", 10.0, 100.0), ("a100", 10.0, 50.0)]);
        let alone = |now: &[(&str, f64, f64)]| {
            let moved = movement(&before, &used(now));
            (moved.cause(), moved.total().rounded().amount())
        };
        assert_eq!(
            alone(&[("h100", 20.0, 200.0), ("a100", 20.0, 100.0)]),
            (Cause::Volume, 150.0)
        );
        assert_eq!(
            alone(&[("h100", 10.0, 120.0), ("a100", 10.0, 60.0)]),
            (Cause::Price, 30.0)
        );
        assert_eq!(alone(&[("h100", 15.0, 150.0), ("a100", 5.0, 25.0)]), (Cause::Mix, 25.0));
        assert_eq!(
            alone(&[("h100", 10.0, 100.0), ("a100", 10.0, 50.0), ("l4", 1.0, 9.0)]),
            (Cause::New, 9.0)
        );
        assert_eq!(alone(&[("h100", 10.0, 100.0)]), (Cause::New, -50.0));
    }

    #[test]
    fn what_has_no_quantity_is_no_price() {
        let moved = movement(&used(&[("storage", 0.0, 10.0)]), &used(&[("storage", 0.0, 15.0)]));
        assert_eq!((moved.price.amount(), moved.new.amount()), (0.0, 5.0));
    }

    proptest! {
        #[test]
        fn the_parts_sum_to_the_change(
            before in prop::collection::btree_map("[a-d]", (0.0..1e4, -1e4..1e6), 0..4),
            now in prop::collection::btree_map("[a-d]", (0.0..1e4, -1e4..1e6), 0..4),
        ) {
            let make = |m: BTreeMap<String, (f64, f64)>| -> BTreeMap<String, Used> {
                m.into_iter().map(|(k, (quantity, cost))| (k, Used { quantity, cost })).collect()
            };
            let (before, now) = (make(before), make(now));
            let sum = |m: &BTreeMap<String, Used>| m.values().map(|u| u.cost).sum::<f64>();
            let (want, got) = (sum(&now) - sum(&before), movement(&before, &now).total().amount());
            prop_assert!((want - got).abs() <= 1e-6 * (1.0 + sum(&now).abs() + sum(&before).abs()) * 1e3, "{want} {got}");
        }
    }
}
