//! Kinds of change: each is one file, says what it does as effects, and needs no arm anywhere else.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::charge::focus_enum;
use crate::facts::Facts;
use crate::id::ResourceId;
use crate::money::Estimate;
use crate::period::{Period, Spans};

/// All that replay, overlap and audit know of changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// The resource does not run in these instants. Compute lines stop, disks go on.
    RemoveHours {
        /// Which resource.
        resource: ResourceId,
        /// When.
        spans: Spans,
    },
    /// On-demand hours of the resource cost another amount: other hours at another price. Hours that a commitment
    /// covers stay as they are. A resource has one such effect: the last.
    Rerate {
        /// Which resource.
        resource: ResourceId,
        /// When.
        spans: Spans,
        /// New cost for a unit of the old.
        factor: f64,
    },
    /// A commitment covers on-demand hours of the resources that nothing removed or rerated, up to a level in every
    /// hour, at a fee in every hour, used or not. A resource belongs to the first lot that names it.
    AddLot {
        /// Which resources.
        resources: Vec<ResourceId>,
        /// Instances that are covered at once.
        level: f64,
        /// Price of one of them in every hour.
        rate: f64,
        /// Demand as a share of what the hours show.
        demand: f64,
    },
    /// Something new costs money (or an expected loss is priced) over the replayed period.
    AddCharge {
        /// What for, in words.
        label: String,
        /// How much over the period.
        amount: Estimate,
    },
}

focus_enum! {
    /// What can go wrong.
    Risk {
        /// Undone in minutes, nobody waits.
        Low = "low",
        /// Somebody may wait or restart something.
        Medium = "medium",
        /// Work or data may be lost.
        High = "high",
    }
}

focus_enum! {
    /// What it takes to carry out.
    Effort {
        /// One command or click.
        Minutes = "minutes",
        /// An afternoon.
        Hours = "hours",
        /// A project.
        Days = "days",
    }
}

/// Something that must be true before a step may be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Stable word, such as `instance_store_acknowledged`.
    pub id: String,
    /// In words, with how to meet it.
    pub text: String,
    /// Is it true already?
    pub met: bool,
}

/// What every kind of change can say of itself.
pub trait Kind {
    /// One sentence that begins with a verb.
    fn describe(&self) -> String;
    /// What it does to the past hours of the facts.
    fn effects(&self, facts: &Facts) -> Vec<Effect>;
    /// Which resources it touches.
    fn resources(&self) -> BTreeSet<ResourceId>;
    /// What can go wrong.
    fn risk(&self) -> Risk;
    /// How today's state comes back.
    fn undo(&self) -> String;
    /// The instant before which replay leaves everything as it was; none = it acts in all replayed hours.
    fn acts_from(&self) -> Option<Timestamp> {
        None
    }
    /// The same change in a worse and in a better world, where its outcome depends on more than the past hours.
    fn outlooks(&self) -> Option<(Change, Change)> {
        None
    }
}

/// What the documentation says of a kind of change.
#[derive(Clone, Copy, Debug)]
pub struct ChangeMeta {
    /// As in plan.json and in `never`.
    pub kind: &'static str,
    /// One line.
    pub title: &'static str,
    /// A paragraph: what it does, its risk, its undo.
    pub doc: &'static str,
}

macro_rules! changes {
    ($($module:ident :: $name:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// A change to how work is run. Closed: replay and audit see only its effects.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum Change {
            $(
                #[doc = concat!("See `change/", stringify!($module), ".rs`.")]
                $name($module::$name),
            )+
        }

        impl Change {
            /// Every kind, in the order of the list.
            pub const META: &'static [&'static ChangeMeta] = &[$(&$module::META),+];

            /// What the documentation says of this kind.
            pub const fn meta(&self) -> &'static ChangeMeta {
                match self { $(Self::$name(_) => &$module::META),+ }
            }

            /// The change as its kind.
            pub fn kind(&self) -> &dyn Kind {
                match self { $(Self::$name(change) => change),+ }
            }
        }
    };
}

changes! {
    stop::Stop,
    set_schedule::SetSchedule,
    use_spot::UseSpot,
    commit::Commit,
}

impl Change {
    /// Hours of the period in which replay lets it act. What it saves is saved in these: a step that begins inside the
    /// period saves more in the next one.
    pub fn acting_hours(&self, period: Period) -> f64 {
        let from = self
            .kind()
            .acts_from()
            .map_or(period.start, |from| from.max(period.start));
        Period {
            start: from.min(period.end),
            end: period.end,
        }
        .hours()
    }
}

/// Kinds that an owner may forbid before anything proposes them: a ban must not wait for what it bans.
const FORBIDDABLE: &[&str] = &[
    "replace_sku",
    "set_checkpoint",
    "set_mig",
    "consolidate",
    "delete_storage",
    "set_tag",
];

/// Every word that `never` may hold.
pub fn forbiddable() -> Vec<&'static str> {
    let registered = Change::META.iter().map(|meta| meta.kind);
    registered.chain(FORBIDDABLE.iter().copied()).collect()
}

/// A word that is no kind of change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownKind {
    pub(crate) what: String,
    pub(crate) hint: String,
}

/// What is wrong with a word in `never`; none = it is a kind of change.
pub(crate) fn unknown_kind(word: &str) -> Option<UnknownKind> {
    let kinds = forbiddable();
    if kinds.contains(&word) {
        return None;
    }
    let near = nearest(word, kinds.iter().copied());
    let meant = near.map_or_else(String::new, |kind| format!("did you mean `{kind}`? "));
    Some(UnknownKind {
        what: format!("`{word}`, which is no kind of change"),
        hint: format!("{meant}the kinds are {}", kinds.join(", ")),
    })
}

/// The word that was meant, if one is near enough: at most half of its letters are others.
pub fn nearest<'w>(word: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let near = words.map(|known| (edits(word, known), known)).min();
    near.filter(|(edits, known)| edits * 2 <= known.len())
        .map(|(_, known)| known)
}

/// Characters to insert, remove or replace until one word is the other.
pub fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_misspelt_kind_is_told_with_the_nearest() {
        for (word, meant) in [
            ("stpo", "stop"),
            ("use-spot", "use_spot"),
            ("Stop", "stop"),
            ("set_shedule", "set_schedule"),
        ] {
            let told = unknown_kind(word).unwrap();
            assert!(told.what.contains(&format!("`{word}`")), "{told:?}");
            assert!(told.hint.starts_with(&format!("did you mean `{meant}`?")), "{told:?}");
            assert!(told.hint.ends_with("set_tag"), "{told:?}");
        }
        assert!(
            unknown_kind("everything")
                .unwrap()
                .hint
                .starts_with("the kinds are stop, ")
        );
        for kind in ["stop", "set_schedule", "use_spot", "set_tag"] {
            assert_eq!(unknown_kind(kind), None);
        }
    }

    /// By the definition, without a table.
    fn slow_edits(a: &[char], b: &[char]) -> usize {
        match (a, b) {
            ([], rest) | (rest, []) => rest.len(),
            ([x, a @ ..], [y, b @ ..]) if x == y => slow_edits(a, b),
            ([_, short_a @ ..], [_, short_b @ ..]) => {
                1 + slow_edits(short_a, short_b)
                    .min(slow_edits(a, short_b))
                    .min(slow_edits(short_a, b))
            }
        }
    }

    proptest! {
        #[test]
        fn edits_are_the_fewest(a in "[abc]{0,6}", b in "[abc]{0,6}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(edits(&a, &b), slow_edits(&chars(&a), &chars(&b)));
        }
    }
}
