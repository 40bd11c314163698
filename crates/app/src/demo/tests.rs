//! The sample as a whole: its size, its sameness, its files against their contracts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lowwater_model::money::Money;
use lowwater_model::workload::{Class, RESERVED_LABELS, Role, Traits, Workloads, fold_key};
use lowwater_store::config::Config;
use lowwater_store::error::StoreError;
use lowwater_store::format::{BillSink, Decode, FORMATS, Format, MetricsOptions, MetricsSink, Sample};
use lowwater_store::input::Input;
use lowwater_store::join::{Billed, Observed, ProviderIds, join};
use lowwater_store::load::Reject;

use super::machine::State;
use super::*;

const SEED: u64 = 42;

/// The sample, written once for all tests.
fn sample() -> (&'static Path, &'static DemoSummary) {
    static SAMPLE: OnceLock<(tempfile::TempDir, DemoSummary)> = OnceLock::new();
    let (dir, summary) = SAMPLE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let summary = write(dir.path(), SEED).unwrap();
        (dir, summary)
    });
    (dir.path(), summary)
}

fn config() -> Config {
    Config::read(sample().0, &lowwater_engine::lever::sections()).unwrap()
}

/// Every file below a directory, by its path in it.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut out = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                out.insert(
                    path.strip_prefix(dir).unwrap().to_owned(),
                    std::fs::read(&path).unwrap(),
                );
            }
        }
    }
    out
}

fn traits(machine: &Machine) -> Traits {
    let is_named_by_tag = machine.place.cloud.id == "aws";
    let mut tags: BTreeMap<String, String> = machine.tags.iter().map(|(k, v)| (fold_key(k), v.clone())).collect();
    if is_named_by_tag {
        tags.insert("name".into(), machine.name.clone());
    }
    Traits {
        resource_id: machine.id.clone(),
        resource_name: if is_named_by_tag {
            String::new()
        } else {
            machine.name.clone()
        },
        account: vec![machine.place.account.into(), machine.place.account_name.into()],
        region: machine.place.region.into(),
        sku: machine.sku.into(),
        tags,
        hosts: machine.host.iter().cloned().collect(),
        namespaces: Vec::new(),
    }
}

#[test]
fn it_has_the_size_that_was_promised() {
    let (_, summary) = sample();
    assert!((300_000..=500_000).contains(&summary.rows()), "{} rows", summary.rows());
    assert!(
        (300_000..=600_000).contains(&summary.measured.usage_rows),
        "{:?}",
        summary.measured
    );
    // 50 GPUs, 7 days, every five minutes.
    assert_eq!(summary.measured.dcgm_samples, 50 * 7 * 288);
    let bills: Vec<(&str, &str)> = summary.bills.iter().map(|b| (b.cloud, b.month)).collect();
    let months = ["2026-08", "2026-09", "2026-10"];
    let expected: Vec<(&str, &str)> = ["aws", "gcp", "nebius"]
        .iter()
        .flat_map(|cloud| months.iter().map(|month| (*cloud, *month)))
        .collect();
    assert_eq!(bills, expected);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let (dir, summary) = sample();
    let again = tempfile::tempdir().unwrap();
    assert_eq!(write(again.path(), SEED).unwrap(), *summary);
    let (first, second) = (files(dir), files(again.path()));
    assert_eq!(first.keys().collect::<Vec<_>>(), second.keys().collect::<Vec<_>>());
    for (path, bytes) in &first {
        assert!(*bytes == second[path], "{} differs", path.display());
    }
    let other = Organisation::new(SEED + 1);
    let mine = Organisation::new(SEED);
    let ids = |o: &Organisation| o.machines.iter().map(|m| m.id.clone()).collect::<BTreeSet<_>>();
    assert_ne!(ids(&mine), ids(&other));
    assert_ne!(mine.chat_requests, other.chat_requests);
}

#[test]
fn the_bill_is_exact_and_plausible() {
    let (_, summary) = sample();
    for bill in &summary.bills {
        let costs = bill.written.costs;
        // All that is bought is used or unused in the same month, so both metrics have one sum.
        assert_eq!(costs.billed, costs.effective, "{} {}", bill.cloud, bill.month);
        assert!(costs.list >= costs.contracted && costs.contracted > costs.billed.split(2).0);
        let fraction = costs.billed.full();
        assert!(
            fraction.trim_end_matches('0').len() > fraction.find('.').unwrap() + 4,
            "{fraction}"
        );
    }
}

#[test]
fn every_file_of_a_user_is_read_without_a_warning() {
    let config = config();
    assert!(config.warnings.is_empty(), "{:?}", config.warnings);
    assert_eq!(config.workloads.workload.len(), 14);
    assert_eq!((config.offers.len(), config.interruptions.len()), (16, 3));
    assert_eq!(
        config.offers[0].rate.0.to_string(),
        prices::EIGHT_H100_LIST.trim_end_matches('0')
    );
    assert_eq!(config.calendars.len(), 2);
    let acknowledged = config.policy.section("plan");
    for name in acknowledged.list("instance_store_acknowledged") {
        assert!(
            config.workloads.workload.iter().any(|w| w.name.as_str() == name),
            "{name}"
        );
    }
    for workload in config.workloads.workload.iter().filter_map(|w| w.curve.as_ref()) {
        assert!(sample().0.join(workload).is_file());
    }
}

#[test]
fn each_owned_gpu_machine_is_declared_as_what_it_is() {
    let workloads: Workloads = config().workloads;
    let mut used = BTreeSet::new();
    for machine in Organisation::new(SEED).machines.iter().filter(|m| m.gpus() > 0) {
        let found = workloads.of(&traits(machine));
        if machine.truth.state == State::Unowned {
            assert!(found.is_none(), "{}", machine.id);
            continue;
        }
        let (workload, _) = found.unwrap_or_else(|| panic!("{} has no workload", machine.name));
        assert_eq!(workload.class, machine.truth.class, "{}", machine.name);
        assert_eq!(
            workload.role == Role::Standby,
            machine.truth.state == State::Standby,
            "{}",
            machine.name
        );
        assert_eq!(
            workload.keep.is_some(),
            machine.truth.state == State::Kept,
            "{}",
            machine.name
        );
        used.insert(workload.name.clone());
    }
    assert_eq!(used.len(), workloads.workload.len(), "a workload selects nothing");
    let classes: BTreeSet<Class> = workloads.workload.iter().map(|w| w.class).collect();
    assert!(classes.len() >= 6);
}

#[test]
fn machines_without_a_gpu_belong_to_no_workload() {
    let workloads = config().workloads;
    for machine in Organisation::new(SEED).machines.iter().filter(|m| m.gpus() == 0) {
        assert!(workloads.of(&traits(machine)).is_none(), "{}", machine.name);
    }
}

#[test]
fn measured_gpus_find_their_machines_and_one_does_not() {
    let organisation = Organisation::new(SEED);
    let gpu_machines: Vec<&Machine> = organisation.machines.iter().filter(|m| m.gpus() > 0).collect();
    let billed: Vec<Billed> = gpu_machines
        .iter()
        .map(|m| Billed {
            resource_id: m.id.clone(),
            resource_name: (m.place.cloud.id != "aws").then(|| m.name.clone()),
            name_tag: (m.place.cloud.id == "aws" && !m.name.is_empty()).then(|| m.name.clone()),
            gpus: i64::from(m.gpus()),
        })
        .collect();
    let measured = gpu_machines.iter().copied().chain(&organisation.unbilled);
    let observed: Vec<Observed> = measured
        .filter_map(|m| m.host.as_ref().map(|host| (m, host)))
        .flat_map(|(m, host)| {
            (0..m.gpus()).map(move |gpu| Observed {
                host: host.clone(),
                gpu: metrics::gpu_name(SEED, m, gpu),
            })
        })
        .collect();
    let joined = join(&config().hosts, &ProviderIds::new(), &billed, &observed);
    assert!(joined.ambiguous.is_empty(), "{:?}", joined.ambiguous);
    let unmatched: Vec<&str> = joined.unmatched.iter().map(|o| o.host.as_str()).collect();
    assert_eq!(unmatched, ["lab-workstation-1"]);
    let matched: BTreeSet<&str> = joined.matched().iter().map(|m| m.resource_id.as_str()).collect();
    let expected: BTreeSet<&str> = gpu_machines
        .iter()
        .filter(|m| m.host.is_some())
        .map(|m| m.id.as_str())
        .collect();
    assert_eq!(matched, expected);
}

#[test]
fn ids_are_unique_and_no_label_is_reserved() {
    let organisation = Organisation::new(SEED);
    let ids: BTreeSet<&str> = organisation.machines.iter().map(|m| m.id.as_str()).collect();
    assert_eq!(ids.len(), organisation.machines.len());
    let tags = organisation.machines.iter().flat_map(|m| m.tags.values());
    let tags = tags.chain(organisation.meters.iter().flat_map(|m| m.tags.values()));
    for value in tags {
        assert!(!RESERVED_LABELS.contains(&value.as_str()), "{value}");
    }
}

#[test]
fn the_answers_hold_every_story_of_the_sample() {
    let (dir, _) = sample();
    let text = std::fs::read_to_string(dir.join("answers.csv")).unwrap();
    let organisation = Organisation::new(SEED);
    let count = |state: &str| text.lines().filter(|l| l.contains(&format!("\"{state}\""))).count();
    let stories = [
        ("left on", 45),
        ("left on, scarce", 3),
        ("idle", 3),
        ("idle, memory held", 1),
        ("idle, power unknown", 1),
        ("standby", 3),
        ("kept", 1),
        ("underused", 14),
        ("idle between runs", 2),
        ("unowned", 4),
    ];
    for (state, machines) in stories {
        assert_eq!(count(state), machines, "{state}");
    }
    let gpu_machines = organisation.machines.iter().filter(|m| m.gpus() > 0).count();
    assert_eq!(text.lines().count(), gpu_machines + 1);
    assert_eq!(
        count("in use"),
        gpu_machines - stories.iter().map(|s| s.1).sum::<usize>()
    );
    let forgotten = text.lines().find(|l| l.contains(",nb-ber-11,")).unwrap();
    assert!(
        forgotten.ends_with("development,\"idle\",2026-09-12T00:00:00Z"),
        "{forgotten}"
    );
}

#[test]
fn holidays_of_the_file_are_the_days_on_which_nobody_worked() {
    let calendars = config().calendars;
    for (calendar, days) in notebooks::holidays() {
        let of_file: Vec<_> = calendars[calendar]
            .iter()
            .filter(|d| (jiff::civil::date(2026, 8, 3)..=jiff::civil::date(2026, 10, 31)).contains(d))
            .collect();
        assert_eq!(of_file, days.iter().collect::<Vec<_>>(), "{calendar}");
    }
}

/// What a reader of metrics finds in a file.
#[derive(Default)]
struct Seen {
    samples: u64,
    hosts: BTreeSet<String>,
    without_power: BTreeSet<String>,
    problems: Vec<String>,
}

impl MetricsSink for Seen {
    fn sample(&mut self, sample: Sample<'_>) -> Result<(), StoreError> {
        self.samples += 1;
        if !self.hosts.contains(sample.host) {
            self.hosts.insert(sample.host.to_owned());
        }
        if sample.power_w.is_none() {
            self.without_power.insert(sample.host.to_owned());
        }
        assert!(sample.activity.is_some() && sample.memory_used_mib <= sample.memory_total_mib);
        Ok(())
    }

    fn reject(&mut self, reject: Reject) {
        self.problems.push(format!("{reject:?}"));
    }

    fn warn(&mut self, warning: String) {
        self.problems.push(warning);
    }
}

/// Opens a file and finds its format as `load` does.
fn open(path: &Path) -> (Input, &'static Format) {
    let input = Input::open(path).unwrap();
    let format = FORMATS.iter().find(|f| (f.detects)(&input.head()));
    (
        input,
        format.unwrap_or_else(|| panic!("nothing reads {}", path.display())),
    )
}

/// Reads a file of metrics as `load` does.
fn seen(path: &Path) -> Seen {
    let (mut input, format) = open(path);
    let Decode::Metrics(decode) = format.decode else {
        panic!("{} is read as a bill", path.display());
    };
    let mut seen = Seen::default();
    decode(&mut input, &MetricsOptions::default(), &mut seen).unwrap();
    seen
}

#[test]
fn the_reader_of_dcgm_text_takes_every_line() {
    let seen = seen(&sample().0.join("metrics/dcgm/2026-10-28.prom"));
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    assert_eq!(seen.samples, 50 * 288);
    assert_eq!(seen.hosts.len(), 50);
    assert_eq!(seen.without_power.iter().collect::<Vec<_>>(), ["nb-ber-28"]);
}

#[test]
fn the_reader_of_usage_csv_takes_every_row() {
    let (dir, summary) = sample();
    let seen = seen(&dir.join("metrics/usage.csv"));
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    assert_eq!(seen.samples, summary.measured.usage_rows);
    assert_eq!(seen.without_power.iter().collect::<Vec<_>>(), ["nb-ber-28"]);
    let organisation = Organisation::new(SEED);
    let measured = organisation.machines.iter().chain(&organisation.unbilled);
    assert_eq!(seen.hosts, measured.filter_map(|m| m.host.clone()).collect());
}

/// What a reader of bills finds in a file.
#[derive(Default)]
struct Billing {
    columns: Vec<String>,
    rows: u64,
    billed: Money,
    effective: Money,
    problems: Vec<String>,
}

impl Billing {
    fn field<'a>(&self, name: &str, fields: &[Option<&'a str>]) -> Option<&'a str> {
        let at = self.columns.iter().position(|c| c == name)?;
        fields[at]
    }
}

impl BillSink for Billing {
    fn columns(&mut self, names: &[String]) -> Result<(), StoreError> {
        self.columns = names.to_vec();
        Ok(())
    }

    fn row(&mut self, number: u64, fields: &[Option<&str>]) -> Result<(), StoreError> {
        self.rows += 1;
        assert_eq!(number, self.rows);
        let money = |text: Option<&str>| Money::parse(text.unwrap()).unwrap();
        self.billed += money(self.field("BilledCost", fields));
        self.effective += money(self.field("EffectiveCost", fields));
        Ok(())
    }

    fn reject(&mut self, reject: Reject) {
        self.problems.push(format!("{reject:?}"));
    }

    fn warn(&mut self, warning: String) {
        self.problems.push(warning);
    }
}

#[test]
fn the_reader_of_focus_finds_the_rows_and_sums_that_were_written() {
    let (dir, summary) = sample();
    for bill in summary
        .bills
        .iter()
        .filter(|b| b.cloud == "nebius" || b.month == "2026-09")
    {
        let path = dir
            .join("bills")
            .join(bill.cloud)
            .join(format!("{}.parquet", bill.month));
        let (mut input, format) = open(&path);
        let Decode::Bill(decode) = format.decode else {
            panic!("{} is read as metrics", path.display());
        };
        let mut seen = Billing::default();
        decode(&mut input, &mut seen).unwrap();
        assert!(seen.problems.is_empty(), "{:?}", seen.problems);
        assert_eq!(seen.columns.len(), 57);
        assert_eq!(seen.rows, bill.written.rows);
        assert_eq!(seen.billed, bill.written.costs.billed);
        assert_eq!(seen.effective, bill.written.costs.effective);
    }
}

#[test]
fn a_demo_that_was_cut_short_has_its_mark_first() {
    let dir = tempfile::tempdir().unwrap();
    // The first file after the mark can't be written: a folder is in its place.
    std::fs::create_dir_all(dir.path().join("README.md/x")).unwrap();
    assert!(write(dir.path(), 1).is_err());
    assert!(dir.path().join(MARK).is_file());
}
