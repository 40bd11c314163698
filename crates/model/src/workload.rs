//! Workloads: what the money is for, as their owner declares it in `workloads.toml`.

use std::collections::{BTreeMap, BTreeSet};

use globset::GlobBuilder;
use jiff::SignedDuration;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::change::unknown_kind;
use crate::charge::focus_enum;
use crate::deadline::Deadline;
use crate::error::ConfigError;
use crate::id::{CalendarName, Team, WorkloadName};
use crate::place::Places;

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

/// A text, or a bare TOML date or time.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum TomlText {
    Toml(toml::value::Datetime),
    Text(String),
}

impl From<TomlText> for String {
    fn from(text: TomlText) -> Self {
        match text {
            TomlText::Toml(date) => date.to_string(),
            TomlText::Text(text) => text,
        }
    }
}

/// A day, as a text or as a bare TOML date.
pub(crate) fn day<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
    let text = String::from(TomlText::deserialize(deserializer)?);
    let wrong = |_| serde::de::Error::custom(format!("`{text}` is not a day such as 2026-11-06"));
    text.parse().map(Some).map_err(wrong)
}

/// A duration above zero, such as `300ms` or `1h 30m`.
fn duration<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<SignedDuration>, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.parse::<SignedDuration>() {
        Ok(duration) if duration.is_positive() => Ok(Some(duration)),
        _ => Err(serde::de::Error::custom(format!(
            "`{text}` is no duration above zero\nhint: write a number with its unit, such as `300ms`, `30m` or `1h 30m`"
        ))),
    }
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
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "duration")]
    pub every: Option<SignedDuration>,
    /// Size of one save in GB (10^9 bytes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

    /// Every given field with its texts; tags as `tag.KEY`.
    fn fields(&self) -> impl Iterator<Item = (String, &OneOrMany)> {
        let named = [
            ("resource_id", &self.resource_id),
            ("resource_name", &self.resource_name),
            ("account", &self.account),
            ("region", &self.region),
            ("sku", &self.sku),
            ("host", &self.host),
            ("namespace", &self.namespace),
        ];
        let named = named.into_iter().map(|(name, texts)| (name.to_owned(), texts));
        named.chain(self.tag.iter().map(|(key, texts)| (format!("tag.{key}"), texts)))
    }

    /// The first text that can't match what was meant: field, text, and what is wrong with it.
    fn wrong_pattern(&self) -> Option<(String, &str, &'static str)> {
        self.fields().find_map(|(field, texts)| {
            if field.starts_with("tag.") && texts.is_absent() {
                return Some((field, "", "is an empty list"));
            }
            let wrong = texts.0.iter().find_map(|text| match text {
                text if text.trim().is_empty() => Some((text, "is empty")),
                text if GlobBuilder::new(text).build().is_err() => Some((text, "is not a valid glob")),
                _ => None,
            });
            wrong.map(|(text, why)| (field, text.as_str(), why))
        })
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
    /// When the result is needed.
    #[serde(default)]
    pub deadline: Option<Deadline>,
    /// Promise on latency, such as `500ms`.
    #[serde(default, deserialize_with = "duration")]
    pub latency_p99: Option<SignedDuration>,
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
    /// File with its request curve, beside workloads.toml.
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
    #[serde(skip)]
    places: Places,
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
    /// Reads `workloads.toml`. Unknown keys, double names, wrong globs, reserved labels, kinds of change that do not
    /// exist, and values that can't be meant are errors.
    pub fn parse(text: &str, file: &str) -> Result<Self, ConfigError> {
        let mut all: Self = toml::from_str(text).map_err(|e| ConfigError::toml(file, text, &e))?;
        all.places = Places::of(text);
        let mut seen = BTreeSet::new();
        for (at, workload) in all.workload.iter().enumerate() {
            let wrong = |what: String, hint: String| {
                let mut error = ConfigError::new(file, what).hint(hint);
                error.line = all.places.line(&["workload", &at.to_string()]);
                error
            };
            if workload.name.as_str().trim().is_empty() {
                return Err(wrong(
                    format!("workload {} of the file: `name` is empty", at + 1),
                    "give it a name of its own; reports and plans show it".into(),
                ));
            }
            if !seen.insert(workload.name.as_str().trim()) {
                return Err(wrong(
                    format!("workload `{}` is declared twice", workload.name),
                    "one workload may have several [[workload.select]]; any of them is enough".into(),
                ));
            }
            workload
                .check()
                .map_err(|fault| wrong(format!("workload `{}`: {}", workload.name, fault.what), fault.hint))?;
        }
        Ok(all)
    }

    /// Where a key of a workload stands in the file; an empty path is the workload itself.
    pub fn line(&self, workload: &WorkloadName, path: &[&str]) -> Option<usize> {
        let number = self.workload.iter().position(|w| w.name == *workload)?.to_string();
        self.places.line(&[&["workload", &number], path].concat())
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

/// What is wrong with a workload, and what to do.
struct Fault {
    what: String,
    hint: String,
}

fn fault(what: impl Into<String>, hint: impl Into<String>) -> Result<(), Fault> {
    Err(Fault {
        what: what.into(),
        hint: hint.into(),
    })
}

impl Workload {
    fn check(&self) -> Result<(), Fault> {
        self.check_selects()?;
        self.check_labels()?;
        if let Some(word) = self.never.iter().find_map(|kind| unknown_kind(kind)) {
            return fault(format!("`never` holds {}", word.what), word.hint);
        }
        if let Some(gb) = self.checkpoint.as_ref().and_then(|c| c.gb)
            && !(gb.is_finite() && gb > 0.0)
        {
            return fault(
                format!("`checkpoint.gb` is `{gb}`, not a size above zero"),
                "write the size of one save in GB; leave it out where it is not known",
            );
        }
        match &self.zone {
            Some(zone) if jiff::tz::TimeZone::get(zone).is_err() => fault(
                format!("`zone` is `{zone}`, which is not an IANA time zone"),
                "write it like `Europe/Berlin`",
            ),
            _ => Ok(()),
        }
    }

    /// A workload that selects nothing, or everything, was not meant so.
    fn check_selects(&self) -> Result<(), Fault> {
        if self.select.is_empty() {
            return fault(
                "has no [[workload.select]], so it owns nothing",
                "say which resources are its own, such as `resource_name = \"train-*\"`",
            );
        }
        for (at, select) in self.select.iter().enumerate() {
            let row = at + 1;
            if *select == Select::default() {
                return fault(
                    format!("[[workload.select]] {row} is empty and would match every resource"),
                    "name at least one field, such as `resource_name`",
                );
            }
            if let Some((field, pattern, wrong)) = select.wrong_pattern() {
                return fault(
                    format!("[[workload.select]] {row}: `{field}` is `{pattern}`, which {wrong}"),
                    "write an exact text or a glob such as `train-*`; `*`, `?` and `[...]` are the wild ones",
                );
            }
        }
        Ok(())
    }

    fn check_labels(&self) -> Result<(), Fault> {
        let labels = [
            ("name", Some(self.name.as_str())),
            ("team", self.team.as_ref().map(Team::as_str)),
            ("project", self.project.as_deref()),
            ("environment", self.environment.as_deref()),
            ("model", self.model.as_deref()),
        ];
        for (field, label) in labels {
            let Some(label) = label else { continue };
            if label.trim().is_empty() {
                return fault(format!("`{field}` is empty"), "leave it out where there is none");
            }
            if RESERVED_LABELS.contains(&label.trim()) {
                return fault(
                    format!("`{field}` is `{label}`, the label of a line that belongs to nobody"),
                    "choose a name without parentheses",
                );
            }
        }
        Ok(())
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

    /// A workload with these lines before its select.
    fn one(line: &str) -> String {
        format!("[[workload]]\nname = \"a\"\n{line}\n[[workload.select]]\nsku = \"x\"\n")
    }

    fn error(text: &str) -> String {
        Workloads::parse(text, "workloads.toml").unwrap_err().to_string()
    }

    #[test]
    fn refuses_what_cannot_be_meant() {
        let select = |line: &str| format!("[[workload]]\nname = \"a\"\n[[workload.select]]\n{line}\n");
        for (text, parts) in [
            (one("clas = \"training\""), ["clas", "toml:3:"]),
            (one("class = \"trainin\""), ["trainin", "toml:3:"]),
            (select(""), ["select]] 1 is empty", "hint:"]),
            (select("sku = \"[\""), ["`sku` is `[`", "glob"]),
            (select("sku = [\"a\", \" \"]"), ["`sku` is ` `", "is empty"]),
            (select("tag.team = []"), ["`tag.team`", "empty list"]),
            (
                "[[workload]]\nname = \"a\"\n".into(),
                ["has no [[workload.select]]", "hint:"],
            ),
            (one("zone = \"Mars/Base\""), ["`zone` is `Mars/Base`", "IANA"]),
            (one("team = \"(idle)\""), ["`team` is `(idle)`", "nobody"]),
            (one("environment = \"(tax)\""), ["`environment` is `(tax)`", "nobody"]),
            (one("project = \"\""), ["`project` is empty", "hint:"]),
            (
                one("").replace("\"a\"", "\" \""),
                ["workload 1 of the file", "`name` is empty"],
            ),
            (format!("{}{}", one(""), one("")), ["`a` is declared twice", "hint:"]),
            (one("deadline = \"soon\""), ["`soon` is no deadline", "toml:3:"]),
            (one("latency_p99 = \"fast\""), ["`fast` is no duration", "300ms"]),
            (one("latency_p99 = \"-3s\""), ["`-3s` is no duration", "toml:3:"]),
            (one("checkpoint = { every = \"0s\" }"), ["`0s` is no duration", "hint:"]),
            (one("checkpoint = { gb = 0 }"), ["`checkpoint.gb` is `0`", "hint:"]),
            (one("checkpoint = { gb = nan }"), ["`checkpoint.gb` is `NaN`", "hint:"]),
            (
                one("clas = \"training\""),
                ["unknown field `clas`", "did you mean `class`?"],
            ),
            (
                one("role = \"standbye\""),
                ["unknown variant `standbye`", "did you mean `standby`?"],
            ),
            (
                one("never = [\"stpo\"]"),
                ["`never` holds `stpo`", "did you mean `stop`?"],
            ),
        ] {
            let error = error(&text);
            assert!(error.starts_with("workloads.toml"), "{error}");
            assert!(parts.iter().all(|part| error.contains(part)), "{text}\n{error}");
        }
    }

    #[test]
    fn promises_are_read_once() {
        let text = one(
            "deadline = 2026-11-20\nlatency_p99 = \"300ms\"\ncheckpoint = { every = \"1h 30m\", gb = 140, resumable = true }\n\
             never = [\"use_spot\", \"stop\"]",
        );
        let all = Workloads::parse(&text, "workloads.toml").unwrap();
        let workload = &all.workload[0];
        assert_eq!(workload.deadline, Some(Deadline::Day("2026-11-20".parse().unwrap())));
        assert_eq!(workload.latency_p99, Some(SignedDuration::from_millis(300)));
        let checkpoint = workload.checkpoint.clone().unwrap();
        assert_eq!(checkpoint.every, Some(SignedDuration::from_mins(90)));
        let json = serde_json::to_string(&checkpoint).unwrap();
        assert_eq!(serde_json::from_str::<Checkpoint>(&json).unwrap(), checkpoint);
    }
}
