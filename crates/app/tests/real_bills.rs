//! Real and generated FOCUS files through the command line: every sum is printed to its last digit.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{run, run_wide, shared};
use serde_json::Value;

#[test]
fn a_generated_1_4_file_ties_out_beyond_twelve_digits() {
    let Some(file) = shared("billing/focus/conv_aws_focus_1_4_200rows.csv") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let text = run(dir.path(), &["load", file.to_str().unwrap()]).stdout;
    assert!(
        text.contains(" 4829.331368897859170  4829.331368897860  -0.000000000000830"),
        "{text}"
    );
    let report: Value = serde_json::from_str(&run(dir.path(), &["report", "--json"]).stdout).unwrap();
    assert_eq!(report["total"], "4829.331368897859170");
}

#[test]
fn the_real_1_0_sample_loads_whole_and_says_what_is_odd() {
    let Some(file) = shared("billing/focus/focus_1_0_sample_1000.csv") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let load = run_wide(dir.path(), 200, &["load", file.to_str().unwrap()]);
    assert_eq!((load.code, load.stderr.as_str()), (0, ""));
    assert!(
        load.stdout
            .starts_with("Loaded 1,000 rows of bills with 20.52022672899 USD billed; no row was rejected.")
    );
    for oddity in [
        "NULL",
        "without a zone",
        "Usage-based",
        "PricingCategory is empty",
        "EffectiveCost is unreliable",
        "only in ChargeDescription",
    ] {
        assert!(load.stdout.contains(oddity), "{oddity}\n{}", load.stdout);
    }
    for columns in [60, 80, 140] {
        for args in [
            &["report"][..],
            &["report", "--by", "sku"],
            &["plan"],
            &["doctor"],
            &["show", "prices"],
        ] {
            let screen = run_wide(dir.path(), columns, args);
            assert!(screen.code <= 1, "{args:?}: {}", screen.stderr);
            assert!(
                screen.stdout.lines().all(|l| l.chars().count() <= columns),
                "{args:?} {columns}\n{}",
                screen.stdout
            );
        }
    }
    let report = run(dir.path(), &["report"]).stdout;
    assert!(
        report.starts_with("Billed cost is 20.52 USD"),
        "the basis is the column that can be trusted\n{report}"
    );
    assert!(report.contains("idle               unknown"), "{report}");
}
