//! A screen of text, always in the same order: one sentence, figures, tables, remarks, what to type next.

mod cell;
pub mod paint;
pub mod paragraph;
pub mod table;

pub use paint::Paint;
pub use table::{Column, Table};

use std::collections::BTreeSet;

use paragraph::{visible, wrap};

/// A number with its name and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// What it is.
    pub label: String,
    /// With its unit.
    pub value: String,
    /// Share, basis or reason; may be empty.
    pub remark: String,
}

/// A block of a screen.
#[derive(Clone, Debug)]
pub enum Block {
    /// The one sentence.
    Headline(String),
    /// A heading.
    Title(String),
    /// A paragraph.
    Text(String),
    /// Lines to copy.
    Verbatim(String),
    /// A list.
    Points(Vec<String>),
    /// What a reader must know.
    Warnings(Vec<String>),
    /// Numbers under each other.
    Figures(Vec<Figure>),
    /// Terms with their explanations.
    Terms(Vec<(String, String)>),
    /// A table.
    Table(Table),
    /// Commands to type next, each with what it brings.
    Next(Vec<(String, String)>),
}

/// Blocks from top to bottom, an empty line between them.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    blocks: Vec<Block>,
    /// Blocks that nobody asked for, from 0.
    asides: BTreeSet<usize>,
}

impl Screen {
    /// Begins with the one sentence that says it all.
    pub fn new(headline: impl Into<String>) -> Self {
        Self {
            blocks: vec![Block::Headline(headline.into())],
            asides: BTreeSet::new(),
        }
    }

    /// Its blocks, for another way to show them.
    pub fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }

    fn with(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// A heading.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        self.with(Block::Title(title.into()))
    }

    /// Lines to copy: they are never broken, whatever the width.
    #[must_use]
    pub fn verbatim(self, text: impl Into<String>) -> Self {
        self.with(Block::Verbatim(text.into()))
    }

    /// A paragraph.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.with(Block::Text(text.into()))
    }

    /// A list; nothing where it is empty.
    #[must_use]
    pub fn points(self, points: Vec<String>) -> Self {
        if points.is_empty() {
            self
        } else {
            self.with(Block::Points(points))
        }
    }

    /// Remarks under a title; nothing where there are none.
    #[must_use]
    pub fn remarks(self, title: &str, points: Vec<String>) -> Self {
        if points.is_empty() {
            self
        } else {
            self.aside(Self::default().title(title).points(points))
        }
    }

    /// All blocks of another screen after these, as what was not asked for.
    #[must_use]
    pub fn aside(mut self, other: Self) -> Self {
        let first = self.blocks.len();
        self.asides.extend(first..first + other.blocks.len());
        self.blocks.extend(other.blocks);
        self
    }

    /// What a reader must know; nothing where there is nothing.
    #[must_use]
    pub fn warnings(self, texts: Vec<String>) -> Self {
        if texts.is_empty() {
            self
        } else {
            self.with(Block::Warnings(texts))
        }
    }

    /// Numbers under each other; nothing where there are none.
    #[must_use]
    pub fn figures(self, figures: Vec<Figure>) -> Self {
        if figures.is_empty() {
            self
        } else {
            self.with(Block::Figures(figures))
        }
    }

    /// Terms, each with its explanation below it; nothing where there are none.
    #[must_use]
    pub fn terms(self, terms: Vec<(String, String)>) -> Self {
        if terms.is_empty() {
            self
        } else {
            self.with(Block::Terms(terms))
        }
    }

    /// A table; nothing where it has no rows.
    #[must_use]
    pub fn table(self, table: Table) -> Self {
        if table.is_empty() {
            self
        } else {
            self.with(Block::Table(table))
        }
    }

    /// Commands to type next, each with what it brings.
    #[must_use]
    pub fn next<const N: usize>(self, commands: [(String, &str); N]) -> Self {
        self.with(Block::Next(
            commands.map(|(command, why)| (command, why.to_owned())).to_vec(),
        ))
    }

    /// All blocks of another screen after these.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        let first = self.blocks.len();
        self.asides.extend(other.asides.iter().map(|at| first + at));
        self.blocks.extend(other.blocks);
        self
    }

    /// Leaves out what to type next.
    pub fn drop_next(&mut self) {
        self.keep(|_, block| !matches!(block, Block::Next(_)));
    }

    /// Leaves out everything but what was asked for.
    pub fn quiet(&mut self) {
        let asides = self.asides.clone();
        self.keep(|at, block| !asides.contains(&at) && !matches!(block, Block::Next(_) | Block::Warnings(_)));
    }

    fn keep(&mut self, wanted: impl Fn(usize, &Block) -> bool) {
        let blocks = std::mem::take(&mut self.blocks);
        let asides = std::mem::take(&mut self.asides);
        for (at, block) in blocks.into_iter().enumerate().filter(|(at, block)| wanted(*at, block)) {
            if asides.contains(&at) {
                self.asides.insert(self.blocks.len());
            }
            self.blocks.push(block);
        }
    }

    /// The text, at most `width` characters wide where words allow it.
    pub fn render(&self, width: usize, paint: Paint) -> String {
        let mut out = String::new();
        for (i, block) in self.blocks.iter().enumerate() {
            let follows_title = i > 0 && matches!(self.blocks[i - 1], Block::Title(_));
            if i > 0 && !follows_title {
                out.push('\n');
            }
            for line in block.lines(width, paint) {
                out.push_str(line.trim_end());
                out.push('\n');
            }
        }
        out
    }
}

impl Block {
    fn lines(&self, width: usize, paint: Paint) -> Vec<String> {
        let each = |lines: Vec<String>, style: fn(Paint, &str) -> String| {
            lines.iter().map(|l| style(paint, l)).collect::<Vec<_>>()
        };
        match self {
            Self::Headline(text) | Self::Title(text) => each(wrap(text, width, ""), Paint::strong),
            Self::Text(text) => wrap(text, width, ""),
            Self::Verbatim(text) => text.lines().map(|line| format!("  {line}")).collect(),
            Self::Points(points) => points
                .iter()
                .flat_map(|p| wrap(&format!("- {p}"), width, "  "))
                .collect(),
            Self::Warnings(texts) => {
                let lines = texts.iter().flat_map(|t| wrap(&format!("warning: {t}"), width, "  "));
                each(lines.collect(), Paint::caution)
            }
            Self::Figures(figures) => figure_lines(figures, width, paint),
            Self::Terms(terms) => terms
                .iter()
                .flat_map(|(t, text)| term_lines(t, text, width, paint))
                .collect(),
            Self::Table(table) => table.lines(width, paint),
            Self::Next(commands) => next_lines(commands, width, paint),
        }
    }
}

fn figure_lines(figures: &[Figure], width: usize, paint: Paint) -> Vec<String> {
    let longest = |of: fn(&Figure) -> &str| figures.iter().map(|f| of(f).chars().count()).max().unwrap_or(0);
    let (label, value) = (longest(|f| &f.label), longest(|f| &f.value));
    let indent = " ".repeat(label + value + 4);
    let lines = |f: &Figure| {
        // Numbers stand under each other by their ends, words by their beginnings.
        let number = f.value.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let head = if number {
            format!("{:label$}  {:>value$}", f.label, f.value)
        } else {
            format!("{:label$}  {:<value$}", f.label, f.value)
        };
        if f.remark.is_empty() {
            return vec![head];
        }
        // A remark keeps its column while that leaves room to read it; else it goes under its number.
        let room = width.saturating_sub(indent.len());
        let narrow = room < 30;
        let remark = wrap(&f.remark, if narrow { width - 4 } else { room }, "");
        let tail = |l: &String| format!("{}{}", if narrow { "    " } else { &indent }, paint.quiet(l));
        if narrow {
            return [head].into_iter().chain(remark.iter().map(tail)).collect();
        }
        let first = remark.first().map(|l| paint.quiet(l)).unwrap_or_default();
        [format!("{head}  {first}")]
            .into_iter()
            .chain(remark.iter().skip(1).map(tail))
            .collect()
    };
    figures.iter().flat_map(lines).collect()
}

fn term_lines(term: &str, text: &str, width: usize, paint: Paint) -> Vec<String> {
    let explanation = wrap(text, width.saturating_sub(4), "");
    let explanation = explanation.iter().map(|l| format!("    {}", paint.quiet(l)));
    wrap(term, width, "  ").into_iter().chain(explanation).collect()
}

fn next_lines(commands: &[(String, String)], width: usize, paint: Paint) -> Vec<String> {
    let longest = commands.iter().map(|(c, _)| c.chars().count()).max().unwrap_or(0);
    let one_line = commands
        .iter()
        .all(|(_, why)| longest + why.chars().count() + 4 <= width);
    let lines = commands.iter().flat_map(|(command, why)| {
        if one_line {
            let padded = format!("{command:longest$}");
            vec![format!("  {}  {}", paint.command(&padded), paint.quiet(why))]
        } else {
            let why = wrap(why, width.saturating_sub(6), "");
            let why = why.iter().map(|l| format!("      {}", paint.quiet(l)));
            [format!("  {}", paint.command(command))]
                .into_iter()
                .chain(why)
                .collect()
        }
    });
    [paint.strong("next:")].into_iter().chain(lines).collect()
}

/// A figure without a remark.
pub fn figure(label: impl Into<String>, value: impl Into<String>, remark: impl Into<String>) -> Figure {
    Figure {
        label: visible(&label.into()),
        value: visible(&value.into()),
        remark: remark.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Screen {
        Screen::new("GPU spend is 412,300 USD in the last 30 days; 61,000 of it ran idle.")
            .figures(vec![
                figure("effective cost", "412,300.00 USD", "all of the bill"),
                figure(
                    "idle",
                    "61,000.00 USD",
                    "nodes on which every GPU did nothing for the whole hour, 14.8 % of GPU spend",
                ),
            ])
            .warnings(vec!["metrics cover 60 % of GPU money".into()])
            .points(vec![
                "a first point that is a little too long to stand on one line of sixty".into(),
            ])
            .next([
                ("lowwater plan".into(), "what to do about it"),
                ("lowwater show plan".into(), "every step"),
            ])
    }

    #[test]
    fn one_order_and_a_line_between_blocks() {
        let text = sample().render(60, Paint::new(false));
        let want = "\
GPU spend is 412,300 USD in the last 30 days; 61,000 of it
ran idle.

effective cost  412,300.00 USD
    all of the bill
idle             61,000.00 USD
    nodes on which every GPU did nothing for the whole hour,
    14.8 % of GPU spend

warning: metrics cover 60 % of GPU money

- a first point that is a little too long to stand on one
  line of sixty

next:
  lowwater plan       what to do about it
  lowwater show plan  every step
";
        assert_eq!(text, want);
    }

    #[test]
    fn remarks_stand_beside_numbers_where_there_is_room() {
        let text = sample().render(120, Paint::new(false));
        assert!(
            text.contains("idle             61,000.00 USD  nodes on which every GPU did nothing"),
            "{text}"
        );
        assert!(text.lines().all(|l| l.chars().count() <= 120));
    }

    #[test]
    fn no_line_is_wider_than_asked_and_no_escape_without_colour() {
        for width in [60, 80, 100, 160, 200] {
            let text = sample().render(width, Paint::new(false));
            assert!(text.lines().all(|l| l.chars().count() <= width), "{width}: {text}");
            assert!(!text.contains('\u{1b}'));
        }
        assert!(sample().render(80, Paint::new(true)).contains('\u{1b}'));
    }

    #[test]
    fn terms_have_their_explanation_below() {
        let terms = vec![("a = 1".to_owned(), "what it means, in more words than fit".to_owned())];
        let text = Screen::new("h").terms(terms).render(20, Paint::new(false));
        assert_eq!(
            text,
            "h\n\na = 1\n    what it means,\n    in more words\n    than fit\n"
        );
    }

    #[test]
    fn quiet_shows_only_what_was_asked_for() {
        let inner = Screen::default()
            .text("kept")
            .remarks("What to know", vec!["odd".into()]);
        let mut screen = Screen::new("a")
            .warnings(vec!["w".into()])
            .then(inner)
            .text("b")
            .next([("c".into(), "d")]);
        screen.drop_next();
        assert_eq!(
            screen.render(80, Paint::new(false)),
            "a\n\nwarning: w\n\nkept\n\nWhat to know\n- odd\n\nb\n"
        );
        screen.quiet();
        assert_eq!(screen.render(80, Paint::new(false)), "a\n\nkept\n\nb\n");
    }

    #[test]
    fn quiet_drops_next_and_empty_blocks_leave_no_gap() {
        let mut screen = Screen::new("a")
            .figures(Vec::new())
            .points(Vec::new())
            .text("b")
            .next([("c".into(), "d")]);
        screen.drop_next();
        assert_eq!(screen.render(80, Paint::new(false)), "a\n\nb\n");
    }
}
