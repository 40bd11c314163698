//! `lowwater man`

use std::path::{Path, PathBuf};

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::{output, whole_file};

/// Print the man page, or write one for every command into a folder
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lowwater man ~/.local/share/man/man1")]
pub struct Args {
    /// Folder for lowwater.1, lowwater-load.1 and so on
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// One page for a command, and one for each below it.
fn write(command: &clap::Command, folder: &Path) -> Result<(), AppError> {
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        write(below, folder)?;
    }
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text).map_err(AppError::Output)?;
    Ok(whole_file::write(&folder.join(page.get_filename()), text)?)
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let Some(folder) = &self.folder else {
            let mut page = Vec::new();
            clap_mangen::Man::new(super::definition()).render(&mut page).map_err(AppError::Output)?;
            output::bytes(&page)?;
            return Ok(Outcome::Done);
        };
        std::fs::create_dir_all(folder).map_err(AppError::at(folder))?;
        let mut definition = super::definition().disable_help_subcommand(true);
        definition.build();
        write(&definition, folder)?;
        output::remark(settings, &format!("man pages are in {}", folder.display()));
        Ok(Outcome::Done)
    }
}
