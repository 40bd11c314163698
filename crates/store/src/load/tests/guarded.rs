//! What a load is asked to take and must not: files that change meanwhile, folders of a store, currencies out of nowhere,
//! values that are absent or mean two things.

use std::path::PathBuf;

use super::*;

const ROWS: &str = "ChargePeriodStart,BilledCost\n2026-10-01T00:00:00Z,1\n";
const EUROS: &str = "ChargePeriodStart,BilledCost,BillingCurrency\n2026-11-01T00:00:00Z,2,EUR\n";

/// Writes a file when the load has read it.
struct Meanwhile {
    path: PathBuf,
    text: String,
}

impl Progress for Meanwhile {
    fn at(&self, what: &str, _done: u64, _total: u64) {
        if what == "writing" {
            let modified = std::fs::metadata(&self.path).unwrap().modified().unwrap();
            std::fs::write(&self.path, &self.text).unwrap();
            let file = std::fs::File::options().write(true).open(&self.path).unwrap();
            file.set_modified(modified).unwrap();
        }
    }

    fn stop(&self) -> bool {
        false
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_not_kept() {
    let metrics = "time,host,gpu,activity,activity_metric\n2026-10-01T00:00:00Z,a,0,0.5,GPU_UTIL\n";
    for (name, text) in [("bill.csv", ROWS), ("usage.csv", metrics)] {
        let store = Store::new();
        let path = store.file(name, text);
        let longer = format!("{text}{}\n", text.lines().last().unwrap());
        let same_size = text.replace("2026-10-01T00", "2026-10-01T02");
        for changed in [longer, same_size] {
            std::fs::write(&path, text).unwrap();
            let meanwhile = Meanwhile {
                path: path.clone(),
                text: changed.clone(),
            };
            let error = load(&store.data(), &request(&path), &store.policy, &meanwhile).unwrap_err();
            assert_eq!(error.exit_code(), 3);
            let told = error.to_string();
            assert!(told.contains(&format!("{name}: changed while it was read")), "{told}");
            assert!(told.contains("load it again"), "{told}");
            assert_eq!(store.layout().manifest().unwrap().version, 0);
        }
        assert!(!store.load(&path).unwrap().unchanged, "as it is now it is loaded");
    }
}

#[test]
fn a_data_folder_is_no_file_and_not_inside_a_store() {
    let store = Store::new();
    let path = store.file("bill.csv", ROWS);
    store.load(&path).unwrap();
    for inside in ["store", "store/charges", "store/charges/new/folder"] {
        let dir = store.data().join(inside);
        let error = load(&dir, &request(&path), &store.policy, &Quiet).unwrap_err();
        assert_eq!(error.exit_code(), 4, "{error}");
        assert!(error.to_string().contains("is inside the store"), "{error}");
        assert!(
            error.to_string().contains("hint: name the data folder itself"),
            "{error}"
        );
        assert!(!dir.join("store").exists());
    }
    let error = load(&path, &request(&path), &store.policy, &Quiet).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    assert!(
        error
            .to_string()
            .contains("bill.csv: is a file, and data is kept in a folder"),
        "{error}"
    );
    crate::layout::check_data_dir(&store.data().join("demo")).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_into_a_store_is_inside_it() {
    let store = Store::new();
    let path = store.file("bill.csv", ROWS);
    store.load(&path).unwrap();
    let link = store.dir.path().join("link");
    std::os::unix::fs::symlink(store.data().join("store/charges"), &link).unwrap();
    let error = load(&link, &request(&path), &store.policy, &Quiet).unwrap_err();
    assert!(error.to_string().contains("is inside the store"), "{error}");
}

#[test]
fn charges_without_a_currency_do_not_take_the_first_that_comes() {
    let store = Store::new();
    let old = store.file("old.csv", ROWS);
    for text in [
        ROWS,
        "ChargePeriodStart,BilledCost,BillingCurrency\n2026-10-01T00:00:00Z,1,\n",
    ] {
        std::fs::write(&old, text).unwrap();
        let report = store.load(&old).unwrap();
        let told = warnings(&report).join("\n");
        assert!(told.contains("the billing currency is unknown"), "{told}");
        assert!(!told.contains("counts as that of the other charges"), "{told}");
    }
    let told = store.refusal(&store.file("new.csv", EUROS));
    assert!(
        told.starts_with("exit 4: charges in EUR, but the currency of the charges that are there is unknown"),
        "{told}"
    );
    assert!(
        told.contains("hint: load those again with a BillingCurrency column"),
        "{told}"
    );
    assert!(told.contains("unknown/unknown/2026-10"), "{told}");
    let appended = LoadRequest {
        existing: Existing::Append,
        ..request(&store.file("more.csv", EUROS.replace("-11-", "-10-")))
    };
    assert_eq!(store.load_as(&appended).unwrap_err().exit_code(), 4);

    store
        .load(&store.file("old.csv", EUROS.replace("-11-", "-10-")))
        .unwrap();
    let report = store.load(&store.file("new.csv", EUROS)).unwrap();
    assert_eq!(store.layout().manifest().unwrap().currency.as_deref(), Some("EUR"));
    assert!(!warnings(&report).join("\n").contains("urrency"));
}

#[test]
fn a_bill_without_a_currency_beside_one_that_has_it_says_so() {
    let store = Store::new();
    store.load(&store.file("new.csv", EUROS)).unwrap();
    let report = store.load(&store.file("old.csv", ROWS)).unwrap();
    let told = warnings(&report).join("\n");
    assert!(
        told.contains("old.csv has no BillingCurrency, so its charges count as EUR"),
        "{told}"
    );
}

#[test]
fn empty_cells_are_told_like_missing_columns() {
    let store = Store::new();
    let text = "ChargePeriodStart,BilledCost,BillingAccountId,BillingPeriodStart,ProviderName,ChargePeriodEnd,ChargeCategory\n\
        2026-10-01T00:00:00Z,1,a,2026-10-01T00:00:00Z,AWS,2026-10-01T01:00:00Z,Usage\n\
        2026-10-01T00:00:00Z,2,,,,,\n\
        2026-10-01T00:00:00Z,4,NULL,NULL,NULL,NULL,NULL\n\
        2026-10-01T00:00:00Z,8, ,2026-10-01T00:00:00Z,AWS,2026-10-01T01:00:00Z,Usage\n";
    let report = store.load(&store.file("bill.csv", text)).unwrap();
    let told = warnings(&report);
    for (note, rows) in [
        (
            "BillingAccountId is empty, so the account is `unknown`",
            "2 rows, BilledCost 6.00, the first at ",
        ),
        (
            "BillingPeriodStart is empty, so the month is that of the charge",
            "2 rows, BilledCost 6.00, the first at ",
        ),
        (
            "ChargePeriodEnd is empty, so how long the charge lasted is unknown",
            "2 rows, BilledCost 6.00, the first at ",
        ),
        (
            "ChargeCategory is empty, so the kind of charge is unknown",
            "2 rows, BilledCost 6.00, the first at ",
        ),
        (
            "the provider is empty, so it is that of `--provider`, else `unknown`",
            "2 rows, BilledCost 6.00, the first at ",
        ),
        (
            "BillingAccountId is empty, so the account is `unknown`",
            "1 row, BilledCost 8.00, the first at ",
        ),
    ] {
        let wanted = format!("{note}: {rows}");
        assert!(
            told.iter().any(|warning| warning.starts_with(&wanted)),
            "{wanted}\n{told:#?}"
        );
    }
    assert!(report.units.iter().all(|unit| unit.account != " "));
    let full = store.file("full.csv", text.lines().take(2).collect::<Vec<_>>().join("\n") + "\n");
    let request = LoadRequest {
        source: Some("full".into()),
        ..request(&full)
    };
    let told = warnings(&store.load_as(&request).unwrap()).join("\n");
    assert!(!told.contains("is empty"), "{told}");
}

#[test]
fn an_account_is_the_same_with_spaces_around_it() {
    let store = Store::new();
    let rows = "2026-10-01T00:00:00Z,1, a\n2026-10-01T01:00:00Z,2,a \n2026-10-01T02:00:00Z,4,a\n";
    let text = format!("ChargePeriodStart,BilledCost,BillingAccountId\n{rows}");
    let report = store.load(&store.file("bill.csv", text)).unwrap();
    let units: Vec<_> = report
        .units
        .iter()
        .map(|unit| (unit.account.as_str(), unit.rows))
        .collect();
    assert_eq!(units, [("a", 3)]);
    assert!(
        store
            .content("charges")
            .iter()
            .all(|row| !row.contains(" a") && !row.contains("a "))
    );
}

#[test]
fn local_times_that_came_twice_or_never_are_told() {
    let store = Store::new();
    let rows = "2026-10-25 01:00:00,1\n2026-10-25 02:00:00,2\n2026-10-25 02:30:00,4\n2026-10-25 03:00:00,8\n";
    let path = store.file("bill.csv", format!("ChargePeriodStart,BilledCost\n{rows}"));
    let told = |tz: &str| {
        let request = LoadRequest {
            tz: Some(tz.into()),
            existing: Existing::Replace,
            ..request(&path)
        };
        warnings(&store.load_as(&request).unwrap()).join("\n")
    };
    let berlin = told("Europe/Berlin");
    assert!(
        berlin.contains("ChargePeriodStart came twice or never, because the clocks changed"),
        "{berlin}"
    );
    assert!(berlin.contains(": 2 rows, BilledCost 6.00, the first at "), "{berlin}");
    assert!(berlin.contains("bill.csv:3 (value `2026-10-25 02:00:00`)"), "{berlin}");
    assert!(!told("UTC").contains("clocks"));
}
