//! How much of a load may be bad, and how much of a month a newer export may remove, before nothing is done.

use std::collections::BTreeMap;

use lowwater_model::charge::CostMetric;
use lowwater_model::money::Money;
use lowwater_model::policy::{Policy, Settings};

use super::Reject;
use super::rejects::RejectedRows;
use super::units::{Unit, without_sign};
use crate::error::{InputError, StoreError};
use crate::layout::BillUnit;

/// Rejects that are shown where a load fails because of them.
const SHOWN_REJECTS: usize = 5;

/// Shares of the policy in whole parts of this, so that they meet money without rounding.
const SHARE_UNIT: i128 = 1_000_000;

fn share(settings: &Settings, key: &str) -> i128 {
    // not money: a share of the policy
    (settings.float(key).clamp(0.0, 1.0) * SHARE_UNIT as f64).round() as i128
}

/// What may be rejected of one source in one load.
pub(crate) struct RejectLimit {
    share: i128,
    free: i128,
}

impl RejectLimit {
    /// As the policy has it.
    pub(crate) fn of(policy: &Policy) -> Self {
        let settings = policy.section("load");
        Self {
            share: share(&settings, "max_reject_share"),
            free: i128::from(settings.int("max_rejects_free")),
        }
    }

    /// Nothing may be rejected.
    pub(crate) const fn none() -> Self {
        Self { share: 0, free: 0 }
    }

    /// Are so many rows of so many few enough? Up to `free` of them pass where they are not most of all.
    pub(crate) fn lets_pass(&self, rejected: u64, all: u64) -> bool {
        let rejected = i128::from(rejected);
        part_lets_pass(self.share_for(rejected), rejected, i128::from(all))
    }

    /// Fails a load of one source of which too many rows are faulty; `kept` is how many are not, as `noun`.
    pub(crate) fn check_rows(
        &self,
        source: &str,
        (kept, noun): (u64, &str),
        (faulty, rejects): (u64, &[Reject]),
    ) -> Result<(), StoreError> {
        if self.lets_pass(faulty, kept + faulty) {
            return Ok(());
        }
        let shown: Vec<String> = rejects.iter().take(SHOWN_REJECTS).map(Reject::line).collect();
        let what = format!(
            "{faulty} of {} {noun} are faulty, more than load.max_reject_share lets pass, the first of them:\n  {}",
            kept + faulty,
            shown.join("\n  ")
        );
        let hint = "is it the right --format? `load.max_reject_share` in policy.toml says how many may be bad";
        Err(InputError::new(source, what).hint(hint).into())
    }

    fn share_for(&self, rejected_rows: i128) -> i128 {
        if rejected_rows <= self.free {
            self.share.max(SHARE_UNIT / 2)
        } else {
            self.share
        }
    }

    /// Fails a load of which too many rows, or too much of the money, of one source can't be taken.
    pub(crate) fn check<'a>(
        &self,
        units: impl Iterator<Item = &'a Unit>,
        rejects: &BTreeMap<usize, RejectedRows>,
    ) -> Result<(), StoreError> {
        let mut sources: BTreeMap<&str, OfSource<'_>> = BTreeMap::new();
        for (at, unit) in units.enumerate() {
            let of = sources.entry(&unit.source).or_default();
            of.kept_rows += unit.rows;
            of.kept_money += unit.gross_billed();
            if let Some(rejected) = rejects.get(&at) {
                of.rejected.push(rejected);
            }
        }
        sources
            .iter()
            .try_for_each(|(source, of)| self.check_source(source, of))
    }

    fn check_source(&self, source: &str, of: &OfSource<'_>) -> Result<(), StoreError> {
        let rejected: u64 = of.rejected.iter().map(|rows| rows.count()).sum();
        let all = of.kept_rows + rejected;
        let money: Money = of.rejected.iter().map(|rows| rows.gross_billed()).sum();
        let all_money = money + of.kept_money;
        let rows: Vec<&Reject> = of.rejected.iter().flat_map(|rows| rows.iter()).collect();
        let Some(first) = rows.first() else {
            return Ok(());
        };
        let what = if !self.lets_pass(rejected, all) {
            format!("{rejected} of {all} rows of {source}")
        } else if !part_lets_pass(self.share_for(rejected.into()), money.units(), all_money.units()) {
            format!("{rejected} of {all} rows of {source}, with {money} of {all_money} of BilledCost without sign,")
        } else {
            return Ok(());
        };
        let shown: Vec<String> = rows.iter().take(SHOWN_REJECTS).map(|reject| reject.line()).collect();
        let what = format!(
            "{what} can't be taken, more than load.max_reject_share lets pass:\n  {}",
            shown.join("\n  ")
        );
        let hint = "correct the export, or raise max_reject_share in the section [load] of policy.toml";
        Err(InputError::new(&first.file, what).hint(hint).into())
    }
}

/// All units of one source in a load.
#[derive(Default)]
struct OfSource<'a> {
    kept_rows: u64,
    kept_money: Money,
    rejected: Vec<&'a RejectedRows>,
}

fn part_lets_pass(share: i128, part: i128, all: i128) -> bool {
    // Divided, not multiplied: sums of money may be as large as the type.
    part <= all / SHARE_UNIT * share + all % SHARE_UNIT * share / SHARE_UNIT
}

/// Refuses a newer export that holds less than the one that is there. Credits count as much as charges: what a month
/// weighs is the sum of its amounts without sign.
pub(crate) fn guard(there: &BillUnit, made: &BillUnit, policy: &Policy) -> Result<(), StoreError> {
    let kept = SHARE_UNIT - share(&policy.section("load"), "max_removed_share");
    let mut lost = Vec::new();
    for metric in [CostMetric::Billed, CostMetric::Effective] {
        let (was, is) = weights(there, made, metric);
        if is.units() < was.units() / SHARE_UNIT * kept {
            lost.push(format!(
                "{} from {was} to {is} (sum of the amounts without sign)",
                metric.column()
            ));
        }
    }
    if i128::from(made.days) * SHARE_UNIT < i128::from(there.days) * kept {
        lost.push(format!("days with charges from {} to {}", there.days, made.days));
    }
    if lost.is_empty() {
        return Ok(());
    }
    Err(StoreError::Refused {
        what: format!(
            "{}: the new export would lower {}, more than load.max_removed_share lets pass",
            there.key(),
            lost.join(" and ")
        ),
        hint: "if the export is whole, repeat the load with --replace; if it only adds to what is there, with --append"
            .into(),
    })
}

/// What two exports of a unit weigh in a metric. An older manifest has only the net sums: then those are compared.
fn weights(there: &BillUnit, made: &BillUnit, metric: CostMetric) -> (Money, Money) {
    let name = metric.as_str();
    let net = |unit: &BillUnit| without_sign(unit.totals.get(name).copied().unwrap_or_default().stored());
    match there.gross.get(name) {
        Some(was) => (*was, made.gross.get(name).copied().unwrap_or_default()),
        None => (net(there), net(made)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_bad_rows_pass_unless_they_are_most() {
        let limit = RejectLimit {
            share: SHARE_UNIT / 100,
            free: 5,
        };
        for (rejected, all, passes) in [
            (0, 0, true),
            (1, 1, false),
            (1, 2, true),
            (2, 3, false),
            (5, 10, true),
            (5, 9, false),
            (6, 12, false),
            (6, 599, false),
            (6, 600, true),
        ] {
            assert_eq!(limit.lets_pass(rejected, all), passes, "{rejected} of {all}");
        }
    }
}
