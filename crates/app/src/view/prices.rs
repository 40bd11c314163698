//! Every price with its basis and age, and the prices that nobody knows.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use lowwater_model::facts::Facts;
use lowwater_model::known::Known;
use lowwater_model::money::Money;
use lowwater_model::offer::{Market, Offer, PriceBasis, PriceKey};
use serde::{Serialize, Serializer};

use super::resource;
use crate::amount::{UNKNOWN, cents, plural};
use crate::output::View;
use crate::screen::{Column, Screen, Table};

/// Days after which a price is called old: a quarter, in which GPU prices have moved before.
pub const OLD_DAYS: i32 = 90;

/// Characters of the longest SKU that clouds sell: a name that is cut can't be looked up.
const WHOLE_SKU: usize = 40;

/// What is sold: cloud, region, SKU.
pub type Place = (String, String, String);

/// Prices, as JSON a plain array.
#[derive(Debug)]
pub struct Prices {
    rows: Vec<PriceRow>,
    currency: String,
    day: Date,
    all: bool,
}

/// A price, or why there is none.
#[derive(Debug, Serialize)]
pub struct PriceRow {
    /// Cloud id.
    pub provider: String,
    /// FOCUS RegionId; empty = any.
    pub region: String,
    /// Instance type.
    pub sku: String,
    /// Terms.
    pub market: Market,
    /// For an hour of the whole instance; null = unknown.
    pub price_per_hour: Option<f64>,
    /// Currency of the price.
    pub currency: String,
    /// Who says so.
    pub basis: Option<PriceBasis>,
    /// Last day on which it was seen to be true.
    pub as_of: Option<Date>,
    /// At the end of the facts.
    pub age_days: Option<i32>,
    /// File, table or bill; or why it is unknown.
    pub source: String,
    /// Cost in the replayed period of what is bought there; null where nothing is.
    pub cost: Option<Money>,
}

impl Serialize for Prices {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.rows.serialize(serializer)
    }
}

/// The day at which prices are looked at: the last of the facts.
pub fn day_of(facts: &Facts) -> Date {
    TimeZone::UTC.to_datetime(facts.as_of).date()
}

/// Compute cost by what is bought, for resources whose SKU is known.
pub fn bought(facts: &Facts) -> BTreeMap<Place, Money> {
    let mut out: BTreeMap<Place, Money> = BTreeMap::new();
    for r in &facts.resources {
        if let Some(sku) = r.sku.value() {
            let place = (r.cloud.clone(), r.region.to_string(), sku.to_string());
            *out.entry(place).or_default() += resource::compute_cost(r, &facts.period);
        }
    }
    out
}

impl PriceRow {
    fn known(offer: Offer, day: Date, cost: Option<Money>) -> Self {
        Self {
            provider: offer.cloud,
            region: offer.region.to_string(),
            sku: offer.sku.to_string(),
            market: offer.market,
            price_per_hour: Some(offer.rate.0),
            currency: offer.currency.to_string(),
            basis: Some(offer.basis),
            as_of: Some(offer.as_of),
            age_days: Some((day - offer.as_of).get_days()),
            source: offer.source,
            cost,
        }
    }

    /// `observed: bill`, or why it is unknown.
    fn evidence(&self) -> String {
        let basis = self.basis.map_or_else(|| UNKNOWN.to_owned(), |b| b.to_string());
        format!("{basis}: {}", self.source)
    }

    fn unknown(place: &Place, currency: &str, why: String, cost: Option<Money>) -> Self {
        let (provider, region, sku) = place.clone();
        let currency = currency.to_owned();
        Self {
            provider,
            region,
            sku,
            market: Market::OnDemand,
            price_per_hour: None,
            currency,
            basis: None,
            as_of: None,
            age_days: None,
            source: why,
            cost,
        }
    }
}

impl Prices {
    /// Of what is bought: the best price for each of its terms. With `all`, every price that is known.
    pub fn new(facts: &Facts, all: bool) -> Self {
        let day = day_of(facts);
        let bought = bought(facts);
        let mut rows: Vec<PriceRow> = bought
            .iter()
            .flat_map(|(place, cost)| best(facts, place, *cost, day))
            .collect();
        if all {
            let shown: BTreeSet<Place> = bought.into_keys().collect();
            let offers = facts
                .prices
                .0
                .iter()
                .filter(|o| !shown.contains(&(o.cloud.clone(), o.region.to_string(), o.sku.to_string())));
            rows.extend(offers.map(|o| PriceRow::known(o.clone(), day, None)));
        }
        Self {
            rows,
            currency: facts.currency.to_string(),
            day,
            all,
        }
    }

    fn headline(&self) -> String {
        let unknown = self.rows.iter().filter(|r| r.price_per_hour.is_none()).count();
        let old = self
            .rows
            .iter()
            .filter(|r| r.age_days.is_some_and(|d| d > OLD_DAYS))
            .count();
        let of = if self.all {
            "all known prices"
        } else {
            "what the bill holds"
        };
        format!(
            "{} for {of} on {}; {old} older than {OLD_DAYS} days, {unknown} unknown.",
            plural((self.rows.len() - unknown) as u64, "price"),
            self.day
        )
    }
}

fn best(facts: &Facts, place: &Place, cost: Money, day: Date) -> Vec<PriceRow> {
    let (cloud, region, sku) = place;
    let price = |market: &Market| match facts.prices.find(
        &PriceKey {
            cloud,
            region,
            sku,
            market: *market,
        },
        day,
    ) {
        Known::Value(offer) => Some(PriceRow::known(offer, day, Some(cost))),
        Known::Unknown(why) if *market == Market::OnDemand => {
            Some(PriceRow::unknown(place, facts.currency.as_str(), why, Some(cost)))
        }
        Known::Unknown(_) => None,
    };
    Market::ALL.iter().filter_map(price).collect()
}

impl View for Prices {
    fn screen(&self) -> Screen {
        let mut table = Table::new([
            Column::text("SKU").at_least(WHOLE_SKU).whole(),
            Column::text("where"),
            Column::text("market"),
            Column::number(format!("an hour ({})", self.currency)),
            Column::number("days old"),
            Column::text("as of").optional(2),
            Column::text("basis").optional(3),
            Column::number(format!("cost ({})", self.currency)).optional(1),
        ]);
        let mut sources: Vec<String> = Vec::new();
        for row in &self.rows {
            let evidence = row.evidence();
            let known = sources.iter().position(|s| *s == evidence);
            let source = known.unwrap_or(sources.len());
            if known.is_none() {
                sources.push(evidence);
            }
            table.row([
                row.sku.clone(),
                format!(
                    "{} {}",
                    row.provider,
                    if row.region.is_empty() {
                        "any region"
                    } else {
                        &row.region
                    }
                ),
                row.market.to_string(),
                row.price_per_hour
                    .map_or_else(|| UNKNOWN.to_owned(), |p| format!("{p:.4}")),
                row.age_days.map_or_else(|| "-".to_owned(), |days| days.to_string()),
                row.as_of.map_or_else(|| "-".to_owned(), |d| d.to_string()),
                format!("[{}]", source + 1),
                row.cost.map_or_else(String::new, cents),
            ]);
        }
        let footnotes: Vec<String> = sources
            .iter()
            .enumerate()
            .map(|(at, s)| format!("[{}] {s}", at + 1))
            .collect();
        let footnotes = footnotes.join("\n");
        if footnotes.is_empty() {
            return Screen::new(self.headline()).table(table);
        }
        Screen::new(self.headline()).table(table).text(footnotes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;
    use crate::view::sample;

    #[test]
    fn every_price_has_basis_and_age_and_a_missing_one_is_unknown() {
        let mut facts = sample::facts();
        facts.resources.push(sample::resource("i-0zzz"));
        let last = facts.resources.len() - 1;
        facts.resources[last].sku = Known::Value("x9.metal".into());
        let view = Prices::new(&facts, false);
        let text = view.screen().render(160, Paint::new(false));
        assert!(
            text.contains("unknown") && text.contains("no on_demand price of x9.metal"),
            "{text}"
        );
        let json = serde_json::to_value(&view).unwrap();
        let rows = json.as_array().unwrap();
        assert!(
            rows.iter()
                .any(|r| r["sku"] == "x9.metal" && r["price_per_hour"].is_null() && r["basis"].is_null())
        );
        for row in rows.iter().filter(|r| !r["price_per_hour"].is_null()) {
            assert!(
                row["basis"].is_string() && row["as_of"].is_string() && row["age_days"].is_i64(),
                "{row}"
            );
        }
    }

    #[test]
    fn a_source_is_named_once_and_a_sku_is_whole_at_every_width() {
        let mut facts = sample::facts();
        for (index, id) in ["i-1", "i-2"].into_iter().enumerate() {
            let mut resource = sample::resource(id);
            resource.sku = Known::Value(["gpu-h100-sxm_8gpu-128vcpu-1600gb", "x9.metal"][index].into());
            facts.resources.push(resource);
        }
        for width in [80, 120, 200] {
            let view = Prices::new(&facts, false);
            let text = view.screen().render(width, Paint::new(false));
            assert!(text.contains("gpu-h100-sxm_8gpu-128vcpu-1600gb "), "{text}");
            assert!(text.lines().all(|l| l.chars().count() <= width), "{width}\n{text}");
            let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for row in &view.rows {
                assert_eq!(
                    words.matches(&format!("] {}", row.evidence())).count(),
                    1,
                    "{}\n{text}",
                    row.source
                );
            }
            assert!(text.contains("\n[1] "), "{text}");
        }
    }

    #[test]
    fn all_holds_more_and_the_bought_ones_once() {
        let facts = sample::facts();
        let (few, many) = (Prices::new(&facts, false), Prices::new(&facts, true));
        assert!(many.rows.len() > few.rows.len());
        let bought = |p: &Prices| p.rows.iter().filter(|r| r.cost.is_some()).count();
        assert_eq!(bought(&few), bought(&many));
    }
}
