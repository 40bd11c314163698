//! `/fleet`: the GPUs, and what of the paid hours was of use.

use super::{PageMeta, Topic};
use crate::amount::{cents, quantity, share, share_or_unknown};
use crate::error::AppError;
use crate::view::fleet::{FleetRow, FleetView};
use crate::web::asked::Asked;
use crate::web::chart::{Stage, waterfall};
use crate::web::days::Days;
use crate::web::frame::{Page, Part};
use crate::web::grid::{Cell, Grid, Head, Tone};
use crate::web::live::Shown;

/// The page.
pub struct Fleet;

impl Topic for Fleet {
    type View = FleetView;

    const META: PageMeta = PageMeta {
        path: "/fleet",
        name: "Fleet",
        api: "fleet",
        icon: "M3 3h10v4H3zM3 9h10v4H3zM5 5h.01M5 11h.01",
        divisible: false,
    };

    fn view(shown: &Shown, asked: &Asked) -> Result<FleetView, AppError> {
        let days = Days::of(asked, shown).ok_or_else(super::no_bill)?;
        Ok(FleetView::new(shown.facts()?, days.period()))
    }

    fn page(view: &FleetView, asked: &Asked) -> Page {
        let mut page = Page::new(view.headline()).figures(view.figures());
        if view.all.paid > 0.0 {
            page = page.part(Part::Chart(waterfall("From paid to useful GPU-hours", &stages(view), "GPU-hours", "var(--unused-commitment)")));
        }
        page = page.part(Part::Text(view.development_words()));
        page.grid("By type and place", rows(view, asked)).grid("By terms", terms(view)).part(Part::Text(format!(
            "Days are those of UTC, from {} to {}, as plans see them. Activity is the mean of an hour over the GPUs of a machine.",
            view.period.start, view.period.end
        )))
    }
}

fn stages(view: &FleetView) -> Vec<Stage> {
    let all = &view.all;
    let stage = |name: &str, amount: f64, whole| Stage {
        name: name.to_owned(),
        amount,
        whole,
        text: quantity(amount),
        short: name.to_owned(),
    };
    vec![
        stage("paid", all.paid, true),
        stage("not seen", -all.unknown, false),
        stage("idle", -all.idle, false),
        stage("held", -all.held, false),
        stage("at work", all.busy, true),
        stage("partly used", all.useful - all.busy, false),
        stage("useful", all.useful, true),
    ]
}

fn rows(view: &FleetView, asked: &Asked) -> Grid {
    let heads = [
        Head::text("accelerator"),
        Head::text("where"),
        Head::text("machine type"),
        Head::number("machines"),
        Head::number("GPU-hours paid"),
        Head::number("useful").term("weighed by activity, of the paid"),
        Head::number("idle").term("every GPU of the machine did nothing and held little memory"),
        Head::number("held").term("idle, with more than a tenth of a GPU's memory held"),
        Head::number("unknown").term("no metrics"),
        Head::number("p95 activity").term("95 in 100 observed hours lie below; from hourly means"),
        Head::number(format!("cost ({})", view.currency)),
    ];
    let mut grid = Grid::new("GPUs by type and place", heads).file("fleet");
    for row in &view.rows {
        grid.row(cells(row, asked));
    }
    grid
}

fn cells(row: &FleetRow, asked: &Asked) -> Vec<Cell> {
    let hours = &row.hours;
    let of = |part: f64| Cell::new(share_or_unknown(hours.share(part)));
    let idle = hours.share(hours.idle).unwrap_or(0.0);
    let machines = asked.on("/explore").with("by", "resource").and("only", &format!("sku:{}", row.sku)).url();
    vec![
        Cell::new(row.accelerator.clone()),
        Cell::new(format!("{} {}", row.provider, row.region)),
        Cell::new(row.sku.clone()).tone(Tone::Code).link(machines),
        Cell::new(row.machines.to_string()),
        Cell::new(quantity(hours.paid)),
        of(hours.useful),
        of(hours.idle).tone(if idle > 0.3 { Tone::Bad } else { Tone::Plain }),
        of(hours.held),
        of(hours.unknown),
        Cell::new(row.p95_activity.map_or_else(|| "unknown".to_owned(), share)),
        Cell::new(cents(hours.cost)),
    ]
}

fn terms(view: &FleetView) -> Grid {
    let mut grid = Grid::new("GPU-hours by terms", [Head::text("FOCUS PricingCategory"), Head::number("GPU-hours"), Head::number("share")]);
    for (name, hours) in &view.by_terms {
        grid.row([Cell::new(name.clone()), Cell::new(quantity(*hours)), Cell::new(share_or_unknown(view.all.share(*hours)))]);
    }
    grid
}
