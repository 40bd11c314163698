//! The only place that prints.

use std::io::{self, Write as _};

use serde::Serialize;

use crate::config::Settings;
use crate::error::AppError;
use crate::screen::paragraph::visible;
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
    text(&out)
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
