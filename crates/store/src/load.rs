//! Loading: decode, check, keep or reject, reconcile, commit. Loading twice is loading once.

mod bill;
mod check;
mod chunk;
mod column;
mod cube;
mod currency;
mod derive;
mod dictionary;
mod finish;
mod flush;
mod known;
mod late;
mod limits;
mod listing;
mod notes;
mod rejects;
mod repeated;
mod there;
mod times;
mod units;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use lowwater_model::money::ExactSum;
use lowwater_model::policy::Policy;
use serde::{Deserialize, Serialize};

use self::bill::Bills;
use self::chunk::Bounds;
use self::listing::{Listed, Listing};
use crate::error::{InputError, StoreError};
use crate::format::Decode;
use crate::input::Input;
use crate::jobs;
use crate::layout::{Layout, RejectedMoney};
use crate::prices::{self, PriceFile};
use crate::prometheus::{self, ServerOptions, ServerReport};
use crate::usage::{self, MetricsFile};

pub(crate) use limits::RejectLimit;
pub use notes::counted;
pub use rejects::rejects;
pub(crate) use rejects::write_rejects;
pub(crate) use units::count;
pub(crate) use write::{Output, Values, parquet, write};

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
    /// How to ask servers, where paths are URLs.
    pub server: ServerOptions,
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
    /// Servers that were asked, in the order in which they were named.
    pub servers: Vec<ServerReport>,
}

/// What a load did to one unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnitReport {
    /// `bill`, `usage`, `jobs` or `prices`.
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
    /// What the rejected rows would have billed: `totals` are those of the kept rows.
    pub rejected: RejectedMoney,
    /// What was there before and is not any more; none where nothing was.
    pub replaced: Option<Replaced>,
    /// What is there and stays: rows and sums of this report are those that were appended to it.
    pub beside: Option<Replaced>,
    /// What a reader must know.
    pub warnings: Vec<String>,
}

/// A unit that made room for a newer export.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Replaced {
    /// Rows that it had.
    pub rows: u64,
    /// Their BilledCost; none where it was not known.
    pub billed: Option<ExactSum>,
}

impl UnitReport {
    pub(crate) fn key(&self) -> (&'static str, String, String, String) {
        (self.kind, self.source.clone(), self.account.clone(), self.month.clone())
    }
}

/// A row that was not kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reject {
    /// Source file.
    pub file: String,
    /// Line on which it begins, the header on line 1; in a Parquet file its row, from 1.
    pub row: u64,
    /// Column.
    pub column: String,
    /// Its value, cut to 200 characters.
    pub value: String,
    /// Why.
    pub reason: String,
    /// The money at stake, as text: BilledCost, else the first other cost that could be read.
    pub at_stake: Option<String>,
    /// Is it a row of a bill? Only then money is at stake.
    pub of_bill: bool,
}

impl Reject {
    /// In one line: place, what is wrong, value, money.
    pub fn line(&self) -> String {
        let column = if self.column.is_empty() {
            String::new()
        } else {
            format!(":{}", self.column)
        };
        let value = if self.value.is_empty() {
            String::new()
        } else {
            format!(" (value `{}`)", self.value)
        };
        let money = self
            .at_stake
            .as_ref()
            .map(|money| format!(", {money} at stake"))
            .unwrap_or_default();
        format!("{}:{}{column}: {}{value}{money}", self.file, self.row, self.reason)
    }
}

/// Tells how far a load is, and asks whether to stop.
pub trait Progress: Sync {
    /// So many bytes of so many are read; `what` names the step.
    fn at(&self, what: &str, done: u64, total: u64);
    /// Has the user pressed Ctrl-C? A load then leaves the old state.
    fn stop(&self) -> bool;
}

/// Loads files into the store of a data directory: all of them as one export, or nothing.
pub fn load(
    dir: &Path,
    request: &LoadRequest,
    policy: &Policy,
    progress: &dyn Progress,
) -> Result<LoadReport, StoreError> {
    load_within(Bounds::default(), dir, request, policy, progress)
}

/// [`load`] with other bounds of memory.
fn load_within(
    bounds: Bounds,
    dir: &Path,
    request: &LoadRequest,
    policy: &Policy,
    progress: &dyn Progress,
) -> Result<LoadReport, StoreError> {
    if prometheus::is_asked(request) {
        return prometheus::load(dir, request, policy, progress);
    }
    let mut listing = Listing::of(request, progress)?;
    let mut transaction = Layout::open(dir)?.write(progress)?;
    known::recall(&mut listing, &transaction.manifest)?;
    let mut units = known::take(&mut listing, &transaction.manifest, request);
    let mut changed = false;
    if !listing.bills.is_empty() {
        let (reports, any) = load_bills(
            &listing,
            policy,
            Bills::new(request, progress, &mut transaction, bounds)?,
        )?;
        units.extend(reports);
        changed |= any;
    }
    if !listing.metrics.is_empty() {
        let files = listing.metrics.iter().map(metrics_file).collect();
        let (mut reports, any) = usage::ingest(files, request, policy, &mut transaction, progress)?;
        if listing.bills.is_empty() {
            // Else the bills tell of the files that are left out.
            let told = |unit: &mut UnitReport| unit.warnings.extend(listing.warnings.iter().cloned());
            reports.iter_mut().for_each(told);
        }
        units.extend(reports);
        changed |= any;
    }
    if !listing.jobs.is_empty() {
        let files = listing.jobs.iter().map(metrics_file).collect();
        let (reports, any) = jobs::ingest(files, (request, policy), &mut transaction, progress)?;
        units.extend(reports);
        changed |= any;
    }
    if !listing.prices.is_empty() {
        let files: Vec<PriceFile> = listing.prices.iter().map(price_file).collect();
        let (reports, any) = prices::ingest(&files, (request, policy), &mut transaction, progress)?;
        units.extend(reports);
        changed |= any;
    }
    if progress.stop() {
        return Err(StoreError::Stopped);
    }
    if changed {
        progress.at("writing", 0, 1);
        listing.check_unchanged()?;
        transaction.commit()?;
    }
    units.sort_by_key(UnitReport::key);
    let mut totals: BTreeMap<String, ExactSum> = BTreeMap::new();
    for (metric, sum) in units.iter().flat_map(|unit| &unit.totals) {
        totals.entry(metric.clone()).or_default().merge(*sum);
    }
    Ok(LoadReport {
        units,
        totals,
        unchanged: !changed,
        servers: Vec::new(),
    })
}

/// Reads all bills into the transaction. Says what came of them, and whether anything changed.
fn load_bills(listing: &Listing, policy: &Policy, mut bills: Bills<'_>) -> Result<(Vec<UnitReport>, bool), StoreError> {
    bills.load_warnings.clone_from(&listing.warnings);
    bills.gauge.total = listing.bills.iter().map(|file| file.size).sum();
    for file in &listing.bills {
        load_bill(file, &mut bills)?;
    }
    let (reports, changed) = finish::finish(bills, policy)?;
    if reports.is_empty() {
        let names: Vec<String> = listing
            .bills
            .iter()
            .map(|file| file.path.display().to_string())
            .collect();
        return Err(InputError::new(names.join(", "), "holds no charge, only a header")
            .hint("the export has no rows: look at its month and its filters")
            .into());
    }
    Ok((reports, changed))
}

fn load_bill(file: &Listed, bills: &mut Bills<'_>) -> Result<(), StoreError> {
    let mut input = Input::open(&file.path)?;
    bills.open(input.name(), &file.sha256, input.counter());
    if let Decode::Bill(decode) = file.format.decode {
        decode(&mut input, bills)?;
    }
    bills.gauge.before += file.size;
    Ok(())
}

fn metrics_file(file: &Listed) -> MetricsFile {
    MetricsFile {
        path: file.path.clone(),
        format: file.format,
        sha256: file.sha256.clone(),
    }
}

fn price_file(file: &Listed) -> PriceFile {
    PriceFile {
        path: file.path.clone(),
        format: file.format,
        sha256: file.sha256.clone(),
    }
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

#[cfg(test)]
mod tests;
