//! Names that say nothing are not used for modules and types.

use super::Finding;
use crate::source::function::words;
use crate::source::{Tree, stem};

const EMPTY: [&str; 12] = [
    "util", "utils", "helper", "helpers", "manager", "service", "handle", "item", "items", "info", "common", "misc",
];
const KEYWORDS: [&str; 5] = ["struct", "enum", "trait", "type", "mod"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in &tree.rust {
        let name = stem(&file.path);
        found.extend(empty_word(name).map(|w| Finding::in_file(&file.path, says_nothing(name, w))));
        for (number, line) in file.production_code() {
            for name in declared(line) {
                found.extend(empty_word(name).map(|w| Finding::at(&file.path, number, says_nothing(name, w))));
            }
        }
    }
    found
}

fn says_nothing(name: &str, word: &str) -> String {
    format!("`{name}`: the word `{word}` says nothing; name what it is")
}

/// Names of modules and types that a line declares.
fn declared(line: &str) -> impl Iterator<Item = &str> {
    // An associated type is named by a foreign trait.
    let foreign = line.contains("type Item =") || line.contains("type Item;");
    let places = KEYWORDS.iter().filter(move |_| !foreign).flat_map(move |k| words(line, k).map(|at| at + k.len()));
    places.map(|at| {
        let rest = line[at..].trim_start();
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
    })
}

/// The last word of a name carries its meaning: `ServiceCategory` is a category, `PriceService` is nothing.
fn empty_word(name: &str) -> Option<&'static str> {
    let last = name.rsplit('_').next().unwrap_or(name);
    let capital = last.rfind(|c: char| c.is_uppercase()).unwrap_or(0);
    let word = last[capital..].to_lowercase();
    EMPTY.into_iter().find(|empty| *empty == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_names_are_found() {
        let text = "pub struct PriceService;\nmod helpers;\nenum LineItem { A }\ntrait Info {}\n";
        let tree = Tree::of(&[("a/date_utils.rs", ""), ("b.rs", text)]);
        let lines: Vec<Option<usize>> = check(&tree).into_iter().map(|f| f.line).collect();
        assert_eq!(lines, [None, Some(1), Some(2), Some(3), Some(4)]);
    }

    #[test]
    fn words_of_the_trade_and_foreign_names_pass() {
        let text = "struct ServiceCategory;\nimpl Iterator for X { type Item = u8; }\nlet item = 1;\nuse std::thread::JoinHandle;\n";
        assert!(check(&Tree::of(&[("information.rs", text)])).is_empty());
    }
}
