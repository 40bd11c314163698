//! The tests, with nextest where it is installed, and the count of skipped cases.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::{cargo, say, skipped};

/// Runs all tests and judges the skipped ones.
pub fn run() -> Result<(), String> {
    let output = if cargo::succeeds(&mut cargo::cargo("nextest --version")) {
        with_nextest()?
    } else {
        with_cargo_test()?
    };
    let verdict = skipped::verdict(&skipped::reasons(&output), std::env::var_os("CI").is_some())?;
    say::line(&format!("tests passed; {verdict}"));
    Ok(())
}

/// Nextest hides the output of passing tests, but writes it into its JUnit report (see .config/nextest.toml).
fn with_nextest() -> Result<String, String> {
    let report = cargo::target().join("nextest/default/junit.xml");
    let _ = fs::remove_file(&report);
    let mut command = cargo::cargo("nextest run --workspace --all-targets --locked --no-fail-fast --status-level slow");
    cargo::run(command.env("INSTA_UPDATE", "no"))?;
    fs::read_to_string(&report).map_err(|e| format!("{}: {e}", report.display()))
}

/// Cargo's own runner shows the output of passing tests when asked; it is kept and not shown again.
fn with_cargo_test() -> Result<String, String> {
    const COMMAND: &str = "test --workspace --all-targets --locked --no-fail-fast -- --show-output";
    say::error(&format!("$ cargo {COMMAND}"));
    let mut command = cargo::cargo(COMMAND);
    let started = command.env("INSTA_UPDATE", "no").stdout(Stdio::piped()).spawn();
    let mut child = started.map_err(|e| format!("cargo test can't be started: {e}"))?;
    let mut kept = String::new();
    if let Some(stdout) = child.stdout.take() {
        let mut hidden = false;
        for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            hidden = hides(&line, hidden);
            if !hidden {
                say::line(&line);
            }
            kept.push_str(&line);
            kept.push('\n');
        }
    }
    let status = child.wait().map_err(|e| format!("cargo test: {e}"))?;
    if status.success() {
        Ok(kept)
    } else {
        Err(format!("`cargo {COMMAND}` failed ({status})"))
    }
}

/// Is this line inside the report of passing tests? Lines `test NAME ... ok` are no news either.
fn hides(line: &str, hidden: bool) -> bool {
    match line {
        "successes:" => true,
        "failures:" => false,
        _ if line.starts_with("test result:") => false,
        _ if line.starts_with("test ") => line.ends_with("... ok"),
        _ => hidden,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(output: &str) -> Vec<&str> {
        let mut hidden = false;
        let mut shown = Vec::new();
        for line in output.lines() {
            hidden = hides(line, hidden);
            if !hidden {
                shown.push(line);
            }
        }
        shown
    }

    #[test]
    fn failures_are_shown_and_successes_are_not() {
        let output = "running 2 tests\ntest a ... ok\ntest b ... FAILED\nsuccesses:\n---- a stdout ----\nskipped: x\n\
                      failures:\n---- b stdout ----\nboom\ntest result: FAILED. 1 passed; 1 failed";
        let expected = [
            "running 2 tests",
            "test b ... FAILED",
            "failures:",
            "---- b stdout ----",
            "boom",
            "test result: FAILED. 1 passed; 1 failed",
        ];
        assert_eq!(shown(output), expected);
        assert_eq!(skipped::reasons(output), ["x"]);
    }
}
