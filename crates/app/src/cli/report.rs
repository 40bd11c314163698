//! `lowwater report`

use std::collections::BTreeMap;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use lowwater_model::charge::CostMetric;
use lowwater_store::report::{Dimension, IdleMode, PeriodKind, ReportQuery};
use lowwater_store::store::Store;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::view::jobs::JobsView;
use crate::view::next::Next;
use crate::view::report::ReportView;
use crate::{output, registry};

/// Show where the money goes: the bill by one or two dimensions; rows add up to it exactly
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lowwater report --by team,month --metric billed
  lowwater report --by sku --from 2026-10-01 --to 2026-11-01 --csv > october.csv")]
pub struct Args {
    /// One or two dimensions
    #[arg(long, value_name = "A[,B]", value_delimiter = ',', default_value = "class", value_parser = dimensions())]
    by: Vec<Dimension>,
    /// Cost column [default: effective, or billed where effective can't be trusted]
    #[arg(long, value_parser = metrics())]
    metric: Option<CostMetric>,
    /// First day
    #[arg(long, value_name = "DAY", value_parser = crate::time::day)]
    from: Option<Date>,
    /// First day after
    #[arg(long, value_name = "DAY", value_parser = crate::time::day)]
    to: Option<Date>,
    /// Count by the time of the charge or by billing month
    #[arg(long, default_value = "charge", value_parser = periods())]
    period: PeriodKind,
    /// Show idle cost inside each row, as a line of its own, or spread over the owners
    #[arg(long, default_value = "keep", value_parser = idle_modes())]
    idle: IdleMode,
    /// Print the rows as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

fn dimensions() -> impl TypedValueParser<Value = Dimension> {
    let names = Dimension::ALL.iter().map(|d| match d {
        Dimension::PricingCategory => PossibleValue::new(d.as_str()).alias("pricing"),
        d => PossibleValue::new(d.as_str()),
    });
    PossibleValuesParser::new(names).try_map(|name| Dimension::parse(&name).ok_or("is no dimension"))
}

fn metrics() -> impl TypedValueParser<Value = CostMetric> {
    let names = CostMetric::ALL.iter().map(|m| m.as_str());
    PossibleValuesParser::new(names).try_map(|name| CostMetric::parse(&name).ok_or("is no cost column"))
}

fn periods() -> impl TypedValueParser<Value = PeriodKind> {
    PossibleValuesParser::new(["charge", "billing"])
        .map(|name| if name == "billing" { PeriodKind::Billing } else { PeriodKind::Charge })
}

fn idle_modes() -> impl TypedValueParser<Value = IdleMode> {
    PossibleValuesParser::new(["keep", "separate", "spread"]).map(|name| match name.as_str() {
        "separate" => IdleMode::Separate,
        "spread" => IdleMode::Spread,
        _ => IdleMode::Keep,
    })
}

impl Args {
    fn query(&self) -> Result<ReportQuery, AppError> {
        let wrong = |what: &str| Err(AppError::Usage(format!("{what}\nhint: `lowwater report --by team,class`")));
        match self.by[..] {
            [a, b] if a == b => return wrong("--by names the same dimension twice"),
            [_] | [_, _] => {}
            _ => return wrong("--by takes one or two dimensions"),
        }
        if let (Some(from), Some(to)) = (self.from, self.to)
            && from >= to
        {
            return Err(AppError::Usage(format!("--from {from} is not before --to {to}\nhint: --to is the first day after")));
        }
        Ok(ReportQuery {
            by: self.by.clone(),
            metric: self.metric,
            from: self.from,
            to: self.to,
            period: self.period,
            utc: false,
            idle: self.idle,
            only: BTreeMap::new(),
        })
    }

    /// Jobs that began in the reported days, UTC; those that run are counted to the end of the bill.
    fn jobs(&self, store: &Store) -> Result<Option<JobsView>, AppError> {
        let begin = |day: Date| TimeZone::UTC.to_timestamp(day.to_datetime(Time::midnight())).ok();
        let Some(bill) = store.bill_period() else { return Ok(None) };
        let until = self.to.and_then(begin).unwrap_or(bill.end).min(bill.end);
        let from = self.from.and_then(begin).unwrap_or(Timestamp::MIN);
        let mut runs = store.jobs(until)?;
        runs.retain(|run| run.start.or(run.submitted).is_some_and(|at| at >= from));
        Ok(JobsView::new(&runs, until))
    }

    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let query = self.query()?;
        let store = Store::open(&settings.data, &registry::lever_sections())?;
        let mut view = ReportView::new(store.report(&query)?, &query, Next::new(settings));
        view.bill = store.bill_period();
        view.jobs = self.jobs(&store)?;
        if self.csv {
            output::text(&view.csv())?;
        } else {
            output::show(settings, &view)?;
        }
        Ok(Outcome::Done)
    }
}
