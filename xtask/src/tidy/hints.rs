//! A hint that names a command of lowwater names one that exists.

use super::{Finding, registries};
use crate::source::Tree;

/// In backticks, as hints write it.
const BEGIN: &str = "`lowwater ";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let commands = registries::commands(tree);
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|f| f.path.starts_with("crates/") || f.path.starts_with("docs/")) {
        for (number, line) in file.lines() {
            let unknown = named(line).filter(|word| !commands.contains(word) && *word != "help");
            found.extend(unknown.map(|word| Finding::at(&file.path, number, format!("there is no command `{word}`"))));
        }
    }
    found
}

/// Words after the program's name that can only be commands: neither options nor places to fill in.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let rests = line.split(BEGIN).skip(1);
    let words = rests.filter_map(|rest| rest.split(|c: char| !c.is_ascii_alphabetic() && c != '-').next());
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_does_not_exist_is_found() {
        let list = ("crates/app/src/cli.rs", "commands! {\n    load::Load,\n    show::Show,\n}\n");
        let text = "hint: `lowwater load PATH`, `lowwater --data x show`, `lowwater {name}`\n`lowwater help`, `lowwater migrate`\n";
        let found = check(&Tree::of(&[list, ("crates/store/src/a.rs", text)]));
        assert_eq!(found, [Finding::at("crates/store/src/a.rs", 2, "there is no command `migrate`")]);
    }
}
