//! Kinds of change: each is one file, says what it does as effects, and needs no arm anywhere else.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::charge::focus_enum;
use crate::facts::Facts;
use crate::id::ResourceId;
use crate::money::Estimate;
use crate::period::Spans;

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
}
