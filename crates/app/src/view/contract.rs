//! What contracts make of a plan: minimums that take savings back, and money at list price.

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use lowwater_model::known::Known;
use lowwater_model::money::Estimate;
use lowwater_model::period::Period;
use lowwater_model::plan::{ListShare, MinimumOutcome, Plan};

use crate::amount::{self, cents, estimate_cents};
use crate::screen::{Figure, figure};

/// The minimums that take a part of the saving, and list prices where they are much of it: part of a plan's first line.
pub(super) fn headline(plan: &Plan) -> String {
    let takes = |minimum: &&MinimumOutcome| minimum.taken.p50 != Estimate::ZERO;
    let taking: Vec<&str> = plan
        .minimums
        .iter()
        .filter(takes)
        .map(|m| m.provider.as_str())
        .collect();
    let after = match taking[..] {
        [] => String::new(),
        _ => format!(", after the contract's minimum with {}", taking.join(" and ")),
    };
    let listed = plan
        .at_list_price
        .filter(ListShare::is_much)
        .map_or_else(String::new, |list| {
            format!(
                " ({} of the money behind them at list price)",
                amount::share(list.share.amount())
            )
        });
    format!("{after}{listed}")
}

/// One figure a minimum that is missed or of which nobody knows, and one of list prices where they are much.
pub(super) fn figures(plan: &Plan) -> Vec<Figure> {
    let minimums = plan.minimums.iter().filter_map(|minimum| missed(plan, minimum));
    let listed = plan.at_list_price.filter(ListShare::is_much).map(|list| {
        let remark = format!(
            "{} of the {} {} that these machines cost are priced anew at list price; write what you pay into contract.toml or offers.csv",
            cents(list.cost),
            cents(list.of),
            plan.currency
        );
        figure("at list price", amount::share(list.share.amount()), remark)
    });
    minimums.chain(listed).collect()
}

fn missed(plan: &Plan, minimum: &MinimumOutcome) -> Option<Figure> {
    let currency = &plan.currency;
    let promise = format!(
        "of the {} {currency} that the contract with {} promises until {} ({})",
        cents(minimum.amount),
        minimum.provider,
        last_day(&minimum.period),
        minimum.source
    );
    match (&minimum.spent, minimum.shortfall) {
        (Known::Unknown(why), _) => Some(figure(
            "minimum",
            amount::UNKNOWN.to_owned(),
            format!("how much is spent {promise}: {why}"),
        )),
        (Known::Value(_), Some(missing)) if missing != Estimate::ZERO => {
            let taken = match minimum.taken.p50 {
                Estimate::ZERO => "with or without the plan".to_owned(),
                taken => format!(
                    "so {} of what the steps save over these days is no cash",
                    estimate_cents(taken)
                ),
            };
            let remark = format!("{promise}: they have to be paid all the same, {taken}");
            Some(figure(
                "shortfall",
                format!("{} {currency}", estimate_cents(missing)),
                remark,
            ))
        }
        (Known::Value(_), _) => None,
    }
}

/// Contracts run by whole days.
fn last_day(period: &Period) -> String {
    let last = TimeZone::UTC.to_datetime(period.end - SignedDuration::from_hours(1));
    last.strftime("%-d %b %Y").to_string()
}

#[cfg(test)]
mod tests;
