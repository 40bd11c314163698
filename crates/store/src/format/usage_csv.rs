//! `usage.csv`: one row for each GPU and hour, for whoever can export that much and no more.

use lowwater_model::usage::ActivityMetric;

use super::{Decode, Format, Head, MetricsOptions, MetricsSink, Sample};
use crate::csv::{Limits, Record, RecordReader, Row};
use crate::error::{InputError, StoreError};
use crate::input::Input;
use crate::metrics::{
    Clock, ClockError, Odd, known, mebibytes, reject, share, unknown_sample, watts, zone_is_missing,
};

/// The format.
pub const FORMAT: Format = Format {
    name: "usage",
    title: "hourly GPU usage as CSV",
    doc: "Columns `time,host,gpu,activity,activity_metric,memory_used_mib,memory_total_mib,power_w`, found by name; any value may be empty, \
which is unknown and not 0. A row covers the hour that begins at `time` (with offset or `Z`; without one give `--tz`). `activity` is 0 to 1 \
for every metric; `activity_metric` is `SM_ACTIVE`, `GR_ENGINE` or `GPU_UTIL`. \
A row that can't be read is rejected. A number that can't be (activity beyond 0 to 1, more memory held than there is, more than 10 kW) counts \
as unknown and stands among the rejects. Other columns are ignored.",
    detects,
    decode: Decode::Metrics(decode),
};

/// Seconds that a row stands for.
const ROW_SECONDS: u32 = 3600;
const COLUMNS: [&str; 8] = [
    "time",
    "host",
    "gpu",
    "activity",
    "activity_metric",
    "memory_used_mib",
    "memory_total_mib",
    "power_w",
];
/// The columns without which a row says nothing.
const NEEDED: [&str; 3] = ["time", "gpu", "activity"];

fn detects(head: &Head<'_>) -> bool {
    let names: Vec<String> = head
        .first_line()
        .split([',', ';', '\t'])
        .map(|n| n.trim().trim_matches('"').to_lowercase())
        .collect();
    NEEDED.iter().all(|needed| names.iter().any(|n| n == needed))
}

fn decode(input: &mut Input, options: &MetricsOptions, sink: &mut dyn MetricsSink) -> Result<(), StoreError> {
    let file = input.name().to_owned();
    let mut clock = Clock::new(options, &file)?;
    let mut reader = RecordReader::new(input, Limits::default())?;
    let header: Vec<String> = reader.header().iter().map(|h| h.to_lowercase()).collect();
    let columns = COLUMNS.map(|name| header.iter().position(|h| h == name));
    if let Some(missing) = NEEDED.iter().find(|n| !header.iter().any(|h| h == **n)) {
        let hint = format!("the header is {}", COLUMNS.join(","));
        return Err(InputError::new(file, format!("has no column `{missing}`"))
            .hint(hint)
            .into());
    }
    let mut odd = Odd::default();
    while let Some(row) = reader.read()? {
        match row {
            Row::Bad(bad) => sink.reject(reject(&file, bad.number, &bad.column, bad.value.as_bytes(), bad.reason)),
            Row::Good(record) => {
                let fields = Fields::new(&columns, record);
                let mut bad = |column: usize, why: String| {
                    let value = fields.0[column].as_bytes();
                    sink.reject(reject(&file, record.number, COLUMNS[column], value, why));
                };
                let sample = fields.sample(options, &mut clock, &mut odd);
                odd.tell(&mut bad);
                match sample {
                    Ok(sample) => sink.sample(sample)?,
                    Err(Fault::NoZone) => return Err(zone_is_missing(&file, record.number, fields.0[0])),
                    Err(Fault::Bad(column, why)) => bad(column, why),
                }
            }
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
enum Fault {
    /// A time without offset, and no zone given: an error of the call, not of the row.
    NoZone,
    /// The column (its index in `COLUMNS`) and what is wrong.
    Bad(usize, String),
}

/// The values of a row in the order of `COLUMNS`; absent columns are empty.
struct Fields<'a>([&'a str; 8]);

impl<'a> Fields<'a> {
    fn new(columns: &[Option<usize>; 8], record: Record<'a>) -> Self {
        let mut values = [""; 8];
        for (index, value) in record.fields().enumerate() {
            for (column, _) in columns.iter().enumerate().filter(|(_, at)| **at == Some(index)) {
                values[column] = value.trim();
            }
        }
        Self(values)
    }

    fn sample(&self, options: &'a MetricsOptions, clock: &mut Clock, odd: &mut Odd) -> Result<Sample<'a>, Fault> {
        let [time, host, gpu, ..] = self.0;
        let at = clock.read(time).map_err(|e| match e {
            ClockError::NoZone => Fault::NoZone,
            ClockError::Unreadable(why) => Fault::Bad(0, why),
        })?;
        let host = if host.is_empty() {
            options.host.as_deref().unwrap_or_default()
        } else {
            host
        };
        if host.is_empty() {
            return Err(Fault::Bad(1, "is empty; write the host, or give --host NAME".into()));
        }
        if gpu.is_empty() {
            return Err(Fault::Bad(2, "is empty; write the index or the UUID of the GPU".into()));
        }
        let used = self.number(5, mebibytes, odd)?;
        let total = self.number(6, mebibytes, odd)?;
        Ok(Sample {
            seconds: Some(ROW_SECONDS),
            activity: self.activity(odd)?,
            memory_used_mib: odd.held(5, used, total),
            memory_total_mib: total,
            power_w: self.number(7, watts, odd)?,
            ..unknown_sample(at, host, gpu)
        })
    }

    fn activity(&self, odd: &mut Odd) -> Result<Option<(f64, ActivityMetric)>, Fault> {
        let percent = |why| format!("{why}, percent must be divided by 100");
        let Some(share) = self.number(3, |value| share(value, 1.0).map_err(percent), odd)? else {
            return Ok(None);
        };
        let metric = match self.0[4] {
            // The weakest claim where the file does not say.
            "" => ActivityMetric::GpuUtil,
            name => ActivityMetric::parse(name)
                .ok_or_else(|| Fault::Bad(4, "is none of SM_ACTIVE, GR_ENGINE, GPU_UTIL".into()))?,
        };
        Ok(Some((share, metric)))
    }

    /// A number that can be; none where the field is empty or the value a blank.
    fn number(
        &self,
        column: usize,
        check: impl Fn(f64) -> Result<f64, String>,
        odd: &mut Odd,
    ) -> Result<Option<f64>, Fault> {
        let text = self.0[column];
        if text.is_empty() || text == "NULL" {
            return Ok(None);
        }
        match text.parse::<f64>().map(known) {
            Ok(value) => Ok(value.and_then(|value| odd.take(column, check(value)))),
            Err(_) => Err(Fault::Bad(column, "is not a number".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing::{Taken, take};
    use proptest::prelude::*;

    const HEADER: &str = "time,host,gpu,activity,activity_metric,memory_used_mib,memory_total_mib,power_w\n";

    fn read(text: &str, options: &MetricsOptions) -> Result<Taken, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("usage.csv");
        std::fs::write(&path, text).unwrap();
        take(&FORMAT, &path, options)
    }

    fn rows(text: &str) -> Taken {
        read(&format!("{HEADER}{text}"), &MetricsOptions::default()).unwrap()
    }

    #[test]
    fn a_row_is_an_hour_and_empty_is_unknown() {
        let taken =
            rows("2026-10-01T00:00:00Z,h1,0,0.25,SM_ACTIVE,1000,24000,90\n2026-10-01T02:00:00+02:00,h1,GPU-a,,,,,\n");
        let [full, empty] = &taken.samples[..] else {
            panic!("{taken:?}")
        };
        assert_eq!(
            (full.seconds, full.activity),
            (Some(3600), Some((0.25, ActivityMetric::SmActive)))
        );
        assert_eq!(
            (full.memory_used_mib, full.memory_total_mib, full.power_w),
            (Some(1000.0), Some(24000.0), Some(90.0))
        );
        assert_eq!(
            (empty.activity, empty.memory_used_mib, empty.power_w),
            (None, None, None)
        );
        assert_eq!(empty.at, full.at);
        assert!(taken.rejects.is_empty());
    }

    #[test]
    fn what_cannot_be_is_rejected_with_its_column_and_the_rest_stays() {
        let taken = rows(
            "2026-10-01T00:00:00Z,h,0,25,SM_ACTIVE,,,\n2026-10-01T00:00:00Z,h,0,-0.1,SM_ACTIVE,,,\n\
             2026-10-01T00:00:00Z,h,0,0.1,BUSY,,,\n2026-10-01T00:00:00Z,h,0,0.1,SM_ACTIVE,many,,\n\
             yesterday,h,0,0.1,SM_ACTIVE,,,\n2026-10-01T00:00:00Z,,0,0.1,SM_ACTIVE,,,\n\
             2026-10-01T00:00:00Z,h,,0.1,SM_ACTIVE,,,\n2026-10-01T00:00:00Z,h\n2026-10-01T00:00:00Z,h,0,0.1,SM_ACTIVE,,,\n",
        );
        let places: Vec<(u64, &str)> = taken.rejects.iter().map(|r| (r.row, r.column.as_str())).collect();
        let unknown: Vec<_> = taken.samples.iter().map(|s| s.activity.is_none()).collect();
        assert_eq!(unknown, [true, true, false], "the rest of a row with an odd number is taken");
        let want = [
            (2, "activity"),
            (3, "activity"),
            (4, "activity_metric"),
            (5, "memory_used_mib"),
            (6, "time"),
            (7, "host"),
            (8, "gpu"),
        ];
        assert_eq!(places[..7], want);
        assert_eq!((taken.rejects.len(), taken.samples.len()), (8, 3));
    }

    #[test]
    fn absurd_numbers_are_unknown_and_told() {
        let row = |values: &str| format!("2026-10-01T00:00:00Z,h,0,{values}\n");
        let taken = rows(&[row("1e308,SM_ACTIVE,1,2,3"), row("0.5,SM_ACTIVE,25000,24000,inf"), row("-0.0001,SM_ACTIVE,-1,1e99,10001")].concat());
        let told: Vec<_> = taken.rejects.iter().map(|r| (r.row, r.column.as_str(), r.value.as_str())).collect();
        assert_eq!(
            told,
            [
                (2, "activity", "1e308"),
                (3, "memory_used_mib", "25000"),
                (3, "power_w", "inf"),
                (4, "memory_used_mib", "-1"),
                (4, "memory_total_mib", "1e99"),
                (4, "activity", "-0.0001"),
                (4, "power_w", "10001"),
            ]
        );
        assert!(taken.rejects.iter().all(|r| r.reason.ends_with("; the value counts as unknown")));
        let seen: Vec<_> = taken
            .samples
            .iter()
            .map(|s| (s.activity.map(|a| a.0), s.memory_used_mib, s.memory_total_mib, s.power_w))
            .collect();
        assert_eq!(
            seen,
            [
                (None, Some(1.0), Some(2.0), Some(3.0)),
                (Some(0.5), None, Some(24000.0), None),
                (None, None, None, None)
            ]
        );
    }

    #[test]
    fn columns_go_by_name_and_a_time_without_offset_needs_a_zone() {
        let text = "gpu,activity,time,host\n0,0.5,2026-07-01 12:00,h\n";
        let error = read(text, &MetricsOptions::default()).unwrap_err();
        assert!(error.contains("--tz") && error.contains("hint:"), "{error}");
        let berlin = MetricsOptions {
            tz: Some("Europe/Berlin".into()),
            ..MetricsOptions::default()
        };
        assert_eq!(
            read(text, &berlin).unwrap().samples[0].at.to_string(),
            "2026-07-01T10:00:00Z"
        );
        let error = read("time,host,activity\n", &berlin).unwrap_err();
        assert!(error.contains("no column `gpu`"), "{error}");
    }

    #[test]
    fn is_known_by_its_header() {
        let head = |text: &'static str| Head {
            name: "x.csv",
            bytes: text.as_bytes(),
            parquet_columns: None,
        };
        assert!(detects(&head(HEADER)));
        assert!(!detects(&head("ChargePeriodStart,BilledCost\n")));
    }

    proptest! {
        #[test]
        fn never_panics(text in "[-0-9a-zA-Z,:.\"\n ]{0,300}") {
            let _ = read(&format!("{HEADER}{text}"), &MetricsOptions::default());
        }
    }
}
