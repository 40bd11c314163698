//! Runs of jobs: kept by month, a later record of a run in the place of the earlier, and read back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lowwater_model::job::{ExitState, JobRun};
use lowwater_model::offer::Market;
use lowwater_model::policy::Policy;

use crate::error::{InputError, StoreError};
use crate::format::{Decode, JobSink, MetricsOptions};
use crate::input::Input;
use crate::layout::{RejectedMoney, Transaction, UsageUnit};
use crate::load::{LoadRequest, Output, Progress, Reject, RejectLimit, UnitReport, Values, write, write_rejects};
use crate::schema;
use crate::session::{Row, Session};
use crate::store::Store;
use crate::usage::{MetricsFile, by_source};

/// Runs of one load are held in memory; more than this are not jobs.
const MAX_RUNS: usize = 5_000_000;

/// A run is known by its job and its start; one that waits, by when it was asked for.
type Key = (String, i64);

fn key(run: &JobRun) -> Key {
    let at = run.start.or(run.submitted).map_or(0, Timestamp::as_second);
    (run.job.clone(), at)
}

fn month_of(run: &JobRun) -> String {
    let at = run.start.or(run.submitted).unwrap_or(Timestamp::UNIX_EPOCH);
    TimeZone::UTC.to_datetime(at).date().strftime("%Y-%m").to_string()
}

/// All files of a load that hold jobs of one source.
#[derive(Default)]
struct Taken {
    runs: BTreeMap<Key, JobRun>,
    rejects: Vec<Reject>,
    warnings: BTreeSet<String>,
    inputs: BTreeSet<String>,
}

impl JobSink for Taken {
    fn run(&mut self, run: JobRun) -> Result<(), StoreError> {
        if self.runs.len() == MAX_RUNS {
            let what = format!("more than {MAX_RUNS} runs of jobs in one load");
            return Err(InputError::new("jobs", what).hint("load them in parts").into());
        }
        self.runs.insert(key(&run), run);
        Ok(())
    }
    fn reject(&mut self, reject: Reject) {
        self.rejects.push(reject);
    }
    fn warn(&mut self, warning: String) {
        self.warnings.insert(warning);
    }
}

/// Reads jobs into the transaction. Says what came of them, and whether anything changed.
pub(crate) fn ingest(
    files: Vec<MetricsFile>,
    (request, policy): (&LoadRequest, &Policy),
    transaction: &mut Transaction,
    progress: &dyn Progress,
) -> Result<(Vec<UnitReport>, bool), StoreError> {
    let mut reports = Vec::new();
    let mut changed = false;
    for (source, files) in by_source(files, request) {
        let known: BTreeSet<String> = units_of(transaction, &source)
            .flat_map(|unit| unit.inputs.clone())
            .collect();
        let (old, new): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| known.contains(&file.sha256));
        if new.is_empty() {
            let holds = |unit: &&UsageUnit| old.iter().any(|file| unit.inputs.contains(&file.sha256));
            reports.extend(units_of(transaction, &source).filter(holds).map(report));
            continue;
        }
        let taken = decode(&new, request, progress)?;
        let rejects = (taken.rejects.len() as u64, &taken.rejects[..]);
        RejectLimit::of(policy).check_rows(&source, (taken.runs.len() as u64, "runs"), rejects)?;
        reports.extend(enter(&source, taken, transaction)?);
        changed = true;
    }
    Ok((reports, changed))
}

fn units_of<'a>(transaction: &'a Transaction, source: &'a str) -> impl Iterator<Item = &'a UsageUnit> {
    transaction
        .manifest
        .jobs
        .values()
        .filter(move |unit| unit.source == source)
}

fn decode(files: &[MetricsFile], request: &LoadRequest, progress: &dyn Progress) -> Result<Taken, StoreError> {
    let options = MetricsOptions {
        host: request.host.clone(),
        tz: request.tz.clone(),
        at: request.at,
    };
    let mut taken = Taken::default();
    for (number, file) in files.iter().enumerate() {
        if progress.stop() {
            return Err(StoreError::Stopped);
        }
        progress.at("reading jobs", number as u64, files.len() as u64);
        let mut input = Input::open(&file.path)?;
        if let Decode::Jobs(decode) = file.format.decode {
            decode(&mut input, &options, &mut taken)?;
        }
        taken.inputs.insert(file.sha256.clone());
    }
    if taken.runs.is_empty() {
        let names: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
        let what = match taken.rejects.first() {
            Some(reject) => format!(
                "holds no run of a job that can be taken; the first row: {}",
                reject.line()
            ),
            None => "holds no run of a job".into(),
        };
        let hint = "a run has at least a job and a start";
        return Err(InputError::new(names.join(", "), what).hint(hint).into());
    }
    Ok(taken)
}

/// Merges runs into their months. Rows that could not be read belong to the first of them: their own is unknown.
fn enter(source: &str, mut taken: Taken, transaction: &mut Transaction) -> Result<Vec<UnitReport>, StoreError> {
    let mut months: BTreeMap<String, BTreeMap<Key, JobRun>> = BTreeMap::new();
    for (key, run) in std::mem::take(&mut taken.runs) {
        months.entry(month_of(&run)).or_default().insert(key, run);
    }
    let mut reports = Vec::new();
    for (month, new) in months {
        let mut unit = unit(source, &month, &taken, transaction);
        let mut runs = stored(&unit, transaction)?;
        runs.extend(new);
        fill(&mut unit, &runs, transaction)?;
        let rejects = std::mem::take(&mut taken.rejects);
        if !rejects.is_empty() {
            unit.rejects += rejects.len() as u64;
            let staged = transaction.stage("rejects", &[("source", source), ("month", &month)])?;
            write_rejects(&staged.path, (source, "", &month), &rejects)?;
            unit.files.entry("rejects".into()).or_default().push(staged.name);
        }
        reports.push(report(&unit));
        transaction.manifest.jobs.insert(unit.key(), unit);
    }
    Ok(reports)
}

/// The unit of a month as it is, or a new one, with what this load adds.
fn unit(source: &str, month: &str, taken: &Taken, transaction: &Transaction) -> UsageUnit {
    let new = UsageUnit {
        source: source.to_owned(),
        month: month.to_owned(),
        rows: 0,
        rejects: 0,
        first: 0,
        last: 0,
        inputs: Vec::new(),
        warnings: Vec::new(),
        files: BTreeMap::new(),
        provider_ids: BTreeMap::new(),
        loaded_at: Timestamp::now(),
    };
    let mut unit = transaction.manifest.jobs.get(&new.key()).cloned().unwrap_or(new);
    let union = |mine: &[String], theirs: &BTreeSet<String>| -> Vec<String> {
        let all: BTreeSet<String> = mine.iter().chain(theirs).cloned().collect();
        all.into_iter().collect()
    };
    unit.inputs = union(&unit.inputs, &taken.inputs);
    unit.warnings = union(&unit.warnings, &taken.warnings);
    unit.loaded_at = Timestamp::now();
    unit
}

/// Runs that a month holds.
fn stored(unit: &UsageUnit, transaction: &Transaction) -> Result<BTreeMap<Key, JobRun>, StoreError> {
    let Some(names) = unit.files.get("jobs") else {
        return Ok(BTreeMap::new());
    };
    let files: Vec<PathBuf> = names.iter().map(|name| transaction.path(name)).collect();
    let session = Session::new()?;
    session.register_files("jobs", schema::jobs(), &files)?;
    let rows = session.query("SELECT * FROM jobs")?;
    let runs = rows.iter().filter_map(run).map(|run| (key(&run), run));
    Ok(runs.collect())
}

fn fill(unit: &mut UsageUnit, runs: &BTreeMap<Key, JobRun>, transaction: &mut Transaction) -> Result<(), StoreError> {
    let staged = transaction.stage("jobs", &[("source", &unit.source), ("month", &unit.month)])?;
    let runs: Vec<&JobRun> = runs.values().collect();
    let nodes: Vec<String> = runs.iter().map(|run| run.nodes.join(" ")).collect();
    write(&staged.path, &columns(unit, &runs, &nodes), runs.len())?;
    let starts = runs
        .iter()
        .filter_map(|run| run.start.or(run.submitted))
        .map(Timestamp::as_second);
    unit.first = starts.min().unwrap_or(0);
    let ends = runs
        .iter()
        .filter_map(|run| run.end.or(run.start).or(run.submitted))
        .map(Timestamp::as_second);
    unit.last = ends.max().unwrap_or(0);
    unit.rows = runs.len() as u64;
    unit.files.insert("jobs".into(), vec![staged.name]);
    Ok(())
}

fn columns<'a>(unit: &'a UsageUnit, runs: &[&'a JobRun], nodes: &'a [String]) -> Vec<Output<'a>> {
    let texts = |text: fn(&JobRun) -> Option<&str>| Values::Texts(runs.iter().map(|run| text(run)).collect());
    let times = |time: fn(&JobRun) -> Option<Timestamp>| {
        Values::Integers(
            runs.iter()
                .map(|run| time(run).map(Timestamp::as_microsecond))
                .collect(),
        )
    };
    let counts = |count: fn(&JobRun) -> Option<u32>| {
        Values::Integers(runs.iter().map(|run| count(run).map(i64::from)).collect())
    };
    // not money: counts of machines and of accelerators
    let numbers = |number: fn(&JobRun) -> Option<f64>| {
        let units = |run: &&JobRun| number(run).map(|n| (n * 1e6).round() as i128 * 1_000_000);
        Values::Decimals(runs.iter().map(units).collect())
    };
    let values = |name: &str| match name {
        "x_Source" => Values::Constant(&unit.source),
        "x_Month" => Values::Constant(&unit.month),
        "x_Job" => texts(|run| Some(&run.job)),
        "x_Workload" => texts(|run| run.workload.as_deref()),
        "x_Submitted" => times(|run| run.submitted),
        "x_Start" => times(|run| run.start),
        "x_End" => times(|run| run.end),
        "x_Sku" => texts(|run| run.sku.as_deref()),
        "x_Count" => numbers(|run| run.count),
        "x_Gpus" => numbers(|run| run.gpus),
        "RegionId" => texts(|run| run.region.as_deref()),
        "x_Market" => texts(|run| run.market.map(Market::as_str)),
        "x_ExitState" => texts(|run| Some(run.exit.as_str())),
        "x_Checkpoints" => counts(|run| run.checkpoints),
        "x_LastCheckpoint" => times(|run| run.last_checkpoint),
        "x_Restarts" => counts(|run| run.restarts),
        "x_Nodes" => Values::Texts(
            nodes
                .iter()
                .map(|nodes| Some(nodes.as_str()).filter(|text| !text.is_empty()))
                .collect(),
        ),
        _ => Values::Null,
    };
    let column = |c: &schema::Column| Output {
        name: c.name,
        kind: c.kind,
        values: values(c.name),
    };
    schema::JOBS.iter().map(column).collect()
}

fn run(row: Row<'_>) -> Option<JobRun> {
    let text = |name: &str| row.text(name).map(str::to_owned);
    let time = |name: &str| Timestamp::from_second(row.second(name)?).ok();
    let count = |name: &str| row.int(name).map(|n| n as u32);
    Some(JobRun {
        job: text("x_Job")?,
        workload: text("x_Workload"),
        submitted: time("x_Submitted"),
        start: time("x_Start"),
        end: time("x_End"),
        sku: text("x_Sku"),
        count: row.number("x_Count"),
        gpus: row.number("x_Gpus"),
        region: text("RegionId"),
        market: row.text("x_Market").and_then(Market::parse),
        exit: ExitState::parse(row.text("x_ExitState")?)?,
        checkpoints: count("x_Checkpoints"),
        last_checkpoint: time("x_LastCheckpoint"),
        restarts: count("x_Restarts"),
        nodes: text("x_Nodes").map_or_else(Vec::new, |nodes| nodes.split(' ').map(str::to_owned).collect()),
    })
}

fn report(unit: &UsageUnit) -> UnitReport {
    UnitReport {
        kind: "jobs",
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

impl Store {
    /// Every run that was asked for or began before an instant, in order of job and start.
    pub fn jobs(&self, until: Timestamp) -> Result<Vec<JobRun>, StoreError> {
        if self.manifest().jobs.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self
            .session()?
            .query("SELECT * FROM jobs ORDER BY x_Job, x_Start, x_Submitted")?;
        let known = |run: &JobRun| run.start.or(run.submitted).is_some_and(|at| at < until);
        Ok(rows.iter().filter_map(run).filter(known).collect())
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
