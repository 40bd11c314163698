//! Runs the built program as a user would.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

#[allow(dead_code, reason = "each test file uses its own part")]
pub mod organisation;

use std::path::Path;
use std::process::{Command, Output};

/// What a run left.
pub struct Run {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// The program in `dir`, with nothing of the tester's own environment that changes its output.
pub fn program(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lowwater"));
    command.current_dir(dir).args(args);
    for name in ["LOWWATER_DATA", "NO_COLOR", "COLUMNS", "TERM"] {
        command.env_remove(name);
    }
    command
}

/// Runs it to its end.
#[allow(dead_code, reason = "each test file uses its own part")]
pub fn run(dir: &Path, args: &[&str]) -> Run {
    finish(program(dir, args))
}

/// Runs it in a layout of so many columns.
#[allow(dead_code, reason = "each test file uses its own part")]
pub fn run_wide(dir: &Path, columns: usize, args: &[&str]) -> Run {
    let mut command = program(dir, args);
    command.env("COLUMNS", columns.to_string());
    finish(command)
}

/// Runs a command that was prepared.
pub fn finish(mut command: Command) -> Run {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run {
        code: status.code().unwrap_or(-1),
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

/// Everything of a run in one text, for snapshots.
#[allow(dead_code, reason = "each test file uses its own part")]
pub fn transcript(run: &Run) -> String {
    format!("exit {}\n--- out\n{}--- err\n{}", run.code, run.stdout, run.stderr)
}
