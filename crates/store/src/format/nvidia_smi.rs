//! Logs of `nvidia-smi --query-gpu=… --format=csv`, as people keep them with `-l`.

use jiff::Timestamp;
use lowwater_model::usage::ActivityMetric;

use super::{Decode, Format, Head, MetricsOptions, MetricsSink, Sample};
use crate::csv::{Limits, RecordReader, Row};
use crate::error::{InputError, StoreError};
use crate::input::Input;
use crate::metrics::{
    Clock, ClockError, Odd, host_is_missing, known, mebibytes, reject, share, time_is_missing, unknown_sample, watts,
    zone_is_missing,
};

/// The format.
pub const FORMAT: Format = Format {
    name: "nvidia-smi",
    title: "nvidia-smi query log",
    doc: "The output of `nvidia-smi --query-gpu=timestamp,uuid,utilization.gpu,memory.used,memory.total,power.draw --format=csv -l 60`, with its \
header. Columns go by name; units in header and values are read (`11125 MiB`, `100 %`, `433.78 W`). The log names neither host nor zone: give \
`--host` and `--tz`. `[N/A]` and `[Not Supported]` are unknown: with MIG the driver reports no utilization. Without a `timestamp` column give \
`--at`. A number that can't be (101 %, more memory used than there is, more than 10 kW) counts as unknown and stands among the rejects. With `noheader` the columns can't be told, which is an error; `nounits` is fine.",
    detects,
    decode: Decode::Metrics(decode),
};

fn detects(head: &Head<'_>) -> bool {
    let names: Vec<String> = head.first_line().split(',').map(column_name).collect();
    let has = |name: &str| names.iter().any(|n| n == name);
    (has("uuid") || has("index") || has("gpu_uuid")) && names.iter().any(|n| n.contains('.'))
}

/// `memory.used [MiB]` is `memory.used`.
fn column_name(text: &str) -> String {
    text.split('[').next().unwrap_or_default().trim().to_lowercase()
}

/// Where each value stands in a row.
struct Columns {
    timestamp: Option<usize>,
    uuid: Option<usize>,
    index: Option<usize>,
    name: Option<usize>,
    utilization: Option<usize>,
    memory_used: Option<usize>,
    memory_total: Option<usize>,
    power: Option<usize>,
}

impl Columns {
    fn new(header: &[String], file: &str) -> Result<Self, StoreError> {
        let names: Vec<String> = header.iter().map(|h| column_name(h)).collect();
        let find = |wanted: &[&str]| names.iter().position(|n| wanted.contains(&n.as_str()));
        let columns = Self {
            timestamp: find(&["timestamp"]),
            uuid: find(&["uuid", "gpu_uuid"]),
            index: find(&["index"]),
            name: find(&["name", "gpu_name"]),
            utilization: find(&["utilization.gpu"]),
            memory_used: find(&["memory.used"]),
            memory_total: find(&["memory.total"]),
            power: find(&["power.draw", "power.draw.average", "power.draw.instant"]),
        };
        if columns.uuid.or(columns.index).is_none() {
            let hint = "ask for the header and a column that names the GPU: --query-gpu=timestamp,uuid,… --format=csv";
            return Err(InputError::new(file, "no column names the GPU").hint(hint).into());
        }
        Ok(columns)
    }
}

fn decode(input: &mut Input, options: &MetricsOptions, sink: &mut dyn MetricsSink) -> Result<(), StoreError> {
    let file = input.name().to_owned();
    let host = options.host.as_deref().ok_or_else(|| host_is_missing(&file, 1))?;
    let mut clock = Clock::new(options, &file)?;
    let mut reader = RecordReader::new(input, Limits::default())?;
    let header = reader.header().to_vec();
    let columns = Columns::new(&header, &file)?;
    let mut odd = Odd::default();
    while let Some(row) = reader.read()? {
        let record = match row {
            Row::Bad(bad) => {
                sink.reject(reject(&file, bad.number, &bad.column, bad.value.as_bytes(), bad.reason));
                continue;
            }
            Row::Good(record) => record,
        };
        let values: Vec<&str> = record.fields().map(str::trim).collect();
        // A log that was restarted repeats its header.
        if values.iter().zip(&header).all(|(v, h)| v == h) {
            continue;
        }
        let line = Values {
            columns: &columns,
            values: &values,
        };
        let mut bad = |column: usize, why: String| {
            let name = header.get(column).map(String::as_str).unwrap_or_default();
            let value = values.get(column).copied().unwrap_or_default();
            sink.reject(reject(&file, record.number, name, value.as_bytes(), why));
        };
        let sample = line.sample(host, options.at, &mut clock, &mut odd);
        odd.tell(&mut bad);
        match sample {
            Ok(sample) => sink.sample(sample)?,
            Err(Fault::NoTime) => return Err(time_is_missing(&file, record.number)),
            Err(Fault::NoZone(value)) => return Err(zone_is_missing(&file, record.number, value)),
            Err(Fault::Bad { column, why }) => bad(column, why),
        }
    }
    if clock.was_ambiguous {
        sink.warn(format!(
            "{file}: some times came twice or never, because the clocks changed; they were read in order"
        ));
    }
    Ok(())
}

/// Why a row is not taken.
enum Fault<'a> {
    /// No `timestamp` column and no `--at`.
    NoTime,
    /// A local time, and no `--tz`.
    NoZone(&'a str),
    /// The column and what is wrong.
    Bad { column: usize, why: String },
}

/// A row.
struct Values<'a> {
    columns: &'a Columns,
    values: &'a [&'a str],
}

impl<'a> Values<'a> {
    /// The text at a column; none where the column is absent or the driver does not know.
    fn text(&self, column: Option<usize>) -> Option<&'a str> {
        let text = *self.values.get(column?)?;
        // `[N/A]`, `[Not Supported]`, `[Unknown Error]`, and `N/A` of older drivers.
        (!text.is_empty() && !text.starts_with('[') && text != "N/A").then_some(text)
    }

    fn sample(
        &self,
        host: &'a str,
        at: Option<Timestamp>,
        clock: &mut Clock,
        odd: &mut Odd,
    ) -> Result<Sample<'a>, Fault<'a>> {
        let at = match self.text(self.columns.timestamp) {
            None => at.ok_or(Fault::NoTime)?,
            Some(text) => clock.read(text).map_err(|e| match e {
                ClockError::NoZone => Fault::NoZone(text),
                ClockError::Unreadable(why) => Fault::Bad {
                    column: self.columns.timestamp.unwrap_or(0),
                    why,
                },
            })?,
        };
        let gpu = self.text(self.columns.uuid).or_else(|| self.text(self.columns.index));
        let gpu = gpu.ok_or_else(|| Fault::Bad {
            column: self.columns.uuid.or(self.columns.index).unwrap_or(0),
            why: "does not name the GPU".into(),
        })?;
        let used = self.number(self.columns.memory_used, "MiB", mebibytes, odd)?;
        let total = self.number(self.columns.memory_total, "MiB", mebibytes, odd)?;
        Ok(Sample {
            model: self.text(self.columns.name).unwrap_or_default(),
            activity: self.activity(odd)?,
            memory_used_mib: odd.held(self.columns.memory_used.unwrap_or(0), used, total),
            memory_total_mib: total,
            power_w: self.number(self.columns.power, "W", watts, odd)?,
            ..unknown_sample(at, host, gpu)
        })
    }

    fn activity(&self, odd: &mut Odd) -> Result<Option<(f64, ActivityMetric)>, Fault<'a>> {
        let share = self.number(self.columns.utilization, "%", |percent| share(percent, 100.0), odd)?;
        Ok(share.map(|share| (share, ActivityMetric::GpuUtil)))
    }

    /// A number with or without its unit, if it can be.
    fn number(
        &self,
        column: Option<usize>,
        unit: &str,
        check: impl Fn(f64) -> Result<f64, String>,
        odd: &mut Odd,
    ) -> Result<Option<f64>, Fault<'a>> {
        let Some(text) = self.text(column) else { return Ok(None) };
        let bare = text.strip_suffix(unit).unwrap_or(text).trim_end();
        let at = column.unwrap_or(0);
        match bare.parse::<f64>() {
            Ok(value) if !value.is_nan() => Ok(known(value).and_then(|value| odd.take(at, check(value)))),
            _ => Err(Fault::Bad {
                column: at,
                why: format!("is not a number of {unit}"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing::{OwnSample, Taken, take};
    use proptest::prelude::*;

    fn options() -> MetricsOptions {
        MetricsOptions {
            host: Some("h1".into()),
            tz: Some("Europe/Berlin".into()),
            at: None,
        }
    }

    fn read(text: &str, options: &MetricsOptions) -> Result<Taken, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("smi.csv");
        std::fs::write(&path, text).unwrap();
        take(&FORMAT, &path, options)
    }

    /// The one row of a real capture.
    fn capture(name: &str) -> Option<OwnSample> {
        let path = crate::shared::file(&format!("billing/gpu-metrics/nvidia_smi_nvidia-{name}.csv"))?;
        let taken = take(&FORMAT, &path, &options()).unwrap();
        assert!(taken.rejects.is_empty(), "{taken:?}");
        taken.samples.into_iter().next()
    }

    #[test]
    fn real_captures() {
        let Some(load) = capture("h100-80gb-hbm3_load") else {
            return;
        };
        assert_eq!(load.at.to_string(), "2026-07-14T06:12:53.353Z");
        assert_eq!(load.activity, Some((1.0, ActivityMetric::GpuUtil)));
        assert_eq!(
            (load.memory_used_mib, load.memory_total_mib, load.power_w),
            (Some(19818.0), Some(81559.0), Some(631.95))
        );
        assert_eq!(
            (load.model.as_str(), load.host.as_str()),
            ("NVIDIA H100 80GB HBM3", "h1")
        );
        let mig = capture("h100-mig_load").unwrap();
        assert_eq!(
            (mig.activity, mig.memory_used_mib, mig.power_w),
            (None, Some(11125.0), Some(433.78)),
            "MIG: unknown, not 0"
        );
        let odd = capture("l40s_idle").unwrap();
        assert_eq!(
            (odd.activity, odd.memory_used_mib),
            (Some((1.0, ActivityMetric::GpuUtil)), Some(0.0))
        );
    }

    #[test]
    fn a_capture_without_times_or_utilization() {
        let Some(path) = crate::shared::file("billing/gpu-metrics/nvidia_smi_query_small.csv") else {
            return;
        };
        let error = take(&FORMAT, &path, &options()).unwrap_err();
        assert!(error.contains("--at"), "{error}");
        let at = Some("2026-07-14T00:00:00Z".parse().unwrap());
        let taken = take(&FORMAT, &path, &MetricsOptions { at, ..options() }).unwrap();
        assert_eq!(taken.samples.len(), 2);
        assert_eq!(
            (taken.samples[0].activity, taken.samples[0].memory_used_mib),
            (None, Some(575.0))
        );
    }

    #[test]
    fn host_and_zone_must_be_given() {
        let text = "timestamp, uuid, utilization.gpu [%]\n2026/10/25 02:30:00.000, GPU-a, 5 %\n";
        let error = read(
            text,
            &MetricsOptions {
                host: None,
                ..options()
            },
        )
        .unwrap_err();
        assert!(error.contains("--host"), "{error}");
        let error = read(text, &MetricsOptions { tz: None, ..options() }).unwrap_err();
        assert!(error.contains("--tz"), "{error}");
        let error = read(
            text,
            &MetricsOptions {
                tz: Some("Berlin".into()),
                ..options()
            },
        )
        .unwrap_err();
        assert!(error.contains("IANA"), "{error}");
    }

    #[test]
    fn an_hour_that_comes_twice_goes_forward() {
        let text =
            "timestamp, index, utilization.gpu [%]\n2026/10/25 02:30:00.000, 0, 5 %\n2026/10/25 02:10:00.000, 0, 6 %\n";
        let taken = read(text, &options()).unwrap();
        let times: Vec<String> = taken.samples.iter().map(|s| s.at.to_string()).collect();
        assert_eq!(times, ["2026-10-25T00:30:00Z", "2026-10-25T01:10:00Z"]);
        assert_eq!(taken.warnings.len(), 1);
    }

    #[test]
    fn variants_and_faults() {
        let nounits =
            "timestamp, index, utilization.gpu, memory.used, power.draw\n2026/10/01 00:00:00.000, 3, 50, 100, 70.5\n";
        let taken = read(nounits, &options()).unwrap();
        assert_eq!(
            (taken.samples[0].activity.unwrap().0, taken.samples[0].power_w),
            (0.5, Some(70.5))
        );
        let restarted = format!("{nounits}{nounits}");
        assert_eq!(read(&restarted, &options()).unwrap().samples.len(), 2);
        let bad = "timestamp, index, utilization.gpu [%]\n2026/10/01 00:00:00.000, 0, 150 %\n2026/10/01 00:00:00.000, 0, much\nnever, 0, 1 %\n";
        let taken = read(bad, &options()).unwrap();
        let places: Vec<(u64, &str)> = taken.rejects.iter().map(|r| (r.row, r.column.as_str())).collect();
        assert_eq!(
            places,
            [(2, "utilization.gpu [%]"), (3, "utilization.gpu [%]"), (4, "timestamp")]
        );
        assert_eq!(taken.samples.len(), 1, "what is 150 % busy was there");
        let error = read("2026/10/01 00:00:00.000, 0, 5 %\n", &options()).unwrap_err();
        assert!(error.contains("no column names the GPU"), "{error}");
    }

    #[test]
    fn absurd_numbers_are_unknown_and_told() {
        let text = "timestamp, index, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W]\n\
             2026/10/01 00:00:00.000, 0, 101 %, 100 MiB, 24000 MiB, 70 W\n\
             2026/10/01 00:01:00.000, 0, 100 %, 24001 MiB, 24000 MiB, 1e308 W\n\
             2026/10/01 00:02:00.000, 0, -1 %, 100 MiB, 24000 MiB, 70 W\n";
        let taken = read(text, &options()).unwrap();
        let told: Vec<_> = taken.rejects.iter().map(|r| (r.row, r.column.as_str(), r.value.as_str())).collect();
        assert_eq!(
            told,
            [
                (2, "utilization.gpu [%]", "101 %"),
                (3, "memory.used [MiB]", "24001 MiB"),
                (3, "power.draw [W]", "1e308 W"),
                (4, "utilization.gpu [%]", "-1 %"),
            ]
        );
        let seen: Vec<_> = taken.samples.iter().map(|s| (s.activity, s.memory_used_mib, s.power_w)).collect();
        assert_eq!(
            seen,
            [
                (None, Some(100.0), Some(70.0)),
                (Some((1.0, ActivityMetric::GpuUtil)), None, None),
                (None, Some(100.0), Some(70.0))
            ]
        );
    }

    #[test]
    fn is_known_by_its_header() {
        let head = |text: &'static str| Head {
            name: "x.csv",
            bytes: text.as_bytes(),
            parquet_columns: None,
        };
        assert!(detects(&head("timestamp, index, name, uuid, memory.used [MiB]\n")));
        assert!(!detects(&head("time,host,gpu,activity\n")));
    }

    proptest! {
        #[test]
        fn never_panics(text in "[-0-9a-zA-Z,:./%\\[\\]\" \n]{0,300}") {
            let _ = read(&format!("timestamp, index, utilization.gpu [%]\n{text}"), &options());
        }
    }
}
