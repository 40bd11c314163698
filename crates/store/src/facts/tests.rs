use jiff::Timestamp;
use lowwater_model::id::ResourceId;
use lowwater_model::offer::PriceKey;
use proptest::prelude::*;

use super::*;
use crate::sample::{Line, focus_csv, load_text, open};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn hours(resource: &str, sku: &'static str, from: &str, count: i64, price: &str) -> Vec<Line> {
    let start = at(from).as_second();
    (0..count)
        .map(|h| Line::hour(resource, sku, Timestamp::from_second(start + h * 3600).unwrap(), price))
        .collect()
}

/// Two machines over three days, a daily one, a disk, a covered hour, a purchase, tax, and a part of an hour.
fn organisation() -> Vec<Line> {
    let mut lines = hours("i-1", "g5.2xlarge", "2026-10-01T00:00:00Z", 72, "1.212");
    lines.extend(hours("i-1", "", "2026-10-01T00:00:00Z", 72, "0.01"));
    lines.extend(hours("i-2", "p4d.24xlarge", "2026-10-01T06:00:00Z", 10, "21.957642"));
    let mut part = Line::hour("i-2", "p4d.24xlarge", at("2026-10-01T16:00:00Z"), "10.978821");
    part.hours = "0.5";
    let mut covered = Line::hour("i-2", "p4d.24xlarge", at("2026-10-01T17:00:00Z"), "0");
    (covered.pricing, covered.commitment, covered.status, covered.effective) =
        ("Committed", "sp-1", "Used", "11.5".into());
    let mut unused = Line::hour("", "", at("2026-10-01T18:00:00Z"), "0");
    (unused.pricing, unused.commitment, unused.status, unused.effective) =
        ("Committed", "sp-1", "Unused", "3.5".into());
    let mut purchase = Line::hour("sp-1", "", at("2026-10-01T00:00:00Z"), "15");
    (purchase.category, purchase.commitment, purchase.effective) = ("Purchase", "sp-1", "0".into());
    let mut tax = Line::hour("", "", at("2026-10-01T00:00:00Z"), "2");
    (tax.category, tax.pricing, tax.end) = ("Tax", "", "2026-11-01T00:00:00Z".into());
    let mut daily = Line::hour("i-3", "g5.xlarge", at("2026-10-02T00:00:00Z"), "10");
    (daily.end, daily.hours) = ("2026-10-03T00:00:00Z".into(), "24");
    lines.extend([part, covered, unused, purchase, tax, daily]);
    lines
}

fn loaded(usage: &str) -> (tempfile::TempDir, Facts) {
    let dir = tempfile::tempdir().unwrap();
    load_text(dir.path(), "bill.csv", &focus_csv(&organisation()));
    if !usage.is_empty() {
        load_text(dir.path(), "usage.csv", usage);
    }
    std::fs::write(dir.path().join("hosts.csv"), "host,resource_id\nn1,i-1\nn3,i-3\n").unwrap();
    let facts = open(dir.path()).facts(None).unwrap();
    (dir, facts)
}

fn resource<'a>(facts: &'a Facts, id: &str) -> &'a Resource {
    facts.resource(&ResourceId::from(id)).unwrap()
}

#[test]
fn the_ledger_ties_out_to_the_bill_and_names_the_differences() {
    let (_dir, facts) = loaded("");
    let money = |text: &str| Money::parse(text).unwrap();
    assert_eq!(
        facts.period,
        Period {
            start: at("2026-10-01T00:00:00Z"),
            end: at("2026-10-04T00:00:00Z")
        }
    );
    assert_eq!(facts.ledger.total, money("345.539241"));
    assert_eq!(facts.ledger.billed, money("345.539241"));
    let named: Money = facts.ledger.reconciliation.iter().map(|l| l.amount).sum();
    assert_eq!(
        facts.ledger.total + named + facts.ledger.unexplained,
        facts.ledger.billed
    );
    assert_eq!(facts.ledger.unexplained, Money::ZERO);
    assert_eq!(
        facts.ledger.reconciliation.len(),
        2,
        "{:?}",
        facts.ledger.reconciliation
    );
    let commitment = &facts.commitments[0];
    assert_eq!((commitment.used, commitment.unused), (money("11.5"), money("3.5")));
}

#[test]
fn hours_of_equal_cost_are_one_run_and_terms_are_lines() {
    let (_dir, facts) = loaded("");
    let one = resource(&facts, "i-1");
    assert_eq!(one.lines.len(), 2);
    assert!(
        one.lines.iter().all(|l| l.runs.len() == 1 && l.runs[0].hours == 72),
        "{:?}",
        one.lines
    );
    assert_eq!(one.lines.iter().filter(|l| l.kind == LineKind::Compute).count(), 1);
    let two = resource(&facts, "i-2");
    let committed = two.lines.iter().find(|l| l.commitment.is_some()).unwrap();
    assert_eq!(committed.runs.len(), 1);
    let standard = two.lines.iter().find(|l| l.commitment.is_none()).unwrap();
    assert_eq!(
        standard.runs.iter().map(|r| (r.hours, r.seconds)).collect::<Vec<_>>(),
        [(10, 3600), (1, 1800)]
    );
}

#[test]
fn a_daily_charge_is_spread_evenly_or_by_activity_and_says_so() {
    let total = |r: &Resource| -> Money {
        r.lines
            .iter()
            .flat_map(|l| &l.runs)
            .map(|x| x.cost.times(i64::from(x.hours)))
            .sum()
    };
    let (_dir, facts) = loaded("");
    let even = resource(&facts, "i-3");
    assert_eq!(even.lines[0].spread, Spread::Even);
    assert!(!even.is_hourly());
    assert_eq!(total(even), Money::whole(10));
    let mut usage = String::from("time,host,gpu,activity,activity_metric,memory_used_mib,memory_total_mib,power_w\n");
    for hour in 0..24 {
        let activity = if (9..14).contains(&hour) { "0.8" } else { "0" };
        usage.push_str(&format!(
            "2026-10-02T{hour:02}:00:00Z,n3,0,{activity},SM_ACTIVE,100,24000,60\n"
        ));
    }
    let (_dir, facts) = loaded(&usage);
    let active = resource(&facts, "i-3");
    assert_eq!(active.lines[0].spread, Spread::Activity);
    assert_eq!(total(active), Money::whole(10));
    let paid: Vec<i64> = active.lines[0]
        .runs
        .iter()
        .filter(|r| !r.cost.is_zero())
        .map(|r| i64::from(r.hours))
        .collect();
    assert_eq!(paid.iter().sum::<i64>(), 5);
}

#[test]
fn usage_is_joined_and_gaps_stay_unknown() {
    let usage = "time,host,gpu,activity,activity_metric,memory_used_mib,memory_total_mib,power_w\n\
        2026-10-01T00:00:00Z,n1,0,0,SM_ACTIVE,100,24000,60\n\
        2026-10-01T02:00:00Z,n1,0,0.5,SM_ACTIVE,,24000,\n";
    let (_dir, facts) = loaded(usage);
    let usage = &resource(&facts, "i-1").usage;
    let hour = |text: &str| usage.at(Hour::of(at(text)));
    let first = hour("2026-10-01T00:00:00Z").unwrap();
    assert!(
        first.idle && first.memory_max_bin == Some(0) && first.power_max_w == Some(60),
        "{first:?}"
    );
    assert!(hour("2026-10-01T01:00:00Z").is_none());
    let third = hour("2026-10-01T02:00:00Z").unwrap();
    assert!(
        !third.idle && third.memory_max_bin.is_none() && third.power_max_w.is_none(),
        "{third:?}"
    );
    assert_eq!(third.activity_permille, 500);
    assert!(facts.quality.joined_gpu_cost > Money::ZERO && facts.quality.joined_gpu_cost < facts.quality.gpu_cost);
}

#[test]
fn prices_are_what_was_paid_and_nothing_is_seen_after_as_of() {
    let (dir, facts) = loaded("");
    let day = "2026-10-05".parse().unwrap();
    let key = PriceKey {
        cloud: "aws",
        region: "us-east-1",
        sku: "p4d.24xlarge",
        market: Market::OnDemand,
    };
    let offer = facts.prices.find(&key, day);
    let offer = offer.value().unwrap();
    assert_eq!((offer.basis, offer.rate.0), (PriceBasis::Observed, 21.957642));
    let early = open(dir.path()).facts(Some(at("2026-10-02T12:00:00Z"))).unwrap();
    assert_eq!(early.period.end, at("2026-10-02T00:00:00Z"));
    assert!(early.resource(&ResourceId::from("i-3")).is_none());
    let last = early
        .resources
        .iter()
        .flat_map(|r| &r.lines)
        .flat_map(|l| &l.runs)
        .map(CostRun::end)
        .max()
        .unwrap();
    assert_eq!(last, Hour::of(at("2026-10-02T00:00:00Z")));
    assert_ne!(early.id, facts.id);
    assert_eq!(
        open(dir.path()).facts(None).unwrap(),
        facts,
        "the same question has the same answer"
    );
}

#[test]
fn a_rounded_effective_cost_moves_the_basis_to_billed() {
    let Some(sample) = crate::shared::file("billing/focus/focus_1_0_sample_1000.csv") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    load_text(dir.path(), "focus.csv", &std::fs::read_to_string(sample).unwrap());
    let facts = open(dir.path()).facts(None).unwrap();
    assert_eq!(facts.basis.metric, CostMetric::Billed);
    let gpu: Money = facts
        .resources
        .iter()
        .flat_map(|r| &r.lines)
        .flat_map(|l| &l.runs)
        .map(|r| r.cost.times(i64::from(r.hours)))
        .sum();
    assert!(gpu >= Money::parse("12.126483324").unwrap(), "{gpu}");
}

proptest! {
    /// Spreading is exact for any cost and any activity.
    #[test]
    fn spreading_keeps_every_digit(units in -10_i128.pow(20)..10_i128.pow(20), hours in 1_i64..800, activity in prop::collection::vec(0_u16..=1000, 0..40)) {
        let mut usage = Usage::default();
        for (hour, permille) in activity.iter().enumerate() {
            usage.push(Hour(hour as i64), HourUsage {
                gpus: 1, observed_minutes: 60, idle: false, activity_max_bin: 0, activity_permille: *permille, memory_max_bin: None, power_max_w: None,
            });
        }
        let mut line = CostLine { kind: LineKind::Compute, pricing: PricingCategory::Standard, commitment: None, spread: Spread::Activity, runs: vec![] };
        spread(&mut line, Hour(0), hours, Money::from_units(units), Some(&usage));
        let total: Money = line.runs.iter().map(|r| r.cost.times(i64::from(r.hours))).sum();
        prop_assert_eq!(total, Money::from_units(units));
        prop_assert_eq!(line.runs.iter().map(|r| i64::from(r.hours)).sum::<i64>(), hours);
    }
}

#[test]
fn a_store_that_lost_a_file_does_not_answer() {
    let (dir, _) = loaded("");
    let cube = dir.path().join("store/gpu_hours");
    std::fs::rename(&cube, dir.path().join("store/elsewhere")).unwrap();
    let error = Store::open(dir.path(), &[]).err().unwrap();
    assert_eq!(error.exit_code(), 4);
    assert!(
        error.to_string().contains("gpu_hours") && error.to_string().contains("hint:"),
        "{error}"
    );
}

/// What a folder load makes of the files in it.
fn load_folder(data: &std::path::Path, folder: &std::path::Path) -> Result<crate::load::LoadReport, StoreError> {
    let request = crate::load::LoadRequest {
        paths: vec![folder.to_owned()],
        ..Default::default()
    };
    crate::load::load(
        data,
        &request,
        &lowwater_model::policy::Policy::defaults(&[]),
        &crate::load::Quiet,
    )
}

#[test]
fn the_store_is_never_loaded_into_itself() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("bill.csv"), focus_csv(&organisation())).unwrap();
    let first = load_folder(dir.path(), dir.path()).unwrap();
    let again = load_folder(dir.path(), dir.path()).unwrap();
    assert!(again.unchanged);
    assert_eq!(first.totals, again.totals);
    let refused = load_folder(dir.path(), &dir.path().join("store/charges")).unwrap_err();
    assert_eq!(refused.exit_code(), 4, "{refused}");
}

#[test]
fn a_folder_with_a_damaged_export_is_not_loaded_in_part() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("export");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.csv"), focus_csv(&organisation())).unwrap();
    std::fs::write(folder.join("README.md"), "").unwrap();
    load_folder(dir.path(), &folder).unwrap();
    std::fs::write(folder.join("b.csv.gz"), b"\x1f\x8b\x08\x00cut").unwrap();
    let error = load_folder(dir.path(), &folder).unwrap_err();
    assert_eq!(error.exit_code(), 3, "{error}");
    assert!(error.to_string().contains("b.csv.gz"), "{error}");
}

#[test]
fn a_decoder_that_panics_is_a_damaged_file() {
    let error = crate::input::without_panics("x.parquet", || -> u8 { panic!("inside the decoder") }).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    assert!(
        error.to_string().contains("x.parquet") && error.to_string().contains("damaged"),
        "{error}"
    );
}

/// A day of machines of a cloud whose types no table knows: the bill says in its own words what is in them.
const OWN_WORDS: &str = "ChargePeriodStart,ChargePeriodEnd,BilledCost,EffectiveCost,BillingCurrency,ChargeCategory,ServiceCategory,\
ResourceId,ResourceName,ConsumedQuantity,ConsumedUnit,SkuPriceDetails,SkuMeter,ChargeDescription,ProviderName\n";

fn own_words() -> String {
    let machines = [
        ("n-1", r#""{""InstanceType"":""gd-8xh100ib-i128""}",,"#),
        ("n-2", ",NVIDIA H100 80GB,"),
        (
            "n-3",
            r#""{""gpuType"":""L4"",""GpuCount"":2,""InstanceType"":""box-l""}",,"#,
        ),
        ("n-4", r#""{""InstanceType"":""box-h100""}",,"#),
        ("n-5", ",,8x NVIDIA H100 node"),
        ("n-6", r#""{""InstanceType"":""cpu-box-16""}",,"#),
    ];
    let mut bill = OWN_WORDS.to_owned();
    for hour in 0..24 {
        let (from, to) = (at("2026-10-01T00:00:00Z").as_second() + hour * 3600, 3600);
        let time = |second| Timestamp::from_second(second).unwrap();
        for (id, words) in machines {
            let (start, end) = (time(from), time(from + to));
            bill += &format!("{start},{end},2,2,USD,Usage,Compute,{id},host-{id},1,Hours,{words},own\n");
        }
    }
    bill += "2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,9,9,USD,Usage,Storage,disk,disk,1,GB,,,Disk for NVIDIA H100 nodes,own\n";
    bill
}

fn gpus_of(facts: &Facts) -> Vec<(&str, Option<&str>, f64)> {
    facts
        .resources
        .iter()
        .map(|r| {
            (
                r.id.as_str(),
                r.sku.value().map(lowwater_model::id::Sku::as_str),
                r.gpus,
            )
        })
        .collect()
}

#[test]
fn machines_whose_type_no_table_knows_are_gpus_by_the_bills_own_words() {
    let dir = tempfile::tempdir().unwrap();
    let load = load_text(dir.path(), "bill.csv", &own_words());
    let warnings: Vec<&String> = load.units.iter().flat_map(|unit| &unit.warnings).collect();
    assert!(
        warnings
            .iter()
            .any(|w| w.contains("does not say how many GPUs") && w.contains("48 rows")),
        "{warnings:?}"
    );
    let mut usage = String::from("time,host,gpu,activity,activity_metric,memory_used_mib,memory_total_mib,power_w\n");
    for hour in 0..24 {
        for host in ["host-n-4", "host-n-5"] {
            usage.push_str(&format!("2026-10-01T{hour:02}:00:00Z,{host},0,0,SM_ACTIVE,,,\n"));
        }
    }
    load_text(dir.path(), "usage.csv", &usage);
    let facts = open(dir.path()).facts(None).unwrap();
    assert_eq!(
        gpus_of(&facts),
        [
            ("n-1", Some("gd-8xh100ib-i128"), 8.0),
            ("n-2", None, 0.0),
            ("n-3", Some("box-l"), 2.0),
            ("n-4", Some("box-h100"), 0.0),
            ("n-5", None, 8.0),
        ]
    );
    let day = Money::whole(48);
    assert_eq!(
        facts.quality.gpu_cost,
        day.times(5),
        "machines of unknown count are GPU money"
    );
    assert_eq!(facts.quality.joined_gpu_cost, day.times(2), "host names join");
    let idle = |id: &str| resource(&facts, id).usage.iter().filter(|(_, u)| u.idle).count();
    assert_eq!(
        (idle("n-4"), idle("n-5")),
        (0, 0),
        "one GPU is not known to be all of them"
    );

    let report = open(dir.path())
        .report(&crate::report::ReportQuery {
            by: vec![crate::report::Dimension::Sku],
            ..Default::default()
        })
        .unwrap();
    assert_eq!(report.gpu.cost, day.times(5));
    assert_eq!(report.gpu.gpu_hours, Money::whole(24 * 18));
    let row = |label: &str| report.rows.iter().find(|r| r.labels == [label]).unwrap();
    assert_eq!(
        (row("box-h100").idle_known, row("cpu-box-16").idle_known),
        (false, true)
    );

    let header =
        "provider,region,zone,sku,accelerator,count,market,payment,price_per_hour,price_basis,currency,as_of,source\n";
    let offer = "own,,,BOX-H100,H100,1,on_demand,,2,list,USD,2026-10-01,price list\n";
    let elsewhere = "aws,,,BOX-H100,H100,8,on_demand,,2,list,USD,2026-10-01,another cloud's type of that name\n";
    std::fs::write(dir.path().join("offers.csv"), format!("{header}{elsewhere}{offer}")).unwrap();
    let declared = open(dir.path()).facts(None).unwrap();
    let one = resource(&declared, "n-4");
    assert_eq!(one.gpus, 1.0, "offers.csv declares it");
    assert!(one.usage.iter().all(|(_, u)| u.idle), "so its one GPU is all of them");
}

#[test]
fn a_bill_without_quantities_counts_charge_periods_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let bill = "ChargePeriodStart,ChargePeriodEnd,BilledCost,BillingCurrency,ChargeCategory,ResourceId,x_InstanceType\n\
                2026-10-01T00:00:00Z,2026-10-01T01:00:00Z,10,USD,Usage,i-1,p5.48xlarge\n\
                2026-10-01T01:00:00Z,2026-10-01T01:30:00Z,5,USD,Usage,i-1,p5.48xlarge\n\
                2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,240,USD,Usage,i-2,p5.48xlarge\n";
    let load = load_text(dir.path(), "bill.csv", bill);
    let warnings: Vec<&String> = load.units.iter().flat_map(|unit| &unit.warnings).collect();
    let said = |w: &&&String| w.contains("ConsumedQuantity and PricingQuantity") && w.contains("3 rows");
    assert!(warnings.iter().any(|w| said(&w)), "{warnings:?}");
    let store = open(dir.path());
    let facts = store.facts(None).unwrap();
    let seconds = |id: &str| -> u32 {
        resource(&facts, id).lines[0]
            .runs
            .iter()
            .map(|r| r.seconds * r.hours)
            .sum()
    };
    assert_eq!((seconds("i-1"), seconds("i-2")), (5400, 86_400));
    let report = store.report(&crate::report::ReportQuery::default()).unwrap();
    assert_eq!(report.gpu.gpu_hours, Money::whole(8 * 25) + Money::whole(4));
}

#[test]
fn a_charge_of_no_category_is_use_of_its_machine() {
    let dir = tempfile::tempdir().unwrap();
    let bill = "ChargePeriodStart,ChargePeriodEnd,BilledCost,BillingCurrency,ResourceId,x_InstanceType\n\
                2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,240,USD,i-1,p5.48xlarge\n";
    load_text(dir.path(), "bill.csv", bill);
    let store = open(dir.path());
    let facts = store.facts(None).unwrap();
    assert_eq!(resource(&facts, "i-1").gpus, 8.0);
    let report = store.report(&crate::report::ReportQuery::default()).unwrap();
    assert_eq!(
        (report.gpu.cost, report.gpu.gpu_hours),
        (Money::whole(240), Money::whole(192))
    );
}

#[test]
fn data_that_leaves_its_region_is_paid_by_workload_and_resource() {
    let rows = [
        ("i-1", "BoxUsage:g5.2xlarge", "g5.2xlarge", "{}", "1"),
        ("i-1", "USE1-USW2-AWS-Out-Bytes", "", "{}", "2"),
        ("i-1", "DataTransfer-Regional-Bytes", "", "{}", "30"),
        ("bucket", "USE1-EUW1-AWS-Out-Bytes", "", r#"{""project"":""vla""}"#, "4"),
        ("bucket", "TimedStorage-ByteHrs", "", r#"{""project"":""vla""}"#, "50"),
        ("net", "Network Inter Zone Egress", "", "{}", "60"),
        ("net", "Network Inter Region Egress from Iowa", "", "{}", "0.5"),
        ("net", "", "", "{}", "70"),
    ];
    let mut bill = "BillingAccountId,BillingCurrency,ProviderName,ServiceName,RegionId,ChargePeriodStart,ChargePeriodEnd,ResourceId,\
                    SkuMeter,SkuPriceDetails,ConsumedUnit,ConsumedQuantity,ChargeCategory,PricingCategory,BilledCost,EffectiveCost,Tags\n"
        .to_owned();
    for (resource, meter, sku, tags, cost) in rows {
        let (details, unit) = if sku.is_empty() {
            (String::new(), "GB")
        } else {
            (format!("\"{{\"\"InstanceType\"\":\"\"{sku}\"\"}}\""), "Hours")
        };
        bill.push_str(&format!(
            "a,USD,AWS,EC2,us-east-1,2026-10-05T00:00:00Z,2026-10-05T01:00:00Z,{resource},{meter},{details},{unit},1,Usage,Standard,{cost},{cost},\"{tags}\"\n"
        ));
    }
    let dir = tempfile::tempdir().unwrap();
    load_text(dir.path(), "bill.csv", &bill);
    let workload = "[[workload]]\nname = \"vla\"\nclass = \"training\"\n[[workload.select]]\ntag.project = \"vla\"\n";
    std::fs::write(dir.path().join("workloads.toml"), workload).unwrap();
    let facts = open(dir.path()).facts(None).unwrap();
    let paid = |t: &Transfer| {
        let text = |name: Option<&str>| name.unwrap_or("-").to_owned();
        (
            text(t.workload.as_ref().map(lowwater_model::id::WorkloadName::as_str)),
            text(t.resource.as_ref().map(ResourceId::as_str)),
            t.cost.to_string(),
        )
    };
    let mut seen: Vec<_> = facts.transfer.iter().map(paid).collect();
    seen.sort();
    let row = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    assert_eq!(
        seen,
        [
            row("-", "i-1", "2.00"),
            row("-", "net", "0.50"),
            row("vla", "bucket", "4.00")
        ]
    );
}
