//! Metrics into the store: decode, sort, make hours, merge into the months that are there.

mod sink;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use jiff::Timestamp;
use lowwater_model::policy::Policy;

use self::sink::{Seen, Sink, poll};
use super::hours::GpuHours;
use super::month::{Months, Written};
use super::names::Names;
use super::sort::{Sorted, Sorter};
use crate::error::{InputError, StoreError};
use crate::format::{Decode, Format, MetricsOptions, MetricsSink};
use crate::input::Input;
use crate::join::ProviderIds;
use crate::layout::{RejectedMoney, Transaction, UsageUnit};
use crate::load::{Existing, LoadRequest, Progress, UnitReport, write_rejects};

/// A file of metrics, recognised. It is opened when its turn comes: a directory may hold more files than a process may open.
#[derive(Clone)]
pub struct MetricsFile {
    /// Where.
    pub path: PathBuf,
    /// What reads it.
    pub format: &'static Format,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// Merges files of metrics into the store within the caller's transaction. The order of files does not matter.
///
/// A file that was loaded before, under the same options, changes nothing: where no file is new the answer is what holds them, and false.
pub fn ingest(
    files: Vec<MetricsFile>,
    request: &LoadRequest,
    policy: &Policy,
    transaction: &mut Transaction,
    progress: &dyn Progress,
) -> Result<(Vec<UnitReport>, bool), StoreError> {
    let mut reports = Vec::new();
    let mut changed = false;
    for (source, files) in by_source(files, request) {
        let mut load = SourceLoad {
            replace: request.existing == Existing::Replace,
            max_gap_seconds: max_gap_seconds(policy),
            source,
            transaction,
            progress,
            seen: Seen::default(),
            inputs: BTreeSet::new(),
            known: BTreeSet::new(),
            provider_ids: ProviderIds::new(),
        };
        if let Some((names, sorted)) = load.decode(files, request)? {
            load.seen.refuse_nonsense(&load.source, policy)?;
            let months = load.merge(&names, sorted)?;
            reports.extend(load.enter(months)?);
            changed = true;
        } else {
            reports.extend(load.holders().map(report));
        }
    }
    Ok((reports, changed))
}

/// Files by the name of their source: what the user called it, else the format.
pub(crate) fn by_source(files: Vec<MetricsFile>, request: &LoadRequest) -> BTreeMap<String, Vec<MetricsFile>> {
    let mut sources: BTreeMap<String, Vec<MetricsFile>> = BTreeMap::new();
    for file in files {
        let source = request.source.clone().unwrap_or_else(|| file.format.name.to_owned());
        sources.entry(source).or_default().push(file);
    }
    sources
}

/// Samples that come from no file.
pub(crate) struct Stream<'a> {
    /// Source.
    pub source: &'a str,
    /// Ids that the cloud gave to hosts.
    pub provider_ids: ProviderIds,
}

/// What a stream was: an id of its content, as SHA-256 is for a file.
pub(crate) type ReadStream<'a> = &'a mut dyn FnMut(&mut dyn MetricsSink) -> Result<String, StoreError>;

/// Merges samples into the store within the caller's transaction. The answer has no unit where no sample came, and says
/// whether anything changed: the same content twice changes nothing.
pub(crate) fn ingest_stream(
    stream: Stream<'_>,
    policy: &Policy,
    transaction: &mut Transaction,
    progress: &dyn Progress,
    read: ReadStream<'_>,
) -> Result<(Vec<UnitReport>, bool), StoreError> {
    let mut sorter = Sorter::new(&transaction.scratch()?);
    let mut load = SourceLoad {
        replace: false,
        max_gap_seconds: max_gap_seconds(policy),
        source: stream.source.to_owned(),
        transaction,
        progress,
        seen: Seen::default(),
        inputs: BTreeSet::new(),
        known: BTreeSet::new(),
        provider_ids: stream.provider_ids,
    };
    let id = read(&mut Sink {
        sorter: &mut sorter,
        seen: &mut load.seen,
        progress,
        tell: &|_| {},
    })?;
    load.known.insert(id.clone());
    let known: Vec<UnitReport> = load.holders().map(report).collect();
    if !known.is_empty() || load.seen.samples == 0 {
        return Ok((known, false));
    }
    load.inputs.insert(id);
    let (names, sorted) = sorter.finish();
    let months = load.merge(&names, sorted)?;
    Ok((load.enter(months)?, true))
}

fn max_gap_seconds(policy: &Policy) -> i64 {
    policy.section("usage").int("max_gap_minutes").clamp(1, 24 * 60) * 60
}

/// All files of one source in one load.
struct SourceLoad<'a> {
    source: String,
    replace: bool,
    max_gap_seconds: i64,
    transaction: &'a mut Transaction,
    progress: &'a dyn Progress,
    seen: Seen,
    /// Ids of the files that are new.
    inputs: BTreeSet<String>,
    /// Ids of the files that are in the store.
    known: BTreeSet<String>,
    provider_ids: ProviderIds,
}

impl SourceLoad<'_> {
    /// The units that hold the files of this load that were known.
    fn holders(&self) -> impl Iterator<Item = &UsageUnit> {
        let units = self.transaction.manifest.usage.values();
        let holds = |unit: &&UsageUnit| unit.inputs.iter().any(|input| self.known.contains(input));
        units.filter(move |unit| unit.source == self.source && holds(unit))
    }

    /// Reads every file that is new; none where no file is.
    fn decode(
        &mut self,
        files: Vec<MetricsFile>,
        request: &LoadRequest,
    ) -> Result<Option<(Names, Sorted)>, StoreError> {
        let options = MetricsOptions {
            host: request.host.clone(),
            tz: request.tz.clone(),
            at: request.at,
        };
        let units = self.transaction.manifest.usage.values();
        let units = units.filter(|unit| unit.source == self.source && !self.replace);
        let stored: BTreeSet<String> = units.flat_map(|unit| unit.inputs.clone()).collect();
        let mut sorter = Sorter::new(&self.transaction.scratch()?);
        for file in files {
            let id = input_id(&file.sha256, &options);
            if stored.contains(&id) {
                self.known.insert(id);
            } else if self.inputs.insert(id) {
                self.decode_one(&file, &options, &mut sorter)?;
            }
        }
        Ok((!self.inputs.is_empty()).then(|| sorter.finish()))
    }

    fn decode_one(
        &mut self,
        file: &MetricsFile,
        options: &MetricsOptions,
        sorter: &mut Sorter,
    ) -> Result<(), StoreError> {
        let mut input = Input::open(&file.path)?;
        let (name, size, counter) = (input.name().to_owned(), input.size(), input.counter());
        let Decode::Metrics(decode) = file.format.decode else {
            let what = format!("{} is no format of metrics", file.format.name);
            return Err(InputError::new(name, what).into());
        };
        let before = self.seen.samples;
        let mut sink = Sink {
            sorter,
            seen: &mut self.seen,
            progress: self.progress,
            tell: &|progress| progress.at(&name, counter.load(Ordering::Relaxed), size),
        };
        decode(&mut input, options, &mut sink)?;
        if self.seen.samples == before {
            self.seen.warnings.insert(format!("{name} holds no sample of a GPU"));
        }
        Ok(())
    }

    /// Samples in order become hours, hours go into their months.
    fn merge(&mut self, names: &Names, mut sorted: Sorted) -> Result<BTreeMap<String, Written>, StoreError> {
        let samples = self.seen.samples;
        let mut months = Months::new(&self.source, self.replace);
        let mut open: Option<GpuHours<'_>> = None;
        let mut done = 0;
        while let Some(point) = sorted.next()? {
            done += 1;
            poll(self.progress, done, &|progress| {
                progress.at("making hours of samples", done, samples);
            })?;
            if let Some(gpu) = open.take_if(|gpu| gpu.gpu() != point.gpu) {
                self.write(gpu, &mut months)?;
            }
            open.get_or_insert_with(|| GpuHours::new(names, point.gpu, self.max_gap_seconds))
                .push(point);
        }
        if let Some(gpu) = open {
            self.write(gpu, &mut months)?;
        }
        months.finish(self.transaction)
    }

    fn write(&mut self, gpu: GpuHours<'_>, months: &mut Months) -> Result<(), StoreError> {
        let mut rows = gpu.finish().into_iter();
        rows.try_for_each(|row| months.push(row, self.transaction))
    }

    /// Enters the months into the manifest. Lines that could not be read belong to the first of them: their own is unknown.
    fn enter(mut self, months: BTreeMap<String, Written>) -> Result<Vec<UnitReport>, StoreError> {
        let mut reports = Vec::new();
        for (month, written) in months {
            let rejects = std::mem::take(&mut self.seen.rejects);
            let mut unit = self.unit(&month, written);
            unit.rejects += rejects.len() as u64;
            if !rejects.is_empty() {
                let staged = self
                    .transaction
                    .stage("rejects", &[("source", &self.source), ("month", &month)])?;
                write_rejects(&staged.path, (&unit.source, "", &unit.month), &rejects)?;
                unit.files.entry("rejects".into()).or_default().push(staged.name);
            }
            reports.push(report(&unit));
            self.transaction.manifest.usage.insert(unit.key(), unit);
        }
        Ok(reports)
    }

    /// The unit of a month, with what it was before.
    fn unit(&self, month: &str, written: Written) -> UsageUnit {
        let mut unit = UsageUnit {
            source: self.source.clone(),
            month: month.to_owned(),
            rows: written.rows,
            rejects: 0,
            first: written.first,
            last: written.last,
            inputs: self.inputs.iter().cloned().collect(),
            warnings: self.seen.warnings.iter().cloned().collect(),
            files: BTreeMap::from([("usage".to_owned(), written.files)]),
            provider_ids: self.provider_ids.clone(),
            loaded_at: Timestamp::now(),
        };
        let Some(old) = self
            .transaction
            .manifest
            .usage
            .get(&unit.key())
            .filter(|_| !self.replace)
        else {
            return unit;
        };
        let both = |a: &[String], b: &[String]| {
            a.iter()
                .chain(b)
                .cloned()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect()
        };
        unit.rejects = old.rejects;
        unit.inputs = both(&old.inputs, &unit.inputs);
        unit.warnings = both(&old.warnings, &unit.warnings);
        for (host, ids) in &old.provider_ids {
            unit.provider_ids
                .entry(host.clone())
                .or_default()
                .extend(ids.iter().cloned());
        }
        if let Some(rejects) = old.files.get("rejects") {
            unit.files.insert("rejects".into(), rejects.clone());
        }
        unit
    }
}

/// A unit as a load tells of it.
fn report(unit: &UsageUnit) -> UnitReport {
    UnitReport {
        kind: "usage",
        source: unit.source.clone(),
        account: String::new(),
        month: unit.month.clone(),
        rows: unit.rows,
        rejects: unit.rejects,
        totals: BTreeMap::new(),
        rejected: RejectedMoney::default(),
        replaced: None,
        beside: None,
        warnings: unit.warnings.clone(),
    }
}

/// The same bytes under other options are other samples: the id of a file holds both.
fn input_id(sha256: &str, options: &MetricsOptions) -> String {
    let at = options.at.map(|at| at.to_string());
    let given = [("host", &options.host), ("tz", &options.tz), ("at", &at)];
    let told = given
        .iter()
        .filter_map(|(name, value)| Some(format!(" {name}={}", value.as_ref()?)));
    std::iter::once(sha256.to_owned()).chain(told).collect()
}

#[cfg(test)]
mod tests;
