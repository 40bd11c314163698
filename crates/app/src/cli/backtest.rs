//! `lowwater backtest`

use jiff::{SignedDuration, Timestamp};
use lowwater_store::store::Store;

use super::Outcome;
use super::plan::make;
use crate::config::Settings;
use crate::error::AppError;
use crate::view::backtest::BacktestView;
use crate::view::next::Next;
use crate::{output, registry};

const DAY_SECONDS: i64 = 86_400;

/// Make the plan of a past day, which sees nothing after it, and judge it on what came after
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lowwater backtest\n  lowwater backtest --as-of 2026-09-30 --horizon 14d")]
pub struct Args {
    /// Day or instant of the plan [default: one horizon before the end of the bill]
    #[arg(long, value_name = "TIME", value_parser = crate::time::instant_or_day)]
    as_of: Option<Timestamp>,
    /// How long after it is looked at, in days
    #[arg(long, value_name = "DAYS", default_value = "30d", value_parser = days)]
    horizon: i64,
}

/// `30d` or `30`.
fn days(text: &str) -> Result<i64, String> {
    let number = text.strip_suffix('d').unwrap_or(text).parse::<i64>();
    number.ok().filter(|n| (1..=3660).contains(n)).ok_or_else(|| "write a number of days such as 30d".to_owned())
}

/// The plan of an instant and how it would have done in the days after.
pub fn judge(store: &Store, as_of: Option<Timestamp>, horizon_days: i64) -> Result<BacktestView, AppError> {
    let horizon = SignedDuration::from_secs(horizon_days * DAY_SECONDS);
    let at = match as_of {
        Some(at) => at,
        None => store.facts_end()? - horizon,
    };
    let plan = make(store, Some(at))?;
    let later = store.facts_between(plan.as_of, plan.as_of + horizon)?;
    let judged = lowwater_engine::backtest(&plan, &later);
    Ok(BacktestView::new(judged, (plan.as_of, horizon_days), plan.currency.to_string()))
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let store = Store::open(&settings.data, &registry::lever_sections())?;
        let view = judge(&store, self.as_of, self.horizon)?;
        output::show(settings, &view.with_next(Next::new(settings)))?;
        Ok(Outcome::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_horizon_is_a_number_of_days() {
        assert_eq!((days("30d"), days("7")), (Ok(30), Ok(7)));
        for text in ["", "d", "0", "-1", "99999", "1w"] {
            assert!(days(text).is_err(), "{text}");
        }
    }
}
