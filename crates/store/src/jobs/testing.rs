//! For tests of formats of jobs: what a file gives.

use crate::error::StoreError;
use crate::format::{Decode, Format, JobSink, MetricsOptions};
use crate::input::Input;
use crate::load::Reject;
use lowwater_model::job::JobRun;

/// All that a format hands over.
#[derive(Debug, Default)]
pub(crate) struct TakenRuns {
    pub(crate) runs: Vec<JobRun>,
    pub(crate) rejects: Vec<Reject>,
    pub(crate) warnings: Vec<String>,
}

impl JobSink for TakenRuns {
    fn run(&mut self, run: JobRun) -> Result<(), StoreError> {
        self.runs.push(run);
        Ok(())
    }
    fn reject(&mut self, reject: Reject) {
        self.rejects.push(reject);
    }
    fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }
}

/// Decodes a text as a file of that name.
pub(crate) fn take_jobs(
    format: &Format,
    name: &str,
    text: &str,
    options: &MetricsOptions,
) -> Result<TakenRuns, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, text).unwrap();
    let mut input = Input::open(&path).map_err(|e| e.to_string())?;
    let mut taken = TakenRuns::default();
    let Decode::Jobs(decode) = format.decode else {
        panic!("{} is no format of jobs", format.name)
    };
    decode(&mut input, options, &mut taken).map_err(|e| e.to_string())?;
    Ok(taken)
}
