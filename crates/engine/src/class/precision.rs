//! How often a guess is right, on organisations whose truth is known.

use std::collections::BTreeMap;

use lowwater_model::clue::Guess;
use lowwater_model::workload::Class;

use super::guess;
use super::organisation::{self, Truth};

const SEEDS: u64 = 20;
const MACHINES: usize = 300;
const LEAST: f64 = 0.95;

fn is_acted_on(guess: &Guess) -> bool {
    guess.confidence > LEAST && guess.against.is_empty() && guess.may_be_interrupted()
}

/// Machines of a class, guesses of it, and how many of these are right.
#[derive(Debug, Default)]
struct Count {
    true_ones: u32,
    guessed: u32,
    right: u32,
    sure: u32,
    sure_and_right: u32,
}

fn share(part: u32, whole: u32) -> f64 {
    100.0 * f64::from(part) / f64::from(whole.max(1))
}

fn everything() -> Vec<(Truth, Guess)> {
    let seeds = (0..SEEDS).flat_map(|seed| {
        let (facts, truths) = organisation::of(seed, MACHINES);
        let guesses: Vec<Guess> = facts.resources.iter().map(|resource| guess(&facts, resource)).collect();
        truths.into_iter().zip(guesses)
    });
    seeds.collect()
}

/// Precision and recall of each class, as docs/guide/classes.md shows them: `cargo test -p lowwater-engine precision -- --nocapture`.
#[expect(clippy::print_stderr, reason = "the table is the test's report")]
fn report(all: &[(Truth, Guess)]) -> BTreeMap<Class, Count> {
    let mut counts: BTreeMap<Class, Count> = BTreeMap::new();
    for (truth, guess) in all {
        counts.entry(truth.class).or_default().true_ones += 1;
        let count = counts.entry(guess.class).or_default();
        let right = u32::from(guess.class == truth.class);
        count.guessed += 1;
        count.right += right;
        if guess.confidence > LEAST {
            count.sure += 1;
            count.sure_and_right += right;
        }
    }
    eprintln!(
        "| class | machines | precision | recall | above 0.95 | precision above 0.95 |\n|---|---|---|---|---|---|"
    );
    for (class, count) in counts.iter().filter(|(class, _)| **class != Class::Unknown) {
        eprintln!(
            "| {class} | {} | {:.1} % | {:.1} % | {:.1} % | {:.1} % |",
            count.true_ones,
            share(count.right, count.guessed),
            share(count.right, count.true_ones),
            share(count.sure_and_right, count.true_ones),
            share(count.sure_and_right, count.sure),
        );
    }
    counts
}

#[test]
#[expect(clippy::print_stderr, reason = "the numbers are the test's report")]
fn precision_of_what_may_be_interrupted_is_at_least_99_in_100() {
    let all = everything();
    let counts = report(&all);
    let acted: Vec<&(Truth, Guess)> = all.iter().filter(|(_, guess)| is_acted_on(guess)).collect();
    let right = acted.iter().filter(|(truth, _)| truth.may_be_interrupted()).count() as u32;
    let bearing = all.iter().filter(|(truth, _)| truth.may_be_interrupted()).count() as u32;
    let precision = share(right, acted.len() as u32);
    eprintln!(
        "may be interrupted: {right} of {} acted on, precision {precision:.2} %, recall {:.1} % of {bearing}; {} unknown of {}",
        acted.len(),
        share(right, bearing),
        counts.get(&Class::Unknown).map_or(0, |count| count.guessed),
        all.len()
    );
    for (truth, guess) in all
        .iter()
        .filter(|(truth, guess)| is_acted_on(guess) && !truth.may_be_interrupted())
    {
        eprintln!("wrong: {truth:?} {guess:?}");
    }
    assert!(precision >= 99.0, "{precision}");
    assert!(acted.len() > 500, "a rule that never acts is always right");
    assert!(
        counts.values().filter(|count| count.guessed > 0).count() == Class::ALL.len(),
        "every class is guessed"
    );
}
