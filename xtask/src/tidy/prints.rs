//! One place prints: the app's output module (and `say` in xtask).

use super::Finding;
use crate::source::Tree;
use crate::source::function::words;

const PLACES: [&str; 2] = ["crates/app/src/output.rs", "xtask/src/say.rs"];
const CALLS: [&str; 6] = ["print", "println", "eprint", "eprintln", "stdout", "stderr"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.rust.iter().filter(|f| !PLACES.contains(&f.path.as_str())) {
        for (number, line) in file.production_code() {
            let call = CALLS.iter().find(|call| words(line, call).any(|at| is_call(&line[at..], call)));
            found.extend(call.map(|c| Finding::at(&file.path, number, format!("`{c}`: only {} prints", PLACES[0]))));
        }
    }
    found
}

fn is_call(rest: &str, call: &str) -> bool {
    let after = &rest[call.len()..];
    if call.starts_with("std") { after.starts_with("()") } else { after.starts_with('!') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_elsewhere_is_found() {
        let text = "fn f() { println!(\"x\"); }\nlet out = std::io::stdout();\ncommand.stdout(x);\n#[cfg(test)]\nmod tests { fn g() { eprintln!(); } }\n";
        let tree = Tree::of(&[("crates/store/src/a.rs", text), (PLACES[0], text)]);
        let lines: Vec<Option<usize>> = check(&tree).into_iter().map(|f| f.line).collect();
        assert_eq!(lines, [Some(1), Some(2)]);
    }
}
