//! Slurm's accounting: `sacct --parsable2` with whatever columns were asked for.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lowwater_model::job::{ExitState, JobRun};

use super::{Decode, Format, Head, JobSink, MetricsOptions};
use crate::hostlist;
use crate::error::{InputError, StoreError};
use crate::input::Input;
use crate::lines::{Line, LineReader};
use crate::metrics::{Clock, ClockError, reject, zone_is_missing};

/// The format.
pub const FORMAT: Format = Format {
    name: "sacct",
    title: "Slurm accounting, `sacct --parsable2`",
    doc: "Output of `sacct --parsable2` (`|` between fields) with its header; columns by name, `JobID` and `State` are needed, and `Start`; read are `JobName`, \
`Partition`, `Submit`, `End`, `AllocTRES` (or `ReqTRES`), `NodeList`, `Restarts`. Ask for all: `sacct -aDX --parsable2 --format=JobID,JobName,Partition,State,Submit,Start,End,AllocTRES,NodeList,Restarts`. \
Slurm writes local times: give `--tz`. Steps (`123.batch`) belong to their job and are left out. GPUs are `gres/gpu` of AllocTRES; a job \
whose TRES names none has none, and without the column their number is unknown. With `-D` every run of a requeued job is a row.",
    detects,
    decode: Decode::Jobs(decode),
};

/// Longest line that is read: node lists can be long.
const MAX_LINE_BYTES: usize = 1 << 20;
/// More than any job has, as for jobs from other schedulers.
const MAX_GPUS: f64 = 1e6;
/// See `MAX_GPUS`.
const MAX_RESTARTS: u32 = 1_000_000;

fn detects(head: &Head<'_>) -> bool {
    let names: Vec<&str> = head.first_line().split('|').collect();
    names.len() > 2 && ["JobID", "State"].iter().all(|needed| names.contains(needed))
}

fn decode(input: &mut Input, options: &MetricsOptions, sink: &mut dyn JobSink) -> Result<(), StoreError> {
    let file = input.name().to_owned();
    let mut clock = Clock::new(options, &file)?;
    let mut lines = LineReader::new(input, MAX_LINE_BYTES);
    let header: Vec<String> = match lines.read()? {
        Some((_, Line::Whole(line))) => String::from_utf8_lossy(line).split('|').map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    for needed in ["JobID", "State", "Start"] {
        if !header.iter().any(|h| h == needed) {
            let what = format!("has no column `{needed}`");
            let hint = "ask for it: sacct --parsable2 --format=JobID,JobName,Partition,State,Submit,Start,End,AllocTRES,NodeList,Restarts";
            return Err(InputError::new(file, what).hint(hint).into());
        }
    }
    while let Some((number, line)) = lines.read()? {
        let text = match line {
            Line::Whole(line) => std::str::from_utf8(line).ok(),
            Line::TooLong(_) => None,
        };
        let Some(text) = text else {
            let (Line::Whole(bytes) | Line::TooLong(bytes)) = line;
            sink.reject(reject(&file, number, "", bytes, "is longer than 1 MiB or not UTF-8"));
            continue;
        };
        if text.is_empty() {
            continue;
        }
        let values: Vec<&str> = text.split('|').collect();
        if values.len() != header.len() {
            // A job's name may hold the sign that separates fields.
            let why = format!("has {} fields, the header {}", values.len(), header.len());
            sink.reject(reject(&file, number, "", text.as_bytes(), why));
            continue;
        }
        let fields = Fields(header.iter().map(String::as_str).zip(values).collect());
        match fields.run(&mut clock) {
            Ok(Some(run)) => sink.run(run)?,
            Ok(None) => {}
            Err((column, ClockError::NoZone)) => return Err(zone_is_missing(&file, number, fields.get(column))),
            Err((column, ClockError::Unreadable(why))) => {
                sink.reject(reject(&file, number, column, fields.get(column).as_bytes(), why));
            }
        }
    }
    if clock.was_ambiguous {
        sink.warn(format!("{file}: some times came twice, because the clocks changed; the first is meant"));
    }
    Ok(())
}

struct Fields<'a>(BTreeMap<&'a str, &'a str>);

impl Fields<'_> {
    fn get(&self, column: &str) -> &str {
        self.0.get(column).copied().unwrap_or_default().trim()
    }

    fn text(&self, column: &str) -> Option<String> {
        let text = self.get(column);
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Slurm writes `Unknown` and `None` for what has not happened.
    fn time(&self, column: &'static str, clock: &mut Clock) -> Result<Option<Timestamp>, (&'static str, ClockError)> {
        match self.get(column) {
            "" | "Unknown" | "None" => Ok(None),
            text => clock.read_alone(text).map(Some).map_err(|error| (column, error)),
        }
    }

    /// None for a step and for a job that is not yet known to anybody.
    fn run(&self, clock: &mut Clock) -> Result<Option<JobRun>, (&'static str, ClockError)> {
        let job = self.get("JobID");
        if job.contains('.') || job.is_empty() {
            return Ok(None);
        }
        let (submitted, start) = (self.time("Submit", clock)?, self.time("Start", clock)?);
        let end = self.time("End", clock)?;
        if submitted.or(start).is_none() {
            return Err(("Start", ClockError::Unreadable("is unknown, and so is Submit".into())));
        }
        if start.zip(end).is_some_and(|(start, end)| end < start) {
            return Err(("End", ClockError::Unreadable("is before the start".into())));
        }
        let (gpus, sku) = self.gpus();
        if gpus.is_some_and(|gpus| !(0.0..=MAX_GPUS).contains(&gpus)) {
            let column = self.gpu_column().unwrap_or_default();
            return Err((column, ClockError::Unreadable("has a number of GPUs that no job has".into())));
        }
        Ok(Some(JobRun {
            job: job.to_owned(),
            workload: self.text("JobName").or_else(|| self.text("Partition")),
            submitted,
            start,
            end,
            sku,
            count: gpus,
            gpus,
            region: None,
            market: None,
            exit: ExitState::read(self.get("State")),
            checkpoints: None,
            last_checkpoint: None,
            restarts: self.restarts()?,
            nodes: self.nodes(),
        }))
    }

    fn restarts(&self) -> Result<Option<u32>, (&'static str, ClockError)> {
        match self.get("Restarts") {
            "" | "Unknown" => Ok(None),
            text => match text.parse::<u32>() {
                Ok(restarts) if restarts <= MAX_RESTARTS => Ok(Some(restarts)),
                _ => Err(("Restarts", ClockError::Unreadable("is no number of restarts".into()))),
            },
        }
    }

    /// Slurm writes `None assigned` before a job runs.
    fn nodes(&self) -> Vec<String> {
        match self.get("NodeList") {
            "None assigned" | "Unknown" => Vec::new(),
            text => hostlist::expand(text).unwrap_or_default(),
        }
    }

    fn gpu_column(&self) -> Option<&'static str> {
        ["AllocTRES", "AllocGRES", "ReqTRES"].into_iter().find(|c| self.0.contains_key(c))
    }

    /// GPUs and their type: `cpu=96,gres/gpu=8,gres/gpu:a100=8,mem=1T`.
    fn gpus(&self) -> (Option<f64>, Option<String>) {
        let Some(column) = self.gpu_column() else { return (None, None) };
        let entries = self.get(column).split(',').filter_map(|entry| entry.split_once('='));
        let mut typed: (f64, Option<String>) = (0.0, None);
        let mut plain = None;
        for (name, value) in entries {
            let Ok(number) = value.parse::<f64>() else { continue };
            match name.strip_prefix("gres/gpu") {
                Some("") => plain = Some(number),
                Some(kind) => {
                    typed.0 += number;
                    typed.1 = kind.strip_prefix(':').map(str::to_uppercase);
                }
                None => {}
            }
        }
        (Some(plain.unwrap_or(typed.0)), typed.1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::jobs::testing::{TakenRuns, take_jobs};
    use super::*;

    const HEADER: &str = "JobID|JobName|Partition|State|Submit|Start|End|AllocTRES|Restarts\n";

    fn read(text: &str) -> Result<TakenRuns, String> {
        let options = MetricsOptions { tz: Some("America/New_York".into()), ..MetricsOptions::default() };
        take_jobs(&FORMAT, "sacct.txt", text, &options)
    }

    #[test]
    fn jobs_steps_arrays_and_requeues() {
        let text = format!(
            "{HEADER}1001|train|gpu|COMPLETED|2026-10-01T08:00:00|2026-10-01T08:30:00|2026-10-01T12:30:00|billing=96,cpu=96,gres/gpu:a100=8,gres/gpu=8,mem=1T,node=1|0\n\
             1001.batch|batch||COMPLETED|2026-10-01T08:30:00|2026-10-01T08:30:00|2026-10-01T12:30:00|cpu=96,mem=1T,node=1|0\n\
             1002_7|sweep|gpu|CANCELLED by 1000|2026-10-01T08:00:00|2026-10-01T09:00:00|2026-10-01T09:10:00|cpu=4,gres/gpu=1|\n\
             1003|big|gpu|PREEMPTED|2026-10-01T08:00:00|2026-10-01T09:00:00|2026-10-01T10:00:00|cpu=4,gres/gpu=8|1\n\
             1003|big|gpu|RUNNING|2026-10-01T10:00:00|2026-10-01T11:00:00|Unknown|cpu=4,gres/gpu=8|1\n\
             1004|wait|gpu|PENDING|2026-10-01T10:00:00|Unknown|Unknown||0\n"
        );
        let taken = read(&text).unwrap();
        let told: Vec<_> = taken.runs.iter().map(|r| (r.job.as_str(), r.exit, r.gpus)).collect();
        let want = [
            ("1001", ExitState::Completed, Some(8.0)),
            ("1002_7", ExitState::Cancelled, Some(1.0)),
            ("1003", ExitState::Preempted, Some(8.0)),
            ("1003", ExitState::Running, Some(8.0)),
            ("1004", ExitState::Pending, Some(0.0)),
        ];
        assert_eq!(told, want);
        assert_eq!(taken.runs[0].start.unwrap().to_string(), "2026-10-01T12:30:00Z");
        assert_eq!(taken.runs[0].queue_wait_hours(), Some(0.5));
        assert_eq!(taken.runs[0].sku.as_deref(), Some("A100"));
        assert!(taken.rejects.is_empty(), "{:?}", taken.rejects);
    }

    #[test]
    fn node_lists_become_hosts() {
        let text = "JobID|State|Start|End|NodeList\n\
                    5|COMPLETED|2026-10-01T08:00:00|2026-10-01T09:00:00|gpu[01-02]\n\
                    6|PENDING|2026-10-01T08:00:00|Unknown|None assigned\n";
        let taken = read(text).unwrap();
        assert_eq!(taken.runs[0].nodes, ["gpu01", "gpu02"]);
        assert!(taken.runs[1].nodes.is_empty());
    }

    #[test]
    fn without_tres_the_gpus_are_unknown() {
        let text = "JobID|State|Start|End\n5|FAILED|2026-10-01T08:00:00|2026-10-01T09:00:00\n";
        assert_eq!(read(text).unwrap().runs[0].gpus, None);
    }

    #[test]
    fn rows_that_cannot_be() {
        let text = format!("{HEADER}1|a|b|p|COMPLETED|x|y|z|0|0\n2|a|p|COMPLETED|today|2026-10-01T08:00:00|Unknown||0\n3|a|p|FAILED|Unknown|Unknown|Unknown||0\n\
             4|a|p|FAILED|2026-10-01T08:00:00Z|2026-10-01T08:00:00Z|Unknown|gres/gpu=99999999999999|0\n\
             5|a|p|FAILED|2026-10-01T08:00:00Z|2026-10-01T08:00:00Z|Unknown|gres/gpu=8|-3\n");
        let taken = read(&text).unwrap();
        let places: Vec<(u64, &str)> = taken.rejects.iter().map(|r| (r.row, r.column.as_str())).collect();
        assert_eq!(places, [(2, ""), (3, "Submit"), (4, "Start"), (5, "AllocTRES"), (6, "Restarts")]);
        let error = read("JobID|JobName|State\n").unwrap_err();
        assert!(error.contains("no column `Start`") && error.contains("sacct --parsable2"), "{error}");
    }

    proptest! {
        #[test]
        fn never_panics(text in "[-0-9a-zA-Z|:.=/,\n ]{0,300}") {
            let _ = read(&format!("{HEADER}{text}"));
        }
    }
}
