//! `/explore`: any one or two dimensions of the bill, filtered, over time, down to a resource.

use std::collections::BTreeMap;

use lowwater_model::charge::CostMetric;
use lowwater_model::money::Money;
use lowwater_store::charges::{Charges, ChargesQuery};
use lowwater_store::report::{Dimension, ReportQuery, ReportRow};
use serde::Serialize;

use super::{PageMeta, Topic};
use crate::amount::{cents, plural, share_of, share_or_unknown};
use crate::error::AppError;
use crate::view::next::Next;
use crate::view::plan::metric_words;
use crate::view::report::ReportView;
use crate::view::week::{DayCost, by_day};
use crate::web::asked::Asked;
use crate::web::chart;
use crate::web::days::Days;
use crate::web::frame::{Choice, Page, Part};
use crate::web::grid::{Cell, Grid, Head, Tone};
use crate::web::live::Shown;

/// The page.
pub struct Explore;

/// Where one may go from a dimension to see what is in it.
const DRILL: &[(Dimension, Dimension)] = &[
    (Dimension::Class, Dimension::Team),
    (Dimension::Provider, Dimension::Account),
    (Dimension::Account, Dimension::Team),
    (Dimension::Team, Dimension::Project),
    (Dimension::Project, Dimension::Model),
    (Dimension::Environment, Dimension::Workload),
    (Dimension::Model, Dimension::Workload),
    (Dimension::Workload, Dimension::Resource),
    (Dimension::Resource, Dimension::Resource),
    (Dimension::Sku, Dimension::Resource),
    (Dimension::Region, Dimension::Sku),
    (Dimension::PricingCategory, Dimension::Sku),
    (Dimension::Month, Dimension::Day),
    (Dimension::Day, Dimension::Workload),
];

/// What is shown.
#[derive(Debug, Serialize)]
pub struct ExploreView {
    /// First day and first day after, in the owner's zone.
    pub from: String,
    /// See `from`.
    pub to: String,
    /// The report of these days.
    #[serde(flatten)]
    pub report: ReportView,
    /// What each row cost in as many days before, rows that are gone among them; null where the bill has not all of these days.
    pub before: Option<Vec<Before>>,
    /// By day and label of the first dimension.
    pub by_day: Vec<DayCost>,
    /// The charges themselves, where one resource is asked for; else null.
    pub charges: Option<Charges>,
}

/// Charges that are shown of a resource; the sums are of all.
const MOST_CHARGES: usize = 200;

/// The charges of the one resource that a filter names.
fn charges(shown: &Shown, asks: &ReportQuery, days: Days) -> Result<Option<Charges>, AppError> {
    let Some([resource]) = asks.only.get(&Dimension::Resource).map(Vec::as_slice) else {
        return Ok(None);
    };
    Ok(Some(shown.store.charges(&ChargesQuery {
        resource: resource.clone(),
        first: days.first,
        after: days.after,
        only: asks.only.clone(),
        most: MOST_CHARGES,
    })?))
}

/// A row of the days before.
#[derive(Clone, Debug, Serialize)]
pub struct Before {
    /// One label a dimension.
    pub labels: Vec<String>,
    /// Cost in these days.
    pub cost: Money,
}

fn query(asked: &Asked, days: Days) -> ReportQuery {
    // Without bounds a report is whole: it ties out with the last digit of the files.
    let bounded = asked.get("period") != Some("all");
    ReportQuery {
        by: asked.by(Dimension::Team),
        metric: asked.metric(),
        from: bounded.then_some(days.first),
        to: bounded.then_some(days.after),
        only: asked.only(),
        ..ReportQuery::default()
    }
}

impl Topic for Explore {
    type View = ExploreView;

    const META: PageMeta = PageMeta {
        path: "/explore",
        name: "Explore",
        api: "explore",
        icon: "M2 13h12M4 10v3M8 4v9M12 7v6",
        divisible: true,
    };

    fn view(shown: &Shown, asked: &Asked) -> Result<ExploreView, AppError> {
        let days = Days::of(asked, shown).ok_or_else(super::no_bill)?;
        let asks = query(asked, days);
        let report = shown.report(&asks)?;
        let earlier = days.before(shown).map(|before| shown.report(&query(asked, before))).transpose()?;
        let first = asks.by[0];
        let over_time = ReportQuery {
            by: if first == Dimension::Day { vec![first, Dimension::Class] } else { vec![Dimension::Day, first] },
            ..asks.clone()
        };
        let before = |row: &ReportRow| Before {
            labels: row.labels.clone(),
            cost: row.cost,
        };
        Ok(ExploreView {
            from: days.first.to_string(),
            to: days.after.to_string(),
            report: ReportView::new((*report).clone(), &asks, Next::default()),
            before: earlier.map(|report| report.rows.iter().map(before).collect()),
            by_day: by_day(&*shown.report(&over_time)?),
            charges: charges(shown, &asks, days)?,
        })
    }

    fn page(view: &ExploreView, asked: &Asked) -> Page {
        let report = &view.report;
        Page::new(report.headline())
            .figures(report.figures().into_iter().take(5).collect())
            .part(Part::Choices(dimension_choices(asked)))
            .part(Part::Chart(picture(view)))
            .grid("By cost", grid(view, asked))
            .grid(&charges_title(view), charges_grid(view))
            .part(Part::Points("What to know".into(), report.notes.clone()))
    }
}

fn dimension_choices(asked: &Asked) -> Vec<Choice> {
    let by = asked.by(Dimension::Team);
    let options = |chosen: Option<Dimension>| {
        let one = move |d: &Dimension| (d.as_str().to_owned(), d.as_str().replace('_', " "), chosen == Some(*d));
        Dimension::ALL.iter().map(one)
    };
    let none = (String::new(), "nothing".to_owned(), by.len() == 1);
    vec![
        Choice {
            key: "by".into(),
            label: "By".into(),
            options: options(by.first().copied()).collect(),
        },
        Choice {
            key: "then".into(),
            label: "then by".into(),
            options: std::iter::once(none).chain(options(by.get(1).copied())).collect(),
        },
    ]
}

fn picture(view: &ExploreView) -> chart::Chart {
    let title = format!("{} by day", metric_words(view.report.metric));
    let mut picture = chart::of_days(&title, &view.by_day, &view.report.currency);
    picture.table.file = "by-day".into();
    picture
}

/// Where a label leads: the same question about it alone, by the next dimension.
fn drill(asked: &Asked, dimension: Dimension, label: &str) -> Option<String> {
    let next = DRILL.iter().find(|(from, _)| *from == dimension)?.1;
    // A label in brackets stands for charges without a resource.
    if dimension == Dimension::Resource && label.starts_with('(') {
        return None;
    }
    let inside = asked.and("only", &format!("{}:{label}", dimension.as_str()));
    Some(inside.without("then").with("by", next.as_str()).url())
}

fn change(now: Money, before: Option<Money>) -> Cell {
    let Some(before) = before else {
        return Cell::new("new").tone(Tone::Muted).key("1e30");
    };
    match share_of(now - before, before) {
        None => Cell::new("-").key("0"),
        Some(share) => {
            let tone = if share > 0.1 { Tone::Bad } else if share < -0.1 { Tone::Good } else { Tone::Muted };
            let sign = if share > 0.0 { "▲ +" } else if share < 0.0 { "▼ " } else { "" };
            Cell::new(format!("{sign}{:.1} %", share * 100.0)).tone(tone).key(share)
        }
    }
}

fn grid(view: &ExploreView, asked: &Asked) -> Grid {
    let report = &view.report;
    let (currency, metric) = (&report.currency, metric_words(report.metric));
    let rows = view.before.as_deref();
    let before: BTreeMap<&[String], Money> = rows.unwrap_or_default().iter().map(|row| (&row.labels[..], row.cost)).collect();
    let against = |now: Money, then: Option<Money>| match rows {
        Some(_) => change(now, then),
        None => Cell::new("unknown").tone(Tone::Muted).title("the bill does not have all of the days before"),
    };
    let names = report.by.iter().map(|d| Head::text(d.as_str().replace('_', " ")));
    let numbers = [
        Head::number(format!("{metric} ({currency})")),
        Head::number("share"),
        Head::number("change").term("against as many days just before"),
        Head::number(format!("of which idle ({currency})")).term("hours in which every GPU of a machine did nothing"),
    ];
    let mut grid = Grid::new(format!("{metric} by {}", by_words(&report.by)), names.chain(numbers)).file("rows");
    let all: Money = report.total_money();
    let earlier: Money = before.values().copied().sum();
    let first = std::iter::once(Cell::new("all")).chain(report.by.iter().skip(1).map(|_| Cell::default()));
    let idle = |idle: Option<Money>| Cell::new(idle.map_or_else(|| "unknown".to_owned(), cents));
    let total = [
        Cell::new(cents(all)),
        Cell::new("100.0 %"),
        against(all, Some(earlier)),
        idle(report.lines.idle),
    ];
    grid.total(first.chain(total));
    for row in &report.rows {
        let labels: Vec<String> = row.labels.iter().map(|(_, label)| label.clone()).collect();
        let cells = report.by.iter().zip(&labels).map(|(dimension, label)| {
            let cell = Cell::new(label.clone());
            match drill(asked, *dimension, label) {
                Some(url) => cell.link(url),
                None => cell.tone(Tone::Code),
            }
        });
        let money = row.money();
        let numbers = [
            Cell::new(cents(money)),
            Cell::new(share_or_unknown(share_of(money, all))),
            against(money, before.get(&labels[..]).copied()),
            idle(row.of_which_idle),
        ];
        grid.row(cells.chain(numbers));
    }
    grid
}

fn charges_title(view: &ExploreView) -> String {
    let Some(charges) = &view.charges else { return String::new() };
    let total = charges.totals.get(view.report.metric.as_str()).copied();
    let total = total.map_or_else(|| "an unknown cost".to_owned(), |money| format!("{} {}", cents(money), view.report.currency));
    let shown = match charges.rows.len() {
        all if all as i64 == charges.count => String::new(),
        some => format!(", the newest {some} shown"),
    };
    format!("{} of {total}{shown}", plural(charges.count as u64, "charge"))
}

/// As they were loaded, with every digit.
fn charges_grid(view: &ExploreView) -> Grid {
    let currency = &view.report.currency;
    let costs = CostMetric::ALL.iter().map(|m| Head::number(format!("{} ({currency})", metric_words(*m))));
    let texts = ["from (UTC)", "category", "what", "terms", "commitment"].map(Head::text);
    let heads = texts.into_iter().chain([Head::number("quantity"), Head::text("unit")]).chain(costs).chain([Head::text("export")]);
    let mut grid = Grid::new("charges", heads).file("charges");
    for charge in view.charges.iter().flat_map(|charges| &charges.rows) {
        let money = |money: Option<Money>| Cell::new(money.map_or_else(|| "unknown".to_owned(), |money| money.to_string()));
        let start = jiff::tz::TimeZone::UTC.to_datetime(charge.start).strftime("%Y-%m-%d %H:%M").to_string();
        let texts = [&start, &charge.category, &charge.description, &charge.pricing, &charge.commitment].map(|text| Cell::new(text.as_str()));
        let used = [money(charge.quantity), Cell::new(charge.unit.as_str())];
        let costs = CostMetric::ALL.iter().map(|m| money(charge.costs.get(m.as_str()).copied()));
        grid.row(texts.into_iter().chain(used).chain(costs).chain([Cell::new(charge.source.as_str())]));
    }
    grid
}

fn by_words(by: &[Dimension]) -> String {
    by.iter().map(|d| d.as_str().replace('_', " ")).collect::<Vec<_>>().join(" and ")
}
