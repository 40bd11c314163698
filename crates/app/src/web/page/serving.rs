//! `/serving`: inference workloads, their cost and how much of it is of use.

use lowwater_model::money::Money;
use lowwater_model::workload::Class;
use serde::Serialize;

use super::{PageMeta, Topic};
use crate::amount::{self, cents, quantity, share_of, share_or_unknown};
use crate::error::AppError;
use crate::view::workloads::{WorkloadRow, WorkloadsView};
use crate::web::asked::{Asked, encoded};
use crate::web::frame::{Page, Part};
use crate::web::grid::{Cell, Grid, Head};
use crate::web::live::Shown;

/// The page.
pub struct Serving;

/// What is shown.
#[derive(Debug, Serialize)]
pub struct View {
    /// The replayed days, in words.
    pub days: String,
    /// Of all money.
    pub currency: String,
    /// Cost of all GPU machines.
    pub gpu_cost: Money,
    /// Inference, the most expensive first.
    pub rows: Vec<WorkloadRow>,
}

impl Topic for Serving {
    type View = View;

    const META: PageMeta = PageMeta {
        path: "/serving",
        name: "Serving",
        api: "serving",
        icon: "M2 8h3l2-4 2 8 2-4h3",
        divisible: false,
    };

    fn view(shown: &Shown, _asked: &Asked) -> Result<View, AppError> {
        let all = WorkloadsView::new(shown.facts()?, shown.plan()?);
        let serves = |row: &WorkloadRow| matches!(row.class, Class::RealtimeInference | Class::BatchInference);
        Ok(View {
            days: amount::period(&all.period),
            currency: all.currency,
            gpu_cost: all.rows.iter().map(|row| row.hours.cost).sum(),
            rows: all.rows.into_iter().filter(serves).collect(),
        })
    }

    fn page(view: &View, _asked: &Asked) -> Page {
        let cost: Money = view.rows.iter().map(|row| row.hours.cost).sum();
        let headline = if view.rows.is_empty() {
            "No GPU machine is declared as inference.".to_owned()
        } else {
            let share = share_or_unknown(share_of(cost, view.gpu_cost));
            format!("Inference cost {} {} in {}, {share} of GPU spend.", cents(cost), view.currency, view.days)
        };
        let mut page = Page::new(headline).grid("Inference workloads", rows(view));
        if view.rows.is_empty() {
            page = page.part(Part::Text("Declare what serves in workloads.toml with class = \"realtime-inference\" or \"batch-inference\".".into()));
        }
        page.part(Part::Text(
            "Cost per million tokens is unknown: no token counts are loaded. The right machine per token is not compared yet.".into(),
        ))
    }
}

fn rows(view: &View) -> Grid {
    let heads = [
        Head::text("workload"),
        Head::text("class"),
        Head::number("machines"),
        Head::number("GPU-hours"),
        Head::number("useful").term("weighed by activity, of the paid"),
        Head::number("idle").term("of the paid"),
        Head::number(format!("cost ({})", view.currency)),
        Head::number(format!("a useful GPU-hour ({})", view.currency)),
    ];
    let mut grid = Grid::new("Inference workloads", heads).file("serving");
    for row in &view.rows {
        let hours = &row.hours;
        let name = Cell::new(row.name.clone());
        let link = format!("/workloads?workload={}", encoded(&row.name));
        let rate = if hours.useful > 0.0 {
            format!("{:.2}", hours.cost.estimate().amount() / hours.useful)
        } else {
            amount::UNKNOWN.to_owned()
        };
        grid.row([
            if row.declared { name.link(link) } else { name },
            Cell::new(row.class.as_str()),
            Cell::new(row.machines.to_string()),
            Cell::new(quantity(hours.paid)),
            Cell::new(share_or_unknown(hours.share(hours.useful))),
            Cell::new(share_or_unknown(hours.share(hours.idle + hours.held))),
            Cell::new(cents(hours.cost)),
            Cell::new(rate),
        ]);
    }
    grid
}
