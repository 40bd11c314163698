//! Errors of the files that a user writes.

use crate::change::nearest;

/// A configuration file that can't be taken, with the place and a hint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}{}: {what}{}", place(*.line), place(*.column), .hint.as_ref().map(|h| format!("\nhint: {h}")).unwrap_or_default())]
pub struct ConfigError {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: Option<usize>,
    /// The character of the line, from 1.
    pub column: Option<usize>,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: Option<String>,
}

impl ConfigError {
    /// Somewhere in the file.
    pub fn new(file: &str, what: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: None,
            column: None,
            what: what.into(),
            hint: None,
        }
    }

    /// At a line (from 1).
    #[must_use]
    pub fn at(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// With advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// From the TOML reader, with its place in the text.
    pub fn toml(file: &str, text: &str, error: &toml::de::Error) -> Self {
        let at = error.span().map(|span| span.start.min(text.len()));
        let before = at.and_then(|at| text.get(..at)).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = text[start..].lines().next().unwrap_or_default().trim();
        // Some values bring advice of their own.
        let (what, hint) = match error.message().split_once("\nhint: ") {
            Some((what, hint)) => (what.to_owned(), hint.to_owned()),
            None => advice(error.message(), line, before),
        };
        let mut found = Self::new(file, what).hint(hint);
        if at.is_some() {
            found.line = Some(before.matches('\n').count() + 1);
            found.column = Some(before[start..].chars().count() + 1);
        }
        found
    }
}

fn place(number: Option<usize>) -> String {
    number.map(|n| format!(":{n}")).unwrap_or_default()
}

/// What is wrong in a line, and what to do. `before` is the text up to the fault.
fn advice(message: &str, line: &str, before: &str) -> (String, String) {
    let line: String = line.chars().take(LONGEST_LINE).collect();
    if message.starts_with("duplicate key") {
        let name = if line.starts_with('[') {
            line.split_inclusive(']').next().unwrap_or_default()
        } else {
            line.split('=').next().unwrap_or_default().trim_end()
        };
        let first = before.lines().position(|l| l.trim().starts_with(name));
        let first = first.map_or_else(String::new, |at| format!(", first in line {}", at + 1));
        let hint = if line.starts_with('[') {
            "put the keys of both into one"
        } else {
            "keep one of them"
        };
        return (format!("`{name}` is there twice{first}"), hint.to_owned());
    }
    match HINTS.iter().find(|(start, _)| message.starts_with(start)) {
        Some((_, hint)) => (message.to_owned(), format!("{}{hint}", meant(message))),
        None => (format!("{message} (`{line}`)"), SYNTAX.to_owned()),
    }
}

/// The nearest of the words that the reader's message expects, all of them between backticks, the wrong one first.
fn meant(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let near = quoted.next().and_then(|wrong| nearest(wrong, quoted));
    near.map_or_else(String::new, |near| format!("did you mean `{near}`? "))
}

/// Characters of a line that an error repeats.
const LONGEST_LINE: usize = 60;
const SYNTAX: &str = "a line is `[section]`, `key = value` or a # comment; words stand in quotes, lists in [ ]";
/// By the words with which the reader's message begins.
const HINTS: &[(&str, &str)] = &[
    ("unknown field", "leave it out, or spell it like one of these"),
    ("unknown variant", "spell it like one of these"),
    ("missing field", "write it into this section"),
    (
        "invalid type",
        "words and days stand in quotes, numbers and true or false do not, lists stand in [ ]",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Settings {
        #[serde(rename = "guard")]
        _guard: Option<Guard>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Guard {
        #[serde(rename = "days")]
        _days: u8,
        #[serde(rename = "deadline")]
        _deadline: Option<crate::deadline::Deadline>,
    }

    fn of(text: &str) -> String {
        let error = toml::from_str::<Settings>(text).unwrap_err();
        ConfigError::toml("policy.toml", text, &error).to_string()
    }

    #[test]
    fn a_fault_has_its_place_and_advice() {
        for (text, want) in [
            (
                "[guard]\ndays = 1\n[guard]\ndays = 2\n",
                "policy.toml:3:2: `[guard]` is there twice, first in line 1\nhint: put the keys of both into one",
            ),
            (
                "[guard]\ndays = 1\n  days = 2\n",
                "policy.toml:3:3: `days` is there twice, first in line 2\nhint: keep one of them",
            ),
            (
                "[guard]\ndays 1\n",
                "policy.toml:2:6: key with no value, expected `=` (`days 1`)\nhint: a line is `[section]`",
            ),
            (
                "# é\n[guard\n",
                "policy.toml:2:7: unclosed table, expected `]` (`[guard`)\nhint: a line is",
            ),
            (
                "[guard]\nday = 1\n",
                "policy.toml:2:1: unknown field `day`, expected `days` or `deadline`",
            ),
            (
                "[guard]\ndays = \"x\"\n",
                "policy.toml:2:8: invalid type: string \"x\", expected u8",
            ),
            (
                "[guard]\n",
                "policy.toml:1:1: missing field `days`\nhint: write it into this section",
            ),
        ] {
            let said = of(text);
            assert!(said.starts_with(want), "{said}");
            assert_eq!(said.matches("\nhint: ").count(), 1, "{said}");
        }
    }

    #[test]
    fn the_advice_of_a_value_is_its_own() {
        let said = of("[guard]\ndays = 1\ndeadline = \"soon\"\n");
        assert!(
            said.starts_with("policy.toml:3:12: `soon` is no deadline\nhint: write an instant"),
            "{said}"
        );
        assert_eq!(said.matches("hint: ").count(), 1, "{said}");
    }

    #[test]
    fn a_book_is_not_repeated() {
        assert!(of(&format!("x{}", "y".repeat(10_000))).len() < 300);
    }
}
