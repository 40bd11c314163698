//! Every relative link in a Markdown page leads to a file of the project.

use super::Finding;
use crate::source::{File, Tree, has_ending};

pub fn check(tree: &Tree) -> Vec<Finding> {
    let pages = tree.files.iter().filter(|f| has_ending(&f.path, ".md"));
    pages.flat_map(|page| broken(tree, page)).collect()
}

fn broken(tree: &Tree, page: &File) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (number, line) in page.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let targets = targets(line).filter(|_| !in_code);
        let lost = targets.filter(|target| !tree.has(&resolve(&page.path, target)));
        found.extend(lost.map(|target| Finding::at(&page.path, number, format!("`{target}` leads nowhere"))));
    }
    found
}

/// Targets of links inside the project, without the part after `#`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    let ends = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let inside = ends.filter(|target| !target.contains("://") && !target.starts_with(['#', '<']));
    inside.map(|target| target.split('#').next().unwrap_or(target))
}

/// The path of a link, seen from the root.
fn resolve(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let page = "[a](a.md#part) and [b](../README.md)\n[gone](gone.md)\n[web](https://example.org/x) [here](#part)\n";
        let tree = Tree::of(&[("docs/page.md", page), ("docs/a.md", ""), ("README.md", "```\n[x](y)\n```\n")]);
        assert_eq!(check(&tree), [Finding::at("docs/page.md", 2, "`gone.md` leads nowhere")]);
    }
}
