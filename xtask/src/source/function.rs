//! Finds functions by matching brackets, which is exact enough on masked code.

use super::mask::is_word;

/// A function with a body.
#[derive(Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Line of `fn`, from 1.
    pub line: usize,
    /// Lines from `fn` to the closing brace.
    pub lines: usize,
    /// Without `self`.
    pub parameters: usize,
}

/// All functions with bodies, nested ones too. The text must be masked.
pub fn functions(code: &str) -> Vec<Function> {
    let bytes = code.as_bytes();
    words(code, "fn").filter_map(|at| function(bytes, at)).collect()
}

/// Offsets at which a whole word stands.
pub fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = code.as_bytes();
    let alone = move |at: usize| {
        let before = at.checked_sub(1).map(|b| bytes[b]);
        let after = bytes.get(at + word.len()).copied();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    };
    code.match_indices(word).map(|(at, _)| at).filter(move |at| alone(*at))
}

/// The line on which an offset lies, from 1.
pub fn line_of(code: &str, at: usize) -> usize {
    1 + newlines(&code.as_bytes()[..at])
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.split(|b| *b == b'\n').count() - 1
}

fn function(bytes: &[u8], at: usize) -> Option<Function> {
    let start = skip_space(bytes, at + 2);
    let end = (start..bytes.len())
        .find(|i| !is_word(bytes[*i]) && bytes[*i] != b'$')
        .unwrap_or(bytes.len());
    if end == start {
        // The type of a function pointer has no name.
        return None;
    }
    let open = skip_generics(bytes, skip_space(bytes, end))?;
    let close = matching(bytes, open)?;
    let body = body(bytes, close + 1)?;
    let last = matching(bytes, body)?;
    let line = |at: usize| 1 + newlines(&bytes[..at]);
    Some(Function {
        name: String::from_utf8_lossy(&bytes[start..end]).into_owned(),
        line: line(at),
        lines: line(last) - line(at) + 1,
        parameters: parameters(&bytes[open + 1..close]),
    })
}

fn skip_space(bytes: &[u8], from: usize) -> usize {
    (from..bytes.len())
        .find(|i| !bytes[*i].is_ascii_whitespace())
        .unwrap_or(bytes.len())
}

/// From after the name to the opening parenthesis.
fn skip_generics(bytes: &[u8], from: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for at in from..bytes.len() {
        match bytes[at] {
            b'<' => depth += 1,
            b'>' if bytes[at - 1] != b'-' => depth -= 1,
            b'(' if depth == 0 => return Some(at),
            b'{' | b'}' | b';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The offset of the bracket that closes the one at `open`.
pub fn matching(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in bytes.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The opening brace of the body; none where the declaration ends with a semicolon.
fn body(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'{' => return Some(at),
            b';' => return None,
            b'(' | b'[' => at = matching(bytes, at)?,
            _ => {}
        }
        at += 1;
    }
    None
}

fn parameters(list: &[u8]) -> usize {
    let mut depth = 0_i32;
    let mut parts = vec![Vec::new()];
    for (at, byte) in list.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b'>' if at > 0 && list[at - 1] == b'-' => {}
            b')' | b']' | b'}' | b'>' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(*byte);
        }
    }
    let counts = |part: &Vec<u8>| {
        let text = String::from_utf8_lossy(part);
        let name = text.split(':').next().unwrap_or_default();
        !text.trim().is_empty()
            && name
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .all(|w| w != "self")
    };
    parts.iter().filter(|p| counts(p)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::mask::mask;

    fn found(text: &str) -> Vec<(String, usize, usize, usize)> {
        let list = functions(&mask(text).code);
        list.into_iter()
            .map(|f| (f.name, f.line, f.lines, f.parameters))
            .collect()
    }

    fn one(name: &str, line: usize, lines: usize, parameters: usize) -> (String, usize, usize, usize) {
        (name.to_owned(), line, lines, parameters)
    }

    #[test]
    fn measures_lines_and_parameters() {
        let text = "/// doc\npub fn f<T: Fn(u8) -> u8>(\n  &self,\n  a: HashMap<u8, (u8, u8)>,\n  b: impl Fn(u8, u8) -> u8,\n) -> [u8; 4]\nwhere T: X {\n  \"}\";\n}\n";
        assert_eq!(found(text), [one("f", 2, 8, 2)]);
    }

    #[test]
    fn nested_functions_count_for_themselves() {
        let text = "fn outer() {\n  fn inner(x: u8) {}\n}";
        assert_eq!(found(text), [one("outer", 1, 3, 0), one("inner", 2, 1, 1)]);
    }

    #[test]
    fn declarations_pointers_and_words_are_no_functions() {
        assert!(found("trait T { fn f(&self, x: u8) -> [u8; 2]; } type P = fn(u8) -> u8; let fname = x;").is_empty());
    }

    #[test]
    fn functions_of_macros_count() {
        assert_eq!(
            found("macro_rules! m { ($n:ident) => { fn $n(a: u8) { a } } }"),
            [one("$n", 1, 1, 1)]
        );
    }

    #[test]
    fn self_in_any_form_is_no_parameter() {
        for form in ["self", "mut self", "&self", "&'a mut self", "self: Arc<Self>"] {
            assert_eq!(
                found(&format!("fn f({form}, b: u8) {{}}")),
                [one("f", 1, 1, 1)],
                "{form}"
            );
        }
        assert_eq!(found("fn f(itself: u8) {}"), [one("f", 1, 1, 1)]);
    }
}
