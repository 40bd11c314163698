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
            Self::Refused(_) | Self::Output(_) => 4,
            Self::Stopped(_) => 130,
        }
    }

    /// What to print on standard error; none where nobody is left to read it.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Store(error) => Some(error.to_string()),
            Self::Usage(text) | Self::Input(text) | Self::Refused(text) | Self::Stopped(text) => Some(text.clone()),
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
            (AppError::Usage("u".into()), 2, Some("u")),
            (AppError::Input("i".into()), 3, Some("i")),
            (AppError::Refused("r".into()), 4, Some("r")),
            (AppError::Stopped("s".into()), 130, Some("s")),
            (refused.into(), 4, Some("half the month would go\nhint: --replace")),
            (StoreError::Stopped.into(), 130, Some("stopped; nothing was changed")),
            (
                ConfigError::new("policy.toml", "unknown key").at(3).into(),
                3,
                Some("policy.toml:3: unknown key"),
            ),
            (AppError::Output(io::ErrorKind::BrokenPipe.into()), 0, None),
        ];
        for (error, code, message) in cases {
            assert_eq!((error.exit_code(), error.message().as_deref()), (code, message));
        }
        let full = AppError::Output(io::ErrorKind::StorageFull.into());
        assert_eq!(full.exit_code(), 4);
        assert!(full.message().is_some_and(|m| m.starts_with("standard output: ")));
    }
}
