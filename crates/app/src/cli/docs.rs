//! `lowwater docs` (hidden): the reference pages, made from the registries.

use std::path::PathBuf;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::{reference, whole_file};

/// Write the reference pages (formats, levers, changes, policy, commands, views) into a folder
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub struct Args {
    /// Folder for the pages
    #[arg(value_name = "DIR", default_value = "docs/reference")]
    folder: PathBuf,
}

impl Args {
    pub(super) fn run(&self, _settings: &Settings) -> Result<Outcome, AppError> {
        std::fs::create_dir_all(&self.folder).map_err(AppError::at(&self.folder))?;
        for (name, text) in reference::pages() {
            let path = self.folder.join(name);
            whole_file::write(&path, text)?;
        }
        Ok(Outcome::Done)
    }
}
