//! Whole loads: real files, faults, two at once, death in the middle.

mod again;
mod faults;
mod forms;
mod guarded;
mod mutated;
mod process;
mod real;
mod sample;

use std::path::{Path, PathBuf};

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{Decimal128Type, Int64Type};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use lowwater_model::policy::Policy;

use super::*;

/// A data directory of a test.
struct Store {
    dir: tempfile::TempDir,
    policy: Policy,
}

impl Store {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            policy: Policy::defaults(&[]),
        }
    }

    /// A file beside the store.
    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    fn load(&self, path: &Path) -> Result<LoadReport, StoreError> {
        self.load_as(&request(path))
    }

    fn load_as(&self, request: &LoadRequest) -> Result<LoadReport, StoreError> {
        load(&self.data(), request, &self.policy, &Quiet)
    }

    /// Why a load is refused.
    fn refusal(&self, path: &Path) -> String {
        let before = self.layout().manifest().unwrap();
        let error = self.load(path).unwrap_err();
        assert_eq!(
            self.layout().manifest().unwrap(),
            before,
            "a failed load changes nothing"
        );
        assert!(!self.data().join("store/staging").exists());
        format!("exit {}: {error}", error.exit_code())
    }

    fn layout(&self) -> Layout {
        Layout::open(&self.data()).unwrap()
    }

    fn rejects(&self) -> Vec<Reject> {
        rejects(&self.layout().snapshot().unwrap()).unwrap()
    }

    fn table(&self, name: &str) -> Vec<RecordBatch> {
        let snapshot = self.layout().snapshot().unwrap();
        let read = |path: PathBuf| {
            let file = std::fs::File::open(path).unwrap();
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
            reader.map(Result::unwrap).collect::<Vec<_>>()
        };
        snapshot.files(name).into_iter().flat_map(read).collect()
    }

    /// Sum of a money column, in 10^-12.
    fn sum(&self, table: &str, column: &str) -> i128 {
        let of = |batch: &RecordBatch| {
            let values = batch
                .column_by_name(column)
                .unwrap()
                .as_primitive::<Decimal128Type>()
                .clone();
            values.iter().flatten().sum::<i128>()
        };
        self.table(table).iter().map(of).sum()
    }

    /// Sum of a column of counts.
    fn count(&self, table: &str, column: &str) -> i64 {
        let of = |batch: &RecordBatch| {
            let values = batch
                .column_by_name(column)
                .unwrap()
                .as_primitive::<Int64Type>()
                .clone();
            values.iter().flatten().sum::<i64>()
        };
        self.table(table).iter().map(of).sum()
    }

    /// Rows of a table as text `column=value`, nulls left out, sorted: the same content is the same value.
    fn content(&self, table: &str) -> Vec<String> {
        let options = FormatOptions::default();
        let mut rows = Vec::new();
        for batch in self.table(table) {
            let schema = batch.schema();
            let columns: Vec<_> = batch
                .columns()
                .iter()
                .zip(schema.fields())
                .map(|(array, field)| (field.name(), array, ArrayFormatter::try_new(array, &options).unwrap()))
                .collect();
            for row in 0..batch.num_rows() {
                let known = columns.iter().filter(|(_, array, _)| !array.is_null(row));
                rows.push(
                    known
                        .map(|(name, _, text)| format!("{name}={}", text.value(row)))
                        .collect::<Vec<_>>()
                        .join("|"),
                );
            }
        }
        rows.sort();
        rows
    }
}

fn request(path: &Path) -> LoadRequest {
    LoadRequest {
        paths: vec![path.to_owned()],
        ..LoadRequest::default()
    }
}

/// File total of a metric over all units.
fn total(report: &LoadReport, metric: &str) -> String {
    report.totals[metric].file_text()
}

fn warnings(report: &LoadReport) -> Vec<String> {
    report.units.iter().flat_map(|unit| unit.warnings.clone()).collect()
}
