//! The project's own checks: `cargo xtask test`, `cargo xtask tidy`, `cargo xtask bless`.

mod bless;
mod cargo;
mod docs;
mod say;
mod screenshots;
mod sim;
mod skipped;
mod source;
mod stage;
mod tests_stage;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask test           every stage, in order; stops at the first that fails
       cargo xtask test STAGE...  only these: fmt tidy clippy build docs tests doctests
       cargo xtask tidy           only the tidy checks (a second)
       cargo xtask bless          writes docs/reference, snapshots and expected plans anew; read the diff
       cargo xtask sim --truth [--seed N] [--seeds K] [--json]
                                  plans organisations whose truth is hidden, and fails where plans are false
       cargo xtask screenshots    every page of the dashboard as a picture, into target/screenshots; needs Chromium";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => stage::run_all(),
        ["test", names @ ..] => stage::run_some(names),
        ["tidy"] => stage::run_some(&["tidy"]),
        ["bless"] => bless::bless(),
        ["screenshots"] => screenshots::take(),
        ["sim", "--truth", options @ ..] => sim::truth(options),
        _ => {
            say::error(USAGE);
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            say::error(&what);
            ExitCode::FAILURE
        }
    }
}
