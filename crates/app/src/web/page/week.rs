//! `/`: this week.

use super::{PageMeta, Topic};
use crate::error::AppError;
use crate::view::week::WeekView;
use crate::web::asked::{Asked, encoded};
use crate::web::chart;
use crate::web::days::Days;
use crate::web::frame::{Page, Part};
use crate::web::grid::{Cell, Grid, Head, Tone};
use crate::web::live::Shown;
use crate::{amount, cli::digest};

/// The page.
pub struct WeekPage;

impl Topic for WeekPage {
    type View = WeekView;

    const META: PageMeta = PageMeta {
        path: "/",
        name: "This week",
        api: "week",
        icon: "M3 4h10v9H3zM3 7h10M6 2v3M10 2v3",
        divisible: false,
    };

    fn view(shown: &Shown, asked: &Asked) -> Result<WeekView, AppError> {
        let days = Days::of(asked, shown).ok_or_else(super::no_bill)?;
        digest::week(shown, days, asked.metric())
    }

    fn page(view: &WeekView, asked: &Asked) -> Page {
        let mut page = Page::new(view.headline()).figures(view.figures());
        if view.before.is_none() {
            page = page.part(Part::Text("What moved is unknown: the bill does not have all of the days before.".into()));
        }
        let title = format!("{} cost by day and class", view.metric);
        page = page.part(Part::Chart(chart::of_days(&title, &view.by_day, &view.currency)));
        page.grid("What moved", movers(view, asked))
            .grid("What leaks now", leaks(view))
            .grid("Largest steps of the plan", steps(view, asked))
            .grid("What is missing in the data", gaps(view))
    }
}

fn workload(name: &str) -> Cell {
    if name.starts_with('(') {
        return Cell::new(name).tone(Tone::Muted);
    }
    Cell::new(name).link(format!("/workloads?workload={}", encoded(name)))
}

fn movers(view: &WeekView, asked: &Asked) -> Grid {
    let currency = &view.currency;
    let heads = [
        Head::text("workload"),
        Head::number(format!("cost ({currency})")),
        Head::number(format!("change ({currency})")).term("against as many days just before"),
        Head::text("mostly because of").term("price, volume, mix or new: the largest part of the change"),
    ];
    let mut grid = Grid::new("What moved", heads).file("movers");
    for (row, mover) in view.mover_rows().zip(&view.movers) {
        let tone = if mover.change > lowwater_model::money::Money::ZERO { Tone::Bad } else { Tone::Good };
        let [name, cost, change, cause] = row;
        let rows = asked.on("/explore").with("by", "sku").and("only", &format!("workload:{name}")).url();
        grid.row([workload(&name), Cell::new(cost).link(rows), Cell::new(change).tone(tone), Cell::new(cause)]);
    }
    grid
}

fn leaks(view: &WeekView) -> Grid {
    let currency = &view.currency;
    let heads = [
        Head::text("workload"),
        Head::text("team"),
        Head::number(format!("idle ({currency})")).term("hours in which every GPU of a machine did nothing"),
        Head::number(format!("an hour ({currency})")),
    ];
    let mut grid = Grid::new("What leaks now", heads).file("leaks");
    for leak in &view.leaks {
        grid.row([
            workload(&leak.workload),
            Cell::new(leak.team.clone()),
            Cell::new(amount::cents(leak.idle)),
            Cell::new(amount::estimate_cents(leak.per_hour)),
        ]);
    }
    grid
}

fn steps(view: &WeekView, asked: &Asked) -> Grid {
    let heads = [
        Head::text("what to do"),
        Head::number(format!("cash a month ({})", view.currency)).term("p50 with p10 to p90, replayed"),
        Head::text("state"),
    ];
    let mut grid = Grid::new("Largest steps of the plan", heads).file("waiting");
    for step in &view.steps {
        let tone = match step.approved_until {
            Some(_) => Tone::Good,
            None if step.blocked => Tone::Caution,
            None => Tone::Plain,
        };
        grid.row([
            Cell::new(step.title.clone()).link(asked.on("/plan").with("step", &step.step).url()),
            Cell::new(amount::range(&step.per_month)).key(step.per_month.p50.amount()),
            Cell::new(step.state()).tone(tone),
        ]);
    }
    grid
}

fn gaps(view: &WeekView) -> Grid {
    let heads = [
        Head::number(format!("concerns ({})", view.currency)),
        Head::text("what is missing"),
        Head::text("what to do"),
    ];
    let mut grid = Grid::new("What is missing in the data", heads).file("gaps");
    for gap in &view.gaps {
        let cost = gap.cost.map_or_else(|| amount::UNKNOWN.to_owned(), amount::cents);
        grid.row([Cell::new(cost), Cell::new(format!("{} ({})", gap.why, gap.place)), Cell::new(gap.hint.clone())]);
    }
    grid
}
