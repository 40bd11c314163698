//! Breaking sentences into lines.

/// Breaks at spaces so that no line is longer than `width`; lines after the first begin with `indent`.
///
/// A word that is longer than a line stays whole: a path that is cut can't be copied. Line breaks in the text stay.
pub fn wrap(text: &str, width: usize, indent: &str) -> Vec<String> {
    visible(text)
        .lines()
        .flat_map(|line| wrap_line(line, width, indent))
        .collect()
}

/// Foreign text can't command the terminal: control characters and marks that turn the direction of writing are
/// replaced. A line break is meant.
pub fn visible(text: &str) -> String {
    text.chars()
        .map(|c| if is_command(c) && c != '\n' { '\u{fffd}' } else { c })
        .collect()
}

/// Does a character do something instead of being shown? Control characters, marks that turn the direction of writing,
/// and separators that some programs take for the end of a line.
pub fn is_command(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

fn wrap_line(text: &str, width: usize, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    // Leading spaces of a line are meant.
    let lead = &text[..text.len() - text.trim_start().len()];
    let mut line = lead.to_owned();
    let mut length = lead.chars().count();
    let mut empty = true;
    for word in text.split_whitespace() {
        let size = word.chars().count();
        if !empty && length + 1 + size > width {
            lines.push(std::mem::replace(&mut line, indent.to_owned()));
            length = indent.chars().count();
            empty = true;
        }
        if !empty {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += size;
        empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_at_spaces_and_keeps_long_words() {
        assert_eq!(wrap("a bb ccc dddd", 6, ""), ["a bb", "ccc", "dddd"]);
        assert_eq!(wrap("- a bb ccc", 6, "  "), ["- a bb", "  ccc"]);
        assert_eq!(
            wrap("see /a/very/long/path now", 8, ""),
            ["see", "/a/very/long/path", "now"]
        );
        assert_eq!(wrap("one\n  two three", 7, ""), ["one", "  two", "three"]);
        assert_eq!(wrap("", 10, ""), Vec::<String>::new());
    }

    #[test]
    fn foreign_text_is_only_text() {
        assert_eq!(visible("a\u{1b}[2J\u{202e}b\nc"), "a\u{fffd}[2J\u{fffd}b\nc");
        assert_eq!(wrap("a\u{7}b", 10, ""), ["a\u{fffd}b"]);
    }

    #[test]
    fn no_word_is_lost_and_no_line_too_wide() {
        let text = "the quick brown fox jumps over the lazy dog and then some more of it".repeat(3);
        for width in 6..90 {
            let lines = wrap(&text, width, "  ");
            let words: Vec<&str> = lines.iter().flat_map(|l| l.split_whitespace()).collect();
            assert_eq!(words, text.split_whitespace().collect::<Vec<_>>());
            assert!(
                lines.iter().all(|l| l.chars().count() <= width.max(8)),
                "{width}: {lines:?}"
            );
        }
    }
}
