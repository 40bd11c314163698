//! What goes, what stays, and that what is gone can come again.

use std::path::PathBuf;

use super::*;
use crate::load::{Existing, LoadReport, LoadRequest, Quiet, load};
use crate::store::Store;
use lowwater_model::policy::Policy;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    fn load(&self, name: &str, text: &str, request: LoadRequest) -> LoadReport {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        let request = LoadRequest {
            paths: vec![path],
            ..request
        };
        load(&self.data(), &request, &Policy::defaults(&[]), &Quiet).unwrap()
    }

    fn manifest(&self) -> Manifest {
        Layout::open(&self.data()).unwrap().manifest().unwrap()
    }

    fn unload(&self, chosen: &Chosen) -> Vec<String> {
        let gone = unload(&self.data(), chosen, &Quiet).unwrap();
        gone.iter().map(|h| format!("{} {}", h.kind, key(h))).collect()
    }
}

fn bill(months: &[&str]) -> String {
    let mut text = String::from(
        "ProviderName,BillingAccountId,BillingPeriodStart,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,BilledCost,BillingCurrency\n",
    );
    for month in months {
        text += &format!("AWS,1,{month}-01T00:00:00Z,{month}-02T00:00:00Z,{month}-02T01:00:00Z,Usage,10,USD\n");
    }
    text
}

fn of(month: &str) -> Chosen {
    Chosen {
        month: Some(month.into()),
        ..Chosen::default()
    }
}

#[test]
fn a_month_goes_and_the_same_file_brings_it_back() {
    let folder = Folder::new();
    let both = bill(&["2026-09", "2026-10"]);
    folder.load("bill.csv", &both, LoadRequest::default());
    assert_eq!(folder.unload(&of("2026-09")), ["bill aws/1/2026-09"]);
    assert_eq!(folder.manifest().bills.len(), 1);
    assert_eq!(folder.manifest().currency.as_deref(), Some("USD"));
    let again = folder.load("bill.csv", &both, LoadRequest::default());
    assert!(!again.unchanged);
    assert_eq!(folder.manifest().bills.len(), 2);
    let store = Store::open(&folder.data(), &[]).unwrap();
    assert_eq!(store.file_total(CostMetric::Billed).file_text(), "20");
}

#[test]
fn what_does_not_fit_stays() {
    let folder = Folder::new();
    folder.load("a.csv", &bill(&["2026-10"]), LoadRequest::default());
    let before = folder.manifest();
    for (kind, source, account) in [
        (Some("usage"), None, None),
        (None, Some("GCP"), None),
        (None, None, Some("2")),
    ] {
        let text = |word: Option<&str>| word.map(str::to_owned);
        let chosen = Chosen {
            kind: text(kind),
            source: text(source),
            account: text(account),
            month: None,
        };
        assert_eq!(folder.unload(&chosen), Vec::<String>::new());
    }
    assert_eq!(folder.manifest(), before, "not even the version");
}

#[test]
fn the_last_bill_takes_its_currency_along() {
    let folder = Folder::new();
    folder.load("a.csv", &bill(&["2026-10"]), LoadRequest::default());
    folder.unload(&of("2026-10"));
    assert_eq!(folder.manifest().currency, None);
    folder.load(
        "b.csv",
        &bill(&["2026-10"]).replace("USD", "EUR"),
        LoadRequest::default(),
    );
    assert_eq!(folder.manifest().currency.as_deref(), Some("EUR"));
}

#[test]
fn hours_of_the_wrong_zone_are_gone_when_loaded_anew() {
    let log = "timestamp, name, uuid, utilization.gpu [%]\n2026/10/01 12:00:00.000, NVIDIA H100, GPU-1, 50 %\n\
               2026/10/01 12:30:00.000, NVIDIA H100, GPU-1, 50 %\n";
    let folder = Folder::new();
    let zone = |tz: &str| LoadRequest {
        tz: Some(tz.into()),
        host: Some("h".into()),
        ..LoadRequest::default()
    };
    folder.load("smi.csv", log, zone("America/New_York"));
    let wrong = folder.manifest().usage.values().next().unwrap().first;
    let usage = Chosen {
        kind: Some("usage".into()),
        ..Chosen::default()
    };
    assert_eq!(folder.unload(&usage).len(), 1);
    folder.load("smi.csv", log, zone("Europe/Berlin"));
    let units: Vec<UsageUnit> = folder.manifest().usage.into_values().collect();
    assert_eq!((units.len(), wrong - units[0].first), (1, 6 * 3600));
}

#[test]
fn appended_files_are_taken_back_with_their_month() {
    let folder = Folder::new();
    folder.load("a.csv", &bill(&["2026-10"]), LoadRequest::default());
    let more = bill(&["2026-10"]).replace("-02T", "-03T");
    let append = LoadRequest {
        existing: Existing::Append,
        ..LoadRequest::default()
    };
    folder.load("b.csv", &more, append);
    assert_eq!(held(&folder.manifest())[0].billed.unwrap().file_text(), "20");
    folder.unload(&of("2026-10"));
    let again = folder.load("b.csv", &more, LoadRequest::default());
    assert_eq!(again.totals["billed"].file_text(), "10");
}
