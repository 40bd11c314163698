//! Tables that fit: numbers are never broken, text gives way, and what still does not fit is left out and said.

use comfy_table::{Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width};

use super::Paint;
use super::cell::broken;
use super::paragraph::{visible, wrap};
use crate::amount::shortened;

/// Spaces between columns.
const GAP: usize = 2;
/// Characters of a cell that are shown: laying out a text that nobody reads would take for ever.
const MAX_CELL: usize = 400;
/// A text column is never narrower than this, unless its content is.
const MIN_TEXT: usize = 10;

/// From this width on there is room to keep ids whole.
const IDS_FROM: usize = 80;

/// A line under the header and nothing else.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    title: String,
    number: bool,
    optional: u8,
    least: usize,
    from_width: usize,
    whole: bool,
}

impl Column {
    /// Left-aligned, gives way when the table is too wide.
    pub fn text(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            number: false,
            optional: 0,
            least: MIN_TEXT,
            from_width: 0,
            whole: false,
        }
    }

    /// Right-aligned, never broken.
    pub fn number(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            number: true,
            optional: 0,
            least: 0,
            from_width: 0,
            whole: false,
        }
    }

    /// Text that is read as a sentence: other columns are left out before it gets narrower than this.
    #[must_use]
    pub const fn at_least(mut self, characters: usize) -> Self {
        self.least = characters;
        self
    }

    /// Holds ids: where the table is at least 80 wide, these words get their room before those of other columns.
    #[must_use]
    pub const fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    /// Only in tables at least this wide; narrower ones have the same in another column.
    #[must_use]
    pub const fn only_from(mut self, characters: usize) -> Self {
        self.from_width = characters;
        self
    }

    /// May be left out where there is no room; higher orders go first.
    #[must_use]
    pub const fn optional(mut self, order: u8) -> Self {
        self.optional = order;
        self
    }
}

#[derive(Clone, Debug)]
struct Row {
    cells: Vec<String>,
    strong: bool,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

impl Table {
    /// Without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row with one cell a column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.push(cells, false);
    }

    /// Adds a row that stands out: a total.
    pub fn total(&mut self, cells: impl IntoIterator<Item = String>) {
        self.push(cells, true);
    }

    fn push(&mut self, cells: impl IntoIterator<Item = String>, strong: bool) {
        let mut cells: Vec<String> = cells.into_iter().map(|c| visible(&shortened(&c, MAX_CELL))).collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(Row { cells, strong });
    }

    /// Title of each column, and whether it holds numbers.
    pub fn heads(&self) -> impl Iterator<Item = (&str, bool)> {
        self.columns.iter().map(|column| (column.title.as_str(), column.number))
    }

    /// Cells of each row, and whether it is a total.
    pub fn rows(&self) -> impl Iterator<Item = (&[String], bool)> {
        self.rows.iter().map(|row| (&row.cells[..], row.strong))
    }

    /// No rows?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines of the table, at most `width` wide.
    pub fn lines(&self, width: usize, paint: Paint) -> Vec<String> {
        let (shown, widths) = self.fit(width);
        let mut table = self.build(&shown, Some(&widths), paint);
        for (at, size) in widths.iter().enumerate() {
            let last = at + 1 == widths.len();
            let padding = if last { 0 } else { GAP };
            if let Some(column) = table.column_mut(at) {
                column.set_padding((0, padding as u16));
                column.set_constraint(ColumnConstraint::Absolute(Width::Fixed((size + padding) as u16)));
                let number = self.columns[shown[at]].number;
                column.set_cell_alignment(if number {
                    CellAlignment::Right
                } else {
                    CellAlignment::Left
                });
            }
        }
        let mut lines: Vec<String> = table.lines().map(|l| l.trim_end().to_owned()).collect();
        lines.extend(self.left_out(&shown, width).iter().map(|l| paint.quiet(l)));
        lines
    }

    fn left_out(&self, shown: &[usize], width: usize) -> Vec<String> {
        let hidden = self
            .columns
            .iter()
            .enumerate()
            .filter(|(i, c)| !shown.contains(i) && c.from_width <= width);
        let hidden: Vec<&str> = hidden.map(|(_, c)| c.title.as_str()).collect();
        if hidden.is_empty() {
            return Vec::new();
        }
        wrap(&format!("(no room for: {}; see --json)", hidden.join(", ")), width, " ")
    }

    /// With widths the texts are broken to them; without, each is as long as it is.
    fn build(&self, shown: &[usize], widths: Option<&[usize]>, paint: Paint) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table
            .load_style(STYLE)
            .set_content_arrangement(ContentArrangement::Disabled)
            .force_no_tty();
        if paint.has_colour() {
            table.enforce_styling();
        }
        let cell = |(at, text): (usize, &str), strong: bool| {
            let cell = match widths {
                Some(widths) => Cell::new(broken(text, widths[at]).join("\n")),
                None => Cell::new(text),
            };
            if strong {
                cell.add_attribute(Attribute::Bold)
            } else {
                cell
            }
        };
        table.set_header(
            shown
                .iter()
                .enumerate()
                .map(|(at, i)| cell((at, &self.columns[*i].title), true))
                .collect::<Vec<_>>(),
        );
        for row in &self.rows {
            table.add_row(
                shown
                    .iter()
                    .enumerate()
                    .map(|(at, i)| cell((at, &row.cells[*i]), row.strong))
                    .collect::<Vec<_>>(),
            );
        }
        table
    }

    /// Widens columns to their longest word, as far as there is room: an id that is broken can't be copied.
    fn whole_words(&self, shown: &[usize], width: usize, mut widths: Vec<usize>) -> Vec<usize> {
        let longest = |i: usize| {
            let words = self.rows.iter().flat_map(|row| row.cells[i].split_whitespace());
            words.map(|word| word.chars().count()).max().unwrap_or(0)
        };
        let mut wants: Vec<(usize, usize)> = shown.iter().map(|i| longest(*i)).enumerate().collect();
        let later = |at: usize| width < IDS_FROM || !self.columns[shown[at]].whole;
        wants.sort_by_key(|(at, want)| (later(*at), want.saturating_sub(widths[*at])));
        for (at, want) in wants {
            let spare = width.saturating_sub(total(&widths));
            if want > widths[at] && want - widths[at] <= spare {
                widths[at] = want;
            }
        }
        widths
    }

    /// Which columns are shown, and how wide each is.
    fn fit(&self, width: usize) -> (Vec<usize>, Vec<usize>) {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let natural: Vec<usize> = self
            .build(&all, None, Paint::new(false))
            .column_max_content_widths()
            .iter()
            .map(|w| usize::from(*w))
            .collect();
        let least = |i: usize| {
            if self.columns[i].number {
                natural[i]
            } else {
                natural[i].min(self.columns[i].least)
            }
        };
        let mut shown: Vec<usize> = all
            .into_iter()
            .filter(|i| self.columns[*i].from_width <= width)
            .collect();
        while sum(&shown, least) > width {
            let Some(drop) = shown
                .iter()
                .copied()
                .filter(|i| self.columns[*i].optional > 0)
                .max_by_key(|i| self.columns[*i].optional)
            else {
                break;
            };
            shown.retain(|i| *i != drop);
        }
        let least: Vec<usize> = self.whole_words(&shown, width, shown.iter().map(|i| least(*i)).collect());
        let natural: Vec<usize> = shown.iter().map(|i| natural[*i]).collect();
        let widths = share_out(least, &natural, width);
        (shown, widths)
    }
}

/// Widths of columns beside each other.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

fn sum(shown: &[usize], size: impl Fn(usize) -> usize) -> usize {
    shown.iter().map(|i| size(*i)).sum::<usize>() + GAP * shown.len().saturating_sub(1)
}

/// Gives what is left of `width` to the columns that want more, evenly, none more than it wants.
fn share_out(mut widths: Vec<usize>, natural: &[usize], width: usize) -> Vec<usize> {
    let mut spare = width.saturating_sub(total(&widths));
    loop {
        let hungry: Vec<usize> = (0..widths.len()).filter(|at| widths[*at] < natural[*at]).collect();
        if hungry.is_empty() || spare == 0 {
            return widths;
        }
        let part = (spare / hungry.len()).max(1);
        for at in hungry {
            let more = part.min(natural[at] - widths[at]).min(spare);
            widths[at] += more;
            spare -= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new([
            Column::text("team"),
            Column::number("effective cost (USD)"),
            Column::number("share").optional(1),
            Column::text("what the team runs and why").optional(2),
        ]);
        table.total(["all", "1,234,567.89", "100.0 %", ""].map(String::from));
        table.row(
            [
                "vision",
                "1,000,000.00",
                "81.0 %",
                "notebooks that were left on over nights and weekends",
            ]
            .map(String::from),
        );
        table.row(
            [
                "a team with a rather long name that goes on",
                "234,567.89",
                "19.0 %",
                "training",
            ]
            .map(String::from),
        );
        table
    }

    fn text(table: &Table, width: usize) -> String {
        table.lines(width, Paint::new(false)).join("\n")
    }

    #[test]
    fn an_id_is_not_broken_where_there_is_room() {
        let mut table = Table::new([Column::text("what"), Column::text("why"), Column::text("numbers")]);
        let words = "because nobody has said what it is for and so nobody can say that it may go";
        table.row(["notebooks-los-angeles (i-072bf599617e25b0a)", words, words].map(String::from));
        for width in [80, 100, 120] {
            let text = table.lines(width, Paint::new(false)).join("\n");
            assert!(
                text.contains("(i-072bf599617e25b0a)") && text.contains("notebooks-los-angeles"),
                "{text}"
            );
            assert!(text.lines().all(|l| l.chars().count() <= width), "{text}");
        }
    }

    #[test]
    fn ids_have_their_room_before_other_words() {
        let mut table = Table::new([
            Column::text("why").at_least(24),
            Column::text("what was looked at").whole(),
            Column::text("numbers").at_least(20),
        ]);
        let words = "an uninterruptible consideration of what everybody knows";
        table.row([words, "resources: i-07fd314a291906bcf, i-0d11f0134651c9e71", words].map(String::from));
        for width in [80, 90, 120] {
            let text = text(&table, width);
            assert!(
                text.contains("i-07fd314a291906bcf,") && text.contains("i-0d11f0134651c9e71"),
                "{width}\n{text}"
            );
        }
    }

    #[test]
    fn a_name_without_room_is_broken_after_its_signs() {
        let mut table = Table::new([Column::text("class"), Column::number("cost (USD)")]);
        table.row(["realtime-inference", "1,234.50"].map(String::from));
        let text = text(&table, 24);
        assert!(text.contains("\nrealtime-") && text.contains("\ninference"), "{text}");
    }

    #[test]
    fn numbers_are_right_aligned_and_whole_at_every_width() {
        for width in [60, 80, 100, 160, 200] {
            let text = text(&sample(), width);
            assert!(text.lines().all(|l| l.chars().count() <= width), "{width}:\n{text}");
            for number in ["1,234,567.89", "1,000,000.00", "  234,567.89"] {
                assert!(text.contains(number), "{width}: {number}\n{text}");
            }
        }
    }

    #[test]
    fn columns_without_room_are_left_out_and_named() {
        let narrow = text(&sample(), 42);
        assert!(
            narrow.ends_with("(no room for: what the team runs and why;\n see --json)"),
            "{narrow}"
        );
        let narrower = text(&sample(), 36);
        assert!(
            narrower.ends_with("(no room for: share, what the team\n runs and why; see --json)"),
            "{narrower}"
        );
        assert!(!text(&sample(), 160).contains("no room"));
    }

    #[test]
    fn looks_like_this() {
        let want = "\
team                                         effective cost (USD)    share  what the team runs and why
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
all                                                  1,234,567.89  100.0 %
vision                                               1,000,000.00   81.0 %  notebooks that were left on over nights
                                                                            and weekends
a team with a rather long name that goes on            234,567.89   19.0 %  training";
        assert_eq!(text(&sample(), 118), want);
    }

    #[test]
    fn a_column_for_wide_tables_is_not_missed_in_narrow_ones() {
        let mut table = Table::new([
            Column::number("#"),
            Column::text("id").only_from(100),
            Column::text("what"),
        ]);
        table.row(["1", "aa11bb22", "stop"].map(String::from));
        assert!(text(&table, 100).contains("aa11bb22"));
        let narrow = text(&table, 99);
        assert!(!narrow.contains("aa11bb22") && !narrow.contains("no room"), "{narrow}");
    }

    #[test]
    fn foreign_text_cannot_command_the_terminal() {
        let mut table = Table::new([Column::text("name")]);
        table.row(["\u{1b}[2Jwiped\u{7}".to_owned()]);
        assert!(text(&table, 80).ends_with("\u{fffd}[2Jwiped\u{fffd}"));
    }

    #[test]
    fn a_cell_is_cut_before_it_is_laid_out() {
        let mut table = Table::new([Column::text("name")]);
        table.row(["é".repeat(1_000_000)]);
        let shown = text(&table, 80);
        assert!(shown.contains('…') && shown.chars().filter(|c| *c == 'é').count() == MAX_CELL);
    }

    #[test]
    fn bold_only_with_colour() {
        assert!(sample().lines(80, Paint::new(true)).join("").contains("\u{1b}[1m"));
        assert!(!text(&sample(), 80).contains('\u{1b}'));
    }

    #[test]
    fn a_short_row_is_filled_up() {
        let mut table = Table::new([Column::text("a"), Column::number("b")]);
        table.row(["x".to_owned()]);
        assert_eq!(text(&table, 80), "a  b\n────\nx");
    }
}
