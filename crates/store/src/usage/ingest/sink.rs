//! Where decoded samples go, and what is counted on the way.

use std::collections::BTreeSet;

use lowwater_model::policy::Policy;

use super::super::sort::Sorter;
use crate::error::{InputError, StoreError};
use crate::format::{MetricsSink, Sample};
use crate::load::{Progress, Reject, RejectLimit};

/// Rejects that are kept; a load with more has read the wrong file.
const MAX_REJECTS: usize = 100_000;
/// Samples after which progress is told and a stop is asked for.
const POLL_SAMPLES: u64 = 1024;

/// What came beside the samples.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub samples: u64,
    pub rejects: Vec<Reject>,
    reject_count: u64,
    pub warnings: BTreeSet<String>,
}

impl Seen {
    /// A load with too many rejects, or without a sample, has read the wrong file.
    pub(super) fn refuse_nonsense(&self, source: &str, policy: &Policy) -> Result<(), StoreError> {
        // Of more rejects than are kept in memory, none is let pass.
        let limit = if self.reject_count > MAX_REJECTS as u64 {
            RejectLimit::none()
        } else {
            RejectLimit::of(policy)
        };
        limit.check_rows(source, (self.samples, "samples"), (self.reject_count, &self.rejects))?;
        if self.samples == 0 {
            let hint = "docs/reference/formats.md lists the metrics and columns of each format";
            return Err(InputError::new(source, "no file holds a sample of a GPU")
                .hint(hint)
                .into());
        }
        Ok(())
    }
}

/// Takes the samples of one file.
pub(super) struct Sink<'a> {
    pub sorter: &'a mut Sorter,
    pub seen: &'a mut Seen,
    pub progress: &'a dyn Progress,
    /// Tells how far the file is.
    pub tell: &'a dyn Fn(&dyn Progress),
}

impl MetricsSink for Sink<'_> {
    fn sample(&mut self, sample: Sample<'_>) -> Result<(), StoreError> {
        self.seen.samples += 1;
        poll(self.progress, self.seen.samples, self.tell)?;
        self.sorter.push(&sample)
    }

    fn reject(&mut self, reject: Reject) {
        self.seen.reject_count += 1;
        if self.seen.rejects.len() < MAX_REJECTS {
            self.seen.rejects.push(reject);
        }
    }

    fn warn(&mut self, warning: String) {
        self.seen.warnings.insert(warning);
    }
}

/// Now and then: tells how far the load is, and stops it where the user wants that.
pub(super) fn poll(progress: &dyn Progress, count: u64, tell: &dyn Fn(&dyn Progress)) -> Result<(), StoreError> {
    if !count.is_multiple_of(POLL_SAMPLES) {
        return Ok(());
    }
    if progress.stop() {
        return Err(StoreError::Stopped);
    }
    tell(progress);
    Ok(())
}
