mod fake;
mod faults;
mod real;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use self::fake::{Asked, Fake, Gpus, Reply};
use super::*;
use crate::load::{self, Quiet};
use crate::sample::{Line, focus_csv, load_text, open};
use crate::usage::tests::{StoredHour, stored_hours};

/// 2026-10-01, midnight UTC.
const DAY: i64 = 1_790_812_800;
const HOUR: i64 = 3600;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Two GPUs over two days and a half.
fn gpus() -> Gpus {
    Gpus {
        from: DAY,
        to: DAY + 60 * HOUR,
        cluster: Some("eu-1"),
        devices: vec![("n1", "GPU-a"), ("n2", "GPU-b")],
        nodes: vec![("n1", "aws:///us-east-1a/i-0abc")],
        gap: 0..0,
    }
}

fn serve(gpus: &Gpus) -> Fake {
    let gpus = gpus.clone();
    Fake::new(move |asked| gpus.answer(asked))
}

fn limits() -> Limits {
    Limits {
        pause: Duration::from_millis(1),
        timeout: Duration::from_secs(10),
        ..Limits::default()
    }
}

/// A data directory that loads from servers.
struct Lab {
    directory: tempfile::TempDir,
    limits: Limits,
    request: LoadRequest,
}

impl Lab {
    fn new(urls: &[String]) -> Self {
        let request = LoadRequest {
            paths: urls.iter().map(PathBuf::from).collect(),
            format: Some("prometheus".into()),
            server: ServerOptions {
                end: Some(at(DAY + 60 * HOUR)),
                ..ServerOptions::default()
            },
            ..LoadRequest::default()
        };
        Self {
            directory: tempfile::tempdir().unwrap(),
            limits: limits(),
            request,
        }
    }

    fn of(fake: &Fake) -> Self {
        Self::new(&[fake.url()])
    }

    fn try_load(&self, progress: &dyn Progress) -> Result<LoadReport, String> {
        let policy = Policy::defaults(&[]);
        load_within(self.limits, self.directory.path(), &self.request, &policy, progress).map_err(|e| e.to_string())
    }

    fn load(&self) -> LoadReport {
        self.try_load(&Quiet).unwrap_or_else(|e| panic!("{e}"))
    }

    fn until(&mut self, end: i64) -> &mut Self {
        self.request.server.end = Some(at(end));
        self
    }

    fn hours(&self) -> Vec<StoredHour> {
        stored_hours(self.directory.path())
    }

    fn manifest(&self) -> Manifest {
        Layout::open(self.directory.path()).unwrap().manifest().unwrap()
    }
}

/// What the format `dcgm` makes of the same samples, with hosts named as of a cluster.
fn as_files(exposition: &str, cluster: &str) -> Vec<StoredHour> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("metrics.prom");
    std::fs::write(&file, exposition).unwrap();
    let request = LoadRequest {
        paths: vec![file],
        format: Some("dcgm".into()),
        ..LoadRequest::default()
    };
    load::load(directory.path(), &request, &Policy::defaults(&[]), &Quiet).unwrap_or_else(|e| panic!("{e}"));
    let mut hours = stored_hours(directory.path());
    for hour in &mut hours {
        hour.rename(cluster);
    }
    hours
}

#[test]
fn a_server_gives_the_hours_that_its_samples_in_a_file_give() {
    let fake = serve(&gpus());
    let lab = Lab::of(&fake);
    let report = lab.load();
    assert_eq!(lab.hours(), as_files(&gpus().exposition(), "eu-1"));
    assert_eq!(lab.hours().len(), 2 * 60);
    let [server] = report.servers.as_slice() else {
        panic!("{report:?}");
    };
    assert_eq!(
        (server.source.as_str(), server.retention.as_deref()),
        ("prometheus/eu-1", Some("15d"))
    );
    assert_eq!((server.warnings.len(), server.end), (0, at(DAY + 60 * HOUR)));
    assert!(
        server
            .oldest
            .is_some_and(|oldest| oldest <= at(DAY) && oldest >= at(DAY - 2 * HOUR)),
        "{server:?}"
    );
    let ids = &lab.manifest().usage["prometheus/eu-1/2026-10"].provider_ids;
    assert!(ids["eu-1/n1"].contains("aws:///us-east-1a/i-0abc") && ids.len() == 1);
}

#[test]
fn pages_are_bounded_and_have_every_point_once() {
    let whole = serve(&gpus());
    let whole_lab = Lab::of(&whole);
    whole_lab.load();
    let paged = serve(&gpus());
    let mut lab = Lab::of(&paged);
    lab.limits.points = 100;
    lab.load();
    assert_eq!(lab.hours(), whole_lab.hours());
    assert!(paged.pages().len() > whole.pages().len());
    for fake in [&whole, &paged] {
        let mut next = None;
        for page in fake.pages() {
            assert!(next.is_none_or(|next| next == page.number("start")), "{page:?}");
            next = Some(page.number("end") + 60);
        }
        assert_eq!(next, Some(DAY + 60 * HOUR));
    }
    assert!(paged.pages().iter().all(|page| page.points() <= 100));
}

#[test]
fn a_fine_step_keeps_within_the_points_that_prometheus_gives() {
    let fake = serve(&gpus());
    let mut lab = Lab::of(&fake);
    lab.request.server.step_seconds = Some(5);
    lab.request.server.start = Some(at(DAY));
    lab.until(DAY + 24 * HOUR).load();
    let points: Vec<i64> = fake.pages().iter().map(Asked::points).collect();
    assert_eq!(
        (points.iter().sum::<i64>(), points.iter().max()),
        (86_400 / 5, Some(&11_000))
    );
}

#[test]
fn the_next_load_goes_on_from_the_last_whole_hour() {
    let fake = serve(&gpus());
    let mut lab = Lab::of(&fake);
    lab.until(DAY + 30 * HOUR + 1800).load();
    let before = fake.pages().len();
    let report = lab.until(DAY + 60 * HOUR).load();
    assert_eq!(fake.pages()[before].number("start"), DAY + 30 * HOUR);
    assert_eq!(report.servers[0].start, at(DAY + 30 * HOUR));
    assert_eq!(lab.hours(), as_files(&gpus().exposition(), "eu-1"));
    let version = lab.manifest().version;
    lab.request.server.start = Some(at(DAY + 30 * HOUR));
    let again = lab.load();
    assert!(again.unchanged && again.units.len() == 1);
    assert_eq!(lab.manifest().version, version, "the same samples make no new version");
    lab.request.server.start = Some(at(DAY));
    lab.load();
    assert_eq!(
        lab.hours(),
        as_files(&gpus().exposition(), "eu-1"),
        "hours that come again stay as they are"
    );
}

/// Stops after so many reports of progress.
struct StopAfter(AtomicU64);

impl Progress for StopAfter {
    fn at(&self, what: &str, _: u64, _: u64) {
        // From the second day on.
        if what.ends_with("2026-10-02") {
            self.0.store(1, Ordering::Relaxed);
        }
    }
    fn stop(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

#[test]
fn a_stop_leaves_whole_days_and_the_next_load_goes_on() {
    let fake = serve(&gpus());
    let lab = Lab::of(&fake);
    let error = lab.try_load(&StopAfter(AtomicU64::new(0))).unwrap_err();
    assert_eq!(
        error,
        "stopped; what was before 2026-10-02T00:00:00Z is kept, and the next load goes on from there"
    );
    assert_eq!(lab.hours().len(), 2 * 24);
    lab.load();
    assert_eq!(lab.hours(), as_files(&gpus().exposition(), "eu-1"));
}

#[test]
fn a_gap_is_unknown_and_the_end_is_not_drawn_out() {
    let mut with_gap = gpus();
    with_gap.gap = DAY + 5 * HOUR..DAY + 9 * HOUR;
    with_gap.to = DAY + 12 * HOUR;
    let fake = serve(&with_gap);
    let lab = Lab::of(&fake);
    lab.load();
    assert_eq!(lab.hours(), as_files(&with_gap.exposition(), "eu-1"));
    assert!(lab.hours().iter().all(|h| h.observed_seconds() <= 3600));
    let later = |from: i64, to: i64| lab.hours().iter().filter(|h| (from..to).contains(&h.second())).count();
    assert_eq!(
        (later(DAY + 6 * HOUR, DAY + 9 * HOUR), later(DAY + 12 * HOUR, i64::MAX)),
        (0, 0)
    );
}

#[test]
fn clusters_do_not_merge_and_two_servers_of_one_cluster_fill_each_other() {
    let (eu, mut us) = (gpus(), gpus());
    us.cluster = None;
    let (a, b) = (serve(&eu), serve(&us));
    let lab = Lab::new(&[a.url(), b.url()]);
    let report = lab.load();
    let sources: Vec<&str> = report.servers.iter().map(|s| s.source.as_str()).collect();
    let unnamed = format!("prometheus/{}", b.place());
    assert_eq!(sources, ["prometheus/eu-1", unnamed.as_str()]);
    assert_eq!(
        lab.hours().len(),
        2 * 2 * 60,
        "the same UUID on two clusters is two GPUs"
    );

    let (mut first, mut second) = (gpus(), gpus());
    first.gap = DAY + 5 * HOUR..DAY + 9 * HOUR;
    second.gap = DAY + 20 * HOUR..DAY + 25 * HOUR;
    let (a, b) = (serve(&first), serve(&second));
    let lab = Lab::new(&[a.url(), b.url()]);
    lab.load();
    assert_eq!(lab.hours().len(), 2 * 60);
    assert!(
        lab.hours().iter().all(|h| h.observed_seconds() == 3600),
        "each hour as the server has it that has all of it"
    );
}

#[test]
fn nodes_join_the_bill_by_the_ids_that_the_cloud_gave_them() {
    let (eu, mut us) = (gpus(), gpus());
    us.cluster = Some("us-1");
    us.nodes = vec![("n1", "aws:///us-east-1b/i-0def"), ("n2", "aws:///us-east-1b/i-gone")];
    let (a, b) = (serve(&eu), serve(&us));
    let lab = Lab::new(&[a.url(), b.url()]);
    lab.load();
    let directory = lab.directory.path();
    let lines = ["i-0abc", "i-0def", "i-0fed"].map(|id| Line::hour(id, "p4d.24xlarge", at(DAY), "30"));
    load_text(directory, "bill.csv", &focus_csv(&lines));
    let matches = || {
        let store = open(directory);
        let matched = store.joined().unwrap().matched().iter();
        let mut all: Vec<_> = matched
            .map(|m| (m.host.clone(), m.resource_id.clone(), m.evidence))
            .collect();
        all.sort();
        all
    };
    let by_id = |host: &str, id: &str| (host.to_owned(), id.to_owned(), "provider id of the node");
    assert_eq!(matches(), [by_id("eu-1/n1", "i-0abc"), by_id("us-1/n1", "i-0def")]);
    std::fs::write(directory.join("hosts.csv"), "host,resource_id\nus-1/n1,i-0fed\n").unwrap();
    let by_row = ("us-1/n1".to_owned(), "i-0fed".to_owned(), "hosts.csv");
    assert_eq!(matches(), [by_id("eu-1/n1", "i-0abc"), by_row]);
}

#[test]
fn a_cluster_or_tenant_that_is_named_is_in_every_key() {
    let fake = serve(&gpus());
    let mut lab = Lab::of(&fake);
    lab.request.server.cluster = Some("prod".into());
    assert_eq!(lab.load().servers[0].source, "prometheus/prod");
    assert!(lab.hours().iter().all(|h| h.host().starts_with("prod/n")));
    assert!(
        !fake.asked().iter().any(|a| a.path.ends_with("/config")),
        "what is known is not asked for"
    );
    let mut nameless = gpus();
    nameless.cluster = None;
    let fake = serve(&nameless);
    let mut lab = Lab::of(&fake);
    lab.request.server.tenant = Some("team-a".into());
    assert_eq!(
        lab.load().servers[0].source,
        format!("prometheus/{}/team-a", fake.place())
    );
    assert!(fake.asked().iter().all(|a| a.headers["x-scope-orgid"] == "team-a"));
}

#[test]
fn a_start_before_the_oldest_sample_is_said() {
    let fake = serve(&gpus());
    let mut lab = Lab::of(&fake);
    lab.request.server.start = Some(at(DAY - 48 * HOUR));
    let report = lab.load();
    let warning = &report.servers[0].warnings[0];
    assert!(
        warning.contains("2026-09-29T00:00:00Z is before the oldest sample (about 2026-09-30T23:00:00Z)"),
        "{warning}"
    );
    assert!(
        warning.contains("keeps 15d") && warning.contains("unknown"),
        "{warning}"
    );
    assert_eq!(lab.hours().len(), 2 * 60);
}

#[test]
fn a_server_that_says_nothing_of_itself_needs_a_start_only_where_it_has_no_gpu() {
    let quiet = |mut gpus: Gpus, empty: bool| {
        gpus.to = if empty { gpus.from } else { gpus.to };
        Fake::new(move |asked: &Asked| {
            if asked.path.contains("/status/") {
                Reply::new(404, "")
            } else {
                gpus.answer(asked)
            }
        })
    };
    let fake = quiet(gpus(), false);
    let lab = Lab::of(&fake);
    let report = lab.load();
    assert_eq!((report.servers[0].retention.as_deref(), lab.hours().len()), (None, 120));
    let empty = quiet(gpus(), true);
    let mut lab = Lab::of(&empty);
    let error = lab.try_load(&Quiet).unwrap_err();
    assert!(error.contains("hint: say where to begin: --start"), "{error}");
    lab.request.server.start = Some(at(DAY));
    let error = lab.try_load(&Quiet).unwrap_err();
    assert!(
        error.contains("has no metric of a GPU") && error.contains("dcgm-exporter"),
        "{error}"
    );
}

type Change = fn(&mut LoadRequest);

#[test]
fn what_has_no_meaning_for_a_server_is_refused() {
    let url = "http://127.0.0.1:1".to_owned();
    let refused = |change: Change| {
        let mut lab = Lab::new(std::slice::from_ref(&url));
        change(&mut lab.request);
        lab.try_load(&Quiet).unwrap_err()
    };
    let cases: [(Change, &str); 8] = [
        (|r| r.paths.push("bill.csv".into()), "one after the other"),
        (|r| r.format = Some("dcgm".into()), "--format prometheus"),
        (|r| r.source = Some("x".into()), "--cluster NAME"),
        (|r| r.existing = Existing::Replace, "--start TIME"),
        (|r| r.tz = Some("UTC".into()), "leave them out"),
        (|r| r.server.step_seconds = Some(0), "60 is a good step"),
        (|r| r.server.start = r.server.end, "the earlier time first"),
        (
            |r| r.paths = vec!["http://me:s3cret@h".into()],
            "LOWWATER_PROMETHEUS_USER",
        ),
    ];
    for (change, hint) in cases {
        let error = refused(change);
        assert!(
            error.contains("\nhint: ") && error.contains(hint) && !error.contains("s3cret"),
            "{error}"
        );
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), gpus().exposition()).unwrap();
    let request = LoadRequest {
        paths: vec![file.path().to_owned()],
        format: Some("prometheus".into()),
        ..LoadRequest::default()
    };
    let directory = tempfile::tempdir().unwrap();
    let error = load::load(directory.path(), &request, &Policy::defaults(&[]), &Quiet)
        .unwrap_err()
        .to_string();
    assert!(error.contains("hint: name the server"), "{error}");
}
