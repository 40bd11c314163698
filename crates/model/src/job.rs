//! Runs of jobs, as schedulers record them.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::charge::focus_enum;
use crate::offer::Market;

focus_enum! {
    /// How a run ended.
    ExitState {
        /// Did its work.
        Completed = "completed",
        /// Ended with an error of its own.
        Failed = "failed",
        /// Somebody stopped it.
        Cancelled = "cancelled",
        /// Ran out of its time limit.
        Timeout = "timeout",
        /// Ran out of memory.
        OutOfMemory = "out_of_memory",
        /// Its machine failed.
        NodeFail = "node_fail",
        /// Its machine was taken away: evicted, interrupted, preempted.
        Preempted = "preempted",
        /// Goes on as another run.
        Requeued = "requeued",
        /// Has not ended.
        Running = "running",
        /// Has not begun.
        Pending = "pending",
        /// Nobody said, or in words that nobody knows.
        Unknown = "unknown",
    }
}

impl ExitState {
    /// A state as schedulers write it: `COMPLETED`, `CANCELLED by 1000`, `Succeeded`, `evicted`.
    pub fn read(text: &str) -> Self {
        let word = text.trim().to_lowercase();
        let word = word.split([' ', '+']).next().unwrap_or_default();
        match word {
            "completed" | "succeeded" | "success" | "ok" | "0" => Self::Completed,
            "failed" | "error" | "boot_fail" | "launch_failed" | "deadline" => Self::Failed,
            "cancelled" | "canceled" | "revoked" | "stopped" => Self::Cancelled,
            "timeout" | "timed_out" => Self::Timeout,
            "out_of_memory" | "oom" | "oomkilled" => Self::OutOfMemory,
            "node_fail" | "node_failed" => Self::NodeFail,
            "preempted" | "evicted" | "interrupted" | "spot_interrupted" => Self::Preempted,
            "requeued" | "requeue" | "resizing" => Self::Requeued,
            "running" | "completing" | "suspended" => Self::Running,
            "pending" | "configuring" => Self::Pending,
            _ => Self::Unknown,
        }
    }
}

/// One run of a job: a job that is requeued has several. Missing is unknown, never 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRun {
    /// Id in its scheduler.
    pub job: String,
    /// Workload, where the record names one; else its name or partition.
    pub workload: Option<String>,
    /// When it was asked for.
    pub submitted: Option<Timestamp>,
    /// When it began; none = it did not.
    pub start: Option<Timestamp>,
    /// When it ended; none = it runs.
    pub end: Option<Timestamp>,
    /// Instance type or accelerator.
    pub sku: Option<String>,
    /// Instances of the type, or accelerators where `sku` names one.
    pub count: Option<f64>,
    /// Accelerators in all.
    pub gpus: Option<f64>,
    /// Region.
    pub region: Option<String>,
    /// Terms.
    pub market: Option<Market>,
    /// How it ended.
    pub exit: ExitState,
    /// Checkpoints that it wrote.
    pub checkpoints: Option<u32>,
    /// When it wrote the last one.
    pub last_checkpoint: Option<Timestamp>,
    /// Restarts that the scheduler counts in this run.
    pub restarts: Option<u32>,
    /// Hosts that it ran on; empty = nobody said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
}

impl JobRun {
    /// GPU-hours until it ended, or until `now` while it runs; none where the number of GPUs or the start is not known.
    pub fn gpu_hours(&self, now: Timestamp) -> Option<f64> {
        let start = self.start?;
        let end = self.end.unwrap_or(now).max(start);
        Some(self.gpus? * end.duration_since(start).as_secs_f64() / 3600.0)
    }

    /// Hours between asking and beginning.
    pub fn queue_wait_hours(&self) -> Option<f64> {
        let waited = self.start?.duration_since(self.submitted?).as_secs_f64();
        (waited >= 0.0).then_some(waited / 3600.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_schedulers() {
        for (text, state) in [
            ("COMPLETED", ExitState::Completed),
            ("CANCELLED by 1000", ExitState::Cancelled),
            ("CANCELLED+", ExitState::Cancelled),
            ("NODE_FAIL", ExitState::NodeFail),
            ("PREEMPTED", ExitState::Preempted),
            ("OUT_OF_MEMORY", ExitState::OutOfMemory),
            ("Succeeded", ExitState::Completed),
            ("", ExitState::Unknown),
            ("fine", ExitState::Unknown),
        ] {
            assert_eq!(ExitState::read(text), state, "{text}");
        }
        for state in ExitState::ALL {
            assert_eq!(ExitState::read(state.as_str()), *state);
        }
    }

    #[test]
    fn hours_are_unknown_where_something_is() {
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        let run = JobRun {
            job: "1".into(),
            workload: None,
            submitted: at("2026-10-01T00:00:00Z"),
            start: at("2026-10-01T00:30:00Z"),
            end: None,
            sku: None,
            count: None,
            gpus: Some(8.0),
            region: None,
            market: None,
            exit: ExitState::Running,
            checkpoints: None,
            last_checkpoint: None,
            restarts: None,
            nodes: vec![],
        };
        let now = at("2026-10-01T02:30:00Z").unwrap();
        assert_eq!((run.gpu_hours(now), run.queue_wait_hours()), (Some(16.0), Some(0.5)));
        let ended = JobRun {
            end: at("2026-10-01T01:00:00Z"),
            ..run.clone()
        };
        assert_eq!(ended.gpu_hours(now), Some(4.0));
        assert_eq!(
            JobRun {
                gpus: None,
                ..run.clone()
            }
            .gpu_hours(now),
            None
        );
        let early = JobRun {
            submitted: at("2026-10-01T01:00:00Z"),
            ..run
        };
        assert_eq!(early.queue_wait_hours(), None, "a clock that went back says nothing");
    }
}
