//! One month of one source in the writing: what is there and what is new, merged row by row.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::row::{HourRow, month_of};
use super::table::{TableReader, TableWriter};
use crate::error::StoreError;
use crate::layout::Transaction;

/// Rows of a file; a larger month takes several.
const FILE_ROWS: u64 = 2_000_000;

/// What a month came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub rows: u64,
    /// First and last sample, epoch seconds.
    pub first: i64,
    pub last: i64,
    /// Names of its files in the manifest.
    pub files: Vec<String>,
}

/// The months of one source in the writing, by name.
pub(crate) struct Months {
    source: String,
    /// Do the new rows take the place of what is there?
    replace: bool,
    writers: BTreeMap<String, MonthWriter>,
    /// The last day, since the epoch, and its month: to ask a calendar for every row is slow.
    last: (i64, String),
}

impl Months {
    pub(crate) fn new(source: &str, replace: bool) -> Self {
        Self {
            source: source.to_owned(),
            replace,
            writers: BTreeMap::new(),
            last: (i64::MIN, String::new()),
        }
    }

    /// Takes the next row; of each month in order of their keys.
    pub(crate) fn push(&mut self, row: HourRow, transaction: &mut Transaction) -> Result<(), StoreError> {
        let day = row.key.hour.div_euclid(24);
        if self.last.0 != day {
            self.last = (day, month_of(row.key.hour));
        }
        let month = &self.last.1;
        if !self.writers.contains_key(month) {
            let old = if self.replace {
                Vec::new()
            } else {
                self.old_files(month, transaction)
            };
            let writer = MonthWriter::new(&self.source, month, old);
            self.writers.insert(month.clone(), writer);
        }
        match self.writers.get_mut(month) {
            Some(writer) => writer.push(row, transaction),
            None => Ok(()),
        }
    }

    fn old_files(&self, month: &str, transaction: &Transaction) -> Vec<PathBuf> {
        let units = transaction.manifest.usage.values();
        let files = units
            .filter(|unit| unit.source == self.source && unit.month == month)
            .filter_map(|unit| unit.files.get("usage"))
            .flatten();
        files.map(|name| transaction.path(name)).collect()
    }

    /// Writes what is left of every month.
    pub(crate) fn finish(self, transaction: &mut Transaction) -> Result<BTreeMap<String, Written>, StoreError> {
        let writers = self.writers.into_iter();
        writers
            .map(|(month, writer)| Ok((month, writer.finish(transaction)?)))
            .collect()
    }
}

/// Merges new rows into the rows that are there, both in order of their keys.
struct MonthWriter {
    source: String,
    month: String,
    old: TableReader,
    out: Option<TableWriter>,
    written: Written,
    file_rows: u64,
}

impl MonthWriter {
    fn new(source: &str, month: &str, old: Vec<PathBuf>) -> Self {
        Self {
            source: source.to_owned(),
            month: month.to_owned(),
            old: TableReader::open(old),
            out: None,
            written: Written {
                first: i64::MAX,
                last: i64::MIN,
                ..Written::default()
            },
            file_rows: 0,
        }
    }

    /// Takes the next new row.
    fn push(&mut self, mut row: HourRow, transaction: &mut Transaction) -> Result<(), StoreError> {
        while let Some(order) = self.old.peek()?.map(|old| old.key.cmp(&row.key)) {
            let old = match order {
                Ordering::Greater => break,
                Ordering::Less | Ordering::Equal => self.old.next()?,
            };
            match old {
                Some(old) if order.is_eq() => row = old.merge(row),
                Some(old) => self.write(old, transaction)?,
                None => break,
            }
        }
        self.write(row, transaction)
    }

    fn write(&mut self, row: HourRow, transaction: &mut Transaction) -> Result<(), StoreError> {
        self.written.rows += 1;
        self.written.first = self.written.first.min(row.first);
        self.written.last = self.written.last.max(row.last);
        if self.file_rows == FILE_ROWS {
            self.close()?;
        }
        self.file_rows += 1;
        if let Some(out) = &mut self.out {
            return out.write(row);
        }
        let staged = transaction.stage("usage", &[("source", &self.source), ("month", &self.month)])?;
        self.written.files.push(staged.name);
        let out = TableWriter::create(&staged.path, &self.source, &self.month)?;
        self.out.insert(out).write(row)
    }

    fn close(&mut self) -> Result<(), StoreError> {
        self.file_rows = 0;
        self.out.take().map_or(Ok(()), TableWriter::finish)
    }

    /// Writes what is left.
    fn finish(mut self, transaction: &mut Transaction) -> Result<Written, StoreError> {
        while let Some(old) = self.old.next()? {
            self.write(old, transaction)?;
        }
        self.close()?;
        Ok(self.written)
    }
}
