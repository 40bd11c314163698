//! Organisations whose truth is known: written as real files, planned like a user's, and scored against that truth.
//!
//! They have other cases than the demo, nasty ones, and vary by seed. What is true of each machine stands in a file
//! outside the data folder, where neither `load` nor `plan` looks.

mod cases;
mod development;
mod files;
mod mig;
mod score;
mod serving;
mod training;
mod truth;

use std::path::Path;

use jiff::Timestamp;
use lowwater_model::period::Period;
use lowwater_store::load::{Existing, LoadRequest};
use lowwater_store::store::Store;

use crate::cli::plan::make;
use crate::demo::clock::{HOURS, second};
use crate::demo::places::CLOUDS;
use crate::demo::{Organisation, commitments, meters, metrics};
use crate::error::AppError;
use crate::progress::Watch;
use crate::{registry, whole_file};

pub use score::{CaseScore, Score};

use truth::Truth;

/// The day of the earlier plan, which is also judged on all that came after it.
const EARLIER_HOUR: usize = 60 * 24;

/// One organisation: written below `dir`, loaded, planned twice, scored.
pub fn run(dir: &Path, seed: u64, watch: &Watch) -> Result<Score, AppError> {
    let data = dir.join("data");
    let written = write(&data, seed)?;
    let file = dir.join("truth.json");
    let text = serde_json::to_string(&written).map_err(|e| AppError::Output(e.into()))?;
    whole_file::write(&file, &text)?;
    let levers = registry::lever_sections();
    let policy = lowwater_store::config::Config::read(&data, &levers)?.policy;
    let paths = ["bills", "metrics", "jobs.csv"].map(|name| data.join(name)).to_vec();
    let request = LoadRequest {
        paths,
        existing: Existing::Replace,
        ..LoadRequest::default()
    };
    lowwater_store::load::load(&data, &request, &policy, watch)?;
    let store = Store::open(&data, &levers)?;
    let text = std::fs::read_to_string(&file).map_err(AppError::at(&file))?;
    let truth: Truth = serde_json::from_str(&text).map_err(|e| AppError::Output(e.into()))?;
    let at = |hour: usize| Timestamp::from_second(second(hour)).unwrap_or_default();
    let latest = make(&store, None)?;
    let earlier = make(&store, Some(at(EARLIER_HOUR)))?;
    let after = Period {
        start: at(EARLIER_HOUR),
        end: at(HOURS),
    };
    let mut score = Score::new(seed, &truth);
    score.plan(&latest, latest.period);
    score.plan(&earlier, after);
    score.found(&latest);
    score.allocation(&store)?;
    Ok(score)
}

/// Writes the files of a user, and gives what is true.
fn write(data: &Path, seed: u64) -> Result<Truth, AppError> {
    let planted = cases::planted(seed);
    let machines: Vec<_> = planted.iter().map(|p| p.machine.clone()).collect();
    let organisation = Organisation {
        seed,
        meters: meters::meters(seed, &machines),
        commitments: commitments::commitments(&crate::demo::places::GCP),
        unbilled: Vec::new(),
        chat_requests: Vec::new(),
        machines,
    };
    let metrics = data.join("metrics");
    std::fs::create_dir_all(&metrics).map_err(AppError::at(&metrics))?;
    files::write(data, seed, &planted)?;
    let mut truth = Truth::of(&planted);
    for cloud in CLOUDS {
        organisation.write_bills(cloud, data, |charge, of| truth.paid(charge, of))?;
    }
    whole_file::fill(&metrics.join("usage.csv"), |new| {
        metrics::write_usage(&organisation, new)
    })?;
    whole_file::fill(&metrics.join("mig.prom"), |new| mig::write(&planted, new))?;
    Ok(truth)
}

#[cfg(test)]
mod tests;
