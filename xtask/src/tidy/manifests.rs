//! Every crate takes edition, licence and lints from the workspace.

use super::Finding;
use crate::source::Tree;

const NEEDS: [&str; 5] =
    ["edition.workspace = true", "license.workspace = true", "publish.workspace = true", "[lints]\nworkspace = true", "description = \""];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    let members = tree.files.iter().filter(|f| f.path.ends_with("/Cargo.toml"));
    for file in members {
        let lacks = NEEDS.iter().filter(|need| !file.text.contains(**need));
        found.extend(lacks.map(|need| Finding::in_file(&file.path, format!("lacks `{}`", need.replace('\n', " ")))));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_with_lints_of_its_own_is_found() {
        let text = "edition.workspace = true\nlicense.workspace = true\npublish.workspace = true\ndescription = \"d\"\n[lints.clippy]\npedantic = \"allow\"\n";
        let found = check(&Tree::of(&[("crates/x/Cargo.toml", text)]));
        assert_eq!(found, [Finding::in_file("crates/x/Cargo.toml", "lacks `[lints] workspace = true`")]);
    }
}
