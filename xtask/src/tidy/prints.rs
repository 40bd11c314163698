//! One place prints: the app's output module (and `say` in xtask).

use super::Finding;
use crate::source::Tree;
use crate::source::function::words;

const PLACES: [&str; 2] = ["crates/app/src/output.rs", "xtask/src/say.rs"];
const MACROS: [&str; 4] = ["print!", "println!", "eprint!", "eprintln!"];
const STREAMS: [&str; 2] = ["io::stdout()", "io::stderr()"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for file in tree.rust.iter().filter(|f| !PLACES.contains(&f.path.as_str())) {
        for (number, line) in file.production_code() {
            let call = MACROS.iter().find(|name| words(line, name).next().is_some());
            let stream = STREAMS.iter().find(|stream| is_opened(line, stream));
            let first = call.or(stream);
            found.extend(first.map(|c| Finding::at(&file.path, number, format!("`{c}`: only {} prints", PLACES[0]))));
        }
    }
    found
}

/// To ask a stream whether it is a terminal is not to print.
fn is_opened(line: &str, stream: &str) -> bool {
    let mut places = line.match_indices(stream);
    places.any(|(at, _)| !line[at + stream.len()..].starts_with(".is_terminal"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_elsewhere_is_found() {
        let text = "fn f() { println!(\"x\"); }\nlet out = std::io::stdout();\ncommand.stdout(x);\nif io::stderr().is_terminal() {}\n#[cfg(test)]\nmod tests { fn g() { eprintln!(); } }\n";
        let tree = Tree::of(&[("crates/store/src/a.rs", text), (PLACES[0], text)]);
        let lines: Vec<Option<usize>> = check(&tree).into_iter().map(|f| f.line).collect();
        assert_eq!(lines, [Some(1), Some(2)]);
    }
}
