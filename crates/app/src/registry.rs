//! Everything that is registered somewhere, for the commands that list it.

use std::path::Path;

use lowwater_model::policy::{Policy, Section};

use crate::config::Settings;
use crate::error::AppError;

/// The policy sections that levers declare.
pub fn lever_sections() -> Vec<Section> {
    lowwater_engine::lever::sections()
}

/// The policy of the data directory, or of another file; without a file the defaults.
pub fn policy(settings: &Settings, file: Option<&Path>) -> Result<Policy, AppError> {
    let levers = lever_sections();
    let path = file.map_or_else(|| settings.data.join("policy.toml"), Path::to_owned);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Policy::parse(&text, &path.display().to_string(), &levers)?),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && file.is_none() => Ok(Policy::defaults(&levers)),
        Err(e) => Err(AppError::Input(format!(
            "{}: {e}\nhint: name a policy file, such as the one that `lowwater init` writes",
            path.display()
        ))),
    }
}
