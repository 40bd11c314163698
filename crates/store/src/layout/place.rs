//! Names as parts of paths: any text becomes one harmless, readable component.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::input::hex;

/// Longer names are cut and told apart by a hash; file systems take 255 bytes.
const MAX_BYTES: usize = 120;

/// A text as one component of a path: letters, digits, `-`, `_` and inner points stay, other bytes become `~XX`.
///
/// Not `%XX`: paths are also read as URLs, where that would be decoded.
pub fn component(text: &str) -> String {
    let mut out = String::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => out.push(byte as char),
            b'.' if at > 0 => out.push('.'),
            _ => {
                let _ = write!(out, "~{byte:02X}");
            }
        }
    }
    if out.len() > MAX_BYTES {
        let hash = Sha256::digest(text.as_bytes());
        out.truncate(MAX_BYTES);
        out.push('~');
        out.push_str(&hex(&hash[..8]));
    }
    if out.is_empty() { "~".into() } else { out }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn readable_where_possible() {
        assert_eq!(component("aws"), "aws");
        assert_eq!(component("2026-10"), "2026-10");
        assert_eq!(
            component("/providers/Microsoft.Billing"),
            "~2Fproviders~2FMicrosoft.Billing"
        );
        assert_eq!(component(".."), "~2E.");
        assert_eq!(component(""), "~");
        assert_ne!(component(&"x".repeat(300)), component(&"x".repeat(301)));
    }

    proptest! {
        /// One component, never a way up or out, and different texts stay different.
        #[test]
        fn harmless_and_distinct(a in any::<String>(), b in any::<String>()) {
            let (x, y) = (component(&a), component(&b));
            prop_assert!(x.len() <= MAX_BYTES + 20 && !x.is_empty());
            prop_assert!(!x.starts_with('.') && !x.contains(['/', '\\', '\0', '%', '*', '=']));
            prop_assert_eq!(a == b, x == y);
        }
    }
}
