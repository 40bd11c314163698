//! A unit that is there already, and what is added to it: which of their days are the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{Decimal128Type, TimestampMicrosecondType};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use lowwater_model::money::Money;

use super::repeated::{Repeated, repeated};
use super::units::count;
use super::write::parquet;
use crate::error::StoreError;
use crate::layout::{BillUnit, Transaction};

/// BilledCost by day, in microseconds.
type Days = BTreeMap<i64, Money>;

/// What is there, and what came to it. Where both have charges of the same days, a warning says so: that may be the same
/// charges in another file.
pub(crate) fn appended(there: BillUnit, made: BillUnit, transaction: &Transaction) -> Result<BillUnit, StoreError> {
    let (before, added) = (days(&there, transaction)?, days(&made, transaction)?);
    let both: Vec<Money> = added
        .iter()
        .filter(|(day, _)| before.contains_key(day))
        .map(|(_, money)| *money)
        .collect();
    // Equal rows are of equal days.
    let repeated = match both.len() {
        0 => Repeated::default(),
        _ => repeated(&there, &made, transaction)?,
    };
    let all: BTreeSet<&i64> = before.keys().chain(added.keys()).collect();
    let mut unit = sum(there, made);
    unit.days = all.len() as u32;
    if !both.is_empty() {
        let days = if both.len() == 1 { "day" } else { "days" };
        let money: Money = both.iter().copied().sum();
        unit.warnings.push(format!(
            "{} {days} of what was appended had charges before: BilledCost {money} was added on them, which counts \
             twice where it is the same charges",
            both.len()
        ));
        if repeated.rows > 0 {
            let unknown = match repeated.unknown {
                0 => String::new(),
                rows => format!(" and unknown in {}", count(rows)),
            };
            unit.warnings.push(format!(
                "equal in every column to a charge that was there, and appended all the same: {}, BilledCost {}{unknown}, which \
                 counts twice unless the provider charged it twice; if not, load the month again with `--replace`, from \
                 files that do not overlap",
                count(repeated.rows),
                repeated.billed
            ));
        }
        unit.warnings.sort();
        unit.warnings.dedup();
    }
    Ok(unit)
}

fn sum(there: BillUnit, made: BillUnit) -> BillUnit {
    let mut totals = there.totals;
    for (metric, sum) in made.totals {
        totals.entry(metric).or_default().merge(sum);
    }
    let mut gross = there.gross;
    // Half a sum would be worse than none: an older manifest stays one without.
    if !gross.is_empty() || there.rows == 0 {
        for (metric, sum) in made.gross {
            *gross.entry(metric).or_default() += sum;
        }
    }
    let mut files = there.files;
    for (table, names) in made.files {
        files.entry(table).or_default().extend(names);
    }
    let mut rejected = there.rejected;
    rejected.merge(made.rejected);
    BillUnit {
        rows: there.rows + made.rows,
        rejects: there.rejects + made.rejects,
        unknown_costs: there.unknown_costs + made.unknown_costs,
        inputs: union(there.inputs, made.inputs),
        // An older manifest says it in its warnings only: then they are asked for both.
        effective_unreliable: there
            .effective_unreliable
            .zip(made.effective_unreliable)
            .map(|(before, added)| union(before, added)),
        warnings: union(there.warnings, made.warnings),
        first: there.first.min(made.first),
        last: there.last.max(made.last),
        totals,
        gross,
        rejected,
        files,
        ..made
    }
}

fn union(a: Vec<String>, b: Vec<String>) -> Vec<String> {
    let all: BTreeSet<String> = a.into_iter().chain(b).collect();
    all.into_iter().collect()
}

fn days(unit: &BillUnit, transaction: &Transaction) -> Result<Days, StoreError> {
    let mut days = Days::new();
    for name in unit.files.get("daily").into_iter().flatten() {
        let path = transaction.staged_path(name);
        let file = File::open(&path).map_err(StoreError::io(&path))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(parquet(&path))?;
        let wanted = ProjectionMask::columns(builder.parquet_schema(), ["x_Day", "BilledCost"]);
        let reader = builder.with_projection(wanted).build().map_err(parquet(&path))?;
        for batch in reader {
            read(&batch?, &mut days);
        }
    }
    Ok(days)
}

fn read(batch: &RecordBatch, days: &mut Days) {
    let day = batch
        .column_by_name("x_Day")
        .and_then(|c| c.as_primitive_opt::<TimestampMicrosecondType>());
    let billed = batch
        .column_by_name("BilledCost")
        .and_then(|c| c.as_primitive_opt::<Decimal128Type>());
    for (at, day) in day.into_iter().flatten().enumerate() {
        let cost = billed.filter(|b| b.is_valid(at)).map_or(0, |b| b.value(at));
        *days.entry(day.unwrap_or_default()).or_default() += Money::from_units(cost);
    }
}
