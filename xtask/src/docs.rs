//! `docs/reference` is written by the binary from its registries; a page that differs is an error.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo;

/// Where the generated pages are, seen from the root.
pub const REFERENCE: &str = "docs/reference";

/// Compares the pages in the tree with what the binary writes now.
pub fn check() -> Result<(), String> {
    let fresh = cargo::target().join("xtask/reference");
    write(&fresh)?;
    let differences = compare(&pages(&cargo::root().join(REFERENCE))?, &pages(&fresh)?);
    if differences.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}\nhint: `cargo xtask bless` writes {REFERENCE} anew; never edit it by hand",
        differences.join("\n")
    ))
}

/// Lets the binary write its reference pages into an empty folder.
pub fn write(folder: &Path) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    cargo::run(cargo::lowwater().arg("docs").arg(folder))
}

/// File name to text, of one folder.
type Pages = BTreeMap<String, String>;

fn pages(folder: &Path) -> Result<Pages, String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(Pages::new());
    };
    let paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|e| e.path()).collect();
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok((name, text))
    };
    paths.into_iter().map(read).collect()
}

fn compare(kept: &Pages, fresh: &Pages) -> Vec<String> {
    let mut found = Vec::new();
    for (name, text) in fresh {
        match kept.get(name) {
            None => found.push(format!("{REFERENCE}/{name}: is missing")),
            Some(old) if old != text => found.push(format!("{REFERENCE}/{name}{}", first_difference(old, text))),
            Some(_) => {}
        }
    }
    let gone = kept.keys().filter(|name| !fresh.contains_key(*name));
    found.extend(gone.map(|name| format!("{REFERENCE}/{name}: no registry writes this page any more")));
    found
}

fn first_difference(old: &str, new: &str) -> String {
    let pairs = old.lines().zip(new.lines());
    let same = pairs.take_while(|(a, b)| a == b).count();
    let at = |text: &str| text.lines().nth(same).unwrap_or("(end of the page)").to_owned();
    format!(":{}: is `{}`, should be `{}`", same + 1, at(old), at(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pages: &[(&str, &str)]) -> Pages {
        pages.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect()
    }

    #[test]
    fn every_kind_of_drift_is_found() {
        let kept = of(&[("levers.md", "a\nb\n"), ("old.md", ""), ("same.md", "x")]);
        let fresh = of(&[("levers.md", "a\nc\n"), ("new.md", ""), ("same.md", "x")]);
        let expected = [
            "docs/reference/levers.md:2: is `b`, should be `c`",
            "docs/reference/new.md: is missing",
            "docs/reference/old.md: no registry writes this page any more",
        ];
        assert_eq!(compare(&kept, &fresh), expected);
        assert!(compare(&fresh, &fresh).is_empty());
    }

    #[test]
    fn a_page_that_only_grew_differs_at_its_end() {
        assert_eq!(
            first_difference("a\n", "a\nb\n"),
            ":2: is `(end of the page)`, should be `b`"
        );
    }
}
