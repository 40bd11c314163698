//! House rules that are tests: each is one file, with a test that shows that it can fail.

use std::fmt;

use crate::source::Tree;
use crate::{cargo, say};

/// A rule.
pub struct Check {
    name: &'static str,
    run: fn(&Tree) -> Vec<Finding>,
}

/// Where a rule is broken.
#[derive(Debug, PartialEq)]
pub struct Finding {
    path: String,
    line: Option<usize>,
    what: String,
}

impl Finding {
    /// Somewhere in a file.
    fn in_file(path: &str, what: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: None,
            what: what.into(),
        }
    }

    /// On a line, from 1.
    fn at(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: Some(line),
            what: what.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.what),
            None => write!(f, "{}: {}", self.path, self.what),
        }
    }
}

macro_rules! checks {
    ($($module:ident),+ $(,)?) => {
        $(mod $module;)+
        const CHECKS: &[Check] = &[$(Check { name: stringify!($module), run: $module::check }),+];
    };
}

checks! {
    dependencies, directions, grain, hints, leaks, links, map, manifests, markers, money, names, prints, registries, sizes, skips, strays,
    unwraps,
}

/// Runs every check on the project.
pub fn check_tree() -> Result<(), String> {
    let tree = Tree::read(cargo::root())?;
    say::line(&sizes::summary(&tree));
    judge(&tree, CHECKS)
}

fn judge(tree: &Tree, checks: &[Check]) -> Result<(), String> {
    let found: Vec<String> = checks
        .iter()
        .flat_map(|check| {
            (check.run)(tree)
                .into_iter()
                .map(|finding| format!("{finding} [{}]", check.name))
        })
        .collect();
    match found.len() {
        0 => Ok(()),
        count => Err(format!("{}\ntidy: {count} findings", found.join("\n"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_name_place_and_rule() {
        const SAYS: Check = Check {
            name: "says",
            run: |_| vec![Finding::at("a.rs", 3, "is wrong"), Finding::in_file("b", "too")],
        };
        const QUIET: Check = Check {
            name: "quiet",
            run: |_| Vec::new(),
        };
        let tree = Tree::of(&[]);
        let error = judge(&tree, &[QUIET, SAYS]).unwrap_err();
        assert_eq!(error, "a.rs:3: is wrong [says]\nb: too [says]\ntidy: 2 findings");
        assert!(judge(&tree, &[QUIET]).is_ok());
    }

    #[test]
    fn every_check_file_is_in_the_list() {
        let tree = Tree::read(cargo::root()).unwrap();
        for file in tree.in_folder("xtask/src/tidy", ".rs") {
            let stem = crate::source::stem(&file.path);
            assert!(
                CHECKS.iter().any(|c| c.name == stem),
                "{} is not in checks!{{}}",
                file.path
            );
        }
    }
}
