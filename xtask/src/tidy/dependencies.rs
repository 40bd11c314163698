//! Every dependency in the root Cargo.toml says above it why it is here.

use super::Finding;
use crate::source::Tree;

pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(manifest) = tree.file("Cargo.toml") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut inside = false;
    let mut reason = false;
    for (number, line) in manifest.lines() {
        let line = line.trim();
        if line.starts_with('[') {
            inside = line == "[workspace.dependencies]";
        }
        // The project's own crates need no reason.
        let external = inside && line.contains('=') && !line.starts_with('#') && !line.contains("path =");
        if external && !reason {
            let name = line.split('=').next().unwrap_or_default().trim();
            found.push(Finding::at(&manifest.path, number, format!("`{name}` has no comment above that says why")));
        }
        reason = line.starts_with('#');
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        let text = "[workspace.dependencies]\nmine = { path = \"x\" }\n# files\nserde = \"1\"\ntoml = \"1\"\n[profile.dev]\ndebug = false\n";
        let found = check(&Tree::of(&[("Cargo.toml", text)]));
        assert_eq!(found, [Finding::at("Cargo.toml", 5, "`toml` has no comment above that says why")]);
    }
}
