//! What can go wrong in the store, with the place, the value and what to do.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lowwater_model::error::ConfigError;

/// A store error. Its kind decides the exit code of the program.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file that can't be taken.
    #[error(transparent)]
    Input(Box<InputError>),
    /// A configuration file that can't be taken.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Possible, but not done: it would lose something, or another process holds the lock.
    #[error("{what}\nhint: {hint}")]
    Refused {
        /// What was refused and why.
        what: String,
        /// What to do.
        hint: String,
    },
    /// The file system said no.
    #[error(
        "{}: {source}{}", .path.display(),
        advice(.source.kind()).map(|hint| format!("\nhint: {hint}")).unwrap_or_default()
    )]
    Io {
        /// Where.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// The query engine said no: a fault of ours.
    #[error("query failed: {0}")]
    Query(String),
    /// The user pressed Ctrl-C. The store is as it was.
    #[error("stopped; nothing was changed")]
    Stopped,
    /// The user pressed Ctrl-C after a part was committed.
    #[error("stopped; {kept}")]
    StoppedAfter {
        /// What is kept.
        kept: String,
    },
}

/// What to do about an error of the file system, where that is not plain.
pub(crate) fn advice(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::NotFound => Some("is the name right, seen from the folder that you are in?"),
        ErrorKind::PermissionDenied => Some("you have no right to it: change its rights, or name another place"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some(
            "no space is left there: free some, or name another data folder with --data; what was there is unchanged",
        ),
        ErrorKind::ReadOnlyFilesystem => Some("nothing can be written there: name another data folder with --data"),
        _ => None,
    }
}

/// The place of a fault in an input file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{file}{}{}: {what}{}{}",
    .row.map(|r| format!(":{r}")).unwrap_or_default(),
    .column.as_ref().map(|c| format!(":{c}")).unwrap_or_default(),
    .value.as_ref().map(|v| format!(" (value `{v}`)")).unwrap_or_default(),
    .hint.as_ref().map(|h| format!("\nhint: {h}")).unwrap_or_default()
)]
pub struct InputError {
    /// The file as the user named it.
    pub file: String,
    /// Line of a text file, the header on line 1; row of a Parquet file, from 1.
    pub row: Option<u64>,
    /// Column.
    pub column: Option<String>,
    /// Value, cut short.
    pub value: Option<String>,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: Option<String>,
}

impl InputError {
    /// Somewhere in the file.
    pub fn new(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            row: None,
            column: None,
            value: None,
            what: what.into(),
            hint: None,
        }
    }

    /// With advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// At a line of a text file, or a row of a Parquet file.
    #[must_use]
    pub fn row(mut self, row: u64) -> Self {
        self.row = Some(row);
        self
    }
}

impl From<InputError> for StoreError {
    fn from(error: InputError) -> Self {
        Self::Input(Box::new(error))
    }
}

impl From<datafusion::error::DataFusionError> for StoreError {
    fn from(error: datafusion::error::DataFusionError) -> Self {
        Self::Query(error.strip_backtrace())
    }
}

impl From<datafusion::arrow::error::ArrowError> for StoreError {
    fn from(error: datafusion::arrow::error::ArrowError) -> Self {
        Self::Query(error.to_string())
    }
}

impl StoreError {
    /// For `map_err` on file operations.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// A file of the store that can't be read any more.
    pub fn damaged(path: &Path, why: impl std::fmt::Display) -> Self {
        Self::Refused {
            what: format!("{}: this file of the store is damaged: {why}", path.display()),
            hint: "load its month again with `--replace` (the month and the source stand in its path), or restore the \
                   file from a backup"
                .into(),
        }
    }

    /// 3 = bad input, 4 = refused; 130 = stopped, as shells expect after Ctrl-C.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) | Self::Config(_) => 3,
            Self::Refused { .. } | Self::Io { .. } | Self::Query(_) => 4,
            Self::Stopped | Self::StoppedAfter { .. } => 130,
        }
    }
}
