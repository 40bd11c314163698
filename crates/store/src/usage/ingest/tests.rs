use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use lowwater_model::usage::ActivityMetric;
use proptest::prelude::*;

use super::*;
use crate::format::FORMATS;
use crate::layout::Layout;
use crate::load::Quiet;
use crate::session::Session;
use crate::shared;
use crate::usage::row::HourRow;
use crate::usage::table::tests::read;

/// A data directory with files to load.
struct Lab {
    directory: tempfile::TempDir,
    request: LoadRequest,
}

impl Lab {
    fn new() -> Self {
        let request = LoadRequest {
            host: Some("h1".into()),
            tz: Some("UTC".into()),
            at: Some("2026-07-14T09:00:00Z".parse().unwrap()),
            ..LoadRequest::default()
        };
        Self {
            directory: tempfile::tempdir().unwrap(),
            request,
        }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn layout(&self) -> Layout {
        Layout::open(self.directory.path()).unwrap()
    }

    fn load_with(&self, paths: &[PathBuf], progress: &dyn Progress) -> Result<Vec<UnitReport>, StoreError> {
        let mut transaction = self.layout().write(progress)?;
        let files = paths.iter().map(|path| opened(path)).collect();
        let policy = Policy::defaults(&[]);
        let (reports, changed) = ingest(files, &self.request, &policy, &mut transaction, progress)?;
        if changed {
            transaction.commit()?;
        }
        Ok(reports)
    }

    fn load(&self, paths: &[PathBuf]) -> Vec<UnitReport> {
        self.load_with(paths, &Quiet).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Every row, in the order of the files.
    fn rows(&self) -> Vec<HourRow> {
        read(self.layout().snapshot().unwrap().files("usage"))
    }
}

fn opened(path: &Path) -> MetricsFile {
    let input = Input::open(path).unwrap();
    let format = FORMATS.iter().find(|f| (f.detects)(&input.head())).unwrap();
    MetricsFile {
        sha256: input.sha256().unwrap(),
        path: path.to_owned(),
        format,
    }
}

const HEADER: &str = "time,host,gpu,activity,activity_metric,memory_used_mib,memory_total_mib,power_w\n";

fn usage(rows: &[(&str, &str, f64)]) -> String {
    let lines = rows
        .iter()
        .map(|(time, host, activity)| format!("{time},{host},0,{activity},SM_ACTIVE,100,24000,90\n"));
    std::iter::once(HEADER.to_owned()).chain(lines).collect()
}

#[test]
fn months_are_units_and_twice_is_once() {
    let lab = Lab::new();
    let file = lab.file(
        "usage.csv",
        &usage(&[
            ("2026-11-01T00:00:00Z", "b", 0.5),
            ("2026-10-31T23:00:00Z", "b", 0.0),
            ("2026-10-31T23:00:00Z", "a", 0.2),
        ]),
    );
    let reports = lab.load(std::slice::from_ref(&file));
    let of = |r: &UnitReport| (r.kind, r.source.clone(), r.month.clone(), r.rows);
    let want = [
        ("usage", "usage".to_owned(), "2026-10".to_owned(), 2),
        ("usage", "usage".into(), "2026-11".into(), 1),
    ];
    assert_eq!(reports.iter().map(of).collect::<Vec<_>>(), want);
    let rows = lab.rows();
    assert_eq!(rows.iter().map(|r| &*r.key.host).collect::<Vec<_>>(), ["a", "b", "b"]);
    let before = lab.layout().manifest().unwrap().usage;
    assert_eq!(
        lab.load(std::slice::from_ref(&file)),
        reports,
        "the same file is no news"
    );
    assert_eq!(lab.layout().manifest().unwrap().usage, before);
    // The same rows in another file change nothing but the list of files.
    let other = lab.file("again.csv", &(std::fs::read_to_string(&file).unwrap() + "\n"));
    lab.load(&[other, file]);
    assert_eq!(lab.rows(), rows);
    let unit = &lab.layout().manifest().unwrap().usage["usage/2026-10"];
    assert_eq!((unit.inputs.len(), unit.rows, unit.first), (2, 2, rows[0].first));
}

#[test]
fn a_newer_month_leaves_the_others_alone_and_replace_takes_its_place() {
    let mut lab = Lab::new();
    let october = lab.file(
        "1.csv",
        &usage(&[("2026-10-01T00:00:00Z", "a", 0.5), ("2026-10-01T01:00:00Z", "a", 0.5)]),
    );
    let november = lab.file("2.csv", &usage(&[("2026-11-01T00:00:00Z", "a", 0.5)]));
    lab.load(&[october]);
    let files = |lab: &Lab| lab.layout().snapshot().unwrap().files("usage");
    let before = files(&lab);
    lab.load(&[november]);
    assert!(files(&lab).starts_with(&before));
    // One hour more is merged in; with --replace it is all there is.
    let more = lab.file("3.csv", &usage(&[("2026-10-01T02:00:00Z", "a", 0.9)]));
    lab.load(std::slice::from_ref(&more));
    assert_eq!(lab.rows().len(), 4);
    lab.request.existing = Existing::Replace;
    lab.load(&[more]);
    assert_eq!(lab.rows().len(), 2);
    assert_eq!(lab.layout().manifest().unwrap().usage["usage/2026-10"].inputs.len(), 1);
}

#[test]
fn the_same_bytes_at_another_time_are_another_scrape() {
    let mut lab = Lab::new();
    let scrape = lab.file("scrape.prom", "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"n\"} 7\n");
    lab.load(std::slice::from_ref(&scrape));
    lab.request.at = Some("2026-07-14T09:05:00Z".parse().unwrap());
    lab.load(std::slice::from_ref(&scrape));
    lab.load(&[scrape]);
    let rows = lab.rows();
    assert_eq!((rows.len(), rows[0].activity.seconds()), (1, 120));
}

#[test]
fn bad_lines_are_kept_aside_and_too_many_are_refused() {
    let lab = Lab::new();
    let hours: Vec<String> = (0..200)
        .map(|h| format!("2026-10-{:02}T{:02}:00:00Z", 1 + h / 24, h % 24))
        .collect();
    let good: Vec<_> = hours.iter().map(|h| (h.as_str(), "a", 0.5)).collect();
    let file = lab.file(
        "usage.csv",
        &(usage(&good) + "2026-10-01T00:00:00Z,a,0,47,SM_ACTIVE,,,\n"),
    );
    let reports = lab.load(&[file]);
    assert_eq!((reports[0].rows, reports[0].rejects), (200, 1));
    let session = Session::new().unwrap();
    let files = lab.layout().snapshot().unwrap().files("rejects");
    session
        .register_files("rejects", crate::schema::rejects(), &files)
        .unwrap();
    let rejects = session.query("SELECT * FROM rejects").unwrap();
    let row = rejects.iter().next().unwrap();
    assert_eq!(
        (row.int("row"), row.text_or_empty("column"), row.text_or_empty("value")),
        (Some(202), "activity", "47")
    );
    assert_eq!((row.text_or_empty("x_Month"), row.text("at_stake")), ("2026-10", None));
    let worse = lab.file(
        "worse.csv",
        &(usage(&good[..20]) + &"2026-10-01T00:00:00Z,a,0,47,SM_ACTIVE,,,\n".repeat(6)),
    );
    let before = lab.layout().manifest().unwrap();
    let error = lab.load_with(&[worse], &Quiet).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    let text = error.to_string();
    assert!(
        text.contains("6 of 32 samples are faulty") && text.contains("worse.csv:22:activity"),
        "{text}"
    );
    assert_eq!(lab.layout().manifest().unwrap(), before);
}

#[test]
fn a_file_without_samples_is_told_and_alone_refused() {
    let lab = Lab::new();
    let empty = lab.file("empty.csv", HEADER);
    let error = lab
        .load_with(std::slice::from_ref(&empty), &Quiet)
        .unwrap_err()
        .to_string();
    assert!(error.contains("no file holds a sample"), "{error}");
    let full = lab.file("full.csv", &usage(&[("2026-10-01T00:00:00Z", "a", 0.5)]));
    let reports = lab.load(&[empty, full]);
    assert!(
        reports[0].warnings[0].contains("empty.csv holds no sample"),
        "{:?}",
        reports[0].warnings
    );
}

/// Asks to stop from the start.
struct Stop(AtomicBool);

impl Progress for Stop {
    fn at(&self, _what: &str, _done: u64, _total: u64) {}
    fn stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn a_stopped_load_leaves_what_was() {
    let lab = Lab::new();
    let lines: String = (0..5000)
        .map(|i| {
            format!(
                "DCGM_FI_DEV_GPU_UTIL{{gpu=\"0\",Hostname=\"n\"}} 1 {}\n",
                1_785_567_600_000_i64 + i * 1000
            )
        })
        .collect();
    let file = lab.file("scrape.prom", &lines);
    let error = lab
        .load_with(std::slice::from_ref(&file), &Stop(AtomicBool::new(true)))
        .unwrap_err();
    assert!(matches!(error, StoreError::Stopped));
    assert!(lab.rows().is_empty() && lab.layout().manifest().unwrap().usage.is_empty());
    assert_eq!(lab.load(&[file])[0].rows, 2);
}

#[test]
fn the_published_cases_end_to_end() {
    let files = ["r08_dcgm_time_slicing.prom", "r09_dcgm_mig_power.prom"];
    for (file, want) in files.into_iter().zip([("0.99", None), ("0.285714", Some(400_000))]) {
        let Some(path) = shared::file(&format!("billing/regressions/{file}")) else {
            return;
        };
        let lab = Lab::new();
        lab.load(&[path]);
        let session = Session::new().unwrap();
        let usage = lab.layout().snapshot().unwrap().files("usage");
        session.register_files("usage", crate::schema::usage(), &usage).unwrap();
        let rows = session
            .query("SELECT x_ActivityMicroSeconds / x_ActivitySeconds AS mean, x_PowerMaxMilliWatt AS power FROM usage WHERE x_MigInstance = ''")
            .unwrap();
        let all: Vec<_> = rows
            .iter()
            .map(|r| (r.int("mean").unwrap() as f64 / 1e6, r.int("power")))
            .collect();
        assert_eq!(
            all,
            [(want.0.parse().unwrap(), want.1)],
            "{file}: one GPU, counted once"
        );
    }
}

#[test]
fn real_logs_end_to_end() {
    let row = |name: &str| {
        let path = shared::file(&format!("billing/gpu-metrics/nvidia_smi_nvidia-{name}.csv"))?;
        let lab = Lab::new();
        lab.load(&[path]);
        lab.rows().pop()
    };
    let Some(busy) = row("h100-80gb-hbm3_load") else {
        return;
    };
    assert_eq!(
        (busy.activity.max(), busy.power_max_milliwatts),
        (Some(19), Some(631_950))
    );
    assert_eq!((busy.memory.max(), busy.memory_used_max_mib), (Some(4), Some(19_818)));
    // With MIG the driver says nothing of activity: unknown, and never idle.
    for name in ["h100-mig_idle", "h100-mig_load", "h200-mig_idle", "h200-mig_load"] {
        let mig = row(name).unwrap();
        assert_eq!(
            (mig.activity.seconds(), mig.activity_metric, mig.idle_seconds()),
            (0, None, 0),
            "{name}"
        );
        assert!(mig.memory.seconds() > 0 && mig.power_seconds > 0, "{name}");
    }
    // Busy without memory of its own: activity alone is not the whole story.
    let odd = row("l40s_idle").unwrap();
    assert_eq!(
        (odd.activity.max(), odd.activity_metric),
        (Some(19), Some(ActivityMetric::GpuUtil))
    );
    assert_eq!(
        (odd.memory_used_max_mib, odd.memory.max(), odd.power_max_milliwatts),
        (Some(0), Some(0), Some(144_970))
    );
}

#[test]
fn a_directory_of_real_files() {
    let Some(path) = shared::file("billing/gpu-metrics") else {
        return;
    };
    let lab = Lab::new();
    let request = LoadRequest {
        paths: vec![path],
        ..lab.request.clone()
    };
    let load = || crate::load::load(lab.directory.path(), &request, &Policy::defaults(&[]), &Quiet).unwrap();
    let first = load();
    let sources: Vec<_> = first
        .units
        .iter()
        .map(|u| (u.source.as_str(), u.month.as_str(), u.rejects))
        .collect();
    assert_eq!(sources, [("dcgm", "2026-07", 0), ("nvidia-smi", "2026-07", 0)]);
    let left_out = |name: &str| {
        first.units[0]
            .warnings
            .iter()
            .any(|w| w.starts_with("left out: ") && w.contains(name))
    };
    assert!(left_out("dcgm_exporter_default_counters.csv") && left_out("README.md") && !left_out("_idle.csv"));
    assert!(!first.unchanged);
    let second = load();
    assert!(second.unchanged);
    assert_eq!(second.units, first.units);
    assert_eq!(lab.layout().manifest().unwrap().version, 1);
}

#[test]
fn a_dump_that_goes_series_by_series_is_joined() {
    let by_scrape = |second: i64| {
        let stamp = (1_793_484_000 + second) * 1000;
        [
            "DEV_GPU_UTIL 50",
            "DEV_FB_FREE 6000",
            "DEV_FB_USED 2000",
            "DEV_POWER_USAGE 250",
        ]
        .map(|metric| {
            let (name, value) = metric.split_once(' ').unwrap();
            format!("{{__name__=\"DCGM_FI_{name}\", gpu=\"0\", Hostname=\"n\"}} {value} {stamp}\n")
        })
    };
    let scrapes: Vec<[String; 4]> = (0..20).map(|i| by_scrape(i * 60)).collect();
    let dump: String = (0..4)
        .flat_map(|metric| scrapes.iter().map(move |s| s[metric].as_str()))
        .collect();
    let (a, b) = (Lab::new(), Lab::new());
    a.load(&[a.file("scrapes.prom", &scrapes.concat().concat())]);
    b.load(&[b.file("dump.prom", &dump)]);
    assert_eq!(a.rows(), b.rows());
    let row = &b.rows()[0];
    assert_eq!(
        (row.memory.max(), row.memory.seconds(), row.memory_total_mib),
        (Some(5), 1200, Some(8000))
    );
}

/// A DCGM file of scrapes: GPU, second, percent.
fn scrapes(samples: &[(u8, i64, u8)]) -> String {
    let line = |(gpu, second, percent): &(u8, i64, u8)| {
        let stamp = (1_793_484_000 + second) * 1000;
        format!("DCGM_FI_DEV_GPU_UTIL{{gpu=\"{gpu}\",Hostname=\"n\"}} {percent} {stamp}\n")
    };
    samples.iter().map(line).collect()
}

fn samples() -> impl Strategy<Value = Vec<(u8, i64, u8)>> {
    // Four hours around the end of a month.
    prop::collection::vec((0..3_u8, 0..14_400_i64, 0..=100_u8), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// In one load neither the order of files nor the way samples are spread over them matters.
    #[test]
    fn files_of_one_load(samples in samples(), parts in 1..4_usize, backwards in any::<bool>()) {
        let whole = Lab::new();
        whole.load(&[whole.file("all.prom", &scrapes(&samples))]);
        let lab = Lab::new();
        let part = |p: usize| samples.iter().copied().skip(p).step_by(parts).collect::<Vec<_>>();
        let mut files: Vec<_> = (0..parts)
            .map(part)
            .filter(|p| !p.is_empty())
            .enumerate()
            .map(|(i, p)| lab.file(&format!("{i}.prom"), &scrapes(&p)))
            .collect();
        if backwards {
            files.reverse();
        }
        lab.load(&files);
        prop_assert_eq!(lab.rows(), whole.rows());
    }

    /// Loads that share no hour can come in any order, and again.
    #[test]
    fn separate_loads(samples in samples(), order in Just((0..4_i64).collect::<Vec<_>>()).prop_shuffle()) {
        let hour = |h: i64| samples.iter().copied().filter(|s| s.1 / 3600 == h).collect::<Vec<_>>();
        let load = |order: &[i64]| {
            let lab = Lab::new();
            for h in order {
                let part = hour(*h);
                if !part.is_empty() {
                    lab.load(&[lab.file(&format!("{h}.prom"), &scrapes(&part))]);
                }
            }
            lab.rows()
        };
        let again: Vec<i64> = order.iter().chain(&order).copied().collect();
        prop_assert_eq!(load(&again), load(&[0, 1, 2, 3]));
    }
}
