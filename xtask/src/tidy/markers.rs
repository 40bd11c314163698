//! Nothing unfinished: no markers in comments or prose, no `dbg!`, no ignored tests without a reason.

use super::Finding;
use crate::source::Tree;
use crate::source::function::words;

const MARKERS: [&str; 4] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
const CALLS: [&str; 3] = ["dbg", "todo", "unimplemented"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in &tree.rust {
        for (number, line) in file.comment_lines() {
            found.extend(marker(line).map(|m| unfinished(&file.path, number, m)));
        }
        for (number, line) in file.code.lines().enumerate() {
            let called = CALLS.iter().filter(|call| line.contains(&format!("{call}!(")) && words(line, call).next().is_some());
            found.extend(called.map(|call| unfinished(&file.path, number + 1, call)));
            if line.trim() == "#[ignore]" {
                found.push(Finding::at(&file.path, number + 1, "an ignored test says why: #[ignore = \"...\"]"));
            }
        }
    }
    for file in tree.files.iter().filter(|f| is_prose(&f.path)) {
        for (number, line) in file.lines() {
            found.extend(marker(line).map(|m| unfinished(&file.path, number, m)));
        }
    }
    found
}

fn is_prose(path: &str) -> bool {
    [".md", ".sql", ".toml", ".sh", ".ci/run"].iter().any(|ending| path.ends_with(ending))
}

fn marker(line: &str) -> Option<&'static str> {
    MARKERS.into_iter().find(|m| words(line, m).next().is_some())
}

fn unfinished(path: &str, line: usize, marker: &str) -> Finding {
    Finding::at(path, line, format!("`{marker}` marks something unfinished: finish it, or take it out"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_found_in_comments_code_and_prose_but_not_in_strings() {
        let rust = format!("// {} later\nfn f() {{ dbg!(x); }}\nlet s = \"{0}\";\n#[ignore]\n", MARKERS[0]);
        let prose = format!("fine\n{}: write this\n", MARKERS[1]);
        let tree = Tree::of(&[("a.rs", &rust), ("b.md", &prose)]);
        let found: Vec<(String, Option<usize>)> = check(&tree).into_iter().map(|f| (f.path, f.line)).collect();
        let at = |path: &str, line| (path.to_owned(), Some(line));
        assert_eq!(found, [at("a.rs", 1), at("a.rs", 2), at("a.rs", 4), at("b.md", 2)]);
    }

    #[test]
    fn words_that_only_contain_a_marker_pass() {
        assert!(check(&Tree::of(&[("a.md", "XXXL and to do"), ("a.rs", "my_dbg!(x); // todos")])).is_empty());
    }
}
