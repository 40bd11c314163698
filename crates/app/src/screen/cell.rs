//! Breaking the text of a cell: after a blank first, then after a sign that ends a part of a name, and only then anywhere.

/// Signs after which a name may go on in the next line.
const SIGNS: &[char] = &['-', '_', '/', '.', ':', ',', '|', '='];
/// A part of a name is not left alone in a line when it is shorter: `i-` says nothing.
const SHORTEST_PART: usize = 4;

/// The lines of a cell, none longer than `width`.
pub fn broken(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    text.split('\n').flat_map(|line| broken_line(line, width)).collect()
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn broken_line(text: &str, width: usize) -> Vec<String> {
    if length(text) <= width {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        for (at, part) in parts(word, width).into_iter().enumerate() {
            let blank = usize::from(at == 0 && !line.is_empty());
            if length(&line) + blank + length(&part) > width {
                lines.push(std::mem::take(&mut line));
            } else if blank > 0 {
                line.push(' ');
            }
            line.push_str(&part);
        }
    }
    lines.push(line);
    lines.retain(|l| !l.is_empty());
    lines
}

/// What a word may be broken into: itself where it fits.
fn parts(word: &str, width: usize) -> Vec<String> {
    if length(word) <= width {
        return vec![word.to_owned()];
    }
    let characters: Vec<char> = word.chars().collect();
    let mut parts = Vec::new();
    let mut part = String::new();
    for (at, c) in characters.iter().enumerate() {
        part.push(*c);
        let rest = characters.len() - at - 1;
        if length(&part) == width || ends_part(&characters, at) && length(&part) >= SHORTEST_PART && rest > 1 {
            parts.push(std::mem::take(&mut part));
        }
    }
    parts.push(part);
    parts.retain(|p| !p.is_empty());
    parts
}

/// Is there a sign at this place, and not one inside of a number?
fn ends_part(characters: &[char], at: usize) -> bool {
    let digit = |at: Option<usize>| at.and_then(|at| characters.get(at)).is_some_and(char::is_ascii_digit);
    SIGNS.contains(&characters[at]) && !(digit(at.checked_sub(1)) && digit(Some(at + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_after_blanks_then_after_signs_then_anywhere() {
        let cases: [(&str, usize, &[&str]); 9] = [
            ("short", 10, &["short"]),
            ("one two three", 8, &["one two", "three"]),
            ("realtime-inference", 11, &["realtime-", "inference"]),
            ("the realtime-inference", 13, &["the realtime-", "inference"]),
            ("central_eu/room.rack", 10, &["central_", "eu/room.", "rack"]),
            ("i-07d72fad819706435", 12, &["i-07d72fad81", "9706435"]),
            ("1,234,567.89 USD", 13, &["1,234,567.89", "USD"]),
            ("aaaaaaaaaaaa", 5, &["aaaaa", "aaaaa", "aa"]),
            ("first\nsecond", 10, &["first", "second"]),
        ];
        for (text, width, want) in cases {
            let lines = broken(text, width);
            assert_eq!(lines, want, "{text} in {width}");
        }
    }

    #[test]
    fn nothing_is_lost_and_no_line_is_too_long() {
        let text = "resources: chat-standby-1, i-0d11f0134651c9e71 of arn:aws:ec2:eu-central-1:1234:x/y.z and é—漢 (2026-10-01)";
        let letters = |t: &str| t.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        for width in 1..120 {
            let lines = broken(text, width);
            assert!(lines.iter().all(|l| length(l) <= width), "{width}: {lines:?}");
            assert_eq!(letters(&lines.concat()), letters(text), "{width}");
        }
    }

    #[test]
    fn a_word_that_fits_is_never_broken() {
        let text = "the realtime-inference of team-language in eu-central-1 costs 1,234.50 USD";
        for width in 18..60 {
            let words: Vec<String> = broken(text, width)
                .iter()
                .flat_map(|l| l.split(' ').map(String::from).collect::<Vec<_>>())
                .collect();
            assert_eq!(words, text.split(' ').collect::<Vec<_>>(), "{width}");
        }
    }
}
