//! `unwrap` and `expect` are for tests. Clippy finds them too, unless somebody allows them.

use super::Finding;
use crate::source::Tree;

const CALLS: [&str; 5] = [".unwrap()", ".expect(", ".unwrap_err()", ".expect_err(", "clippy::unwrap_used"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in &tree.rust {
        for (number, line) in file.production_code() {
            let call = CALLS.iter().find(|call| line.contains(**call));
            found.extend(call.map(|c| Finding::at(&file.path, number, format!("`{c}` outside tests: return an error"))));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_production_code_is_judged() {
        let text = "let a = b.unwrap();\nlet c = d.unwrap_or(1); // .unwrap()\nlet s = \".unwrap()\";\n#[test]\nfn t() { e.unwrap(); }\n";
        let found = check(&Tree::of(&[("a.rs", text), ("tests/b.rs", text)]));
        assert_eq!(found, [Finding::at("a.rs", 1, "`.unwrap()` outside tests: return an error")]);
    }
}
