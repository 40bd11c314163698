//! Workloads: what the money is for, as their owner declares it in `workloads.toml`.

use std::collections::{BTreeMap, BTreeSet};

use globset::GlobBuilder;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::charge::focus_enum;
use crate::error::ConfigError;
use crate::id::{CalendarName, Team, WorkloadName};

focus_enum! {
    /// What kind of work a workload is.
    Class {
        /// Long training runs.
        Training = "training",
        /// Fine-tuning of an existing model.
        FineTuning = "fine-tuning",
        /// Inference that somebody waits for.
        RealtimeInference = "realtime-inference",
        /// Inference that nobody waits for.
        BatchInference = "batch-inference",
        /// Notebooks and development machines.
        Development = "development",
        /// Build and test machines.
        Ci = "ci",
        /// Experiments.
        Experiment = "experiment",
        /// Nobody said.
        Unknown = "unknown",
    }
}

focus_enum! {
    /// What part a workload plays.
    Role {
        /// Does the work.
        Primary = "primary",
        /// Helps.
        Secondary = "secondary",
        /// Waits, on purpose, for the primary to fail.
        Standby = "standby",
    }
}

focus_enum! {
    /// What it costs the business when the workload stops.
    Criticality {
        /// Nobody notices.
        Low = "low",
        /// Somebody is annoyed.
        Medium = "medium",
        /// Customers notice.
        High = "high",
        /// The business stops.
        Critical = "critical",
    }
}

/// Why something must stay as it is, and how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// In the owner's words.
    pub reason: String,
    /// Last day on which it holds; none = for good.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "day")]
    pub until: Option<Date>,
}

/// A day, as a text or as a bare TOML date.
fn day<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        Toml(toml::value::Datetime),
        Text(String),
    }
    let text = match Form::deserialize(deserializer)? {
        Form::Toml(date) => date.to_string(),
        Form::Text(text) => text,
    };
    let wrong = |_| serde::de::Error::custom(format!("`{text}` is not a day such as 2026-11-06"));
    text.parse().map(Some).map_err(wrong)
}

impl Keep {
    /// Does it still hold on that day?
    pub fn holds_on(&self, day: Date) -> bool {
        self.until.is_none_or(|until| day <= until)
    }
}

/// How a job saves its progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Between two saves, such as `30m`.
    #[serde(default)]
    pub every: Option<String>,
    /// Size of one save in GB (10^9 bytes).
    #[serde(default)]
    pub gb: Option<f64>,
    /// Can the job go on from one?
    #[serde(default)]
    pub resumable: bool,
}

/// Matches a resource: all given fields must match; a field matches when any of its texts or globs does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// FOCUS ResourceId.
    #[serde(default)]
    pub resource_id: OneOrMany,
    /// FOCUS ResourceName.
    #[serde(default)]
    pub resource_name: OneOrMany,
    /// FOCUS SubAccountId or SubAccountName.
    #[serde(default)]
    pub account: OneOrMany,
    /// FOCUS RegionId.
    #[serde(default)]
    pub region: OneOrMany,
    /// Instance type.
    #[serde(default)]
    pub sku: OneOrMany,
    /// Tags; the key matches in any case and trimmed, the value exactly unless it is a glob.
    #[serde(default)]
    pub tag: BTreeMap<String, OneOrMany>,
    /// Host of the GPU metrics.
    #[serde(default)]
    pub host: OneOrMany,
    /// Kubernetes namespace.
    #[serde(default)]
    pub namespace: OneOrMany,
}

/// A text or a list of texts, each exact or a glob.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "TextOrList", into = "Vec<String>")]
pub struct OneOrMany(pub Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum TextOrList {
    One(String),
    Many(Vec<String>),
}

impl From<TextOrList> for OneOrMany {
    fn from(value: TextOrList) -> Self {
        match value {
            TextOrList::One(text) => Self(vec![text]),
            TextOrList::Many(texts) => Self(texts),
        }
    }
}

impl From<OneOrMany> for Vec<String> {
    fn from(value: OneOrMany) -> Self {
        value.0
    }
}

impl OneOrMany {
    /// Not given: says nothing.
    pub fn is_absent(&self) -> bool {
        self.0.is_empty()
    }

    /// Not given, or one of its texts or globs matches one of the values.
    pub fn accepts<'a>(&self, values: impl IntoIterator<Item = &'a str> + Clone) -> bool {
        self.is_absent()
            || self
                .0
                .iter()
                .any(|pattern| values.clone().into_iter().any(|v| matches(pattern, v)))
    }
}

/// Exact text, or a shell glob when it holds `*`, `?` or `[`.
fn matches(pattern: &str, value: &str) -> bool {
    if !pattern.contains(['*', '?', '[']) {
        return pattern == value;
    }
    // A pattern that is no valid glob was refused when the file was read.
    GlobBuilder::new(pattern)
        .build()
        .is_ok_and(|glob| glob.compile_matcher().is_match(value))
}

/// What a selector may look at: everything that the bill and the metrics say of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// FOCUS ResourceId.
    pub resource_id: String,
    /// FOCUS ResourceName.
    pub resource_name: String,
    /// FOCUS SubAccountId and SubAccountName.
    pub account: Vec<String>,
    /// FOCUS RegionId.
    pub region: String,
    /// Instance type.
    pub sku: String,
    /// Tags with folded keys (see [`fold_key`]).
    pub tags: BTreeMap<String, String>,
    /// Hosts of the metrics joined to it.
    pub hosts: Vec<String>,
    /// Kubernetes namespaces seen on it.
    pub namespaces: Vec<String>,
}

/// A tag key as keys are compared: trimmed, lower case.
pub fn fold_key(key: &str) -> String {
    key.trim().to_lowercase()
}

impl Select {
    /// Do all given fields match?
    pub fn matches(&self, of: &Traits) -> bool {
        self.resource_id.accepts([of.resource_id.as_str()])
            && self.resource_name.accepts([of.resource_name.as_str()])
            && self.account.accepts(of.account.iter().map(String::as_str))
            && self.region.accepts([of.region.as_str()])
            && self.sku.accepts([of.sku.as_str()])
            && self.host.accepts(of.hosts.iter().map(String::as_str))
            && self.namespace.accepts(of.namespaces.iter().map(String::as_str))
            && self
                .tag
                .iter()
                .all(|(key, want)| of.tags.get(&fold_key(key)).is_some_and(|v| want.accepts([v.as_str()])))
    }

    fn patterns(&self) -> impl Iterator<Item = &String> {
        [
            &self.resource_id,
            &self.resource_name,
            &self.account,
            &self.region,
            &self.sku,
            &self.host,
            &self.namespace,
        ]
        .into_iter()
        .chain(self.tag.values())
        .flat_map(|m| m.0.iter())
    }
}

/// One workload as declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Unique name.
    pub name: WorkloadName,
    /// What kind of work.
    #[serde(default = "unknown_class")]
    pub class: Class,
    /// What part it plays.
    #[serde(default = "primary_role")]
    pub role: Role,
    /// Who pays.
    #[serde(default)]
    pub team: Option<Team>,
    /// Project.
    #[serde(default)]
    pub project: Option<String>,
    /// Environment, such as `prod`.
    #[serde(default)]
    pub environment: Option<String>,
    /// Model served or trained.
    #[serde(default)]
    pub model: Option<String>,
    /// When the result is needed, as the owner writes it.
    #[serde(default)]
    pub deadline: Option<String>,
    /// Promise on latency, such as `500ms`.
    #[serde(default)]
    pub latency_p99: Option<String>,
    /// How it saves its progress.
    #[serde(default)]
    pub checkpoint: Option<Checkpoint>,
    /// What a stop costs the business.
    #[serde(default)]
    pub criticality: Option<Criticality>,
    /// Kinds of change that must never be proposed.
    #[serde(default)]
    pub never: BTreeSet<String>,
    /// Must stay as it is.
    #[serde(default)]
    pub keep: Option<Keep>,
    /// IANA time zone of its people.
    #[serde(default)]
    pub zone: Option<String>,
    /// Holiday calendar of its people.
    #[serde(default)]
    pub holidays: Option<CalendarName>,
    /// File with its request curve.
    #[serde(default)]
    pub curve: Option<String>,
    /// Which resources are its own; any may match.
    #[serde(default)]
    pub select: Vec<Select>,
}

fn unknown_class() -> Class {
    Class::Unknown
}

fn primary_role() -> Role {
    Role::Primary
}

/// The declared workloads, in the order of the file: the first that matches wins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workloads {
    /// In the order of the file.
    #[serde(default)]
    pub workload: Vec<Workload>,
}

/// Labels of report rows that belong to nobody; a team or workload can't be called so.
pub const RESERVED_LABELS: &[&str] = &[
    "(idle)",
    "(unallocated)",
    "(unused commitment)",
    "(purchase)",
    "(tax)",
    "(credit)",
    "(support)",
    "(refund)",
    "(rounding)",
];

impl Workloads {
    /// Reads `workloads.toml`. Unknown keys, double names, wrong globs and reserved labels are errors.
    pub fn parse(text: &str, file: &str) -> Result<Self, ConfigError> {
        let all: Self = toml::from_str(text).map_err(|e| ConfigError::toml(file, &e))?;
        let mut seen = BTreeSet::new();
        for workload in &all.workload {
            if !seen.insert(&workload.name) {
                return Err(ConfigError::new(
                    file,
                    format!("workload `{}` is declared twice", workload.name),
                ));
            }
            workload.check(file)?;
        }
        Ok(all)
    }

    /// The first workload that selects the resource, with the number of the selector that did (from 0).
    pub fn of(&self, resource: &Traits) -> Option<(&Workload, usize)> {
        self.workload.iter().find_map(|w| {
            w.select
                .iter()
                .position(|select| select.matches(resource))
                .map(|index| (w, index))
        })
    }
}

impl Workload {
    fn check(&self, file: &str) -> Result<(), ConfigError> {
        let fail = |what: String| Err(ConfigError::new(file, format!("workload `{}`: {what}", self.name)));
        if let Some(pattern) = self
            .select
            .iter()
            .flat_map(Select::patterns)
            .find(|p| GlobBuilder::new(p).build().is_err())
        {
            return fail(format!("`{pattern}` is not a valid glob"));
        }
        if self.select.iter().any(|s| *s == Select::default()) {
            return fail("an empty [[workload.select]] would match every resource".into());
        }
        let labels = [
            Some(self.name.as_str()),
            self.team.as_ref().map(Team::as_str),
            self.project.as_deref(),
        ];
        if let Some(label) = labels.into_iter().flatten().find(|l| RESERVED_LABELS.contains(l)) {
            return fail(format!("`{label}` is the label of a line that belongs to nobody"));
        }
        match &self.zone {
            Some(zone) if jiff::tz::TimeZone::get(zone).is_err() => fail(format!("`{zone}` is not an IANA time zone")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"
[[workload]]
name = "notebooks"
class = "development"
team = "vision"
keep = { reason = "demo week", until = 2026-11-06 }
[[workload.select]]
tag.Purpose = "notebook"
sku = ["g5.*", "g6.xlarge"]
[[workload.select]]
resource_name = "nb-*"

[[workload]]
name = "rest"
class = "training"
[[workload.select]]
account = "1234"
"#;

    fn traits(name: &str, sku: &str, tags: &[(&str, &str)]) -> Traits {
        Traits {
            resource_name: name.into(),
            sku: sku.into(),
            account: vec!["1234".into(), "research".into()],
            tags: tags.iter().map(|(k, v)| (fold_key(k), (*v).to_owned())).collect(),
            ..Traits::default()
        }
    }

    #[test]
    fn first_workload_wins_and_all_fields_of_a_select_must_match() {
        let all = Workloads::parse(TWO, "workloads.toml").unwrap();
        let of = |t: &Traits| all.of(t).map(|(w, select)| (w.name.to_string(), select));
        assert_eq!(
            of(&traits("x", "g5.xlarge", &[(" purpose", "notebook")])),
            Some(("notebooks".into(), 0))
        );
        assert_eq!(
            of(&traits("x", "p4d.24xlarge", &[("purpose", "notebook")])),
            Some(("rest".into(), 0))
        );
        assert_eq!(
            of(&traits("x", "g5.xlarge", &[("purpose", "Notebook")])),
            Some(("rest".into(), 0))
        );
        assert_eq!(of(&traits("nb-7", "p4d.24xlarge", &[])), Some(("notebooks".into(), 1)));
        assert_eq!(of(&Traits::default()), None);
    }

    #[test]
    fn keep_ends() {
        let all = Workloads::parse(TWO, "workloads.toml").unwrap();
        let keep = all.workload[0].keep.clone().unwrap();
        assert!(keep.holds_on("2026-11-06".parse().unwrap()));
        assert!(!keep.holds_on("2026-11-07".parse().unwrap()));
    }

    #[test]
    fn refuses_what_cannot_be_meant() {
        let error = |text: &str| Workloads::parse(text, "workloads.toml").unwrap_err().to_string();
        let one = |line: &str| format!("[[workload]]\nname = \"a\"\n{line}\n");
        assert!(
            error(&one("clas = \"training\"")).contains("clas"),
            "{}",
            error(&one("clas = \"training\""))
        );
        assert!(error(&one("[[workload.select]]")).contains("empty"));
        assert!(error(&one("zone = \"Mars/Base\"")).contains("IANA"));
        assert!(error(&one("team = \"(idle)\"")).contains("nobody"));
        assert!(error(&one("[[workload.select]]\nsku = \"[\"")).contains("glob"));
        assert!(error(&format!("{}{}", one(""), one(""))).contains("twice"));
    }
}
