//! A test that reads shared data skips aloud where the data is absent, and fails in CI.

use super::Finding;
use crate::source::{Tree, has_ending};

/// The variable that names the folder, in two halves so that this file passes its own check.
const FOLDER: &str = concat!("LOWWATER_", "SHARED");

pub fn check(tree: &Tree) -> Vec<Finding> {
    let readers = tree.files.iter().filter(|f| has_ending(&f.path, ".rs") && f.text.contains(FOLDER));
    let mut found = Vec::new();
    for file in readers.filter(|f| f.path.starts_with("crates/")) {
        if !file.text.contains("\"skipped: ") {
            found.push(Finding::in_file(&file.path, format!("reads {FOLDER} and never says `skipped: WHAT (no shared data)`")));
        }
        if !file.text.contains("\"CI\"") {
            found.push(Finding::in_file(&file.path, format!("reads {FOLDER} and does not panic where CI is set")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_skip_is_found() {
        let silent = format!("let root = std::env::var_os(\"{FOLDER}\")?;");
        let loud = format!("{silent} assert!(var_os(\"CI\").is_none()); eprintln!(\"skipped: x (no shared data)\");");
        let tree = Tree::of(&[("crates/a/src/a.rs", &silent), ("crates/a/src/b.rs", &loud), ("xtask/src/c.rs", &silent)]);
        let paths: Vec<String> = check(&tree).into_iter().map(|f| f.path).collect();
        assert_eq!(paths, ["crates/a/src/a.rs", "crates/a/src/a.rs"]);
    }
}
