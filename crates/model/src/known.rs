//! A value that may be unknown, with the reason.

use serde::{Deserialize, Serialize};

/// A value, or why there is none. A missing price is unknown, never zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Known<T> {
    /// Known.
    Value(T),
    /// Not known, and why.
    Unknown(String),
}

impl<T> Known<T> {
    /// Unknown, for this reason.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self::Unknown(why.into())
    }

    /// Why it is not known; none where it is.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Value(_) => None,
            Self::Unknown(why) => Some(why),
        }
    }

    /// The value, if known.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }
}

impl<T> From<T> for Known<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}
