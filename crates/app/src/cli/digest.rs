//! `lowwater digest`

use jiff::Span;
use lowwater_model::charge::CostMetric;
use lowwater_store::report::{Dimension, ReportQuery};

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::output;
use crate::view::next::Next;
use crate::view::week::{Week, WeekView};
use crate::web::{Asked, Days, Live, Shown};

/// Days of the daily costs on which a forecast stands.
const LOOK_BACK_DAYS: i64 = 28;

/// Say what happened this week: spend, what moved and why, what leaks, what waits, what broke
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many days
    #[arg(long, value_name = "DAYS", default_value = "7d", value_parser = ["7d", "30d", "90d"])]
    period: String,
    /// Print a page of HTML, to be sent or kept
    #[arg(long, conflicts_with = "json")]
    html: bool,
}

/// The week that ends with the bill, or other days.
pub fn week(shown: &Shown, days: Days, metric: Option<CostMetric>) -> Result<WeekView, AppError> {
    let ask = |by: [Dimension; 2], days: Days| {
        shown.report(&ReportQuery {
            by: by.to_vec(),
            metric,
            from: Some(days.first),
            to: Some(days.after),
            ..ReportQuery::default()
        })
    };
    let skus = [Dimension::Workload, Dimension::Sku];
    let before = days.before(shown).map(|before| ask(skus, before)).transpose()?;
    let back = days.after.checked_sub(Span::new().days(LOOK_BACK_DAYS)).unwrap_or(days.first);
    let recent = Days { first: back.min(days.after.first_of_month()), after: days.after };
    let made_of = Week {
        days: (days.first, days.after),
        now: &*ask(skus, days)?,
        before: before.as_deref(),
        owners: &*ask([Dimension::Workload, Dimension::Team], days)?,
        daily: &*ask([Dimension::Day, Dimension::Class], recent)?,
        plan: shown.plan()?,
        gaps: &shown.diagnosis()?.findings,
        approvals: &shown.approvals()?,
    };
    Ok(WeekView::new(&made_of, Next::default()))
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let shown = Live::new(settings.data.clone()).shown()?;
        let asked = Asked::new("/", vec![("period".to_owned(), self.period.clone())]);
        let days = Days::of(&asked, &shown)
            .ok_or_else(|| AppError::Refused("no bill is loaded\nhint: load one: `lowwater load BILL`".into()))?;
        let view = week(&shown, days, None)?.with_next(Next::new(settings));
        if self.html {
            output::text(&crate::web::letter(&view)?)?;
        } else {
            output::show(settings, &view)?;
        }
        Ok(Outcome::Done)
    }
}
