//! What `lowwater init` made.

use serde::Serialize;

use super::next::Next;
use crate::config::Settings;
use crate::output::View;
use crate::screen::{Column, Screen, Table};

/// A data directory that was set up.
#[derive(Debug, Serialize)]
pub struct Created {
    /// The directory.
    pub directory: String,
    /// Its files.
    pub files: Vec<CreatedFile>,
    #[serde(skip)]
    next: Next,
}

/// One of its files.
#[derive(Debug, Serialize)]
pub struct CreatedFile {
    /// In the directory.
    pub name: &'static str,
    /// Written now; else it was there and is as it was.
    pub written: bool,
    /// What it is for.
    pub purpose: &'static str,
}

impl Created {
    /// Without files yet.
    pub fn new(settings: &Settings) -> Self {
        Self {
            directory: settings.data.display().to_string(),
            files: Vec::new(),
            next: Next::new(settings),
        }
    }
}

impl View for Created {
    fn screen(&self) -> Screen {
        let written = self.files.iter().filter(|f| f.written).count();
        let headline = if written == 0 {
            format!("{} was set up before; nothing was changed.", self.directory)
        } else {
            format!(
                "{} is ready: {written} of {} files written, none overwritten.",
                self.directory,
                self.files.len()
            )
        };
        let mut table = Table::new([
            Column::text("file"),
            Column::text("state"),
            Column::text("what it is for"),
        ]);
        for file in &self.files {
            let state = if file.written { "new" } else { "kept" };
            table.row([file.name, state, file.purpose].map(String::from));
        }
        Screen::new(headline).table(table).next([
            (
                self.next.command("load BILL..."),
                "FOCUS 1.0 to 1.4 as CSV, CSV.gz, CSV.zst or Parquet",
            ),
            (
                self.next.command("load METRICS..."),
                "DCGM text, nvidia-smi logs or usage.csv",
            ),
            (self.next.command("doctor"), "what is missing for a better answer"),
        ])
    }
}
