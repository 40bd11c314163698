//! `lowwater policy`

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::view::policy::EffectivePolicy;
use crate::{output, registry};

/// Show the limits that hold: every policy key, its value, and whether you changed it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only keys whose value differs from the default
    #[arg(long)]
    changed: bool,
    /// Read this file instead of DIR/policy.toml
    #[arg(long, value_name = "FILE")]
    policy: Option<std::path::PathBuf>,
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let levers = registry::lever_sections();
        let policy = registry::policy(settings, self.policy.as_deref())?;
        output::show(settings, &EffectivePolicy::new(&policy, &levers, self.changed))?;
        Ok(Outcome::Done)
    }
}
