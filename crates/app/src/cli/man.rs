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

/// The page of a command. What the help says at its end is examples, and for the program its exit codes.
fn page(command: clap::Command) -> Result<Vec<u8>, AppError> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(AppError::Output)?;
    let text = String::from_utf8_lossy(&page);
    let text = text.replace("\n.SH EXTRA\n", "\n.SH EXAMPLES\n");
    Ok(text.replace("\nExit codes: ", "\n.SH \"EXIT STATUS\"\n").into_bytes())
}

/// One page for a command, and one for each below it.
fn write(command: &clap::Command, folder: &Path) -> Result<(), AppError> {
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        write(below, folder)?;
    }
    let file = clap_mangen::Man::new(command.clone()).get_filename();
    Ok(whole_file::write(&folder.join(file), page(command.clone())?)?)
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let Some(folder) = &self.folder else {
            output::bytes(&page(super::definition())?)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_have_the_names_that_man_pages_have() {
        let page = String::from_utf8(page(super::super::definition()).unwrap()).unwrap();
        assert!(page.contains("\n.SH EXAMPLES\n") && page.contains("\n.SH \"EXIT STATUS\"\n0 done, 1 findings"), "{page}");
        assert!(!page.contains("EXTRA"), "{page}");
    }
}
