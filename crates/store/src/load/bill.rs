//! Bills on their way into the store: rows are checked, kept or rejected, and written a chunk at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::tz::TimeZone;
use lowwater_model::charge::CostMetric;
use lowwater_model::cloud::cloud_id;
use lowwater_model::money::Money;

use super::check::{Checked, Checker, Fault, Note, Value};
use super::chunk::{Bounds, Chunk};
use super::column::Column;
use super::cube::Charges;
use super::currency::Currency;
use super::derive::Derived;
use super::rejects::Rejected;
use super::units::{Cost, Units};
use super::{LoadRequest, Progress, Reject, flush, notes};
use crate::error::{InputError, StoreError};
use crate::format::BillSink;
use crate::layout::Transaction;
use crate::schema::{self, Kind};

/// Rejects that are kept; a load with more has read the wrong file.
const MAX_REJECTS: usize = 100_000;
/// Columns of the files' own that are kept.
const MAX_EXTRA: usize = 200;
/// Bytes of the name of a file's own column.
const MAX_NAME_BYTES: usize = 128;
/// Rows after which progress is told and a stop is asked for.
const POLL_ROWS: u64 = 1024;

/// Said of rows that name no currency where their file has the column.
pub(crate) const NO_CURRENCY: &str = "BillingCurrency is empty, so it counts as that of the other charges";

/// What is known of an account or a provider that a bill does not name.
pub(crate) const UNKNOWN: &str = "unknown";

/// A file of the load.
#[derive(Debug, Default)]
pub(crate) struct FileState {
    pub(crate) name: String,
    pub(crate) sha256: String,
    pub(crate) warnings: BTreeSet<String>,
    /// It has no BillingCurrency.
    pub(crate) no_currency: bool,
}

/// All bills of one load.
pub(crate) struct Bills<'a> {
    pub(crate) request: &'a LoadRequest,
    pub(crate) progress: &'a dyn Progress,
    pub(crate) transaction: &'a mut Transaction,
    pub(crate) units: Units,
    pub(crate) files: Vec<FileState>,
    pub(crate) rejects: Vec<Rejected>,
    pub(crate) currency: Currency,
    pub(crate) extra: BTreeSet<String>,
    /// Said of the load as a whole.
    pub(crate) load_warnings: BTreeSet<String>,
    /// How to say how far the file is: bytes done before it, bytes in all, and a counter of its own.
    pub(crate) gauge: Gauge,
    /// How much is held in memory.
    pub(crate) bounds: Bounds,
    checker: Checker,
    /// Column of the chunk for each column of the file; none = it is left out.
    targets: Vec<Option<usize>>,
    chunk: Chunk,
    polled: u64,
}

/// How far a load is.
#[derive(Default)]
pub(crate) struct Gauge {
    pub(crate) before: u64,
    pub(crate) total: u64,
    pub(crate) counter: Arc<AtomicU64>,
}

impl<'a> Bills<'a> {
    pub(crate) fn new(
        request: &'a LoadRequest,
        progress: &'a dyn Progress,
        transaction: &'a mut Transaction,
        bounds: Bounds,
    ) -> Result<Self, StoreError> {
        let zone = match &request.tz {
            None => TimeZone::UTC,
            Some(name) => TimeZone::get(name).map_err(|_| {
                InputError::new("--tz", format!("`{name}` is not an IANA time zone"))
                    .hint("write it like `Europe/Berlin`")
            })?,
        };
        let known = transaction.manifest.currency.clone();
        Ok(Self {
            request,
            progress,
            transaction,
            units: Units::default(),
            files: Vec::new(),
            rejects: Vec::new(),
            currency: Currency::new(known),
            extra: BTreeSet::new(),
            load_warnings: BTreeSet::new(),
            gauge: Gauge::default(),
            bounds,
            checker: Checker::new(zone, request.tz.is_some()),
            targets: Vec::new(),
            chunk: Chunk::new(),
            polled: 0,
        })
    }

    /// The next file of the load.
    pub(crate) fn open(&mut self, name: &str, sha256: &str, counter: Arc<AtomicU64>) {
        self.files.push(FileState {
            name: name.to_owned(),
            sha256: sha256.to_owned(),
            warnings: BTreeSet::new(),
            no_currency: false,
        });
        self.gauge.counter = counter;
    }

    fn file(&mut self) -> &mut FileState {
        let last = self.files.len().saturating_sub(1);
        &mut self.files[last]
    }

    fn poll(&mut self) -> Result<(), StoreError> {
        self.polled += 1;
        if !self.polled.is_multiple_of(POLL_ROWS) {
            return Ok(());
        }
        if self.progress.stop() {
            return Err(StoreError::Stopped);
        }
        let done = self.gauge.before + self.gauge.counter.load(Ordering::Relaxed);
        let name = self.file().name.clone();
        self.progress.at(&name, done, self.gauge.total);
        Ok(())
    }

    /// The unit of a checked row.
    fn unit(&mut self, row: &Checked<'_>) -> Result<usize, StoreError> {
        let provider = row.provider.or(self.request.provider.as_deref()).unwrap_or(UNKNOWN);
        let folded;
        let source = if let Some(source) = &self.request.source {
            source.as_str()
        } else {
            folded = cloud_id(provider);
            &folded
        };
        let file = self.files.last().map_or("", |f| f.name.as_str());
        self.units.of(source, row.account.unwrap_or(UNKNOWN), &row.month, file)
    }

    fn keep(&mut self, number: u64, fields: &[Option<&str>], checked: &Checked<'_>, unit: usize) {
        append(
            &mut self.chunk,
            fields,
            &self.targets,
            &self.checker.values,
            unit as u32,
        );
        let file = self.files.len() - 1;
        let unit = self.units.get_mut(unit);
        let costs = self.checker.costs();
        unit.add(costs, checked.start, checked.end);
        unit.inputs.insert(file);
        for note in self.checker.notes.drain(..) {
            let billed = match costs[CostMetric::Billed as usize] {
                Cost::Known(cost) => cost.money,
                Cost::Absent | Cost::Unknown => Money::ZERO,
            };
            let at = || format!("{}:{number}{}", self.files[file].name, shown(&note.value));
            unit.note_at(&note.text, billed, at);
        }
    }

    fn reject_row(&mut self, number: u64, fields: &[Option<&str>], fault: Fault) -> Result<(), StoreError> {
        let unit = match self.checker.place(fields) {
            Some(row) => Some(self.unit(&row)?),
            None => None,
        };
        let reject = Reject {
            file: self.file().name.clone(),
            row: number,
            column: fault.column.to_owned(),
            value: fault.value.chars().take(200).collect(),
            reason: format!(
                "{}{}",
                fault.reason,
                self.checker.other_cost(fields).unwrap_or_default()
            ),
            at_stake: self.checker.at_stake(fields).map(str::to_owned),
            of_bill: true,
        };
        self.rejects.push(Rejected { reject, unit });
        self.refuse_flood()
    }

    fn refuse_flood(&self) -> Result<(), StoreError> {
        match self.rejects.last() {
            Some(Rejected { reject: last, .. }) if self.rejects.len() > MAX_REJECTS => {
                let what = format!("more than {MAX_REJECTS} rows can't be taken; the last: {}", last.reason);
                let error = InputError::new(&last.file, what).row(last.row);
                Err(error.hint("is it the right file? If so, load it month by month").into())
            }
            _ => Ok(()),
        }
    }

    /// Writes what is in memory.
    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        if self.chunk.rows() == 0 {
            return Ok(());
        }
        let fresh = self.chunk.like();
        let chunk = std::mem::replace(&mut self.chunk, fresh);
        let derived = Derived::of(&chunk, self.request.provider.as_deref().unwrap_or(UNKNOWN));
        let charges = Charges {
            chunk: &chunk,
            derived: &derived,
        };
        notes::note(charges, &mut self.units);
        self.extra
            .extend(flush::write(charges, &mut self.units, self.transaction)?);
        Ok(())
    }
}

/// Adds a checked row to a chunk.
pub(crate) fn append(
    chunk: &mut Chunk,
    fields: &[Option<&str>],
    targets: &[Option<usize>],
    values: &[Value],
    unit: u32,
) {
    let row = chunk.rows();
    let mut bytes = 0;
    for ((field, target), value) in fields.iter().zip(targets).zip(values) {
        let (Some(text), Some(at)) = (field, target) else {
            continue;
        };
        match chunk.column_mut(*at) {
            Column::Text(column) => {
                bytes += text.len();
                column.put(row, text);
            }
            Column::Number(column) => {
                if let Some(number) = value.number() {
                    column.put(row, number.money.units());
                }
            }
            Column::Whole(column) => {
                if let Some(micros) = value.micros() {
                    column.put(row, micros);
                }
            }
        }
    }
    chunk.end_row(unit, bytes);
}

/// A value in a message, where there is one.
fn shown(value: &str) -> String {
    if value.is_empty() {
        String::new()
    } else {
        format!(" (value `{value}`)")
    }
}

/// A file's own column as it is kept: `x_` and letters, digits, underscores.
fn extra_name(header: &str, at: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = header.trim().chars().take(MAX_NAME_BYTES).map(plain).collect();
    let name = if name.is_empty() {
        format!("Column{}", at + 1)
    } else {
        name
    };
    let name = if name.starts_with("x_") {
        name
    } else {
        format!("x_{name}")
    };
    // Ours are made anew from the rest of the row.
    let taken = schema::ADDED
        .iter()
        .chain(schema::DAILY)
        .any(|c| c.name.eq_ignore_ascii_case(&name));
    if taken { format!("x_{name}") } else { name }
}

impl BillSink for Bills<'_> {
    fn columns(&mut self, names: &[String]) -> Result<(), StoreError> {
        self.checker.columns(names);
        self.currency.columns(names);
        self.file().no_currency = self.currency.is_absent();
        self.targets.clear();
        let mut used: BTreeMap<String, usize> = BTreeMap::new();
        let (mut kept, mut dropped) = (0, 0);
        for (at, name) in names.iter().enumerate() {
            if kind(name).is_some() {
                self.targets.push(Some(self.chunk.place(name)));
                continue;
            }
            if kept == MAX_EXTRA {
                dropped += 1;
                self.targets.push(None);
                continue;
            }
            kept += 1;
            let mut name = extra_name(name, at);
            let times = used.entry(name.to_lowercase()).or_insert(0);
            *times += 1;
            if *times > 1 {
                name = format!("{name}_{times}");
            }
            self.targets.push(Some(self.chunk.place(&name)));
        }
        if dropped > 0 {
            self.warn(format!(
                "{dropped} columns that are not of FOCUS are left out; {MAX_EXTRA} are kept"
            ));
        }
        Ok(())
    }

    fn row(&mut self, number: u64, fields: &[Option<&str>]) -> Result<(), StoreError> {
        self.poll()?;
        let trimmed = self.checker.with_trimmed_account(fields);
        let fields = trimmed.as_deref().unwrap_or(fields);
        match self.checker.check(fields) {
            Ok(checked) => {
                let unit = self.unit(&checked)?;
                let file = self.files.last().map_or("", |f| f.name.as_str());
                if !self.currency.take(fields, file, number)? {
                    self.checker.notes.push(Note {
                        text: NO_CURRENCY.into(),
                        value: String::new(),
                    });
                }
                self.keep(number, fields, &checked, unit);
            }
            Err(fault) => self.reject_row(number, fields, fault)?,
        }
        if self.checker.take_unzoned() {
            let zone = self.request.tz.as_deref().unwrap_or("UTC");
            self.warn(format!(
                "times without a zone, such as `2024-10-01 00:00:00`, are read as {zone}"
            ));
        }
        if self.chunk.is_full(self.bounds) {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn reject(&mut self, reject: Reject) {
        self.rejects.push(Rejected { reject, unit: None });
    }

    fn warn(&mut self, warning: String) {
        self.file().warnings.insert(warning);
    }
}

/// Is a column of FOCUS of this kind?
pub(crate) fn kind(name: &str) -> Option<Kind> {
    schema::FOCUS.iter().find(|c| c.name == name).map(|c| c.kind)
}
