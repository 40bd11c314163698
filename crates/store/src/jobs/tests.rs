use std::path::Path;

use lowwater_model::policy::Policy;

use super::*;
use crate::load::{LoadReport, Quiet, load};

struct Lab(tempfile::TempDir);

impl Lab {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    fn load(&self, name: &str, text: &str) -> Result<LoadReport, String> {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        self.load_path(&path)
    }

    fn load_path(&self, path: &Path) -> Result<LoadReport, String> {
        let request = LoadRequest {
            paths: vec![path.to_owned()],
            tz: Some("UTC".into()),
            ..LoadRequest::default()
        };
        load(&self.data(), &request, &Policy::defaults(&[]), &Quiet).map_err(|e| e.to_string())
    }

    fn jobs(&self, until: &str) -> Vec<JobRun> {
        let store = Store::open(&self.data(), &[]).unwrap();
        store.jobs(until.parse().unwrap()).unwrap()
    }
}

const HEADER: &str =
    "job,workload,start,end,sku,count,region,market,exit_state,checkpoints,last_checkpoint,submitted\n";

#[test]
fn what_is_read_comes_back() {
    let lab = Lab::new();
    let text = format!(
        "{HEADER}a,bert,2026-10-01T00:30:00Z,2026-10-02T00:00:00Z,p4d.24xlarge,0.5,us-east-1,spot,evicted,4,2026-10-01T23:00:00Z,2026-10-01T00:00:00Z\n\
         b,,2026-11-01T00:00:00Z,,,,,,,,,\n"
    );
    let report = lab.load("jobs.csv", &text).unwrap();
    let months: Vec<_> = report
        .units
        .iter()
        .map(|u| (u.kind, u.month.as_str(), u.rows))
        .collect();
    assert_eq!(months, [("jobs", "2026-10", 1), ("jobs", "2026-11", 1)]);
    let jobs = lab.jobs("2027-01-01T00:00:00Z");
    let first = &jobs[0];
    assert_eq!(
        (first.gpus, first.count, first.market),
        (Some(4.0), Some(0.5), Some(Market::Spot))
    );
    assert_eq!(
        (first.exit, first.checkpoints, first.queue_wait_hours()),
        (ExitState::Preempted, Some(4), Some(0.5))
    );
    assert_eq!(
        (jobs[1].exit, jobs[1].end, jobs[1].gpus),
        (ExitState::Running, None, None)
    );
    assert_eq!(
        lab.jobs("2026-10-15T00:00:00Z").len(),
        1,
        "nothing after the instant is known"
    );
}

#[test]
fn a_later_record_takes_the_place_of_the_earlier_and_the_same_file_changes_nothing() {
    let lab = Lab::new();
    let running = format!("{HEADER}a,w,2026-10-01T00:00:00Z,,H100,8,,,,,,\nb,w,2026-10-02T00:00:00Z,,H100,8,,,,,,\n");
    lab.load("one.csv", &running).unwrap();
    assert!(lab.load("same.csv", &running).unwrap().unchanged);
    let ended = format!("{HEADER}a,w,2026-10-01T00:00:00Z,2026-10-01T04:00:00Z,H100,8,,,failed,,,\n");
    let report = lab.load("two.csv", &ended).unwrap();
    assert_eq!(report.units[0].rows, 2);
    let jobs = lab.jobs("2027-01-01T00:00:00Z");
    let told: Vec<_> = jobs.iter().map(|run| (run.job.as_str(), run.exit)).collect();
    assert_eq!(told, [("a", ExitState::Failed), ("b", ExitState::Running)]);
}

#[test]
fn bad_rows_are_kept_aside_and_a_file_without_a_run_is_refused() {
    let lab = Lab::new();
    let text = format!("{HEADER}a,w,2026-10-01T00:00:00Z,,H100,8,,,,,,\n,w,2026-10-01T00:00:00Z,,,,,,,,,\n");
    let report = lab.load("jobs.csv", &text).unwrap();
    assert_eq!((report.units[0].rows, report.units[0].rejects), (1, 1));
    let rejects = Store::open(&lab.data(), &[]).unwrap().rejects().unwrap();
    assert_eq!((rejects[0].row, rejects[0].column.as_str()), (3, "job"));
    let error = lab
        .load("bad.csv", &format!("{HEADER},w,2026-10-01T00:00:00Z,,,,,,,,,\n"))
        .unwrap_err();
    assert!(
        error.contains("no run of a job that can be taken") && error.contains("hint:"),
        "{error}"
    );
}

#[test]
fn accounting_of_slurm_is_known_by_its_header() {
    let lab = Lab::new();
    let text = "JobID|JobName|State|Submit|Start|End|AllocTRES\n7|x|COMPLETED|2026-10-01T00:00:00|2026-10-01T01:00:00|2026-10-01T02:00:00|gres/gpu=4\n";
    let report = lab.load("sacct.txt", text).unwrap();
    assert_eq!((report.units[0].source.as_str(), report.units[0].rows), ("sacct", 1));
    assert_eq!(
        lab.jobs("2027-01-01T00:00:00Z")[0].gpu_hours(Timestamp::UNIX_EPOCH),
        Some(4.0)
    );
}

#[test]
fn a_file_of_faults_is_not_loaded() {
    let lab = Lab::new();
    let good = "a,,2026-10-01T00:00:00Z,2026-10-01T01:00:00Z,,,,,,,,\n";
    let bad = "b,,2026-10-01T02:00:00Z,2026-10-01T01:00:00Z,,,,,,,,\n";
    let error = lab
        .load("jobs.csv", &format!("{HEADER}{good}{}", bad.repeat(6)))
        .unwrap_err();
    assert!(
        error.contains("6 of 7 runs are faulty") && error.contains("jobs.csv:3:end") && error.contains("hint:"),
        "{error}"
    );
    assert_eq!(
        lab.load("jobs.csv", &format!("{HEADER}{good}{bad}")).unwrap().units[0].rejects,
        1,
        "a few go free"
    );
}
