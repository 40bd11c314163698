//! What became of jobs: GPU-hours by exit state, how long they waited, how often they began again.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lowwater_model::job::{ExitState, JobRun};
use serde::Serialize;

use crate::amount::{plural, quantity, share};
use crate::screen::{Column, Screen, Table};

/// The jobs that began before an instant.
#[derive(Debug, PartialEq, Serialize)]
pub struct JobsView {
    /// Runs of jobs.
    pub runs: usize,
    /// Jobs: one that is requeued has several runs.
    pub jobs: usize,
    /// GPU-hours by how the run ended; of those that run, until now.
    pub gpu_hours: BTreeMap<ExitState, f64>,
    /// Runs whose GPUs or whose start nobody says: they are in no sum.
    pub runs_without_gpu_hours: usize,
    /// Hours from submission to start; null where no run says both.
    pub queue_wait_hours: Option<Waits>,
    /// Starts after the first.
    pub requeues: u64,
}

/// How long runs waited, in hours.
#[derive(Debug, PartialEq, Serialize)]
pub struct Waits {
    /// Half wait less.
    pub p50: f64,
    /// Nineteen of twenty wait less.
    pub p95: f64,
    /// The longest.
    pub max: f64,
    /// Runs that say both times.
    pub runs: usize,
}

impl JobsView {
    /// None where no job is loaded.
    pub fn new(runs: &[JobRun], now: Timestamp) -> Option<Self> {
        if runs.is_empty() {
            return None;
        }
        let mut gpu_hours: BTreeMap<ExitState, f64> = BTreeMap::new();
        let mut starts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut restarts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut unknown = 0;
        for run in runs {
            match run.gpu_hours(now) {
                Some(hours) => *gpu_hours.entry(run.exit).or_default() += hours,
                None => unknown += 1,
            }
            *starts.entry(&run.job).or_default() += u64::from(run.start.is_some());
            let counted = restarts.entry(&run.job).or_default();
            *counted = (*counted).max(u64::from(run.restarts.unwrap_or(0)));
        }
        // A scheduler that counts restarts may list each run as well: the larger number holds both.
        let requeues = starts
            .iter()
            .map(|(job, starts)| starts.saturating_sub(1).max(restarts[job]))
            .sum();
        Some(Self {
            runs: runs.len(),
            jobs: starts.len(),
            gpu_hours: gpu_hours
                .into_iter()
                .map(|(state, hours)| (state, (hours * 1e6).round() / 1e6))
                .collect(),
            runs_without_gpu_hours: unknown,
            queue_wait_hours: waits(runs),
            requeues,
        })
    }

    /// A screen with this under what it has.
    pub fn under(&self, screen: Screen) -> Screen {
        let all: f64 = self.gpu_hours.values().sum();
        let mut table = Table::new([
            Column::text("jobs ended as"),
            Column::number("GPU-hours"),
            Column::number("share"),
        ]);
        for (state, hours) in &self.gpu_hours {
            let part = if all > 0.0 {
                share(hours / all)
            } else {
                "unknown".into()
            };
            table.row([state.as_str().replace('_', " "), quantity(*hours), part]);
        }
        screen.title("Jobs").table(table).text(self.sentence())
    }

    fn sentence(&self) -> String {
        let waits = self.queue_wait_hours.as_ref().map_or_else(
            || "how long they waited is unknown".to_owned(),
            |w| {
                let known = match w.runs {
                    all if all == self.runs => String::new(),
                    some => format!("of the {} that say it, ", plural(some as u64, "run")),
                };
                let (half, most) = (waited(w.p50), waited(w.p95));
                format!("{known}half waited {half} or less, nineteen of twenty {most} or less")
            },
        );
        let unknown = match self.runs_without_gpu_hours {
            0 => String::new(),
            n => format!("; the GPU-hours of {} are unknown", plural(n as u64, "run")),
        };
        format!(
            "{} of {}; {waits}; {}{unknown}.",
            plural(self.runs as u64, "run"),
            plural(self.jobs as u64, "job"),
            plural(self.requeues, "requeue")
        )
    }
}

fn waits(runs: &[JobRun]) -> Option<Waits> {
    let mut hours: Vec<f64> = runs.iter().filter_map(JobRun::queue_wait_hours).collect();
    hours.sort_by(f64::total_cmp);
    // The smallest wait that the share of the runs does not exceed.
    let at = |q: f64| {
        let rank = (q * hours.len() as f64).ceil() as usize;
        Some((hours.get(rank.max(1) - 1)? * 1e6).round() / 1e6)
    };
    Some(Waits {
        p50: at(0.5)?,
        p95: at(0.95)?,
        max: at(1.0)?,
        runs: hours.len(),
    })
}

/// Hours, or minutes where there are few of them.
fn waited(hours: f64) -> String {
    if hours < 1.0 {
        format!("{:.0} minutes", hours * 60.0)
    } else {
        format!("{hours:.1} hours")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;

    fn run(job: &str, start_hour: i64, hours: i64, exit: ExitState) -> JobRun {
        let at = |hour: i64| Timestamp::from_second(1_790_000_000 + hour * 3600).ok();
        JobRun {
            job: job.into(),
            workload: None,
            submitted: at(0),
            start: at(start_hour),
            end: at(start_hour + hours),
            sku: None,
            count: None,
            gpus: Some(8.0),
            region: None,
            market: None,
            exit,
            checkpoints: None,
            last_checkpoint: None,
            restarts: None,
            nodes: vec![],
        }
    }

    #[test]
    fn hours_by_exit_state_waits_and_requeues() {
        let runs = [
            run("a", 1, 2, ExitState::Preempted),
            run("a", 4, 5, ExitState::Completed),
            JobRun {
                restarts: Some(3),
                ..run("b", 2, 1, ExitState::Failed)
            },
            JobRun {
                gpus: None,
                ..run("c", 3, 1, ExitState::Completed)
            },
        ];
        let view = JobsView::new(&runs, Timestamp::UNIX_EPOCH).unwrap();
        let hours: Vec<_> = view.gpu_hours.iter().map(|(s, h)| (s.as_str(), *h)).collect();
        assert_eq!(hours, [("completed", 40.0), ("failed", 8.0), ("preempted", 16.0)]);
        assert_eq!(
            (view.runs, view.jobs, view.runs_without_gpu_hours, view.requeues),
            (4, 3, 1, 4)
        );
        assert_eq!(
            view.queue_wait_hours,
            Some(Waits {
                p50: 2.0,
                p95: 4.0,
                max: 4.0,
                runs: 4
            })
        );
        let text = view.under(Screen::new("Report")).render(200, Paint::new(false));
        assert!(
            text.contains("half waited 2.0 hours or less, nineteen of twenty 4.0 hours or less; 4 requeues; the")
                && text.contains("GPU-hours of 1 run are unknown."),
            "{text}"
        );
        assert!(text.contains("62.5 %"), "{text}");
    }

    #[test]
    fn no_jobs_are_no_section_and_unknown_waits_are_unknown() {
        assert_eq!(JobsView::new(&[], Timestamp::UNIX_EPOCH), None);
        let runs = [JobRun {
            submitted: None,
            ..run("a", 1, 1, ExitState::Running)
        }];
        let view = JobsView::new(&runs, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(view.queue_wait_hours, None);
        assert!(view.sentence().contains("how long they waited is unknown"));
    }
}
