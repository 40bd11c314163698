//! What is in the data directory: immutable files, and one manifest that says which of them count.

mod commit;
mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::Date;
use lowwater_model::money::{ExactSum, Money};
use serde::{Deserialize, Serialize};

use crate::error::{InputError, StoreError};
use crate::input::is_store;

pub use commit::{Staged, Transaction};
pub use place::component;

/// Version of the form of the manifest and of the tables.
pub const SCHEMA_VERSION: u32 = 1;

/// The state of the store at one version: readers pin one, writers make the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Form.
    pub schema: u32,
    /// Counts commits.
    pub version: u64,
    /// Billing currency of all charges; one directory has one.
    pub currency: Option<String>,
    /// Extra columns (`x_...`) that any charges file has, sorted.
    pub extra_columns: Vec<String>,
    /// Bills, by unit.
    pub bills: BTreeMap<String, BillUnit>,
    /// GPU metrics, by unit.
    pub usage: BTreeMap<String, UsageUnit>,
    /// Runs of jobs, by unit.
    #[serde(default)]
    pub jobs: BTreeMap<String, UsageUnit>,
    /// Price lists, by unit.
    #[serde(default)]
    pub prices: BTreeMap<String, PriceUnit>,
}

/// One month of one account of one source: replaced whole by a newer export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BillUnit {
    /// `--source` or the provider.
    pub source: String,
    /// BillingAccountId.
    pub account: String,
    /// Billing month, `2026-10`.
    pub month: String,
    /// Rows kept.
    pub rows: u64,
    /// Rows rejected.
    pub rejects: u64,
    /// Rows kept whose BilledCost is unknown.
    pub unknown_costs: u64,
    /// Exact sums of the file's text, by cost metric (`billed`, `effective`, `contracted`, `list`).
    pub totals: BTreeMap<String, ExactSum>,
    /// Sums of the stored amounts without sign, by cost metric. A manifest that has none is older than they are.
    #[serde(default)]
    pub gross: BTreeMap<String, Money>,
    /// What the rejected rows would have billed.
    #[serde(default)]
    pub rejected: RejectedMoney,
    /// Why EffectiveCost can't be trusted, a sentence a provider. None: the manifest is older, its warnings say it.
    #[serde(default)]
    pub effective_unreliable: Option<Vec<String>>,
    /// Charges: first instant and first instant after, epoch seconds.
    pub first: i64,
    /// See `first`.
    pub last: i64,
    /// Days (UTC) with charges.
    pub days: u32,
    /// SHA-256 of each loaded file: the same file twice changes nothing.
    pub inputs: Vec<String>,
    /// What a reader must know.
    pub warnings: Vec<String>,
    /// Files of each table (`charges`, `daily`, `gpu_hours`, `rejects`), relative to the store.
    pub files: BTreeMap<String, Vec<String>>,
    /// When it was committed.
    pub loaded_at: Timestamp,
}

/// How a warning begins in which an older manifest says that EffectiveCost is useless.
const OLDER_UNRELIABLE: &str = "EffectiveCost is unreliable";

/// BilledCost of rows that were not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RejectedMoney {
    /// Exact sum where it could be read.
    pub billed: ExactSum,
    /// Rows where it could not.
    pub unknown: u64,
}

impl RejectedMoney {
    /// Adds that of other rows.
    pub fn merge(&mut self, other: Self) {
        self.billed.merge(other.billed);
        self.unknown += other.unknown;
    }
}

impl BillUnit {
    /// Why EffectiveCost can't be trusted, if it can't.
    pub fn why_unreliable(&self) -> Option<&str> {
        if let Some(reasons) = &self.effective_unreliable {
            return reasons.first().map(String::as_str);
        }
        let mut warnings = self.warnings.iter().map(String::as_str);
        warnings.find(|warning| warning.starts_with(OLDER_UNRELIABLE))
    }

    /// Key in the manifest.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.source, self.account, self.month)
    }
}

/// One month of metrics or of jobs of one source: newer hours and newer records of a run are merged in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsageUnit {
    /// `--source` or the format.
    pub source: String,
    /// `2026-10`.
    pub month: String,
    /// Rows kept: hours of GPUs, or runs of jobs.
    pub rows: u64,
    /// Lines rejected.
    pub rejects: u64,
    /// First and last sample, epoch seconds.
    pub first: i64,
    /// See `first`.
    pub last: i64,
    /// SHA-256 of each loaded file.
    pub inputs: Vec<String>,
    /// What a reader must know.
    pub warnings: Vec<String>,
    /// Files of each table (`usage` or `jobs`, and `rejects`), relative to the store.
    pub files: BTreeMap<String, Vec<String>>,
    /// Ids that the cloud gave to hosts, by host, where the metrics say so.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub provider_ids: BTreeMap<String, BTreeSet<String>>,
    /// When it was committed.
    pub loaded_at: Timestamp,
}

impl UsageUnit {
    /// Key in the manifest.
    pub fn key(&self) -> String {
        format!("{}/{}", self.source, self.month)
    }
}

/// A price list of one provider on one day: replaced whole by another of that day, kept beside those of other days.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriceUnit {
    /// `--source` or the format.
    pub source: String,
    /// Cloud id.
    pub cloud: String,
    /// Day of the prices.
    pub as_of: Date,
    /// Prices kept.
    pub rows: u64,
    /// Rows rejected.
    pub rejects: u64,
    /// SHA-256 of each loaded file.
    pub inputs: Vec<String>,
    /// What a reader must know.
    pub warnings: Vec<String>,
    /// Files of each table (`offers`, `rejects`), relative to the store.
    pub files: BTreeMap<String, Vec<String>>,
    /// When it was committed.
    pub loaded_at: Timestamp,
}

impl PriceUnit {
    /// Key in the manifest.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.source, self.cloud, self.as_of)
    }
}

/// Tables that a store may hold; every file of one lies under its name.
pub const TABLES: &[&str] = &["charges", "daily", "gpu_hours", "jobs", "offers", "rejects", "usage"];

const MANIFEST: &str = "manifest.json";
const READERS: &str = "readers.lock";
const WRITER: &str = "writer.lock";
const STAGING: &str = "staging";

/// A data directory as a store: where things are in it.
#[derive(Clone, Debug)]
pub struct Layout {
    root: PathBuf,
}

impl Layout {
    /// The store in a data directory. Nothing is made: an absent store is an empty one.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        check_data_dir(dir)?;
        let root = std::path::absolute(dir).map_err(StoreError::io(dir))?.join("store");
        Ok(Self { root })
    }

    /// The manifest as it is now.
    pub fn manifest(&self) -> Result<Manifest, StoreError> {
        let path = self.root.join(MANIFEST);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::NotFound => {
                return Ok(Manifest {
                    schema: SCHEMA_VERSION,
                    ..Manifest::default()
                });
            }
            Err(e) => return Err(StoreError::io(&path)(e)),
        };
        check_schema(&text, &path)?;
        let manifest: Manifest = serde_json::from_slice(&text).map_err(|e| damaged(&path, &e))?;
        Ok(manifest)
    }

    /// Pins the version that is there now: its files stay until the snapshot is dropped.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let path = self.root.join(READERS);
        let lock = match File::open(&path) {
            Ok(file) => {
                file.lock_shared().map_err(StoreError::io(&path))?;
                Some(file)
            }
            // No writer has been here yet.
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(StoreError::io(&path)(e)),
        };
        Ok(Snapshot {
            root: self.root.clone(),
            manifest: self.manifest()?,
            _lock: lock,
        })
    }
}

/// Refuses a data folder that can't be one: a file, or a folder inside a store, where a load would remove what it holds.
pub fn check_data_dir(dir: &Path) -> Result<(), StoreError> {
    if dir.is_file() {
        return Err(
            InputError::new(dir.display().to_string(), "is a file, and data is kept in a folder")
                .hint("name a folder with --data; files to load are named after `load`")
                .into(),
        );
    }
    let whole = std::path::absolute(dir).map_err(StoreError::io(dir))?;
    // What is there says where a link leads; what is not will be made below it.
    let there = whole.ancestors().find_map(|folder| folder.canonicalize().ok());
    let ancestors = there.as_deref().into_iter().flat_map(Path::ancestors);
    match ancestors.chain(whole.ancestors()).find(|folder| is_store(folder)) {
        None => Ok(()),
        Some(store) => Err(StoreError::Refused {
            what: format!(
                "{} is inside the store {}, where each load removes what is not its own",
                dir.display(),
                store.display()
            ),
            hint: format!(
                "name the data folder itself (`--data {}`), or a folder outside of it",
                store.parent().unwrap_or(store).display()
            ),
        }),
    }
}

/// A store at one version, held for as long as this value lives.
#[derive(Debug)]
pub struct Snapshot {
    root: PathBuf,
    manifest: Manifest,
    _lock: Option<File>,
}

impl Snapshot {
    /// What is loaded.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Absolute paths of the files of a table, in order of their units.
    pub fn files(&self, table: &str) -> Vec<PathBuf> {
        self.manifest.files_of(table).map(|name| self.root.join(name)).collect()
    }
}

impl Manifest {
    /// Files of every table of every unit, relative to the store.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = &String> {
        TABLES.iter().flat_map(|table| self.files_of(table))
    }

    fn files_of<'a>(&'a self, table: &str) -> impl Iterator<Item = &'a String> + use<'a> {
        let bills = self.bills.values().map(|unit| &unit.files);
        let usage = self.usage.values().map(|unit| &unit.files);
        let jobs = self.jobs.values().map(|unit| &unit.files);
        let prices = self.prices.values().map(|unit| &unit.files);
        let files = bills.chain(usage).chain(jobs).chain(prices);
        let table = table.to_owned();
        files.filter_map(move |by_table| by_table.get(&table)).flatten()
    }
}

/// Only the version, so that a manifest of another form is told from a damaged one.
#[derive(Deserialize)]
struct SchemaOnly {
    schema: u32,
}

fn check_schema(text: &[u8], path: &Path) -> Result<(), StoreError> {
    let found = serde_json::from_slice::<SchemaOnly>(text)
        .map_err(|e| damaged(path, &e))?
        .schema;
    if found == SCHEMA_VERSION {
        return Ok(());
    }
    let hint = if found > SCHEMA_VERSION {
        "a newer Lowwater wrote it: use that one, or another data directory"
    } else {
        "an older Lowwater wrote it: load the files again into another data directory"
    };
    Err(StoreError::Refused {
        what: format!(
            "{}: the store has schema version {found}, this Lowwater reads {SCHEMA_VERSION}",
            path.display()
        ),
        hint: hint.into(),
    })
}

fn damaged(path: &Path, error: &serde_json::Error) -> StoreError {
    InputError::new(path.display().to_string(), format!("is damaged: {error}"))
        .hint("restore the data directory from a backup, or load your files into a new one")
        .into()
}

#[cfg(test)]
mod tests;
