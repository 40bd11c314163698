//! Each view on a few hand-made rows, written as small tables of text.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{Field, SchemaRef};
use jiff::tz::TimeZone;
use lowwater_model::period::Period;

use super::*;
use crate::schema;
use crate::session::Session;
use crate::store::{gpu_resources, owners};

/// Rows of a table from text: the first line names columns, `-` is null, absent columns are null.
fn table(schema: &SchemaRef, text: &str) -> RecordBatch {
    let mut lines = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .map(|l| l.split_whitespace().collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    for name in &header {
        assert!(schema.field_with_name(name).is_ok(), "no column {name}");
    }
    let column = |field: &Arc<Field>| -> ArrayRef {
        let index = header.iter().position(|h| h == field.name());
        let cell = |row: &Vec<&str>| index.map(|i| row[i]).filter(|v| *v != "-").map(|v| v.replace('~', " "));
        let texts: ArrayRef = Arc::new(StringArray::from(rows.iter().map(cell).collect::<Vec<_>>()));
        cast(&texts, field.data_type()).unwrap()
    };
    RecordBatch::try_new(Arc::clone(schema), schema.fields().iter().map(column).collect()).unwrap()
}

fn places(zone: &str) -> Places {
    let at = |t: &str| t.parse().unwrap();
    Places {
        zone: TimeZone::get(zone).unwrap(),
        period: Period {
            start: at("2026-10-01T00:00:00Z"),
            end: at("2026-11-01T00:00:00Z"),
        },
        min_observed_seconds: 3000,
    }
}

/// A session with these tables and, above them, all views.
fn session(tables: &[(&str, SchemaRef, &str)], zone: &str) -> Session {
    let session = Session::new().unwrap();
    let known = [
        ("charges", schema::charges(&[])),
        ("daily", schema::daily()),
        ("gpu_hours", schema::gpu_hours()),
        ("usage", schema::usage()),
        ("gpu_resources", gpu_resources()),
        ("owners", owners()),
    ];
    for (name, schema) in known {
        let given = tables.iter().find(|t| t.0 == name).map(|t| vec![table(&schema, t.2)]);
        session.register_rows(name, schema, given.unwrap_or_default()).unwrap();
    }
    for view in VIEWS {
        for (name, sql) in view.texts(&places(zone)) {
            session
                .create_view(name, &sql)
                .unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
    session
}

const USAGE: &str = "
x_Host x_Gpu x_MigInstance x_MigProfile x_Hour               x_ActivityMetric x_ActivitySeconds x_ActivityMicroSeconds x_MemorySeconds x_PowerSeconds x_PowerMaxMilliWatt x_Activity00 x_Activity10 x_Memory00 x_Memory18
h1     0     -             -            2026-10-05T00:00:00Z SM_ACTIVE        3600              0                      3600            3600           60000               3600         0            3600       0
h1     1     -             -            2026-10-05T00:00:00Z SM_ACTIVE        3600              36000000               0               0              -                   3600         0            0          0
h1     0     -             -            2026-10-05T01:00:00Z SM_ACTIVE        3600              0                      3600            3600           61000               3600         0            0          3600
h1     1     -             -            2026-10-05T01:00:00Z SM_ACTIVE        3600              1800000000             3600            3600           300000              1800         1800         3600       0
h1     0     -             -            2026-10-05T02:00:00Z SM_ACTIVE        3600              0                      -               -              -                   3600         0            0          0
h2     0     -             -            2026-10-05T00:00:00Z GR_ENGINE        600               0                      -               -              -                   600          0            0          0
m1     0     -             -            2026-10-05T00:00:00Z -                0                 0                      3600            3600           400000              0            0            3600       0
m1     0     7             1g.5gb       2026-10-05T00:00:00Z GR_ENGINE        3600              3240000000             -               3600           400000              0            3600         0          0
m1     0     8             1g.5gb       2026-10-05T00:00:00Z GR_ENGINE        3600              360000000              -               3600           400000              0            3600         0          0
m1     0     3             2g.10gb      2026-10-05T00:00:00Z GR_ENGINE        3600              1800000000             -               3600           400000              0            3600         0          0
";

const GPU_RESOURCES: &str = "
x_Host x_Gpu ResourceId x_Gpus
h1     0     r1         2
h1     1     r1         2
h2     0     r2         1
m1     0     m          1
";

#[test]
fn mig_instances_are_weighed_and_whole_gpu_values_count_once() {
    let session = session(&[("usage", schema::usage(), USAGE)], "UTC");
    let rows = session.query("SELECT * FROM gpu_activity WHERE x_Host = 'm1'").unwrap();
    let row = rows.iter().next().unwrap();
    // (0.9 x 1 + 0.1 x 1 + 0.5 x 2) / 7 of an hour
    assert_eq!(row.int("x_ActivityMicroSeconds"), Some(7_200_000_000 / 7));
    assert_eq!(row.int("x_PowerMaxMilliWatt"), Some(400_000));
    assert_eq!(rows.len(), 1);
}

#[test]
fn a_node_is_idle_only_if_all_its_gpus_are_and_were_observed() {
    let tables = [
        ("usage", schema::usage(), USAGE),
        ("gpu_resources", gpu_resources(), GPU_RESOURCES),
    ];
    let session = session(&tables, "UTC");
    let rows = session
        .query("SELECT * FROM resource_hours ORDER BY ResourceId, x_Hour")
        .unwrap();
    let seen: Vec<_> = rows
        .iter()
        .map(|r| {
            (
                r.text_or_empty("ResourceId"),
                r.bool("x_Idle"),
                r.int("x_MemoryMaxBin"),
                r.int("x_PowerMaxMilliWatt"),
            )
        })
        .collect();
    let want = [
        ("m", false, Some(0), Some(400_000)),
        ("r1", true, None, None),
        ("r1", false, Some(18), Some(300_000)),
        ("r1", false, None, None),
        ("r2", false, None, None),
    ];
    assert_eq!(seen, want);
}

const GPU_HOURS: &str = "
x_Account x_Month x_Hour               x_PeriodSeconds ResourceId x_Sku      x_GpuType x_LineKind ChargeCategory PricingCategory EffectiveCost BilledCost x_GpuHours
a         2026-10 2026-10-05T00:00:00Z 3600            r1         g5.2xlarge A10G      compute    Usage          Standard        1.21          1.21       1
a         2026-10 2026-10-05T00:00:00Z 3600            r1         g5.2xlarge A10G      other      Usage          Standard        0.10          0.10       -
a         2026-10 2026-10-05T01:00:00Z 3600            r1         g5.2xlarge A10G      compute    Usage          Standard        1.21          1.21       1
a         2026-10 2026-10-05T00:00:00Z 86400           r2         g5.2xlarge A10G      compute    Usage          Standard        9.00          9.00       24
";

const DAILY: &str = "
x_Account x_Month x_Day                ServiceName     ChargeCategory ChargeClass PricingCategory CommitmentDiscountStatus ResourceId x_Sku      x_GpuType x_LineKind EffectiveCost BilledCost
a         2026-10 2026-10-05T00:00:00Z EC2             Usage          -           Standard        -                        r1         g5.2xlarge A10G      compute    2.42          2.42
a         2026-10 2026-10-05T00:00:00Z EC2             Usage          -           Standard        -                        r1         -          -         other      0.10          0.10
a         2026-10 2026-10-05T00:00:00Z EC2             Usage          -           Committed       Unused                   sp         -          -         other      5.00          0
a         2026-10 2026-10-01T00:00:00Z EC2             Purchase       -           Committed       -                        sp         -          -         other      0             9.00
a         2026-10 2026-10-01T00:00:00Z EC2             Tax            -           -               -                        -          -          -         other      3.00          3.00
a         2026-10 2026-10-01T00:00:00Z AWS~Support     Usage          -           Standard        -                        -          -          -         other      7.00          7.00
a         2026-10 2026-10-01T00:00:00Z EC2             Credit         -           -               -                        -          -          -         other      -1.00         -1.00
a         2026-10 2026-10-01T00:00:00Z EC2             Usage          Correction  Standard        -                        r1         -          -         other      -2.00         -2.00
a         2026-10 2026-10-02T00:00:00Z EC2             Usage          -           Standard        -                        r9         -          -         other      4.00          4.00
";

const OWNERS: &str = "
ResourceId ResourceName x_AccountId x_Sku      x_Class     x_Team x_Untagged
r1         -            a           g5.2xlarge development vision false
r1         -            a           -          development vision false
";

#[test]
fn idle_cost_is_hourly_compute_cost_of_idle_hours() {
    let tables = [
        ("usage", schema::usage(), USAGE),
        ("gpu_resources", gpu_resources(), GPU_RESOURCES),
        ("gpu_hours", schema::gpu_hours(), GPU_HOURS),
    ];
    let session = session(&tables, "UTC");
    let rows = session
        .query("SELECT sum(x_IdleEffectiveCost) AS cost FROM idle_hours")
        .unwrap();
    assert_eq!(rows.iter().next().unwrap().money("cost").unwrap().to_string(), "1.21");
}

#[test]
fn money_of_nobody_has_a_label_and_every_row_is_counted_once() {
    let tables = [
        ("usage", schema::usage(), USAGE),
        ("gpu_resources", gpu_resources(), GPU_RESOURCES),
        ("gpu_hours", schema::gpu_hours(), GPU_HOURS),
        ("daily", schema::daily(), DAILY),
        ("owners", owners(), OWNERS),
    ];
    let session = session(&tables, "UTC");
    let sql = "SELECT coalesce(x_Label, x_Team, '(unallocated)') AS who, sum(EffectiveCost) AS cost, sum(x_IdleEffectiveCost) AS idle
               FROM owned_bill GROUP BY 1 ORDER BY 1";
    let rows = session.query(sql).unwrap();
    let got: Vec<_> = rows
        .iter()
        .map(|r| {
            (
                r.text_or_empty("who").to_owned(),
                r.money_or_zero("cost").to_string(),
                r.money_or_zero("idle").to_string(),
            )
        })
        .collect();
    let want = [
        ("(credit)", "-1.00", "0.00"),
        ("(purchase)", "0.00", "0.00"),
        ("(refund)", "-2.00", "0.00"),
        ("(support)", "7.00", "0.00"),
        ("(tax)", "3.00", "0.00"),
        ("(unallocated)", "4.00", "0.00"),
        ("(unused commitment)", "5.00", "0.00"),
        ("vision", "2.52", "1.21"),
    ];
    assert_eq!(got, want.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
}

#[test]
fn days_are_the_owners() {
    // r07: an hour each from 2026-10-24T00:00Z to 2026-10-26T00:00Z; Berlin leaves summer time on the 25th.
    let mut charges = String::from("ChargePeriodStart EffectiveCost x_Account\n");
    for hour in 0..48 {
        let (day, hour) = (24 + hour / 24, hour % 24);
        charges.push_str(&format!("2026-10-{day}T{hour:02}:00:00Z 1 a\n"));
    }
    let days = |zone: &str| -> Vec<(String, String)> {
        let session = session(&[("charges", schema::charges(&[]), &charges)], zone);
        let sql = "SELECT to_char(x_Day, '%Y-%m-%d') AS day, sum(EffectiveCost) AS cost FROM local_days GROUP BY 1 ORDER BY 1";
        let rows = session.query(sql).unwrap();
        rows.iter()
            .map(|r| (r.text_or_empty("day").to_owned(), r.money_or_zero("cost").fixed(0)))
            .collect()
    };
    let pairs = |list: &[(&str, &str)]| {
        list.iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(days("UTC"), pairs(&[("2026-10-24", "24"), ("2026-10-25", "24")]));
    assert_eq!(
        days("Europe/Berlin"),
        pairs(&[("2026-10-24", "22"), ("2026-10-25", "25"), ("2026-10-26", "1")])
    );
    assert_eq!(
        days("Asia/Kolkata"),
        pairs(&[("2026-10-24", "19"), ("2026-10-25", "24"), ("2026-10-26", "5")])
    );
}

#[test]
fn decimal_arithmetic_stays_exact() {
    let session = session(&[("daily", schema::daily(), DAILY)], "UTC");
    let rows = session
        .query("SELECT sum(EffectiveCost) * 0.5 AS half FROM daily")
        .unwrap();
    let kind = format!("{:?}", rows.iter().next().map(|r| r.type_of("half")));
    assert!(kind.contains("Decimal"), "money became {kind}");
}
