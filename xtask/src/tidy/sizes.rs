//! Where readers stop: long functions, long files, long parameter lists. A ratchet, not a wall.

use super::Finding;
use crate::source::Tree;
use crate::source::function::{Function, functions};

const FUNCTION_LINES: usize = 70;
const FUNCTION_P90: usize = 35;
const PARAMETERS: usize = 5;
const FILE_LINES: usize = 900;
const FILE_MEDIAN: usize = 200;

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut lengths = Vec::new();
    for file in &tree.rust {
        if file.production_lines > FILE_LINES {
            found.push(Finding::in_file(&file.path, format!("{} lines, at most {FILE_LINES}", file.production_lines)));
        }
        let list = functions(&file.production);
        lengths.extend(list.iter().map(|f| f.lines));
        found.extend(list.iter().filter_map(|f| too_large(f).map(|what| Finding::at(&file.path, f.line, what))));
    }
    found.extend(over("90 % of functions", quantile(&mut lengths, 90), FUNCTION_P90));
    found.extend(over("half of the files", quantile(&mut file_lengths(tree), 50), FILE_MEDIAN));
    found
}

fn too_large(function: &Function) -> Option<String> {
    if function.lines > FUNCTION_LINES {
        return Some(format!("`{}` has {} lines, at most {FUNCTION_LINES}", function.name, function.lines));
    }
    let many = function.parameters > PARAMETERS;
    many.then(|| format!("`{}` has {} parameters, at most {PARAMETERS}", function.name, function.parameters))
}

fn over(whose: &str, value: usize, limit: usize) -> Option<Finding> {
    (value > limit).then(|| Finding::in_file(".", format!("{whose} have up to {value} lines, at most {limit}")))
}

fn file_lengths(tree: &Tree) -> Vec<usize> {
    tree.rust.iter().map(|f| f.production_lines).filter(|lines| *lines > 0).collect()
}

/// The nearest-rank quantile; 0 of nothing.
fn quantile(values: &mut [usize], percent: usize) -> usize {
    values.sort_unstable();
    let rank = (values.len() * percent).div_ceil(100);
    rank.checked_sub(1).and_then(|at| values.get(at)).copied().unwrap_or(0)
}

/// One line with the sizes of today.
pub fn summary(tree: &Tree) -> String {
    let mut lengths: Vec<usize> = tree.rust.iter().flat_map(|f| functions(&f.production)).map(|f| f.lines).collect();
    let mut files = file_lengths(tree);
    let production: usize = files.iter().sum();
    let tests: usize = tree.rust.iter().map(crate::source::rust::RustFile::test_lines).sum();
    format!(
        "{} files (median {} lines, longest {}), {} functions (p90 {} lines, longest {}), {production} lines of code, {tests} of tests",
        files.len(),
        quantile(&mut files, 50),
        quantile(&mut files, 100),
        lengths.len(),
        quantile(&mut lengths, 90),
        quantile(&mut lengths, 100),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, lines: usize, parameters: &str) -> String {
        format!("fn {name}({parameters}) {{\n{}}}\n", "x;\n".repeat(lines - 2))
    }

    fn texts(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_long_function_and_a_long_parameter_list_are_found() {
        let short: String = (0..20).map(|i| function(&format!("s{i}"), 3, "")).collect();
        let text = format!("{short}{}{}", function("long", 71, ""), function("wide", 3, "a: u8, b: u8, c: u8, d: u8, e: u8, f: u8"));
        let expected = ["a.rs:61: `long` has 71 lines, at most 70", "a.rs:132: `wide` has 6 parameters, at most 5"];
        assert_eq!(texts(&[("a.rs", &text)]), expected);
    }

    #[test]
    fn many_middling_functions_are_found_even_when_none_is_too_long() {
        let text: String = (0..10).map(|i| function(&format!("m{i}"), if i < 8 { 5 } else { 40 }, "")).collect();
        assert_eq!(texts(&[("a.rs", &text)]), [".: 90 % of functions have up to 40 lines, at most 35"]);
    }

    #[test]
    fn long_files_are_found_and_their_tests_do_not_count() {
        let long = "// x\n".repeat(901);
        let tested = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{}}}\n", "// x\n".repeat(2000));
        assert_eq!(texts(&[("a.rs", &long), ("b.rs", &tested)]), ["a.rs: 901 lines, at most 900"]);
        assert_eq!(texts(&[("a.rs", &"// x\n".repeat(201))]), [".: half of the files have up to 201 lines, at most 200"]);
    }

    #[test]
    fn quantiles_are_nearest_rank() {
        assert_eq!(quantile(&mut [3, 1, 2, 4], 50), 2);
        assert_eq!(quantile(&mut [3, 1, 2, 4], 90), 4);
        assert_eq!(quantile(&mut [], 90), 0);
    }
}
