//! Distinct texts of a column: each is kept once and stands in the rows as a number.

use std::hash::{BuildHasher, RandomState};

/// The code of a null.
pub(crate) const NONE: u32 = u32::MAX;

/// Distinct texts, numbered in the order in which they came.
pub(crate) struct Dictionary {
    text: String,
    ends: Vec<u32>,
    /// Open addressing: codes, or `NONE` for a free slot. Its length is a power of two.
    table: Vec<u32>,
    seed: u64,
}

impl Default for Dictionary {
    fn default() -> Self {
        Self {
            text: String::new(),
            ends: Vec::new(),
            table: vec![NONE; 16],
            // A seed that no file can know, so that no file can make all its texts collide.
            seed: RandomState::new().hash_one(0_u8),
        }
    }
}

impl Dictionary {
    /// The code of a text, new or not.
    pub(crate) fn code(&mut self, text: &str) -> u32 {
        let mask = self.table.len() - 1;
        let mut slot = hash(self.seed, text.as_bytes()) as usize & mask;
        loop {
            match self.table[slot] {
                NONE => break,
                code if self.get(code) == text => return code,
                _ => slot = (slot + 1) & mask,
            }
        }
        let code = self.ends.len() as u32;
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        self.table[slot] = code;
        if self.ends.len() * 2 > self.table.len() {
            self.grow();
        }
        code
    }

    /// The text of a code.
    pub(crate) fn get(&self, code: u32) -> &str {
        let code = code as usize;
        let start = if code == 0 { 0 } else { self.ends[code - 1] as usize };
        &self.text[start..self.ends[code] as usize]
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// In order of their codes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|code| self.get(code))
    }

    /// The place of each code in the order of the texts, from 1; 0 is for null.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let mut codes: Vec<u32> = (0..self.len() as u32).collect();
        codes.sort_unstable_by(|a, b| self.get(*a).cmp(self.get(*b)));
        let mut ranks = vec![0; codes.len()];
        for (rank, code) in codes.into_iter().enumerate() {
            ranks[code as usize] = rank as u32 + 1;
        }
        ranks
    }

    /// Memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.text.capacity() + 4 * (self.ends.capacity() + self.table.capacity())
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        let mut table = vec![NONE; size];
        for (code, text) in self.iter().enumerate() {
            let mut slot = hash(self.seed, text.as_bytes()) as usize & (size - 1);
            while table[slot] != NONE {
                slot = (slot + 1) & (size - 1);
            }
            table[slot] = code as u32;
        }
        self.table = table;
    }
}

/// Eight bytes a step; short texts are the rule.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let step = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * u128::from(MIX);
        (product as u64) ^ (product >> 64) as u64
    };
    let (words, tail) = bytes.as_chunks::<8>();
    let mut hash = words.iter().fold(seed ^ bytes.len() as u64, |hash, word| {
        step(hash, u64::from_le_bytes(*word))
    });
    let mut last = [0; 8];
    last[..tail.len()].copy_from_slice(tail);
    hash = step(hash, u64::from_le_bytes(last));
    hash ^ (hash >> 29)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The same as a map, and ranks are the order of the texts.
        #[test]
        fn like_a_map(texts in prop::collection::vec("[a-d]{0,3}|.{0,20}", 0..300)) {
            let mut dictionary = Dictionary::default();
            let mut map = BTreeMap::new();
            for text in &texts {
                let next = map.len() as u32;
                let code = *map.entry(text.clone()).or_insert(next);
                prop_assert_eq!(dictionary.code(text), code);
            }
            prop_assert_eq!(dictionary.len(), map.len());
            let ranks = dictionary.ranks();
            for (place, (text, code)) in map.iter().enumerate() {
                prop_assert_eq!(dictionary.get(*code), text);
                prop_assert_eq!(ranks[*code as usize], place as u32 + 1);
            }
        }
    }

    #[test]
    fn many_texts_stay_apart() {
        let mut dictionary = Dictionary::default();
        let texts: Vec<String> = (0..100_000).map(|i| format!("i-{:017x}", i * 7919)).collect();
        for (i, text) in texts.iter().enumerate() {
            assert_eq!(dictionary.code(text), i as u32);
        }
        assert!(
            texts
                .iter()
                .enumerate()
                .all(|(i, text)| dictionary.get(i as u32) == text)
        );
        assert!(dictionary.bytes() > 100_000 * 19);
    }
}
