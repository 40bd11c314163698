//! Loading: decode, check, keep or reject, reconcile, commit. Loading twice is loading once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use lowwater_model::money::ExactSum;
use serde::{Deserialize, Serialize};

/// What to do with a month that is already there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Replace it, unless that removes more than the policy allows.
    #[default]
    Guarded,
    /// Replace it, whatever it removes.
    Replace,
    /// Add to it.
    Append,
}

/// One call of `load`: all its files are one export.
#[derive(Clone, Debug, Default)]
pub struct LoadRequest {
    /// Files or directories (read recursively, sorted).
    pub paths: Vec<PathBuf>,
    /// Format by name; none = by content.
    pub format: Option<String>,
    /// Name of the source; none = the provider (bills) or the format (metrics).
    pub source: Option<String>,
    /// Provider where the file names none.
    pub provider: Option<String>,
    /// What to do with a month that is there.
    pub existing: Existing,
    /// Host of metrics whose file names none.
    pub host: Option<String>,
    /// IANA zone of times without offset.
    pub tz: Option<String>,
    /// Time of a scrape without timestamps.
    pub at: Option<Timestamp>,
}

/// What a load did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LoadReport {
    /// One a unit, in order of key.
    pub units: Vec<UnitReport>,
    /// Sums over all units.
    pub totals: BTreeMap<String, ExactSum>,
    /// Nothing changed: the same files were there already.
    pub unchanged: bool,
}

/// What a load did to one unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnitReport {
    /// `bill` or `usage`.
    pub kind: &'static str,
    /// Source.
    pub source: String,
    /// Billing account; empty for metrics.
    pub account: String,
    /// Month.
    pub month: String,
    /// Rows kept.
    pub rows: u64,
    /// Rows rejected.
    pub rejects: u64,
    /// Exact sums of the file's text, by cost metric.
    pub totals: BTreeMap<String, ExactSum>,
    /// What a reader must know.
    pub warnings: Vec<String>,
}

/// A row that was not kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reject {
    /// Source file.
    pub file: String,
    /// Row in it, from 1, the header not counted.
    pub row: u64,
    /// Column.
    pub column: String,
    /// Its value, cut to 200 characters.
    pub value: String,
    /// Why.
    pub reason: String,
    /// BilledCost of the row where it could be read: the money at stake, as text.
    pub at_stake: Option<String>,
}

/// Tells how far a load is, and asks whether to stop.
pub trait Progress: Sync {
    /// So many bytes of so many are read; `what` names the step.
    fn at(&self, what: &str, done: u64, total: u64);
    /// Has the user pressed Ctrl-C? A load then leaves the old state.
    fn stop(&self) -> bool;
}

/// No progress, never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn at(&self, _what: &str, _done: u64, _total: u64) {}
    fn stop(&self) -> bool {
        false
    }
}
