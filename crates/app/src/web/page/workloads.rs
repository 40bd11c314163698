//! `/workloads`: all of them; `?workload=NAME`: one; `?resource=ID`: a machine, as `lowwater explain` tells of it.

use serde::Serialize;

use super::{PageMeta, Topic};
use crate::amount::{cents, echoed, instant, quantity, share_or_unknown};
use crate::error::AppError;
use crate::output::View as _;
use crate::screen::{Figure, figure};
use crate::view::explain::{Explained, find};
use crate::view::workloads::{Mention, WorkloadView, WorkloadsView};
use crate::web::asked::{Asked, encoded};
use crate::web::frame::{Page, Part};
use crate::web::grid::{Cell, Grid, Head, Tone};
use crate::web::live::Shown;
use crate::web::strip;

/// The page.
pub struct Workloads;

/// What is shown.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum View {
    /// All.
    All(WorkloadsView),
    /// One.
    One(Box<WorkloadView>),
    /// A machine.
    Machine(Box<Explained>),
}

impl Topic for Workloads {
    type View = View;

    const META: PageMeta = PageMeta {
        path: "/workloads",
        name: "Workloads",
        api: "workloads",
        icon: "M8 2l5 3v6l-5 3-5-3V5zM3 5l5 3 5-3M8 8v6",
        divisible: false,
    };

    fn view(shown: &Shown, asked: &Asked) -> Result<View, AppError> {
        let (facts, plan) = (shown.facts()?, shown.plan()?);
        if let Some(id) = asked.get("resource") {
            let resource = find(facts, id).map_err(AppError::Usage)?;
            let hosts = crate::cli::explain::hosts(&shown.store, resource)?;
            return Ok(View::Machine(Box::new(Explained::new(facts, resource, Some(plan), hosts))));
        }
        let Some(name) = asked.get("workload") else {
            return Ok(View::All(WorkloadsView::new(facts, plan)));
        };
        let one = WorkloadView::new(facts, plan, name);
        one.map(|view| View::One(Box::new(view))).ok_or_else(|| {
            AppError::Usage(format!("no GPU machine of the last weeks belongs to a workload {}\nhint: look at all workloads", echoed(name)))
        })
    }

    fn page(view: &View, asked: &Asked) -> Page {
        match view {
            View::All(all) => Page::new(all.headline()).part(Part::Grid(rows(all))),
            View::One(one) => workload(one, asked),
            View::Machine(machine) => Page::of_screen(machine.screen()),
        }
    }
}

fn rows(view: &WorkloadsView) -> Grid {
    let heads = [
        Head::text("workload"),
        Head::text("class"),
        Head::text("team"),
        Head::number("machines"),
        Head::number("GPU-hours"),
        Head::number("useful").term("weighed by activity, of the paid"),
        Head::number("idle").term("of the paid"),
        Head::number("unknown").term("no metrics, of the paid"),
        Head::number("steps").term("of the plan"),
        Head::number("declined").term("looked at and not proposed, with reasons"),
        Head::number(format!("cost ({})", view.currency)),
    ];
    let mut grid = Grid::new("Workloads", heads).file("workloads");
    for row in &view.rows {
        let href = match &row.resource {
            Some(id) => format!("/workloads?resource={}", encoded(id)),
            None => format!("/workloads?workload={}", encoded(&row.name)),
        };
        let class = Cell::new(row.class.as_str());
        let of = |part: f64| Cell::new(share_or_unknown(row.hours.share(part)));
        grid.row([
            Cell::new(row.name.clone()).link(href),
            if row.class.as_str() == "unknown" { class.tone(Tone::Caution) } else { class },
            Cell::new(row.team.clone().unwrap_or_else(|| "-".into())),
            Cell::new(row.machines.to_string()),
            Cell::new(quantity(row.hours.paid)),
            of(row.hours.useful),
            of(row.hours.idle + row.hours.held),
            of(row.hours.unknown),
            Cell::new(row.steps.to_string()),
            Cell::new(row.declined.to_string()),
            Cell::new(cents(row.hours.cost)),
        ]);
    }
    grid
}

fn figures(view: &WorkloadView) -> Vec<Figure> {
    let hours = &view.hours;
    let of = |part: f64| format!("{} of the paid", share_or_unknown(hours.share(part)));
    vec![
        figure("cost", format!("{} {}", cents(hours.cost), view.currency), "disks and all"),
        figure("paid", format!("{} GPU-hours", quantity(hours.paid)), "billed"),
        figure("useful", format!("{} GPU-hours", quantity(hours.useful)), of(hours.useful)),
        figure("idle", format!("{} GPU-hours", quantity(hours.idle)), of(hours.idle)),
        figure("held", format!("{} GPU-hours", quantity(hours.held)), of(hours.held)),
    ]
}

fn workload(view: &WorkloadView, asked: &Asked) -> Page {
    let mut page = Page::new(view.headline()).figures(figures(view));
    page.parts.extend(strip::week("Activity by hour of the week", &view.week));
    page.grid("What the plan proposes", mentions(&view.steps, asked))
        .grid("Looked at and not proposed", mentions(&view.declined, asked))
        .grid("Machines", machines(view))
        .grid("Runs", runs(view))
        .part(Part::Points("Who said so".into(), view.owner.because.clone()))
}

fn mentions(all: &[Mention], asked: &Asked) -> Grid {
    let heads = [Head::text("lever"), Head::text("what"), Head::text("why")];
    let mut grid = Grid::new("What the plan makes of it", heads);
    for one in all {
        let what = Cell::new(one.what.clone());
        let what = match &one.step {
            Some(id) => what.link(asked.on("/plan").with("step", id).url()),
            None => what,
        };
        grid.row([Cell::new(one.lever.clone()).tone(Tone::Code), what, Cell::new(one.why.join("\n"))]);
    }
    grid
}

fn machines(view: &WorkloadView) -> Grid {
    let heads = [
        Head::text("machine"),
        Head::text("type"),
        Head::text("where"),
        Head::number("GPU-hours"),
        Head::number("useful"),
        Head::number("idle"),
        Head::number(format!("cost ({})", view.currency)),
    ];
    let mut grid = Grid::new("Machines", heads).file("machines");
    for machine in &view.machines {
        let of = |part: f64| Cell::new(share_or_unknown(machine.hours.share(part)));
        grid.row([
            Cell::new(machine.name.clone()).link(format!("/workloads?resource={}", encoded(&machine.id))),
            Cell::new(machine.sku.clone()).tone(Tone::Code),
            Cell::new(machine.place.clone()),
            Cell::new(quantity(machine.hours.paid)),
            of(machine.hours.useful),
            of(machine.hours.idle + machine.hours.held),
            Cell::new(cents(machine.hours.cost)),
        ]);
    }
    grid
}

fn runs(view: &WorkloadView) -> Grid {
    let heads = [
        Head::text("job"),
        Head::text("began"),
        Head::text("ended"),
        Head::text("exit"),
        Head::number("GPU-hours"),
        Head::number("restarts"),
    ];
    let mut grid = Grid::new("Runs of jobs", heads).file("runs");
    for run in &view.jobs {
        let at = |at: Option<jiff::Timestamp>| at.map_or_else(|| "-".to_owned(), instant);
        let hours = run.gpu_hours(view.period.end);
        grid.row([
            Cell::new(run.job.clone()).tone(Tone::Code),
            Cell::new(at(run.start)).key(run.start.map_or(0, jiff::Timestamp::as_second)),
            Cell::new(at(run.end)).key(run.end.map_or(0, jiff::Timestamp::as_second)),
            Cell::new(run.exit.as_str().replace('_', " ")),
            Cell::new(hours.map_or_else(|| "unknown".to_owned(), quantity)),
            Cell::new(run.restarts.map_or_else(|| "unknown".to_owned(), |n| n.to_string())),
        ]);
    }
    grid
}
