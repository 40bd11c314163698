//! Offers that a search finds, the cheapest accelerator-hour first.

use std::collections::BTreeMap;

use jiff::civil::Date;
use lowwater_model::cloud::cloud_id;
use lowwater_model::offer::{Market, Offer, PriceBasis, PriceBook};
use lowwater_model::workload::OneOrMany;
use serde::{Serialize, Serializer};

use super::prices::OLD_DAYS;
use crate::amount::plural;
use crate::output::View;
use crate::screen::{Column, Screen, Table};

/// Rows of the text form; `--all` shows the rest.
const MOST: usize = 40;

/// What to look for; none = anything.
#[derive(Debug, Default)]
pub struct Search {
    /// Accelerator or instance type.
    pub what: Option<String>,
    /// Glob.
    pub region: Option<String>,
    /// Provider in any spelling.
    pub provider: Option<String>,
    /// Terms.
    pub market: Option<Market>,
    /// Accelerators of the machine.
    pub count: Option<f64>,
}

/// Offers, as JSON a plain array.
#[derive(Debug)]
pub struct Offers {
    rows: Vec<Row>,
    most: usize,
    /// The day from which ages are counted.
    day: Date,
}

/// One offer.
#[derive(Debug, Serialize)]
struct Row {
    provider: String,
    /// Empty = any.
    region: String,
    /// Empty = every zone of the region.
    zone: String,
    sku: String,
    /// Null = nobody says.
    accelerator: Option<String>,
    count: Option<f64>,
    market: Market,
    /// Of the whole machine.
    price_per_hour: f64,
    price_per_accelerator_hour: Option<f64>,
    currency: String,
    basis: PriceBasis,
    as_of: Date,
    age_days: i32,
    source: String,
}

impl Serialize for Offers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.rows.serialize(serializer)
    }
}

/// Does a text or glob match, in any case? An empty region is any region.
fn matches(pattern: Option<&String>, value: &str) -> bool {
    let accepts = |p: &String| OneOrMany(vec![p.to_lowercase()]).accepts([value.to_lowercase().as_str()]);
    pattern.is_none_or(accepts)
}

/// `a100` means every A100: `A100-40`, `A100-80`.
fn is_of(accelerator: &str, name: &str) -> bool {
    let accelerator = accelerator.to_lowercase();
    accelerator == name || accelerator.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'))
}

impl Search {
    fn finds(&self, offer: &Offer) -> bool {
        let holds = offer.holds();
        let of = |name: &String| {
            matches(Some(name), offer.sku.as_str())
                || holds
                    .as_ref()
                    .is_some_and(|h| is_of(h.accelerator.as_str(), &name.to_lowercase()))
        };
        self.what.as_ref().is_none_or(of)
            && (offer.region.as_str().is_empty() || matches(self.region.as_ref(), offer.region.as_str()))
            && self.provider.as_ref().is_none_or(|p| cloud_id(p) == offer.cloud)
            && self.market.is_none_or(|m| m == offer.market)
            && self.count.is_none_or(|n| holds.as_ref().is_some_and(|h| h.count == n))
    }
}

impl Row {
    fn new(offer: &Offer, day: Date) -> Self {
        let holds = offer.holds();
        let each = |count: f64| (offer.rate.0 / count * 1e6).round() / 1e6;
        Self {
            provider: offer.cloud.clone(),
            region: offer.region.to_string(),
            zone: offer.zone.clone(),
            sku: offer.sku.to_string(),
            accelerator: holds.as_ref().map(|h| h.accelerator.to_string()),
            count: holds.as_ref().map(|h| h.count),
            market: offer.market,
            price_per_hour: offer.rate.0,
            price_per_accelerator_hour: holds.map(|h| each(h.count)),
            currency: offer.currency.to_string(),
            basis: offer.basis,
            as_of: offer.as_of,
            age_days: (day - offer.as_of).get_days(),
            source: offer.source.clone(),
        }
    }

    fn place(&self) -> String {
        let place = [&self.zone, &self.region].into_iter().find(|p| !p.is_empty());
        format!("{} {}", self.provider, place.map_or("any region", String::as_str))
    }

    fn holds(&self) -> String {
        match (&self.accelerator, self.count) {
            (Some(name), Some(count)) => format!("{count} x {name}"),
            _ => "unknown".into(),
        }
    }
}

impl Offers {
    /// Of each thing the best evidence (observed, net, list, built-in), and of that the newest.
    pub fn new(book: &PriceBook, search: &Search, day: Date, all: bool) -> Self {
        let mut best: BTreeMap<(&str, &str, &str, String, Market), &Offer> = BTreeMap::new();
        for offer in book.0.iter().filter(|o| o.as_of <= day && search.finds(o)) {
            let sku = offer.sku.as_str().to_lowercase();
            let key = (
                offer.cloud.as_str(),
                offer.region.as_str(),
                offer.zone.as_str(),
                sku,
                offer.market,
            );
            let rank = |o: &Offer| (o.basis, std::cmp::Reverse(o.as_of));
            let slot = best.entry(key).or_insert(offer);
            if rank(offer) < rank(slot) {
                *slot = offer;
            }
        }
        let mut rows: Vec<Row> = best.into_values().map(|offer| Row::new(offer, day)).collect();
        let price = |row: &Row| row.price_per_accelerator_hour.unwrap_or(f64::INFINITY);
        rows.sort_by(|a, b| price(a).total_cmp(&price(b)));
        Self {
            rows,
            day,
            most: if all { usize::MAX } else { MOST },
        }
    }

    fn headline(&self) -> String {
        let count = self.rows.len() as u64;
        if count == 0 {
            return "No known offer matches: a name is a whole SKU or GPU type, and `g5*` is all that begin so. `lowwater offers` \
                    without a name lists all; `lowwater load` takes SkyPilot price catalogues, and offers.csv what you were offered."
                .into();
        }
        let old = self.rows.iter().filter(|r| r.age_days > OLD_DAYS).count();
        format!(
            "{}, the cheapest accelerator-hour first; on {}, today, {old} are older than {OLD_DAYS} days.",
            plural(count, "offer"),
            self.day
        )
    }
}

impl View for Offers {
    fn screen(&self) -> Screen {
        let mut table = Table::new([
            Column::text("SKU").at_least(20).whole(),
            Column::text("GPUs"),
            Column::text("where"),
            Column::text("market"),
            Column::number("an hour"),
            Column::number("per GPU"),
            Column::text("currency").optional(2),
            Column::text("basis").optional(1),
            Column::number("days old"),
            Column::text("source").at_least(16).optional(3),
        ]);
        for row in self.rows.iter().take(self.most) {
            table.row([
                row.sku.clone(),
                row.holds(),
                row.place(),
                row.market.to_string(),
                format!("{:.4}", row.price_per_hour),
                row.price_per_accelerator_hour
                    .map_or_else(|| "unknown".into(), |p| format!("{p:.4}")),
                row.currency.clone(),
                row.basis.to_string(),
                row.age_days.to_string(),
                row.source.clone(),
            ]);
        }
        let screen = Screen::new(self.headline());
        if self.rows.is_empty() {
            return screen;
        }
        let screen = screen.table(table);
        match self.rows.len().saturating_sub(self.most) {
            0 => screen,
            more => screen.text(format!("{} more; `--all` shows them.", plural(more as u64, "offer"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use lowwater_model::offer::builtin_offers;
    use lowwater_model::unit::HourlyRate;

    use super::*;
    use crate::screen::Paint;

    fn found(search: &Search) -> Offers {
        Offers::new(
            &PriceBook(builtin_offers()),
            search,
            "2026-12-01".parse().unwrap(),
            false,
        )
    }

    fn what(name: &str) -> Search {
        Search {
            what: Some(name.into()),
            ..Search::default()
        }
    }

    #[test]
    fn by_accelerator_or_instance_type_in_any_case() {
        let rows = found(&what("a100")).rows;
        assert!(
            !rows.is_empty()
                && rows
                    .iter()
                    .all(|r| r.accelerator.as_deref().unwrap().starts_with("A100-"))
        );
        let p5 = found(&what("P5.48XLARGE")).rows;
        assert!(!p5.is_empty() && p5.iter().all(|r| r.sku == "p5.48xlarge" && r.count == Some(8.0)));
        assert!(found(&what("h10")).rows.is_empty(), "no half of a name");
        let prices: Vec<_> = rows.iter().map(|r| r.price_per_accelerator_hour.unwrap()).collect();
        assert!(prices.is_sorted());
    }

    #[test]
    fn filters_and_the_best_evidence() {
        let us = found(&Search {
            region: Some("US-*".into()),
            provider: Some("Amazon".into()),
            ..what("h100")
        });
        assert!(
            !us.rows.is_empty()
                && us
                    .rows
                    .iter()
                    .all(|r| r.provider == "aws" && r.region.starts_with("us-"))
        );
        assert!(
            found(&Search {
                count: Some(3.0),
                ..what("h100")
            })
            .rows
            .is_empty()
        );
        let mut offers = builtin_offers();
        let mut seen = offers.iter().find(|o| o.sku.as_str() == "p5.48xlarge").unwrap().clone();
        (seen.basis, seen.rate) = (PriceBasis::Observed, HourlyRate(40.0));
        offers.push(seen.clone());
        let search = Search {
            region: Some(seen.region.to_string()),
            market: Some(seen.market),
            ..what("p5.48xlarge")
        };
        let view = Offers::new(&PriceBook(offers), &search, "2026-12-01".parse().unwrap(), false);
        assert_eq!(view.rows.len(), 1);
        assert_eq!(
            (view.rows[0].price_per_hour, view.rows[0].price_per_accelerator_hour),
            (40.0, Some(5.0))
        );
    }

    #[test]
    fn nothing_found_says_what_to_do() {
        let text = found(&what("x9")).screen().render(100, Paint::new(false));
        assert!(
            text.starts_with("No known offer matches") && text.contains("offers.csv"),
            "{text}"
        );
    }
}
