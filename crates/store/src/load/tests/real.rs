//! Real and generated bills of the shared data, with the sums that are published for them.

use super::*;
use crate::shared;

#[test]
fn every_published_sum_is_printed_exactly() {
    for (name, billed) in [
        ("gen_aws_focus_1_2_200rows_seed7.csv", "2954.303795977287500"),
        ("gen_aws_focus_1_3_200rows_seed7.csv", "4829.331368897859170"),
        ("conv_aws_focus_1_4_200rows.csv", "4829.331368897859170"),
        ("gen_azure_focus_1_2_200rows_seed7.csv", "10276.313435950512000"),
        ("gen_azure_focus_1_3_200rows_seed7.csv", "8664.556576928752000"),
        ("gen_gcp_focus_1_2_200rows_seed7.csv", "8644.339870822255000"),
        ("gen_gcp_focus_1_3_200rows_seed7.csv", "4383.029654305535000"),
    ] {
        let Some(path) = shared::file(&format!("billing/focus/{name}")) else {
            return;
        };
        let store = Store::new();
        let report = store.load(&path).unwrap();
        assert_eq!(total(&report, "billed"), billed, "{name}");
        assert_eq!(total(&report, "effective"), billed, "{name}");
        assert_eq!(report.units.iter().map(|u| u.rows).sum::<u64>(), 200);
        assert_eq!(store.rejects(), []);
        for (metric, column) in [
            ("billed", "BilledCost"),
            ("list", "ListCost"),
            ("contracted", "ContractedCost"),
        ] {
            let stored = report.totals[metric].stored().units();
            assert_eq!(store.sum("charges", column), stored, "{name} {column}");
            assert_eq!(store.sum("daily", column), stored, "{name} {column}");
        }
        assert_eq!(store.count("daily", "x_Rows"), 200);
    }
}

#[test]
fn the_aws_sums_of_the_other_metrics() {
    let Some(path) = shared::file("billing/focus/gen_aws_focus_1_2_200rows_seed7.csv") else {
        return;
    };
    let report = Store::new().load(&path).unwrap();
    assert_eq!(total(&report, "list"), "4940.459640204343890");
    assert_eq!(total(&report, "contracted"), "4682.286072562887500");
}

#[test]
fn the_real_sample_of_focus_1_0() {
    let Some(path) = shared::file("billing/focus/focus_1_0_sample_1000.csv") else {
        return;
    };
    let store = Store::new();
    let report = store.load(&path).unwrap();
    assert_eq!(total(&report, "billed"), "20.52022672899");
    assert_eq!(total(&report, "effective"), "14.97651418586");
    assert_eq!(total(&report, "list"), "20.39090575119");
    assert_eq!(total(&report, "contracted"), "14.97626039326");
    let units: Vec<_> = report
        .units
        .iter()
        .map(|u| (u.source.as_str(), u.month.as_str(), u.rows, u.rejects))
        .collect();
    let expected = [
        ("aws", "2024-09", 942, 0),
        ("azure", "2024-09", 51, 0),
        ("oracle", "2024-09", 6, 0),
        ("oracle", "2024-10", 1, 0),
    ];
    assert_eq!(units, expected);
    let aws = &report.units[0].warnings;
    let said = |part: &str| assert!(aws.iter().any(|w| w.contains(part)), "{part} not in {aws:#?}");
    said("the text `NULL` is read as null");
    said("times without a zone, such as `2024-10-01 00:00:00`, are read as UTC");
    said("the instance type stands only in ChargeDescription: ");
    assert!(
        aws.iter().any(|w| w.starts_with("EffectiveCost is unreliable")),
        "{aws:#?}"
    );
    let oracle = &report.units[2].warnings;
    let said = |part: &str| assert!(oracle.iter().any(|w| w.contains(part)), "{part} not in {oracle:#?}");
    said("ChargeFrequency is `Usage-based` where FOCUS has `Usage-Based`: 6 rows");
    said("PricingCategory is empty: 4 rows");
    said("ContractedCost is unknown in 6 rows");
    assert!(
        !report.units[1].warnings.iter().any(|w| w.contains("unreliable")),
        "Microsoft's is fine"
    );
    assert_eq!(store.layout().manifest().unwrap().extra_columns, ["x_Id"]);
}

#[test]
fn gpus_of_the_real_sample() {
    let Some(path) = shared::file("billing/focus/focus_1_0_sample_1000.csv") else {
        return;
    };
    let store = Store::new();
    store.load(&path).unwrap();
    // 7.969723 hours of one GPU each, 12.126483324 as billed: the README of the sample.
    assert_eq!(store.sum("daily", "x_GpuHours"), 7_969_723_000_000);
    assert_eq!(store.sum("gpu_hours", "x_GpuHours"), 7_969_723_000_000);
    let gpu_rows = store
        .content("charges")
        .into_iter()
        .filter(|row| row.contains("x_GpuType="))
        .collect::<Vec<_>>();
    assert_eq!(gpu_rows.len(), 10);
    assert!(
        gpu_rows
            .iter()
            .all(|row| row.contains("x_SkuEvidence=ChargeDescription") && row.contains("x_LineKind=compute"))
    );
    assert_eq!(
        gpu_rows
            .iter()
            .filter(|row| row.contains("x_Sku=g5.4xlarge|") && row.contains("x_GpuType=A10G|"))
            .count(),
        8
    );
    assert_eq!(store.sum("gpu_hours", "BilledCost"), 12_126_483_324_000);
    assert_eq!(store.sum("gpu_hours", "EffectiveCost"), 13_000_000_000_000);
}

#[test]
fn scientific_numbers_nulls_and_leading_zeros() {
    let Some(path) = shared::file("billing/regressions/r04_scientific_and_null_numbers.csv") else {
        return;
    };
    let store = Store::new();
    let report = store.load(&path).unwrap();
    assert_eq!(total(&report, "billed"), "-19.9994719819");
    let manifest = store.layout().manifest().unwrap();
    let unit = manifest.bills.values().next().unwrap();
    assert_eq!((unit.rows, unit.unknown_costs), (4, 1));
    assert_eq!(
        (unit.source.as_str(), unit.account.as_str(), unit.month.as_str()),
        ("unknown", "unknown", "2026-10")
    );
    assert!(
        warnings(&report)
            .iter()
            .any(|w| w == "BilledCost is unknown in 1 row; sums leave them out")
    );
    assert!(
        store
            .content("charges")
            .iter()
            .all(|row| row.contains("SubAccountId=001234567890|"))
    );
}

#[test]
fn mixed_currencies_are_refused() {
    let Some(path) = shared::file("billing/regressions/r05_mixed_currency.csv") else {
        return;
    };
    let said = Store::new().refusal(&path);
    assert!(
        said.starts_with("exit 4: ") && said.contains(":BillingCurrency: charges in ") && said.contains("hint:"),
        "{said}"
    );
}

#[test]
fn tags_that_differ_in_case() {
    let Some(path) = shared::file("billing/regressions/r06_tag_case.csv") else {
        return;
    };
    let store = Store::new();
    let report = store.load(&path).unwrap();
    assert_eq!(total(&report, "billed"), "150");
    let expected = "Tags has two values for `environment` (keys differ in case or spaces), so it counts as not set: \
                    1 row, BilledCost 30.00";
    assert!(
        warnings(&report).contains(&expected.to_owned()),
        "{:#?}",
        warnings(&report)
    );
    let prod = |row: &String| {
        let tags = row.split('|').find_map(|field| field.strip_prefix("Tags=")).unwrap();
        crate::tags::parse(tags)
            .get("environment")
            .is_some_and(|value| value == "prod")
    };
    let rows = store.content("charges");
    let prod: Vec<_> = rows
        .iter()
        .filter(|row| prod(row))
        .map(|row| row.split('|').next().unwrap())
        .collect();
    assert_eq!(
        prod,
        [
            "BilledCost=10.000000000000",
            "BilledCost=20.000000000000",
            "BilledCost=40.000000000000",
            "BilledCost=50.000000000000"
        ]
    );
}

#[test]
fn days_are_of_utc() {
    let Some(path) = shared::file("billing/regressions/r07_hourly_across_dst.csv") else {
        return;
    };
    let store = Store::new();
    store.load(&path).unwrap();
    let days = store.content("daily");
    assert_eq!(days.len(), 3);
    assert!(
        days.iter()
            .all(|day| day.contains("BilledCost=24.000000000000") && day.contains("x_Rows=24")),
        "{days:#?}"
    );
}

#[test]
fn other_data_sets_of_focus_are_no_bills() {
    let Some(path) = shared::file("billing/focus/gen_aws_focus_1_3_contract_commitment_seed7.csv") else {
        return;
    };
    let said = Store::new().refusal(&path);
    assert!(
        said.starts_with("exit 3:") && said.contains("is FOCUS Contract Commitment, not Cost and Usage"),
        "{said}"
    );
}
