//! Which files a load is of, and what reads each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{LoadRequest, Progress};
use crate::error::{InputError, StoreError};
use crate::format::focus::absent;
use crate::format::{Decode, FORMATS, Format, Head};
use crate::input::{Found, Input, LOOKED_FOR, Stamp, expand};

/// Files left out that an error names.
const SHOWN: usize = 5;

/// A file to load, recognised.
#[derive(Clone)]
pub(crate) struct Listed {
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
    /// As it was before anything of it was read.
    pub(crate) stamp: Stamp,
    pub(crate) sha256: String,
    pub(crate) format: &'static Format,
}

/// All files of a load.
#[derive(Default)]
pub(crate) struct Listing {
    pub(crate) bills: Vec<Listed>,
    pub(crate) metrics: Vec<Listed>,
    pub(crate) jobs: Vec<Listed>,
    pub(crate) prices: Vec<Listed>,
    /// Files in directories that are left out, and why.
    pub(crate) warnings: BTreeSet<String>,
}

impl Listing {
    /// Looks at the beginning of every file. One that no format reads is an error if the user named it.
    pub(crate) fn of(request: &LoadRequest, progress: &dyn Progress) -> Result<Self, StoreError> {
        let expanded = expand(&request.paths)?;
        let found = expanded.files;
        let mut listing = Self::default();
        listing.warnings.extend(expanded.left_out);
        let mut seen: BTreeMap<String, PathBuf> = BTreeMap::new();
        for (at, file) in found.iter().enumerate() {
            if progress.stop() {
                return Err(StoreError::Stopped);
            }
            progress.at("looking at files", at as u64, found.len() as u64);
            let Some(listed) = listing.recognise(file, request)? else {
                continue;
            };
            if let Some(first) = seen.get(&listed.sha256) {
                let (name, first) = (listed.path.display(), first.display());
                let warning = format!("{name} holds the same content as {first}: read once");
                listing.warnings.insert(warning);
                continue;
            }
            seen.insert(listed.sha256.clone(), listed.path.clone());
            match listed.format.decode {
                Decode::Bill(_) => listing.bills.push(listed),
                Decode::Metrics(_) => listing.metrics.push(listed),
                Decode::Jobs(_) => listing.jobs.push(listed),
                Decode::Prices(_) => listing.prices.push(listed),
                Decode::Server => return Err(server_is_no_file(&listed)),
            }
        }
        if listing.is_empty() {
            let paths: Vec<String> = request.paths.iter().map(|p| p.display().to_string()).collect();
            let mut what = "no file that a format reads".to_owned();
            for warning in listing.warnings.iter().take(SHOWN) {
                what = format!("{what}\n  {warning}");
            }
            return Err(InputError::new(paths.join(", "), what).hint(LOOKED_FOR).into());
        }
        Ok(listing)
    }

    /// Refuses what changed since it was listed: its hash is then not that of what was read.
    pub(crate) fn check_unchanged(&self) -> Result<(), StoreError> {
        let files = [&self.bills, &self.metrics, &self.jobs, &self.prices];
        let mut files = files.into_iter().flatten();
        files.try_for_each(|file| file.stamp.check(&file.path))
    }

    fn is_empty(&self) -> bool {
        [&self.bills, &self.metrics, &self.jobs, &self.prices]
            .iter()
            .all(|files| files.is_empty())
    }

    fn recognise(&mut self, file: &Found, request: &LoadRequest) -> Result<Option<Listed>, StoreError> {
        let stamp = Stamp::of(&file.path);
        let input = match Input::open(&file.path) {
            // A README or a picture beside the export is not the export.
            Err(error @ StoreError::Input(_)) if !file.named && !is_named_as_data(&file.path) => {
                let text = error.to_string();
                self.warnings
                    .insert(format!("left out: {}", text.lines().next().unwrap_or_default()));
                return Ok(None);
            }
            other => other?,
        };
        let format = match &request.format {
            Some(name) => Some(by_name(name)?),
            None => FORMATS.iter().find(|format| (format.detects)(&input.head())),
        };
        let Some(format) = format else {
            let error = absent::why_not(&input.head(), input.name()).unwrap_or_else(|| {
                let what = format!("no format reads it; it begins with {}", beginning(&input.head()));
                InputError::new(input.name(), what).hint(known_formats())
            });
            if file.named {
                return Err(error.into());
            }
            self.warnings
                .insert(format!("left out: {}: {}", input.name(), error.what));
            return Ok(None);
        };
        Ok(Some(Listed {
            size: input.size(),
            stamp: stamp?,
            sha256: input.sha256()?,
            path: file.path.clone(),
            format,
        }))
    }
}

/// Is it called as exports are? Then a folder without it is not the whole export.
fn is_named_as_data(path: &Path) -> bool {
    let ending = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
        .to_lowercase();
    ["csv", "gz", "zst", "parquet", "prom"].contains(&ending.as_str())
}

fn server_is_no_file(listed: &Listed) -> StoreError {
    let what = format!("is a file; `--format {}` reads a server", listed.format.name);
    InputError::new(listed.path.display().to_string(), what)
        .hint("name the server, such as `lowwater load http://HOST:9090 --format prometheus`; for a file leave --format out")
        .into()
}

fn by_name(name: &str) -> Result<&'static Format, StoreError> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
        let error = InputError::new("--format", format!("there is no format `{name}`"));
        error.hint(known_formats()).into()
    })
}

fn known_formats() -> String {
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    format!("formats are {}; `--format NAME` names one", names.join(", "))
}

/// The first columns or characters of a file, for a message.
fn beginning(head: &Head<'_>) -> String {
    match head.parquet_columns {
        Some(columns) => format!(
            "the Parquet columns {}",
            columns.iter().take(5).cloned().collect::<Vec<_>>().join(", ")
        ),
        None => format!("`{}`", head.first_line().chars().take(80).collect::<String>()),
    }
}
