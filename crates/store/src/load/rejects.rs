//! Rows that were not kept, read back.

use std::fs::File;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::Reject;
use crate::error::StoreError;
use crate::layout::Snapshot;

/// Every rejected row of a version, in order of unit and row.
pub fn rejects(snapshot: &Snapshot) -> Result<Vec<Reject>, StoreError> {
    let mut out = Vec::new();
    for path in snapshot.files("rejects") {
        let damaged = |why: &dyn std::fmt::Display| StoreError::damaged(&path, why);
        let file = File::open(&path).map_err(StoreError::io(&path))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| damaged(&e))?;
        for batch in builder.build().map_err(|e| damaged(&e))? {
            read(&batch.map_err(|e| damaged(&e))?, &mut out);
        }
    }
    Ok(out)
}

fn read(batch: &RecordBatch, out: &mut Vec<Reject>) {
    let text = |name: &str, row: usize| {
        let column = batch.column_by_name(name)?.as_string_opt::<i32>()?;
        (!column.is_null(row)).then(|| column.value(row).to_owned())
    };
    let rows = batch
        .column_by_name("row")
        .and_then(|c| c.as_primitive_opt::<Int64Type>());
    for at in 0..batch.num_rows() {
        out.push(Reject {
            file: text("file", at).unwrap_or_default(),
            row: rows.map_or(0, |rows| rows.value(at) as u64),
            column: text("column", at).unwrap_or_default(),
            value: text("value", at).unwrap_or_default(),
            reason: text("reason", at).unwrap_or_default(),
            at_stake: text("at_stake", at),
        });
    }
}
