use proptest::prelude::*;

use super::*;

/// Any row; its hour is given, so that a list of them can be in order.
pub(crate) fn row(hour: i64) -> impl Strategy<Value = HourRow> {
    let text = |all: &'static [&'static str]| prop::sample::select(all).prop_map(Arc::<str>::from);
    let seconds = || prop::array::uniform20(0..400_u32).prop_map(Histogram);
    let numbers = prop::array::uniform4(prop::option::of(0..1_000_000_u32));
    let texts = (text(&["", "1g.5gb"]), text(&["", "A100"]), text(&["", "ml", "search"]));
    let metric = prop::option::of(prop::sample::select(ActivityMetric::ALL));
    (texts, metric, seconds(), seconds(), numbers, 0..3600_i64).prop_map(
        move |((mig_profile, gpu_model, namespace), activity_metric, activity, memory, numbers, first)| {
            let key = Key {
                host: "h".into(),
                gpu: "GPU-1".into(),
                mig_instance: "".into(),
                hour,
            };
            let mut row = HourRow {
                mig_profile,
                gpu_model,
                namespace,
                activity_metric,
                activity_micro_seconds: activity.seconds() * 500_000,
                longest_idle_seconds: activity.0[0] / 2,
                activity,
                memory,
                memory_total_mib: numbers[0],
                memory_used_max_mib: numbers[1],
                power_milliwatt_seconds: u64::from(numbers[2].unwrap_or(0)) * 3600,
                power_seconds: numbers[2].map_or(0, |_| 3600),
                power_max_milliwatts: numbers[2],
                ..HourRow::unknown(key)
            };
            row.mark(hour * HOUR_SECONDS + first, hour * HOUR_SECONDS + first);
            row
        },
    )
}

pub(crate) fn read(paths: Vec<PathBuf>) -> Vec<HourRow> {
    let mut reader = TableReader::open(paths);
    let mut out = Vec::new();
    while let Some(row) = reader.next().unwrap() {
        out.push(row);
    }
    out
}

fn write(path: &Path, rows: &[HourRow]) {
    let mut writer = TableWriter::create(path, "dcgm", "2026-10").unwrap();
    for row in rows {
        writer.write(row.clone()).unwrap();
    }
    writer.finish().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// What is written is what is read, over several files.
    #[test]
    fn nothing_is_lost(a in row(495_000), b in row(495_001), c in row(495_700)) {
        let directory = tempfile::tempdir().unwrap();
        let paths = ["a", "empty", "b"].map(|name| directory.path().join(name));
        write(&paths[0], &[a.clone(), b.clone()]);
        write(&paths[1], &[]);
        write(&paths[2], std::slice::from_ref(&c));
        prop_assert_eq!(read(paths.to_vec()), [a, b, c]);
    }
}

#[test]
fn unknown_is_null_and_the_whole_gpu_has_an_empty_instance() {
    let key = Key {
        host: "h".into(),
        gpu: "0".into(),
        mig_instance: "".into(),
        hour: 495_000,
    };
    let batch = batch(&[HourRow::unknown(key)], "dcgm", "2026-06").unwrap();
    let is_null = |name: &str| batch.column_by_name(name).unwrap().is_null(0);
    for name in [
        "x_MigProfile",
        "x_GpuModel",
        "x_Namespace",
        "x_ActivityMetric",
        "x_MemoryTotalMib",
        "x_MemoryUsedMaxMib",
        "x_PowerMaxMilliWatt",
    ] {
        assert!(is_null(name), "{name}");
    }
    for name in [
        "x_MigInstance",
        "x_ActivitySeconds",
        "x_MemorySeconds",
        "x_PowerSeconds",
        "x_Activity00",
    ] {
        assert!(!is_null(name), "{name}");
    }
    assert_eq!(numbers::<Int64Type>(&batch, "x_ActivitySeconds").unwrap().value(0), 0);
}

#[test]
fn a_file_of_another_form_is_an_error_that_names_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rejects.parquet");
    let mut other = writer(&path, schema::rejects()).unwrap();
    other.write(&RecordBatch::new_empty(schema::rejects())).unwrap();
    other.close().unwrap();
    // Without rows there is nothing to misread.
    assert!(read(vec![path]).is_empty());
    let garbage = directory.path().join("garbage.parquet");
    std::fs::write(&garbage, b"not parquet").unwrap();
    let error = TableReader::open(vec![garbage]).next().unwrap_err().to_string();
    assert!(error.contains("garbage.parquet"), "{error}");
    let missing = TableReader::open(vec![directory.path().join("gone")])
        .next()
        .unwrap_err();
    assert!(matches!(missing, StoreError::Io { .. }));
}
