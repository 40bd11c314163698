//! What speaks for the class of a resource that nobody declared, and the guess that comes of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::workload::{Class, Role};

/// What bill and metrics say of a resource beside cost and use. Nothing of it is a declaration; where nothing is known, the
/// field is empty. Only what was known at the facts' `as_of` is in here, and only of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clues {
    /// Every tag of its charges and every label of its metrics and pods (`app.kubernetes.io/name`, `label_app`), the
    /// owner's own keys included. Keys are folded by [`fold_key`](crate::workload::fold_key), values are as written. Where
    /// charges of the history disagree, the newest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// FOCUS ServiceName of its compute charges, such as `Amazon SageMaker`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// FOCUS ServiceCategory or, where the bill has it, ServiceSubcategory of its compute charges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_category: Option<String>,
    /// FOCUS ResourceType, such as `Endpoint` or `Notebook Instance`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<String>,
    /// What its compute charges call the use: every distinct SkuMeter, x_UsageType, x_Operation and ChargeDescription.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub usage_types: BTreeSet<String>,
    /// Kubernetes namespaces seen on it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub namespaces: BTreeSet<String>,
    /// Ids ([`JobRun::job`](crate::job::JobRun::job)) of the runs in [`Facts::jobs`](crate::facts::Facts::jobs) that a
    /// record places on it: a node that is its id, its name or a host of its metrics.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub jobs: BTreeSet<String>,
    /// Names of metrics that count requests or tokens served and were seen for it, such as `vllm:request_success_total`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub request_metrics: BTreeSet<String>,
    /// Load balancers, ingresses, gateways and endpoints that are known to send traffic to it, by id or name.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub traffic_from: BTreeSet<String>,
}

impl Clues {
    /// Nothing known at all?
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What an undeclared resource looks like. A guess is no declaration: it says what to declare, and is acted on only
/// where it is surer than the policy asks and nothing speaks against it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guess {
    /// The likeliest class; `unknown` where nothing speaks for one.
    pub class: Class,
    /// `standby` where it seems to wait on purpose.
    pub role: Role,
    /// 0 to 1, in thousandths.
    pub confidence: f64,
    /// What speaks for the class, strongest first.
    pub because: Vec<String>,
    /// What forbids acting on a guess, whatever its confidence.
    pub against: Vec<String>,
}

impl Guess {
    /// Would work of this kind bear an interruption? Not where somebody waits for an answer, nor where the resource
    /// itself waits for something to fail.
    pub fn may_be_interrupted(&self) -> bool {
        let waits = matches!(self.class, Class::RealtimeInference | Class::Unknown);
        !waits && self.role != Role::Standby
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_clues_are_written_as_nothing() {
        assert!(Clues::default().is_empty());
        assert_eq!(serde_json::to_string(&Clues::default()).unwrap(), "{}");
        let some = Clues {
            tags: [("app".into(), "jupyter".into())].into(),
            ..Clues::default()
        };
        assert!(!some.is_empty());
        let text = serde_json::to_string(&some).unwrap();
        assert_eq!(serde_json::from_str::<Clues>(&text).unwrap(), some);
    }

    #[test]
    fn serving_and_standing_by_bear_no_interruption() {
        let guess = |class, role| Guess {
            class,
            role,
            confidence: 1.0,
            because: Vec::new(),
            against: Vec::new(),
        };
        let bearing = |role| {
            let classes = Class::ALL.iter().copied();
            classes
                .filter(move |class| guess(*class, role).may_be_interrupted())
                .count()
        };
        assert_eq!((bearing(Role::Primary), bearing(Role::Standby)), (6, 0));
        assert!(!guess(Class::RealtimeInference, Role::Primary).may_be_interrupted());
        assert!(!guess(Class::Unknown, Role::Primary).may_be_interrupted());
    }
}
