//! Who decided what.

use lowwater_store::state::Entry;
use serde::Serialize;

use crate::amount::{instant, plural};
use crate::output::View;
use crate::screen::{Column, Screen, Table};

/// Characters of a hash that tell it from others at a glance; all of it is in the JSON.
const SHORT: usize = 12;

/// The log, whose every line was found to follow from the one before.
#[derive(Debug, Serialize)]
pub struct Log {
    /// Lines there are.
    count: usize,
    /// Hash of the newest; null where there is none.
    newest: Option<String>,
    /// The newest, from the older to the newer.
    entries: Vec<Entry>,
}

impl Log {
    /// The last lines of a log that was checked.
    pub fn new(mut entries: Vec<Entry>, last: usize) -> Self {
        let count = entries.len();
        Self {
            count,
            newest: entries.last().map(|entry| entry.hash.clone()),
            entries: entries.split_off(count.saturating_sub(last)),
        }
    }
}

fn short(hash: &str) -> String {
    hash.chars().take(SHORT).collect()
}

impl View for Log {
    fn screen(&self) -> Screen {
        let Some(newest) = &self.newest else {
            return Screen::new("Nobody decided anything yet.");
        };
        let mut table = Table::new([
            Column::number("line"),
            Column::text("when"),
            Column::text("who"),
            Column::text("did"),
            Column::text("what"),
            Column::text("hash").optional(1),
        ]);
        for entry in &self.entries {
            table.row([
                entry.number.to_string(),
                instant(entry.at),
                entry.who.clone(),
                entry.what.clone(),
                entry.about.clone(),
                short(&entry.hash),
            ]);
        }
        let lines = plural(self.count as u64, "line");
        let part = match self.entries.len() {
            all if all == self.count => String::new(),
            some => format!(", the newest {some} shown"),
        };
        Screen::new(format!(
            "{lines}{part}; none was changed or is gone since, up to hash {}.",
            short(newest)
        ))
        .table(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;

    fn entry(number: i64) -> Entry {
        Entry {
            number,
            at: "2026-11-01T00:00:00Z".parse().unwrap(),
            who: "ann".into(),
            what: "approved".into(),
            about: format!("step {number}"),
            hash: format!("{number:064}"),
        }
    }

    #[test]
    fn the_newest_lines_stand_last() {
        let text = |last| {
            Log::new((1..=3).map(entry).collect(), last)
                .screen()
                .render(120, Paint::new(false))
        };
        assert!(text(50).starts_with("3 lines; none was changed"), "{}", text(50));
        let two = text(2);
        assert!(
            two.contains("the newest 2 shown") && !two.contains("step 1") && two.contains("step 3"),
            "{two}"
        );
        assert_eq!(
            Log::new(Vec::new(), 5).screen().render(120, Paint::new(false)),
            "Nobody decided anything yet.\n"
        );
    }
}
