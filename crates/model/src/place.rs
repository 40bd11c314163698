//! Where the keys of a settings file stand, so that an error or an explanation can name the line.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

/// The lines of a settings file's keys. Knows nothing of values, and is equal to any other: a rule is the same rule
/// wherever it stands.
#[derive(Clone, Debug, Default)]
pub struct Places {
    root: Node,
}

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A value by what is in it: keys of a table, or the elements of a list under their numbers from 0.
#[derive(Clone, Debug, Default)]
struct Node {
    /// From 1.
    line: usize,
    inside: BTreeMap<String, Node>,
}

impl Places {
    /// Of a file; a text that is not TOML has none.
    pub fn of(text: &str) -> Self {
        let Ok(table) = DeTable::parse(text) else {
            return Self::default();
        };
        let starts: Vec<usize> = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Self {
            root: Node {
                line: 0,
                inside: of_table(table.get_ref(), &starts),
            },
        }
    }

    /// The line, from 1, of the value at the end of a path of keys and numbers: `["team", "vision", "never"]`.
    pub fn line(&self, path: &[&str]) -> Option<usize> {
        let mut node = &self.root;
        for key in path {
            node = node.inside.get(*key)?;
        }
        Some(node.line).filter(|line| *line > 0)
    }
}

/// A value that begins at a byte of the file; `starts` are the bytes with which its lines begin.
fn node(at: usize, value: &DeValue<'_>, starts: &[usize]) -> Node {
    let inside = match value {
        DeValue::Table(table) => of_table(table, starts),
        DeValue::Array(list) => {
            let elements = list.iter().enumerate();
            let element = |(number, element): (usize, &toml::Spanned<DeValue<'_>>)| {
                let node = node(element.span().start, element.get_ref(), starts);
                (number.to_string(), node)
            };
            elements.map(element).collect()
        }
        _ => BTreeMap::new(),
    };
    Node {
        line: starts.partition_point(|start| *start <= at),
        inside,
    }
}

fn of_table(table: &DeTable<'_>, starts: &[usize]) -> BTreeMap<String, Node> {
    let keys = table.iter();
    keys.map(|(key, value)| {
        (
            key.get_ref().to_string(),
            node(key.span().start, value.get_ref(), starts),
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\n\
        zone = \"UTC\"\n\
        day = 2026-10-01\n\
        many = [\n  1,\n  2,\n]\n\
        \n\
        [team.\"a b\"]\n\
        never = [\"stop\"]\n\
        keep = { reason = \"é\",\n until = 2026-12-31 }\n\
        [[workload]]\n\
        name = \"one\"\n\
        [[workload.select]]\n\
        sku = \"x\"\n\
        [[workload.select]]\n\
        sku = \"y\"\n\
        [[workload]]\n\
        checkpoint.every = \"30m\"\n\
        last = true\n";

    #[test]
    fn every_key_and_element_has_its_line() {
        let places = Places::of(TEXT);
        let lines: Vec<&str> = TEXT.lines().collect();
        for (path, on) in [
            (&["zone"][..], "zone = "),
            (&["day"], "day = "),
            (&["many", "1"], "  2,"),
            (&["team", "a b"], "[team."),
            (&["team", "a b", "never"], "never = "),
            (&["team", "a b", "keep", "until"], " until = "),
            (&["workload", "0"], "[[workload]]"),
            (&["workload", "0", "select", "1"], "[[workload.select]]"),
            (&["workload", "0", "select", "1", "sku"], "sku = \"y\""),
            (&["workload", "1", "checkpoint", "every"], "checkpoint.every"),
            (&["workload", "1", "last"], "last = "),
        ] {
            let line = places.line(path).unwrap_or_else(|| panic!("{path:?}"));
            assert!(lines[line - 1].starts_with(on), "{path:?}: line {line}");
        }
        assert_eq!(places.line(&["team", "c"]), None);
        assert_eq!(places.line(&["zone", "x"]), None);
    }

    #[test]
    fn what_is_no_toml_has_no_lines() {
        assert_eq!(Places::of("a b").line(&["a"]), None);
        assert_eq!(Places::default().line(&[]), None);
    }
}
