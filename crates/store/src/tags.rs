//! Tags as bills write them: JSON, JSON without its braces (Azure), Python dictionaries. Keys are folded.

use std::collections::{BTreeMap, BTreeSet};

use lowwater_model::workload::fold_key;

/// Deeper values than this are kept as text.
const MAX_DEPTH: usize = 8;

/// What the text of one charge's tags says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags {
    /// Values by folded key, without the conflicting ones.
    pub values: BTreeMap<String, String>,
    /// Folded keys that have two values, such as `Environment` and `environment`: nobody knows which holds.
    pub conflicts: BTreeSet<String>,
}

/// Values by folded key (trimmed, lower case); text that is no set of tags has none. A key with two values has none.
pub fn parse(text: &str) -> BTreeMap<String, String> {
    read(text).unwrap_or_default().values
}

/// Values and conflicts; none where the text is not a set of tags.
pub fn read(text: &str) -> Option<Tags> {
    let mut tags = Tags::default();
    for (key, value) in pairs(text)? {
        let key = fold_key(&key);
        match tags.values.get(&key) {
            Some(other) if *other != value => {
                tags.conflicts.insert(key);
            }
            _ => {
                tags.values.insert(key, value);
            }
        }
    }
    for key in &tags.conflicts {
        tags.values.remove(key);
    }
    Some(tags)
}

/// Keys and values as written, in order. A null value is no tag.
fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let text = text.trim();
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}')?,
        None => text,
    };
    let mut scanner = Scanner { rest: inner };
    let mut pairs = Vec::new();
    scanner.space();
    while !scanner.rest.is_empty() {
        let key = scanner.quoted()?;
        scanner.space();
        scanner.take(':')?;
        scanner.space();
        if let Value::Text(value) = scanner.value()? {
            pairs.push((key, value));
        }
        scanner.space();
        if scanner.take(',').is_none() && !scanner.rest.is_empty() {
            return None;
        }
        scanner.space();
    }
    Some(pairs)
}

enum Value {
    Null,
    Text(String),
}

/// Reads from the front of a text.
struct Scanner<'a> {
    rest: &'a str,
}

impl Scanner<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, wanted: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(wanted)?;
        Some(())
    }

    fn next(&mut self) -> Option<char> {
        let first = self.rest.chars().next()?;
        self.rest = &self.rest[first.len_utf8()..];
        Some(first)
    }

    /// A string in double quotes (JSON) or single ones (Python).
    fn quoted(&mut self) -> Option<String> {
        let quote = self.next().filter(|c| matches!(c, '"' | '\''))?;
        let mut text = String::new();
        loop {
            match self.next()? {
                c if c == quote => return Some(text),
                '\\' => text.push(self.escaped()?),
                c => text.push(c),
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        Some(match self.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => return self.unicode(),
            other => other,
        })
    }

    /// `\uXXXX`, or two of them for one character beyond the basic plane; half a pair is the replacement character.
    fn unicode(&mut self) -> Option<char> {
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Some(char::from_u32(first).unwrap_or('\u{fffd}'));
        }
        let before = self.rest;
        if self.rest.starts_with("\\u") {
            self.rest = &self.rest[2..];
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                return char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            }
        }
        self.rest = before;
        Some('\u{fffd}')
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.rest.get(..4)?;
        self.rest = &self.rest[4..];
        u32::from_str_radix(digits, 16).ok()
    }

    fn value(&mut self) -> Option<Value> {
        match self.rest.chars().next()? {
            '"' | '\'' => self.quoted().map(Value::Text),
            '{' | '[' => self.nested().map(Value::Text),
            _ => {
                let end = self.rest.find([',', '}', ']']).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                match word.trim_end() {
                    "" => None,
                    "null" | "None" => Some(Value::Null),
                    "True" => Some(Value::Text("true".into())),
                    "False" => Some(Value::Text("false".into())),
                    word => Some(Value::Text(word.to_owned())),
                }
            }
        }
    }

    /// FOCUS forbids nested values; where there is one, its text is the value.
    fn nested(&mut self) -> Option<String> {
        let whole = self.rest;
        let mut depth = 0;
        loop {
            match self.rest.chars().next()? {
                '"' | '\'' => {
                    self.quoted()?;
                    continue;
                }
                '{' | '[' => depth += 1,
                '}' | ']' => depth -= 1,
                _ => {}
            }
            self.next();
            if depth > MAX_DEPTH {
                return None;
            }
            if depth == 0 {
                return Some(whole[..whole.len() - self.rest.len()].to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests;
