//! Tables as Parquet files, column by column, on as many threads as there are cores.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{ArrayRef, Int64Array, StringArray, TimestampMicrosecondArray, new_null_array};
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves,
};
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::properties::WriterProperties;

use super::column::{Column, money};
use crate::error::StoreError;
use crate::schema::Kind;

/// Rows that are made into one Arrow array at a time.
const BATCH_ROWS: usize = 16 * 1024;
/// Below this many rows threads cost more than they bring.
const SMALL_ROWS: usize = 8 * 1024;
/// Below this many rows a column is not compressed: to begin with it costs more than there is to win.
const COMPRESSED_ROWS: usize = 256;

/// A column of a file with what fills it.
pub(crate) struct Output<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// What it holds.
    pub(crate) kind: Kind,
    /// Its values.
    pub(crate) values: Values<'a>,
}

/// What fills a column.
pub(crate) enum Values<'a> {
    /// Nothing.
    Null,
    /// The same text in every row.
    Constant(&'a str),
    /// Texts, one a row.
    Texts(Vec<Option<&'a str>>),
    /// These rows of a column.
    Rows(&'a Column, &'a [u32]),
    /// Sums in 10^-12.
    Sums(&'a [Option<i128>]),
    /// Numbers in 10^-12 that nobody else holds.
    Decimals(Vec<Option<i128>>),
    /// Counts.
    Counts(&'a [i64]),
    /// Counts that nobody else holds.
    Numbers(Vec<i64>),
    /// Counts and flags, or instants in microseconds, some unknown.
    Integers(Vec<Option<i64>>),
}

impl Output<'_> {
    fn array(&self, from: usize, to: usize) -> ArrayRef {
        match &self.values {
            Values::Null => new_null_array(&self.kind.data_type(), to - from),
            Values::Constant(text) => Arc::new(StringArray::from_iter_values((from..to).map(|_| text))),
            Values::Texts(texts) => Arc::new(texts[from..to].iter().collect::<StringArray>()),
            Values::Rows(column, rows) => column.array(self.kind, &rows[from..to]),
            Values::Sums(sums) => money(sums[from..to].iter().copied()),
            Values::Decimals(numbers) => money(numbers[from..to].iter().copied()),
            Values::Numbers(numbers) => Arc::new(Int64Array::from(numbers[from..to].to_vec())),
            Values::Integers(numbers) => integers(self.kind, &numbers[from..to]),
            Values::Counts(counts) => Arc::new(Int64Array::from(counts[from..to].to_vec())),
        }
    }

    fn encode(&self, rows: usize, mut writer: ArrowColumnWriter, path: &Path) -> Result<ArrowColumnChunk, StoreError> {
        let field = Field::new(self.name, self.kind.data_type(), true);
        for from in (0..rows).step_by(BATCH_ROWS) {
            let array = self.array(from, rows.min(from + BATCH_ROWS));
            for leaf in compute_leaves(&field, &array).map_err(parquet(path))? {
                writer.write(&leaf).map_err(parquet(path))?;
            }
        }
        writer.close().map_err(parquet(path))
    }
}

fn integers(kind: Kind, numbers: &[Option<i64>]) -> ArrayRef {
    match kind {
        Kind::Time => Arc::new(TimestampMicrosecondArray::from(numbers.to_vec()).with_timezone("UTC")),
        _ => Arc::new(Int64Array::from(numbers.to_vec())),
    }
}

/// Writes a table. Texts are plain, without a schema of Arrow's own: so they are read fastest.
pub(crate) fn write(path: &Path, columns: &[Output<'_>], rows: usize) -> Result<(), StoreError> {
    let fields = columns.iter().map(|c| Field::new(c.name, c.kind.data_type(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let compression = match rows {
        0..COMPRESSED_ROWS => Compression::UNCOMPRESSED,
        _ => Compression::ZSTD(ZstdLevel::try_new(3).map_err(parquet(path))?),
    };
    let properties = WriterProperties::builder().set_compression(compression).build();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let file = File::create(path).map_err(StoreError::io(path))?;
    let writer = ArrowWriter::try_new_with_options(file, schema, options).map_err(parquet(path))?;
    let (mut writer, factory) = writer.into_serialized_writer().map_err(parquet(path))?;
    if rows > 0 {
        let chunks = encode_all(columns, rows, &factory, path)?;
        let mut group = writer.next_row_group().map_err(parquet(path))?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut group).map_err(parquet(path))?;
        }
        group.close().map_err(parquet(path))?;
    }
    writer.close().map_err(parquet(path))?;
    Ok(())
}

/// A column whose turn it is.
type Job = (usize, ArrowColumnWriter);

fn encode_all(
    columns: &[Output<'_>],
    rows: usize,
    factory: &ArrowRowGroupWriterFactory,
    path: &Path,
) -> Result<Vec<ArrowColumnChunk>, StoreError> {
    let writers = factory.create_column_writers(0).map_err(parquet(path))?;
    if rows < SMALL_ROWS {
        let pairs = columns.iter().zip(writers);
        return pairs
            .map(|(column, writer)| column.encode(rows, writer, path))
            .collect();
    }
    let jobs: Mutex<Vec<Job>> = Mutex::new(writers.into_iter().enumerate().collect());
    let done = Mutex::new(Vec::with_capacity(columns.len()));
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((at, writer)) = next(&jobs) {
                    let chunk = columns[at].encode(rows, writer, path);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, chunk));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, chunk)| chunk).collect()
}

fn next(jobs: &Mutex<Vec<Job>>) -> Option<Job> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner).pop()
}

/// For `map_err`: a full disk is the file system's fault, all else ours.
pub(crate) fn parquet(path: &Path) -> impl Fn(ParquetError) -> StoreError {
    let path = path.to_owned();
    move |error| match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => StoreError::Io {
                path: path.clone(),
                source: *source,
            },
            Err(other) => StoreError::Query(format!("{}: {other}", path.display())),
        },
        other => StoreError::Query(format!("{}: {other}", path.display())),
    }
}
