//! The only place that prints.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde::Serialize;

use crate::config::Settings;
use crate::error::AppError;
use crate::screen::paragraph::{is_command, visible};
use crate::screen::{Paint, Screen};

/// What a command shows. Text and JSON come from the same struct, so that their numbers can't differ.
pub trait View: Serialize {
    /// For a terminal.
    fn screen(&self) -> Screen;
}

/// Prints a view as the settings want it.
pub fn show(settings: &Settings, view: &impl View) -> Result<(), AppError> {
    if settings.json {
        return json(view);
    }
    let mut screen = view.screen();
    if settings.quiet {
        screen.quiet();
    }
    text(&screen.render(settings.look.width, Paint::new(settings.look.colour)))
}

/// Prints a value as indented JSON.
pub fn json(value: &impl Serialize) -> Result<(), AppError> {
    let mut out = serde_json::to_string_pretty(value).map_err(|e| AppError::Output(io::Error::other(e)))?;
    out.push('\n');
    text(&escaped(&out))
}

/// JSON with every character that could command a terminal written as its number; it means the same.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        // The line breaks are ours: those of texts are escaped already.
        if is_command(c) && c != '\n' {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Prints text as it is.
pub fn text(text: &str) -> Result<(), AppError> {
    bytes(text.as_bytes())
}

/// Prints bytes as they are.
pub fn bytes(bytes: &[u8]) -> Result<(), AppError> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)
        .and_then(|()| out.flush())
        .map_err(AppError::Output)
}

/// Prints a remark on standard error. That nobody can read it is no reason to fail.
pub fn remark(settings: &Settings, remark: &str) {
    if !settings.quiet {
        let _ = writeln!(io::stderr().lock(), "{}", visible(remark));
    }
}

/// Prints an error on standard error; `hint:` lines stay as they are.
pub fn error(message: &str) {
    let _ = writeln!(io::stderr().lock(), "error: {}", visible(message));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_commands_no_terminal_and_means_the_same() {
        let text = "\u{1b}[2J \u{7f} \u{9b}31m \u{202e} \u{2066} \u{2028}\u{2029}\n\t é 漢 😀";
        let json = serde_json::to_string_pretty(&[text]).unwrap();
        let shown = escaped(&json);
        assert!(!shown.chars().any(|c| is_command(c) && c != '\n'), "{shown:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), [text]);
        assert_eq!(escaped("[\n  \"é 😀\"\n]"), "[\n  \"é 😀\"\n]");
    }
}
