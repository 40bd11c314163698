//! What the owner agreed with providers, as written in `contract.toml`: discounts on list prices, and minimums.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::known::Known;
use crate::money::Money;
use crate::offer::{ListPrice, Market, Offer, PriceBasis};
use crate::period::Period;
use crate::unit::HourlyRate;
use crate::workload::OneOrMany;

mod read;
#[cfg(test)]
mod tests;

/// The file's name: what a price names as its source.
pub const CONTRACT_FILE: &str = "contract.toml";

/// Terms that a discount is on where it names none. Spot prices follow the market, own hardware has no list price.
const MARKETS: &[Market] = &[Market::OnDemand, Market::OneYear, Market::ThreeYears, Market::Block];

/// Everything that was agreed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contract {
    /// In the order of the file.
    pub discounts: Vec<Discount>,
    /// In the order of the file; those of one provider do not overlap.
    pub minimums: Vec<Minimum>,
}

/// A share off list prices. What is not given is any.
#[derive(Clone, Debug, PartialEq)]
pub struct Discount {
    /// Cloud id.
    pub provider: Option<String>,
    /// FOCUS ServiceName, in lower case.
    pub service: OneOrMany,
    /// Instance type, in lower case.
    pub sku: OneOrMany,
    /// Terms.
    pub markets: BTreeSet<Market>,
    /// Off the list price, above 0 and below 1.
    pub share: f64,
    /// When it holds.
    pub days: Days,
    /// Where it is written.
    pub line: usize,
}

/// First and last day; none = without end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Days {
    /// First day.
    pub from: Option<Date>,
    /// Last day.
    pub until: Option<Date>,
}

impl Days {
    fn hold_on(self, day: Date) -> bool {
        self.from.is_none_or(|from| from <= day) && self.until.is_none_or(|until| day <= until)
    }

    fn meet(self, other: Self) -> bool {
        let is_before = |a: Option<Date>, b: Option<Date>| matches!((a, b), (Some(a), Some(b)) if a < b);
        !is_before(self.until, other.from) && !is_before(other.until, self.from)
    }
}

/// Spend that was promised to a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimum {
    /// Cloud id.
    pub provider: String,
    /// First day.
    pub from: Date,
    /// Last day.
    pub until: Date,
    /// In the dataset's currency.
    pub amount: Money,
    /// What counted up to a day, as the owner knows it; none = as the bill says.
    pub spent: Option<Spent>,
    /// Where it is written.
    pub line: usize,
}

/// What counted towards a minimum from its first day to the end of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// How much.
    pub amount: Money,
    /// Last day of it.
    pub until: Date,
}

/// A minimum and how far it is met, as facts see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MinimumFacts {
    /// Cloud id.
    pub cloud: String,
    /// When spend counts.
    pub period: Period,
    /// What was promised.
    pub amount: Money,
    /// What counted until the facts end.
    pub spent: Known<Money>,
    /// What the replayed period cost there in the basis metric, without taxes and what is paid once.
    pub pace: Money,
    /// `contract.toml:12`.
    pub source: String,
}

/// `contract.toml:12`.
pub fn place(line: usize) -> String {
    format!("{CONTRACT_FILE}:{line}")
}

/// A share as people write it: `12 %`, `7.5 %`.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1e8).round() / 1e6)
}

/// Midnight UTC, when days of bills begin.
fn midnight(day: Date) -> Timestamp {
    TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0)).unwrap_or(Timestamp::MAX)
}

/// The instant at which a day is over.
pub fn end_of(day: Date) -> Timestamp {
    day.tomorrow().map_or(Timestamp::MAX, midnight)
}

impl Minimum {
    /// From its first day to the end of its last.
    pub fn period(&self) -> Period {
        Period {
            start: midnight(self.from),
            end: end_of(self.until),
        }
    }
}

/// How well a text fits: an exact one best, of globs the one with more characters that are none of their signs.
fn fit(patterns: &OneOrMany, value: &str) -> (u8, usize) {
    if patterns.0.iter().any(|pattern| pattern == value) {
        return (2, 0);
    }
    let fitting = patterns
        .0
        .iter()
        .filter(|pattern| OneOrMany(vec![(*pattern).clone()]).accepts([value]));
    let signs = ['*', '?', '[', ']'];
    let plain = fitting.map(|pattern| pattern.chars().filter(|c| !signs.contains(c)).count());
    plain.max().map_or((0, 0), |plain| (1, plain))
}

impl Discount {
    /// How specific it is for a price that it is on: the SKU before the service before the provider.
    fn rank(&self, sku: &str, service: Option<&str>) -> impl Ord + use<> {
        let service = service.map_or((0, 0), |service| fit(&self.service, service));
        (fit(&self.sku, sku), service, self.provider.is_some())
    }

    /// A discount on a service is only on prices of which the service is known.
    fn is_on(&self, offer: &Offer, sku: &str, service: Option<&str>) -> bool {
        self.provider.as_ref().is_none_or(|provider| *provider == offer.cloud)
            && self.markets.contains(&offer.market)
            && self.sku.accepts([sku])
            && (self.service.is_absent() || service.is_some_and(|service| self.service.accepts([service])))
    }

    fn text(&self) -> String {
        percent(self.share)
    }
}

/// Under which service a bill shows an instance type: by cloud and SKU (in lower case), else by cloud where it has one.
#[derive(Clone, Debug, Default)]
pub struct Services {
    by_sku: BTreeMap<(String, String), BTreeSet<String>>,
    by_cloud: BTreeMap<String, BTreeSet<String>>,
}

impl Services {
    /// Adds a row of a bill.
    pub fn add(&mut self, cloud: &str, sku: &str, service: &str) {
        let service = service.trim().to_lowercase();
        let key = (cloud.to_owned(), sku.to_lowercase());
        self.by_sku.entry(key).or_default().insert(service.clone());
        self.by_cloud.entry(cloud.to_owned()).or_default().insert(service);
    }

    /// The one service; none where nobody says, or where it is one of several.
    fn of(&self, cloud: &str, sku: &str) -> Option<&str> {
        let key = (cloud.to_owned(), sku.to_owned());
        let known = self.by_sku.get(&key).or_else(|| self.by_cloud.get(cloud))?;
        known.first().filter(|_| known.len() == 1).map(String::as_str)
    }
}

impl Contract {
    /// The discount on a list price on a day: the most specific, of equals the first of the file. They do not add up.
    fn discount(&self, offer: &Offer, services: &Services, day: Date) -> Option<&Discount> {
        let sku = offer.sku.as_str().to_lowercase();
        let service = services.of(&offer.cloud, &sku);
        let on = self
            .discounts
            .iter()
            .filter(|discount| discount.days.hold_on(day) && discount.is_on(offer, &sku, service));
        // The last of the largest wins in `max_by_key`, so the file is read from its end.
        on.rev().max_by_key(|discount| discount.rank(&sku, service))
    }

    /// List prices less what was agreed on that day; observed and net prices are what is paid, and stay.
    pub fn applied(&self, offers: impl IntoIterator<Item = Offer>, services: &Services, day: Date) -> Vec<Offer> {
        let less = |offer: Offer| match offer.basis {
            PriceBasis::List | PriceBasis::BuiltIn => match self.discount(&offer, services, day) {
                Some(discount) => discounted(offer, discount),
                None => offer,
            },
            PriceBasis::Observed | PriceBasis::Net | PriceBasis::Contracted => offer,
        };
        offers.into_iter().map(less).collect()
    }

    /// Discounts that hold on a day and are on none of these list prices: misspelt, or on what nobody lists.
    pub fn without_price(&self, offers: &[Offer], services: &Services, day: Date) -> Vec<&Discount> {
        let is_priced = |discount: &&Discount| {
            offers.iter().filter(|offer| offer.basis.is_list()).any(|offer| {
                let sku = offer.sku.as_str().to_lowercase();
                discount.is_on(offer, &sku, services.of(&offer.cloud, &sku))
            })
        };
        let holding = self.discounts.iter().filter(|discount| discount.days.hold_on(day));
        holding.filter(|discount| !is_priced(discount)).collect()
    }

    /// For each provider the minimum that runs at an instant, else the next; those that are over are left out.
    pub fn minimums_at(&self, at: Timestamp) -> BTreeMap<&str, &Minimum> {
        let mut open: BTreeMap<&str, &Minimum> = BTreeMap::new();
        for minimum in self.minimums.iter().filter(|minimum| minimum.period().end > at) {
            let slot = open.entry(minimum.provider.as_str()).or_insert(minimum);
            if minimum.from < slot.from {
                *slot = minimum;
            }
        }
        open
    }
}

fn discounted(offer: Offer, discount: &Discount) -> Offer {
    // Nine digits, as prices of bills have: what a float adds behind them is noise.
    let rate = (offer.rate.0 * (1.0 - discount.share) * 1e9).round() / 1e9;
    Offer {
        rate: HourlyRate(rate),
        basis: PriceBasis::Contracted,
        source: format!(
            "list price of {} less {} ({}); {}",
            offer.as_of,
            discount.text(),
            place(discount.line),
            offer.source
        ),
        list: Some(ListPrice {
            rate: offer.rate,
            basis: offer.basis,
        }),
        ..offer
    }
}
