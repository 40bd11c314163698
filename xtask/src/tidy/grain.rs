//! The first line of every SQL view states its grain: what one row is.

use super::Finding;
use crate::source::{Tree, has_ending};

pub fn check(tree: &Tree) -> Vec<Finding> {
    let views = tree.files.iter().filter(|f| has_ending(&f.path, ".sql"));
    let silent = views.filter(|f| {
        let grain = f.text.lines().next().and_then(|line| line.strip_prefix("-- grain: "));
        grain.is_none_or(|g| g.trim().is_empty())
    });
    silent.map(|f| Finding::at(&f.path, 1, "must begin with `-- grain: ` and what one row is")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_without_grain_is_found() {
        let tree = Tree::of(&[("a.sql", "-- grain: resource, hour\nselect 1"), ("b.sql", "select 1"), ("c.sql", "-- grain: \n")]);
        let found: Vec<String> = check(&tree).into_iter().map(|f| f.path).collect();
        assert_eq!(found, ["b.sql", "c.sql"]);
    }
}
