//! Rows that were not kept, read back.

use std::fs::File;
use std::path::Path;

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use lowwater_model::money::{Decimal, Money};

use super::Reject;
use super::units::without_sign;
use super::write::{Output, Values, write};
use crate::error::StoreError;
use crate::layout::{RejectedMoney, Snapshot};
use crate::schema;

/// A row on its way to the rejects.
#[derive(Debug)]
pub(crate) struct Rejected {
    pub(crate) reject: Reject,
    /// Where its month could be read.
    pub(crate) unit: Option<usize>,
}

/// What stands after the reason where BilledCost can't be read and another cost can.
pub(crate) fn other_cost(column: &str, text: &str) -> String {
    format!("; its {column} is {text}")
}

/// The rejected rows of a unit, with their money.
#[derive(Debug, Default)]
pub(crate) struct RejectedRows {
    pub(crate) rows: Vec<Reject>,
    pub(crate) money: RejectedMoney,
    gross: Money,
}

impl RejectedRows {
    pub(crate) fn push(&mut self, reject: Reject) {
        let billed = reject.at_stake.as_deref().and_then(|text| Decimal::parse(text).ok());
        self.rows.push(reject);
        match billed {
            None => self.money.unknown += 1,
            Some(billed) => {
                self.money.billed.add(billed);
                self.gross += without_sign(billed.money);
            }
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.rows.len() as u64
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Reject> {
        self.rows.iter()
    }

    /// BilledCost without sign, where it is known.
    pub(crate) fn gross_billed(&self) -> Money {
        self.gross
    }

    /// What they hold, because the totals of the unit are those of its kept rows.
    pub(crate) fn warning(&self) -> String {
        let rows = match self.count() {
            1 => "1 row was".to_owned(),
            many => format!("{many} rows were"),
        };
        let money = match self.money.unknown {
            unknown if unknown == self.count() => "an unknown BilledCost".to_owned(),
            0 => format!("{} of BilledCost", self.money.billed.file_text()),
            unknown => format!(
                "{} of BilledCost, and an unknown amount in {unknown} of them",
                self.money.billed.file_text()
            ),
        };
        format!("{rows} rejected with {money}: not in these totals; see `lowwater rejects`")
    }
}

/// Every rejected row of a version, in order of unit and row.
pub fn rejects(snapshot: &Snapshot) -> Result<Vec<Reject>, StoreError> {
    let mut out = Vec::new();
    let bills = snapshot
        .manifest()
        .bills
        .values()
        .filter_map(|unit| unit.files.get("rejects"));
    let bills: usize = bills.map(Vec::len).sum();
    // Files stand in the order of their units, those of bills first.
    for (at, path) in snapshot.files("rejects").into_iter().enumerate() {
        let damaged = |why: &dyn std::fmt::Display| StoreError::damaged(&path, why);
        let file = File::open(&path).map_err(StoreError::io(&path))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| damaged(&e))?;
        for batch in builder.build().map_err(|e| damaged(&e))? {
            read(&batch.map_err(|e| damaged(&e))?, at < bills, &mut out);
        }
    }
    Ok(out)
}

/// Writes rejected rows of a unit: its source, account and month (or day).
pub(crate) fn write_rejects(
    path: &Path,
    (source, account, month): (&str, &str, &str),
    rejects: &[Reject],
) -> Result<(), StoreError> {
    let texts = |text: fn(&Reject) -> Option<&str>| Values::Texts(rejects.iter().map(text).collect());
    let columns = schema::REJECTS.iter().map(|column| Output {
        name: column.name,
        kind: column.kind,
        values: match column.name {
            "x_Source" => Values::Constant(source),
            "x_Account" => Values::Constant(account),
            "x_Month" => Values::Constant(month),
            "file" => texts(|r| Some(&r.file)),
            "column" => texts(|r| Some(&r.column)),
            "value" => texts(|r| Some(&r.value)),
            "reason" => texts(|r| Some(&r.reason)),
            "at_stake" => texts(|r| r.at_stake.as_deref()),
            "row" => Values::Numbers(rejects.iter().map(|r| r.row as i64).collect()),
            _ => Values::Null,
        },
    });
    write(path, &columns.collect::<Vec<_>>(), rejects.len())
}

fn read(batch: &RecordBatch, of_bill: bool, out: &mut Vec<Reject>) {
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
            of_bill,
        });
    }
}
