//! What ends a command early, and with which exit code.

use std::io;

use lowwater_model::error::ConfigError;
use lowwater_store::error::StoreError;

/// An error of a command.
#[derive(Debug)]
pub enum AppError {
    /// From the store; it knows its exit code.
    Store(StoreError),
    /// The command line asks for something that does not exist (exit 2).
    Usage(String),
    /// What it reads is missing or can't be read (exit 3).
    Input(String),
    /// Possible, but not done (exit 4).
    Refused(String),
    /// Who asks may not (exit 4).
    Denied(String),
    /// The user pressed Ctrl-C between two steps (exit 130).
    Stopped(String),
    /// Standard output is gone or full.
    Output(io::Error),
}

impl AppError {
    /// As documented: 2 usage, 3 bad input, 4 refused, 130 stopped. A closed pipe is nobody's fault.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Store(error) => error.exit_code(),
            Self::Usage(_) => 2,
            Self::Input(_) => 3,
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Refused(_) | Self::Denied(_) | Self::Output(_) => 4,
            Self::Stopped(_) => 130,
        }
    }

    /// What to print on standard error, always with a hint; none where nobody is left to read it.
    pub fn message(&self) -> Option<String> {
        let message = self.what()?;
        if message.contains("\nhint: ") || self.exit_code() == 130 {
            return Some(message);
        }
        Some(format!("{message}\nhint: {}", self.hint()))
    }

    /// For errors that bring no hint of their own.
    fn hint(&self) -> &'static str {
        match self {
            Self::Store(StoreError::Io { source, .. }) | Self::Output(source) => match source.kind() {
                io::ErrorKind::NotFound => "look whether the path is right",
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    "choose a path that you may read and write, or ask its owner"
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space and do the same again",
                _ => "look whether the path is what the command expects there",
            },
            Self::Store(StoreError::Query(_)) => "this is a fault of Lowwater: please report it",
            Self::Store(_) | Self::Input(_) => {
                "look whether the file is there and is what the command expects, then do the same again"
            }
            Self::Usage(_) | Self::Refused(_) | Self::Denied(_) | Self::Stopped(_) => {
                "`lowwater help` lists every command and option"
            }
        }
    }

    fn what(&self) -> Option<String> {
        match self {
            Self::Store(error) => Some(error.to_string()),
            Self::Usage(text) | Self::Input(text) | Self::Refused(text) | Self::Denied(text) | Self::Stopped(text) => {
                Some(text.clone())
            }
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => None,
            Self::Output(error) => Some(format!("standard output: {error}")),
        }
    }

    /// For `map_err` on file operations outside the store.
    pub fn at(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Store(StoreError::Io { path, source })
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<ConfigError> for AppError {
    fn from(error: ConfigError) -> Self {
        Self::Store(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_messages() {
        let refused = StoreError::Refused {
            what: "half the month would go".into(),
            hint: "--replace".into(),
        };
        let cases = [
            (AppError::Usage("u\nhint: h".into()), 2, Some("u\nhint: h")),
            (AppError::Input("i\nhint: h".into()), 3, Some("i\nhint: h")),
            (AppError::Refused("r\nhint: h".into()), 4, Some("r\nhint: h")),
            (AppError::Stopped("s".into()), 130, Some("s")),
            (refused.into(), 4, Some("half the month would go\nhint: --replace")),
            (StoreError::Stopped.into(), 130, Some("stopped; nothing was changed")),
            (
                ConfigError::new("policy.toml", "unknown key").at(3).into(),
                3,
                Some(
                    "policy.toml:3: unknown key\nhint: look whether the file is there and is what the command expects, then do the same again",
                ),
            ),
            (AppError::Output(io::ErrorKind::BrokenPipe.into()), 0, None),
        ];
        for (error, code, message) in cases {
            assert_eq!((error.exit_code(), error.message().as_deref()), (code, message));
        }
        let query = AppError::from(StoreError::Query("no such column".into()));
        assert!(
            query
                .message()
                .is_some_and(|m| m.contains("\nhint: this is a fault of Lowwater"))
        );
        let missing = AppError::at(std::path::Path::new("none"))(io::ErrorKind::NotFound.into());
        assert!(missing.message().is_some_and(|m| m.contains("\nhint: ")));
        for error in [
            AppError::Usage("u".into()),
            AppError::Input("i".into()),
            AppError::Refused("r".into()),
        ] {
            assert!(error.message().is_some_and(|m| m.contains("\nhint: ")), "{error:?}");
        }
        let full = AppError::Output(io::ErrorKind::StorageFull.into());
        assert_eq!(full.exit_code(), 4);
        assert!(full.message().is_some_and(|m| m.starts_with("standard output: ")));
    }
}
