//! Prices that are too old to decide by.

use std::collections::BTreeMap;

use super::{Kind, Mistake, Scene, compute};
use lowwater_model::charge::PricingCategory;
use lowwater_model::facts::Resource;
use lowwater_model::known::Known;
use lowwater_model::money::Money;
use lowwater_model::offer::{Market, PriceKey};

/// See the module.
pub(super) const KIND: Kind = Kind {
    id: "stale_prices",
    title: "stale prices",
    doc: "What is bought has no price that is younger than [check] max_price_age_days, so a comparison with other offers rests on an old one. What a commitment covers needs no price. Cost: what was bought of it, without that.",
    find,
};

fn find(scene: &Scene<'_>) -> Vec<Mistake> {
    let facts = scene.facts;
    let oldest = scene.policy.section("check").int("max_price_age_days");
    let day = jiff::tz::TimeZone::UTC.to_datetime(facts.as_of).date();
    let mut bought: BTreeMap<(&str, &str, &str), Money> = BTreeMap::new();
    for resource in &facts.resources {
        if let Some(sku) = resource.sku.value() {
            let place = (resource.cloud.as_str(), resource.region.as_str(), sku.as_str());
            *bought.entry(place).or_default() += compute(&without_commitment(resource), facts.period, |_| true);
        }
    }
    let stale = |((cloud, region, sku), cost): ((&str, &str, &str), Money)| {
        let price = |market| facts.prices.find(&PriceKey { cloud, region, sku, market }, day);
        let ages = Market::ALL.iter().filter_map(|market| match price(*market) {
            Known::Value(offer) => Some(i64::from((day - offer.as_of).get_days())),
            Known::Unknown(_) => None,
        });
        let youngest = ages.min()?;
        (youngest > oldest && !cost.is_zero()).then(|| Mistake {
            id: KIND.id,
            cost: Some(cost),
            place: format!("{sku} in {cloud} {region}"),
            why: format!("its newest price is {youngest} days old, the policy takes {oldest}"),
            hint: "write what you were offered into offers.csv, or load a price catalogue: `lowwater load catalogs/v9/aws/vms.csv`".into(),
        })
    };
    bought.into_iter().filter_map(stale).collect()
}

/// What it would cost elsewhere is no question for hours that are paid for already.
fn without_commitment(resource: &Resource) -> Resource {
    let mut rest = resource.clone();
    rest.lines
        .retain(|line| line.commitment.is_none() && line.pricing != PricingCategory::Committed);
    rest
}
