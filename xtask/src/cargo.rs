//! Runs cargo and the binary it built, in the workspace root.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::say;

/// The workspace root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Where cargo builds.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// A cargo command with its arguments, separated by spaces.
pub fn cargo(arguments: &str) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root()).args(arguments.split(' '));
    command
}

/// The binary of the dev profile, as the build stage left it.
pub fn lowwater() -> Command {
    let mut command = Command::new(target().join("debug/lowwater"));
    command.current_dir(root());
    command
}

/// The command as one would type it.
fn typed(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Runs it with its output on the terminal.
pub fn run(command: &mut Command) -> Result<(), String> {
    let text = typed(command);
    say::error(&format!("$ {text}"));
    let status = command
        .status()
        .map_err(|e| format!("`{text}` can't be started: {e}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{text}` failed ({status})"))
    }
}

/// Does it run and end well? Its output is of no interest.
pub fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|s| s.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_is_named() {
        let error = run(Command::new("/bin/false").arg("now")).unwrap_err();
        assert!(error.starts_with("`false now` failed"), "{error}");
        let error = run(&mut Command::new("/no/such/program")).unwrap_err();
        assert!(error.starts_with("`program` can't be started"), "{error}");
        assert!(!succeeds(&mut Command::new("/bin/false")));
        assert!(succeeds(&mut Command::new("/bin/true")));
    }

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("Cargo.lock").exists());
    }
}
