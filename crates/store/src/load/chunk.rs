//! Charges in memory, up to a bound: then they are sorted, summed and written.

use std::collections::HashMap;

use super::column::{Column, Number, Text, Whole};
use crate::schema::{self, Kind};

/// How large a chunk may become before it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Rows: one row group of a file.
    pub(crate) rows: usize,
    /// Memory in bytes.
    pub(crate) bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            rows: 1_000_000,
            bytes: 144 << 20,
        }
    }
}

/// New text after which the memory is measured again.
const MEASURE_BYTES: usize = 4 << 20;
/// New rows after which the memory is measured again.
const MEASURE_ROWS: usize = 4096;

/// Charges as columns: those of FOCUS in the order of the schema, then the files' own.
pub(crate) struct Chunk {
    names: Vec<String>,
    index: HashMap<String, usize>,
    columns: Vec<Column>,
    /// The unit of each row.
    pub(crate) units: Vec<u32>,
    unmeasured: usize,
    measured_rows: usize,
    bytes: usize,
}

impl Chunk {
    /// Empty, with the columns of FOCUS.
    pub(crate) fn new() -> Self {
        let mut chunk = Self {
            names: Vec::new(),
            index: HashMap::new(),
            columns: Vec::new(),
            units: Vec::new(),
            unmeasured: 0,
            measured_rows: 0,
            bytes: 0,
        };
        for column in schema::FOCUS {
            chunk.add(column.name, column.kind);
        }
        chunk
    }

    /// Empty, with the same columns.
    pub(crate) fn like(&self) -> Self {
        let mut chunk = Self::new();
        for name in self.extra() {
            chunk.add(name, Kind::Text);
        }
        chunk
    }

    /// The place of a column; one that is not there is a new column of text.
    pub(crate) fn place(&mut self, name: &str) -> usize {
        match self.index.get(name) {
            Some(at) => *at,
            None => self.add(name, Kind::Text),
        }
    }

    fn add(&mut self, name: &str, kind: Kind) -> usize {
        self.names.push(name.to_owned());
        self.columns.push(Column::new(kind));
        self.index.insert(name.to_owned(), self.columns.len() - 1);
        self.columns.len() - 1
    }

    /// Names of the files' own columns.
    pub(crate) fn extra(&self) -> &[String] {
        &self.names[schema::FOCUS.len()..]
    }

    /// Rows.
    pub(crate) fn rows(&self) -> usize {
        self.units.len()
    }

    /// A column by its place, to set the row that is being added.
    pub(crate) fn column_mut(&mut self, at: usize) -> &mut Column {
        &mut self.columns[at]
    }

    /// Ends the row that is being added. `bytes` = its text.
    pub(crate) fn end_row(&mut self, unit: u32, bytes: usize) {
        self.units.push(unit);
        self.unmeasured += bytes;
        let rows = self.units.len() - self.measured_rows;
        if self.unmeasured > MEASURE_BYTES || rows >= MEASURE_ROWS {
            self.unmeasured = 0;
            self.measured_rows = self.units.len();
            self.bytes = self.columns.iter().map(Column::bytes).sum();
        }
    }

    /// Must it be written before more rows come?
    pub(crate) fn is_full(&self, bounds: Bounds) -> bool {
        self.units.len() >= bounds.rows || self.bytes >= bounds.bytes
    }

    /// A column by name.
    pub(crate) fn find(&self, name: &str) -> Option<&Column> {
        self.index.get(name).map(|at| &self.columns[*at])
    }

    /// A column of text by name.
    pub(crate) fn text(&self, name: &str) -> Option<&Text> {
        match self.find(name) {
            Some(Column::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A column of instants by name.
    pub(crate) fn whole(&self, name: &str) -> Option<&Whole> {
        match self.find(name) {
            Some(Column::Whole(whole)) => Some(whole),
            _ => None,
        }
    }

    /// A column of money or quantities by name.
    pub(crate) fn number(&self, name: &str) -> Option<&Number> {
        match self.find(name) {
            Some(Column::Number(number)) => Some(number),
            _ => None,
        }
    }
}
