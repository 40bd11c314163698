//! The charges of one resource, as they were loaded: what every sum ends in.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use lowwater_model::charge::CostMetric;
use lowwater_model::money::Money;
use serde::Serialize;

use crate::error::StoreError;
use crate::report::{Dimension, ReportQuery};
use crate::session::Row;
use crate::store::Store;

/// Which charges.
#[derive(Clone, Debug)]
pub struct ChargesQuery {
    /// FOCUS ResourceId.
    pub resource: String,
    /// First day, in the owner's zone.
    pub first: Date,
    /// First day after.
    pub after: Date,
    /// Filters of the report in which the resource stands: a resource may have had another owner on other days.
    pub only: BTreeMap<Dimension, Vec<String>>,
    /// Most rows that are given, the newest; the sums are of all.
    pub most: usize,
}

/// Charges of a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Charges {
    /// How many there are.
    pub count: i64,
    /// By cost column, what all of them come to; a column that no charge has is not there.
    pub totals: BTreeMap<&'static str, Money>,
    /// The newest first.
    pub rows: Vec<Charge>,
}

/// One charge: columns of FOCUS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Charge {
    /// ChargePeriodStart.
    pub start: Timestamp,
    /// ChargePeriodEnd; null where the bill does not say it.
    pub end: Option<Timestamp>,
    /// ChargeCategory.
    pub category: String,
    /// ChargeDescription, or the meter of the SKU.
    pub description: String,
    /// PricingCategory.
    pub pricing: String,
    /// CommitmentDiscountId.
    pub commitment: String,
    /// ConsumedQuantity; null where the bill does not say it.
    pub quantity: Option<Money>,
    /// ConsumedUnit.
    pub unit: String,
    /// By cost column; a column that the charge does not have is not there.
    pub costs: BTreeMap<&'static str, Money>,
    /// Which export it is from.
    pub source: String,
}

impl Charge {
    fn of(row: Row<'_>) -> Option<Self> {
        let at = |name: &str| Timestamp::from_second(row.second(name)?).ok();
        let text = |name: &str| row.text_or_empty(name).to_owned();
        let meter = || row.text("SkuMeter").or_else(|| row.text("x_Sku")).unwrap_or_default();
        Some(Self {
            start: at("ChargePeriodStart")?,
            end: at("ChargePeriodEnd"),
            category: text("ChargeCategory"),
            description: row.text("ChargeDescription").unwrap_or_else(meter).to_owned(),
            pricing: text("PricingCategory"),
            commitment: text("CommitmentDiscountId"),
            quantity: row.money("ConsumedQuantity"),
            unit: text("ConsumedUnit"),
            costs: costs(row, CostMetric::column),
            source: text("x_Source"),
        })
    }
}

/// The cost columns of a row that hold something.
fn costs(row: Row<'_>, name: fn(CostMetric) -> &'static str) -> BTreeMap<&'static str, Money> {
    let known = CostMetric::ALL
        .iter()
        .filter_map(|metric| Some((metric.as_str(), row.money(name(*metric))?)));
    known.collect()
}

impl Store {
    /// The charges of a resource in some days.
    pub fn charges(&self, query: &ChargesQuery) -> Result<Charges, StoreError> {
        let from = self.charges_sql(query)?;
        let sums: String = CostMetric::ALL
            .iter()
            .map(|m| format!(", sum({0}) AS {0}", m.column()))
            .collect();
        let totals = self
            .session()?
            .query(&format!("SELECT count(*) AS count{sums} {from}"))?;
        let rows = self.session()?.query(&format!(
            "SELECT c.* {from} ORDER BY ChargePeriodStart DESC, ChargeCategory, ChargeDescription, BilledCost DESC LIMIT {}",
            query.most
        ))?;
        let all = totals.iter().next();
        Ok(Charges {
            count: all.and_then(|row| row.int("count")).unwrap_or(0),
            totals: all.map(|row| costs(row, CostMetric::column)).unwrap_or_default(),
            rows: rows.iter().filter_map(Charge::of).collect(),
        })
    }

    /// From where they are asked: the charges of the resource on days on which all filters hold.
    fn charges_sql(&self, query: &ChargesQuery) -> Result<String, StoreError> {
        let zone = TimeZone::get(self.config().policy.section("calendar").text("zone")).unwrap_or(TimeZone::UTC);
        let midnight = |day: Date| zone.to_timestamp(day.at(0, 0, 0, 0)).unwrap_or_default();
        let instant = |day: Date| format!("CAST('{}' AS TIMESTAMP)", midnight(day));
        let quoted = crate::report::quoted;
        let mut sql = format!(
            "FROM (SELECT * FROM charges WHERE ResourceId = {} AND ChargePeriodStart >= {} AND ChargePeriodStart < {}) c",
            quoted(&query.resource),
            instant(query.first),
            instant(query.after)
        );
        // Which days is said already, and said exactly.
        let only = query.only.iter().filter(|(dimension, _)| !dimension.is_time());
        let filter = ReportQuery {
            only: only.map(|(dimension, labels)| (*dimension, labels.clone())).collect(),
            ..ReportQuery::default()
        };
        if !filter.only.is_empty() {
            sql += &format!(
                " JOIN (SELECT DISTINCT ResourceId AS x_Of, x_Day AS x_On FROM {} {}) o \
                 ON c.ResourceId = o.x_Of AND date_trunc('day', c.ChargePeriodStart) = o.x_On",
                self.owned_bill(false)?,
                filter.where_labels()
            );
        }
        Ok(sql)
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::sample::{Line, focus_csv, load_text, open};

    fn line(resource: &'static str, at: &str, cost: &'static str, team: &str) -> Line {
        let mut line = Line::hour(resource, "g5.2xlarge", at.parse().unwrap(), cost);
        line.tags = format!(r#"{{"team":"{team}"}}"#);
        line
    }

    fn ask(dir: &std::path::Path, only: &[(Dimension, &str)], most: usize) -> Charges {
        let only = only
            .iter()
            .map(|(dimension, label)| (*dimension, vec![(*label).to_owned()]))
            .collect();
        let query = ChargesQuery {
            resource: "i-a".into(),
            first: date(2026, 10, 5),
            after: date(2026, 10, 7),
            only,
            most,
        };
        open(dir).charges(&query).unwrap()
    }

    #[test]
    fn a_resource_has_its_charges_and_their_exact_sums() {
        let dir = tempfile::tempdir().unwrap();
        let lines = [
            line("i-a", "2026-10-04T23:00:00Z", "9", "vision"),
            line("i-a", "2026-10-05T00:00:00Z", "1.5", "vision"),
            line("i-a", "2026-10-05T01:00:00Z", "0.000000000001", "vision"),
            line("i-a", "2026-10-06T23:00:00Z", "2", "vision"),
            line("i-a", "2026-10-07T00:00:00Z", "9", "vision"),
            line("i-b", "2026-10-05T00:00:00Z", "9", "vision"),
        ];
        load_text(dir.path(), "bill.csv", &focus_csv(&lines));
        let all = ask(dir.path(), &[], 100);
        assert_eq!((all.count, all.rows.len()), (3, 3));
        assert_eq!(all.totals["billed"].to_string(), "3.500000000001");
        assert_eq!(
            all.rows[0].start.to_string(),
            "2026-10-06T23:00:00Z",
            "the newest first"
        );
        assert_eq!(all.rows[0].costs["billed"], Money::whole(2));
        let two = ask(dir.path(), &[], 2);
        assert_eq!(
            (two.count, two.rows.len(), &two.totals),
            (3, 2, &all.totals),
            "sums are of all"
        );
        assert_eq!(ask(dir.path(), &[(Dimension::Team, "x') OR ('1'='1")], 9).count, 0);
    }

    #[test]
    fn charges_of_another_owner_are_not_given() {
        let dir = tempfile::tempdir().unwrap();
        let lines = [
            line("i-a", "2026-10-05T00:00:00Z", "1", "vision"),
            line("i-a", "2026-10-06T00:00:00Z", "2", "speech"),
        ];
        load_text(dir.path(), "bill.csv", &focus_csv(&lines));
        let of = |team: &str| {
            ask(dir.path(), &[(Dimension::Team, team)], 9)
                .totals
                .get("billed")
                .copied()
        };
        let report = open(dir.path());
        let rows = report
            .report(&ReportQuery {
                by: vec![Dimension::Team],
                ..ReportQuery::default()
            })
            .unwrap()
            .rows;
        for row in rows {
            assert_eq!(
                of(&row.labels[0]),
                Some(row.cost),
                "as the report says: {:?}",
                row.labels
            );
        }
        assert_eq!(of("nobody"), None);
    }
}
