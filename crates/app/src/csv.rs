//! CSV for spreadsheets: quoted where needed, and text that a spreadsheet would run as a formula is defused.

use crate::screen::paragraph::is_command;

/// Builds a CSV text.
#[derive(Debug, Default)]
pub struct Csv {
    text: String,
}

/// One field, written as it will stand in the file.
pub struct Field(String);

/// Characters with which a spreadsheet takes a cell for a formula.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// What would command a terminal that the file is shown on is replaced; tabs and line breaks are text.
fn harmless(c: char) -> char {
    if is_command(c) && !matches!(c, '\n' | '\t') {
        '\u{fffd}'
    } else {
        c
    }
}

impl Csv {
    /// A field that is text.
    pub fn text(text: impl Into<String>) -> Field {
        let text = text.into();
        // Some programs trim before they look.
        let is_formula = text.starts_with(FORMULA) || text.trim_start().starts_with(FORMULA);
        let text: String = text.chars().map(harmless).collect();
        Field(if is_formula { format!("'{text}") } else { text })
    }

    /// A field that is a number of ours: left as it is, its sign included.
    pub fn number(number: impl Into<String>) -> Field {
        Field(number.into())
    }

    /// Adds a record.
    pub fn record(&mut self, fields: impl IntoIterator<Item = Field>) {
        for (i, Field(text)) in fields.into_iter().enumerate() {
            if i > 0 {
                self.text.push(',');
            }
            if text.contains([',', '"', '\n', '\r']) {
                self.text.push_str(&format!("\"{}\"", text.replace('"', "\"\"")));
            } else {
                self.text.push_str(&text);
            }
        }
        self.text.push('\n');
    }

    /// The whole file.
    pub fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(fields: impl IntoIterator<Item = Field>) -> String {
        let mut csv = Csv::default();
        csv.record(fields);
        csv.into_text()
    }

    #[test]
    fn formulas_in_text_are_defused_and_numbers_are_not_touched() {
        for start in ["=", "+", "-", "@", "\t"] {
            assert_eq!(one([Csv::text(format!("{start}1+1"))]), format!("'{start}1+1\n"));
        }
        assert_eq!(one([Csv::text("\rx")]), "'\u{fffd}x\n");
        assert_eq!(
            one([Csv::text("a\u{1b}[2J\u{202e}\u{9b}b\tc")]),
            "a\u{fffd}[2J\u{fffd}\u{fffd}b\tc\n"
        );
        assert_eq!(
            one([Csv::text("a=b"), Csv::number("-1.50"), Csv::text("'quoted'")]),
            "a=b,-1.50,'quoted'\n"
        );
    }

    #[test]
    fn quotes_where_needed() {
        assert_eq!(
            one([
                Csv::text("a,b"),
                Csv::text("say \"hi\""),
                Csv::text("two\nlines"),
                Csv::text("")
            ]),
            "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\n"
        );
        assert_eq!(
            one([Csv::text("=cmd|' /C calc'!A0, x")]),
            "\"'=cmd|' /C calc'!A0, x\"\n"
        );
    }
}
