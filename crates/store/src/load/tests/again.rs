//! Loading again: the same files, newer ones, fewer rows, under another name.

use std::io::Write;

use super::sample::{Charge, charges, csv};
use super::*;
use lowwater_model::money::Money;

/// Charges of one account and month, so that there is one unit.
fn one_unit(rows: usize) -> Vec<Charge> {
    let all = charges(rows * 8, 11);
    all.into_iter()
        .filter(|c| c.month == 10 && c.account.ends_with("100"))
        .take(rows)
        .collect()
}

fn how(path: &Path, existing: Existing) -> LoadRequest {
    LoadRequest {
        existing,
        ..request(path)
    }
}

fn version(store: &Store) -> u64 {
    store.layout().manifest().unwrap().version
}

#[test]
fn the_same_file_twice_changes_nothing() {
    let store = Store::new();
    let path = store.file("bill.csv", csv(&charges(800, 5)));
    let first = store.load(&path).unwrap();
    let manifest = store.layout().manifest().unwrap();
    let second = store.load(&path).unwrap();
    assert!(!first.unchanged && second.unchanged);
    assert_eq!(
        (&second.units, &second.totals),
        (&first.units, &first.totals),
        "it still says what is there"
    );
    assert_eq!(store.layout().manifest().unwrap(), manifest);
    let appended = store.load_as(&how(&path, Existing::Append)).unwrap();
    assert!(appended.unchanged);
    assert_eq!(store.layout().manifest().unwrap(), manifest);
}

#[test]
fn the_same_file_named_twice_counts_once() {
    let store = Store::new();
    let text = csv(&charges(100, 5));
    let paths = vec![store.file("a.csv", &text), store.file("b.csv", &text)];
    let report = store
        .load_as(&LoadRequest {
            paths,
            ..LoadRequest::default()
        })
        .unwrap();
    assert_eq!(report.units.iter().map(|u| u.rows).sum::<u64>(), 100);
    assert!(
        warnings(&report)
            .iter()
            .any(|w| w.contains("b.csv holds the same content as ") && w.contains("a.csv: read once"))
    );
}

fn zipped(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_or_not_it_is_the_same_bill() {
    let text = csv(&charges(100, 5));
    let store = Store::new();
    let plain = store.file("a.csv", &text);
    let others = [
        store.file("b.csv.gz", zipped(&text)),
        store.file("c.csv.zst", zstd::encode_all(text.as_bytes(), 3).unwrap()),
    ];
    let in_one = LoadRequest {
        paths: others.iter().chain([&plain]).cloned().collect(),
        ..LoadRequest::default()
    };
    let report = store.load_as(&in_one).unwrap();
    assert_eq!(report.units.iter().map(|u| u.rows).sum::<u64>(), 100);
    let told = warnings(&report);
    for name in ["a.csv", "c.csv.zst"] {
        let both = |w: &&String| w.contains(&format!("{name} holds the same content as")) && w.contains("b.csv.gz");
        assert!(told.iter().any(|w| both(&w)), "{told:?}");
    }
    for path in others.iter().chain([&plain]) {
        for existing in [Existing::Guarded, Existing::Append] {
            assert!(store.load_as(&how(path, existing)).unwrap().unchanged, "{path:?}");
        }
        let other = LoadRequest {
            source: Some("other".into()),
            ..request(path)
        };
        let error = store.load_as(&other).unwrap_err().to_string();
        assert!(error.contains("count twice"), "{error}");
    }
}

#[test]
fn a_store_that_knows_a_file_by_its_compressed_bytes_still_knows_it() {
    use sha2::{Digest, Sha256};
    let (store, bytes) = (Store::new(), zipped(&csv(&charges(100, 5))));
    let path = store.file("bill.csv.gz", &bytes);
    store.load(&path).unwrap();
    let manifest = store.data().join("store/manifest.json");
    let mut older: serde_json::Value = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    for unit in older["bills"].as_object_mut().unwrap().values_mut() {
        unit["inputs"] = serde_json::json!([crate::input::hex(&Sha256::digest(&bytes))]);
    }
    std::fs::write(&manifest, older.to_string()).unwrap();
    for existing in [Existing::Guarded, Existing::Append] {
        assert!(store.load_as(&how(&path, existing)).unwrap().unchanged);
    }
    let other = LoadRequest {
        source: Some("other".into()),
        ..request(&path)
    };
    let error = store.load_as(&other).unwrap_err().to_string();
    assert!(error.contains("count twice"), "{error}");
}

#[test]
fn appended_days_that_were_there_are_counted_in_a_warning() {
    let store = Store::new();
    let bill = |days: std::ops::Range<u32>, cost: &str, note: &str| {
        let row = |day: u32| format!("2026-10-{day:02}T05:00:00Z,{cost},{note}\n");
        format!(
            "ChargePeriodStart,BilledCost,Note\n{}",
            days.map(row).collect::<String>()
        )
    };
    let first = store.file("first.csv", bill(1..11, "1", "a"));
    store.load(&first).unwrap();
    let apart = store.file("apart.csv", bill(11..16, "1", "a"));
    let report = store.load_as(&how(&apart, Existing::Append)).unwrap();
    let overlap = |report: &LoadReport| warnings(report).into_iter().find(|w| w.contains("had charges before"));
    assert_eq!(overlap(&report), None);
    let over = LoadRequest {
        paths: vec![first, store.file("over.csv", bill(14..18, "2.5", "b"))],
        existing: Existing::Append,
        ..LoadRequest::default()
    };
    let report = store.load_as(&over).unwrap();
    let told = overlap(&report).unwrap();
    assert!(told.starts_with("2 days of what was appended"), "{told}");
    assert!(
        told.contains("BilledCost 5 was added") || told.contains("BilledCost 5.0"),
        "{told}"
    );
    assert!(
        warnings(&report)
            .iter()
            .any(|w| w.ends_with("first.csv was loaded before: not added again")),
        "{report:?}"
    );
    let manifest = store.layout().manifest().unwrap();
    let unit = manifest.bills.values().next().unwrap();
    assert_eq!((unit.rows, unit.days), (19, 17), "days that both have are counted once");
    assert_eq!(unit.gross["billed"].units(), 25_000_000_000_000);
}

#[test]
fn appended_rows_that_were_there_are_counted_with_their_money() {
    let store = Store::new();
    let rows = one_unit(60);
    store.load(&store.file("a.csv", csv(&rows[..40]))).unwrap();
    let said = |report: &LoadReport| {
        warnings(report)
            .into_iter()
            .find(|w| w.contains("equal in every column"))
    };
    // The columns in another order, one that says nothing more, and one of the rows twice: it was there once.
    let again = csv(rows[30..].iter().chain([&rows[35]]));
    let again = again.lines().enumerate().map(|(at, line)| match at {
        0 => format!("Extra,{line}\n"),
        _ => format!(",{line}\n"),
    });
    let report = store
        .load_as(&how(&store.file("b.csv", again.collect::<String>()), Existing::Append))
        .unwrap();
    let money = Money::from_units(rows[30..40].iter().map(|c| c.billed).sum());
    let told = said(&report).unwrap();
    assert!(
        told.contains(", and appended all the same: 10 rows, BilledCost "),
        "{told}"
    );
    assert!(
        told.contains(&format!("BilledCost {money}, which counts twice")),
        "{told}"
    );
    let mut other = rows[..5].to_vec();
    for row in &mut other {
        row.text = row.text.replace("us-east-1", "eu-west-1");
    }
    let fresh = Store::new();
    fresh.load(&fresh.file("a.csv", csv(&rows[..40]))).unwrap();
    let report = fresh
        .load_as(&how(&fresh.file("c.csv", csv(&other)), Existing::Append))
        .unwrap();
    assert_eq!(said(&report), None, "one column differs");
}

#[test]
fn appended_rows_without_a_cost_are_counted_as_unknown() {
    let store = Store::new();
    let mut rows = one_unit(8);
    // BilledCost follows SkuPriceId.
    let (head, rest) = rows[2].text.split_once(",price-").unwrap();
    let (price, rest) = rest.split_once(',').unwrap();
    let (_, rest) = rest.split_once(',').unwrap();
    rows[2].text = format!("{head},price-{price},,{rest}");
    store.load(&store.file("a.csv", csv(&rows[..4]))).unwrap();
    let report = store
        .load_as(&how(&store.file("b.csv", csv(&rows)), Existing::Append))
        .unwrap();
    let told = warnings(&report)
        .into_iter()
        .find(|w| w.contains("equal in every column"))
        .unwrap();
    assert!(
        told.contains(": 4 rows, BilledCost ") && told.contains(" and unknown in 1 row, which counts twice"),
        "{told}"
    );
}

#[test]
fn a_replaced_month_is_announced() {
    let store = Store::new();
    let rows = one_unit(300);
    let first = store.load(&store.file("old.csv", csv(&rows[..290]))).unwrap();
    assert_eq!(first.units[0].replaced, None);
    let second = store.load(&store.file("new.csv", csv(&rows))).unwrap();
    let replaced = second.units[0].replaced.unwrap();
    assert_eq!((replaced.rows, replaced.billed), (290, Some(first.totals["billed"])));
}

#[test]
fn a_month_of_credits_is_guarded_as_well() {
    let bill = |costs: &[&str]| {
        let row = |cost: &&str| format!("2026-10-05T00:00:00Z,{cost}\n");
        format!(
            "ChargePeriodStart,BilledCost\n{}",
            costs.iter().map(row).collect::<String>()
        )
    };
    for whole in [["-5", "-5", "-5", "-5"], ["10", "-10", "10", "-10"]] {
        let store = Store::new();
        store.load(&store.file("whole.csv", bill(&whole))).unwrap();
        let said = store.refusal(&store.file("half.csv", bill(&whole[..2])));
        assert!(said.contains("would lower BilledCost from"), "{said}");
        // A credit that comes late makes a month cheaper, and takes nothing away.
        let mut credited = whole.to_vec();
        credited.push("-19");
        store.load(&store.file("credited.csv", bill(&credited))).unwrap();
    }
}

#[test]
fn an_older_manifest_is_guarded_by_its_net_sums() {
    let store = Store::new();
    let rows = one_unit(300);
    store.load(&store.file("whole.csv", csv(&rows))).unwrap();
    let path = store.data().join("store/manifest.json");
    let mut manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for unit in manifest["bills"].as_object_mut().unwrap().values_mut() {
        for field in ["gross", "rejected", "effective_unreliable"] {
            assert!(unit.as_object_mut().unwrap().remove(field).is_some());
        }
        unit["warnings"] = serde_json::json!(["EffectiveCost is unreliable: of old"]);
    }
    std::fs::write(&path, manifest.to_string()).unwrap();
    let said = store.refusal(&store.file("half.csv", csv(&rows[..150])));
    assert!(said.contains("would lower BilledCost"), "{said}");
    let manifest = store.layout().manifest().unwrap();
    let unit = manifest.bills.values().next().unwrap();
    assert_eq!(unit.why_unreliable(), Some("EffectiveCost is unreliable: of old"));
}

#[test]
fn a_warning_that_only_sounds_so_is_no_verdict_on_effective_cost() {
    let store = Store::new();
    store.load(&store.file("bill.csv", csv(&one_unit(50)))).unwrap();
    let manifest = store.layout().manifest().unwrap();
    let mut unit = manifest.bills.values().next().unwrap().clone();
    unit.warnings.push("EffectiveCost is unreliable, says a file".into());
    assert_eq!(unit.why_unreliable(), None);
}

#[test]
fn a_newer_export_replaces_the_month_whole() {
    let store = Store::new();
    let rows = one_unit(300);
    store.load(&store.file("old.csv", csv(&rows[..290]))).unwrap();
    store.load(&store.file("new.csv", csv(&rows))).unwrap();
    assert_eq!(store.content("charges").len(), 300);
    assert_eq!(
        store.sum("daily", "BilledCost"),
        rows.iter().map(|c| c.billed).sum::<i128>()
    );
    // What was superseded goes with the next load.
    store
        .load_as(&how(&store.file("new.csv", csv(&rows)), Existing::Replace))
        .unwrap();
    let kept = walk(&store.data().join("store/charges"));
    assert_eq!(kept.len(), 2, "the version that is there and the one before: {kept:?}");
}

fn walk(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] })
        .collect()
}

#[test]
fn other_months_and_accounts_stay() {
    let store = Store::new();
    let all = charges(600, 6);
    store.load(&store.file("all.csv", csv(&all))).unwrap();
    let october: Vec<_> = all.iter().filter(|c| c.month == 10).cloned().collect();
    let report = store.load(&store.file("october.csv", csv(&october))).unwrap();
    assert!(report.units.iter().all(|u| u.month == "2026-10"));
    assert_eq!(store.content("charges").len(), 600);
}

#[test]
fn an_export_that_holds_less_is_refused() {
    let store = Store::new();
    let rows = one_unit(300);
    store.load(&store.file("whole.csv", csv(&rows))).unwrap();
    let half = store.file("half.csv", csv(&rows[..150]));
    let said = store.refusal(&half);
    assert!(
        said.starts_with("exit 4: aws/000000000100/2026-10: the new export would lower BilledCost from "),
        "{said}"
    );
    assert!(said.contains("--replace") && said.contains("--append"), "{said}");
    assert_eq!(store.content("charges").len(), 300);
    store.load_as(&how(&half, Existing::Replace)).unwrap();
    assert_eq!(store.content("charges").len(), 150);
}

#[test]
fn fewer_days_are_refused_even_where_the_cost_is_the_same() {
    let store = Store::new();
    let mut rows = one_unit(200);
    for row in &mut rows {
        row.text = row.text.replace(",0.25,", ",1,");
    }
    store.load(&store.file("whole.csv", csv(&rows))).unwrap();
    // All charges on the first day of the month: same money, one day.
    let first_day = regex::Regex::new(r"2026-10-\d\dT(\d\d):00:00Z,2026-10-\d\dT").unwrap();
    let squeezed: Vec<_> = rows
        .iter()
        .map(|row| Charge {
            text: first_day
                .replacen(&row.text, 0, "2026-10-01T$1:00:00Z,2026-10-01T")
                .into_owned(),
            ..row.clone()
        })
        .collect();
    let said = store.refusal(&store.file("squeezed.csv", csv(&squeezed)));
    assert!(said.contains("days with charges from 20 to 1"), "{said}");
}

#[test]
fn append_adds_only_what_is_new() {
    let store = Store::new();
    let rows = one_unit(300);
    let (a, b) = (
        store.file("a.csv", csv(&rows[..150])),
        store.file("b.csv", csv(&rows[150..])),
    );
    store.load(&a).unwrap();
    let both = LoadRequest {
        paths: vec![a, b],
        existing: Existing::Append,
        ..LoadRequest::default()
    };
    let report = store.load_as(&both).unwrap();
    let beside = report.units[0].beside.unwrap();
    assert_eq!(
        (report.units.len(), report.units[0].rows, beside.rows),
        (1, 150, 150),
        "what is new, and what stays"
    );
    let billed = rows.iter().map(|c| c.billed).sum::<i128>();
    let new = rows[150..].iter().map(|c| c.billed).sum::<i128>();
    assert_eq!(report.totals["billed"].stored().units(), new, "the file's own total");
    assert_eq!(beside.billed.unwrap().stored().units(), billed - new);
    assert_eq!(store.sum("charges", "BilledCost"), billed);
    assert_eq!(store.sum("daily", "BilledCost"), billed);
    let before = version(&store);
    assert!(store.load_as(&both).unwrap().unchanged);
    assert_eq!(version(&store), before);
}

#[test]
fn one_file_under_two_sources_would_count_twice() {
    let store = Store::new();
    let path = store.file("bill.csv", csv(&one_unit(50)));
    let named = LoadRequest {
        source: Some("payer".into()),
        ..request(&path)
    };
    let report = store.load_as(&named).unwrap();
    assert_eq!(report.units[0].source, "payer");
    assert!(
        store.load(&path).unwrap().unchanged,
        "without a name it is the same file"
    );
    let other = LoadRequest {
        source: Some("other".into()),
        ..request(&path)
    };
    let error = store.load_as(&other).unwrap_err();
    assert_eq!(error.exit_code(), 4);
    assert!(error.to_string().contains("count twice"), "{error}");
}

#[test]
fn provider_and_zone_of_the_command_line_fill_what_is_missing() {
    let store = Store::new();
    let path = store.file(
        "bill.csv",
        "ChargePeriodStart,BilledCost\n2026-10-31 23:30:00,1\n2026-11-01 00:30:00,2\n",
    );
    let wanted = LoadRequest {
        provider: Some("Lambda Labs".into()),
        tz: Some("Europe/Berlin".into()),
        ..request(&path)
    };
    let report = store.load_as(&wanted).unwrap();
    let units: Vec<_> = report
        .units
        .iter()
        .map(|u| (u.source.as_str(), u.month.as_str(), u.rows))
        .collect();
    assert_eq!(units, [("lambda", "2026-10", 2)], "both are October in UTC");
    assert!(
        warnings(&report).iter().all(|w| !w.contains("without a zone")),
        "the user said which"
    );
    assert!(
        store
            .content("daily")
            .iter()
            .all(|row| row.contains("ProviderName=Lambda Labs|"))
    );
    let bad = LoadRequest {
        tz: Some("Berlin".into()),
        ..request(&path)
    };
    let error = Store::new().load_as(&bad).unwrap_err().to_string();
    assert!(error.contains("`Berlin` is not an IANA time zone"), "{error}");
}

#[test]
fn a_currency_other_than_the_stores_is_refused() {
    let store = Store::new();
    let text = csv(&one_unit(20));
    store.load(&store.file("usd.csv", &text)).unwrap();
    let said = store.refusal(&store.file("eur.csv", text.replace(",USD,", ",EUR,").replace("2026-10", "2026-09")));
    assert!(said.contains("charges in USD and EUR"), "{said}");
    assert_eq!(store.layout().manifest().unwrap().currency.as_deref(), Some("USD"));
}
