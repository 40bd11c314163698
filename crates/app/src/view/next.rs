//! Commands to type next, as they work from where the user stands.

use crate::config::{Settings, quoted};

/// Knows how this run named its data directory.
#[derive(Clone, Debug, Default)]
pub struct Next {
    option: String,
}

impl Next {
    /// For commands on the same data directory.
    pub fn new(settings: &Settings) -> Self {
        Self {
            option: settings.data_option(),
        }
    }

    /// For commands on another data directory.
    pub fn on(directory: &std::path::Path) -> Self {
        Self {
            option: format!(" --data {}", quoted(&directory.to_string_lossy())),
        }
    }

    /// `lowwater --data DIR report`.
    pub fn command(&self, words: &str) -> String {
        format!("lowwater{} {words}", self.option)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_directory_only_where_it_must() {
        assert_eq!(Next::default().command("plan"), "lowwater plan");
        let there = Next::on(std::path::Path::new("my data/demo"));
        assert_eq!(there.command("show plan"), "lowwater --data 'my data/demo' show plan");
    }
}
