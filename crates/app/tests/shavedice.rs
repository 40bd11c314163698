//! Commitment levels on three years of real demand: every published series, discount and term.
//!
//! Demand: rows of regions 1 and 2 of the Shaved Ice dataset (Stokely et al., ICPE 2025, doi 10.1145/3676151.3719353).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use common::shared;
use lowwater_engine::solve::quantile::{HourDemand, Outcome, best_level, outcome, quantile_level};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

const HOURS: usize = 26_280;
const YEAR: usize = 8_760;
/// 2021-02-01T00:00Z in milliseconds.
const FIRST: i64 = 1_612_137_600_000;

/// Hourly demand by `region/type`, with `*` for the sum over a part; an hour without a row is no demand.
fn series(file: &Path) -> BTreeMap<String, Vec<f64>> {
    let mut series: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in SerializedFileReader::new(File::open(file).unwrap())
        .unwrap()
        .get_row_iter(None)
        .unwrap()
    {
        let row = row.unwrap();
        let (mut hour, mut region, mut kind, mut usage) = (0, String::new(), String::new(), 0.0);
        for (name, field) in row.get_column_iter() {
            match (name.as_str(), field) {
                ("USAGE_HOUR", Field::TimestampMillis(at)) => hour = usize::try_from((at - FIRST) / 3_600_000).unwrap(),
                // A decimal without a fraction prints as `1.`.
                ("REGION_NUM", number) => number.to_string().trim_end_matches('.').clone_into(&mut region),
                ("INSTANCE_TYPE", Field::Str(text)) => kind.clone_from(text),
                ("NORM_USAGE", Field::Double(value)) => usage = *value,
                other => panic!("a column that the test does not know: {other:?}"),
            }
        }
        for name in [
            format!("{region}/{kind}"),
            format!("{region}/*"),
            format!("*/{kind}"),
            "*/*".into(),
        ] {
            series.entry(name).or_insert_with(|| vec![0.0; HOURS])[hour] += usage;
        }
    }
    series
}

/// What the best level of each part costs and covers, added up.
fn best(parts: std::slice::Chunks<'_, f64>, discount: f64) -> (Vec<u64>, Outcome) {
    let (mut levels, mut sum) = (Vec::new(), Outcome::default());
    for part in parts {
        let hours: Vec<HourDemand> = part
            .iter()
            .map(|units| HourDemand {
                units: *units,
                price: 1.0,
            })
            .collect();
        let level = best_level(&hours, 1.0 - discount);
        assert_eq!(quantile_level(part, discount), level as f64, "both forms of the rule");
        let one = outcome(&hours, level as f64, 1.0 - discount);
        levels.push(level);
        sum.on_demand += one.on_demand;
        sum.committed += one.committed;
        sum.spill += one.spill;
        sum.bought_hours += one.bought_hours;
        sum.used_hours += one.used_hours;
        sum.covered += one.covered;
    }
    (levels, sum)
}

#[test]
fn levels_and_costs_of_every_series_discount_and_term() {
    let files = (
        shared("commitments/hourly_normalized.parquet"),
        shared("commitments/shavedice_reference_levels.csv"),
    );
    let (Some(demand), Some(expected)) = files else { return };
    let series = series(&demand);
    assert_eq!(series.len(), 38, "23 leaves, two regions, twelve types, and all");
    let table = std::fs::read_to_string(expected).unwrap();
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let rows: Vec<_> = lines.collect();
    assert_eq!(rows.len(), 152, "38 series, two discounts, two terms");
    for row in &rows {
        let text = |name: &str| row[header.iter().position(|h| *h == name).unwrap()];
        let number = |name: &str| text(name).parse::<f64>().unwrap();
        let is_static = text("term") == "static_3y";
        let demand = &series[text("series")];
        let (mut levels, got) = best(demand.chunks(if is_static { HOURS } else { YEAR }), number("discount"));
        levels.resize(3, levels[0]);
        assert_eq!(
            levels,
            ["level_y1", "level_y2", "level_y3"].map(|name| text(name).parse::<u64>().unwrap()),
            "{row:?}"
        );
        let close = |value: f64, name: &str| {
            assert!((value - number(name)).abs() <= 1e-6, "{name} is {value}: {row:?}");
        };
        close(got.on_demand, "od_cost");
        close(got.total(), "total_cost");
        close(got.committed, "committed_cost");
        close(got.spill, "od_spill");
        close(got.coverage().unwrap(), "coverage");
        close(got.effective_savings_rate().unwrap(), "esr");
        match got.utilisation() {
            Some(share) => close(share, "utilisation"),
            None => assert_eq!(text("utilisation"), ""),
        }
    }
}
