//! Algorithms on numbers: no domain nouns, no facts, no policy. Each has a brute-force twin in its tests.

pub mod checkpoint;
pub mod quantile;
