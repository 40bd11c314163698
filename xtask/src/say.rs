//! The only place that prints.

use std::io::Write as _;

/// A line on standard output. A closed pipe is not worth a panic.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A line on standard error.
pub fn error(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
