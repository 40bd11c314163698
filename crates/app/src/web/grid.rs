//! Tables of a page: what a terminal table shows, with links, and with a sign of what each cell is.

use crate::csv::Csv;
use crate::screen::Table;

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// With its unit.
    pub title: String,
    /// Right-aligned, sorted by value.
    pub number: bool,
    /// What the term means, on hover.
    pub term: String,
}

impl Head {
    /// Of texts.
    pub fn text(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            number: false,
            term: String::new(),
        }
    }

    /// Of numbers.
    pub fn number(title: impl Into<String>) -> Self {
        Self {
            number: true,
            ..Self::text(title)
        }
    }

    /// With an explanation.
    #[must_use]
    pub fn term(mut self, term: impl Into<String>) -> Self {
        self.term = term.into();
        self
    }
}

/// What a cell says beside its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing.
    #[default]
    Plain,
    /// Less important.
    Muted,
    /// Good news.
    Good,
    /// To be looked at.
    Caution,
    /// Bad news.
    Bad,
    /// An id, a command, a SKU.
    Code,
}

impl Tone {
    /// Class of the style.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Muted => "muted",
            Self::Good => "good",
            Self::Caution => "caution",
            Self::Bad => "bad",
            Self::Code => "code",
        }
    }
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// What is read.
    pub text: String,
    /// What it is sorted by where the text is no number.
    pub key: String,
    /// Where it leads; empty = nowhere.
    pub href: String,
    /// On hover.
    pub title: String,
    /// What it says beside its text.
    pub tone: Tone,
}

impl Cell {
    /// Plain.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Leads somewhere.
    #[must_use]
    pub fn link(mut self, href: impl Into<String>) -> Self {
        self.href = href.into();
        self
    }

    /// Explained on hover.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// With a tone.
    #[must_use]
    pub const fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// Sorted by this.
    #[must_use]
    pub fn key(mut self, key: impl ToString) -> Self {
        self.key = key.to_string();
        self
    }
}

/// A row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GridRow {
    /// One a column.
    pub cells: Vec<Cell>,
    /// A total: it stands first and is not sorted.
    pub total: bool,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// What it shows, for those who can't see it.
    pub caption: String,
    /// Columns.
    pub heads: Vec<Head>,
    /// Rows.
    pub rows: Vec<GridRow>,
    /// Name of its file when it is saved; empty = it is not offered.
    pub file: String,
}

impl Grid {
    /// Without rows.
    pub fn new(caption: impl Into<String>, heads: impl IntoIterator<Item = Head>) -> Self {
        Self {
            caption: caption.into(),
            heads: heads.into_iter().collect(),
            ..Self::default()
        }
    }

    /// A table of the terminal, with all of its columns.
    pub fn of_table(table: &Table) -> Self {
        let heads = table
            .heads()
            .map(|(title, number)| if number { Head::number(title) } else { Head::text(title) });
        let mut grid = Self::new("", heads);
        for (cells, total) in table.rows() {
            let cells = cells.iter().map(|text| Cell::new(text.as_str())).collect();
            grid.rows.push(GridRow { cells, total });
        }
        grid
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(GridRow {
            cells: cells.into_iter().collect(),
            total: false,
        });
    }

    /// Adds a total.
    pub fn total(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(GridRow {
            cells: cells.into_iter().collect(),
            total: true,
        });
    }

    /// Offered as a file of this name.
    #[must_use]
    pub fn file(mut self, name: impl Into<String>) -> Self {
        self.file = name.into();
        self
    }

    /// No rows?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What is on the screen, for a spreadsheet.
    pub fn csv(&self) -> String {
        let mut csv = Csv::default();
        csv.record(self.heads.iter().map(|head| Csv::text(head.title.clone())));
        for row in &self.rows {
            let cells = row.cells.iter().zip(&self.heads);
            csv.record(cells.map(|(cell, head)| {
                let plain = cell.text.replace(',', "");
                if head.number && plain.parse::<f64>().is_ok() {
                    Csv::number(plain)
                } else {
                    Csv::text(cell.text.clone())
                }
            }));
        }
        csv.into_text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_table_has_numbers_and_no_formulas() {
        let mut grid = Grid::new("cost", [Head::text("team"), Head::number("cost (USD)")]);
        grid.total([Cell::new("all"), Cell::new("1,234.50")]);
        grid.row([Cell::new("=1+1"), Cell::new("unknown")]);
        assert_eq!(grid.csv(), "team,cost (USD)\nall,1234.50\n'=1+1,unknown\n");
    }
}
