//! FOCUS Cost and Usage, 1.0 to 1.4, from CSV and Parquet.

pub(crate) mod absent;
mod cells;

use std::collections::BTreeSet;

use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use lowwater_model::money::Decimal;

use self::cells::Cells;
use super::{BillSink, Decode, Format, Head};
use crate::csv::{Limits, RecordReader, Row};
use crate::error::{InputError, StoreError};
use crate::input::{Input, without_panics};
use crate::load::Reject;
use crate::schema;

/// The FinOps Open Cost and Usage Specification.
pub const FORMAT: Format = Format {
    name: "focus",
    title: "FOCUS Cost and Usage, versions 1.0 to 1.4 (CSV, CSV.gz, CSV.zst, Parquet)",
    doc: "Columns are matched by header, in any order and case; `ChargePeriodStart` and one of `BilledCost` and \
          `EffectiveCost` must be there. The provider is `ServiceProviderName`, else `ProviderName`, else `--provider`. \
          Columns that FOCUS does not have are kept as `x_` columns of text. \
          Forgiven, with a warning: the text `NULL` for null, times without `T` or `Z` (UTC, or the zone of `--tz`), \
          values in another case than FOCUS has (`Usage-based`), a missing billing period (the month of the charge) or \
          account (`unknown`), an empty currency (that of the other charges), a quantity or price that is no number \
          (unknown), tags in Azure's or Python's form. The billing month is that of BillingPeriodStart \
          as written, whatever its offset. \
          An empty cost is unknown, never 0. \
          Rejected, with the money at stake: a cost that is no number, a charge period that can't be read or ends \
          before it begins, a row that does not fit the header or is not UTF-8. \
          Refused: more than one billing currency in a directory, a currency that is no code of three letters, and more \
          than 4096 accounts and months in one load (load it in parts).",
    detects,
    decode: Decode::Bill(decode),
};

/// Columns without which a file is not a bill; of the costs one is enough.
const PERIOD: &str = "ChargePeriodStart";
const COSTS: &[&str] = &["BilledCost", "EffectiveCost"];
/// Columns that every version of FOCUS has and that answers are poorer without.
const EXPECTED: &[&str] = &[
    "BilledCost",
    "BillingAccountId",
    "BillingCurrency",
    "BillingPeriodStart",
    "ChargeCategory",
    "ChargePeriodEnd",
    "EffectiveCost",
    "ListCost",
    "PricingCategory",
    "ResourceId",
    "ServiceCategory",
    "ServiceName",
    "Tags",
];
const PARQUET_BATCH_ROWS: usize = 8192;

fn detects(head: &Head<'_>) -> bool {
    let names: BTreeSet<&str> = if let Some(columns) = head.parquet_columns {
        columns.iter().filter_map(|name| focus_id(name)).collect()
    } else {
        let names = head.first_line().split([',', ';', '\t']);
        names.filter_map(|name| focus_id(name.trim().trim_matches('"'))).collect()
    };
    names.contains(PERIOD) && COSTS.iter().any(|cost| names.contains(cost))
}

/// The FOCUS id that a header means; case, spaces and underscores do not matter.
fn focus_id(header: &str) -> Option<&'static str> {
    let letters = |text: &str| text.replace([' ', '_'], "").to_ascii_lowercase();
    let header = letters(header);
    schema::FOCUS.iter().map(|column| column.name).find(|name| letters(name) == header)
}

fn decode(input: &mut Input, sink: &mut dyn BillSink) -> Result<(), StoreError> {
    if input.is_parquet() {
        decode_parquet(input, sink)
    } else {
        decode_csv(input, sink)
    }
}

/// Names of the columns as the sink wants them; a FOCUS column that stands twice has no meaning.
fn columns(header: &[String], file: &str, sink: &mut dyn BillSink) -> Result<(), StoreError> {
    let names: Vec<String> = header
        .iter()
        .map(|name| focus_id(name).map_or_else(|| name.clone(), str::to_owned))
        .collect();
    let mut seen = BTreeSet::new();
    let is_focus = |name: &str| schema::FOCUS.iter().any(|column| column.name == name);
    if let Some(twice) = names.iter().find(|name| is_focus(name) && !seen.insert(name.as_str())) {
        let error = InputError::new(file, format!("the column {twice} stands twice in the header"));
        return Err(error.hint("rename or remove one of them").into());
    }
    if let Some(error) = absent::absent(header, file) {
        return Err(error.into());
    }
    let missing: Vec<&str> = EXPECTED.iter().copied().filter(|name| !seen.contains(name)).collect();
    if !missing.is_empty() {
        sink.warn(format!("the file has no column {}", missing.join(", ")));
    }
    sink.columns(&names)
}

const NULL_WARNING: &str = "the text `NULL` is read as null";

/// A cell as FOCUS means it: empty and `NULL` are null.
fn cell<'a>(text: &'a str, saw_null: &mut bool) -> Option<&'a str> {
    match text {
        "" => None,
        "NULL" | "null" => {
            *saw_null = true;
            None
        }
        text => Some(text),
    }
}

fn decode_csv(input: &mut Input, sink: &mut dyn BillSink) -> Result<(), StoreError> {
    let file = input.name().to_owned();
    let mut reader = RecordReader::new(input, Limits::default())?;
    columns(reader.header(), &file, sink)?;
    let mut saw_null = false;
    while let Some(row) = reader.read()? {
        match row {
            Row::Good(record) => {
                let fields: Vec<Option<&str>> = record.fields().map(|text| cell(text, &mut saw_null)).collect();
                sink.row(record.number, &fields)?;
            }
            Row::Bad(bad) => sink.reject(Reject {
                file: file.clone(),
                row: bad.number,
                column: bad.column,
                value: bad.value,
                reason: bad.reason,
                at_stake: None,
                of_bill: true,
            }),
        }
    }
    if saw_null {
        sink.warn(NULL_WARNING.into());
    }
    Ok(())
}

/// The money of a row that can't be read: its BilledCost, where that can.
fn at_stake(header: &[String], columns: &[Cells], row: usize) -> Option<String> {
    let at = header.iter().position(|name| focus_id(name) == Some("BilledCost"))?;
    let text = columns[at].get(row).ok()??;
    Decimal::parse(text).is_ok().then(|| text.to_owned())
}

fn decode_parquet(input: &mut Input, sink: &mut dyn BillSink) -> Result<(), StoreError> {
    let name = input.name().to_owned();
    without_panics(&name, || decode_batches(input, sink))?
}

fn decode_batches(input: &mut Input, sink: &mut dyn BillSink) -> Result<(), StoreError> {
    let damaged = |e: &dyn std::fmt::Display| {
        let error = InputError::new(input.name(), format!("the Parquet data is damaged: {e}"));
        StoreError::from(error.hint("copy or download the file again; nothing of it was kept"))
    };
    let options = cells::options(&input.file()?).map_err(|e| damaged(&e))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(input.file()?, options).map_err(|e| damaged(&e))?;
    let total = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0).max(1);
    let reader = builder.with_batch_size(PARQUET_BATCH_ROWS).build().map_err(|e| damaged(&e))?;
    let header: Vec<String> = input.head().parquet_columns.unwrap_or_default().to_vec();
    columns(&header, input.name(), sink)?;
    let (counter, size) = (input.counter(), input.size());
    let mut saw_null = false;
    let mut number = 0;
    for batch in reader {
        let batch = batch.map_err(|e| damaged(&e))?;
        let columns = batch.columns().iter().map(Cells::of).collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            number += 1;
            let fields: Result<Vec<Option<&str>>, (usize, &str)> = columns
                .iter()
                .enumerate()
                .map(|(at, column)| match column.get(row) {
                    Ok(text) => Ok(text.and_then(|text| cell(text, &mut saw_null))),
                    Err(shown) => Err((at, shown)),
                })
                .collect();
            match fields {
                Ok(fields) => sink.row(number, &fields)?,
                Err((at, shown)) => sink.reject(Reject {
                    file: input.name().to_owned(),
                    row: number,
                    column: header[at].clone(),
                    value: shown.chars().take(200).collect(),
                    reason: "is not UTF-8".into(),
                    at_stake: at_stake(&header, &columns, row),
                    of_bill: true,
                }),
            }
        }
        let share = u128::from(size) * u128::from(number) / u128::from(total);
        counter.store(share as u64, std::sync::atomic::Ordering::Relaxed);
    }
    if saw_null {
        sink.warn(NULL_WARNING.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
