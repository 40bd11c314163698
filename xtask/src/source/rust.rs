//! A Rust file with its tests told apart from its production code.

use std::collections::BTreeSet;

use super::function::{line_of, matching, words};
use super::mask::{Masked, mask};
use super::{File, has_ending};

/// A parsed file.
#[derive(Debug)]
pub struct RustFile {
    /// Seen from the root.
    pub path: String,
    /// Code without comments and literals.
    pub code: String,
    /// Comments only.
    pub comments: String,
    /// `code` with the tests blanked; empty where the whole file is a test.
    pub production: String,
    /// Lines, comments included, that do not belong to tests.
    pub production_lines: usize,
    /// All lines.
    pub lines: usize,
}

impl RustFile {
    /// Lines that belong to tests.
    pub fn test_lines(&self) -> usize {
        self.lines - self.production_lines
    }

    /// Lines of production code, masked, with their numbers.
    pub fn production_code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.production.lines().enumerate().map(|(at, line)| (at + 1, line))
    }

    /// Lines of comments, with their numbers.
    pub fn comment_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.comments.lines().enumerate().map(|(at, line)| (at + 1, line))
    }

    /// Is it code of this folder?
    pub fn is_in(&self, folder: &str) -> bool {
        self.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// Parses every Rust file.
pub fn parse_all(files: &[File]) -> Vec<RustFile> {
    let rust = files.iter().filter(|f| has_ending(&f.path, ".rs"));
    let masked: Vec<(&File, Masked)> = rust.map(|f| (f, mask(&f.text))).collect();
    let test_modules: BTreeSet<String> = masked
        .iter()
        .flat_map(|(f, m)| out_of_line_tests(&f.path, &m.code))
        .collect();
    masked
        .into_iter()
        .map(|(file, masked)| parse(file, masked, &test_modules))
        .collect()
}

fn parse(file: &File, masked: Masked, test_modules: &BTreeSet<String>) -> RustFile {
    let lines = file.text.lines().count();
    let is_test = is_test_path(&file.path, test_modules);
    let (production, production_lines) = if is_test {
        (String::new(), 0)
    } else {
        without_tests(&masked.code, lines)
    };
    RustFile {
        path: file.path.clone(),
        code: masked.code,
        comments: masked.comments,
        production,
        production_lines,
        lines,
    }
}

fn is_test_path(path: &str, test_modules: &BTreeSet<String>) -> bool {
    let folders = path.split('/');
    let in_tests = folders.clone().any(|part| part == "tests" || part == "benches");
    let module = path.trim_end_matches(".rs");
    in_tests
        || test_modules
            .iter()
            .any(|m| module == m || module.starts_with(&format!("{m}/")))
}

/// `#[cfg(test)] mod name;`: the paths, without ending, of such modules.
fn out_of_line_tests(path: &str, code: &str) -> Vec<String> {
    let folder = module_folder(path);
    let mut found = Vec::new();
    for (start, end) in test_items(code) {
        let item = code[start..end].trim_end_matches(';').trim_end();
        let name = item.rsplit(char::is_whitespace).next().unwrap_or_default();
        if code[start..end].ends_with(';') && words(item, "mod").next().is_some() {
            found.push(format!("{folder}/{name}"));
        }
    }
    found
}

/// Where the modules declared in a file are.
fn module_folder(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
    match name {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        _ => path.trim_end_matches(".rs").to_owned(),
    }
}

/// Blanks test items, and counts the lines that remain.
fn without_tests(code: &str, lines: usize) -> (String, usize) {
    let mut production = code.to_owned();
    let mut in_tests = 0;
    let mut last = 0;
    for (start, end) in test_items(code) {
        if start < last {
            // Inside a test item that is counted already.
            continue;
        }
        last = end;
        let blank: String = code[start..end]
            .chars()
            .map(|c| if c == '\n' { '\n' } else { ' ' })
            .collect();
        production.replace_range(start..end, &blank);
        in_tests += line_of(code, end) - line_of(code, start) + 1;
    }
    (production, lines.saturating_sub(in_tests))
}

/// Ranges of items that exist in tests only: after `#[cfg(test)]` or `#[test]` to the end of the item.
fn test_items(code: &str) -> Vec<(usize, usize)> {
    const MARKS: [&str; 3] = ["#[cfg(test)]", "#[cfg(all(test", "#[test]"];
    let marked = |at: &usize| MARKS.iter().any(|mark| code[*at..].starts_with(mark));
    let starts = code.match_indices("#[").map(|(at, _)| at).filter(marked);
    starts.map(|at| (at, item_end(code.as_bytes(), at))).collect()
}

/// The end of the item that begins at an attribute: a semicolon or the end of the first braces outside brackets.
fn item_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b';' => return at + 1,
            b'{' => return matching(bytes, at).map_or(bytes.len(), |end| end + 1),
            b'(' | b'[' => at = matching(bytes, at).unwrap_or(bytes.len()),
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use crate::source::Tree;

    #[test]
    fn tests_do_not_count_as_production() {
        let text =
            "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn b() { x.unwrap() }\n}\n";
        let tree = Tree::of(&[("crates/m/src/a.rs", text)]);
        let file = &tree.rust[0];
        assert_eq!((file.lines, file.production_lines, file.test_lines()), (8, 2, 6));
        assert!(file.production.contains("fn a") && !file.production.contains("unwrap"));
    }

    #[test]
    fn single_items_for_tests_are_tests() {
        let text = "#[cfg(test)]\nuse x::y;\n#[cfg(test)]\npub fn of(a: [u8; 2]) -> u8 {\n    a[0]\n}\nfn kept() {}\n";
        let tree = Tree::of(&[("src/a.rs", text)]);
        assert_eq!(tree.rust[0].production.trim(), "fn kept() {}");
        assert_eq!(tree.rust[0].production_lines, 1);
    }

    #[test]
    fn modules_in_files_of_their_own_are_tests_when_they_are_declared_so() {
        let tree = Tree::of(&[
            ("c/src/lib.rs", "#[cfg(test)]\nmod cases;\nmod real;"),
            ("c/src/cases.rs", "fn a() {}"),
            ("c/src/cases/more.rs", "fn a() {}"),
            ("c/src/real.rs", "fn a() {}\n#[cfg(test)] mod proofs;"),
            ("c/src/real/proofs.rs", "fn a() {}"),
            ("c/tests/cli.rs", "fn a() {}"),
        ]);
        let production: Vec<&str> = tree
            .rust
            .iter()
            .filter(|f| f.production_lines > 0)
            .map(|f| f.path.as_str())
            .collect();
        assert_eq!(production, ["c/src/lib.rs", "c/src/real.rs"]);
    }
}
