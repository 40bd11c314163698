//! Billed money is exact: no binary float anywhere near it in the store.

use super::Finding;
use crate::source::{Tree, has_ending};
use crate::source::function::words;

/// Where the store computes with money. Metrics (activity, watts) are floats and live elsewhere.
const MONEY_CODE: [&str; 5] = [
    "crates/store/src/load",
    "crates/store/src/layout",
    "crates/store/src/export",
    "crates/store/src/report",
    "crates/store/src/format/focus",
];
const FLOATS: [&str; 2] = ["f32", "f64"];
const SQL_FLOATS: [&str; 4] = ["double", "float", "real", "float8"];

/// A comment with these words on the line, or on a line next to it, lets a share or a count of hours pass.
const EXCUSE: &str = "not money";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.rust.iter().filter(|f| is_money_code(&f.path)) {
        let comments: Vec<&str> = file.comments.lines().collect();
        for (number, line) in file.production_code() {
            let near = comments.iter().skip(number.saturating_sub(2)).take(if number == 1 { 2 } else { 3 });
            let excused = near.into_iter().any(|comment| comment.contains(EXCUSE));
            let float = FLOATS.iter().find(|float| words(line, float).next().is_some());
            if let Some(float) = float.filter(|_| !excused) {
                found.push(Finding::at(
                    &file.path,
                    number,
                    format!("`{float}` beside money: use Money, or say `// not money: what it is` beside it"),
                ));
            }
        }
    }
    found.extend(schema(tree));
    found.extend(sql(tree));
    found
}

fn is_money_code(path: &str) -> bool {
    MONEY_CODE.iter().any(|begin| {
        let rest = path.strip_prefix(begin);
        rest.is_some_and(|r| r == ".rs" || r.starts_with('/') || r.starts_with('_'))
    })
}

/// No column of any table is a float.
fn schema(tree: &Tree) -> Vec<Finding> {
    let Some(schema) = tree.rust.iter().find(|f| f.path == "crates/store/src/schema.rs") else {
        return Vec::new();
    };
    let is_float = |line: &str| ["Float64", "Float32", "Float16"].iter().any(|f| words(line, f).next().is_some());
    let lines = schema.production_code().filter(|(_, line)| is_float(line));
    lines
        .map(|(number, _)| Finding::at(&schema.path, number, "a float column: use a decimal, an integer, a time or text"))
        .collect()
}

fn sql(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|f| has_ending(&f.path, ".sql")) {
        for (number, line) in file.lines() {
            let code = line.split("--").next().unwrap_or_default().to_lowercase();
            let float = SQL_FLOATS.iter().find(|float| words(&code, float).next().is_some());
            let excused = line.contains(EXCUSE);
            if let Some(float) = float.filter(|_| !excused) {
                found.push(Finding::at(&file.path, number, format!("`{float}` in a view: say `-- not money: what it is`")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(files: &[(&str, &str)]) -> Vec<(String, Option<usize>)> {
        check(&Tree::of(files)).into_iter().map(|f| (f.path, f.line)).collect()
    }

    #[test]
    fn floats_beside_money_are_found_unless_they_are_excused() {
        let text = "let a: f64 = 1.0;\nlet b = af64;\n// not money: a share of rows\nlet share: f64 = x;\n#[cfg(test)]\nmod tests { type T = f64; }\n";
        assert_eq!(lines(&[("crates/store/src/load/check.rs", text)]), [("crates/store/src/load/check.rs".to_owned(), Some(1))]);
        assert_eq!(lines(&[("crates/store/src/load.rs", text)]).len(), 1);
    }

    #[test]
    fn floats_of_metrics_pass() {
        assert!(lines(&[("crates/store/src/usage.rs", "let a: f64 = 1.0;"), ("crates/store/src/loader.rs", "f64")]).is_empty());
    }

    #[test]
    fn float_columns_and_casts_are_found() {
        assert_eq!(lines(&[("crates/store/src/schema.rs", "x\nDataType::Float64\n")]).len(), 1);
        let view = "-- grain: a double room\nselect cast(a as DOUBLE)\n, cast(b as double) -- not money: seconds\n";
        assert_eq!(lines(&[("crates/store/src/sql/a.sql", view)]), [("crates/store/src/sql/a.sql".to_owned(), Some(2))]);
    }
}
