//! `/idle`: what idles, when in the week, and the schedules that the plan proposes.

use lowwater_store::state::Approval;
use serde::Serialize;

use super::{PageMeta, Topic, lever};
use crate::amount::{cents, quantity, share_or_unknown};
use crate::error::AppError;
use crate::view::idle::{IdleRow, IdleView};
use crate::web::asked::{Asked, encoded};
use crate::web::frame::{Page, Part};
use crate::web::grid::{Cell, Grid, Head, Tone};
use crate::web::live::Shown;
use crate::web::strip;
use lowwater_model::plan::Plan;

/// The page.
pub struct IdlePage;

/// Fleets that have a picture.
const MOST_PICTURES: usize = 6;

/// What is shown.
#[derive(Debug, Serialize)]
pub struct View {
    /// What idles.
    pub idle: IdleView,
    /// Steps and refusals about it.
    #[serde(skip)]
    plan: Plan,
    #[serde(skip)]
    approvals: Vec<Approval>,
}

impl Topic for IdlePage {
    type View = View;

    const META: PageMeta = PageMeta {
        path: "/idle",
        name: "Idle",
        api: "idle",
        icon: "M8 3a5 5 0 100 10A5 5 0 008 3zM8 5v3l2 2",
        divisible: false,
    };

    fn view(shown: &Shown, _asked: &Asked) -> Result<View, AppError> {
        Ok(View {
            idle: IdleView::new(shown.facts()?),
            plan: shown.plan()?.clone(),
            approvals: shown.approvals()?,
        })
    }

    fn page(view: &View, asked: &Asked) -> Page {
        let idle = &view.idle;
        let mut page = Page::new(idle.headline())
            .figures(idle.figures())
            .grid("By workload", rows(idle))
            .grid("By month", months(idle))
            .grid("What the plan proposes", lever::steps(&view.plan, &["idle", "off_hours"], &view.approvals, asked));
        if !idle.rows.is_empty() {
            page = page.part(Part::Title("When in the week".into()));
        }
        for row in idle.rows.iter().take(MOST_PICTURES) {
            page.parts.extend(strip::week(&caption(row), &row.week));
        }
        page.grid("Looked at and not proposed", lever::refusals(&view.plan, &["idle", "off_hours"]))
    }
}

fn caption(row: &IdleRow) -> String {
    let kept = row.kept.as_ref().map_or_else(String::new, |why| format!(", {why}"));
    let days = match row.holidays.len() {
        0 => String::new(),
        count => format!(", {}", crate::amount::plural(count as u64, "holiday")),
    };
    format!("{}: mean activity{kept}{days}", row.name)
}

fn rows(view: &IdleView) -> Grid {
    let heads = [
        Head::text("workload"),
        Head::text("class"),
        Head::number("machines"),
        Head::number("idle GPU-hours").term("little memory held, or none measured"),
        Head::number("held GPU-hours").term("idle, with more than a tenth of a GPU's memory held"),
        Head::number("share").term("idle and held of the paid GPU-hours"),
        Head::number(format!("cost of it ({})", view.currency)),
        Head::text("on purpose"),
    ];
    let mut grid = Grid::new("Idle by workload", heads).file("idle");
    for row in &view.rows {
        let hours = &row.hours;
        let name = Cell::new(row.name.clone());
        let name = if row.declared { name.link(format!("/workloads?workload={}", encoded(&row.name))) } else { name };
        grid.row([
            name,
            Cell::new(row.class.as_str()),
            Cell::new(row.machines.to_string()),
            Cell::new(quantity(hours.idle)),
            Cell::new(quantity(hours.held)),
            Cell::new(share_or_unknown(hours.share(hours.idle + hours.held))),
            Cell::new(cents(hours.idle_cost)),
            row.kept.clone().map_or_else(|| Cell::new("no"), |why| Cell::new(why).tone(Tone::Muted)),
        ]);
    }
    grid
}

fn months(view: &IdleView) -> Grid {
    let heads = [
        Head::text("month"),
        Head::number("idle GPU-hours"),
        Head::number(format!("cost of it ({})", view.currency)),
    ];
    let mut grid = Grid::new("Idle by month", heads).file("months");
    for month in &view.months {
        grid.row([Cell::new(month.month.clone()), Cell::new(quantity(month.idle_gpu_hours)), Cell::new(cents(month.idle_cost))]);
    }
    grid
}
