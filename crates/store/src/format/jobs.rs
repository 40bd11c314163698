//! Runs of jobs as CSV or JSON, for any scheduler that can write a table.

use std::collections::BTreeMap;
use std::io::Read as _;

use lowwater_model::job::{ExitState, JobRun};
use lowwater_model::offer::Market;
use lowwater_model::sku::{find_accelerator, find_sku};
use serde_json::Value;

use super::{Decode, Format, Head, JobSink, MetricsOptions};
use crate::hostlist;
use crate::csv::{Limits, RecordReader, Row};
use crate::error::{InputError, StoreError};
use crate::input::Input;
use crate::lines::{Line, LineReader};
use crate::metrics::{Clock, ClockError, reject, zone_is_missing};

/// The format.
pub const FORMAT: Format = Format {
    name: "jobs",
    title: "runs of jobs as CSV or JSON",
    doc: "Columns `job,workload,start,end,sku,count,region,market,exit_state,checkpoints,last_checkpoint`, found by name, and `submitted`, `gpus`, \
`restarts`, `nodes` (hosts that it ran on) where there are such; only `job` and `start` are needed. As JSON an array of objects, or one object a line, with these names. Any value may be empty: an \
empty `end` is a job that runs. `sku` is an instance type or an accelerator, `count` how many of it; GPUs follow from both. Times have an \
offset or `Z`; without one give `--tz`. `market` is `on_demand`, `spot`, `1y`, `3y`, `block` or `owned`. A later record of the same job and start takes the place \
of the earlier.",
    detects,
    decode: Decode::Jobs(decode),
};

/// Longest line of JSON that is read.
const MAX_LINE_BYTES: usize = 1 << 20;
/// Largest JSON array that is read: it is held in memory.
const MAX_ARRAY_BYTES: u64 = 256 << 20;

fn detects(head: &Head<'_>) -> bool {
    let first = head.bytes.trim_ascii_start().first();
    if matches!(first, Some(b'[' | b'{')) {
        let text = String::from_utf8_lossy(&head.bytes[..head.bytes.len().min(4096)]);
        return ["\"job\"", "\"start\""].iter().all(|key| text.contains(key));
    }
    let names: Vec<String> = head
        .first_line()
        .split([',', ';', '\t'])
        .map(|n| n.trim().trim_matches('"').to_lowercase())
        .collect();
    ["job", "start"].iter().all(|needed| names.iter().any(|n| n == needed))
}

fn decode(input: &mut Input, options: &MetricsOptions, sink: &mut dyn JobSink) -> Result<(), StoreError> {
    let file = input.name().to_owned();
    let mut reader = Reader {
        clock: Clock::new(options, &file)?,
        file,
        sink,
    };
    match input.head().bytes.trim_ascii_start().first() {
        Some(b'[') => reader.array(input)?,
        Some(b'{') => reader.lines(input)?,
        _ => reader.csv(input)?,
    }
    if reader.clock.was_ambiguous {
        let warning = format!("{}: some times came twice, because the clocks changed; the first is meant", reader.file);
        reader.sink.warn(warning);
    }
    Ok(())
}

struct Reader<'a> {
    file: String,
    clock: Clock,
    sink: &'a mut dyn JobSink,
}

impl Reader<'_> {
    fn csv(&mut self, input: &mut Input) -> Result<(), StoreError> {
        let mut reader = RecordReader::new(input, Limits::default())?;
        let header: Vec<String> = reader.header().iter().map(|h| h.trim().to_lowercase()).collect();
        for needed in ["job", "start"] {
            if !header.iter().any(|h| h == needed) {
                let hint = "the header is job,workload,start,end,sku,count,region,market,exit_state,checkpoints,last_checkpoint";
                let what = format!("has no column `{needed}`");
                return Err(InputError::new(self.file.as_str(), what).hint(hint).into());
            }
        }
        while let Some(row) = reader.read()? {
            match row {
                Row::Bad(bad) => {
                    let reject = reject(&self.file, bad.number, &bad.column, bad.value.as_bytes(), bad.reason);
                    self.sink.reject(reject);
                }
                Row::Good(record) => {
                    let names = header.iter().cloned();
                    let values = record.fields().map(|field| field.trim().to_owned());
                    self.take(record.number, &Fields(names.zip(values).collect()))?;
                }
            }
        }
        Ok(())
    }

    /// One object a line.
    fn lines(&mut self, input: &mut Input) -> Result<(), StoreError> {
        let mut lines = LineReader::new(input, MAX_LINE_BYTES);
        while let Some((number, line)) = lines.read()? {
            match line {
                Line::Whole(line) if line.trim_ascii().is_empty() => {}
                Line::Whole(line) => match serde_json::from_slice(line) {
                    Ok(value) => self.value(number, &value)?,
                    Err(error) => {
                        let why = format!("is no JSON object: {error}");
                        self.sink.reject(reject(&self.file, number, "", line, why));
                    }
                },
                Line::TooLong(line) => {
                    let reject = reject(&self.file, number, "", line, "the line is longer than 1 MiB");
                    self.sink.reject(reject);
                }
            }
        }
        Ok(())
    }

    fn array(&mut self, input: &mut Input) -> Result<(), StoreError> {
        let mut bytes = Vec::new();
        let read = input.by_ref().take(MAX_ARRAY_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| input.explain(&error))?;
        if bytes.len() as u64 > MAX_ARRAY_BYTES {
            return Err(InputError::new(self.file.as_str(), "the JSON array is larger than 256 MiB")
                .hint("write one object a line: that is read line by line")
                .into());
        }
        let values: Vec<Value> = serde_json::from_slice(&bytes).map_err(|error| {
            InputError::new(self.file.as_str(), format!("is no JSON array of objects: {error}"))
                .hint("write an array of objects, or one object a line")
        })?;
        let mut values = (1..).zip(&values);
        values.try_for_each(|(number, value)| self.value(number, value))
    }

    fn value(&mut self, number: u64, value: &Value) -> Result<(), StoreError> {
        let Value::Object(map) = value else {
            let text = value.to_string();
            self.sink.reject(reject(&self.file, number, "", text.as_bytes(), "is no JSON object"));
            return Ok(());
        };
        let text = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.trim().to_owned(),
            Value::Array(all) if all.iter().all(Value::is_string) => {
                all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
            }
            other => other.to_string(),
        };
        if let Some((name, value)) = map.iter().find(|(name, value)| is_no_value(name, value)) {
            let why = "an id is a text or a whole number, and no value is an object";
            self.sink.reject(reject(&self.file, number, name, value.to_string().as_bytes(), why));
            return Ok(());
        }
        let fields = map.iter().map(|(name, value)| (name.to_lowercase(), text(value)));
        self.take(number, &Fields(fields.collect()))
    }

    fn take(&mut self, number: u64, fields: &Fields) -> Result<(), StoreError> {
        match fields.run(&mut self.clock) {
            Ok(run) => self.sink.run(run),
            Err(Fault::NoZone(column)) => Err(zone_is_missing(&self.file, number, fields.get(column))),
            Err(Fault::Bad(column, why)) => {
                let value = fields.get(column).as_bytes();
                self.sink.reject(reject(&self.file, number, column, value, why));
                Ok(())
            }
        }
    }
}

/// An object says nothing that a job has; a fraction or a power of ten is nobody's id.
fn is_no_value(name: &str, value: &Value) -> bool {
    let is_id = name.eq_ignore_ascii_case("job");
    let no_id = value.is_f64() || value.is_boolean() || value.is_array();
    value.is_object() || (is_id && no_id)
}

/// Why a row is not taken.
enum Fault {
    /// A time without offset, and no zone given: an error of the call, not of the row.
    NoZone(&'static str),
    /// The column and what is wrong.
    Bad(&'static str, String),
}

/// The values of a row by name; absent ones are empty.
struct Fields(BTreeMap<String, String>);

impl Fields {
    fn get(&self, column: &str) -> &str {
        self.0.get(column).map(String::as_str).unwrap_or_default()
    }

    fn text(&self, column: &str) -> Option<String> {
        let text = self.get(column);
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn time(&self, column: &'static str, clock: &mut Clock) -> Result<Option<jiff::Timestamp>, Fault> {
        let text = self.get(column);
        if text.is_empty() {
            return Ok(None);
        }
        clock.read_alone(text).map(Some).map_err(|error| match error {
            ClockError::NoZone => Fault::NoZone(column),
            ClockError::Unreadable(why) => Fault::Bad(column, why),
        })
    }

    fn number(&self, column: &'static str) -> Result<Option<f64>, Fault> {
        let text = self.get(column);
        if text.is_empty() {
            return Ok(None);
        }
        match text.parse::<f64>() {
            Ok(value) if (0.0..=1e6).contains(&value) => Ok(Some(value)),
            Ok(_) => Err(Fault::Bad(column, "is no number that jobs have".into())),
            Err(_) => Err(Fault::Bad(column, "is not a number".into())),
        }
    }

    /// Names with commas or blanks between, or as Slurm writes them; in JSON an array too.
    fn nodes(&self) -> Result<Vec<String>, Fault> {
        hostlist::expand(self.get("nodes")).ok_or_else(|| Fault::Bad("nodes", "is no list of hosts such as gpu01 gpu02 or gpu[01-02]".into()))
    }

    fn run(&self, clock: &mut Clock) -> Result<JobRun, Fault> {
        let job = self.text("job").ok_or_else(|| Fault::Bad("job", "is empty".into()))?;
        let start = self.time("start", clock)?;
        let submitted = self.time("submitted", clock)?;
        if start.or(submitted).is_none() {
            return Err(Fault::Bad("start", "is empty, and so is submitted".into()));
        }
        let end = self.time("end", clock)?;
        if start.zip(end).is_some_and(|(start, end)| end < start) {
            return Err(Fault::Bad("end", "is before the start".into()));
        }
        let market = self.text("market");
        let market = market.map(|text| market_of(&text).ok_or_else(|| Fault::Bad("market", markets())));
        let (sku, count) = (self.text("sku"), self.number("count")?);
        let gpus = match self.number("gpus")? {
            Some(gpus) => Some(gpus),
            None => gpus_of(sku.as_deref(), count),
        };
        let exit = match self.get("exit_state") {
            "" if end.is_none() => ExitState::Running,
            text => ExitState::read(text),
        };
        Ok(JobRun {
            job,
            workload: self.text("workload"),
            submitted,
            start,
            end,
            sku,
            count,
            gpus,
            region: self.text("region"),
            market: market.transpose()?,
            exit,
            checkpoints: self.number("checkpoints")?.map(|n| n as u32),
            last_checkpoint: self.time("last_checkpoint", clock)?,
            restarts: self.number("restarts")?.map(|n| n as u32),
            nodes: self.nodes()?,
        })
    }
}

fn markets() -> String {
    let names: Vec<&str> = Market::ALL.iter().map(|m| m.as_str()).collect();
    format!("is none of {}", names.join(", "))
}

fn market_of(text: &str) -> Option<Market> {
    let folded = text.to_lowercase().replace(['-', ' '], "_");
    Market::parse(&folded)
}

/// GPUs of so many machines of a type, or of so many accelerators.
pub(super) fn gpus_of(sku: Option<&str>, count: Option<f64>) -> Option<f64> {
    let (sku, count) = (sku?, count?);
    match find_sku(sku) {
        Some(fact) => Some(fact.count * count),
        None => find_accelerator(&sku.to_uppercase()).map(|_| count),
    }
}

#[cfg(test)]
mod tests {
    use crate::jobs::testing::{TakenRuns, take_jobs};
    use super::*;

    const HEADER: &str = "job,workload,start,end,sku,count,region,market,exit_state,checkpoints,last_checkpoint\n";

    fn read(text: &str, zone: Option<&str>) -> Result<TakenRuns, String> {
        let options = MetricsOptions { tz: zone.map(Into::into), ..MetricsOptions::default() };
        take_jobs(&FORMAT, "jobs.csv", text, &options)
    }

    #[test]
    fn a_row_of_the_contract_and_empty_is_unknown() {
        let text = format!(
            "{HEADER}j1,bert,2026-10-01T00:00:00Z,2026-10-01T10:00:00Z,p4d.24xlarge,2,us-east-1,spot,PREEMPTED,3,2026-10-01T09:30:00Z\n\
             j2,,2026-10-01T02:00:00+02:00,,H100,4,,,,,\nj3,,2026-10-01T00:00:00Z,,odd,4,,,,,\n"
        );
        let taken = read(&text, None).unwrap();
        let [first, second, third] = &taken.runs[..] else { panic!("{taken:?}") };
        assert_eq!((first.gpus, first.market, first.exit), (Some(16.0), Some(Market::Spot), ExitState::Preempted));
        assert_eq!((first.checkpoints, first.workload.as_deref()), (Some(3), Some("bert")));
        assert_eq!(first.last_checkpoint.unwrap().to_string(), "2026-10-01T09:30:00Z");
        assert_eq!((second.gpus, second.end, second.exit), (Some(4.0), None, ExitState::Running));
        assert_eq!(second.start, first.start);
        assert_eq!((third.gpus, third.market, third.checkpoints), (None, None, None));
    }

    #[test]
    fn json_in_both_forms_is_the_same_as_csv() {
        let csv = format!("{HEADER}j1,w,2026-10-01T00:00:00Z,2026-10-01T10:00:00Z,H100,8,eu,on_demand,COMPLETED,,\n");
        let object = r#"{"job":"j1","workload":"w","start":"2026-10-01T00:00:00Z","end":"2026-10-01T10:00:00Z","sku":"H100","count":8,"region":"eu","market":"on-demand","exit_state":"COMPLETED","checkpoints":null}"#;
        let want = read(&csv, None).unwrap().runs;
        assert_eq!(read(&format!("[{object}]"), None).unwrap().runs, want);
        assert_eq!(read(&format!("{object}\n\n{object}\n"), None).unwrap().runs, [want.clone(), want].concat());
    }

    #[test]
    fn what_cannot_be_is_rejected_with_its_column() {
        let rows = [
            ",,2026-10-01T00:00:00Z,,,,,,,,",
            "j,,,,,,,,,,",
            "j,,2026-10-01T00:00:00Z,2026-09-01T00:00:00Z,,,,,,,",
            "j,,2026-10-01T00:00:00Z,,,many,,,,,",
            "j,,2026-10-01T00:00:00Z,,,-1,,,,,",
            "j,,2026-10-01T00:00:00Z,,,,,cheap,,,",
            "j,,soon,,,,,,,,",
        ];
        let taken = read(&format!("{HEADER}{}\n", rows.join("\n")), None).unwrap();
        let columns: Vec<&str> = taken.rejects.iter().map(|r| r.column.as_str()).collect();
        assert_eq!(columns, ["job", "start", "end", "count", "count", "market", "start"]);
        assert!(taken.runs.is_empty());
    }

    #[test]
    fn an_id_in_json_is_a_text_or_a_whole_number() {
        let object = |job: &str| format!(r#"{{"job":{job},"start":"2026-10-01T00:00:00Z"}}"#);
        let text = ["\"a\"", "17", "1e+26", "{}", "[\"a\"]", "true", "1.5"].map(object).join("\n");
        let taken = read(&text, None).unwrap();
        let jobs: Vec<&str> = taken.runs.iter().map(|run| run.job.as_str()).collect();
        assert_eq!(jobs, ["a", "17"]);
        let rejects: Vec<(&str, &str)> = taken.rejects.iter().map(|r| (r.column.as_str(), r.value.as_str())).collect();
        assert_eq!(rejects, [("job", "1e+26"), ("job", "{}"), ("job", "[\"a\"]"), ("job", "true"), ("job", "1.5")]);
    }

    #[test]
    fn a_time_without_offset_needs_a_zone() {
        let text = "job,start\nj,2026-07-01 12:00:00\n";
        assert!(read(text, None).unwrap_err().contains("--tz"));
        let run = &read(text, Some("Europe/Berlin")).unwrap().runs[0];
        assert_eq!(run.start.unwrap().to_string(), "2026-07-01T10:00:00Z");
    }
}
