//! What is loaded, or was taken back.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lowwater_store::unload::Held;
use serde::Serialize;

use super::next::Next;
use crate::amount::{UNKNOWN, cents, count, plural};
use crate::output::View;
use crate::screen::{Column, Screen, Table};

/// Units of the store.
#[derive(Debug, Serialize)]
pub struct Unloaded {
    /// Were they taken out? Else they are there.
    pub removed: bool,
    /// By kind and key.
    pub units: Vec<Unit>,
    #[serde(skip)]
    next: Next,
}

/// One of them.
#[derive(Debug, Serialize)]
pub struct Unit {
    /// `bill`, `usage`, `jobs` or `prices`.
    pub kind: &'static str,
    /// Source.
    pub source: String,
    /// Billing account, or the provider of a price list.
    pub account: String,
    /// Month; of a price list its day.
    pub month: String,
    /// Rows kept.
    pub rows: u64,
    /// Rows rejected.
    pub rejects: u64,
    /// BilledCost of a bill, with the file's digits.
    pub billed: Option<String>,
    /// When it was loaded last.
    pub loaded_at: Timestamp,
    #[serde(skip)]
    cost: String,
}

impl From<&Held> for Unit {
    fn from(held: &Held) -> Self {
        let unknown = if held.kind == "bill" { UNKNOWN } else { "" };
        Self {
            kind: held.kind,
            source: held.source.clone(),
            account: held.account.clone(),
            month: held.month.clone(),
            rows: held.rows,
            rejects: held.rejects,
            billed: held.billed.map(|sum| sum.file_text()),
            loaded_at: held.loaded_at,
            cost: held.billed.map_or(unknown.to_owned(), |sum| cents(sum.stored())),
        }
    }
}

impl Unloaded {
    /// What is there.
    pub fn list(units: &[Held], next: Next) -> Self {
        Self {
            removed: false,
            units: units.iter().map(Unit::from).collect(),
            next,
        }
    }

    /// What was taken out.
    pub fn gone(units: &[Held], next: Next) -> Self {
        Self {
            removed: true,
            ..Self::list(units, next)
        }
    }

    fn headline(&self) -> String {
        let units = plural(self.units.len() as u64, "unit");
        match (self.removed, self.units.is_empty()) {
            (_, true) => "Nothing is loaded.".to_owned(),
            (true, _) => format!("Took back {units}; no report or plan counts them any more."),
            (false, _) => format!(
                "{units} loaded. `lowwater unload --source NAME`, --account, --month or --kind takes back all that fits."
            ),
        }
    }
}

fn day(at: Timestamp) -> String {
    TimeZone::UTC.to_datetime(at).date().to_string()
}

impl View for Unloaded {
    fn screen(&self) -> Screen {
        let mut table = Table::new([
            Column::text("kind"),
            Column::text("source"),
            Column::text("account"),
            Column::text("month"),
            Column::number("rows"),
            Column::number("rejects"),
            Column::number("billed"),
            Column::text("loaded on"),
        ]);
        for unit in &self.units {
            table.row([
                unit.kind.to_owned(),
                unit.source.clone(),
                unit.account.clone(),
                unit.month.clone(),
                count(unit.rows),
                count(unit.rejects),
                unit.cost.clone(),
                day(unit.loaded_at),
            ]);
        }
        let screen = Screen::new(self.headline());
        let screen = if self.units.is_empty() {
            screen
        } else {
            screen.table(table)
        };
        match (self.removed, self.units.is_empty()) {
            (true, false) => screen.next([(self.next.command("load PATH..."), "reads the files anew, all of them")]),
            (_, true) => screen.next([(self.next.command("load PATH..."), "a bill, metrics, jobs or prices")]),
            (false, false) => screen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;

    fn text(view: &Unloaded) -> String {
        view.screen().render(100, Paint::new(false))
    }

    #[test]
    fn an_empty_store_says_what_to_type() {
        let view = text(&Unloaded::list(&[], Next::default()));
        assert!(
            view.starts_with("Nothing is loaded.") && view.contains("lowwater load PATH..."),
            "{view}"
        );
    }
}
