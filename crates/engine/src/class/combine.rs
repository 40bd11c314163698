//! From clues to a class: log-odds add up, a softmax makes shares of them.

use std::collections::BTreeMap;

use lowwater_model::workload::Class;

use super::{Clue, Source};

/// Log-odds of `unknown`, against 0 for every class: where nothing speaks, nothing is known.
const UNKNOWN: f64 = 1.0;
/// A single clue with less than this is weak.
const STRONG: f64 = 3.5;
/// A source speaks for a class from here on.
const SPEAKS: f64 = 1.0;
/// Most that a single weak clue gives.
const MOST_OF_WEAK: f64 = 0.8;
/// Most that one source gives, however many of its clues agree.
const MOST_OF_ONE_SOURCE: f64 = 0.95;
/// Within a source, what further clues add to the strongest: whoever wrote a tag also gave the name.
const FURTHER: f64 = 0.25;

/// The likeliest class, how likely (in thousandths), and what speaks for it, strongest first.
pub(super) fn all(found: Vec<(Source, Clue)>) -> (Class, f64, Vec<String>) {
    let score = |class: Class| match class {
        Class::Unknown => UNKNOWN,
        class => by_source(&found, class).values().sum(),
    };
    let scores: Vec<(Class, f64)> = Class::ALL.iter().map(|class| (*class, score(*class))).collect();
    let most = scores.iter().fold(f64::MIN, |most, (_, score)| most.max(*score));
    let whole: f64 = scores.iter().map(|(_, score)| (score - most).exp()).sum();
    // The first of equals wins, and `unknown` before all of them.
    let class = match scores.iter().find(|(_, score)| *score == most) {
        Some((class, score)) if *score > UNKNOWN => *class,
        _ => Class::Unknown,
    };
    let confidence = (1.0 / whole).min(limit(&found, class));
    (class, (confidence * 1e3).round() / 1e3, because(found, class))
}

/// What each source says of a class.
fn by_source(found: &[(Source, Clue)], class: Class) -> BTreeMap<Source, f64> {
    let mut weights: BTreeMap<Source, Vec<f64>> = BTreeMap::new();
    for (source, clue) in found {
        weights.entry(*source).or_default().push(clue.weight(class));
    }
    weights
        .into_iter()
        .map(|(source, weights)| (source, together(&weights)))
        .collect()
}

/// The strongest for and the strongest against count whole, the others a quarter.
fn together(weights: &[f64]) -> f64 {
    let for_it = weights.iter().fold(0.0_f64, |most, weight| most.max(*weight));
    let against = weights.iter().fold(0.0_f64, |least, weight| least.min(*weight));
    let rest = weights.iter().sum::<f64>() - for_it - against;
    for_it + against + FURTHER * rest
}

/// The most that may be believed of so few clues.
fn limit(found: &[(Source, Clue)], class: Class) -> f64 {
    let sources = by_source(found, class);
    if sources.values().filter(|weight| **weight >= SPEAKS).count() > 1 {
        return 1.0;
    }
    let mut speaking = found
        .iter()
        .map(|(_, clue)| clue.weight(class))
        .filter(|weight| *weight > 0.0);
    match (speaking.next(), speaking.next()) {
        (Some(weight), None) if weight < STRONG => MOST_OF_WEAK,
        _ => MOST_OF_ONE_SOURCE,
    }
}

fn because(mut found: Vec<(Source, Clue)>, class: Class) -> Vec<String> {
    found.retain(|(_, clue)| clue.weight(class) > 0.0);
    found.sort_by(|(_, a), (_, b)| {
        let weights = b.weight(class).total_cmp(&a.weight(class));
        weights.then_with(|| a.says.cmp(&b.says))
    });
    let mut says: Vec<String> = found.into_iter().map(|(_, clue)| clue.says).collect();
    says.dedup();
    says
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clue(source: Source, class: Class, weight: f64) -> (Source, Clue) {
        (source, Clue::new(format!("{source:?} {class}"), &[(class, weight)]))
    }

    #[test]
    fn nothing_and_next_to_nothing_are_unknown() {
        assert_eq!(all(Vec::new()).0, Class::Unknown);
        let little = all(vec![clue(Source::Did, Class::Ci, 0.9)]);
        assert_eq!(little.0, Class::Unknown, "{little:?}");
        let even = all(vec![clue(Source::Did, Class::Ci, -2.0)]);
        assert_eq!((even.0, even.2), (Class::Unknown, vec![]));
    }

    #[test]
    fn the_share_is_that_of_a_softmax() {
        let (class, confidence, because) = all(vec![
            clue(Source::Words, Class::Training, 2.0),
            clue(Source::Did, Class::Training, 1.5),
            clue(Source::Jobs, Class::Ci, 1.0),
        ]);
        let by_hand = 3.5_f64.exp() / (3.5_f64.exp() + 2.0 * 1.0_f64.exp() + 5.0);
        assert_eq!((class, confidence), (Class::Training, (by_hand * 1e3).round() / 1e3));
        assert_eq!(because, ["Words training", "Did training"]);
    }

    #[test]
    fn one_clue_and_one_source_are_limited() {
        let of = |clues: &[(Source, f64)]| {
            let clues = clues.iter().map(|(source, weight)| clue(*source, Class::Ci, *weight));
            all(clues.collect()).1
        };
        assert_eq!(of(&[(Source::Words, 3.4)]), 0.775);
        assert_eq!(of(&[(Source::Words, 9.0)]), 0.95);
        assert_eq!(of(&[(Source::Words, 9.0), (Source::Words, 9.0)]), 0.95);
        assert!(of(&[(Source::Words, 5.0), (Source::Did, 2.0)]) > 0.95);
        assert_eq!(
            of(&[(Source::Words, 5.0), (Source::Did, 0.9)]),
            0.95,
            "the second hardly speaks"
        );
    }

    proptest! {
        /// Another source that speaks for the winner never lowers it, and no order changes anything.
        #[test]
        fn more_evidence_is_more(weights in prop::collection::vec((0..4_usize, 0..7_usize, -3.0..6.0_f64), 1..8), turn in 0..8_usize) {
            const SOURCES: [Source; 4] = [Source::Words, Source::Bought, Source::Did, Source::Jobs];
            let clues: Vec<_> = weights.iter().map(|(s, c, w)| clue(SOURCES[*s], Class::ALL[*c], *w)).collect();
            let (class, confidence, because) = all(clues.clone());
            prop_assert!((0.0..=1.0).contains(&confidence));
            let mut turned = clues.clone();
            turned.rotate_left(turn % clues.len());
            let other = all(turned);
            prop_assert_eq!((other.0, other.2), (class, because));
            prop_assert!((other.1 - confidence).abs() < 2e-3);
            let speaking: std::collections::BTreeSet<Source> =
                clues.iter().filter(|(_, c)| c.weight(class) > 0.0).map(|(s, _)| *s).collect();
            prop_assert!(class == Class::Unknown || confidence <= 0.95 || speaking.len() > 1);
        }
    }
}
