//! At the root lies only what belongs there: a note or a result left behind is found.

use std::collections::BTreeSet;

use super::Finding;
use crate::source::Tree;

const ENTRIES: [&str; 19] = [
    ".cargo",
    ".ci",
    ".config",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "bench",
    "clippy.toml",
    "crates",
    "designs",
    "docs",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "xtask",
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let first = tree.files.iter().filter_map(|f| f.path.split('/').next());
    let entries: BTreeSet<&str> = first.collect();
    let strays = entries.into_iter().filter(|entry| !ENTRIES.contains(entry));
    strays.map(|stray| Finding::in_file(stray, "does not belong at the root (or into the list of this check)")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_at_the_root_is_found() {
        let tree = Tree::of(&[("README.md", ""), ("crates/a/src/note.txt", ""), ("note.txt", ""), ("tmp/a", ""), ("tmp/b", "")]);
        let paths: Vec<String> = check(&tree).into_iter().map(|f| f.path).collect();
        assert_eq!(paths, ["note.txt", "tmp"]);
    }
}
