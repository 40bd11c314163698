//! Slurm's lists of hosts: `gpu[01-03,07],login1` is gpu01, gpu02, gpu03, gpu07 and login1.

/// Hosts of one job that are read; more are no list of hosts.
const MAX_HOSTS: usize = 16_384;

/// The hosts, in their order; none where the text is no such list or is longer than any cluster.
pub fn expand(text: &str) -> Option<Vec<String>> {
    let mut hosts = Vec::new();
    for part in parts(text)? {
        hosts.extend(one(part)?);
        if hosts.len() > MAX_HOSTS {
            return None;
        }
    }
    Some(hosts)
}

/// Split at commas and blanks that stand in no brackets.
fn parts(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, sign) in text.char_indices() {
        match sign {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' | ';' | ' ' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
        if !(0..=1).contains(&depth) {
            return None;
        }
    }
    parts.push(&text[from..]);
    (depth == 0).then(|| parts.into_iter().filter(|part| !part.is_empty()).collect())
}

/// One name, each of its brackets taken for all that it says.
fn one(part: &str) -> Option<Vec<String>> {
    let Some((begin, rest)) = part.split_once('[') else {
        return Some(vec![part.to_owned()]);
    };
    let (numbers, rest) = rest.split_once(']')?;
    let ends = one(rest)?;
    let mut names = Vec::new();
    for number in numbers.split(',') {
        for number in range(number)? {
            if names.len() + ends.len() > MAX_HOSTS {
                return None;
            }
            names.extend(ends.iter().map(|end| format!("{begin}{number}{end}")));
        }
    }
    Some(names)
}

/// `01-03` with its leading zeros, or `7`.
fn range(text: &str) -> Option<Vec<String>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(first) || !is_number(last) {
        return None;
    }
    let (low, high): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    let width = first.len();
    (low <= high && high - low < MAX_HOSTS).then(|| (low..=high).map(|n| format!("{n:0width$}")).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hosts(text: &str) -> Option<String> {
        expand(text).map(|hosts| hosts.join(" "))
    }

    #[test]
    fn as_slurm_writes_them() {
        for (text, want) in [
            ("gpu1", "gpu1"),
            ("gpu[01-03,07],login1", "gpu01 gpu02 gpu03 gpu07 login1"),
            ("r[1-2]n[8-9]", "r1n8 r1n9 r2n8 r2n9"),
            ("a[9-11]-ib", "a9-ib a10-ib a11-ib"),
            ("ip-10-0-0-1 ip-10-0-0-2", "ip-10-0-0-1 ip-10-0-0-2"),
            ("", ""),
        ] {
            assert_eq!(hosts(text).as_deref(), Some(want), "{text}");
        }
        for odd in [
            "a[",
            "a]",
            "a[]",
            "a[1-]",
            "a[x-y]",
            "a[3-1]",
            "a[[1]]",
            "a[0-99999999]",
            "a[1-9999]b[1-9999]",
        ] {
            assert_eq!(hosts(odd), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_is_bounded(text in "[a-c0-9,\\[\\]-]{0,60}") {
            prop_assert!(expand(&text).is_none_or(|hosts| hosts.len() <= MAX_HOSTS));
        }
    }
}
