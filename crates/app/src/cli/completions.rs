//! `lowwater completions`

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::output;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lowwater completions bash > ~/.local/share/bash-completion/completions/lowwater")]
pub struct Args {
    /// Which shell
    shell: clap_complete::Shell,
}

impl Args {
    pub(super) fn run(&self, _settings: &Settings) -> Result<Outcome, AppError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::definition(), "lowwater", &mut script);
        output::bytes(&script)?;
        Ok(Outcome::Done)
    }
}
