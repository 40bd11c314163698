//! Bad rows and hostile files: what is kept, what is rejected, what fails, and that nothing else changes.

use std::io::{BufWriter, Write};

use proptest::prelude::*;

use super::sample::{HEADER, charges, csv};
use super::*;

const START: &str = "2026-10-01T00:00:00Z";

/// A bill with good rows around some others, so that those are under the policy's share.
fn around(rows: &[&str]) -> String {
    let good = format!("{START},2026-10-01T01:00:00Z,1,x\n");
    format!(
        "ChargePeriodStart,ChargePeriodEnd,BilledCost,Note\n{}{}",
        rows.concat(),
        good.repeat(rows.len() * 100)
    )
}

#[test]
fn bad_rows_are_kept_aside_with_their_money() {
    let store = Store::new();
    let path = store.file(
        "bill.csv",
        around(&[
            "2026-10-01T00:00:00Z,2026-10-01T01:00:00Z,\"1,234.50\",x\n",
            "2026-10-01T02:00:00Z,2026-10-01T01:00:00Z,0.75,x\n",
            "yesterday,2026-10-01T01:00:00Z,0.8,x\n",
            ",2026-10-01T01:00:00Z,0.9,x\n",
            "2026-10-01T00:00:00Z,2026-10-01T01:00:00Z,10\n",
            "2026-10-01T00:00:00Z,soon,1.1,x\n",
        ]),
    );
    let report = store.load(&path).unwrap();
    assert_eq!((report.units[0].rows, report.units[0].rejects), (600, 6));
    assert_eq!(total(&report, "billed"), "600");
    let rejects = store.rejects();
    assert!(rejects.iter().all(|r| r.file.ends_with("bill.csv")));
    let told: Vec<_> = rejects
        .iter()
        .map(|r| (r.row, r.column.as_str(), r.value.as_str(), r.at_stake.as_deref()))
        .collect();
    let expected = [
        (2, "BilledCost", "1,234.50", None),
        (3, "ChargePeriodEnd", "2026-10-01T01:00:00Z", Some("0.75")),
        (4, "ChargePeriodStart", "yesterday", Some("0.8")),
        (5, "ChargePeriodStart", "", Some("0.9")),
        (6, "", "2026-10-01T00:00:00Z2026-10-01T01:00:00Z10", None),
        (7, "ChargePeriodEnd", "soon", Some("1.1")),
    ];
    assert_eq!(told, expected);
    assert!(rejects[0].reason.contains("is not a decimal number"));
    assert!(rejects[1].line().ends_with(
        "bill.csv:3:ChargePeriodEnd: is before ChargePeriodStart (value `2026-10-01T01:00:00Z`), 0.75 at stake"
    ));
}

#[test]
fn an_unreadable_billed_cost_is_unknown_money_everywhere() {
    let store = Store::new();
    let good = format!("{START},1,1\n").repeat(200);
    let text = format!("ChargePeriodStart,BilledCost,EffectiveCost\n{START},$5,4.75\n{good}");
    let report = store.load(&store.file("bill.csv", text)).unwrap();
    let rejects = store.rejects();
    assert_eq!(rejects[0].at_stake, None, "EffectiveCost is no substitute");
    assert!(
        rejects[0].reason.ends_with("; its EffectiveCost is 4.75"),
        "{}",
        rejects[0].reason
    );
    assert_eq!(report.units[0].rejected.unknown, 1);
    assert!(
        report.units[0]
            .warnings
            .iter()
            .any(|w| w.contains("rejected with an unknown BilledCost"))
    );
}

#[test]
fn a_month_of_which_nothing_is_kept_is_no_month() {
    let store = Store::new();
    let november = store.file(
        "november.csv",
        "ChargePeriodStart,BilledCost\n2026-11-05T00:00:00Z,70\n",
    );
    store.load(&november).unwrap();
    let good = format!("{START},1\n").repeat(200);
    let text = format!("ChargePeriodStart,BilledCost\n2026-11-07T00:00:00Z,n/a\n{good}");
    let report = store.load(&store.file("october.csv", text)).unwrap();
    let units: Vec<_> = report
        .units
        .iter()
        .map(|u| (u.month.as_str(), u.rows, u.rejects))
        .collect();
    assert_eq!(units, [("2026-10", 200, 1)]);
    assert_eq!(
        store.sum("daily", "BilledCost"),
        270_000_000_000_000,
        "November is as it was"
    );
}

#[test]
fn too_many_bad_rows_fail_the_load_and_show_the_first() {
    let store = Store::new();
    let mut text = format!("ChargePeriodStart,BilledCost\n{START},1\n");
    for row in 0..10 {
        text.push_str(&format!("{START},${row}\n"));
    }
    let said = store.refusal(&store.file("bill.csv", text));
    assert!(said.starts_with("exit 3:"), "{said}");
    assert!(said.contains("10 of 11 rows of unknown can't be taken"), "{said}");
    assert!(
        said.contains("bill.csv:7:BilledCost:") && !said.contains("bill.csv:8:BilledCost"),
        "five are shown: {said}"
    );
    assert!(said.contains("hint:"));
}

#[test]
fn rejected_money_is_a_figure_of_its_own() {
    let store = Store::new();
    let text = around(&[
        "2026-10-01T02:00:00Z,2026-10-01T01:00:00Z,7.5,x\n",
        "2026-10-01T02:00:00Z,2026-10-01T01:00:00Z,-0.25,x\n",
        "2026-10-01T00:00:00Z,2026-10-01T01:00:00Z,$5,x\n",
    ]);
    let report = store.load(&store.file("bill.csv", text)).unwrap();
    let rejected = report.units[0].rejected;
    assert_eq!((rejected.billed.file_text().as_str(), rejected.unknown), ("7.25", 1));
    assert_eq!(total(&report, "billed"), "300", "the totals are those of the kept rows");
    let kept = store
        .layout()
        .manifest()
        .unwrap()
        .bills
        .values()
        .next()
        .unwrap()
        .rejected;
    assert_eq!(kept, rejected);
}

#[test]
fn only_billed_cost_counts_as_rejected_billed_cost() {
    let store = Store::new();
    let good = format!("{START},1,1\n").repeat(200);
    let text = format!("ChargePeriodStart,BilledCost,EffectiveCost\n{START},$5,4.75\n{good}");
    let report = store.load(&store.file("bill.csv", text)).unwrap();
    let rejected = report.units[0].rejected;
    assert_eq!((rejected.billed.stored().units(), rejected.unknown), (0, 1));
    assert!(
        warnings(&report).iter().any(|w| w.contains("an unknown BilledCost")),
        "{:?}",
        warnings(&report)
    );
}

/// Charges of one day, each with this cost.
fn of_month(month: &str, costs: &[&str]) -> String {
    let row = |cost: &&str| format!("{month}-05T00:00:00Z,{cost}\n");
    costs.iter().map(row).collect()
}

#[test]
fn one_bad_row_in_a_small_month_does_not_fail_a_load() {
    let store = Store::new();
    let text = of_month("2026-09", &["1"; 3]) + &of_month("2026-10", &["1", "$2"]);
    let report = store
        .load(&store.file("small.csv", format!("ChargePeriodStart,BilledCost\n{text}")))
        .unwrap();
    let units: Vec<_> = report.units.iter().map(|u| (u.rows, u.rejects)).collect();
    assert_eq!(units, [(3, 0), (1, 1)]);
    // More than a few: the share counts, over all months of the load.
    let bad = of_month("2026-10", &["$2"; 6]);
    let many = |good: usize| {
        format!(
            "ChargePeriodStart,BilledCost\n{}{bad}",
            of_month("2026-09", &vec!["1"; good])
        )
    };
    let store = Store::new();
    let one = of_month("2026-10", &["1"]);
    store.load(&store.file("enough.csv", many(600) + &one)).unwrap();
    let said = store.refusal(&store.file("few.csv", many(500) + &one));
    assert!(said.contains("6 of 507 rows of unknown can't be taken"), "{said}");
}

#[test]
fn the_policy_says_how_many_bad_rows_are_few() {
    let mut store = Store::new();
    store.policy = Policy::parse("[load]\nmax_rejects_free = 0\n", "policy.toml", &[]).unwrap();
    let text = of_month("2026-10", &["1", "1", "1", "$2"]);
    let said = store.refusal(&store.file("bill.csv", format!("ChargePeriodStart,BilledCost\n{text}")));
    assert!(said.contains("1 of 4 rows of unknown can't be taken"), "{said}");
}

#[test]
fn a_few_rows_with_most_of_the_money_fail_a_load() {
    let store = Store::new();
    let good = format!("{START},2026-10-01T01:00:00Z,1\n").repeat(999);
    let bill = |cost: &str| {
        let bad = format!("2026-10-01T02:00:00Z,2026-10-01T01:00:00Z,{cost}\n");
        format!("ChargePeriodStart,ChargePeriodEnd,BilledCost\n{bad}{good}")
    };
    let said = store.refusal(&store.file("bill.csv", bill("5000")));
    assert!(
        said.contains("1 of 1000 rows of unknown, with 5000") && said.contains("5999"),
        "{said}"
    );
    store.refusal(&store.file("credit.csv", bill("-5000")));
    store.load(&store.file("fine.csv", bill("5"))).unwrap();
}

#[test]
fn a_file_without_any_charge_is_no_load() {
    let store = Store::new();
    assert!(
        store
            .refusal(&store.file("a.csv", "ChargePeriodStart,BilledCost\n"))
            .contains("only a header")
    );
    let said = store.refusal(&store.file("b.csv", "ChargePeriodStart,BilledCost\nx,1\ny,2\n"));
    assert!(
        said.starts_with("exit 3:") && said.contains("no row can be taken"),
        "{said}"
    );
}

#[test]
fn what_can_be_unknown_is_unknown_not_rejected() {
    let store = Store::new();
    let header = "ChargePeriodStart,BilledCost,ListUnitPrice,PricingQuantity,BillingPeriodEnd,ChargeCategory";
    let row = format!("{START},1,n/a,\"1,5\",later,Rebate\n");
    let report = store
        .load(&store.file("bill.csv", format!("{header}\n{row}{row}")))
        .unwrap();
    assert_eq!((report.units[0].rows, report.units[0].rejects), (2, 0));
    let said = warnings(&report).join("\n");
    for part in [
        "ListUnitPrice is not a decimal number",
        "PricingQuantity is not a decimal number",
        "BillingPeriodEnd is not a time",
        "so it is unknown: 2 rows, BilledCost 2.00, the first at ",
        "bill.csv:2 (value `1,5`)",
        "ChargeCategory `Rebate` is not one of FOCUS, kept as it is: 2 rows",
        "the file has no column BillingAccountId",
    ] {
        assert!(said.contains(part), "{part} not in {said}");
    }
    assert!(
        store
            .content("charges")
            .iter()
            .all(|row| row.contains("ChargeCategory=Rebate") && !row.contains("ListUnitPrice"))
    );
}

#[test]
fn all_costs_unknown_is_not_zero() {
    let store = Store::new();
    let report = store
        .load(&store.file(
            "bill.csv",
            format!("ChargePeriodStart,BilledCost\n{START},\n{START},NULL\n"),
        ))
        .unwrap();
    assert!(
        !report.totals.contains_key("billed"),
        "nothing is known, so there is no sum"
    );
    assert!(
        store
            .content("daily")
            .iter()
            .all(|row| !row.contains("BilledCost") && row.contains("x_Rows=2"))
    );
}

#[test]
fn an_empty_currency_is_that_of_the_others_and_counted() {
    let store = Store::new();
    let header = "ChargePeriodStart,BilledCost,BillingCurrency";
    let text = format!("{header}\n{START},1,\n{START},2,usd\n{START},3, \n{START},4,USD\n");
    let report = store.load(&store.file("bill.csv", text)).unwrap();
    assert_eq!(report.units[0].rows, 4);
    let said = warnings(&report).join("\n");
    assert!(
        said.contains(
            "BillingCurrency is empty, so it counts as that of the other charges: 2 rows, BilledCost 4.00, the first at "
        ) && said.contains("bill.csv:2"),
        "{said}"
    );
    assert_eq!(store.layout().manifest().unwrap().currency.as_deref(), Some("USD"));
}

#[test]
fn a_currency_that_is_none_or_another_is_refused_with_its_place() {
    let store = Store::new();
    let bill = |currencies: &[&str]| {
        let rows: Vec<String> = currencies.iter().map(|c| format!("{START},1,{c}\n")).collect();
        format!("ChargePeriodStart,BilledCost,BillingCurrency\n{}", rows.concat())
    };
    for text in ["$", "US Dollar", "USDT", "\u{20ac}"] {
        let said = store.refusal(&store.file("bill.csv", bill(&["USD", text])));
        assert!(
            said.starts_with("exit 3:") && said.contains("bill.csv:3:BillingCurrency: "),
            "{said}"
        );
        assert!(
            said.contains(&format!("(value `{text}`)")) && said.contains("hint:"),
            "{said}"
        );
    }
    let mixed = store.refusal(&store.file("bill.csv", bill(&["USD", "USD", "EUR"])));
    assert!(mixed.starts_with("exit 4:") && mixed.contains("hint:"), "{mixed}");
    assert!(
        mixed.contains("bill.csv:4:BillingCurrency: charges in USD and EUR") && mixed.contains("(value `EUR`)"),
        "{mixed}"
    );
    store.load(&store.file("first.csv", bill(&["USD"]))).unwrap();
    let second = store.refusal(&store.file("second.csv", bill(&["EUR"])));
    assert!(
        second.contains("second.csv:2:BillingCurrency: charges in USD and EUR"),
        "{second}"
    );
}

#[test]
fn the_billing_month_is_the_one_that_the_bill_writes() {
    let store = Store::new();
    let text = "ChargePeriodStart,BilledCost,BillingPeriodStart\n\
        2026-10-05T00:00:00Z,1,2026-10-01T00:00:00+14:00\n\
        2026-10-05T00:00:00Z,2,2026-10-01T00:00:00-08:00\n\
        2026-10-05T00:00:00Z,4,2026-10-01T00:00:00Z\n\
        2026-11-05T00:00:00Z,8,2026-10-31T23:00:00-12:00\n\
        2026-10-01T00:30:00+02:00,16,\n";
    // Without a billing period it is the month of the charge, which is an instant: UTC.
    let report = store.load(&store.file("bill.csv", text)).unwrap();
    let months: Vec<_> = report.units.iter().map(|u| (u.month.as_str(), u.rows)).collect();
    assert_eq!(months, [("2026-09", 1), ("2026-10", 4)]);
}

#[test]
fn damaged_files_leave_what_was_there() {
    let store = Store::new();
    let text = csv(&charges(3000, 9));
    store.load(&store.file("first.csv", &text)).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder
        .write_all(text.replace("us-east-1", "eu-west-1").as_bytes())
        .unwrap();
    let gz = encoder.finish().unwrap();
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    for (bytes, part) in [
        (&gz[..gz.len() / 2], "cut off"),
        (&utf16, "UTF-16LE, not UTF-8"),
        (&[], "is empty"),
    ] {
        let said = store.refusal(&store.file("second", bytes));
        assert!(
            said.starts_with("exit 3:") && said.contains(part) && said.contains("hint:"),
            "{part}: {said}"
        );
    }
    let missing = store.refusal(&store.dir.path().join("none.csv"));
    assert!(
        missing.starts_with("exit 3:") && missing.contains("none.csv"),
        "{missing}"
    );
}

/// Damages of a file: what is done to its bytes.
type Damage = fn(&mut Vec<u8>);

#[test]
fn a_damaged_file_of_the_store_is_named_and_its_month_can_be_loaded_again() {
    use crate::report::{Dimension, ReportQuery};
    let damages: [Damage; 4] = [
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.clear(),
        |bytes| {
            let end = bytes.len() - 200;
            bytes[4..end].fill(0xa5);
        },
        |bytes| {
            let end = bytes.len() - 8;
            bytes[end - 60..end].fill(0xff);
        },
    ];
    let query = ReportQuery {
        by: vec![Dimension::Sku],
        ..ReportQuery::default()
    };
    let ask = |store: &Store| crate::store::Store::open(&store.data(), &[]).and_then(|opened| opened.report(&query));
    for (number, damage) in damages.into_iter().enumerate() {
        let store = Store::new();
        let path = store.file("bill.csv", csv(&charges(2000, 7)));
        store.load(&path).unwrap();
        let before = ask(&store).unwrap().stored;
        for table in ["daily", "gpu_hours"] {
            let file = store.layout().snapshot().unwrap().files(table).remove(0);
            let mut bytes = std::fs::read(&file).unwrap();
            damage(&mut bytes);
            std::fs::write(&file, bytes).unwrap();
            let error = ask(&store)
                .err()
                .unwrap_or_else(|| panic!("damage {number} of {table} is not seen"));
            let said = error.to_string();
            assert!(
                said.starts_with(&format!("{}: ", file.display())),
                "{number} {table}: {said}"
            );
            assert!(
                said.contains("is damaged: ") && said.contains("hint: ") && said.contains("--replace"),
                "{said}"
            );
            let again = LoadRequest {
                existing: Existing::Replace,
                ..request(&path)
            };
            store.load_as(&again).unwrap();
            assert_eq!(ask(&store).unwrap().stored, before, "{number} {table}");
        }
        let opened = crate::store::Store::open(&store.data(), &[]).unwrap();
        let file = store.layout().snapshot().unwrap().files("daily").remove(0);
        std::fs::remove_file(&file).unwrap();
        for error in [opened.report(&query).err(), ask(&store).err()] {
            let said = error.unwrap().to_string();
            assert!(
                said.contains(&file.display().to_string()) && said.contains("--replace"),
                "{said}"
            );
        }
    }
}

#[test]
fn latin_1_rows_are_rejected_by_name() {
    let store = Store::new();
    let mut bytes = around(&["", ""]).into_bytes();
    bytes.extend_from_slice(b"2026-10-01T00:00:00Z,2026-10-01T01:00:00Z,3,M\xfcnchen\n");
    store.load(&store.file("bill.csv", bytes)).unwrap();
    let rejects = store.rejects();
    assert_eq!(
        (rejects.len(), rejects[0].column.as_str(), rejects[0].reason.as_str()),
        (1, "Note", "is not UTF-8")
    );
}

#[test]
fn a_hundred_thousand_columns_are_no_bill() {
    let store = Store::new();
    let mut header = String::from(HEADER);
    (0..100_000).for_each(|i| header.push_str(&format!(",c{i}")));
    let said = store.refusal(&store.file("wide.csv", format!("{header}\n")));
    assert!(said.contains("more than 2000 columns"), "{said}");
}

#[test]
fn more_accounts_than_any_bill_has_are_a_misread_column() {
    let bill = |accounts: usize| {
        let row = |account: usize| format!("i-{account},{START},1\n");
        let rows = (0..accounts).map(row).collect::<String>();
        format!("BillingAccountId,ChargePeriodStart,BilledCost\n{rows}")
    };
    let store = Store::new();
    let said = store.refusal(&store.file("ids.csv", bill(4097)));
    assert!(
        said.starts_with("exit 3: ") && said.contains("ids.csv: more than 4096 accounts and months in one load"),
        "{said}"
    );
    assert!(
        said.contains("hint: load the bill in parts, such as month by month"),
        "{said}"
    );
    assert!(said.contains("resource ids?"), "{said}");
    let report = store.load(&store.file("many.csv", bill(300))).unwrap();
    assert_eq!(report.units.len(), 300);
    assert_eq!(store.sum("daily", "BilledCost"), 300_000_000_000_000);
}

#[test]
fn own_columns_are_kept_within_bounds() {
    let store = Store::new();
    let names: Vec<String> = (0..250).map(|i| format!("c {i}")).collect();
    let header = format!(
        "ChargePeriodStart,BilledCost,x_Sku,Team/Name,team_name,{}",
        names.join(",")
    );
    let row = format!("{START},1,mine,a,b,{}", vec!["v"; 250].join(","));
    let report = store
        .load(&store.file("bill.csv", format!("{header}\n{row}\n")))
        .unwrap();
    assert!(
        warnings(&report)
            .iter()
            .any(|w| w.contains("53 columns that are not of FOCUS are left out")),
        "{:?}",
        warnings(&report)
    );
    let content = store.content("charges").concat();
    for part in ["|x_Team_Name=a|", "x_team_name_2=b", "x_x_Sku=mine", "x_c_0=v"] {
        assert!(content.contains(part), "{part} not in {content}");
    }
    assert!(
        !content.contains("|x_Sku=mine"),
        "ours is made from the row, not taken from the file"
    );
}

#[test]
fn a_field_of_hundreds_of_megabytes_takes_no_such_memory() {
    let store = Store::new();
    let path = store.dir.path().join("huge.csv");
    let mut file = BufWriter::new(std::fs::File::create(&path).unwrap());
    let good = format!("{START},2026-10-01T01:00:00Z,1,x\n");
    write!(
        file,
        "ChargePeriodStart,ChargePeriodEnd,BilledCost,Note\n{}",
        good.repeat(150)
    )
    .unwrap();
    write!(file, "{START},2026-10-01T01:00:00Z,5,\"").unwrap();
    let block = vec![b'x'; 1 << 20];
    (0..300).for_each(|_| file.write_all(&block).unwrap());
    write!(file, "\"\n{good}").unwrap();
    file.into_inner().unwrap();
    let before = peak_mib();
    let report = store.load(&path).unwrap();
    assert_eq!((report.units[0].rows, report.units[0].rejects), (151, 1));
    assert_eq!(store.rejects()[0].reason, "the row is larger than 8388608 bytes");
    assert!(
        peak_mib() - before < 150,
        "other tests run in this process too, so this is rough"
    );
}

/// The most memory that this process has held.
pub(super) fn peak_mib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<i64>().unwrap() / 1024
}

#[test]
fn formulas_are_text() {
    let store = Store::new();
    let cells = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1"];
    let rows: String = cells.iter().map(|cell| format!("{START},1,\"{cell}\"\n")).collect();
    store
        .load(&store.file(
            "bill.csv",
            format!("ChargePeriodStart,BilledCost,ChargeDescription\n{rows}"),
        ))
        .unwrap();
    let content = store.content("charges").join("\n");
    assert!(
        cells
            .iter()
            .all(|cell| content.contains(&format!("ChargeDescription={cell}|"))),
        "{content}"
    );
}

#[test]
fn names_that_look_like_paths_stay_in_the_store() {
    let store = Store::new();
    let text = format!("ChargePeriodStart,BilledCost,BillingAccountId,ProviderName\n{START},1,../../../etc,/tmp/x\n");
    store.load(&store.file("bill.csv", text)).unwrap();
    let file = store.layout().snapshot().unwrap().files("charges").remove(0);
    assert!(
        file.starts_with(store.data().join("store/charges")) && file.exists(),
        "{}",
        file.display()
    );
    assert!(file.components().all(|part| part != std::path::Component::ParentDir));
    assert_eq!(store.content("charges").len(), 1);
}

/// Stops after some questions.
struct Stops(std::sync::atomic::AtomicUsize, usize);

impl Progress for Stops {
    fn at(&self, _what: &str, _done: u64, _total: u64) {}
    fn stop(&self) -> bool {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= self.1
    }
}

#[test]
fn a_stop_leaves_what_was_there() {
    let store = Store::new();
    let path = store.file("bill.csv", csv(&charges(5000, 10)));
    let mut stopped = 0;
    for after in 0..10 {
        let before = store.layout().manifest().unwrap();
        let progress = Stops(0.into(), after);
        match load(&store.data(), &request(&path), &store.policy, &progress) {
            Err(StoreError::Stopped) => {
                stopped += 1;
                assert_eq!(store.layout().manifest().unwrap(), before);
                assert!(!store.data().join("store/staging").exists());
            }
            other => assert!(!other.unwrap().units.is_empty()),
        }
    }
    assert!(stopped >= 5, "{stopped}");
}

/// Fields that have broken bill readers: huge and tiny numbers, odd times, half quotes, long runs.
fn odd_field() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("999999999999999.999999999999".to_owned()),
        Just("-1e15".to_owned()),
        Just("1e-38".to_owned()),
        Just("1e99".to_owned()),
        Just("2026-10-01T00:00:00Z".to_owned()),
        Just("9999-12-31 23:59:59".to_owned()),
        Just("Hours".to_owned()),
        Just("Usage".to_owned()),
        Just("Compute".to_owned()),
        Just("p4d.24xlarge".to_owned()),
        Just("\"{\"\"InstanceType\"\":\"\"p4d.24xlarge\"\",\"\"GpuCount\"\":1e9}\"".to_owned()),
        "[0-9.eE+-]{0,24}",
        "[a-zA-Z0-9 :;/{}'\u{e9}\"]{0,20}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever stands in the rows, a load ends with a result or an error, and what is kept adds up.
    #[test]
    fn survives_any_rows(
        good in prop::collection::vec(prop::collection::vec(odd_field(), 12), 0..12),
        noise in "[a-z0-9,\"\n\r;:.-]{0,200}",
    ) {
        let mut store = Store::new();
        store.policy = Policy::parse("[load]\nmax_reject_share = 1.0\n", "policy.toml", &[]).unwrap();
        let header = "ChargePeriodStart,ChargePeriodEnd,BilledCost,EffectiveCost,ConsumedQuantity,ConsumedUnit,\
                      ChargeCategory,ServiceCategory,SkuPriceDetails,ChargeDescription,Tags,BillingAccountId";
        let start = |row: &Vec<String>| format!("{START},,{}", row[2..].join(","));
        let rows: Vec<String> = good.iter().flat_map(|row| [row.join(","), start(row)]).collect();
        let path = store.file("odd.csv", format!("{header}\n{}\n{noise}", rows.join("\n")));
        if let Ok(report) = store.load(&path) {
            let stored = report.totals.get("billed").map_or(0, |sum| sum.stored().units());
            prop_assert_eq!(store.sum("charges", "BilledCost"), stored);
            prop_assert_eq!(store.sum("daily", "BilledCost"), stored);
            let rejects: u64 = report.units.iter().map(|unit| unit.rejects).sum();
            prop_assert_eq!(store.rejects().len() as u64, rejects);
        }
    }
}
