//! Columns of a chunk of charges in memory: texts and instants as codes, money in one word where it fits.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Decimal128Array, Int64Array, StringBuilder, TimestampMicrosecondArray, new_null_array,
};

use super::dictionary::{Dictionary, NONE};
use crate::schema::{Kind, MONEY};

/// Codes of the rows. Rows after the last are null, so that an empty column costs nothing.
#[derive(Default)]
pub(crate) struct Codes(Vec<u32>);

impl Codes {
    fn put(&mut self, row: usize, code: u32) {
        self.0.resize(row, NONE);
        self.0.push(code);
    }

    /// Of a row; `NONE` for null.
    pub(crate) fn get(&self, row: u32) -> u32 {
        self.0.get(row as usize).copied().unwrap_or(NONE)
    }

    fn bytes(&self) -> usize {
        4 * self.0.capacity()
    }
}

/// A column of text.
pub(crate) struct Text {
    pub(crate) dictionary: Dictionary,
    pub(crate) codes: Codes,
    last: u32,
}

impl Default for Text {
    fn default() -> Self {
        Self {
            dictionary: Dictionary::default(),
            codes: Codes::default(),
            last: NONE,
        }
    }
}

impl Text {
    /// Sets a row, which must come after all that are set. Returns its code.
    pub(crate) fn put(&mut self, row: usize, text: &str) -> u32 {
        // Neighbours are often equal.
        if self.last == NONE || self.dictionary.get(self.last) != text {
            self.last = self.dictionary.code(text);
        }
        self.codes.put(row, self.last);
        self.last
    }

    /// The text of a row.
    pub(crate) fn get(&self, row: u32) -> Option<&str> {
        match self.codes.get(row) {
            NONE => None,
            code => Some(self.dictionary.get(code)),
        }
    }
}

/// A column of instants (microseconds) or counts: few distinct values.
#[derive(Default)]
pub(crate) struct Whole {
    values: Vec<i64>,
    index: HashMap<i64, u32>,
    pub(crate) codes: Codes,
    last: Option<(i64, u32)>,
}

impl Whole {
    /// Sets a row, which must come after all that are set.
    pub(crate) fn put(&mut self, row: usize, value: i64) {
        let code = match self.last {
            Some((last, code)) if last == value => code,
            _ => {
                let next = self.values.len() as u32;
                let code = *self.index.entry(value).or_insert(next);
                if code == next {
                    self.values.push(value);
                }
                code
            }
        };
        self.last = Some((value, code));
        self.codes.put(row, code);
    }

    /// The value of a row.
    pub(crate) fn get(&self, row: u32) -> Option<i64> {
        self.values.get(self.codes.get(row) as usize).copied()
    }
}

/// A column of money or quantities in 10^-12.
#[derive(Default)]
pub(crate) struct Number {
    units: Vec<i64>,
    /// Rows whose value does not fit in one word.
    wide: BTreeMap<u32, i128>,
}

const NULL: i64 = i64::MIN;
const WIDE: i64 = i64::MIN + 1;

impl Number {
    /// Sets a row, which must come after all that are set.
    pub(crate) fn put(&mut self, row: usize, units: i128) {
        self.units.resize(row, NULL);
        match i64::try_from(units) {
            Ok(small) if small > WIDE => self.units.push(small),
            _ => {
                self.wide.insert(row as u32, units);
                self.units.push(WIDE);
            }
        }
    }

    /// The value of a row.
    pub(crate) fn get(&self, row: u32) -> Option<i128> {
        match self.units.get(row as usize).copied().unwrap_or(NULL) {
            NULL => None,
            WIDE => self.wide.get(&row).copied(),
            small => Some(i128::from(small)),
        }
    }
}

/// Any column.
pub(crate) enum Column {
    Text(Text),
    Whole(Whole),
    Number(Number),
}

impl Column {
    pub(crate) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(Text::default()),
            Kind::Time | Kind::Int => Self::Whole(Whole::default()),
            Kind::Cost | Kind::Number => Self::Number(Number::default()),
        }
    }

    /// What tells rows apart by this column; numbers do not.
    pub(crate) fn code(&self, row: u32) -> u32 {
        match self {
            Self::Text(text) => text.codes.get(row),
            Self::Whole(whole) => whole.codes.get(row),
            Self::Number(_) => NONE,
        }
    }

    /// The place of each row's value in the order of the values; null first.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        match self {
            Self::Text(text) => text.dictionary.ranks(),
            Self::Whole(whole) => {
                let mut codes: Vec<u32> = (0..whole.values.len() as u32).collect();
                codes.sort_unstable_by_key(|code| whole.values[*code as usize]);
                let mut ranks = vec![0; codes.len()];
                for (rank, code) in codes.into_iter().enumerate() {
                    ranks[code as usize] = rank as u32 + 1;
                }
                ranks
            }
            Self::Number(_) => Vec::new(),
        }
    }

    /// Memory held.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.dictionary.bytes() + text.codes.bytes(),
            Self::Whole(whole) => 32 * whole.values.capacity() + whole.codes.bytes(),
            Self::Number(number) => 8 * number.units.capacity() + 48 * number.wide.len(),
        }
    }

    fn is_null(&self) -> bool {
        match self {
            Self::Text(text) => text.codes.0.is_empty(),
            Self::Whole(whole) => whole.codes.0.is_empty(),
            Self::Number(number) => number.units.is_empty(),
        }
    }

    /// The values of some rows as an Arrow array of a kind.
    pub(crate) fn array(&self, kind: Kind, rows: &[u32]) -> ArrayRef {
        if self.is_null() {
            return new_null_array(&kind.data_type(), rows.len());
        }
        match (self, kind) {
            (Self::Text(text), _) => {
                let mut builder = StringBuilder::with_capacity(rows.len(), 16 * rows.len());
                for row in rows {
                    builder.append_option(text.get(*row));
                }
                Arc::new(builder.finish())
            }
            (Self::Whole(whole), Kind::Int) => Arc::new(rows.iter().map(|row| whole.get(*row)).collect::<Int64Array>()),
            (Self::Whole(whole), Kind::Time) => {
                let values = rows.iter().map(|row| whole.get(*row));
                Arc::new(values.collect::<TimestampMicrosecondArray>().with_timezone("UTC"))
            }
            (Self::Whole(whole), _) => money(rows.iter().map(|row| whole.get(*row).map(i128::from))),
            (Self::Number(number), _) => money(rows.iter().map(|row| number.get(*row))),
        }
    }
}

/// Values in 10^-12 as an Arrow array.
pub(crate) fn money(values: impl Iterator<Item = Option<i128>>) -> ArrayRef {
    let array = values.collect::<Decimal128Array>().with_data_type(MONEY);
    Arc::new(array)
}
