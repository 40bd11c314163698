//! The same charges in any form and order are the same tables.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use datafusion::parquet::arrow::ArrowWriter;
use proptest::prelude::*;

use super::sample::{Charge, charges, csv, shuffled};
use super::*;

const TABLES: [&str; 3] = ["charges", "daily", "gpu_hours"];

fn contents(store: &Store) -> Vec<Vec<String>> {
    TABLES.iter().map(|table| store.content(table)).collect()
}

fn loaded(name: &str, bytes: &[u8]) -> (Store, LoadReport) {
    let store = Store::new();
    let report = store.load(&store.file(name, bytes)).unwrap();
    (store, report)
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The stored charges of a store as one Parquet file, without the columns that the loader adds.
pub(super) fn exported(store: &Store) -> Vec<u8> {
    let batches = store.table("charges");
    let schema = batches[0].schema();
    let kept: Vec<usize> = (0..schema.fields().len())
        .filter(|at| crate::schema::ADDED.iter().all(|c| c.name != schema.field(*at).name()))
        .collect();
    let schema = std::sync::Arc::new(schema.project(&kept).unwrap());
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, None).unwrap();
    for batch in batches {
        writer.write(&batch.project(&kept).unwrap()).unwrap();
    }
    writer.into_inner().unwrap()
}

#[test]
fn compressed_or_parquet_is_the_same() {
    let text = csv(&charges(3000, 1));
    let (plain, report) = loaded("bill.csv", text.as_bytes());
    let expected = contents(&plain);
    assert!(expected.iter().all(|rows| !rows.is_empty()));
    let zst = zstd::encode_all(text.as_bytes(), 3).unwrap();
    for (name, bytes) in [
        ("b.csv.gz", gzip(text.as_bytes())),
        ("b.csv.zst", zst),
        ("b.parquet", exported(&plain)),
    ] {
        let (store, other) = loaded(name, &bytes);
        assert_eq!(contents(&store), expected, "{name}");
        for (metric, sum) in &report.totals {
            assert_eq!(other.totals[metric].stored(), sum.stored(), "{name} {metric}");
        }
    }
}

#[test]
fn a_folder_of_parts_is_one_export() {
    let all = charges(2000, 2);
    let (whole, _) = loaded("bill.csv", csv(&all).as_bytes());
    let store = Store::new();
    let folder = store.dir.path().join("export/2026");
    std::fs::create_dir_all(&folder).unwrap();
    for (number, part) in all.chunks(700).enumerate() {
        std::fs::write(folder.join(format!("part-{number}.csv.gz")), gzip(csv(part).as_bytes())).unwrap();
    }
    std::fs::write(folder.join("manifest.json"), "{\"files\": 3}").unwrap();
    let report = store.load(&store.dir.path().join("export")).unwrap();
    assert_eq!(contents(&store), contents(&whole));
    assert!(
        warnings(&report)
            .iter()
            .any(|w| w.contains("left out") && w.contains("manifest.json"))
    );
}

#[test]
fn memory_bounds_change_nothing_but_the_number_of_files() {
    let text = csv(&charges(3000, 3));
    let (whole, _) = loaded("bill.csv", text.as_bytes());
    let store = Store::new();
    let path = store.file("bill.csv", &text);
    let bounds = Bounds {
        rows: 170,
        bytes: usize::MAX,
    };
    load_within(bounds, &store.data(), &request(&path), &store.policy, &Quiet).unwrap();
    assert!(store.layout().snapshot().unwrap().files("charges").len() > 50);
    assert_eq!(store.content("charges"), whole.content("charges"));
    for (table, column) in [
        ("daily", "BilledCost"),
        ("gpu_hours", "BilledCost"),
        ("gpu_hours", "x_GpuHours"),
    ] {
        assert_eq!(store.sum(table, column), whole.sum(table, column), "{table} {column}");
    }
    assert_eq!(store.count("gpu_hours", "x_Rows"), whole.count("gpu_hours", "x_Rows"));
}

#[test]
fn a_resource_seen_with_a_gpu_late_has_its_early_hours_too() {
    // The disk of a machine is billed first; only the last rows tell that it has GPUs.
    let mut all = charges(1500, 4);
    all.sort_by_key(|charge| charge.gpu_hours);
    let text = csv(&all);
    let (whole, _) = loaded("bill.csv", text.as_bytes());
    let store = Store::new();
    let path = store.file("bill.csv", &text);
    let bounds = Bounds {
        rows: 100,
        bytes: usize::MAX,
    };
    load_within(bounds, &store.data(), &request(&path), &store.policy, &Quiet).unwrap();
    assert_eq!(store.sum("gpu_hours", "BilledCost"), gpu_cost(&all));
    assert_eq!(whole.sum("gpu_hours", "BilledCost"), gpu_cost(&all));
    assert_eq!(store.count("gpu_hours", "x_Rows"), whole.count("gpu_hours", "x_Rows"));
}

/// Cost of resources that have a GPU anywhere in their unit, by brute force.
fn gpu_cost(all: &[Charge]) -> i128 {
    let unit = |charge: &Charge| (charge.account.clone(), charge.month, charge.resource.clone());
    let with_gpu: BTreeSet<_> = all.iter().filter(|c| c.gpu_hours > 0).map(unit).collect();
    all.iter()
        .filter(|c| with_gpu.contains(&unit(c)))
        .map(|c| c.billed)
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Totals, cubes and units are what adding up the rows one by one gives, in whatever order they stand.
    #[test]
    fn adds_up_like_brute_force(rows in 1_usize..400, seed in any::<u64>(), order in any::<u64>()) {
        let all = charges(rows, seed);
        let (store, report) = loaded("bill.csv", csv(&all).as_bytes());
        let billed: i128 = all.iter().map(|c| c.billed).sum();
        prop_assert_eq!(report.totals["billed"].stored().units(), billed);
        prop_assert_eq!(store.sum("charges", "BilledCost"), billed);
        prop_assert_eq!(store.sum("daily", "BilledCost"), billed);
        prop_assert_eq!(store.count("daily", "x_Rows") as usize, rows);
        let gpu_hours: i128 = all.iter().map(|c| c.gpu_hours).sum();
        prop_assert_eq!(store.sum("daily", "x_GpuHours"), gpu_hours);
        if gpu_hours > 0 {
            prop_assert_eq!(store.sum("gpu_hours", "BilledCost"), gpu_cost(&all));
        }
        let mut units: BTreeMap<(String, String), (u64, i128)> = BTreeMap::new();
        for charge in &all {
            let unit = units.entry((charge.account.clone(), format!("2026-{}", charge.month))).or_default();
            *unit = (unit.0 + 1, unit.1 + charge.billed);
        }
        let reported: BTreeMap<_, _> = report
            .units
            .iter()
            .map(|u| ((u.account.clone(), u.month.clone()), (u.rows, u.totals["billed"].stored().units())))
            .collect();
        prop_assert_eq!(reported, units);
        let (other, _) = loaded("bill.csv", csv(&shuffled(&all, order)).as_bytes());
        prop_assert_eq!(contents(&other), contents(&store));
    }
}
