//! The table `usage` as Parquet: rows out, rows in.

use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, PrimitiveArray, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{ArrowPrimitiveType, Int64Type, SchemaRef, TimestampMicrosecondType};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use datafusion::parquet::arrow::arrow_writer::ArrowWriterOptions;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use lowwater_model::period::HOUR_SECONDS;
use lowwater_model::usage::{ActivityMetric, BINS, Histogram};

use super::row::{HourRow, Key};
use crate::error::StoreError;
use crate::load::parquet;
use crate::schema::{self, activity_bin, memory_bin};

const BATCH_ROWS: usize = 8192;
/// What the writer holds at once: enough to compress well, little enough for many months side by side.
const GROUP_ROWS: usize = 128 * 1024;
const MICROSECONDS: i64 = 1_000_000;

/// Writes rows to one file.
pub(crate) struct TableWriter {
    path: PathBuf,
    source: String,
    month: String,
    rows: Vec<HourRow>,
    writer: ArrowWriter<File>,
}

impl TableWriter {
    pub(crate) fn create(path: &Path, source: &str, month: &str) -> Result<Self, StoreError> {
        Ok(Self {
            path: path.to_owned(),
            source: source.to_owned(),
            month: month.to_owned(),
            rows: Vec::with_capacity(BATCH_ROWS),
            writer: writer(path, schema::usage())?,
        })
    }

    /// Rows must come in order of their keys.
    pub(crate) fn write(&mut self, row: HourRow) -> Result<(), StoreError> {
        self.rows.push(row);
        if self.rows.len() == BATCH_ROWS {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let batch = batch(&self.rows, &self.source, &self.month)?;
        self.rows.clear();
        self.writer.write(&batch).map_err(parquet(&self.path))
    }

    pub(crate) fn finish(mut self) -> Result<(), StoreError> {
        self.flush()?;
        self.writer.close().map_err(parquet(&self.path))?;
        Ok(())
    }
}

/// A Parquet file with plain types and no schema of Arrow's own: so it is read fastest.
pub(crate) fn writer(path: &Path, schema: SchemaRef) -> Result<ArrowWriter<File>, StoreError> {
    let level = ZstdLevel::try_new(3).map_err(parquet(path))?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .build();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let file = File::create(path).map_err(StoreError::io(path))?;
    ArrowWriter::try_new_with_options(file, schema, options).map_err(parquet(path))
}

/// Rows as columns, in the order of the schema.
fn batch(rows: &[HourRow], source: &str, month: &str) -> Result<RecordBatch, StoreError> {
    let constant = |text: &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(rows.iter().map(|_| text))) };
    let text = |of: fn(&HourRow) -> &Arc<str>| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(|r| &**of(r))))
    };
    let known = |of: fn(&HourRow) -> &str| -> ArrayRef {
        let texts = rows.iter().map(|r| Some(of(r)).filter(|text| !text.is_empty()));
        Arc::new(texts.collect::<StringArray>())
    };
    let count = |of: &dyn Fn(&HourRow) -> u64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| of(r) as i64)))
    };
    let maybe = |of: fn(&HourRow) -> Option<u32>| -> ArrayRef {
        Arc::new(rows.iter().map(|r| of(r).map(i64::from)).collect::<Int64Array>())
    };
    let second = |of: fn(&HourRow) -> i64| -> ArrayRef { Arc::new(Int64Array::from_iter_values(rows.iter().map(of))) };
    let hours = rows.iter().map(|r| r.key.hour * HOUR_SECONDS * MICROSECONDS);
    let mut columns = vec![
        constant(source),
        constant(month),
        text(|r| &r.key.host),
        text(|r| &r.key.gpu),
        text(|r| &r.key.mig_instance),
        known(|r| &r.mig_profile),
        known(|r| &r.gpu_model),
        known(|r| &r.namespace),
        Arc::new(TimestampMicrosecondArray::from_iter_values(hours).with_timezone("UTC")),
        known(|r| r.activity_metric.map_or("", ActivityMetric::as_str)),
        count(&|r| r.activity.seconds()),
        count(&|r| r.memory.seconds()),
        count(&|r| r.activity_micro_seconds),
        count(&|r| u64::from(r.idle_seconds())),
        count(&|r| u64::from(r.longest_idle_seconds)),
        maybe(|r| r.memory_total_mib),
        maybe(|r| r.memory_used_max_mib),
        count(&|r| r.power_milliwatt_seconds),
        count(&|r| u64::from(r.power_seconds)),
        maybe(|r| r.power_max_milliwatts),
        second(|r| r.first),
        second(|r| r.last),
        count(&|r| r.minutes),
    ];
    columns.extend((0..BINS).map(|bin| count(&|r| u64::from(r.activity.0[bin]))));
    columns.extend((0..BINS).map(|bin| count(&|r| u64::from(r.memory.0[bin]))));
    Ok(RecordBatch::try_new(schema::usage(), columns)?)
}

/// Rows of files, one after the other, in the order in which they were written.
pub(crate) struct TableReader {
    paths: std::vec::IntoIter<PathBuf>,
    reader: Option<(PathBuf, ParquetRecordBatchReader)>,
    rows: VecDeque<HourRow>,
}

impl TableReader {
    pub(crate) fn open(paths: Vec<PathBuf>) -> Self {
        Self {
            paths: paths.into_iter(),
            reader: None,
            rows: VecDeque::new(),
        }
    }

    /// The next row, left where it is.
    pub(crate) fn peek(&mut self) -> Result<Option<&HourRow>, StoreError> {
        while self.rows.is_empty() {
            if self.reader.is_none() {
                let Some(path) = self.paths.next() else {
                    return Ok(None);
                };
                self.reader = Some((path.clone(), reader(&path)?));
            }
            let Some((path, reader)) = &mut self.reader else {
                return Ok(None);
            };
            match reader.next() {
                None => self.reader = None,
                Some(batch) => {
                    let rows = batch.map_err(|e| e.to_string()).and_then(|batch| rows(&batch));
                    self.rows.extend(rows.map_err(|why| StoreError::damaged(path, why))?);
                }
            }
        }
        Ok(self.rows.front())
    }

    /// The next row.
    pub(crate) fn next(&mut self) -> Result<Option<HourRow>, StoreError> {
        self.peek()?;
        Ok(self.rows.pop_front())
    }
}

fn reader(path: &Path) -> Result<ParquetRecordBatchReader, StoreError> {
    let file = File::open(path).map_err(StoreError::io(path))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| StoreError::damaged(path, e))?;
    builder
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(|e| StoreError::damaged(path, e))
}

/// Columns as rows.
fn rows(batch: &RecordBatch) -> Result<Vec<HourRow>, String> {
    let columns = Columns::of(batch)?;
    let mut texts = Texts::default();
    Ok((0..batch.num_rows()).map(|at| columns.row(at, &mut texts)).collect())
}

/// The last text of each column: neighbours are mostly the same.
#[derive(Default)]
struct Texts([Option<Arc<str>>; 6]);

impl Texts {
    fn get(&mut self, column: usize, text: &str) -> Arc<str> {
        let slot = &mut self.0[column];
        match slot {
            Some(known) if **known == *text => Arc::clone(known),
            _ => Arc::clone(slot.insert(Arc::from(text))),
        }
    }
}

struct Columns<'a> {
    texts: [&'a StringArray; 6],
    hour: &'a TimestampMicrosecondArray,
    activity_metric: &'a StringArray,
    numbers: [&'a Int64Array; 10],
    activity: Vec<&'a Int64Array>,
    memory: Vec<&'a Int64Array>,
}

const TEXTS: [&str; 6] = [
    "x_Host",
    "x_Gpu",
    "x_MigInstance",
    "x_MigProfile",
    "x_GpuModel",
    "x_Namespace",
];
const NUMBERS: [&str; 10] = [
    "x_ActivityMicroSeconds",
    "x_LongestIdleSeconds",
    "x_MemoryTotalMib",
    "x_MemoryUsedMaxMib",
    "x_PowerMilliWattSeconds",
    "x_PowerSeconds",
    "x_PowerMaxMilliWatt",
    "x_FirstSample",
    "x_LastSample",
    "x_SampleMinutes",
];

impl<'a> Columns<'a> {
    fn of(batch: &'a RecordBatch) -> Result<Self, String> {
        let text = |name: &str| {
            let column = batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>());
            column.ok_or_else(|| format!("has no text column {name}"))
        };
        let bins = |name: fn(usize) -> String| -> Result<Vec<_>, String> {
            (0..BINS).map(|bin| numbers::<Int64Type>(batch, &name(bin))).collect()
        };
        Ok(Self {
            texts: all(TEXTS.map(text))?,
            hour: numbers::<TimestampMicrosecondType>(batch, "x_Hour")?,
            activity_metric: text("x_ActivityMetric")?,
            numbers: all(NUMBERS.map(|name| numbers::<Int64Type>(batch, name)))?,
            activity: bins(activity_bin)?,
            memory: bins(memory_bin)?,
        })
    }

    fn row(&self, at: usize, texts: &mut Texts) -> HourRow {
        let mut text = |column: usize| texts.get(column, value(self.texts[column], at));
        let [host, gpu, mig_instance, mig_profile, gpu_model, namespace] = std::array::from_fn(&mut text);
        let number = |column: usize| {
            Some(self.numbers[column])
                .filter(|c| c.is_valid(at))
                .map(|c| c.value(at))
        };
        let small = |column: usize| number(column).and_then(|n| u32::try_from(n).ok());
        let count = |column: usize| number(column).map_or(0, |n| n as u64);
        HourRow {
            key: Key {
                host,
                gpu,
                mig_instance,
                hour: self.hour.value(at).div_euclid(HOUR_SECONDS * MICROSECONDS),
            },
            mig_profile,
            gpu_model,
            namespace,
            activity_metric: ActivityMetric::parse(value(self.activity_metric, at)),
            activity: histogram(&self.activity, at),
            activity_micro_seconds: count(0),
            longest_idle_seconds: small(1).unwrap_or(0),
            memory: histogram(&self.memory, at),
            memory_total_mib: small(2),
            memory_used_max_mib: small(3),
            power_milliwatt_seconds: count(4),
            power_seconds: small(5).unwrap_or(0),
            power_max_milliwatts: small(6),
            first: number(7).unwrap_or(i64::MAX),
            last: number(8).unwrap_or(i64::MIN),
            minutes: count(9),
        }
    }
}

/// All of them, or the first error.
fn all<T, const N: usize>(found: [Result<T, String>; N]) -> Result<[T; N], String> {
    let found: Vec<T> = found.into_iter().collect::<Result<_, _>>()?;
    found.try_into().map_err(|_| "a column was lost".to_owned())
}

fn numbers<'a, T: ArrowPrimitiveType>(batch: &'a RecordBatch, name: &str) -> Result<&'a PrimitiveArray<T>, String> {
    let column = batch.column_by_name(name).and_then(|c| c.as_primitive_opt::<T>());
    column.ok_or_else(|| format!("has no column {name} of numbers"))
}

fn value(column: &StringArray, at: usize) -> &str {
    if column.is_valid(at) { column.value(at) } else { "" }
}

fn histogram(columns: &[&Int64Array], at: usize) -> Histogram {
    Histogram(std::array::from_fn(|bin| {
        u32::try_from(columns[bin].value(at)).unwrap_or(0)
    }))
}

#[cfg(test)]
pub(crate) mod tests;
