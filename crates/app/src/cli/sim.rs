//! `lowwater sim` (hidden): organisations whose truth is known, planned and scored.

use std::path::PathBuf;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::progress::Watch;
use crate::view::sim::SimView;
use crate::{output, sim};

/// Write organisations whose truth is known, plan them, and score the plans against it
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub struct Args {
    /// Empty folder for their files, a folder a seed
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Seed of the first
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    seed: u64,
    /// How many
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    seeds: u64,
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let watch = Watch::new(settings);
        let mut scores = Vec::new();
        for seed in self.seed..self.seed.saturating_add(self.seeds) {
            watch.step(&format!("seed {seed}"));
            let dir = self.folder.join(format!("seed-{seed}"));
            std::fs::create_dir_all(&dir).map_err(AppError::at(&dir))?;
            scores.push(sim::run(&dir, seed, &watch)?);
        }
        drop(watch);
        let view = SimView { scores };
        output::show(settings, &view)?;
        Ok(if view.is_good() { Outcome::Done } else { Outcome::Findings })
    }
}
