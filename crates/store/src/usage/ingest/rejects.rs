//! Lines that were not kept, as a table.

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};

use super::super::table::writer;
use crate::error::StoreError;
use crate::layout::UsageUnit;
use crate::load::{Reject, parquet};
use crate::schema;

pub(super) fn write(path: &Path, unit: &UsageUnit, rejects: &[Reject]) -> Result<(), StoreError> {
    let constant = |text: &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(rejects.iter().map(|_| text))) };
    let text =
        |of: fn(&Reject) -> &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(rejects.iter().map(of))) };
    let columns = vec![
        constant(&unit.source),
        constant(""),
        constant(&unit.month),
        text(|r| &r.file),
        Arc::new(Int64Array::from_iter_values(rejects.iter().map(|r| r.row as i64))),
        text(|r| &r.column),
        text(|r| &r.value),
        text(|r| &r.reason),
        Arc::new(rejects.iter().map(|r| r.at_stake.as_deref()).collect::<StringArray>()),
    ];
    let batch = RecordBatch::try_new(schema::rejects(), columns)?;
    let mut writer = writer(path, schema::rejects())?;
    writer.write(&batch).map_err(parquet(path))?;
    writer.close().map_err(parquet(path))?;
    Ok(())
}
