//! What an hour of an instance costs in the sample: real list prices where the table of facts has one.

use lowwater_model::money::Money;
use lowwater_model::offer::{Market, builtin_offers};

use super::places::{Cloud, Place};

/// Price of the 8 x H100 machine of the GPU cloud, stated for the sample: 8 x 2.95 USD.
pub const EIGHT_H100_LIST: &str = "23.60";

/// List prices of machines without a GPU, stated for the sample.
const STATED: &[(&str, &str)] = &[
    ("m6i.2xlarge", "0.384"),
    ("c6i.4xlarge", "0.68"),
    ("r6i.2xlarge", "0.504"),
    ("n2-standard-8", "0.388472"),
    ("e2-standard-4", "0.134012"),
    ("gpu-h100-sxm_8gpu-128vcpu-1600gb", EIGHT_H100_LIST),
];

/// The first cloud gives six percent off the list.
const NEGOTIATED_PERCENT: i64 = 94;

/// Rates for one hour of one instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Public.
    pub list: Money,
    /// Negotiated, before commitment discounts.
    pub contracted: Money,
}

/// The price of an instance type in a place; none where neither the table of facts nor the sample states one.
pub fn price(place: &Place, sku: &str) -> Option<Price> {
    let list = list(place, sku)?;
    Some(Price {
        list,
        contracted: negotiated(place.cloud, list),
    })
}

/// A list price as this cloud charges it.
fn negotiated(cloud: &Cloud, list: Money) -> Money {
    if cloud.id == "aws" {
        percent(list, NEGOTIATED_PERCENT)
    } else {
        list
    }
}

/// So many percent, exact for prices of up to ten digits.
pub fn percent(of: Money, percent: i64) -> Money {
    of.times(percent).split(100).0
}

fn list(place: &Place, sku: &str) -> Option<Money> {
    if let Some((_, text)) = STATED.iter().find(|(name, _)| *name == sku) {
        return Money::parse(text).ok();
    }
    let offers = builtin_offers();
    let of_sku = || {
        offers
            .iter()
            .filter(|o| o.cloud == place.cloud.id && o.sku.as_str() == sku && o.market == Market::OnDemand)
    };
    // Where the table has no price for the region, the sample takes the one that it has.
    let offer = of_sku()
        .find(|o| o.region.as_str() == place.region)
        .or_else(|| of_sku().next())?;
    // The shortest text of the float is the text in the table.
    Money::parse(&offer.rate.0.to_string()).ok()
}

#[cfg(test)]
mod tests {
    use super::super::places::{CHAT, DEVELOPMENT_WEST, FOUNDATION, RESEARCH_WEST};
    use super::*;

    #[test]
    fn real_prices_negotiated_on_one_cloud() {
        let text = |place, sku| price(place, sku).map(|p| (p.list.to_string(), p.contracted.to_string()));
        let pair = |list: &str, contracted: &str| Some((list.to_owned(), contracted.to_owned()));
        assert_eq!(text(RESEARCH_WEST, "p4d.24xlarge"), pair("21.95764", "20.6401816"));
        assert_eq!(text(DEVELOPMENT_WEST, "g5.2xlarge"), pair("1.212", "1.13928"));
        assert_eq!(text(CHAT, "a2-highgpu-1g"), pair("3.673385", "3.673385"));
        assert_eq!(
            text(FOUNDATION, "gpu-h100-sxm_8gpu-128vcpu-1600gb"),
            pair("23.60", "23.60")
        );
        assert_eq!(text(CHAT, "unheard-of"), None);
    }
}
