//! What was read meets what is there: too many rejects, a month that would lose too much, the same files again.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lowwater_model::charge::CostMetric;
use lowwater_model::policy::Policy;

use super::bill::{Bills, NO_CURRENCY};
use super::limits::{RejectLimit, guard};
use super::rejects::{Rejected, RejectedRows};
use super::units::Unit;
use super::{Existing, Reject, Replaced, UnitReport, known, late, there};
use crate::error::{InputError, StoreError};
use crate::layout::BillUnit;

/// Puts the units into the manifest of the transaction. Says of each what was done, and whether anything changed.
pub(crate) fn finish(mut bills: Bills<'_>, policy: &Policy) -> Result<(Vec<UnitReport>, bool), StoreError> {
    bills.flush()?;
    tell_currency(&mut bills);
    late::complete(&mut bills)?;
    let mut rejects = rejects_by_unit(&mut bills)?;
    RejectLimit::of(policy).check(bills.units.iter(), &rejects)?;
    let mut reports = Vec::new();
    let mut changed = false;
    let now = Timestamp::now();
    let before = bills.transaction.manifest.bills.clone();
    let units = bills.units.take().into_iter().enumerate();
    for (at, unit) in units.filter(|(_, unit)| unit.rows > 0) {
        let rejected = rejects.remove(&at).unwrap_or_default();
        let mut made = made(&bills, &unit, &rejected, now);
        let key = made.key();
        let (mut replaced, mut beside) = (None, None);
        let mut told = report(&made);
        known::refuse_second_source(&before, &made)?;
        if let Some(there) = before.get(&key) {
            match bills.request.existing {
                Existing::Guarded if there.inputs == made.inputs => {
                    reports.push(report(there));
                    continue;
                }
                Existing::Append => {
                    beside = Some(rows_of(there));
                    made = there::appended(there.clone(), made, bills.transaction)?;
                }
                Existing::Guarded | Existing::Replace => {
                    if bills.request.existing == Existing::Guarded {
                        guard(there, &made, policy)?;
                    }
                    replaced = Some(rows_of(there));
                }
            }
        }
        if rejected.count() > 0 {
            made.warnings.push(rejected.warning());
            let name = write_rejects(&mut bills, &unit, &rejected.rows)?;
            made.files.entry("rejects".into()).or_default().push(name);
        }
        changed = true;
        told.warnings.clone_from(&made.warnings);
        reports.push(UnitReport {
            replaced,
            beside,
            ..told
        });
        bills.transaction.manifest.bills.insert(key, made);
    }
    refuse_currency_for_unknown(&bills, &before)?;
    let manifest = &mut bills.transaction.manifest;
    let extra: BTreeSet<String> = manifest.extra_columns.drain(..).chain(bills.extra).collect();
    manifest.extra_columns = extra.into_iter().collect();
    manifest.currency = bills.currency.known().map(str::to_owned);
    reports.sort_by_key(UnitReport::key);
    Ok((reports, changed))
}

fn rows_of(unit: &BillUnit) -> Replaced {
    Replaced {
        rows: unit.rows,
        billed: unit.totals.get(CostMetric::Billed.as_str()).copied(),
    }
}

/// Says where money has no currency, or only that of its neighbours.
fn tell_currency(bills: &mut Bills<'_>) {
    let Some(known) = bills.currency.known().map(str::to_owned) else {
        bills.units.iter_mut().for_each(|unit| unit.forget(NO_CURRENCY));
        bills.load_warnings.insert(
            "the billing currency is unknown: no row names one; a bill that does can't be added to these charges later"
                .into(),
        );
        return;
    };
    for file in bills.files.iter_mut().filter(|file| file.no_currency) {
        let warning = format!(
            "{} has no BillingCurrency, so its charges count as {known} like the others",
            file.name
        );
        file.warnings.insert(warning);
    }
}

/// Refuses the first currency of a store while it keeps charges without one: they would take it without a word.
fn refuse_currency_for_unknown(bills: &Bills<'_>, before: &BTreeMap<String, BillUnit>) -> Result<(), StoreError> {
    let manifest = &bills.transaction.manifest;
    let (None, Some(known)) = (&manifest.currency, bills.currency.known()) else {
        return Ok(());
    };
    let is_kept = |(key, there): &(&String, &BillUnit)| {
        let now = manifest.bills.get(*key);
        now.is_some_and(|now| there.inputs.iter().any(|input| now.inputs.contains(input)))
    };
    let Some((key, _)) = before.iter().find(is_kept) else {
        return Ok(());
    };
    Err(StoreError::Refused {
        what: format!(
            "charges in {known}, but the currency of the charges that are there is unknown ({key}); they would count as \
             {known}"
        ),
        hint: "load those again with a BillingCurrency column, all in one call, or load this bill into another data \
               folder (`--data DIR`)"
            .into(),
    })
}

/// Rejects with the unit they count for: one whose month can't be read, or of whose month nothing is kept, counts for
/// the unit with most rows.
fn rejects_by_unit(bills: &mut Bills<'_>) -> Result<BTreeMap<usize, RejectedRows>, StoreError> {
    let largest = bills.units.largest();
    let mut by_unit: BTreeMap<usize, RejectedRows> = BTreeMap::new();
    for Rejected { reject, unit } in std::mem::take(&mut bills.rejects) {
        let unit = unit.filter(|at| bills.units.get_mut(*at).rows > 0);
        let Some(unit) = unit.or(largest) else {
            let what = format!("no row can be taken; the first: {} {}", reject.column, reject.reason);
            return Err(InputError::new(&reject.file, what).row(reject.row).into());
        };
        by_unit.entry(unit).or_default().push(reject);
    }
    for (unit, rejects) in &by_unit {
        bills.units.get_mut(*unit).rejects = rejects.count();
    }
    Ok(by_unit)
}

fn made(bills: &Bills<'_>, unit: &Unit, rejected: &RejectedRows, now: Timestamp) -> BillUnit {
    let files = || unit.inputs.iter().map(|at| &bills.files[*at]);
    let mut warnings = unit.warnings();
    warnings.extend(files().flat_map(|file| file.warnings.iter().cloned()));
    warnings.extend(bills.load_warnings.iter().cloned());
    let inputs: BTreeSet<&String> = files().map(|file| &file.sha256).collect();
    BillUnit {
        source: unit.source.clone(),
        account: unit.account.clone(),
        month: unit.month.clone(),
        rows: unit.rows,
        rejects: unit.rejects,
        unknown_costs: unit.unknown_costs(),
        totals: unit.totals(),
        gross: unit.gross(),
        rejected: rejected.money,
        effective_unreliable: Some(unit.unreliable()),
        first: unit.first,
        last: unit.last,
        days: unit.days.len() as u32,
        inputs: inputs.into_iter().cloned().collect(),
        warnings: warnings.into_iter().collect(),
        files: unit.files.clone(),
        loaded_at: now,
    }
}

fn write_rejects(bills: &mut Bills<'_>, unit: &Unit, rejects: &[Reject]) -> Result<String, StoreError> {
    let place = [
        ("source", unit.source.as_str()),
        ("account", unit.account.as_str()),
        ("month", unit.month.as_str()),
    ];
    let staged = bills.transaction.stage("rejects", &place)?;
    super::write_rejects(&staged.path, (&unit.source, &unit.account, &unit.month), rejects)?;
    Ok(staged.name)
}

/// What is said of a unit.
pub(crate) fn report(unit: &BillUnit) -> UnitReport {
    UnitReport {
        kind: "bill",
        source: unit.source.clone(),
        account: unit.account.clone(),
        month: unit.month.clone(),
        rows: unit.rows,
        rejects: unit.rejects,
        totals: unit.totals.clone(),
        rejected: unit.rejected,
        replaced: None,
        beside: None,
        warnings: unit.warnings.clone(),
    }
}
