//! Columns of a Parquet batch as text: what is text is not copied, the rest is written out exactly.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::fs::File;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, MapArray, StringArray, StringBuilder, StringViewArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use datafusion::parquet::errors::Result as ParquetResult;
use jiff::Timestamp;

use crate::error::StoreError;

/// Texts are read as views into the pages of the file.
pub(super) fn options(file: &File) -> ParquetResult<ArrowReaderOptions> {
    let plain = || ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = ArrowReaderMetadata::load(file, plain())?;
    let fields = metadata.schema().fields().iter().map(|field| match field.data_type() {
        DataType::Utf8 => Arc::new(Field::new(field.name(), DataType::Utf8View, field.is_nullable())),
        _ => Arc::clone(field),
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    Ok(ArrowReaderOptions::new().with_skip_arrow_metadata(true).with_schema(schema))
}

/// The texts of a column of a batch.
pub(super) struct Cells {
    texts: Texts,
    /// Rows whose value is no text, with what can be shown of it.
    unreadable: Unreadable,
}

enum Texts {
    View(StringViewArray),
    Plain(StringArray),
}

/// Rows whose bytes are no UTF-8, with the nearest text.
type Unreadable = BTreeMap<usize, String>;

impl Cells {
    /// Of any column that a bill may have.
    pub(super) fn of(array: &ArrayRef) -> Result<Self, StoreError> {
        let mut unreadable = Unreadable::new();
        let texts = match array.data_type() {
            DataType::Utf8View => Texts::View(array.as_string_view().clone()),
            DataType::Utf8 => Texts::Plain(array.as_string().clone()),
            DataType::Decimal128(_, scale) if *scale >= 0 => {
                Texts::Plain(decimals(array.as_primitive(), *scale as usize))
            }
            DataType::Timestamp(unit, zone) => Texts::Plain(instants(array, *unit, zone.is_some())?),
            DataType::Map(..) => Texts::Plain(maps(array.as_map(), &mut unreadable)?),
            DataType::Struct(_) | DataType::List(_) | DataType::LargeList(_) => Texts::Plain(nested(array)?),
            // Float64 becomes the shortest text that reads back as the same number.
            _ => Texts::Plain(plain(array, &mut unreadable)?),
        };
        Ok(Self { texts, unreadable })
    }

    /// The text of a row; the error is what can be shown of a value that is no text.
    pub(super) fn get(&self, row: usize) -> Result<Option<&str>, &str> {
        if let Some(shown) = self.unreadable.get(&row) {
            return Err(shown);
        }
        Ok(match &self.texts {
            Texts::View(array) => (!array.is_null(row)).then(|| array.value(row)),
            Texts::Plain(array) => (!array.is_null(row)).then(|| array.value(row)),
        })
    }
}

/// As text. Bytes that are no UTF-8 would become null: they are told instead.
fn plain(array: &ArrayRef, unreadable: &mut Unreadable) -> Result<StringArray, StoreError> {
    let array = match array.data_type() {
        DataType::FixedSizeBinary(_) => &cast(array, &DataType::Binary)?,
        _ => array,
    };
    let texts = cast(array, &DataType::Utf8)?;
    if texts.null_count() > array.logical_null_count() {
        let bytes = cast(array, &DataType::LargeBinary)?;
        for row in (0..array.len()).filter(|row| texts.is_null(*row) && !bytes.is_null(*row)) {
            let shown = String::from_utf8_lossy(bytes.as_binary::<i64>().value(row)).into_owned();
            unreadable.insert(row, shown);
        }
    }
    Ok(texts.as_string().clone())
}

/// All digits of decimals.
fn decimals(array: &Decimal128Array, scale: usize) -> StringArray {
    let mut out = StringBuilder::with_capacity(array.len(), array.len() * 20);
    let mut text = String::new();
    let unit = 10_u128.checked_pow(scale as u32).unwrap_or(u128::MAX);
    for value in array {
        let Some(value) = value else {
            out.append_null();
            continue;
        };
        text.clear();
        let sign = if value < 0 { "-" } else { "" };
        let (whole, fraction) = (value.unsigned_abs() / unit, value.unsigned_abs() % unit);
        // Writing to a String does not fail.
        let _ = match (u64::try_from(whole), u64::try_from(fraction)) {
            _ if scale == 0 => write!(text, "{sign}{whole}"),
            (Ok(whole), Ok(fraction)) => write!(text, "{sign}{whole}.{fraction:0scale$}"),
            _ => write!(text, "{sign}{whole}.{fraction:0scale$}"),
        };
        out.append_value(&text);
    }
    out.finish()
}

/// Instants in ISO 8601: with `Z` where the file says that they are UTC.
fn instants(array: &ArrayRef, unit: TimeUnit, zoned: bool) -> Result<StringArray, StoreError> {
    let nanos = cast(array, &DataType::Int64)?;
    let per_second: i128 = match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    };
    let mut texts: HashMap<i64, String> = HashMap::new();
    let mut out = StringBuilder::with_capacity(array.len(), array.len() * 20);
    for value in nanos.as_primitive::<datafusion::arrow::datatypes::Int64Type>() {
        let Some(value) = value else {
            out.append_null();
            continue;
        };
        let text = texts.entry(value).or_insert_with(|| {
            let nanos = i128::from(value) * (1_000_000_000 / per_second);
            let text = Timestamp::from_nanosecond(nanos).map_or_else(|_| value.to_string(), |at| at.to_string());
            if zoned { text } else { text.trim_end_matches('Z').to_owned() }
        });
        out.append_value(text);
    }
    Ok(out.finish())
}

/// Maps of text as JSON objects, as FOCUS writes tags.
fn maps(array: &MapArray, unreadable: &mut Unreadable) -> Result<StringArray, StoreError> {
    let mut wrong = Unreadable::new();
    let keys = plain(array.keys(), &mut wrong)?;
    let values = plain(array.values(), &mut wrong)?;
    let mut out = StringBuilder::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            out.append_null();
            continue;
        }
        let (from, to) = (array.value_offsets()[row] as usize, array.value_offsets()[row + 1] as usize);
        if let Some((_, shown)) = wrong.range(from..to).next() {
            unreadable.insert(row, shown.clone());
        }
        let object: serde_json::Map<String, serde_json::Value> = (from..to)
            .map(|at| {
                let value = (!values.is_null(at)).then(|| values.value(at));
                (keys.value(at).to_owned(), value.into())
            })
            .collect();
        out.append_value(serde_json::Value::Object(object).to_string());
    }
    Ok(out.finish())
}

/// Anything else, as Arrow shows it.
fn nested(array: &ArrayRef) -> Result<StringArray, StoreError> {
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(array.as_ref(), &options)?;
    let rows = (0..array.len()).map(|row| (!array.is_null(row)).then(|| formatter.value(row).to_string()));
    Ok(rows.collect())
}
