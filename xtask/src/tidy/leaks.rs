//! No path of one machine and no registry's host name in any file: the project builds anywhere.

use super::Finding;
use crate::source::Tree;

/// Written in two halves, so that this file passes its own check.
const MACHINE_PATHS: [&str; 4] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];
const HOSTS: [&str; 6] = [
    concat!("crates", ".io"),
    concat!("docs", ".rs/"),
    concat!("pypi", ".org"),
    concat!("npmjs", ".org"),
    concat!("proxy.golang", ".org"),
    concat!("ghcr", ".io"),
];

pub fn check(tree: &Tree) -> Vec<Finding> {
    // Cargo itself writes the registry into the lock file.
    let files = tree.files.iter().filter(|f| f.path != "Cargo.lock");
    let mut found = Vec::new();
    for file in files {
        for (number, line) in file.lines() {
            let paths = MACHINE_PATHS.iter().filter(|p| begins_a_path(line, p));
            found.extend(paths.map(|p| Finding::at(&file.path, number, format!("`{p}` is a path of one machine"))));
            let hosts = HOSTS.iter().filter(|h| line.contains(**h));
            found.extend(hosts.map(|h| Finding::at(&file.path, number, format!("`{h}` is a registry's host name"))));
        }
    }
    found
}

/// In the middle of a path it is a folder of ours.
fn begins_a_path(line: &str, path: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '}' | '*');
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_hosts_are_found() {
        let text = format!("a\nsee {}x\nfrom https://{}/y\n", MACHINE_PATHS[0], HOSTS[2]);
        let found = check(&Tree::of(&[("README.md", &text)]));
        assert_eq!(found.iter().map(|f| f.line).collect::<Vec<_>>(), [Some(2), Some(3)]);
    }

    #[test]
    fn a_folder_in_the_middle_of_a_path_and_the_lock_file_pass() {
        let inside = format!("docs{}x", MACHINE_PATHS[0]);
        assert!(check(&Tree::of(&[("a.md", &inside), ("Cargo.lock", HOSTS[0])])).is_empty());
    }
}
