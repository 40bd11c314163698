//! Python literals in data files, such as `{'Gpus': [{'Count': 8, 'Nvme': True}]}`: read as JSON values.
//!
//! Dictionaries, lists, tuples, texts in either quote, numbers, `True`, `False`, `None`; nothing that computes.

use serde_json::{Map, Number, Value};

/// Deeper than this is an attack, not data.
const MAX_DEPTH: usize = 32;

/// Reads one literal; none where the text is not one.
pub(crate) fn literal(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text, depth: 0 };
    let value = reader.value()?;
    reader.rest.trim().is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Option<Value> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            '{' => self.nested(|reader| {
                reader
                    .list('{', '}', Self::entry)
                    .map(|e| Value::Object(Map::from_iter(e)))
            }),
            '[' => self.nested(|reader| reader.list('[', ']', Self::value).map(Value::Array)),
            '(' => self.nested(|reader| reader.list('(', ')', Self::value).map(Value::Array)),
            '\'' | '"' => self.text().map(Value::String),
            _ => self.word(),
        }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<Value>) -> Option<Value> {
        self.depth += 1;
        let value = if self.depth > MAX_DEPTH { None } else { read(self) };
        self.depth -= 1;
        value
    }

    /// Does the rest begin with this character? Then it is taken.
    fn take(&mut self, wanted: char) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(wanted) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    /// Values between two signs, with commas between them and perhaps after the last.
    fn list<T>(&mut self, open: char, close: char, read: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut out = Vec::new();
        if !self.take(open) {
            return None;
        }
        while !self.take(close) {
            out.push(read(self)?);
            if !self.take(',') {
                return self.take(close).then_some(out);
            }
        }
        Some(out)
    }

    fn entry(&mut self) -> Option<(String, Value)> {
        let key = match self.value()? {
            Value::String(key) => key,
            other => other.to_string(),
        };
        self.take(':').then_some(())?;
        Some((key, self.value()?))
    }

    fn text(&mut self) -> Option<String> {
        let quote = self.rest.chars().next()?;
        let mut out = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            if c == quote {
                self.rest = &self.rest[at + quote.len_utf8()..];
                return Some(out);
            }
            out.push(match c {
                '\\' => match chars.next()?.1 {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    other => other,
                },
                c => c,
            });
        }
        None
    }

    /// A number or a name of a constant.
    fn word(&mut self) -> Option<Value> {
        let end = self.rest.find([',', ':', '}', ']', ')']).unwrap_or(self.rest.len());
        let word = self.rest[..end].trim_end();
        self.rest = &self.rest[end..];
        match word {
            "True" => Some(Value::Bool(true)),
            "False" => Some(Value::Bool(false)),
            "None" => Some(Value::Null),
            "" => None,
            _ => match word.parse::<i64>() {
                Ok(whole) => Some(Value::Number(whole.into())),
                Err(_) => Number::from_f64(word.parse().ok()?).map(Value::Number),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_catalogues_write() {
        let text =
            "{'Gpus': [{'Name': 'A100', 'Count': 8.0, 'Shared': False, 'Note': None,}], 'TotalGpuMemoryInMiB': 327680}";
        let want = json!({"Gpus": [{"Name": "A100", "Count": 8.0, "Shared": false, "Note": null}], "TotalGpuMemoryInMiB": 327_680});
        assert_eq!(literal(text), Some(want));
        assert_eq!(
            literal(r#"("it's", 'a \'b\'', -1.5e3)"#),
            Some(json!(["it's", "a 'b'", -1500.0]))
        );
        assert_eq!(literal("{}"), Some(json!({})));
    }

    #[test]
    fn what_is_no_literal() {
        for text in [
            "",
            "{",
            "{'a'}",
            "{'a': }",
            "[1 2]",
            "'open",
            "nan",
            "__import__('os')",
            "[1] x",
            "{'a': 1",
        ] {
            assert_eq!(literal(text), None, "{text}");
        }
        assert_eq!(literal(&"[".repeat(100_000)), None);
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::Bool),
            Just(Value::Null),
            any::<i64>().prop_map(|n| json!(n)),
            "[^\\\\]{0,8}".prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    /// As Python's `repr` writes it.
    fn repr(value: &Value) -> String {
        match value {
            Value::Null => "None".into(),
            Value::Bool(true) => "True".into(),
            Value::Bool(false) => "False".into(),
            Value::Number(n) => n.to_string(),
            Value::String(s) => format!("'{}'", s.replace('\'', "\\'")),
            Value::Array(a) => format!("[{}]", a.iter().map(repr).collect::<Vec<_>>().join(", ")),
            Value::Object(o) => {
                let entries = o.iter().map(|(k, v)| format!("'{k}': {}", repr(v)));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
        }
    }

    proptest! {
        #[test]
        fn reads_back_what_is_written(value in values()) {
            prop_assert_eq!(literal(&repr(&value)), Some(value));
        }

        #[test]
        fn survives_anything(text in "[-{}\\[\\]()',:\"\\\\ a-zA-Z0-9.]{0,60}") {
            let _ = literal(&text);
        }
    }
}
