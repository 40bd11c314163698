//! Runs the built program as a user would.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may fail, and says what it skips"
)]

#[allow(dead_code, reason = "each test file uses its own part")]
pub mod organisation;
#[allow(dead_code, reason = "each test file uses its own part")]
pub mod served;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A file of the shared test data: `$LOWWATER_SHARED`, else `../shared` beside the workspace. None, with a word, where
/// there is none; in CI that is an error.
#[allow(dead_code, reason = "each test file uses its own part")]
pub fn shared(path: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("LOWWATER_SHARED").map_or_else(beside, PathBuf::from);
    let file = folder.join("data").join(path);
    if file.is_file() {
        return Some(file);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing", file.display());
    eprintln!("skipped: {path} (no shared data)");
    None
}

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
