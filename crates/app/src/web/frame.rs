//! What stands around every page: navigation, period, basis, filters, how fresh the data is.

use askama::Template;
use lowwater_model::charge::CostMetric;
use lowwater_model::period::HOUR_SECONDS;

use super::asked::Asked;
use super::asker::Asker;
use super::asset;
use super::chart::Chart;
use super::days::{self, Days};
use super::grid::{Cell, Grid, Head};
use super::live::Shown;
use super::page::{PAGES, PageMeta};
use crate::amount;
use crate::screen::{Block, Figure, Screen};

/// A part of a page, from top to bottom.
pub enum Part {
    /// A heading.
    Title(String),
    /// A paragraph.
    Text(String),
    /// What a reader must know or do.
    Points(String, Vec<String>),
    /// What is wrong.
    Warning(String),
    /// A picture with its table.
    Chart(Chart),
    /// A table.
    Grid(Grid),
    /// A table that is folded away under a word.
    Folded(String, Grid),
    /// Lines to copy.
    Lines(String),
    /// HTML of a template of ours, which escapes what it is given.
    Html(String),
    /// Commands to type, each with what it brings.
    Commands(Vec<(String, String)>),
    /// A field to search with: its word of the address, and what is searched for now.
    Search(String, String),
    /// A form of choices that are in the address.
    Choices(Vec<Choice>),
}

/// A choice among words of the address.
pub struct Choice {
    /// Word of the address.
    pub key: String,
    /// What is chosen.
    pub label: String,
    /// Value, name, chosen.
    pub options: Vec<(String, String, bool)>,
}

/// A page without its frame.
#[derive(Default)]
pub struct Page {
    /// The one sentence.
    pub headline: String,
    /// At most five.
    pub figures: Vec<Figure>,
    /// From top to bottom.
    pub parts: Vec<Part>,
}

impl Page {
    /// Begins with its sentence.
    pub fn new(headline: impl Into<String>) -> Self {
        Self {
            headline: headline.into(),
            ..Self::default()
        }
    }

    /// With figures.
    #[must_use]
    pub fn figures(mut self, figures: Vec<Figure>) -> Self {
        self.figures = figures;
        self
    }

    /// With one more part.
    #[must_use]
    pub fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// A screen of the terminal as a page: the same blocks in the same order.
    pub fn of_screen(screen: Screen) -> Self {
        Self::default().screen(screen)
    }

    /// With the blocks of a screen of the terminal. A second sentence and second figures become parts.
    #[must_use]
    pub fn screen(mut self, screen: Screen) -> Self {
        for block in screen.into_blocks() {
            match block {
                Block::Headline(text) if self.headline.is_empty() => self.headline = text,
                Block::Headline(text) | Block::Title(text) => self.parts.push(Part::Title(text)),
                Block::Text(text) => self.parts.push(Part::Text(text)),
                Block::Verbatim(text) => self.parts.push(Part::Lines(text)),
                Block::Points(points) => self.parts.push(Part::Points(String::new(), points)),
                Block::Warnings(texts) => self.parts.extend(texts.into_iter().map(Part::Warning)),
                Block::Figures(figures) if self.figures.is_empty() => self.figures = figures,
                Block::Figures(figures) => self.parts.push(Part::Grid(figure_grid(&figures))),
                Block::Terms(terms) | Block::Next(terms) => self.parts.push(Part::Commands(terms)),
                Block::Table(table) => self.parts.push(Part::Grid(Grid::of_table(&table))),
            }
        }
        self
    }

    /// With a table under a title; nothing where it has no rows.
    #[must_use]
    pub fn grid(self, title: &str, grid: Grid) -> Self {
        if grid.is_empty() {
            return self;
        }
        self.part(Part::Title(title.to_owned())).part(Part::Grid(grid))
    }
}

/// A link of the navigation.
struct Link {
    href: String,
    name: &'static str,
    icon: &'static str,
    current: bool,
}

/// A filter that is set, and the address without it.
struct Chip {
    text: String,
    without: String,
}

/// A whole page.
#[derive(Template)]
#[template(path = "frame.html")]
struct Frame<'a> {
    title: &'a str,
    style: String,
    script: String,
    icon: String,
    plotly: Option<String>,
    links: Vec<Link>,
    choices: Vec<Choice>,
    /// First day and first day after, where they are chosen by hand.
    span: Option<(String, String)>,
    /// Words that the form of the top bar keeps.
    kept: Vec<(String, String)>,
    path: &'a str,
    chips: Vec<Chip>,
    freshness: String,
    /// Why this is not the newest.
    trouble: Option<String>,
    asker: &'a Asker,
    page: &'a Page,
}

fn figure_grid(figures: &[Figure]) -> Grid {
    let mut grid = Grid::new(
        "figures",
        [Head::text("figure"), Head::number("value"), Head::text("what it says")],
    );
    for figure in figures {
        grid.row([&figure.label, &figure.value, &figure.remark].map(|text| Cell::new(text.as_str())));
    }
    grid
}

fn links(asked: &Asked) -> Vec<Link> {
    let link = |page: &PageMeta| Link {
        href: asked.on(page.path).url(),
        name: page.name,
        icon: page.icon,
        current: page.path == asked.path,
    };
    let seen = |page: &&PageMeta| page.divisible || asked.asker.sees_everything();
    PAGES.iter().filter(seen).map(link).collect()
}

fn choices(asked: &Asked, shown: Option<&Shown>) -> Vec<Choice> {
    let period = if is_by_hand(asked) {
        CUSTOM.0
    } else {
        asked.get("period").unwrap_or_else(|| days::usual(&asked.path))
    };
    let periods = days::periods(shown.map(|shown| &shown.store))
        .into_iter()
        .chain([CUSTOM]);
    let periods = periods.map(|(value, name)| (value.to_owned(), name.to_owned(), value == period));
    let metric = asked.metric();
    let first = (String::new(), "best basis".to_owned(), metric.is_none());
    let metrics = CostMetric::ALL
        .iter()
        .map(|m| (m.as_str().to_owned(), m.as_str().to_owned(), metric == Some(*m)));
    vec![
        Choice {
            key: "period".into(),
            label: "Period".into(),
            options: periods.collect(),
        },
        Choice {
            key: "metric".into(),
            label: "Cost basis".into(),
            options: std::iter::once(first).chain(metrics).collect(),
        },
    ]
}

/// The choice of any days.
const CUSTOM: (&str, &str) = ("custom", "from … before …");

fn is_by_hand(asked: &Asked) -> bool {
    asked
        .get("period")
        .map_or(asked.get("from").is_some(), |period| period == CUSTOM.0)
}

/// The days of the form where they are chosen by hand: those of the address, or those that a page would show.
fn span(asked: &Asked, shown: Option<&Shown>) -> Option<(String, String)> {
    let by_hand = is_by_hand(asked);
    let days = by_hand.then(|| Days::of(asked, shown?)).flatten()?;
    Some((days.first.to_string(), days.after.to_string()))
}

fn chips(asked: &Asked) -> Vec<Chip> {
    let chip = |word: &str| Chip {
        text: word.replacen(':', ": ", 1),
        without: asked.without_value("only", word).url(),
    };
    asked.all("only").into_iter().map(chip).collect()
}

fn freshness(shown: Option<&Shown>) -> String {
    let Some(shown) = shown else { return String::new() };
    let bill = shown
        .until
        .map_or_else(|| "no bill".to_owned(), |at| format!("bill to {}", amount::instant(at)));
    let usage = shown.store.manifest().usage.values().map(|unit| unit.last).max();
    // To the end of the hour, as everywhere: metrics are kept by the hour.
    let hour_end = |at: i64| (at.div_euclid(HOUR_SECONDS) + 1) * HOUR_SECONDS;
    let usage = usage.and_then(|at| jiff::Timestamp::from_second(hour_end(at)).ok());
    match usage {
        Some(at) => format!("{bill} · metrics to {}", amount::instant(at)),
        None => format!("{bill} · no metrics"),
    }
}

/// A page to be sent.
#[derive(Template)]
#[template(path = "letter.html")]
struct Letter<'a> {
    page: &'a Page,
}

/// The HTML of a page that stands alone: no script, no links, its style in it.
pub fn letter(page: &Page) -> Result<String, askama::Error> {
    Letter { page }.render()
}

/// The HTML of a page in its frame.
pub fn render(title: &str, asked: &Asked, shown: Option<&Shown>, page: &Page) -> Result<String, askama::Error> {
    let has_chart = page.parts.iter().any(|part| matches!(part, Part::Chart(_)));
    let in_bar = ["period", "from", "to", "metric"];
    let kept = asked.words().iter().filter(|(key, _)| !in_bar.contains(&key.as_str()));
    Frame {
        title,
        style: asset::url("app.css"),
        script: asset::url("app.js"),
        icon: asset::url("icon.svg"),
        plotly: has_chart.then(|| asset::url("plotly.js")),
        links: links(asked),
        choices: choices(asked, shown),
        span: span(asked, shown),
        kept: kept.cloned().collect(),
        path: &asked.path,
        chips: chips(asked),
        freshness: freshness(shown),
        trouble: shown.and_then(Shown::trouble),
        asker: &asked.asker,
        page,
    }
    .render()
}
