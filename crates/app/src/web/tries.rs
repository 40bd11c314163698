//! Logins that failed: each makes the next one wait longer.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// So many failures are free.
const FREE: u32 = 5;
/// Longest wait.
const LONGEST: Duration = Duration::from_mins(15);
/// A name or address without a failure for so long is forgotten.
const FORGET: Duration = Duration::from_hours(1);
/// Names and addresses that are remembered; beyond, the oldest are forgotten first.
const MOST: usize = 10_000;

/// Failures of one name or address.
#[derive(Clone, Copy, Debug)]
struct Failures {
    number: u32,
    last: Instant,
}

impl Failures {
    fn wait(&self) -> Duration {
        match self.number.checked_sub(FREE) {
            None => Duration::ZERO,
            Some(beyond) => Duration::from_secs(1 << beyond.min(20)).min(LONGEST),
        }
    }
}

/// Failures by name and by address.
#[derive(Debug, Default)]
pub struct Tries {
    of: BTreeMap<String, Failures>,
}

impl Tries {
    /// How long one of these must wait before it may try again.
    pub fn wait(&self, keys: &[String], now: Instant) -> Duration {
        let left = |key: &String| {
            let failures = self.of.get(key)?;
            (failures.last + failures.wait()).checked_duration_since(now)
        };
        keys.iter().filter_map(left).max().unwrap_or_default()
    }

    /// One more failure of each.
    pub fn failed(&mut self, keys: &[String], now: Instant) {
        self.of.retain(|_, failures| now.duration_since(failures.last) < FORGET);
        while self.of.len() + keys.len() > MOST {
            let oldest = self
                .of
                .iter()
                .min_by_key(|(_, failures)| failures.last)
                .map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            self.of.remove(&oldest);
        }
        for key in keys {
            let failures = self.of.entry(key.clone()).or_insert(Failures { number: 0, last: now });
            failures.number = failures.number.saturating_add(1);
            failures.last = now;
        }
    }

    /// It is in: what failed before is forgiven, under its name only; an address may be that of many.
    pub fn succeeded(&mut self, key: &str) {
        self.of.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_doubles_the_wait() {
        let (mut tries, now) = (Tries::default(), Instant::now());
        let key = ["ann".to_owned()];
        for _ in 0..4 {
            tries.failed(&key, now);
            assert_eq!(tries.wait(&key, now), Duration::ZERO);
        }
        for seconds in [1, 2, 4, 8, 16] {
            tries.failed(&key, now);
            assert_eq!(tries.wait(&key, now), Duration::from_secs(seconds));
        }
        let both = ["bob".to_owned(), "ann".to_owned()];
        assert_eq!(
            tries.wait(&both, now),
            Duration::from_secs(16),
            "an address waits under every name"
        );
        assert_eq!(tries.wait(&both, now + Duration::from_secs(17)), Duration::ZERO);
        (0..100).for_each(|_| tries.failed(&key, now));
        assert_eq!(tries.wait(&key, now), LONGEST);
        tries.succeeded("ann");
        assert_eq!(tries.wait(&key, now), Duration::ZERO);
    }

    #[test]
    fn a_flood_of_names_takes_no_more_memory() {
        let (mut tries, now) = (Tries::default(), Instant::now());
        for number in 0..MOST + 100 {
            tries.failed(&[number.to_string()], now + Duration::from_millis(number as u64));
        }
        assert_eq!(tries.of.len(), MOST);
        tries.failed(&["late".to_owned()], now + FORGET * 2);
        assert_eq!(tries.of.len(), 1);
    }
}
