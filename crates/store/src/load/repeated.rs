//! Appended charges that are equal, in every column, to charges that were there: most often the same charge again.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Int64Type, TimestampMicrosecondType};
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use lowwater_model::money::Money;

use super::write::parquet;
use crate::error::StoreError;
use crate::layout::{BillUnit, Transaction};

/// How many rows came again, and their BilledCost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repeated {
    pub(crate) rows: u64,
    pub(crate) billed: Money,
    /// Of them, those whose BilledCost is unknown.
    pub(crate) unknown: u64,
}

/// Compares what came with what is there. A row that is there once can be repeated once.
pub(crate) fn repeated(there: &BillUnit, made: &BillUnit, transaction: &Transaction) -> Result<Repeated, StoreError> {
    let mut came: HashMap<u64, u32> = HashMap::new();
    each_row(made, transaction, |row, _| *came.entry(row).or_default() += 1)?;
    let mut found = Repeated::default();
    each_row(there, transaction, |row, billed| {
        if let Some(left) = came.get_mut(&row).filter(|left| **left > 0) {
            *left -= 1;
            found.rows += 1;
            match billed {
                Some(billed) => found.billed += billed,
                None => found.unknown += 1,
            }
        }
    })?;
    Ok(found)
}

/// Every charge of a unit as a hash of its columns, with its BilledCost.
fn each_row(
    unit: &BillUnit,
    transaction: &Transaction,
    mut take: impl FnMut(u64, Option<Money>),
) -> Result<(), StoreError> {
    for name in unit.files.get("charges").into_iter().flatten() {
        let path = transaction.staged_path(name);
        let file = File::open(&path).map_err(StoreError::io(&path))?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).map_err(parquet(&path))?;
        for batch in reader.build().map_err(parquet(&path))? {
            let batch = batch?;
            let billed = batch
                .column_by_name("BilledCost")
                .and_then(|c| c.as_primitive_opt::<Decimal128Type>());
            for (at, row) in rows(&batch).into_iter().enumerate() {
                let cost = billed
                    .filter(|b| b.is_valid(at))
                    .map(|b| Money::from_units(b.value(at)));
                take(row, cost);
            }
        }
    }
    Ok(())
}

/// A hash of each row that does not depend on the order of columns. A column without a value counts as one that the file
/// does not have.
fn rows(batch: &RecordBatch) -> Vec<u64> {
    let mut rows = vec![0_u64; batch.num_rows()];
    for (column, field) in batch.columns().iter().zip(batch.schema().fields()) {
        let mut name = DefaultHasher::new();
        field.name().hash(&mut name);
        for (at, row) in rows.iter_mut().enumerate().filter(|(at, _)| column.is_valid(*at)) {
            let mut hash = name.clone();
            match column.data_type() {
                DataType::Utf8 => column.as_string::<i32>().value(at).hash(&mut hash),
                DataType::Decimal128(..) => column.as_primitive::<Decimal128Type>().value(at).hash(&mut hash),
                DataType::Timestamp(..) => column
                    .as_primitive::<TimestampMicrosecondType>()
                    .value(at)
                    .hash(&mut hash),
                _ => column.as_primitive::<Int64Type>().value(at).hash(&mut hash),
            }
            *row = row.wrapping_add(hash.finish());
        }
    }
    rows
}
