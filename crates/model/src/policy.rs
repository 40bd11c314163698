//! The owner's limits: `policy.toml`. Every key has a default and a reason; an unknown key is an error.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::change::nearest;
use crate::change::unknown_kind;
use crate::error::ConfigError;
use crate::id::{CalendarName, Team};
use crate::place::Places;
use crate::workload::{Criticality, Keep, RESERVED_LABELS};

/// A default value, in a form that a static table can hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyDefault {
    /// A share, a number of hours, an amount.
    Float(f64),
    /// A count.
    Int(i64),
    /// Yes or no.
    Bool(bool),
    /// A word.
    Text(&'static str),
    /// Words.
    List(&'static [&'static str]),
}

impl KeyDefault {
    /// As TOML.
    pub fn value(self) -> Value {
        match self {
            Self::Float(v) => Value::Float(v),
            Self::Int(v) => Value::Integer(v),
            Self::Bool(v) => Value::Boolean(v),
            Self::Text(v) => Value::String(v.to_owned()),
            Self::List(v) => Value::Array(v.iter().map(|t| Value::String((*t).to_owned())).collect()),
        }
    }
}

/// One key of the policy.
#[derive(Clone, Copy, Debug)]
pub struct PolicyKey {
    /// Its name inside its section.
    pub name: &'static str,
    /// Value where the owner says nothing.
    pub default: KeyDefault,
    /// What it means, its unit, and why the default is what it is.
    pub doc: &'static str,
}

/// A section: a table of keys.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its name: `load`, or `lever.idle`.
    pub name: &'static str,
    /// Its keys.
    pub keys: &'static [PolicyKey],
}

use KeyDefault::{Float, Int, List, Text};

/// A key, for tables of them.
pub const fn key(name: &'static str, default: KeyDefault, doc: &'static str) -> PolicyKey {
    PolicyKey { name, default, doc }
}

/// Sections that belong to no lever.
pub const SECTIONS: &[Section] = &[
    Section {
        name: "calendar",
        keys: &[
            key(
                "zone",
                Text("UTC"),
                "IANA time zone of day buckets and of schedules whose owner has none. UTC, because that is how clouds bill.",
            ),
            key(
                "holidays",
                Text(""),
                "Holiday calendar (a name in holidays.csv) for owners who name none. Empty = no holidays.",
            ),
            key(
                "fiscal_year_month",
                Int(1),
                "Month in which your fiscal year begins, 1 to 12: the dashboard's fiscal quarters and years. January: as calendars do.",
            ),
            key(
                "fiscal_month_day",
                Int(1),
                "Day on which your fiscal months begin, 1 to 28. The first: as calendars do.",
            ),
        ],
    },
    Section {
        name: "load",
        keys: &[
            key(
                "max_reject_share",
                Float(0.01),
                "Share of the rows of a source, and of its BilledCost without sign, that may be rejected in one load before it fails. All files and months of the load count together. One in a hundred: more means a wrong format, not a bad row.",
            ),
            key(
                "max_rejects_free",
                Int(5),
                "Rejected rows of a source in one load that pass whatever their share is, as long as they are at most half of its rows and of its money. Five: in a small bill one bad row is more than one in a hundred.",
            ),
            key(
                "max_removed_share",
                Float(0.1),
                "Share of a month's cost or days that a newer export may remove before the load is refused (exit 4) without --replace. A tenth: restatements are smaller, truncated exports are larger.",
            ),
        ],
    },
    Section {
        name: "owner",
        keys: &[
            key(
                "team_tags",
                List(&["team", "owner"]),
                "Tag keys that name the team, first present wins. Compared in any case and trimmed.",
            ),
            key(
                "project_tags",
                List(&["project", "application"]),
                "Tag keys that name the project.",
            ),
            key(
                "environment_tags",
                List(&["environment", "env"]),
                "Tag keys that name the environment.",
            ),
            key("model_tags", List(&["model"]), "Tag keys that name the model."),
            key(
                "class_tags",
                List(&["workload-class"]),
                "Tag keys that declare the class of a resource without a workload.",
            ),
            key(
                "required_tags",
                List(&["team"]),
                "Keys (by the names above) without which spend counts as untagged.",
            ),
        ],
    },
    Section {
        name: "check",
        keys: &[
            key(
                "drain_seconds",
                Float(30.0),
                "Seconds in which a server finishes the requests that it has. Thirty: the usual grace period of Kubernetes.",
            ),
            key(
                "boot_seconds",
                Float(180.0),
                "Seconds until a new GPU machine serves its first container. Three minutes: what clouds take when they have one.",
            ),
            key(
                "model_load_seconds",
                Float(120.0),
                "Seconds until a server has its model in GPU memory. Two minutes: 140 GB at a good gigabyte a second.",
            ),
            key(
                "min_idle_share",
                Float(0.5),
                "Share of its observed hours that a machine may idle before `lowwater check` names it. Half: less is a matter of schedules and packing.",
            ),
            key(
                "max_price_age_days",
                Int(90),
                "Days after which a price is stale. A quarter, in which GPU prices have moved by a third before.",
            ),
            key(
                "max_plan_age_days",
                Int(90),
                "Days after which a plan is too old to carry out. A quarter: what it was made from has changed by then.",
            ),
        ],
    },
    Section {
        name: "tags",
        keys: &[key(
            "target_share",
            Float(0.9),
            "Share of the taggable cost that should carry each required key; `lowwater tags` names the fewest resources to tag until it does. Nine tenths: the last tenth costs most of the work and moves few decisions.",
        )],
    },
    Section {
        name: "classes",
        keys: &[key(
            "min_confidence",
            Float(0.95),
            "Confidence, 0 to 1, above which a guessed class counts as declared where nothing speaks against it. More than 0.95 needs two independent kinds of evidence; 1.0 never acts on a guess.",
        )],
    },
    Section {
        name: "usage",
        keys: &[
            key(
                "min_join_share",
                Float(0.8),
                "Share of GPU money that must be on machines with joined metrics before an idle finding is more than `measure this first`. Below four fifths the unmeasured part could be the busy part.",
            ),
            key(
                "min_observed_minutes",
                Int(50),
                "Minutes of an hour that must be observed for it to count as idle: ten missing minutes can't hide an hour of work.",
            ),
            key(
                "max_gap_minutes",
                Int(10),
                "Longest time that one sample stands for. Twice the usual five-minute scrape.",
            ),
        ],
    },
    Section {
        name: "plan",
        keys: &[
            key(
                "history_days",
                Int(91),
                "Days of history that profiles look at. Thirteen weeks: each weekday counts the same.",
            ),
            key(
                "replay_days",
                Int(28),
                "Days that are replayed, the newest of the history. Four whole weeks, so that a saving does not depend on the day it was asked.",
            ),
            key(
                "min_saving_per_month",
                Float(25.0),
                "Smallest cash saving of a step in a month in which it acts throughout, in the dataset's currency. Below it the work costs more than it brings.",
            ),
            key(
                "max_list_share",
                Float(0.1),
                "Share of a plan's money that may rest on list prices, that few pay, before the plan's first line says so. A tenth: beyond it a usual discount of a third moves the saving by more than 3 %.",
            ),
            key(
                "engineer_hour",
                Float(120.0),
                "What an hour of a person costs, in the dataset's currency; prices waiting and interruptions.",
            ),
            key(
                "work_hours_per_week",
                Float(20.0),
                "Hours a week that people have for carrying out the plan; says by when an order of steps brings its cash. Twenty: half a person.",
            ),
            key(
                "work_hours_for_minutes",
                Float(0.5),
                "Hours of work that a step of effort `minutes` takes. Half an hour: the click, the question before it and the look after it.",
            ),
            key(
                "work_hours_for_hours",
                Float(4.0),
                "Hours of work that a step of effort `hours` takes. An afternoon.",
            ),
            key(
                "work_hours_for_days",
                Float(24.0),
                "Hours of work that a step of effort `days` takes. Three days: a small project.",
            ),
            key(
                "instance_store_acknowledged",
                List(&[]),
                "Workloads and resource ids whose instance-store disks may be lost on a stop. Empty: nobody has said that their data is saved elsewhere.",
            ),
        ],
    },
];

/// Keys that a `[team.NAME]` or `[environment.NAME]` section may hold beside lever overrides.
pub const OWNER_KEYS: &[(&str, &str)] = &[
    ("zone", "IANA time zone of the team's people (team sections only)."),
    ("holidays", "The team's holiday calendar (team sections only)."),
    (
        "never",
        "List of kinds of change that must never be proposed for it, such as `stop`.",
    ),
    ("keep", "`{ reason, until }`: leave everything as it is until that day."),
    ("criticality", "`low`, `medium`, `high` or `critical`."),
];

/// Rules that resources inherit from their team or environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnerRules {
    /// Zone of its people.
    #[serde(default)]
    pub zone: Option<String>,
    /// Their holidays.
    #[serde(default)]
    pub holidays: Option<CalendarName>,
    /// Changes that must not be proposed.
    #[serde(default)]
    pub never: BTreeSet<String>,
    /// Must stay as it is.
    #[serde(default)]
    pub keep: Option<Keep>,
    /// What a stop costs.
    #[serde(default)]
    pub criticality: Option<Criticality>,
    /// Overrides of lever settings.
    #[serde(default)]
    pub lever: BTreeMap<String, Table>,
}

impl OwnerRules {
    /// What would be read by nobody, or never match, is refused.
    fn check(&self, kind: &str, name: &str) -> Result<(), String> {
        if name.trim().is_empty() || RESERVED_LABELS.contains(&name.trim()) {
            return Err(format!(
                "`{name}` is no name of {kind}: lines of a report that belong to nobody are called so"
            ));
        }
        if kind == "environment" {
            for (key, given) in [("zone", self.zone.is_some()), ("holidays", self.holidays.is_some())] {
                if given {
                    return Err(format!(
                        "`{key}` is people's, not an environment's: write it into [team.NAME], or into the workload"
                    ));
                }
            }
        }
        match self.never.iter().find_map(|word| unknown_kind(word)) {
            Some(word) => Err(format!("`never` holds {}; {}", word.what, word.hint)),
            None => Ok(()),
        }
    }
}

/// The whole policy, defaults filled in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policy {
    sections: BTreeMap<String, Table>,
    team: BTreeMap<Team, OwnerRules>,
    environment: BTreeMap<String, OwnerRules>,
    #[serde(skip)]
    places: Places,
}

/// Settings of one section, with its defaults.
#[derive(Clone, Debug)]
pub struct Settings(Table);

impl Settings {
    /// A number.
    pub fn float(&self, key: &str) -> f64 {
        match self.0.get(key) {
            Some(Value::Float(v)) => *v,
            Some(Value::Integer(v)) => *v as f64,
            other => unreachable!("policy key `{key}` is not a declared number: {other:?}"),
        }
    }

    /// A count.
    pub fn int(&self, key: &str) -> i64 {
        match self.0.get(key) {
            Some(Value::Integer(v)) => *v,
            other => unreachable!("policy key `{key}` is not a declared count: {other:?}"),
        }
    }

    /// Yes or no.
    pub fn bool(&self, key: &str) -> bool {
        match self.0.get(key) {
            Some(Value::Boolean(v)) => *v,
            other => unreachable!("policy key `{key}` is not a declared yes or no: {other:?}"),
        }
    }

    /// A word.
    pub fn text(&self, key: &str) -> &str {
        match self.0.get(key) {
            Some(Value::String(v)) => v,
            other => unreachable!("policy key `{key}` is not a declared word: {other:?}"),
        }
    }

    /// Words.
    pub fn list(&self, key: &str) -> Vec<&str> {
        match self.0.get(key) {
            Some(Value::Array(v)) => v.iter().filter_map(Value::as_str).collect(),
            other => unreachable!("policy key `{key}` is not a declared list: {other:?}"),
        }
    }
}

impl Policy {
    /// All defaults. `levers` are the sections that levers declare, by lever name.
    pub fn defaults(levers: &[Section]) -> Self {
        let of = |s: &Section| {
            s.keys
                .iter()
                .map(|k| (k.name.to_owned(), k.default.value()))
                .collect::<Table>()
        };
        let plain = SECTIONS.iter().map(|s| (s.name.to_owned(), of(s)));
        let lever = levers.iter().map(|s| (format!("lever.{}", s.name), of(s)));
        Self {
            sections: plain.chain(lever).collect(),
            team: BTreeMap::new(),
            environment: BTreeMap::new(),
            places: Places::default(),
        }
    }

    /// Reads `policy.toml` over the defaults. Unknown keys and wrong types are errors.
    pub fn parse(text: &str, file: &str, levers: &[Section]) -> Result<Self, ConfigError> {
        let table: Table = toml::from_str(text).map_err(|e| ConfigError::toml(file, text, &e))?;
        let mut policy = Self::defaults(levers);
        policy.places = Places::of(text);
        for (name, value) in table {
            policy.take(&name, value).map_err(|wrong| {
                let mut error = ConfigError::new(file, wrong.what);
                error.line = policy.line(&wrong.path);
                error.hint("`lowwater init` writes a policy.toml with every key and its reason")
            })?;
        }
        policy.check(file)
    }

    /// Where a key stands in the file, by its path; none where it has its default.
    pub fn line(&self, path: &[impl AsRef<str>]) -> Option<usize> {
        let path: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
        self.places.line(&path)
    }

    fn take(&mut self, name: &str, value: Value) -> Result<(), Wrong> {
        match name {
            "team" | "environment" => self.take_owners(name, value),
            "lever" => {
                let Value::Table(levers) = value else {
                    return Err(Wrong::new(&[name], "`lever` must be a table"));
                };
                levers
                    .into_iter()
                    .try_for_each(|(lever, v)| self.take_section(&[name, &lever], v))
            }
            _ => self.take_section(&[name], value),
        }
    }

    fn take_section(&mut self, path: &[&str], value: Value) -> Result<(), Wrong> {
        let name = path.join(".");
        if !self.sections.contains_key(&name) {
            return Err(Wrong::new(path, self.unknown(&name, value.is_table())));
        }
        let Value::Table(given) = value else {
            return Err(Wrong::new(path, format!("`{name}` must be a section [{name}]")));
        };
        let known = self.sections.entry(name).or_default();
        overlay(known, given, path)
    }

    /// What may have been meant by a name that is no section.
    fn unknown(&self, name: &str, is_section: bool) -> String {
        let owners = self.sections.iter().filter(|(_, keys)| keys.contains_key(name));
        let owners: Vec<String> = owners.map(|(section, _)| format!("[{section}]")).collect();
        if !is_section && !owners.is_empty() {
            return format!(
                "`{name}` stands before any section; it belongs to {}",
                owners.join(" or ")
            );
        }
        let all = || {
            let sections = self.sections.keys().map(String::as_str);
            sections.chain(["team.NAME", "environment.NAME"])
        };
        let near = nearest(name, all());
        let near = near.map_or_else(String::new, |section| format!(" (nearest: [{section}])"));
        let all: Vec<String> = all().map(|section| format!("[{section}]")).collect();
        format!("unknown section [{name}]{near}; sections are {}", all.join(", "))
    }

    fn take_owners(&mut self, kind: &str, value: Value) -> Result<(), Wrong> {
        let Value::Table(owners) = value else {
            return Err(Wrong::new(&[kind], format!("`{kind}` must be sections [{kind}.NAME]")));
        };
        for (name, rules) in owners {
            let wrong = |what: String| Wrong::new(&[kind, &name], what);
            let rules: OwnerRules = rules
                .try_into()
                .map_err(|e: toml::de::Error| wrong(format!("[{kind}.{name}]: {}", e.message())))?;
            rules
                .check(kind, &name)
                .map_err(|what| wrong(format!("[{kind}.\"{name}\"]: {what}")))?;
            for (lever, given) in &rules.lever {
                let mut probe = self
                    .sections
                    .get(&format!("lever.{lever}"))
                    .cloned()
                    .ok_or_else(|| wrong(format!("[{kind}.{name}]: unknown lever `{lever}`")))?;
                overlay(&mut probe, given.clone(), &[kind, &name, "lever", lever])?;
            }
            if kind == "team" {
                self.team.insert(name.into(), rules);
            } else {
                self.environment.insert(name, rules);
            }
        }
        Ok(())
    }

    fn check(self, file: &str) -> Result<Self, ConfigError> {
        let zones = self
            .team
            .iter()
            .filter_map(|(team, rules)| Some((vec!["team", team.as_str(), "zone"], rules.zone.clone()?)))
            .chain([(
                vec!["calendar", "zone"],
                self.section("calendar").text("zone").to_owned(),
            )]);
        for (path, zone) in zones {
            if jiff::tz::TimeZone::get(&zone).is_err() {
                let section = path[..path.len() - 1].join(".");
                let mut error = ConfigError::new(file, format!("[{section}] zone: `{zone}` is not an IANA time zone"))
                    .hint("write it like `Europe/Berlin`");
                error.line = self.line(&path);
                return Err(error);
            }
        }
        let plan = self.section("plan");
        let (history, replay) = (plan.int("history_days"), plan.int("replay_days"));
        if history < replay {
            let what = format!("[plan] history_days is {history}, less than replay_days, {replay}");
            let mut error = ConfigError::new(file, what)
                .hint("what is replayed is the end of the history: set both, history_days at least as high");
            error.line = self
                .line(&["plan", "history_days"])
                .or_else(|| self.line(&["plan", "replay_days"]));
            return Err(error);
        }
        Ok(self)
    }

    /// The same with another value of a lever's key.
    #[must_use]
    pub fn with_lever(&self, lever: &str, key: &str, value: impl Into<Value>) -> Self {
        let mut policy = self.clone();
        let section = policy.sections.entry(format!("lever.{lever}")).or_default();
        section.insert(key.to_owned(), value.into());
        policy
    }

    /// A section that belongs to no lever.
    pub fn section(&self, name: &str) -> Settings {
        Settings(self.sections.get(name).cloned().unwrap_or_default())
    }

    /// A lever's settings for a team and an environment: environment over team over the lever's own section.
    pub fn lever(&self, lever: &str, team: Option<&Team>, environment: Option<&str>) -> Settings {
        let mut table = self
            .sections
            .get(&format!("lever.{lever}"))
            .cloned()
            .unwrap_or_default();
        let over = [
            team.and_then(|t| self.team.get(t)),
            environment.and_then(|e| self.environment.get(e)),
        ];
        for rules in over.into_iter().flatten() {
            table.extend(rules.lever.get(lever).cloned().unwrap_or_default());
        }
        Settings(table)
    }

    /// Every holiday calendar that the policy names.
    pub fn calendars(&self) -> BTreeSet<CalendarName> {
        let general = self.section("calendar").text("holidays").to_owned();
        let general = (!general.is_empty()).then(|| CalendarName::from(general));
        let owners = self.team.values().chain(self.environment.values());
        owners
            .filter_map(|rules| rules.holidays.clone())
            .chain(general)
            .collect()
    }

    /// Rules of a team.
    pub fn team(&self, team: &Team) -> Option<&OwnerRules> {
        self.team.get(team)
    }

    /// Rules of an environment.
    pub fn environment(&self, environment: &str) -> Option<&OwnerRules> {
        self.environment.get(environment)
    }
}

/// What is wrong in the file, and the path of the key there.
struct Wrong {
    path: Vec<String>,
    what: String,
}

impl Wrong {
    fn new(path: &[&str], what: impl Into<String>) -> Self {
        Self {
            path: path.iter().map(|key| (*key).to_owned()).collect(),
            what: what.into(),
        }
    }
}

/// `an integer`, `a string`.
fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {kind}")
}

/// Puts `given` over `known`; only known keys of the same type.
fn overlay(known: &mut Table, given: Table, path: &[&str]) -> Result<(), Wrong> {
    let section = path.join(".");
    for (key, value) in given {
        let wrong = |what: String| Wrong::new(&[path, &[&key]].concat(), what);
        let Some(slot) = known.get_mut(&key) else {
            let names: Vec<&str> = known.keys().map(String::as_str).collect();
            let near = nearest(&key, names.iter().copied());
            let near = near.map_or_else(String::new, |near| format!(" (nearest: `{near}`)"));
            return Err(wrong(format!(
                "unknown key `{key}` in [{section}]{near}; it has {}",
                names.join(", ")
            )));
        };
        let value = match (&*slot, value) {
            (Value::Float(_), Value::Integer(v)) => Value::Float(v as f64),
            (_, v) => v,
        };
        if !slot.same_type(&value) {
            return Err(wrong(format!(
                "`{key}` in [{section}] must be {}, not {}",
                with_article(slot.type_str()),
                with_article(value.type_str())
            )));
        }
        if let Some(range) = out_of_range(&key, &value) {
            return Err(wrong(format!("`{key}` in [{section}] must be {range}, not {value}")));
        }
        *slot = value;
    }
    Ok(())
}

/// What the value should have been, where it can't be meant: no key is negative, a share or chance is at most 1.
fn out_of_range(key: &str, value: &Value) -> Option<&'static str> {
    let is_share = ["share", "chance", "confidence"].iter().any(|end| key.ends_with(end));
    match value {
        Value::Float(v) if is_share && !(0.0..=1.0).contains(v) => Some("between 0 and 1"),
        Value::Float(v) if key.starts_with("work_hours_") && !(0.01..=10_000.0).contains(v) => {
            Some("between 0.01 and 10000")
        }
        // What things are divided by, or nothing could ever be saved.
        Value::Float(v)
            if (key.ends_with("per_second") || key == "max_interval_hours") && !(1e-6..=1e12).contains(v) =>
        {
            Some("above 0")
        }
        Value::Float(v) if !(0.0..=1e12).contains(v) => Some("a number from 0 to 1e12"),
        Value::Integer(v) if key.ends_with("days") && !(1..=3660).contains(v) => Some("between 1 and 3660"),
        Value::Integer(v) if key.ends_with("observed_minutes") && !(0..=60).contains(v) => {
            Some("between 0 and 60, the minutes of an hour")
        }
        Value::Integer(v) if !(0..=100_000).contains(v) => Some("between 0 and 100000"),
        Value::String(v) if key.ends_with("criticality") && !Criticality::ALL.iter().any(|c| c.as_str() == v) => {
            Some("`low`, `medium`, `high` or `critical`")
        }
        Value::Array(v) if v.iter().any(|e| e.as_str().is_none_or(|t| t.trim().is_empty())) => Some("a list of words"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Section = Section {
        name: "idle",
        keys: &[
            key("window_days", Int(14), "…"),
            key("min", Float(1.0), "…"),
            key("max_criticality", Text("medium"), "…"),
        ],
    };

    fn parse(text: &str) -> Result<Policy, String> {
        Policy::parse(text, "policy.toml", &[IDLE]).map_err(|e| e.to_string())
    }

    #[test]
    fn overrides_go_environment_over_team_over_lever() {
        let policy = parse(
            "[lever.idle]\nmin = 2\n[team.vision.lever.idle]\nwindow_days = 7\nmin = 3.0\n[environment.prod.lever.idle]\nmin = 4.0\n",
        )
        .unwrap();
        let get = |team: Option<&str>, env: Option<&str>| {
            let s = policy.lever("idle", team.map(Team::from).as_ref(), env);
            (s.int("window_days"), s.float("min"))
        };
        assert_eq!(get(None, None), (14, 2.0));
        assert_eq!(get(Some("vision"), None), (7, 3.0));
        assert_eq!(get(Some("vision"), Some("prod")), (7, 4.0));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let error = |text: &str| parse(text).unwrap_err();
        let lode = error("[lode]\nx = 1");
        assert!(
            lode.contains("unknown section [lode] (nearest: [load]); sections are "),
            "{lode}"
        );
        assert!(lode.contains("[lever.idle]") && lode.contains("[team.NAME]"), "{lode}");
        let zone = error("zone = \"Europe/Berlin\"");
        assert!(
            zone.contains("`zone` stands before any section; it belongs to [calendar]"),
            "{zone}"
        );
        assert!(error("[team.a]\nzone = \"Mars/Base\"").contains("[team.a] zone: `Mars/Base`"));
        let shorter = error("[plan]\nhistory_days = 7\nreplay_days = 14");
        assert!(
            shorter.contains("history_days is 7, less than replay_days, 14"),
            "{shorter}"
        );
        assert!(error("[usage]\nmin_observed_minutes = 61").contains("between 0 and 60"));
        assert!(error("[load]\nx = 1").contains("unknown key `x`"));
        assert!(error("[load]\nmax_reject_share = \"much\"").contains("must be a float"));
        assert!(error("[plan]\nreplay_days = \"28\"").contains("must be an integer, not a string"));
        assert!(error("[team.a]\nzone = \"Mars/Base\"").contains("IANA"));
        assert!(error("[team.a]\ncolour = \"red\"").contains("colour"));
        assert!(error("[team.a.lever.nothing]\nx = 1").contains("unknown lever"));
        assert!(error("[environment.prod.lever.idle]\nx = 1").contains("unknown key"));
        assert!(error("load = 3").contains("must be a section"));
    }

    #[test]
    fn calendars_are_all_that_are_named() {
        let policy =
            parse("[calendar]\nholidays = \"DE-BE\"\n[team.a]\nholidays = \"DE-SN\"\n[team.b]\nholidays = \"DE-BE\"\n")
                .unwrap();
        let names: Vec<String> = policy.calendars().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["DE-BE", "DE-SN"]);
        assert!(parse("").unwrap().calendars().is_empty());
    }

    #[test]
    fn refuses_what_cannot_be_meant() {
        for (text, range) in [
            ("[load]\nmax_reject_share = 1.5", "between 0 and 1"),
            ("[classes]\nmin_confidence = 95", "between 0 and 1"),
            ("[load]\nmax_reject_share = nan", "between 0 and 1"),
            ("[plan]\nengineer_hour = inf", "a number from 0 to 1e12"),
            ("[plan]\nengineer_hour = -1", "a number from 0 to 1e12"),
            ("[plan]\nhistory_days = 0", "between 1 and 3660"),
            ("[plan]\nreplay_days = 9223372036854775807", "between 1 and 3660"),
            ("[usage]\nmin_observed_minutes = -3", "between 0"),
            ("[plan]\nwork_hours_per_week = 0", "between 0.01 and 10000"),
            ("[plan]\nwork_hours_for_minutes = 0.0", "between 0.01 and 10000"),
            ("[owner]\nteam_tags = [1]", "list of words"),
            ("[owner]\nteam_tags = [\"\"]", "list of words"),
            ("[team.a.lever.idle]\nwindow_days = -3", "between 1 and 3660"),
            (
                "[lever.idle]\nmax_criticality = \"x\"",
                "`low`, `medium`, `high` or `critical`, not \"x\"",
            ),
            (
                "[team.a.lever.idle]\nmax_criticality = \"High\"",
                "`max_criticality` in [team.a.lever.idle] must be",
            ),
            (
                "[team.\"(idle)\"]\ncriticality = \"low\"",
                "[team.\"(idle)\"]: `(idle)` is no name of team",
            ),
            ("[environment.\" \"]\ncriticality = \"low\"", "no name of environment"),
            (
                "[environment.p]\nzone = \"Europe/Berlin\"",
                "[environment.\"p\"]: `zone` is people's",
            ),
            ("[environment.p]\nholidays = \"DE-BE\"", "`holidays` is people's"),
            (
                "[plan]\nhistory_dys = 3",
                "unknown key `history_dys` in [plan] (nearest: `history_days`)",
            ),
            ("[team.a]\nnever = [\"stpo\"]", "`never` holds `stpo`"),
            ("[environment.p]\nnever = [\"stpo\"]", "did you mean `stop`?"),
            ("[team.a]\ncriticality = \"x\"", "[team.a]"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(range), "{text}: {error}");
        }
    }

    #[test]
    fn every_default_is_readable() {
        let policy = Policy::defaults(&[IDLE]);
        assert_eq!(policy.section("plan").int("replay_days"), 28);
        assert_eq!(policy.section("owner").list("team_tags"), ["team", "owner"]);
        assert!(SECTIONS.iter().flat_map(|s| s.keys).all(|k| k.doc.len() > 20));
    }
}
