//! Prices: what an hour of a SKU costs, on which terms, who says so, and how old that is.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::charge::focus_enum;
use crate::id::{Accelerator, Currency, RegionId, Sku};
use crate::known::Known;
use crate::unit::HourlyRate;

focus_enum! {
    /// On which terms an hour is bought.
    Market {
        /// By the hour, no promise.
        OnDemand = "on_demand",
        /// Interruptible.
        Spot = "spot",
        /// Committed for a year.
        OneYear = "1y",
        /// Committed for three years.
        ThreeYears = "3y",
        /// A block of capacity for a fixed time.
        Block = "block",
        /// Own hardware.
        Owned = "owned",
    }
}

focus_enum! {
    /// Who says so: best first.
    PriceBasis {
        /// The bill itself: cost over hours, what the owner really pays.
        Observed = "observed",
        /// A net price that the owner wrote down in offers.csv.
        Net = "net",
        /// A list price less the discount of contract.toml.
        Contracted = "contracted",
        /// A list price in offers.csv or a loaded price list.
        List = "list",
        /// A list price in the built-in table.
        BuiltIn = "built-in",
    }
}

/// Accelerators of an instance type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Holds {
    /// Which.
    pub accelerator: Accelerator,
    /// How many; a fraction where one is shared.
    pub count: f64,
}

/// What a contracted price is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListPrice {
    /// Before the discount.
    pub rate: HourlyRate,
    /// Who says so.
    pub basis: PriceBasis,
}

/// A price with its terms and its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// Cloud id.
    pub cloud: String,
    /// FOCUS RegionId; empty = any.
    pub region: RegionId,
    /// Zone, or zone id where the source has one; empty = every zone of the region.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub zone: String,
    /// Instance type.
    pub sku: Sku,
    /// What it holds, where the source says so: of a known instance type the table's facts count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<Holds>,
    /// Terms.
    pub market: Market,
    /// For one hour of the whole instance.
    pub rate: HourlyRate,
    /// Currency of the rate.
    pub currency: Currency,
    /// Who says so.
    pub basis: PriceBasis,
    /// Last day on which it was seen to be true.
    pub as_of: Date,
    /// File, table or bill.
    pub source: String,
    /// The list price, where a discount was taken off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<ListPrice>,
}

/// Where to look up a price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceKey<'a> {
    /// Cloud id.
    pub cloud: &'a str,
    /// FOCUS RegionId.
    pub region: &'a str,
    /// Instance type.
    pub sku: &'a str,
    /// Terms.
    pub market: Market,
}

/// Every known price.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PriceBook(pub Vec<Offer>);

impl PriceBook {
    /// The best evidence (observed, net, contracted, list, built-in), and of that the newest not after `day`, in the
    /// cheapest zone; unknown where there is none.
    pub fn find(&self, key: &PriceKey<'_>, day: Date) -> Known<Offer> {
        self.0
            .iter()
            .filter(|o| o.cloud == key.cloud && o.market == key.market && o.as_of <= day)
            .filter(|o| o.sku.as_str().eq_ignore_ascii_case(key.sku))
            .filter(|o| o.region.as_str().is_empty() || o.region.as_str() == key.region)
            .min_by(|a, b| a.rank().cmp(&b.rank()).then(a.rate.0.total_cmp(&b.rate.0)))
            .cloned()
            .map_or_else(
                || {
                    Known::unknown(format!(
                        "no {} price of {} in {} {}",
                        key.market, key.sku, key.cloud, key.region
                    ))
                },
                Known::Value,
            )
    }
}

impl PriceBasis {
    /// Is it a published price, that few pay?
    pub const fn is_list(self) -> bool {
        matches!(self, Self::List | Self::BuiltIn)
    }
}

impl Offer {
    /// Better evidence first, then the newer; of contracted prices those on the better list price.
    pub fn rank(&self) -> impl Ord + use<> {
        (
            self.basis,
            self.list.map(|list| list.basis),
            std::cmp::Reverse(self.as_of),
        )
    }

    /// Accelerators of an instance: the table's facts, else what the source says; none where nobody does.
    pub fn holds(&self) -> Option<Holds> {
        let known = crate::sku::find_sku(self.sku.as_str()).map(|fact| Holds {
            accelerator: fact.accelerator.clone(),
            count: fact.count,
        });
        known.or_else(|| self.holds.clone())
    }

    /// `observed 2026-10-31 (1 day old)`: how every price is shown.
    pub fn evidence(&self, day: Date) -> String {
        let age = (day - self.as_of).get_days();
        let unit = if age == 1 { "day" } else { "days" };
        format!(
            "{} price of {} ({age} {unit} old, {})",
            self.basis, self.as_of, self.source
        )
    }
}

/// The built-in table: list prices in USD, each with source and date.
pub fn builtin_offers() -> Vec<Offer> {
    include_str!("offer/builtin.csv")
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let [cloud, region, sku, market, rate, as_of, source] = fields[..] else {
                return None;
            };
            Some(Offer {
                cloud: cloud.into(),
                region: region.into(),
                zone: String::new(),
                sku: sku.into(),
                holds: None,
                market: Market::parse(market)?,
                rate: HourlyRate(rate.parse().ok()?),
                currency: "USD".into(),
                basis: PriceBasis::BuiltIn,
                as_of: as_of.parse().ok()?,
                source: source.into(),
                list: None,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn the_builtin_table_is_whole_and_its_types_are_known() {
        let all = builtin_offers();
        assert_eq!(all.len(), include_str!("offer/builtin.csv").lines().count() - 1);
        assert!(all.iter().all(|o| o.rate.0 > 0.0));
        for offer in &all {
            let known = crate::sku::find_sku(offer.sku.as_str());
            assert!(known.is_some_and(|k| k.cloud == offer.cloud), "{}", offer.sku);
        }
    }

    #[test]
    fn better_evidence_wins_then_the_newer_and_never_the_future() {
        let mut book = PriceBook(builtin_offers());
        let key = PriceKey {
            cloud: "aws",
            region: "us-east-1",
            sku: "P4D.24xlarge",
            market: Market::OnDemand,
        };
        let rate = |b: &PriceBook, d: &str| b.find(&key, day(d)).value().map(|o| o.rate.0);
        assert_eq!(rate(&book, "2026-08-01"), Some(21.957642));
        assert_eq!(rate(&book, "2026-07-01"), None, "a price is not known before its day");
        let mut seen = book.find(&key, day("2026-08-01")).value().unwrap().clone();
        seen.basis = PriceBasis::Observed;
        seen.rate = HourlyRate(20.0);
        seen.as_of = day("2026-06-01");
        book.0.push(seen);
        assert_eq!(rate(&book, "2026-08-01"), Some(20.0));
        let spot = PriceKey {
            market: Market::Spot,
            ..key.clone()
        };
        assert!(matches!(book.find(&spot, day("2026-08-01")), Known::Unknown(why) if why.contains("spot")));
    }
}
