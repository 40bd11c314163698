//! Splits Rust text into code, comments and literals, so that checks do not trip over words in strings.

/// The same text twice, each with the other parts blanked: offsets and line numbers stay.
#[derive(Debug, Default)]
pub struct Masked {
    /// Without comments, strings and character literals.
    pub code: String,
    /// Comments only.
    pub comments: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Code,
    Comment,
    Literal,
}

/// Splits a text. An unfinished comment or string goes to the end of the text.
pub fn mask(text: &str) -> Masked {
    let bytes = text.as_bytes();
    let mut masked = Masked::default();
    let mut at = 0;
    while at < bytes.len() {
        let (part, length) = next_part(bytes, at);
        let end = (at + length).min(bytes.len());
        push(&mut masked.code, &bytes[at..end], part == Part::Code);
        push(&mut masked.comments, &bytes[at..end], part == Part::Comment);
        at = end;
    }
    masked
}

fn push(out: &mut String, bytes: &[u8], keep: bool) {
    for byte in bytes {
        let shown = match byte {
            b'\n' => '\n',
            // Beyond ASCII only the place counts: every byte stays one character.
            b if keep && b.is_ascii() => char::from(*b),
            _ => ' ',
        };
        out.push(shown);
    }
}

fn next_part(bytes: &[u8], at: usize) -> (Part, usize) {
    let rest = &bytes[at..];
    match rest {
        [b'/', b'/', ..] => (
            Part::Comment,
            rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
        ),
        [b'/', b'*', ..] => (Part::Comment, block_comment(rest)),
        [b'"', ..] => (Part::Literal, quoted(rest, b'"')),
        [b'\'', ..] => character(rest).map_or((Part::Code, 1), |length| (Part::Literal, length)),
        [first, ..] if is_word(*first) => word_or_literal(rest),
        _ => (Part::Code, 1),
    }
}

/// Can the byte be part of a word?
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at + 1 < rest.len() {
        match &rest[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// Length of a literal between two quotes, with escapes.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b if b == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Length of a character literal; none where the quote begins a lifetime or a label.
fn character(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        return Some(quoted(rest, b'\''));
    }
    let first = *rest.get(1)?;
    let length = match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    };
    (rest.get(1 + length) == Some(&b'\'')).then_some(length + 2)
}

/// A word, or a literal that begins with one of the prefixes `r`, `b`, `c`, `br`, `cr`.
fn word_or_literal(rest: &[u8]) -> (Part, usize) {
    let length = rest.iter().position(|b| !is_word(*b)).unwrap_or(rest.len());
    let after = &rest[length..];
    match (&rest[..length], after.first()) {
        (b"r" | b"br" | b"cr", Some(b'"' | b'#')) => match raw(after) {
            Some(raw) => (Part::Literal, length + raw),
            None => (Part::Code, length),
        },
        (b"b" | b"c", Some(b'"')) => (Part::Literal, length + quoted(after, b'"')),
        (b"b", Some(b'\'')) => (Part::Literal, length + quoted(after, b'\'')),
        _ => (Part::Code, length),
    }
}

/// Length of `#"..."#`; none for a raw identifier such as `r#type`.
fn raw(after: &[u8]) -> Option<usize> {
    let hashes = after.iter().position(|b| *b != b'#')?;
    if after.get(hashes) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    let body = &after[hashes + 1..];
    let end = body.windows(close.len()).position(|w| w == close);
    Some(end.map_or(after.len(), |end| hashes + 1 + end + close.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        let masked = mask(text);
        assert_eq!(masked.code.len(), text.len(), "offsets moved");
        assert_eq!(masked.comments.len(), text.len(), "offsets moved");
        masked.code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn blanks_comments() {
        assert_eq!(code("a // b { \n c /* d /* e */ f */ g"), "a c g");
        assert_eq!(code("a /* never ends"), "a");
        assert_eq!(mask("a // why\nb").comments.trim(), "// why");
    }

    #[test]
    fn blanks_strings() {
        assert_eq!(code(r#"a("x { \" // y", b"z", c"w")"#), "a( , , )");
        assert_eq!(code("a(r\"\\\", r#\"x \" y\"#, br##\"\"# \"##) b"), "a( , , ) b");
        assert_eq!(code("let r#type = 1; \"é\" z"), "let r#type = 1; z");
    }

    #[test]
    fn tells_characters_from_lifetimes() {
        assert_eq!(
            code("fn f<'a>(x: &'a str) { '{' ; '\\'' ; 'é' ; b'}' ; '\\u{7b}' }"),
            "fn f<'a>(x: &'a str) { ; ; ; ; }"
        );
        assert_eq!(code("'outer: loop { break 'outer; }"), "'outer: loop { break 'outer; }");
    }

    #[test]
    fn never_panics_on_any_prefix_of_a_hard_text() {
        let hard = "/*/**/ r#\"\"# b'\\'' '\\ \" \\\" // é 'é' br\"\" r#x '";
        for (end, _) in hard.char_indices() {
            code(&hard[..end]);
        }
    }
}
