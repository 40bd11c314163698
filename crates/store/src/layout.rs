//! What is in the data directory: immutable files, and one manifest that says which of them count.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lowwater_model::money::ExactSum;
use serde::{Deserialize, Serialize};

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

impl BillUnit {
    /// Key in the manifest.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.source, self.account, self.month)
    }
}

/// One month of metrics of one source: newer hours are merged in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsageUnit {
    /// `--source` or the format.
    pub source: String,
    /// `2026-10`.
    pub month: String,
    /// Rows kept: GPU-hours.
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
    /// Files of each table (`usage`, `rejects`), relative to the store.
    pub files: BTreeMap<String, Vec<String>>,
    /// When it was committed.
    pub loaded_at: Timestamp,
}

impl UsageUnit {
    /// Key in the manifest.
    pub fn key(&self) -> String {
        format!("{}/{}", self.source, self.month)
    }
}
