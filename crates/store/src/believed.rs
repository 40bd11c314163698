//! Prices that nobody sells for: a slipped decimal would make the best plan of all.

use std::collections::BTreeMap;

use lowwater_model::offer::{Market, Offer};

/// Least share of the on-demand price that spot is believed to cost. Of 75,000 prices of 2023 to 2026 of three clouds the lowest
/// was 9.2 % of the lowest on-demand price of its type.
const LEAST_SPOT: f64 = 0.05;
/// Least share that a commitment is believed to cost: the lowest of 1,600 was 35 %, for three years; AWS names 72 % as the most
/// that three years save.
const LEAST_COMMITTED: f64 = 0.15;

/// The least share of the on-demand price that these terms are believed to cost; none where there is nothing to compare with.
fn least(market: Market) -> Option<f64> {
    match market {
        Market::OnDemand | Market::Block | Market::Owned => None,
        Market::Spot => Some(LEAST_SPOT),
        Market::OneYear | Market::ThreeYears => Some(LEAST_COMMITTED),
    }
}

/// The offers that are believed, and a word on each of the others. The lowest on-demand price of the type in its cloud, wherever
/// that is, is what an offer is compared with; without one it is believed.
pub(crate) fn believed(offers: Vec<Offer>) -> (Vec<Offer>, Vec<String>) {
    let mut on_demand: BTreeMap<(String, String, String), f64> = BTreeMap::new();
    for offer in offers.iter().filter(|offer| offer.market == Market::OnDemand) {
        let rate = on_demand.entry(kind(offer)).or_insert(offer.rate.0);
        *rate = rate.min(offer.rate.0);
    }
    let mut warnings = Vec::new();
    let kept = offers.into_iter().filter(|offer| {
        let doubt = doubt(offer, on_demand.get(&kind(offer)).copied());
        let is_believed = doubt.is_none();
        warnings.extend(doubt);
        is_believed
    });
    let kept = kept.collect();
    warnings.sort_unstable();
    warnings.dedup();
    (kept, warnings)
}

fn kind(offer: &Offer) -> (String, String, String) {
    (
        offer.cloud.clone(),
        offer.sku.as_str().to_lowercase(),
        offer.currency.as_str().to_owned(),
    )
}

fn doubt(offer: &Offer, on_demand: Option<f64>) -> Option<String> {
    let (least, on_demand) = (least(offer.market)?, on_demand?);
    (offer.rate.0 < least * on_demand).then(|| {
        format!(
            "the {} price {} {} of {} in {} {} ({}, {}) is under {:.0} % of its on-demand price {on_demand}: it is not believed and not \
             used; look for a slipped decimal",
            offer.market,
            offer.rate.0,
            offer.currency,
            offer.sku,
            offer.cloud,
            offer.region,
            offer.source,
            offer.as_of,
            least * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use lowwater_model::offer::builtin_offers;

    use super::*;

    /// Offers of one type beside its built-in price of 3.673385.
    fn beside(terms: &[(Market, f64)]) -> (Vec<f64>, Vec<String>) {
        let built_in = builtin_offers()
            .into_iter()
            .find(|offer| offer.sku.as_str() == "a2-highgpu-1g")
            .unwrap();
        let mut offers: Vec<Offer> = terms
            .iter()
            .map(|(market, rate)| {
                let mut offer = built_in.clone();
                (offer.market, offer.rate.0) = (*market, *rate);
                offer
            })
            .collect();
        offers.push(built_in);
        let (kept, warnings) = believed(offers);
        (kept.iter().map(|offer| offer.rate.0).collect(), warnings)
    }

    #[test]
    fn a_price_that_nobody_sells_for_is_left_out_with_a_word() {
        let (kept, warnings) = beside(&[
            (Market::Spot, 1e-30),
            (Market::Spot, 0.1),
            (Market::Spot, 0.4),
            (Market::OneYear, 0.000001),
            (Market::OneYear, 2.2),
            (Market::ThreeYears, 0.5),
            (Market::ThreeYears, 1.2),
        ]);
        assert_eq!(kept, [0.4, 2.2, 1.2, 3.673385]);
        assert_eq!(warnings.len(), 4);
        let one_year = warnings.iter().find(|text| text.contains("0.000001")).unwrap();
        assert!(
            one_year.contains("under 15 % of its on-demand price 3.673385"),
            "{one_year}"
        );
    }

    #[test]
    fn without_an_on_demand_price_there_is_nothing_to_doubt() {
        let mut offer = builtin_offers().remove(0);
        (offer.market, offer.rate.0) = (Market::Spot, 1e-9);
        assert_eq!(believed(vec![offer.clone()]), (vec![offer], Vec::new()));
    }
}
