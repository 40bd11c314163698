//! Taking loads back: units leave the manifest, and with it every answer. Their files go with the next writer.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use lowwater_model::charge::CostMetric;
use lowwater_model::money::ExactSum;

use crate::error::StoreError;
use crate::layout::{BillUnit, Layout, Manifest, PriceUnit, UsageUnit};
use crate::load::Progress;

/// Kinds of units, in the order in which they are listed.
pub const KINDS: [&str; 4] = ["bill", "usage", "jobs", "prices"];

/// What was loaded as one, and is taken back as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// One of [`KINDS`].
    pub kind: &'static str,
    /// Source.
    pub source: String,
    /// Billing account; the provider of a price list; empty for metrics and jobs.
    pub account: String,
    /// Month; of a price list its day.
    pub month: String,
    /// Rows kept.
    pub rows: u64,
    /// Rows rejected.
    pub rejects: u64,
    /// BilledCost of a bill, where the file says it.
    pub billed: Option<ExactSum>,
    /// When it was loaded last.
    pub loaded_at: Timestamp,
    inputs: Vec<String>,
}

/// Which units are meant: those that all given words fit, in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Kind.
    pub kind: Option<String>,
    /// Source.
    pub source: Option<String>,
    /// Account, or the provider of a price list.
    pub account: Option<String>,
    /// Month; it fits all days of price lists in it.
    pub month: Option<String>,
}

impl Chosen {
    fn fits(&self, held: &Held) -> bool {
        let is = |word: &Option<String>, value: &str| word.as_ref().is_none_or(|word| word.eq_ignore_ascii_case(value));
        is(&self.kind, held.kind)
            && is(&self.source, &held.source)
            && is(&self.account, &held.account)
            && self
                .month
                .as_ref()
                .is_none_or(|month| held.month.starts_with(month.as_str()))
    }
}

impl From<&BillUnit> for Held {
    fn from(unit: &BillUnit) -> Self {
        Self {
            kind: "bill",
            source: unit.source.clone(),
            account: unit.account.clone(),
            month: unit.month.clone(),
            rows: unit.rows,
            rejects: unit.rejects,
            billed: unit.totals.get(CostMetric::Billed.as_str()).copied(),
            loaded_at: unit.loaded_at,
            inputs: unit.inputs.clone(),
        }
    }
}

impl From<&PriceUnit> for Held {
    fn from(unit: &PriceUnit) -> Self {
        Self {
            kind: "prices",
            source: unit.source.clone(),
            account: unit.cloud.clone(),
            month: unit.as_of.to_string(),
            rows: unit.rows,
            rejects: unit.rejects,
            billed: None,
            loaded_at: unit.loaded_at,
            inputs: unit.inputs.clone(),
        }
    }
}

fn metered(kind: &'static str, unit: &UsageUnit) -> Held {
    Held {
        kind,
        source: unit.source.clone(),
        account: String::new(),
        month: unit.month.clone(),
        rows: unit.rows,
        rejects: unit.rejects,
        billed: None,
        loaded_at: unit.loaded_at,
        inputs: unit.inputs.clone(),
    }
}

/// Every unit of a store, by kind and key.
pub fn held(manifest: &Manifest) -> Vec<Held> {
    let bills = manifest.bills.values().map(Held::from);
    let usage = manifest.usage.values().map(|unit| metered("usage", unit));
    let jobs = manifest.jobs.values().map(|unit| metered("jobs", unit));
    let prices = manifest.prices.values().map(Held::from);
    bills.chain(usage).chain(jobs).chain(prices).collect()
}

/// Takes the chosen units out of the store, all of them or none, and returns them. None fits: the store stays as it is.
pub fn unload(dir: &Path, chosen: &Chosen, progress: &dyn Progress) -> Result<Vec<Held>, StoreError> {
    let layout = Layout::open(dir)?;
    let fits = |manifest: &Manifest| -> Vec<Held> { held(manifest).into_iter().filter(|h| chosen.fits(h)).collect() };
    // A folder in which nothing fits is not even made.
    if fits(&layout.manifest()?).is_empty() {
        return Ok(Vec::new());
    }
    let mut transaction = layout.write(progress)?;
    let leaving = fits(&transaction.manifest);
    remove(&mut transaction.manifest, &leaving);
    if progress.stop() {
        return Err(StoreError::Stopped);
    }
    transaction.commit()?;
    Ok(leaving)
}

fn remove(manifest: &mut Manifest, leaving: &[Held]) {
    let keys: BTreeSet<(&str, String)> = leaving.iter().map(|h| (h.kind, key(h))).collect();
    let goes = |kind: &'static str, key: &String| keys.contains(&(kind, key.clone()));
    manifest.bills.retain(|key, _| !goes("bill", key));
    manifest.usage.retain(|key, _| !goes("usage", key));
    manifest.jobs.retain(|key, _| !goes("jobs", key));
    manifest.prices.retain(|key, _| !goes("prices", key));
    // What stays of a file that is gone in part is no whole file: loaded again, it is read again.
    let inputs: BTreeSet<&String> = leaving.iter().flat_map(|h| &h.inputs).collect();
    let stays = |input: &String| !inputs.contains(input);
    manifest.bills.values_mut().for_each(|unit| unit.inputs.retain(stays));
    let metered = manifest.usage.values_mut().chain(manifest.jobs.values_mut());
    metered.for_each(|unit| unit.inputs.retain(stays));
    manifest.prices.values_mut().for_each(|unit| unit.inputs.retain(stays));
    if manifest.bills.is_empty() {
        manifest.currency = None;
        manifest.extra_columns.clear();
    }
}

/// Key of a unit in the manifest.
fn key(held: &Held) -> String {
    match held.kind {
        "usage" | "jobs" => format!("{}/{}", held.source, held.month),
        _ => format!("{}/{}/{}", held.source, held.account, held.month),
    }
}

#[cfg(test)]
mod tests;
