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

fn counts(all: &[(Truth, Guess)]) -> BTreeMap<Class, Count> {
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
    counts
}

/// Precision and recall of each class, as the guide shows them.
fn table(counts: &BTreeMap<Class, Count>) -> String {
    let head = "| class | machines | precision | recall | recall above 0.95 | precision above 0.95 |\n|---|---|---|---|---|---|\n";
    let row = |(class, count): (&Class, &Count)| {
        format!(
            "| {class} | {} | {:.1} % | {:.1} % | {:.1} % | {:.1} % |\n",
            count.true_ones,
            share(count.right, count.guessed),
            share(count.right, count.true_ones),
            share(count.sure_and_right, count.true_ones),
            share(count.sure_and_right, count.sure),
        )
    };
    let named = counts.iter().filter(|(class, _)| **class != Class::Unknown);
    head.to_owned() + &named.map(row).collect::<String>()
}

/// What is acted on, in a sentence of the guide.
fn sentence(all: &[(Truth, Guess)]) -> (f64, String) {
    let acted: Vec<&(Truth, Guess)> = all.iter().filter(|(_, guess)| is_acted_on(guess)).collect();
    let right = acted.iter().filter(|(truth, _)| truth.may_be_interrupted()).count() as u32;
    let bearing = all.iter().filter(|(truth, _)| truth.may_be_interrupted()).count() as u32;
    let precision = share(right, acted.len() as u32);
    let text = format!(
        "{} guesses of {} are acted on, {right} of them rightly: precision {precision:.2} %, recall {:.1} % of {bearing}.",
        acted.len(),
        all.len(),
        share(right, bearing),
    );
    (precision, text)
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the guide is a file")]
fn precision_of_what_may_be_interrupted_is_at_least_99_in_100() {
    let all = everything();
    let counts = counts(&all);
    let ((precision, sentence), table) = (sentence(&all), table(&counts));
    eprintln!("{table}\n{sentence}");
    let is_wrong = |(truth, guess): &&(Truth, Guess)| is_acted_on(guess) && !truth.may_be_interrupted();
    for (truth, guess) in all.iter().filter(is_wrong) {
        eprintln!("wrong: {truth:?} {guess:?}");
    }
    assert!(precision >= 99.0, "{precision}");
    let acted = all.iter().filter(|(_, guess)| is_acted_on(guess)).count();
    assert!(acted > 500, "a rule that never acts is always right");
    assert!(
        Class::ALL.iter().all(|class| counts[class].guessed > 0),
        "every class is guessed"
    );
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/classes.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    assert!(
        guide.contains(&table) && guide.contains(&sentence),
        "docs/guide/classes.md shows other numbers"
    );
}

/// A guess of 70 % is right in about 70 of 100 cases, or more.
#[test]
fn confidence_means_what_it_says() {
    let all = everything();
    for (from, to) in [(0.5, 0.7), (0.7, 0.9), (0.9, 1.01)] {
        let within: Vec<_> = all
            .iter()
            .filter(|(_, guess)| (from..to).contains(&guess.confidence))
            .collect();
        let known: Vec<_> = within
            .into_iter()
            .filter(|(_, guess)| guess.class != Class::Unknown)
            .collect();
        let right = known.iter().filter(|(truth, guess)| truth.class == guess.class).count();
        let share = right as f64 / known.len() as f64;
        assert!(known.len() > 100 && share >= from - 0.05, "{from} to {to}: {share}");
    }
}
