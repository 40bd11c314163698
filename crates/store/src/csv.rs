//! A bounded CSV reader: no field, record or header can take more memory than its limits, whatever the file holds.

use std::io::Read;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use crate::error::{InputError, StoreError};
use crate::input::Input;

const INPUT_BYTES: usize = 256 * 1024;

/// What a record may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Fields of a record, and so columns of a file.
    pub max_columns: usize,
    /// Bytes of one field.
    pub max_field_bytes: usize,
    /// Bytes of one record.
    pub max_record_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_columns: 2000,
            max_field_bytes: 1 << 20,
            max_record_bytes: 8 << 20,
        }
    }
}

/// One record of the file.
#[derive(Debug)]
pub enum Row<'a> {
    /// It has as many fields as the header.
    Good(Record<'a>),
    /// It can't be split into the header's fields.
    Bad(BadRow),
}

/// The fields of a record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Line of the file on which it begins; the header is on line 1.
    pub number: u64,
    text: &'a str,
    ends: &'a [usize],
}

impl<'a> Record<'a> {
    /// Its fields, in the order of the header.
    pub fn fields(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let (text, ends) = (self.text, self.ends);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts
            .zip(ends)
            .map(move |(start, end)| text.get(start..*end).unwrap_or_default())
    }
}

/// A record that is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// Line of the file on which it begins; the header is on line 1.
    pub number: u64,
    /// The column, where one is to blame.
    pub column: String,
    /// Its value, cut short.
    pub value: String,
    /// Why.
    pub reason: String,
}

/// Reads records one by one, each in the same buffers.
pub struct RecordReader<'a> {
    input: &'a mut Input,
    core: Reader,
    limits: Limits,
    header: Vec<String>,
    buffer: Box<[u8]>,
    start: usize,
    filled: usize,
    at_end: bool,
    last_byte: u8,
    record: Vec<u8>,
    ends: Vec<usize>,
    /// Line on which the record begins.
    number: u64,
    /// Line of the next byte.
    line: u64,
}

/// How one record came out of the state machine.
enum Outcome {
    End,
    /// Bytes and fields, in the buffers.
    Record(usize, usize),
    TooLarge,
    TooManyFields,
}

impl<'a> RecordReader<'a> {
    /// Reads the header; an unreadable one is an error of the file.
    pub fn new(input: &'a mut Input, limits: Limits) -> Result<Self, StoreError> {
        let core = ReaderBuilder::new()
            .delimiter(delimiter(input.head().first_line()))
            .build();
        let mut reader = Self {
            input,
            core,
            limits,
            header: Vec::new(),
            buffer: vec![0; INPUT_BYTES].into_boxed_slice(),
            start: 0,
            filled: 0,
            at_end: false,
            last_byte: 0,
            record: vec![0; limits.max_record_bytes.min(64 * 1024)],
            ends: vec![0; 256.min(limits.max_columns + 1)],
            number: 0,
            line: 1,
        };
        reader.read_header()?;
        Ok(reader)
    }

    /// Column names, trimmed.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The next record; none at the end of the file.
    pub fn read(&mut self) -> Result<Option<Row<'_>>, StoreError> {
        let outcome = self.advance()?;
        if matches!(outcome, Outcome::End) {
            return Ok(None);
        }
        let Outcome::Record(bytes, fields) = outcome else {
            self.refuse_open_quote()?;
            let reason = match outcome {
                Outcome::TooLarge => format!("the row is larger than {} bytes", self.limits.max_record_bytes),
                _ => format!("the row has more than {} fields", self.limits.max_columns),
            };
            return Ok(Some(Row::Bad(self.bad(String::new(), String::new(), reason))));
        };
        if let Some(bad) = self.check(bytes, fields)? {
            return Ok(Some(Row::Bad(bad)));
        }
        let text = std::str::from_utf8(&self.record[..bytes]).unwrap_or_default();
        Ok(Some(Row::Good(Record {
            number: self.number,
            text,
            ends: &self.ends[..fields],
        })))
    }

    fn read_header(&mut self) -> Result<(), StoreError> {
        let error = |reader: &Self, what: String| InputError::new(reader.input.name(), what);
        let (bytes, fields) = match self.advance()? {
            Outcome::Record(bytes, fields) if fields <= self.limits.max_columns => (bytes, fields),
            Outcome::End => return Err(error(self, "has no header".into()).into()),
            Outcome::TooLarge => return Err(error(self, "the header is too large to be one".into()).into()),
            Outcome::Record(..) | Outcome::TooManyFields => {
                let what = format!("the header has more than {} columns", self.limits.max_columns);
                let hint = "export the bill again with the columns of FOCUS; tags belong in the column Tags";
                return Err(error(self, what).hint(hint).into());
            }
        };
        let Ok(text) = std::str::from_utf8(&self.record[..bytes]) else {
            let hint = "convert it: iconv -f WINDOWS-1252 -t UTF-8 IN > OUT";
            return Err(error(self, "the header is not UTF-8".into()).hint(hint).into());
        };
        let record = Record {
            number: self.number,
            text,
            ends: &self.ends[..fields],
        };
        self.header = record.fields().map(|name| name.trim().to_owned()).collect();
        Ok(())
    }

    /// Why the record in the buffers is not good, if it is not.
    fn check(&self, bytes: usize, fields: usize) -> Result<Option<BadRow>, StoreError> {
        let (record, ends) = (&self.record[..bytes], &self.ends[..fields]);
        let last_start = ends.iter().rev().nth(1).copied().unwrap_or(0);
        if self.ran_out() && self.last_byte != b'"' && record[last_start..].contains(&b'\n') {
            return Err(self.open_quote());
        }
        // A whole that is UTF-8 may still be cut inside a character by its fields.
        let readable = std::str::from_utf8(record).is_ok_and(|text| ends.iter().all(|end| text.is_char_boundary(*end)));
        if !readable || bytes > self.limits.max_field_bytes {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let bad = starts.zip(ends).enumerate().find_map(|(column, (start, end))| {
                let field = &record[start..*end];
                let reason = self.fault(field)?;
                let name = self.header.get(column).cloned().unwrap_or_default();
                Some(self.bad(name, shown(field), reason))
            });
            if bad.is_some() {
                return Ok(bad);
            }
        }
        if fields == self.header.len() {
            return Ok(None);
        }
        let reason = format!("the row has {fields} fields, the header has {}", self.header.len());
        Ok(Some(self.bad(String::new(), shown(record), reason)))
    }

    fn fault(&self, field: &[u8]) -> Option<String> {
        if field.len() > self.limits.max_field_bytes {
            return Some(format!(
                "the field is larger than {} bytes",
                self.limits.max_field_bytes
            ));
        }
        std::str::from_utf8(field).is_err().then(|| "is not UTF-8".to_owned())
    }

    /// Did the record end only because the file did?
    fn ran_out(&self) -> bool {
        self.at_end && self.start == self.filled
    }

    /// A record that is too large because it ran to the end of the file is an open quote: the rest of the bill is in it.
    fn refuse_open_quote(&self) -> Result<(), StoreError> {
        if self.ran_out() { Err(self.open_quote()) } else { Ok(()) }
    }

    fn open_quote(&self) -> StoreError {
        InputError::new(
            self.input.name(),
            "a quote is opened here and never closed, so all that follows is one field",
        )
        .row(self.number)
        .hint("the file is cut off or not CSV as RFC 4180 has it: quotes inside a field must be doubled")
        .into()
    }

    fn bad(&self, column: String, value: String, reason: String) -> BadRow {
        BadRow {
            number: self.number,
            column,
            value,
            reason,
        }
    }

    /// Passes over empty lines, so that the record begins where its first byte stands.
    fn pass_empty_lines(&mut self) -> Result<(), StoreError> {
        loop {
            if self.start == self.filled && !self.at_end {
                self.fill()?;
            }
            let rest = &self.buffer[self.start..self.filled];
            let empty = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            self.line += line_ends(&rest[..empty]);
            self.start += empty;
            if self.start < self.filled || self.at_end {
                return Ok(());
            }
        }
    }

    fn advance(&mut self) -> Result<Outcome, StoreError> {
        self.pass_empty_lines()?;
        self.number = self.line;
        let (mut bytes, mut fields) = (0, 0);
        let mut over = None;
        loop {
            if self.start == self.filled && !self.at_end {
                self.fill()?;
            }
            let input = &self.buffer[self.start..self.filled];
            let (result, read, wrote, ended) =
                self.core
                    .read_record(input, &mut self.record[bytes..], &mut self.ends[fields..]);
            self.line += line_ends(&input[..read]);
            self.start += read;
            bytes += wrote;
            fields += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.record.len() < self.limits.max_record_bytes => {
                    let larger = (self.record.len() * 2).min(self.limits.max_record_bytes);
                    self.record.resize(larger, 0);
                }
                ReadRecordResult::OutputFull => {
                    // Too large to keep: read on over the same bytes.
                    over = Some(Outcome::TooLarge);
                    (bytes, fields) = (0, 0);
                }
                ReadRecordResult::OutputEndsFull if self.ends.len() <= self.limits.max_columns => {
                    let larger = (self.ends.len() * 2).min(self.limits.max_columns + 1);
                    self.ends.resize(larger, 0);
                }
                ReadRecordResult::OutputEndsFull => {
                    over = over.or(Some(Outcome::TooManyFields));
                    (bytes, fields) = (0, 0);
                }
                ReadRecordResult::Record => return Ok(over.unwrap_or(Outcome::Record(bytes, fields))),
                ReadRecordResult::End => return Ok(Outcome::End),
            }
        }
    }

    fn fill(&mut self) -> Result<(), StoreError> {
        self.start = 0;
        self.filled = 0;
        while self.filled == 0 {
            match self.input.read(&mut self.buffer) {
                Ok(0) => {
                    self.at_end = true;
                    return Ok(());
                }
                Ok(count) => {
                    self.filled = count;
                    self.last_byte = self.buffer[count - 1];
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.input.explain(&e)),
            }
        }
        Ok(())
    }
}

fn line_ends(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}

/// Comma, unless the header has none and clearly uses another.
fn delimiter(header: &str) -> u8 {
    let mut quoted = false;
    let mut counts = [0_usize; 3];
    for byte in header.bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => counts[0] += 1,
            b';' if !quoted => counts[1] += 1,
            b'\t' if !quoted => counts[2] += 1,
            _ => {}
        }
    }
    match counts {
        [0, semicolons, 0] if semicolons > 0 => b';',
        [0, 0, tabs] if tabs > 0 => b'\t',
        _ => b',',
    }
}

/// At most 200 characters of bytes, for a message.
fn shown(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(800)];
    String::from_utf8_lossy(cut).chars().take(200).collect()
}

#[cfg(test)]
mod tests;
