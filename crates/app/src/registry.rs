//! Everything that is registered somewhere, for the commands that list it.

use std::path::Path;

use lowwater_model::policy::{Policy, Section};
use lowwater_store::input::read_settings;
use lowwater_store::layout::check_data_dir;

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
    if file.is_none() {
        check_data_dir(&settings.data)?;
    }
    let name = path.display().to_string();
    match read_settings(&path, &name)? {
        Some(text) => Ok(Policy::parse(&text, &name, &levers)?),
        None if file.is_none() => Ok(Policy::defaults(&levers)),
        None => Err(AppError::Input(format!(
            "{name}: there is no such file\nhint: name a policy file, such as the one that `lowwater init` writes"
        ))),
    }
}
