use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::sample::{Line, focus_csv, load_text, open};

fn by(dimensions: &[Dimension]) -> ReportQuery {
    ReportQuery {
        by: dimensions.to_vec(),
        ..ReportQuery::default()
    }
}

fn cost(report: &Report, labels: &[&str]) -> Option<String> {
    report
        .rows
        .iter()
        .find(|r| r.labels == labels)
        .map(|r| r.cost.to_string())
}

/// Two teams, one idle machine, an unused commitment, tax.
fn organisation() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let hour = |resource: &str, h: i64, price: &str, tags: &str| {
        let start: Timestamp = "2026-10-05T00:00:00Z".parse().unwrap();
        let mut line = Line::hour(
            resource,
            "g5.2xlarge",
            Timestamp::from_second(start.as_second() + h * 3600).unwrap(),
            price,
        );
        line.tags = tags.into();
        line
    };
    let mut lines = Vec::new();
    for h in 0..10 {
        lines.push(hour("i-a", h, "1.5", r#"{"Team":"vision"}"#));
        lines.push(hour("i-b", h, "2.5", r#"{"team":"speech"}"#));
        lines.push(hour("i-c", h, "0.1", ""));
    }
    let mut unused = hour("", 0, "0", "");
    (unused.sku, unused.commitment, unused.status, unused.effective) = ("", "sp", "Unused", "7".into());
    let mut tax = hour("", 0, "3", "");
    (tax.sku, tax.category) = ("", "Tax");
    lines.extend([unused, tax]);
    load_text(dir.path(), "bill.csv", &focus_csv(&lines));
    let mut usage = String::from("time,host,gpu,activity,activity_metric,memory_used_mib,memory_total_mib,power_w\n");
    for h in 0..10 {
        let activity = if h < 4 { "0" } else { "0.5" };
        usage.push_str(&format!("2026-10-05T{h:02}:00:00Z,i-a,0,{activity},SM_ACTIVE,,,\n"));
    }
    load_text(dir.path(), "usage.csv", &usage);
    dir
}

#[test]
fn money_by_team_adds_up_with_lines_of_nobody() {
    let dir = organisation();
    let report = open(dir.path()).report(&by(&[Dimension::Team])).unwrap();
    assert_eq!(report.metric, CostMetric::Effective);
    assert_eq!(cost(&report, &["vision"]).as_deref(), Some("15.00"));
    assert_eq!(cost(&report, &["speech"]).as_deref(), Some("25.00"));
    assert_eq!(cost(&report, &["(unallocated)"]).as_deref(), Some("1.00"));
    assert_eq!(cost(&report, &["(unused commitment)"]).as_deref(), Some("7.00"));
    assert_eq!(cost(&report, &["(tax)"]).as_deref(), Some("3.00"));
    assert_eq!(report.stored.to_string(), "51.00");
    assert_eq!(report.lines.idle.to_string(), "6.00");
    assert_eq!(report.lines.unallocated.to_string(), "1.00");
    assert_eq!(report.lines.untagged.to_string(), "1.00");
    assert_eq!(report.lines.unused_commitment.unwrap().to_string(), "7.00");
    // Six hours at one half of the one machine that is measured: three useful hours for its 15.
    assert_eq!(report.gpu.useful_gpu_hours.value(), Some(&3.0));
    assert_eq!(report.gpu.cost_per_useful_gpu_hour.value(), Some(&5.0));
    assert_eq!(report.gpu.gpu_hours, Money::whole(30));
    let order: Vec<&str> = report.rows.iter().map(|r| r.labels[0].as_str()).collect();
    assert_eq!(order[..2], ["speech", "vision"]);
}

#[test]
fn idle_cost_is_unknown_where_no_machine_of_the_row_was_measured_in_these_days() {
    let dir = organisation();
    let store = open(dir.path());
    let known = |query: &ReportQuery, label: &str| {
        let report = store.report(query).unwrap();
        report.rows.iter().find(|r| r.labels == [label]).unwrap().idle_known
    };
    let teams = by(&[Dimension::Team]);
    assert!(known(&teams, "vision"), "its machine was measured");
    assert!(!known(&teams, "speech"), "its machine was not");
    assert!(known(&teams, "(tax)"), "no machine, nothing idle");
    assert!(
        known(&by(&[Dimension::Sku]), "g5.2xlarge"),
        "one of its machines was measured"
    );
    let spread = ReportQuery {
        idle: IdleMode::Spread,
        ..teams
    };
    assert!(known(&spread, "speech"), "it bears a part of the idle cost of others");
}

#[test]
fn a_machine_that_was_observed_in_one_month_was_not_observed_in_all() {
    let dir = tempfile::tempdir().unwrap();
    let hour = |at: &str| Line::hour("i-a", "g5.2xlarge", at.parse().unwrap(), "1");
    let lines = [
        hour("2026-09-05T00:00:00Z"),
        hour("2026-10-05T00:00:00Z"),
        hour("2026-10-06T00:00:00Z"),
    ];
    load_text(dir.path(), "bill.csv", &focus_csv(&lines));
    let usage = "time,host,gpu,activity,activity_metric,memory_used_mib,memory_total_mib,power_w\n\
                 2026-10-05T00:00:00Z,i-a,0,0,SM_ACTIVE,,,\n";
    load_text(dir.path(), "usage.csv", usage);
    for zone in ["UTC", "America/New_York"] {
        std::fs::write(
            dir.path().join("policy.toml"),
            format!("[calendar]\nzone = \"{zone}\"\n"),
        )
        .unwrap();
        let known = |by: &[Dimension], period| {
            let query = ReportQuery { period, ..self::by(by) };
            let rows = open(dir.path()).report(&query).unwrap().rows;
            rows.into_iter().map(|row| row.idle_known).collect::<Vec<_>>()
        };
        let (charge, billing) = (PeriodKind::Charge, PeriodKind::Billing);
        assert_eq!(
            known(&[Dimension::Month, Dimension::Resource], charge),
            [false, true],
            "{zone}"
        );
        assert_eq!(known(&[Dimension::Month], charge), [false, true], "{zone}");
        assert_eq!(known(&[Dimension::Month], billing), [false, true], "{zone}");
        assert_eq!(
            known(&[Dimension::Day, Dimension::Sku], charge),
            [false, true, false],
            "{zone}"
        );
        assert_eq!(known(&[Dimension::Resource], charge), [true], "{zone}");
    }
}

/// A bill by the day with metrics by the hour: which hours cost what is not known, and neither is what idled.
#[test]
fn idle_cost_of_a_bill_without_hours_is_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let bill = "ChargePeriodStart,ChargePeriodEnd,BilledCost,EffectiveCost,BillingCurrency,ChargeCategory,ResourceId,ConsumedQuantity,\
                ConsumedUnit,x_InstanceType\n\
                2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,24,24,USD,Usage,i-a,24,Hours,g5.2xlarge\n\
                2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,3,3,USD,Tax,,,,\n";
    load_text(dir.path(), "bill.csv", bill);
    let mut usage = String::from("time,host,gpu,activity,activity_metric,memory_used_mib,memory_total_mib,power_w\n");
    for h in 0..24 {
        usage.push_str(&format!("2026-10-05T{h:02}:00:00Z,i-a,0,0,SM_ACTIVE,,,\n"));
    }
    load_text(dir.path(), "usage.csv", &usage);
    let report = open(dir.path()).report(&by(&[Dimension::Class])).unwrap();
    assert!(!report.idle_known, "no zero");
    let why = report.gpu.useful_gpu_hours.why().unwrap();
    assert!(why.starts_with("no billed hour was observed"), "{why}");
    let without = ReportQuery {
        only: [(Dimension::Class, vec!["(tax)".to_owned()])].into(),
        ..by(&[Dimension::Class])
    };
    assert!(
        open(dir.path()).report(&without).unwrap().idle_known,
        "tax does not idle"
    );
}

#[test]
fn billed_cost_does_not_say_what_of_a_commitment_was_unused() {
    let dir = organisation();
    let unused = |metric| {
        let query = ReportQuery {
            metric: Some(metric),
            ..by(&[Dimension::Team])
        };
        open(dir.path()).report(&query).unwrap().lines.unused_commitment
    };
    assert_eq!(unused(CostMetric::Billed), None);
    assert_eq!(unused(CostMetric::Effective), Some(Money::whole(7)));
}

#[test]
fn idle_can_be_kept_separated_or_spread() {
    let dir = organisation();
    let ask = |idle| {
        open(dir.path())
            .report(&ReportQuery {
                idle,
                ..by(&[Dimension::Team])
            })
            .unwrap()
    };
    let kept = ask(IdleMode::Keep);
    assert_eq!(
        kept.rows
            .iter()
            .find(|r| r.labels == ["vision"])
            .unwrap()
            .of_which_idle
            .to_string(),
        "6.00"
    );
    let apart = ask(IdleMode::Separate);
    assert_eq!(cost(&apart, &["vision"]).as_deref(), Some("9.00"));
    assert_eq!(cost(&apart, &["(idle)"]).as_deref(), Some("6.00"));
    let spread = ask(IdleMode::Spread);
    // 6 over 9 (vision, what it costs otherwise) and 25 (speech).
    assert!(cost(&spread, &["vision"]).unwrap().starts_with("10.588235294"));
    for report in [&kept, &apart, &spread] {
        assert_eq!(report.rows.iter().map(|r| r.cost).sum::<Money>(), report.stored);
    }
}

#[test]
fn two_dimensions_days_and_bounds() {
    let dir = organisation();
    let store = open(dir.path());
    let report = store.report(&by(&[Dimension::Day, Dimension::Sku])).unwrap();
    assert_eq!(cost(&report, &["2026-10-05", "g5.2xlarge"]).as_deref(), Some("41.00"));
    assert_eq!(cost(&report, &["2026-10-05", "(none)"]).as_deref(), Some("10.00"));
    let from = Some("2026-10-06".parse().unwrap());
    let none = store
        .report(&ReportQuery {
            from,
            ..by(&[Dimension::Team])
        })
        .unwrap();
    assert_eq!((none.rows.len(), none.stored, none.exact), (0, Money::ZERO, None));
    assert_eq!(report.zone, "UTC");
    let billing = ReportQuery {
        from,
        period: PeriodKind::Billing,
        ..by(&[Dimension::Month])
    };
    assert_eq!(store.report(&billing).unwrap().stored.to_string(), "51.00");
}

#[test]
fn time_goes_forward_inside_of_its_group() {
    let order = |dimensions: &[Dimension], rows: &[(&str, &str, i64)]| {
        let row = |(first, second, cost): &(&str, &str, i64)| ReportRow {
            labels: [*first, *second].map(String::from).to_vec(),
            cost: Money::whole(*cost),
            of_which_idle: Money::ZERO,
            idle_known: true,
            gpu_hours: Money::ZERO,
        };
        let mut rows: Vec<ReportRow> = rows.iter().map(row).collect();
        sort_rows(&mut rows, &by(dimensions));
        rows.iter().map(|r| r.labels.join(" ")).collect::<Vec<_>>()
    };
    let rows = [
        ("(tax)", "2026-09", 90),
        ("small", "2026-10", 5),
        ("large", "2026-11", 20),
        ("small", "2026-09", 6),
        ("large", "2026-09", 10),
        ("large", "2026-10", 1),
        ("(tax)", "2026-10", 95),
    ];
    let want = [
        "large 2026-09",
        "large 2026-10",
        "large 2026-11",
        "small 2026-09",
        "small 2026-10",
        "(tax) 2026-09",
        "(tax) 2026-10",
    ];
    assert_eq!(order(&[Dimension::Team, Dimension::Month], &rows), want);
    let swapped = rows.map(|(team, month, cost)| (month, team, cost));
    assert_eq!(
        order(&[Dimension::Day, Dimension::Team], &swapped)[..4],
        ["2026-09 large", "2026-09 small", "2026-09 (tax)", "2026-10 small"]
    );
    assert_eq!(
        order(&[Dimension::Team, Dimension::Class], &rows)[..3],
        ["large 2026-11", "large 2026-09", "small 2026-09"],
        "without a time the most expensive row first"
    );
}

#[test]
fn days_follow_the_owners_zone() {
    let Some(file) = crate::shared::file("billing/regressions/r07_hourly_across_dst.csv") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    load_text(dir.path(), "r07.csv", &std::fs::read_to_string(file).unwrap());
    std::fs::write(dir.path().join("policy.toml"), "[calendar]\nzone = \"Europe/Berlin\"\n").unwrap();
    let report = open(dir.path()).report(&by(&[Dimension::Day])).unwrap();
    let days: Vec<(String, String)> = report
        .rows
        .iter()
        .map(|r| (r.labels[0].clone(), r.cost.fixed(0)))
        .collect();
    let want = [
        ("2026-03-28", "23"),
        ("2026-03-29", "23"),
        ("2026-03-30", "24"),
        ("2026-03-31", "2"),
    ];
    assert_eq!(days, want.map(|(d, c)| (d.to_owned(), c.to_owned())));
    assert_eq!(report.stored, report.rows.iter().map(|r| r.cost).sum());
}

#[test]
fn questions_about_time_and_others_do_not_disturb_each_other() {
    let dir = organisation();
    std::fs::write(dir.path().join("policy.toml"), "[calendar]\nzone = \"Asia/Tokyo\"\n").unwrap();
    let ask = |store: &Store, dimension| {
        let report = store.report(&by(&[dimension])).unwrap();
        (report.rows, report.stored, report.days)
    };
    let of_fresh = |dimension| ask(&open(dir.path()), dimension);
    let (day, team) = (of_fresh(Dimension::Day), of_fresh(Dimension::Team));
    assert_eq!(day.1, team.1);
    let store = open(dir.path());
    for _ in 0..2 {
        assert_eq!(ask(&store, Dimension::Day), day);
        assert_eq!(ask(&store, Dimension::Team), team);
    }
}

#[test]
fn the_total_is_the_files_own_to_the_last_digit() {
    let Some(file) = crate::shared::file("billing/focus/conv_aws_focus_1_4_200rows.csv") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    load_text(dir.path(), "conv.csv", &std::fs::read_to_string(file).unwrap());
    let report = open(dir.path())
        .report(&ReportQuery {
            metric: Some(CostMetric::Billed),
            ..by(&[Dimension::Team])
        })
        .unwrap();
    assert_eq!(report.exact.unwrap().file_text(), "4829.331368897859170");
    assert_eq!(report.exact.unwrap().stored(), report.rows.iter().map(|r| r.cost).sum());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// By any dimension and any treatment of idle cost, the rows sum to what was loaded, exactly.
    #[test]
    fn rows_sum_to_the_bill(costs in prop::collection::vec((-5_000_000_000_i64..5_000_000_000, 0_u8..6, 0_u8..3), 1..30), pick in 0_usize..36) {
        let dir = tempfile::tempdir().unwrap();
        let lines: Vec<Line> = costs.iter().enumerate().map(|(i, (units, kind, team))| {
            let start = 1_790_000_000 / 3600 * 3600 + (i as i64 % 20) * 3600;
            let price = Money::from_units(i128::from(*units)).to_string();
            let mut line = Line::hour(&format!("i-{}", i % 5), "g5.2xlarge", Timestamp::from_second(start).unwrap(), &price);
            match kind {
                0 => line.category = "Tax",
                1 => line.category = "Credit",
                2 => (line.commitment, line.status) = ("sp", "Unused"),
                _ => line.tags = ["", r#"{"team":"a"}"#, r#"{"team":"(idle)"}"#][usize::from(*team)].into(),
            }
            line
        }).collect();
        load_text(dir.path(), "bill.csv", &focus_csv(&lines));
        let total: Money = costs.iter().map(|c| Money::from_units(i128::from(c.0))).sum();
        let store = open(dir.path());
        let dimension = Dimension::ALL[pick % Dimension::ALL.len()];
        let idle = [IdleMode::Keep, IdleMode::Separate, IdleMode::Spread][pick % 3];
        let report = store.report(&ReportQuery { idle, metric: Some(CostMetric::Billed), ..by(&[dimension]) }).unwrap();
        prop_assert_eq!(report.rows.iter().map(|r| r.cost).sum::<Money>(), total);
        prop_assert_eq!(report.stored, total);
    }
}

/// A month of support, and hours around midnight on the first.
fn around_midnight(zone: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    let mut month = Line::hour("", "", at("2026-10-01T00:00:00Z"), "31");
    (month.end, month.hours) = ("2026-11-01T00:00:00Z".into(), "");
    let hours = ["2026-10-01T03:00:00Z", "2026-10-31T23:00:00Z"].map(|t| Line::hour("i-a", "g5.xlarge", at(t), "1"));
    let mut lines = vec![month];
    lines.extend(hours);
    load_text(dir.path(), "bill.csv", &focus_csv(&lines));
    std::fs::write(
        dir.path().join("policy.toml"),
        format!("[calendar]\nzone = \"{zone}\"\n"),
    )
    .unwrap();
    dir
}

#[test]
fn a_charge_of_a_month_is_of_its_month_in_every_zone_and_hours_are_the_owners() {
    for (zone, months, days) in [
        (
            "America/Los_Angeles",
            [("2026-09", "1.00"), ("2026-10", "32.00")],
            ("2026-09-30", "2026-10-31"),
        ),
        (
            "Europe/Berlin",
            [("2026-10", "32.00"), ("2026-11", "1.00")],
            ("2026-10-01", "2026-11-01"),
        ),
    ] {
        let dir = around_midnight(zone);
        let store = open(dir.path());
        let report = store.report(&by(&[Dimension::Month])).unwrap();
        let rows: Vec<(&str, String)> = report
            .rows
            .iter()
            .map(|r| (r.labels[0].as_str(), r.cost.to_string()))
            .collect();
        assert_eq!(rows, months.map(|(month, cost)| (month, cost.to_owned())), "{zone}");
        let days = Some((days.0.to_owned(), days.1.to_owned()));
        assert_eq!(report.days, days, "{zone}");
        assert_eq!(
            store.report(&by(&[Dimension::Team])).unwrap().days,
            days,
            "{zone}: every report has the same days"
        );
        let utc = ReportQuery {
            utc: true,
            from: Some("2026-10-01".parse().unwrap()),
            ..by(&[Dimension::Team])
        };
        let utc = store.report(&utc).unwrap();
        assert_eq!(utc.stored, Money::whole(33), "{zone}");
        assert_eq!(utc.days, Some(("2026-10-01".into(), "2026-10-31".into())), "{zone}");
    }
}

#[test]
fn list_cost_says_how_much_stands_beside_the_use_that_commitments_cover() {
    let dir = tempfile::tempdir().unwrap();
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    let start = at("2026-10-01T00:00:00Z");
    let mut used = Line::hour("i-a", "g5.xlarge", start, "10");
    (used.commitment, used.status) = ("sp", "Used");
    let mut unused = Line::hour("", "", start, "4");
    (unused.commitment, unused.status) = ("sp", "Unused");
    let mut bought = Line::hour("sp", "", start, "14");
    (bought.category, bought.commitment) = ("Purchase", "sp");
    let mut market = Line::hour("ami", "", start, "3");
    market.category = "Purchase";
    load_text(dir.path(), "bill.csv", &focus_csv(&[used, unused, bought, market]));
    let store = open(dir.path());
    let notes = |metric| {
        let query = ReportQuery {
            metric: Some(metric),
            ..by(&[Dimension::Team])
        };
        let report = store.report(&query).unwrap();
        assert_eq!(report.stored, Money::whole(31), "the sums stay");
        report
            .notes
            .into_iter()
            .filter(|note| note.contains("beside"))
            .collect::<Vec<_>>()
    };
    let list = notes(CostMetric::List);
    assert!(
        list[0].contains("holds 14.00 USD of commitments bought and 4.00 USD of unused commitment"),
        "{list:?}"
    );
    assert_eq!(notes(CostMetric::Contracted).len(), 1);
    assert!(notes(CostMetric::Effective).is_empty() && notes(CostMetric::Billed).is_empty());
}

#[test]
fn only_some_labels_and_their_figures() {
    let dir = organisation();
    let store = open(dir.path());
    let only = |labels: &[&str]| ReportQuery {
        only: [(Dimension::Team, labels.iter().map(|l| (*l).to_owned()).collect())].into(),
        ..by(&[Dimension::Resource])
    };
    let vision = store.report(&only(&["vision"])).unwrap();
    assert_eq!(
        (cost(&vision, &["i-a"]).as_deref(), vision.rows.len()),
        (Some("15.00"), 1)
    );
    assert_eq!(
        vision.stored, vision.gpu.cost,
        "tax and unused commitment are not vision's"
    );
    assert_eq!(vision.gpu.useful_gpu_hours, Known::Value(3.0), "six hours at a half");
    assert!(vision.exact.is_none(), "a part has no total of its own in the file");
    let both = store.report(&only(&["vision", "speech"])).unwrap();
    assert_eq!(both.stored, Money::parse("40").unwrap());
    let speech = store.report(&only(&["speech"])).unwrap();
    assert!(
        matches!(speech.gpu.useful_gpu_hours, Known::Unknown(_)),
        "nobody measured it"
    );
}

#[test]
fn a_label_is_no_sql() {
    let dir = organisation();
    let store = open(dir.path());
    for hostile in ["' OR '1'='1", "vision') OR (1=1", "\\' --", "'; DROP VIEW bill; --"] {
        let query = ReportQuery {
            only: [(Dimension::Team, vec![hostile.to_owned()])].into(),
            ..by(&[Dimension::Team])
        };
        assert_eq!(store.report(&query).unwrap().rows, [], "{hostile}");
    }
}
