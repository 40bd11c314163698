//! What an undeclared resource looks like.
//!
//! Each kind of evidence is one file that gives log-odds for classes, with a sentence. They add up over an even prior
//! and become shares by a softmax. What people wrote, what was bought, what it did and what ran on it are sources that
//! can be wrong independently; within one source the strongest clue counts whole and the others a quarter.
//!
//! The levers and the auditor both read this guess, as they read the facts; whether it may be acted on, each decides
//! for itself.

use std::collections::BTreeSet;

use lowwater_model::clue::Guess;
use lowwater_model::facts::{Facts, Resource};
use lowwater_model::id::ResourceId;
use lowwater_model::workload::{Class, Role};

mod against;
mod combine;
mod words;

#[cfg(test)]
mod organisation;
#[cfg(test)]
mod precision;
#[cfg(test)]
mod tests;

/// Sources that can be wrong independently of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// What people wrote: tags and names.
    Words,
    /// What was bought.
    Bought,
    /// What it did: when it ran and when it worked.
    Did,
    /// What a scheduler ran on it.
    Jobs,
}

/// Something that speaks for classes, or against them.
#[derive(Clone, Debug, PartialEq)]
struct Clue {
    /// Log-odds for each class it speaks of.
    weights: Vec<(Class, f64)>,
    /// What was seen.
    says: String,
}

impl Clue {
    fn new(says: impl Into<String>, weights: &[(Class, f64)]) -> Self {
        Self {
            weights: weights.to_vec(),
            says: says.into(),
        }
    }

    fn weight(&self, class: Class) -> f64 {
        self.weights
            .iter()
            .find(|(of, _)| *of == class)
            .map_or(0.0, |(_, weight)| *weight)
    }
}

/// One kind of evidence.
struct Evidence {
    source: Source,
    clues: fn(&Facts, &Resource) -> Vec<Clue>,
}

macro_rules! evidence {
    ($($module:ident from $source:ident),+ $(,)?) => {
        $(mod $module;)+

        /// Every kind of evidence.
        const EVIDENCE: &[Evidence] = &[$(Evidence { source: Source::$source, clues: $module::clues }),+];
    };
}

evidence! {
    tags from Words,
    names from Words,
    product from Bought,
    lifetime from Did,
    shape from Did,
    jobs from Jobs,
}

/// What the resource looks like, whatever its owner declared. Nothing after the facts' history is looked at.
pub fn guess(facts: &Facts, resource: &Resource) -> Guess {
    let found: Vec<(Source, Clue)> = EVIDENCE
        .iter()
        .flat_map(|evidence| {
            let clues = (evidence.clues)(facts, resource);
            clues.into_iter().map(|clue| (evidence.source, clue))
        })
        .collect();
    let (class, confidence, because) = combine::all(found);
    let mut against = against::found(resource);
    let role = against::role(facts, resource, class, &mut against);
    Guess {
        class,
        role,
        confidence,
        because,
        against,
    }
}

/// The lines of workloads.toml that declare these resources to be of a class.
pub fn declaration(class: Class, role: Role, resources: &BTreeSet<ResourceId>) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let ids: Vec<String> = resources.iter().map(|id| quoted(id.as_str())).collect();
    let first = resources.first().map_or("", ResourceId::as_str);
    let others = match resources.len() {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let role = match role {
        Role::Primary => String::new(),
        role => format!("role = \"{role}\"\n"),
    };
    // One id a line: no terminal breaks a line of them where it may not be broken.
    let list = match &ids[..] {
        [one] => format!("[{one}]"),
        many => format!("[\n  {},\n]", many.join(",\n  ")),
    };
    format!(
        "[[workload]]\nname = {}\nclass = \"{class}\"\n{role}[[workload.select]]\nresource_id = {list}",
        quoted(&format!("{class} {first}{others}")),
    )
}
