//! `/spot`: what could run on spot capacity, and what is known of its markets.

use lowwater_model::facts::Facts;
use lowwater_model::known::Known;
use lowwater_model::plan::Plan;
use lowwater_model::spot::SpotMarket;
use lowwater_store::state::Approval;
use serde::Serialize;

use super::{PageMeta, Topic, lever};
use crate::amount::plural;
use crate::error::AppError;
use crate::view::prices::day_of;
use crate::web::asked::Asked;
use crate::web::frame::{Page, Part};
use crate::web::grid::{Cell, Grid, Head, Tone};
use crate::web::live::Shown;

/// The page.
pub struct Spot;

const LEVER: &[&str] = &["spot_training"];

/// What is shown.
#[derive(Debug, Serialize)]
pub struct View {
    /// The plan; `steps` and `declined` of the lever `spot_training` are what the page shows.
    pub plan: Plan,
    /// Markets that are known.
    pub markets: Vec<SpotMarket>,
    /// Days since each was seen, in their order.
    pub age_days: Vec<i32>,
    #[serde(skip)]
    approvals: Vec<Approval>,
}

impl View {
    fn new(facts: &Facts, plan: &Plan, approvals: Vec<Approval>) -> Self {
        let mut plan = plan.clone();
        plan.steps.retain(|step| LEVER.contains(&step.lever.as_str()));
        plan.declined.retain(|one| LEVER.contains(&one.lever.as_str()));
        Self {
            plan,
            age_days: facts.spot.iter().map(|market| (day_of(facts) - market.as_of).get_days()).collect(),
            markets: facts.spot.clone(),
            approvals,
        }
    }
}

impl Topic for Spot {
    type View = View;

    const META: PageMeta = PageMeta {
        path: "/spot",
        name: "Spot",
        api: "spot",
        icon: "M8 2l1.5 4.5H14l-3.6 2.7 1.4 4.3L8 10.8l-3.8 2.7 1.4-4.3L2 6.5h4.5z",
        divisible: false,
    };

    fn view(shown: &Shown, _asked: &Asked) -> Result<View, AppError> {
        Ok(View::new(shown.facts()?, shown.plan()?, shown.approvals()?))
    }

    fn page(view: &View, asked: &Asked) -> Page {
        let steps = lever::steps(&view.plan, LEVER, &view.approvals, asked);
        let mut page = Page::new(format!(
            "{} could move to spot capacity; {} known.",
            plural(view.plan.steps.len() as u64, "fleet"),
            if view.markets.len() == 1 { "1 market is".to_owned() } else { format!("{} markets are", view.markets.len()) }
        ));
        page = page
            .grid("What the plan proposes", steps)
            .grid("Looked at and not proposed", lever::refusals(&view.plan, LEVER))
            .grid("Markets", markets(view));
        if view.markets.is_empty() {
            page = page.part(Part::Text("No spot market is known: prices come from a price list or offers.csv, interruptions from spot.csv or the records of your own jobs.".into()));
        }
        page.part(Part::Commands(vec![
            ("lowwater load catalogs/v9/aws/vms.csv".into(), "a price list with spot prices".into()),
            ("lowwater load jobs.csv".into(), "runs of your jobs: how often they were interrupted".into()),
        ]))
    }
}

fn markets(view: &View) -> Grid {
    let currency = &view.plan.currency;
    let heads = [
        Head::text("type"),
        Head::text("where"),
        Head::number(format!("an hour ({currency})")),
        Head::text("range"),
        Head::number("interrupted once in (hours)"),
        Head::number("wait (hours)").term("until capacity is back after an interruption"),
        Head::number("days old"),
        Head::text("source"),
    ];
    let mut grid = Grid::new("Spot markets", heads).file("markets");
    for (market, age) in view.markets.iter().zip(&view.age_days) {
        let place = &market.place;
        let every = match &market.interruptions_per_hour {
            Known::Value(rate) if rate.middle > 0.0 => Cell::new(format!("{:.1}", 1.0 / rate.middle)),
            Known::Value(_) => Cell::new("never"),
            Known::Unknown(why) => Cell::new("unknown").title(why.clone()).tone(Tone::Caution),
        };
        let zone = place.zone.as_deref().unwrap_or("any zone");
        grid.row([
            Cell::new(place.sku.as_str()).tone(Tone::Code),
            Cell::new(format!("{} {} {zone}", place.cloud, place.region)),
            Cell::new(format!("{:.4}", market.rate.middle)),
            Cell::new(format!("{:.4} to {:.4}", market.rate.low, market.rate.high)),
            every,
            Cell::new(format!("{:.1}", market.wait_hours)),
            Cell::new(age.to_string()).tone(if *age > 90 { Tone::Caution } else { Tone::Plain }),
            Cell::new(market.source.clone()),
        ]);
    }
    grid
}
