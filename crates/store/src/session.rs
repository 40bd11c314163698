//! The only maker of a DataFusion session, and plain access to what its queries return.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Int64Type, SchemaRef, TimestampMicrosecondType};
use datafusion::datasource::MemTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::DataFusionError;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use lowwater_model::money::Money;
use lowwater_model::period::Hour;

use crate::error::StoreError;
use crate::input::without_panics;

/// Queries over one pinned version of the store.
pub struct Session {
    runtime: tokio::runtime::Runtime,
    context: SessionContext,
    /// Every file that a query may read.
    files: Mutex<BTreeSet<PathBuf>>,
}

impl Session {
    /// A session with no tables.
    pub fn new() -> Result<Self, StoreError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(cores())
            .build()
            .map_err(StoreError::io(Path::new("runtime")))?;
        let pool = TrackConsumersPool::new(FairSpillPool::new(memory_bytes()), std::num::NonZeroUsize::MIN);
        let environment = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(pool))
            .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(DiskManagerMode::OsTmpDirectory))
            .build_arc()?;
        Ok(Self {
            runtime,
            context: SessionContext::new_with_config_rt(config(), environment),
            files: Mutex::default(),
        })
    }

    /// Registers Parquet files as a table. Columns that a file lacks are null.
    pub fn register_files(&self, name: &str, schema: SchemaRef, files: &[PathBuf]) -> Result<(), StoreError> {
        if files.is_empty() {
            return self.register_rows(name, schema, Vec::new());
        }
        self.files().extend(files.iter().cloned());
        let urls = files
            .iter()
            .map(|f| ListingTableUrl::parse(url_text(f)))
            .collect::<Result<Vec<_>, _>>()?;
        let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension("parquet");
        let config = ListingTableConfig::new_with_multi_paths(urls)
            .with_listing_options(options)
            .with_schema(schema);
        self.context
            .register_table(name, Arc::new(ListingTable::try_new(config)?))?;
        Ok(())
    }

    fn files(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers rows in memory as a table, over one of that name.
    pub fn register_rows(&self, name: &str, schema: SchemaRef, rows: Vec<RecordBatch>) -> Result<(), StoreError> {
        let table = MemTable::try_new(schema, vec![rows])?;
        self.context.deregister_table(name)?;
        self.context.register_table(name, Arc::new(table))?;
        Ok(())
    }

    /// Runs a query and registers its rows as a table.
    pub fn keep_rows(&self, name: &str, sql: &str) -> Result<(), StoreError> {
        let (schema, rows) = self.run(async {
            let frame = self.context.sql(sql).await?;
            let schema = Arc::new(frame.schema().as_arrow().clone());
            Ok((schema, frame.collect().await?))
        })?;
        self.register_rows(name, schema, rows)
    }

    /// Makes a view from the text of a file under `sql/`.
    pub fn create_view(&self, name: &str, sql: &str) -> Result<(), StoreError> {
        self.query(&format!("CREATE OR REPLACE VIEW {name} AS {sql}")).map(drop)
    }

    /// Runs a query to its end.
    pub fn query(&self, sql: &str) -> Result<Rows, StoreError> {
        Rows::new(self.run(async { self.context.sql(sql).await?.collect().await })?)
    }

    /// Runs to the end. Where that fails because a file is damaged, the error is about the file.
    fn run<T>(&self, query: impl Future<Output = Result<T, DataFusionError>>) -> Result<T, StoreError> {
        // A file that is gone or empty would be left out, and the answer smaller.
        let is_nothing = |file: &&PathBuf| std::fs::metadata(file).map_or(0, |m| m.len()) == 0;
        if let Some(nothing) = self.files().iter().find(is_nothing) {
            return Err(StoreError::damaged(nothing, "it is gone or empty"));
        }
        let outcome = without_panics("store", || self.runtime.block_on(query));
        let error = match outcome {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => error.into(),
            Err(panic) => panic,
        };
        let files = self.files();
        Err(files.iter().find_map(|file| damage(file)).unwrap_or(error))
    }
}

/// What is wrong with a file of the store: every page of it is read.
fn damage(path: &Path) -> Option<StoreError> {
    let read = || -> Result<(), String> {
        let file = std::fs::File::open(path).map_err(|e| e.to_string())?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| e.to_string())?;
        let mut batches = builder.build().map_err(|e| e.to_string())?;
        batches.try_for_each(|batch| batch.map(drop).map_err(|e| e.to_string()))
    };
    let outcome = without_panics("store", read).unwrap_or_else(|_| Err("its pages can't be decoded".into()));
    outcome.err().map(|why| StoreError::damaged(path, why))
}

fn config() -> SessionConfig {
    let mut config = SessionConfig::new()
        .with_target_partitions(cores())
        .with_information_schema(false);
    let options = config.options_mut();
    options.execution.parquet.pushdown_filters = true;
    options.execution.parquet.reorder_filters = true;
    // Without this a literal such as 0.65 makes floats out of money.
    options.sql_parser.parse_float_as_decimal = true;
    options.sql_parser.enable_ident_normalization = false;
    config
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Three fifths of the machine's memory, so that queries spill before the system swaps; 2 GiB where it is not known.
fn memory_bytes() -> usize {
    let total_kib = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<usize>().ok()
    });
    total_kib.map_or(2 << 30, |kib| kib / 5 * 3 * 1024)
}

/// A file as a URL: percent signs and globs in names would be read as such otherwise.
fn url_text(file: &Path) -> String {
    let mut out = String::from("file://");
    for byte in file.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'=' => out.push(*byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// What a query returned, with plain access by column name and row.
pub struct Rows {
    batches: Vec<RecordBatch>,
}

impl Rows {
    /// Strings of any form become plain ones, so that there is one way to read them.
    fn new(batches: Vec<RecordBatch>) -> Result<Self, StoreError> {
        let plain = |batch: RecordBatch| -> Result<RecordBatch, StoreError> {
            let columns = batch.columns().iter().map(|c| match c.data_type() {
                DataType::Utf8View | DataType::LargeUtf8 | DataType::Dictionary(_, _) => cast(c, &DataType::Utf8),
                DataType::UInt64 | DataType::Int32 => cast(c, &DataType::Int64),
                _ => Ok(Arc::clone(c)),
            });
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            let names = batch
                .schema()
                .fields()
                .iter()
                .map(|f| f.name().clone())
                .collect::<Vec<_>>();
            Ok(RecordBatch::try_from_iter_with_nullable(
                names.iter().zip(columns).map(|(n, c)| (n, c, true)),
            )?)
        };
        Ok(Self {
            batches: batches.into_iter().map(plain).collect::<Result<_, _>>()?,
        })
    }

    /// Every row, in order.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        self.batches
            .iter()
            .flat_map(|batch| (0..batch.num_rows()).map(move |row| Row { batch, row }))
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One row of [`Rows`]. A column that does not exist or has another type is a fault of ours and reads as null in release.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    batch: &'a RecordBatch,
    row: usize,
}

impl<'a> Row<'a> {
    fn column(&self, name: &str) -> Option<&'a dyn Array> {
        let column = self.batch.column_by_name(name);
        debug_assert!(column.is_some(), "no column {name} in {:?}", self.batch.schema());
        column.map(AsRef::as_ref).filter(|c| !c.is_null(self.row))
    }

    /// The Arrow type of a column, for tests of exactness.
    #[cfg(test)]
    pub fn type_of(&self, name: &str) -> DataType {
        self.batch
            .column_by_name(name)
            .map_or(DataType::Null, |c| c.data_type().clone())
    }

    /// Text.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.column(name)?.as_string_opt::<i32>().map(|a| a.value(self.row))
    }

    /// Text, empty for null.
    pub fn text_or_empty(&self, name: &str) -> &'a str {
        self.text(name).unwrap_or_default()
    }

    /// Money or another number with twelve digits.
    pub fn money(&self, name: &str) -> Option<Money> {
        let column = self.column(name)?.as_primitive_opt::<Decimal128Type>()?;
        debug_assert_eq!(column.scale(), 12, "{name}");
        Some(Money::from_units(column.value(self.row)))
    }

    /// Money, zero for null: for sums over no rows.
    pub fn money_or_zero(&self, name: &str) -> Money {
        self.money(name).unwrap_or(Money::ZERO)
    }

    /// A quantity that is stored like money.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.money(name).map(|m| m.estimate().amount())
    }

    /// A whole number.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.column(name)?
            .as_primitive_opt::<Int64Type>()
            .map(|a| a.value(self.row))
    }

    /// Yes or no; null is no.
    pub fn bool(&self, name: &str) -> bool {
        self.column(name)
            .and_then(AsArray::as_boolean_opt)
            .is_some_and(|a| a.value(self.row))
    }

    /// An instant in epoch seconds.
    pub fn second(&self, name: &str) -> Option<i64> {
        let column = self.column(name)?.as_primitive_opt::<TimestampMicrosecondType>()?;
        Some(column.value(self.row).div_euclid(1_000_000))
    }

    /// The hour of an instant.
    pub fn hour(&self, name: &str) -> Option<Hour> {
        self.second(name).map(|s| Hour(s.div_euclid(3600)))
    }
}
