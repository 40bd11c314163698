//! ARCHITECTURE.md is a map of what is there: it names every module at the top of a crate, and none that is gone.

use std::collections::BTreeSet;

use super::Finding;
use crate::source::Tree;

const MAP: &str = "ARCHITECTURE.md";
const CRATES: [&str; 5] = ["model", "engine", "store", "act", "app"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(map) = tree.file(MAP) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut modules = BTreeSet::new();
    for name in CRATES {
        for module in modules_of(tree, name) {
            modules.insert(module);
            if !map.text.contains(&format!("`{module}`")) {
                found.push(Finding::in_file(MAP, format!("does not name `{module}` of {name}")));
            }
        }
    }
    for (number, line) in map.lines() {
        let named = line.split('`').skip(1).step_by(2).filter(|word| is_module(word));
        let gone = named.filter(|word| !modules.contains(word));
        found.extend(gone.map(|word| Finding::at(MAP, number, format!("names `{word}`, which is not there"))));
    }
    found
}

/// Files at the top of a crate, without its root and its tests.
fn modules_of<'a>(tree: &'a Tree, name: &str) -> Vec<&'a str> {
    let files = tree.rust.iter().filter(|f| f.production_lines > 0);
    let tops = files.filter_map(|f| f.path.strip_prefix(&format!("crates/{name}/src/")));
    tops.filter(|rest| !rest.contains('/') && !matches!(*rest, "lib.rs" | "main.rs")).collect()
}

fn is_module(word: &str) -> bool {
    word.strip_suffix(".rs").is_some_and(|stem| stem.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_is_not_on_the_map_and_one_that_is_gone_are_found() {
        let map = (MAP, "`a.rs` and `a/`\n`old.rs`, `crates/app/src/x.rs`\n");
        let files = [
            map,
            ("crates/model/src/lib.rs", "mod a;"),
            ("crates/model/src/a.rs", "fn a() {}"),
            ("crates/model/src/a/deep.rs", "fn a() {}"),
            ("crates/store/src/new.rs", "fn a() {}"),
        ];
        let found: Vec<String> = check(&Tree::of(&files)).iter().map(ToString::to_string).collect();
        let expected =
            ["ARCHITECTURE.md: does not name `new.rs` of store", "ARCHITECTURE.md:2: names `old.rs`, which is not there"];
        assert_eq!(found, expected);
    }
}
