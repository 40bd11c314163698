//! What `contract.toml` means for the bill: list prices less their discounts, and how far minimums are met.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lowwater_model::charge::CostMetric;
use lowwater_model::contract::{Discount, Minimum, MinimumFacts, Services, end_of, place};
use lowwater_model::known::Known;
use lowwater_model::money::Money;
use lowwater_model::offer::Offer;
use lowwater_model::period::Period;

use crate::error::StoreError;
use crate::store::Store;

/// What the bill says of one cloud.
struct Seen {
    first_second: i64,
    counted: Money,
}

impl Store {
    /// List prices less the discounts that hold at an instant.
    pub(crate) fn contracted(
        &self,
        offers: impl IntoIterator<Item = Offer>,
        at: Timestamp,
    ) -> Result<Vec<Offer>, StoreError> {
        let day = TimeZone::UTC.to_datetime(at).date();
        Ok(self.config().contract.applied(offers, &self.machine_services(at)?, day))
    }

    /// Discounts that change no price at an instant, one line each with its place.
    pub fn contract_warnings(&self, at: Timestamp) -> Result<Vec<String>, StoreError> {
        let contract = &self.config().contract;
        if contract.discounts.is_empty() {
            return Ok(Vec::new());
        }
        let day = TimeZone::UTC.to_datetime(at).date();
        let offers: Vec<Offer> = self.written_offers(self.listed_offers(day)?).collect();
        let services = self.machine_services(at)?;
        let warning = |discount: &Discount| {
            format!(
                "{}: this discount is on no list price that is known: compare its provider, service and SKU with the bill's and \
                 with `lowwater offers`",
                place(discount.line)
            )
        };
        let without = contract.without_price(&offers, &services, day);
        Ok(without.into_iter().map(warning).collect())
    }

    /// Under which services the bill shows GPU machines; asked only where a discount names one.
    fn machine_services(&self, at: Timestamp) -> Result<Services, StoreError> {
        let mut services = Services::default();
        let discounts = &self.config().contract.discounts;
        if discounts.iter().all(|discount| discount.service.is_absent()) {
            return Ok(services);
        }
        let places = self.places(until(at));
        for row in self.query_view("machine_services", &places)?.iter() {
            services.add(
                row.text_or_empty("x_Cloud"),
                row.text_or_empty("x_Sku"),
                row.text_or_empty("ServiceName"),
            );
        }
        Ok(services)
    }

    /// The minimums that are not over at the end of a period, with what counted until then.
    pub(crate) fn minimums(&self, period: Period, metric: CostMetric) -> Result<Vec<MinimumFacts>, StoreError> {
        let open = self.config().contract.minimums_at(period.end);
        if open.is_empty() {
            return Ok(Vec::new());
        }
        let ever = self.counted(until(period.end))?;
        let mut pace: BTreeMap<String, Money> = BTreeMap::new();
        for row in self.query_view("running_spend", &self.places(period))?.iter() {
            pace.insert(
                row.text_or_empty("x_Cloud").to_owned(),
                row.money_or_zero(metric.column()),
            );
        }
        let facts = |(cloud, minimum): (&str, &Minimum)| {
            Ok(MinimumFacts {
                cloud: cloud.to_owned(),
                period: minimum.period(),
                amount: minimum.amount,
                spent: self.spent(minimum, ever.get(cloud), period.end)?,
                pace: pace.get(cloud).copied().unwrap_or_default(),
                source: place(minimum.line),
            })
        };
        open.into_iter().map(facts).collect()
    }

    /// What the owner says, and the bill after that; from the contract's first day where the owner says nothing, or of a
    /// day that these facts do not see yet.
    fn spent(&self, minimum: &Minimum, ever: Option<&Seen>, at: Timestamp) -> Result<Known<Money>, StoreError> {
        let declared = minimum.spent.filter(|spent| end_of(spent.until) <= at);
        let (before, start) = declared.map_or((Money::ZERO, minimum.period().start), |spent| {
            (spent.amount, end_of(spent.until))
        });
        if at <= start {
            return Ok(Known::Value(before));
        }
        let day = |second: i64| {
            TimeZone::UTC
                .to_datetime(Timestamp::from_second(second).unwrap_or(at))
                .date()
        };
        let say = format!("write `spent` and `spent_until` at {}", place(minimum.line));
        let provider = &minimum.provider;
        match ever {
            None => Ok(Known::unknown(format!("the bill shows nothing of {provider}; {say}"))),
            Some(seen) if seen.first_second > start.as_second() => Ok(Known::unknown(format!(
                "the bill of {provider} begins on {}, after {}; {say}",
                day(seen.first_second),
                day(start.as_second())
            ))),
            Some(_) => {
                let since = self.counted(Period { start, end: at })?;
                let counted = since.get(provider).map_or(Money::ZERO, |seen| seen.counted);
                Ok(Known::Value(before + counted))
            }
        }
    }

    fn counted(&self, within: Period) -> Result<BTreeMap<String, Seen>, StoreError> {
        let rows = self.query_view("contract_spend", &self.places(within))?;
        let seen = rows.iter().filter_map(|row| {
            let seen = Seen {
                first_second: row.second("x_Day")?,
                counted: row.money_or_zero("BilledCost"),
            };
            Some((row.text_or_empty("x_Cloud").to_owned(), seen))
        });
        Ok(seen.collect())
    }
}

/// Everything before an instant.
fn until(at: Timestamp) -> Period {
    Period {
        start: Timestamp::UNIX_EPOCH.min(at),
        end: at,
    }
}

#[cfg(test)]
mod tests;
