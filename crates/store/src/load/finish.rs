//! What was read meets what is there: too many rejects, a month that would lose too much, the same files again.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lowwater_model::charge::CostMetric;
use lowwater_model::money::{Decimal, ExactSum};
use lowwater_model::policy::{Policy, Settings};

use super::bill::Bills;
use super::flush::of_unit;
use super::units::Unit;
use super::write::{Output, Values, write};
use super::{Existing, Reject, UnitReport, known, late};
use crate::error::{InputError, StoreError};
use crate::layout::BillUnit;
use crate::schema;

/// Rejects that are shown where a load fails because of them.
const SHOWN_REJECTS: usize = 5;

/// Shares of the policy in whole parts of this, so that they meet money without rounding.
const SHARE_UNIT: i128 = 1_000_000;

fn share(settings: &Settings, key: &str) -> i128 {
    // not money: a share of the policy
    (settings.float(key).clamp(0.0, 1.0) * SHARE_UNIT as f64).round() as i128
}

/// Puts the units into the manifest of the transaction. Says of each what was done, and whether anything changed.
pub(crate) fn finish(mut bills: Bills<'_>, policy: &Policy) -> Result<(Vec<UnitReport>, bool), StoreError> {
    bills.flush()?;
    late::complete(&mut bills)?;
    let rejects = rejects_by_unit(&mut bills)?;
    let settings = policy.section("load");
    check_rejects(&bills, &rejects, share(&settings, "max_reject_share"))?;
    let max_removed = share(&settings, "max_removed_share");
    let mut reports = Vec::new();
    let mut changed = false;
    let now = Timestamp::now();
    let before = bills.transaction.manifest.bills.clone();
    let units = bills.units.take().into_iter().enumerate();
    for (at, unit) in units.filter(|(_, unit)| unit.rows > 0) {
        let mut made = made(&bills, &unit, now);
        let key = made.key();
        let there = before.get(&key).cloned();
        known::refuse_second_source(&before, &made)?;
        if let Some(there) = there {
            match bills.request.existing {
                Existing::Guarded if there.inputs == made.inputs => {
                    reports.push(report(&there));
                    continue;
                }
                Existing::Guarded => guard(&there, &made, max_removed)?,
                Existing::Replace => {}
                Existing::Append => made = appended(there, made),
            }
        }
        if let Some(rejects) = rejects.get(&at) {
            made.warnings.push(rejected_money(rejects));
            let name = write_rejects(&mut bills, &unit, rejects)?;
            made.files.entry("rejects".into()).or_default().push(name);
        }
        changed = true;
        reports.push(report(&made));
        bills.transaction.manifest.bills.insert(key, made);
    }
    let manifest = &mut bills.transaction.manifest;
    let extra: BTreeSet<String> = manifest.extra_columns.drain(..).chain(bills.extra).collect();
    manifest.extra_columns = extra.into_iter().collect();
    manifest.currency = bills.currency.into_known();
    reports.sort_by_key(UnitReport::key);
    Ok((reports, changed))
}

/// Rejects with the unit they count for: one whose month can't be read, or of whose month nothing is kept, counts for
/// the unit with most rows.
fn rejects_by_unit(bills: &mut Bills<'_>) -> Result<BTreeMap<usize, Vec<Reject>>, StoreError> {
    let largest = bills.units.largest();
    let mut by_unit: BTreeMap<usize, Vec<Reject>> = BTreeMap::new();
    for (reject, unit) in std::mem::take(&mut bills.rejects) {
        let unit = unit.filter(|at| bills.units.get_mut(*at).rows > 0);
        let Some(unit) = unit.or(largest) else {
            let what = format!("no row can be taken; the first: {} {}", reject.column, reject.reason);
            return Err(InputError::new(&reject.file, what).row(reject.row).into());
        };
        by_unit.entry(unit).or_default().push(reject);
    }
    for (unit, rejects) in &by_unit {
        bills.units.get_mut(*unit).rejects = rejects.len() as u64;
    }
    Ok(by_unit)
}

/// What the rejected rows hold, because the totals of the unit are those of its kept rows.
fn rejected_money(rejects: &[Reject]) -> String {
    let mut sum = ExactSum::default();
    let known = rejects
        .iter()
        .filter_map(|reject| Decimal::parse(reject.at_stake.as_deref()?).ok());
    let count = known.map(|value| sum.add(value)).count();
    let rows = if rejects.len() == 1 {
        "1 row was".to_owned()
    } else {
        format!("{} rows were", rejects.len())
    };
    let money = match (count, rejects.len() - count) {
        (0, _) => "an unknown BilledCost".to_owned(),
        (_, 0) => format!("{} of BilledCost", sum.file_text()),
        (_, unknown) => format!(
            "{} of BilledCost, and an unknown amount in {unknown} of them",
            sum.file_text()
        ),
    };
    format!("{rows} rejected with {money}: not in these totals; see `lowwater rejects`")
}

fn check_rejects(bills: &Bills<'_>, rejects: &BTreeMap<usize, Vec<Reject>>, max_share: i128) -> Result<(), StoreError> {
    for (at, unit) in bills.units.iter().enumerate() {
        let all = unit.rows + unit.rejects;
        let Some(rejected) = rejects.get(&at) else {
            continue;
        };
        if i128::from(unit.rejects) * SHARE_UNIT <= max_share * i128::from(all) {
            continue;
        }
        let shown: Vec<String> = rejected.iter().take(SHOWN_REJECTS).map(Reject::line).collect();
        let what = format!(
            "{} of {all} rows of {} can't be taken, more than load.max_reject_share lets pass:\n  {}",
            unit.rejects,
            unit.key(),
            shown.join("\n  ")
        );
        let hint = "correct the export, or raise max_reject_share in the section [load] of policy.toml";
        return Err(InputError::new(&rejected[0].file, what).hint(hint).into());
    }
    Ok(())
}

fn made(bills: &Bills<'_>, unit: &Unit, now: Timestamp) -> BillUnit {
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
        first: unit.first,
        last: unit.last,
        days: unit.days.len() as u32,
        inputs: inputs.into_iter().cloned().collect(),
        warnings: warnings.into_iter().collect(),
        files: unit.files.clone(),
        loaded_at: now,
    }
}

/// Refuses a newer export that holds less than the one that is there.
fn guard(there: &BillUnit, made: &BillUnit, max_removed: i128) -> Result<(), StoreError> {
    let mut lost = Vec::new();
    for metric in [CostMetric::Billed, CostMetric::Effective] {
        let cost = |unit: &BillUnit| unit.totals.get(metric.as_str()).copied().unwrap_or_default();
        let (before, after) = (cost(there), cost(made));
        let (was, is) = (before.stored().units(), after.stored().units());
        if was > 0 && is < was / SHARE_UNIT * (SHARE_UNIT - max_removed) {
            lost.push(format!(
                "{} from {} to {}",
                metric.column(),
                before.stored(),
                after.stored()
            ));
        }
    }
    if i128::from(made.days) * SHARE_UNIT < i128::from(there.days) * (SHARE_UNIT - max_removed) {
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

/// What is there, and what came to it.
fn appended(there: BillUnit, made: BillUnit) -> BillUnit {
    let mut totals = there.totals;
    for (metric, sum) in made.totals {
        totals.entry(metric).or_default().merge(sum);
    }
    let mut files = there.files;
    for (table, names) in made.files {
        files.entry(table).or_default().extend(names);
    }
    let (first, last) = (there.first.min(made.first), there.last.max(made.last));
    let span = (last.div_euclid(86_400) - first.div_euclid(86_400) + 1) as u32;
    let union = |a: Vec<String>, b: Vec<String>| -> Vec<String> {
        let all: BTreeSet<String> = a.into_iter().chain(b).collect();
        all.into_iter().collect()
    };
    BillUnit {
        rows: there.rows + made.rows,
        rejects: there.rejects + made.rejects,
        unknown_costs: there.unknown_costs + made.unknown_costs,
        // Which days there were is not kept: this is the most that they can be.
        days: (there.days + made.days).min(span),
        inputs: union(there.inputs, made.inputs),
        warnings: union(there.warnings, made.warnings),
        totals,
        files,
        first,
        last,
        ..made
    }
}

fn write_rejects(bills: &mut Bills<'_>, unit: &Unit, rejects: &[Reject]) -> Result<String, StoreError> {
    let place = [
        ("source", unit.source.as_str()),
        ("account", unit.account.as_str()),
        ("month", unit.month.as_str()),
    ];
    let staged = bills.transaction.stage("rejects", &place)?;
    write(&staged.path, &reject_columns(unit, rejects), rejects.len())?;
    Ok(staged.name)
}

fn reject_columns<'a>(unit: &'a Unit, rejects: &'a [Reject]) -> Vec<Output<'a>> {
    let texts = |text: fn(&Reject) -> Option<&str>| Values::Texts(rejects.iter().map(text).collect());
    let columns = schema::REJECTS.iter().map(|column| Output {
        name: column.name,
        kind: column.kind,
        values: match column.name {
            "file" => texts(|r| Some(&r.file)),
            "column" => texts(|r| Some(&r.column)),
            "value" => texts(|r| Some(&r.value)),
            "reason" => texts(|r| Some(&r.reason)),
            "at_stake" => texts(|r| r.at_stake.as_deref()),
            "row" => Values::Numbers(rejects.iter().map(|r| r.row as i64).collect()),
            name => of_unit(name, unit).unwrap_or(Values::Null),
        },
    });
    columns.collect()
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
        warnings: unit.warnings.clone(),
    }
}
