use std::collections::BTreeMap;
use std::fs;

use super::*;
use crate::load::{Progress, Quiet};

fn store() -> (tempfile::TempDir, Layout) {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::open(dir.path()).unwrap();
    (dir, layout)
}

fn unit(month: &str, file: &str) -> UsageUnit {
    UsageUnit {
        source: "s".into(),
        month: month.into(),
        rows: 1,
        rejects: 0,
        first: 0,
        last: 1,
        inputs: Vec::new(),
        warnings: Vec::new(),
        files: [("usage".to_owned(), vec![file.to_owned()])].into(),
        provider_ids: BTreeMap::new(),
        loaded_at: Timestamp::UNIX_EPOCH,
    }
}

/// Commits one file for a month and returns its name.
fn commit(layout: &Layout, month: &str, text: &str) -> String {
    let mut transaction = layout.write(&Quiet).unwrap();
    let staged = transaction
        .stage("usage", &[("source", "s"), ("month", month)])
        .unwrap();
    fs::write(&staged.path, text).unwrap();
    let unit = unit(month, &staged.name);
    transaction.manifest.usage.insert(unit.key(), unit);
    transaction.commit().unwrap();
    staged.name
}

fn text(snapshot: &Snapshot) -> Vec<String> {
    snapshot
        .files("usage")
        .iter()
        .map(|f| fs::read_to_string(f).unwrap())
        .collect()
}

#[test]
fn an_absent_store_is_empty_and_reading_makes_nothing() {
    let (dir, layout) = store();
    let snapshot = layout.snapshot().unwrap();
    assert_eq!(snapshot.manifest().version, 0);
    assert!(snapshot.files("charges").is_empty());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_commit_is_seen_by_the_next_snapshot_only() {
    let (_dir, layout) = store();
    commit(&layout, "2026-10", "old");
    let before = layout.snapshot().unwrap();
    commit(&layout, "2026-10", "new");
    commit(&layout, "2026-11", "more");
    assert_eq!(text(&before), ["old"], "a pinned version keeps its files");
    let after = layout.snapshot().unwrap();
    assert_eq!(text(&after), ["new", "more"]);
    assert_eq!((before.manifest().version, after.manifest().version), (1, 3));
}

#[test]
fn superseded_files_go_when_nobody_reads_them() {
    let (dir, layout) = store();
    let old = commit(&layout, "2026-10", "old");
    let old = dir.path().join("store").join(old);
    let reader = layout.snapshot().unwrap();
    commit(&layout, "2026-10", "new");
    commit(&layout, "2026-11", "x");
    assert!(old.exists(), "a reader is there");
    drop(reader);
    commit(&layout, "2026-12", "y");
    assert!(!old.exists());
    assert_eq!(text(&layout.snapshot().unwrap()), ["new", "x", "y"]);
}

#[test]
fn many_files_are_committed_at_once_or_not_at_all() {
    let (dir, layout) = store();
    let months: Vec<String> = (0..40)
        .map(|at| format!("{}-{:02}", 2000 + at / 12, 1 + at % 12))
        .collect();
    let stage_all = |transaction: &mut Transaction| -> Vec<Staged> {
        let staged: Vec<Staged> = months
            .iter()
            .map(|month| transaction.stage("usage", &[("month", month)]).unwrap())
            .collect();
        for (staged, month) in staged.iter().zip(&months) {
            fs::write(&staged.path, month).unwrap();
            assert_eq!(transaction.staged_path(&staged.name), staged.path);
            let unit = unit(month, &staged.name);
            transaction.manifest.usage.insert(unit.key(), unit);
        }
        staged
    };
    let mut broken = layout.write(&Quiet).unwrap();
    let lost = stage_all(&mut broken)[23].path.clone();
    fs::remove_file(&lost).unwrap();
    let error = broken.commit().unwrap_err().to_string();
    assert!(error.contains("23.parquet"), "{error}");
    assert_eq!(layout.manifest().unwrap().version, 0);
    assert!(
        !dir.path().join("store/usage").exists(),
        "no name is given before every content is safe"
    );
    let mut whole = layout.write(&Quiet).unwrap();
    stage_all(&mut whole);
    whole.commit().unwrap();
    assert_eq!(text(&layout.snapshot().unwrap()), months);
}

#[test]
fn what_is_not_committed_leaves_no_trace() {
    let (dir, layout) = store();
    commit(&layout, "2026-10", "kept");
    let mut transaction = layout.write(&Quiet).unwrap();
    let staged = transaction.stage("usage", &[("month", "2026-11")]).unwrap();
    fs::write(&staged.path, "lost").unwrap();
    drop(transaction);
    assert!(!dir.path().join("store/staging").exists());
    assert_eq!(text(&layout.snapshot().unwrap()), ["kept"]);
}

#[test]
fn leftovers_of_a_dead_writer_are_removed() {
    let (dir, layout) = store();
    commit(&layout, "2026-10", "kept");
    let root = dir.path().join("store");
    fs::create_dir_all(root.join("staging")).unwrap();
    fs::write(root.join("staging/0.parquet"), "half").unwrap();
    fs::create_dir_all(root.join("charges/source=x")).unwrap();
    fs::write(
        root.join("charges/source=x/2-0.parquet"),
        "renamed, manifest not written",
    )
    .unwrap();
    commit(&layout, "2026-11", "next");
    assert!(!root.join("staging").exists() && !root.join("charges").exists());
    assert_eq!(text(&layout.snapshot().unwrap()), ["kept", "next"]);
}

/// Stops at the second question, so that a test need not wait for half a minute.
struct Impatient(std::sync::atomic::AtomicUsize);

impl Progress for Impatient {
    fn at(&self, what: &str, _done: u64, _total: u64) {
        assert!(what.contains("waiting"));
    }
    fn stop(&self) -> bool {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 1
    }
}

#[test]
fn one_writer_at_a_time() {
    let (_dir, layout) = store();
    let first = layout.write(&Quiet).unwrap();
    let second = layout.write(&Impatient(0.into()));
    assert!(matches!(second, Err(StoreError::Stopped)));
    drop(first);
    layout.write(&Quiet).unwrap();
}

#[test]
fn other_versions_and_damage_are_told_apart() {
    let (dir, layout) = store();
    let path = dir.path().join("store/manifest.json");
    commit(&layout, "2026-10", "x");
    let said = |text: &str| {
        fs::write(&path, text).unwrap();
        layout.snapshot().unwrap_err()
    };
    let newer = said(r#"{"schema": 2, "unknown": true}"#);
    assert_eq!(newer.exit_code(), 4);
    assert!(newer.to_string().contains("schema version 2") && newer.to_string().contains("newer Lowwater"));
    assert!(said(r#"{"schema": 0}"#).to_string().contains("older Lowwater"));
    let damaged = said(r#"{"schema": 1, "bil"#);
    assert_eq!(damaged.exit_code(), 3);
    assert!(damaged.to_string().contains("damaged"));
}

#[test]
fn manifest_survives_its_file() {
    let (_dir, layout) = store();
    let mut transaction = layout.write(&Quiet).unwrap();
    transaction.manifest.currency = Some("EUR".into());
    transaction.manifest.extra_columns = vec!["x_Id".into()];
    let written = transaction.commit().unwrap();
    assert_eq!(layout.manifest().unwrap(), written);
}
