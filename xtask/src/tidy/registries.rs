//! Whatever is added as one file is in its list, and has its place in the generated documentation.

use super::Finding;
use crate::source::function::{matching, words};
use crate::source::{Tree, stem};

/// A folder whose files are entries of a list.
struct Registry {
    folder: &'static str,
    ending: &'static str,
    /// The file that holds the list.
    list: &'static str,
    /// The macro that makes the list.
    list_macro: &'static str,
    /// The generated page that describes each entry.
    page: &'static str,
    /// Entries that no user sees.
    hidden: &'static [&'static str],
}

const REGISTRIES: &[Registry] = &[
    Registry {
        folder: "crates/store/src/format",
        ending: ".rs",
        list: "crates/store/src/format.rs",
        list_macro: "formats",
        page: "docs/reference/formats.md",
        hidden: &[],
    },
    Registry {
        folder: "crates/store/src/sql",
        ending: ".sql",
        list: "crates/store/src/views.rs",
        list_macro: "views",
        page: "docs/reference/views.md",
        hidden: &[],
    },
    Registry {
        folder: "crates/engine/src/lever",
        ending: ".rs",
        list: "crates/engine/src/lever.rs",
        list_macro: "levers",
        page: "docs/reference/levers.md",
        hidden: &[],
    },
    Registry {
        folder: "crates/model/src/change",
        ending: ".rs",
        list: "crates/model/src/change.rs",
        list_macro: "changes",
        page: "docs/reference/changes.md",
        hidden: &[],
    },
    Registry {
        folder: "crates/app/src/cli",
        ending: ".rs",
        list: "crates/app/src/cli.rs",
        list_macro: "commands",
        page: "docs/reference/commands.md",
        hidden: &["docs", "sim"],
    },
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    REGISTRIES.iter().flat_map(|registry| check_one(tree, registry)).collect()
}

/// Every command of the program.
pub fn commands(tree: &Tree) -> Vec<&str> {
    entries(code_of(tree, "crates/app/src/cli.rs"), "commands")
}

fn code_of<'a>(tree: &'a Tree, path: &str) -> &'a str {
    tree.rust.iter().find(|f| f.path == path).map_or("", |f| f.code.as_str())
}

fn check_one(tree: &Tree, registry: &Registry) -> Vec<Finding> {
    let code = code_of(tree, registry.list);
    let entries = entries(code, registry.list_macro);
    let page = tree.file(registry.page).map_or("", |f| f.text.as_str());
    let mut found = Vec::new();
    for file in tree.in_folder(registry.folder, registry.ending) {
        let name = stem(&file.path);
        if is_piece(code, name) {
            continue;
        }
        if !entries.contains(&name) {
            found.push(Finding::in_file(&file.path, format!("`{name}` is not in {}!{{}} of {}", registry.list_macro, registry.list)));
        }
        if !registry.hidden.contains(&name) && !describes(page, name) {
            found.push(Finding::in_file(&file.path, format!("`{name}` has no place in {} (cargo xtask bless)", registry.page)));
        }
    }
    found
}

/// A plain private `mod name;` beside the list is a piece that entries share; unused, it would be dead code.
fn is_piece(code: &str, name: &str) -> bool {
    code.lines().any(|line| line.trim() == format!("mod {name};"))
}

/// The first word of each entry of the list.
fn entries<'a>(code: &'a str, list_macro: &str) -> Vec<&'a str> {
    let start = words(code, list_macro).map(|at| at + list_macro.len()).find(|at| code[*at..].starts_with("! {"));
    let Some(open) = start.map(|at| at + 2) else {
        return Vec::new();
    };
    let close = matching(code.as_bytes(), open).unwrap_or(code.len());
    let first_word = |entry: &'a str| entry.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next();
    code[open + 1..close].split(',').filter_map(first_word).filter(|word| !word.is_empty()).collect()
}

/// Does a heading of the page name it? Users may write `-` for `_`, and `usage` for the file `usage_csv`.
fn describes(page: &str, name: &str) -> bool {
    let headings = page.lines().filter_map(|line| line.strip_prefix("## "));
    let named = headings.map(|heading| heading.trim_start_matches('`').replace('-', "_"));
    named.into_iter().any(|heading| {
        let word = heading.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        word == name || (!word.is_empty() && name.strip_prefix(word).is_some_and(|rest| rest.starts_with('_')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: (&str, &str) =
        ("crates/engine/src/lever.rs", "macro_rules! levers { ($($m:ident),*) => {} }\nlevers! {\n    idle,\n    off_hours::OffHours, // late,\n}\n");
    const PAGE: (&str, &str) = ("docs/reference/levers.md", "# Levers\n\n## `idle`\n\n## off-hours: a schedule\n");

    fn texts(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_complete_registry_passes() {
        let files = [LIST, PAGE, ("crates/engine/src/lever/idle.rs", ""), ("crates/engine/src/lever/off_hours.rs", "")];
        assert!(texts(&files).is_empty());
    }

    #[test]
    fn a_file_that_is_not_listed_or_not_described_is_found() {
        let found = texts(&[LIST, PAGE, ("crates/engine/src/lever/late.rs", "")]);
        let expected = [
            "crates/engine/src/lever/late.rs: `late` is not in levers!{} of crates/engine/src/lever.rs",
            "crates/engine/src/lever/late.rs: `late` has no place in docs/reference/levers.md (cargo xtask bless)",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn files_below_an_entry_are_its_own_business() {
        assert!(texts(&[LIST, PAGE, ("crates/engine/src/lever/idle/verdict.rs", "")]).is_empty());
    }

    #[test]
    fn a_piece_that_entries_share_is_no_entry() {
        let list = ("crates/engine/src/lever.rs", "mod evidence;\nlevers! { idle }\n");
        assert!(texts(&[list, ("crates/engine/src/lever/evidence.rs", "")]).is_empty());
        let public = ("crates/engine/src/lever.rs", "pub mod evidence;\nlevers! { idle }\n");
        assert_eq!(texts(&[public, ("crates/engine/src/lever/evidence.rs", "")]).len(), 2);
    }

    #[test]
    fn a_hidden_command_needs_no_page() {
        let list = ("crates/app/src/cli.rs", "commands! { docs }");
        assert!(texts(&[list, ("crates/app/src/cli/docs.rs", "")]).is_empty());
    }
}
