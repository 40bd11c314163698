//! What a price list must pass: each gate would have caught a fault that users of some tool reported.
//!
//! A finding is a warning, not a refusal: a spot price above that on demand is real at times.

use std::collections::BTreeMap;

use lowwater_model::offer::Market;

use super::Price;

/// Accelerators that machines have; a share of one is one of the fractions.
const COUNTS: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];
/// An n-GPU machine costs n times a 1-GPU machine, within these.
const PER_GPU: (f64, f64) = (0.8, 1.25);
/// A change against the last list that somebody should look at.
const CHANGE: f64 = 0.25;
/// How many are named before the rest is counted.
const NAMED: usize = 3;

/// Where and on which terms: one price each.
type Key = (String, String, String, Market);

fn key(price: &Price) -> Key {
    (
        price.sku.clone(),
        price.region.clone(),
        price.zone.clone(),
        price.market,
    )
}

fn name(price: &Price) -> String {
    let place = if price.zone.is_empty() {
        &price.region
    } else {
        &price.zone
    };
    format!("{} {} in {place}", price.sku, price.market)
}

/// Keeps the first of several prices of one thing, and says so where they differ.
pub(super) fn one_price_each(prices: Vec<Price>) -> (Vec<Price>, Vec<String>) {
    let mut kept: BTreeMap<Key, Price> = BTreeMap::new();
    let mut differ = Vec::new();
    for price in prices {
        match kept.get(&key(&price)) {
            Some(first) if first.rate != price.rate => {
                differ.push(format!("{} ({} and {})", name(&price), first.rate, price.rate));
            }
            Some(_) => {}
            None => drop(kept.insert(key(&price), price)),
        }
    }
    let warning = told("listed twice with different prices; the first is used", &differ);
    (kept.into_values().collect(), warning)
}

/// What somebody should look at, against `before`, the last list of the same provider.
pub(super) fn findings(prices: &[Price], before: &[Price]) -> Vec<String> {
    let by_key: BTreeMap<Key, &Price> = prices.iter().map(|p| (key(p), p)).collect();
    if let Some(changed) = changed_unit(&by_key, before) {
        return vec![changed];
    }
    let mut out = told(
        "with a number of accelerators that machines do not have",
        &odd_counts(prices),
    );
    out.extend(told("dearer on spot than on demand", &dear_spot(prices, &by_key)));
    out.extend(told(
        "priced unlike its 1-accelerator sibling, per accelerator",
        &uneven(prices),
    ));
    out.extend(changes(&by_key, before));
    out
}

/// One warning for all findings of a gate: how many, and the first by name.
fn told(what: &str, names: &[String]) -> Vec<String> {
    if names.is_empty() {
        return Vec::new();
    }
    let rest = if names.len() > NAMED { ", …" } else { "" };
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    vec![format!("{} {what}: {named}{rest}", names.len())]
}

fn odd_counts(prices: &[Price]) -> Vec<String> {
    let odd = |p: &&Price| {
        p.count
            .is_some_and(|n| n > 1.0 && !COUNTS.contains(&n) && !p.sku.starts_with("tpu-"))
    };
    let on_demand = prices.iter().filter(|p| p.market == Market::OnDemand);
    on_demand
        .filter(odd)
        .map(|p| format!("{} ({})", name(p), p.count.unwrap_or_default()))
        .collect()
}

fn dear_spot(prices: &[Price], by_key: &BTreeMap<Key, &Price>) -> Vec<String> {
    let spot = prices.iter().filter(|p| p.market == Market::Spot);
    let dear = |p: &&Price| {
        let on_demand = (p.sku.clone(), p.region.clone(), p.zone.clone(), Market::OnDemand);
        by_key.get(&on_demand).is_some_and(|o| p.rate > o.rate)
    };
    spot.filter(dear).map(name).collect()
}

/// The family of an instance type: `p4d` of `p4d.24xlarge`, `a2-highgpu` of `a2-highgpu-8g`.
fn family(sku: &str) -> &str {
    let end = sku.rfind(['.', '-']).unwrap_or(sku.len());
    &sku[..end]
}

/// not money: a price of one accelerator, to compare prices with each other.
fn per_accelerator(price: &Price) -> Option<f64> {
    let count = price.count.filter(|n| *n >= 1.0)?;
    Some(price.rate.estimate().amount() / count)
}

fn uneven(prices: &[Price]) -> Vec<String> {
    let mut single: BTreeMap<(&str, &str, &str), f64> = BTreeMap::new();
    let on_demand = || prices.iter().filter(|p| p.market == Market::OnDemand);
    for price in on_demand().filter(|p| p.count == Some(1.0)) {
        let place = (family(&price.sku), price.region.as_str(), price.zone.as_str());
        let rate = price.rate.estimate().amount();
        // The barest machine with one: others of the family add processors and memory.
        single.entry(place).and_modify(|r| *r = r.min(rate)).or_insert(rate);
    }
    let uneven = |p: &&Price| {
        let place = (family(&p.sku), p.region.as_str(), p.zone.as_str());
        let ratio = single.get(&place).zip(per_accelerator(p)).map(|(one, each)| each / one);
        p.count.is_some_and(|n| n > 1.0) && ratio.is_some_and(|r| r < PER_GPU.0 || r > PER_GPU.1)
    };
    on_demand().filter(uneven).map(name).collect()
}

/// Prices of both lists: the old one and the new one.
fn pairs<'a>(now: &BTreeMap<Key, &'a Price>, before: &'a [Price]) -> Vec<(&'a Price, &'a Price)> {
    before
        .iter()
        .filter_map(|old| Some((old, *now.get(&key(old))?)))
        .collect()
}

fn ratio(old: &Price, new: &Price) -> f64 {
    new.rate.estimate().amount() / old.rate.estimate().amount()
}

/// If nearly all prices of machines with several accelerators changed by exactly their number, the unit of the list did.
fn changed_unit(now: &BTreeMap<Key, &Price>, before: &[Price]) -> Option<String> {
    let pairs = pairs(now, before);
    let several: Vec<_> = pairs
        .iter()
        .filter(|(_, new)| new.count.is_some_and(|n| n > 1.0))
        .collect();
    let by_count = |(old, new): &&&(&Price, &Price)| {
        let count = new.count.unwrap_or(1.0);
        [count, 1.0 / count]
            .iter()
            .any(|unit| (ratio(old, new) / unit - 1.0).abs() < 1e-3)
    };
    if several.iter().filter(by_count).count() * 10 < several.len() * 9 {
        return None;
    }
    let (old, new) = several.first()?;
    Some(format!(
        "the list changed its unit: {} went from {} to {}, by its number of accelerators, and so did the others; \
         prices are for an hour of the whole instance",
        name(new),
        old.rate,
        new.rate
    ))
}

/// Changes of more than a quarter.
fn changes(now: &BTreeMap<Key, &Price>, before: &[Price]) -> Vec<String> {
    let moved: Vec<String> = pairs(now, before)
        .iter()
        .filter(|(old, new)| (ratio(old, new) - 1.0).abs() > CHANGE)
        .map(|(old, new)| format!("{} ({} to {})", name(new), old.rate, new.rate))
        .collect();
    told("changed by more than 25 % since the last list", &moved)
}

#[cfg(test)]
mod tests {
    use lowwater_model::money::Money;

    use super::*;

    fn price(sku: &str, count: f64, market: Market, rate: &str) -> Price {
        Price {
            region: "us-east-1".into(),
            zone: String::new(),
            sku: sku.into(),
            accelerator: "H100".into(),
            count: Some(count),
            market,
            rate: Money::parse(rate).unwrap(),
        }
    }

    fn on_demand(sku: &str, count: f64, rate: &str) -> Price {
        price(sku, count, Market::OnDemand, rate)
    }

    #[test]
    fn a_good_list_passes() {
        let prices = [
            on_demand("a3-highgpu-1g", 1.0, "11"),
            on_demand("a3-highgpu-8g", 8.0, "88.25"),
            price("a3-highgpu-8g", 8.0, Market::Spot, "30"),
            on_demand("g2-shared", 0.5, "1"),
        ];
        assert_eq!(findings(&prices, &prices), Vec::<String>::new());
        assert_eq!(one_price_each(prices.to_vec()).1, Vec::<String>::new());
    }

    #[test]
    fn each_gate_closes() {
        let found = |prices: &[Price], before: &[Price]| findings(prices, before).join("; ");
        // skypilot-catalog PR 50: 12 accelerators.
        assert!(found(&[on_demand("ND96isr_H100_v5", 12.0, "98")], &[]).contains("(12)"));
        // The spot price of p5.48xlarge in ca-central-1 was 62 % above.
        let dear = [
            on_demand("p5.48xlarge", 8.0, "55"),
            price("p5.48xlarge", 8.0, Market::Spot, "89"),
        ];
        assert!(found(&dear, &[]).contains("1 dearer on spot than on demand: p5.48xlarge spot in us-east-1"));
        // skypilot PR 9156: h100 x8 at 8.00 beside 3.58 for one.
        let uneven = [on_demand("h100.x1", 1.0, "3.58"), on_demand("h100.x8", 8.0, "8")];
        assert!(found(&uneven, &[]).contains("1 priced unlike its 1-accelerator sibling"));
        // p5 fell by 44 % in June 2025: real, and worth a look.
        let (old, new) = (
            on_demand("p5.48xlarge", 8.0, "98.32"),
            on_demand("p5.48xlarge", 8.0, "55.04"),
        );
        assert!(found(&[new], &[old]).contains("p5.48xlarge on_demand in us-east-1 (98.32 to 55.04)"));
    }

    #[test]
    fn a_change_of_the_unit_is_told_from_a_change_of_prices() {
        let list = |per: f64| {
            [
                ("p5.48xlarge", 8.0, 55.04),
                ("g6.12xlarge", 4.0, 4.6),
                ("g6.xlarge", 1.0, 0.8),
            ]
            .map(|(sku, n, rate): (&str, f64, f64)| {
                on_demand(sku, n, &format!("{:.6}", if per > 1.0 { rate / n } else { rate }))
            })
        };
        let found = findings(&list(8.0), &list(1.0));
        assert!(
            found[0].starts_with("the list changed its unit: ") && found.len() == 1,
            "{found:?}"
        );
    }

    #[test]
    fn of_two_prices_the_first_counts() {
        // skypilot-org/skypilot#3750: 0.178 and 0.086 for one Azure type.
        let (kept, warnings) = one_price_each(vec![on_demand("NC4", 1.0, "0.178"), on_demand("NC4", 1.0, "0.086")]);
        assert_eq!(kept, [on_demand("NC4", 1.0, "0.178")]);
        assert!(warnings[0].contains("(0.178 and 0.086)"), "{warnings:?}");
    }
}
