//! Errors of the files that a user writes.

/// A configuration file that can't be taken, with the place and a hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {what}{}", .line.map(|l| format!(":{l}")).unwrap_or_default(), .hint.as_ref().map(|h| format!("\nhint: {h}")).unwrap_or_default())]
pub struct ConfigError {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: Option<String>,
}

impl ConfigError {
    /// Somewhere in the file.
    pub fn new(file: &str, what: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: None,
            what: what.into(),
            hint: None,
        }
    }

    /// At a line (from 1).
    #[must_use]
    pub fn at(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// With advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// From the TOML reader, with its place.
    pub fn toml(file: &str, error: &toml::de::Error) -> Self {
        Self::new(file, error.to_string().trim_end().to_owned())
    }
}
