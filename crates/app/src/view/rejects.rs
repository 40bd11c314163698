//! Rows that were not kept: where, why, and the money at stake.

use std::collections::BTreeMap;

use lowwater_model::money::Money;
use lowwater_store::load::Reject;
use serde::{Serialize, Serializer};

use crate::amount::{UNKNOWN, cents, plural};
use crate::output::View;
use crate::screen::{Column, Screen, Table};

/// All rejected rows, as JSON a plain array.
#[derive(Debug)]
pub struct Rejects {
    rows: Vec<RejectedRow>,
    currency: String,
    most: usize,
}

/// One rejected row.
#[derive(Debug, Serialize)]
pub struct RejectedRow {
    /// Stable for the same row of the same file.
    pub id: String,
    /// File, row and column in one.
    #[serde(rename = "where")]
    pub place: String,
    /// Source file.
    pub file: String,
    /// Line on which it begins, the header on line 1; in a Parquet file its row, from 1.
    pub row: u64,
    /// Column.
    pub column: String,
    /// Its value, cut short.
    pub value: String,
    /// What is wrong.
    pub why: String,
    /// BilledCost of the row, where it could be read.
    pub at_stake: Option<String>,
    /// Is it a row of a bill? No money is at stake in others.
    pub of_bill: bool,
    /// What to do.
    pub hint: String,
}

impl From<Reject> for RejectedRow {
    fn from(reject: Reject) -> Self {
        let place = [reject.file.clone(), reject.row.to_string(), reject.column.clone()];
        let place = place
            .into_iter()
            .filter(|p| !p.is_empty())
            .collect::<Vec<_>>()
            .join(":");
        Self {
            id: format!("reject:{place}"),
            place,
            file: reject.file,
            row: reject.row,
            column: reject.column,
            value: reject.value,
            why: reject.reason,
            at_stake: reject.at_stake,
            of_bill: reject.of_bill,
            hint: "correct the row in the export and load the file again".to_owned(),
        }
    }
}

impl Serialize for Rejects {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.rows.serialize(serializer)
    }
}

impl Rejects {
    /// At most `most` of them in the text form.
    pub fn new(rejects: Vec<Reject>, currency: String, most: usize) -> Self {
        Self {
            rows: rejects.into_iter().map(RejectedRow::from).collect(),
            currency,
            most,
        }
    }

    fn headline(&self) -> String {
        if self.rows.is_empty() {
            return "No row was rejected.".to_owned();
        }
        let known: Vec<Money> = self
            .rows
            .iter()
            .filter_map(|r| Money::parse(r.at_stake.as_deref()?).ok())
            .collect();
        let bills = self.rows.iter().filter(|row| row.of_bill).count();
        let unknown = bills - known.len();
        let rows = plural(self.rows.len() as u64, "row");
        if bills == 0 {
            return format!("{rows} rejected, none of a bill.");
        }
        if known.is_empty() {
            return format!("{rows} rejected; how much money is at stake is unknown.");
        }
        let total = format!("{} {} billed at stake", cents(known.iter().sum()), self.currency);
        let rest = if unknown == 0 {
            String::new()
        } else {
            format!(", and an unknown amount in {}", plural(unknown as u64, "row"))
        };
        format!("{rows} rejected, with {total}{rest}.")
    }

    fn reasons(&self) -> Vec<String> {
        let mut by_reason: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for row in &self.rows {
            // After the reason may stand another cost of the row, which is different in every one.
            let why = row.why.split_once("; its ").map_or(row.why.as_str(), |(why, _)| why);
            *by_reason.entry((row.column.as_str(), why)).or_default() += 1;
        }
        let words = |((column, why), n): ((&str, &str), u64)| {
            let column = if column.is_empty() {
                String::new()
            } else {
                format!("{column} ")
            };
            format!("{column}{why}: {}", plural(n, "row"))
        };
        by_reason.into_iter().map(words).collect()
    }
}

impl View for Rejects {
    fn screen(&self) -> Screen {
        let mut table = Table::new([
            Column::text("file:row:column"),
            Column::text("value"),
            Column::text("why"),
            Column::number(format!("at stake ({})", self.currency)),
        ]);
        for row in self.rows.iter().take(self.most) {
            let unknown = if row.of_bill { UNKNOWN } else { "-" };
            let stake = row.at_stake.clone().unwrap_or_else(|| unknown.to_owned());
            table.row([row.place.clone(), row.value.clone(), row.why.clone(), stake]);
        }
        let screen = Screen::new(self.headline()).points(self.reasons()).table(table);
        if self.rows.len() > self.most {
            return screen.text(format!("The first {} are shown; --all shows every one.", self.most));
        }
        screen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;

    fn reject(row: u64, at_stake: Option<&str>) -> Reject {
        Reject {
            file: "bill.csv".into(),
            row,
            column: "BilledCost".into(),
            value: "=1+1".into(),
            reason: "is not a decimal number".into(),
            at_stake: at_stake.map(Into::into),
            of_bill: true,
        }
    }

    #[test]
    fn says_how_much_is_at_stake_and_what_is_not_known() {
        let view = Rejects::new(vec![reject(3, Some("1200.5")), reject(9, None)], "USD".into(), 10);
        let text = view.screen().render(100, Paint::new(false));
        assert!(
            text.starts_with("2 rows rejected, with 1,200.50 USD billed at stake, and an unknown amount in 1 row."),
            "{text}"
        );
        assert!(text.contains("- BilledCost is not a decimal number: 2 rows"), "{text}");
        assert!(
            text.contains("bill.csv:3:BilledCost") && text.contains(" unknown\n"),
            "{text}"
        );
        let json = serde_json::to_value(&view).unwrap();
        assert_eq!(json[0]["where"], "bill.csv:3:BilledCost");
        assert_eq!(json[0]["at_stake"], "1200.5");
        assert!(json[1]["at_stake"].is_null() && json[1]["hint"].is_string() && json[1]["id"].is_string());
    }

    #[test]
    fn nothing_and_many() {
        let text = |rows: Vec<Reject>| {
            Rejects::new(rows, "USD".into(), 2)
                .screen()
                .render(100, Paint::new(false))
        };
        let unknown = text(vec![reject(1, None)]);
        assert!(
            unknown.starts_with("1 row rejected; how much money is at stake is unknown."),
            "{unknown}"
        );
        let of_jobs = text(vec![Reject {
            of_bill: false,
            ..reject(1, None)
        }]);
        assert!(
            of_jobs.starts_with("1 row rejected, none of a bill.") && of_jobs.contains(" -\n"),
            "{of_jobs}"
        );
        assert_eq!(text(Vec::new()), "No row was rejected.\n");
        let many = text((1..=5).map(|n| reject(n, None)).collect());
        assert!(
            many.contains("The first 2 are shown") && !many.contains("bill.csv:3"),
            "{many}"
        );
    }
}
