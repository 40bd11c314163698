//! Who owns a resource, and how it may be treated: workloads.toml first, then tags, then the rules of team and environment.

use std::collections::{BTreeMap, BTreeSet};

use lowwater_model::facts::Owner;
use lowwater_model::id::Team;
use lowwater_model::policy::{OwnerRules, Policy, Settings};
use lowwater_model::workload::{
    Class, Criticality, Keep, RESERVED_LABELS, Role, Traits, Workload, Workloads, fold_key,
};

/// Tag that lists kinds of change which must never be proposed, separated by commas.
pub const NEVER_TAG: &str = "lowwater-never";
/// Tag that keeps a resource as it is: a reason, or the last day (`2026-12-31`) on which that holds.
pub const KEEP_TAG: &str = "lowwater-keep";
/// Tag that names the owner's zone.
pub const ZONE_TAG: &str = "timezone";
/// Tag that says what a stop costs.
pub const CRITICALITY_TAG: &str = "criticality";

/// Finds owners. Holds the parsed policy keys, so that a million resources can be asked.
pub struct Owners<'a> {
    workloads: &'a Workloads,
    policy: &'a Policy,
    keys: TagKeys,
    zone: String,
    holidays: String,
}

/// Folded tag keys by what they name.
struct TagKeys {
    team: Vec<String>,
    project: Vec<String>,
    environment: Vec<String>,
    model: Vec<String>,
    class: Vec<String>,
    required: Vec<String>,
}

impl TagKeys {
    fn new(owner: &Settings) -> Self {
        let keys = |name: &str| owner.list(name).into_iter().map(fold_key).collect();
        Self {
            team: keys("team_tags"),
            project: keys("project_tags"),
            environment: keys("environment_tags"),
            model: keys("model_tags"),
            class: keys("class_tags"),
            required: keys("required_tags"),
        }
    }

    /// The tag keys that satisfy one required key: the group it names, or itself.
    fn group<'a>(&'a self, required: &'a String) -> &'a [String] {
        match required.as_str() {
            "team" => &self.team,
            "project" => &self.project,
            "environment" => &self.environment,
            "model" => &self.model,
            _ => std::slice::from_ref(required),
        }
    }
}

impl<'a> Owners<'a> {
    /// For one configuration.
    pub fn new(workloads: &'a Workloads, policy: &'a Policy) -> Self {
        let calendar = policy.section("calendar");
        Self {
            workloads,
            policy,
            keys: TagKeys::new(&policy.section("owner")),
            zone: calendar.text("zone").to_owned(),
            holidays: calendar.text("holidays").to_owned(),
        }
    }

    /// Does the resource lack a tag that the policy requires?
    pub fn is_untagged(&self, tags: &BTreeMap<String, String>) -> bool {
        let has = |keys: &[String]| keys.iter().any(|k| tags.get(k).is_some_and(|v| !v.trim().is_empty()));
        self.keys
            .required
            .iter()
            .any(|required| !has(self.keys.group(required)))
    }

    /// Each required key with the folded tag keys that satisfy it.
    pub fn required_keys(&self) -> Vec<(String, Vec<String>)> {
        let required = self.keys.required.iter();
        required
            .map(|key| (key.clone(), self.keys.group(key).to_vec()))
            .collect()
    }

    /// The owner of a resource, with the rules that apply to it and where each came from.
    pub fn of(&self, traits: &Traits) -> Owner {
        let found = self.workloads.of(traits);
        let mut owner = match found {
            Some((workload, select)) => Owner {
                because: self.declared_because(workload, select),
                ..declared(workload)
            },
            None => undeclared(),
        };
        self.fill_from_tags(&mut owner, &traits.tags);
        self.fill_zone(&mut owner, found.map(|(w, _)| w), &traits.tags);
        self.inherit(&mut owner);
        take_tag_rules(&mut owner, &traits.tags);
        owner
    }

    fn fill_from_tags(&self, owner: &mut Owner, tags: &BTreeMap<String, String>) {
        let mut because = Vec::new();
        let mut find = |keys: &[String], what: &str| {
            let (key, value) = keys.iter().find_map(|k| Some((k, tag_value(tags, k)?)))?;
            because.push(format!("{what}: tag `{key}` = `{value}`"));
            Some(value.to_owned())
        };
        if owner.team.is_none() {
            owner.team = find(&self.keys.team, "team").map(Team::from);
        }
        if owner.project.is_none() {
            owner.project = find(&self.keys.project, "project");
        }
        if owner.environment.is_none() {
            owner.environment = find(&self.keys.environment, "environment");
        }
        if owner.model.is_none() {
            owner.model = find(&self.keys.model, "model");
        }
        if owner.class == Class::Unknown && owner.workload.is_none() {
            let class = find(&self.keys.class, "class").and_then(|text| Class::parse(&text));
            owner.class = class.unwrap_or(Class::Unknown);
        }
        owner.because.extend(because);
    }

    /// The workload's zone, else tag `timezone`, else the team's, else the policy's; holidays alike.
    fn fill_zone(&self, owner: &mut Owner, workload: Option<&Workload>, tags: &BTreeMap<String, String>) {
        let team = owner.team.as_ref().and_then(|t| self.policy.team(t));
        let tag = tag_value(tags, ZONE_TAG).filter(|z| jiff::tz::TimeZone::get(z).is_ok());
        let declared = workload.and_then(|w| Some((w.zone.clone()?, self.in_workload(w, &["zone"]))));
        let of_team = || {
            let (name, zone) = (owner.team.as_ref()?, team.and_then(|t| t.zone.clone())?);
            Some((zone, self.in_policy(&["team", name.as_str(), "zone"])))
        };
        let (zone, from) = declared
            .or_else(|| tag.map(|z| (z.to_owned(), format!("tag `{ZONE_TAG}`"))))
            .or_else(of_team)
            .unwrap_or_else(|| (self.zone.clone(), self.in_policy(&["calendar", "zone"])));
        owner.because.push(format!("zone: {from}"));
        owner.zone = zone;
        owner.holidays = workload
            .and_then(|w| w.holidays.clone())
            .or_else(|| team.and_then(|t| t.holidays.clone()))
            .or_else(|| (!self.holidays.is_empty()).then(|| self.holidays.as_str().into()));
    }

    fn inherit(&self, owner: &mut Owner) {
        let team = owner.team.clone();
        let environment = owner.environment.clone();
        if let Some((team, rules)) = team.as_ref().and_then(|t| Some((t, self.policy.team(t)?))) {
            self.inherit_from(owner, rules, ["team", team.as_str()]);
        }
        if let Some((name, rules)) = environment
            .as_ref()
            .and_then(|e| Some((e, self.policy.environment(e)?)))
        {
            self.inherit_from(owner, rules, ["environment", name]);
        }
    }

    fn inherit_from(&self, owner: &mut Owner, rules: &OwnerRules, [kind, name]: [&str; 2]) {
        let from = |key: &str| self.in_policy(&[kind, name, key]);
        for change in &rules.never {
            if owner.never.insert(change.clone()) {
                owner.because.push(format!("never: {change}, by {}", from("never")));
            }
        }
        if let (None, Some(keep)) = (&owner.keep, &rules.keep) {
            owner.because.push(format!("keep: {}", from("keep")));
            owner.keep = Some(keep.clone());
        }
        if let (None, Some(criticality)) = (owner.criticality, rules.criticality) {
            owner.because.push(format!("criticality: {}", from("criticality")));
            owner.criticality = Some(criticality);
        }
    }

    /// `[team.vision] in policy.toml:12`, of a key; without the line where it has its default.
    fn in_policy(&self, path: &[&str]) -> String {
        let section = path[..path.len() - 1].join(".");
        let line = self.policy.line(path);
        line.map_or_else(
            || format!("default of [{section}] in policy.toml"),
            |line| format!("[{section}] in policy.toml:{line}"),
        )
    }

    /// ``workload `chat` in workloads.toml:12``, of a key.
    fn in_workload(&self, workload: &Workload, path: &[&str]) -> String {
        let line = self.workloads.line(&workload.name, path);
        let line = line.map_or_else(String::new, |line| format!(":{line}"));
        format!("workload `{}` in workloads.toml{line}", workload.name)
    }

    /// One line a field that the declaration fills.
    fn declared_because(&self, workload: &Workload, select: usize) -> Vec<String> {
        let fields = [
            ("class", workload.class != Class::Unknown),
            ("role", workload.role != Role::Primary),
            ("team", workload.team.is_some()),
            ("project", workload.project.is_some()),
            ("environment", workload.environment.is_some()),
            ("model", workload.model.is_some()),
            ("criticality", workload.criticality.is_some()),
            ("never", !workload.never.is_empty()),
            ("keep", workload.keep.is_some()),
        ];
        let place = self.in_workload(workload, &["select", &select.to_string()]);
        let first = format!("workload: select {} of {place}", select + 1);
        let rest = fields
            .iter()
            .filter(|(_, given)| *given)
            .map(|(field, _)| format!("{field}: {}", self.in_workload(workload, &[field])));
        std::iter::once(first).chain(rest).collect()
    }
}

/// A tag's value; labels that belong to nobody are no value.
fn tag_value<'a>(tags: &'a BTreeMap<String, String>, key: &str) -> Option<&'a str> {
    let value = tags.get(key)?.trim();
    (!value.is_empty() && !RESERVED_LABELS.contains(&value)).then_some(value)
}

fn declared(workload: &Workload) -> Owner {
    Owner {
        workload: Some(workload.name.clone()),
        class: workload.class,
        role: workload.role,
        team: workload.team.clone(),
        project: workload.project.clone(),
        environment: workload.environment.clone(),
        model: workload.model.clone(),
        zone: String::new(),
        holidays: None,
        criticality: workload.criticality,
        never: workload.never.clone(),
        keep: workload.keep.clone(),
        deadline: workload.deadline,
        latency_p99: workload.latency_p99,
        checkpoint: workload.checkpoint.clone(),
        because: Vec::new(),
    }
}

fn undeclared() -> Owner {
    Owner {
        workload: None,
        class: Class::Unknown,
        role: Role::Primary,
        team: None,
        project: None,
        environment: None,
        model: None,
        zone: String::new(),
        holidays: None,
        criticality: None,
        never: BTreeSet::new(),
        keep: None,
        deadline: None,
        latency_p99: None,
        checkpoint: None,
        because: vec!["workload: none of workloads.toml selects it".into()],
    }
}

fn take_tag_rules(owner: &mut Owner, tags: &BTreeMap<String, String>) {
    let never = tag_value(tags, NEVER_TAG).unwrap_or_default();
    for kind in never.split(',').map(str::trim).filter(|k| !k.is_empty()) {
        owner.because.push(format!("never: {kind}, by tag `{NEVER_TAG}`"));
        owner.never.insert(kind.to_owned());
    }
    if let (None, Some(text)) = (&owner.keep, tag_value(tags, KEEP_TAG)) {
        owner.because.push(format!("keep: tag `{KEEP_TAG}`"));
        owner.keep = Some(Keep {
            reason: text.to_owned(),
            until: text.parse().ok(),
        });
    }
    let criticality = tag_value(tags, CRITICALITY_TAG).and_then(Criticality::parse);
    if let (None, Some(criticality)) = (owner.criticality, criticality) {
        owner.because.push(format!("criticality: tag `{CRITICALITY_TAG}`"));
        owner.criticality = Some(criticality);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKLOADS: &str = r#"
[[workload]]
name = "notebooks"
class = "development"
team = "vision"
zone = "Europe/Berlin"
[[workload.select]]
resource_name = "nb-*"
[[workload]]
name = "chat"
class = "realtime-inference"
never = ["stop"]
deadline = "06:00 daily"
latency_p99 = "300ms"
checkpoint = { every = "30m" }
[[workload.select]]
resource_name = "chat-*"
"#;
    const POLICY: &str = r#"
[calendar]
zone = "UTC"
holidays = "US"
[team.vision]
zone = "America/New_York"
holidays = "DE-BE"
never = ["use_spot"]
[team.search]
zone = "Asia/Tokyo"
[environment.prod]
keep = { reason = "freeze", until = "2026-12-31" }
criticality = "high"
"#;

    fn owner(name: &str, tags: &[(&str, &str)]) -> Owner {
        let workloads = Workloads::parse(WORKLOADS, "workloads.toml").unwrap();
        let policy = Policy::parse(POLICY, "policy.toml", &[]).unwrap();
        let tags = tags.iter().map(|(k, v)| (fold_key(k), (*v).to_owned())).collect();
        Owners::new(&workloads, &policy).of(&Traits {
            resource_name: name.into(),
            tags,
            ..Traits::default()
        })
    }

    #[test]
    fn the_declaration_wins_over_tags_and_the_zone_goes_in_order() {
        let of = owner(
            "nb-1",
            &[("Team", "search"), ("timezone", "Asia/Kolkata"), ("project", "p")],
        );
        assert_eq!(of.team, Some("vision".into()));
        assert_eq!(of.project.as_deref(), Some("p"));
        assert_eq!((of.zone.as_str(), of.holidays), ("Europe/Berlin", Some("DE-BE".into())));
        assert_eq!(
            owner("x", &[("Team", "search"), ("timezone", "Asia/Kolkata")]).zone,
            "Asia/Kolkata"
        );
        assert_eq!(
            owner("x", &[("owner", "search"), ("timezone", "nowhere")]).zone,
            "Asia/Tokyo"
        );
        assert_eq!(owner("x", &[]).zone, "UTC");
        assert_eq!(owner("x", &[]).holidays, Some("US".into()));
    }

    #[test]
    fn every_rule_says_in_which_line_it_stands() {
        let line = |text: &str, at: &str| text.lines().position(|l| l.starts_with(at)).unwrap() + 1;
        let of = owner("nb-1", &[("env", "prod"), ("timezone", "Asia/Kolkata")]);
        let (class, select) = (line(WORKLOADS, "class = \"dev"), line(WORKLOADS, "[[workload.select"));
        let (never, keep) = (line(POLICY, "never"), line(POLICY, "keep"));
        for want in [
            format!("workload: select 1 of workload `notebooks` in workloads.toml:{select}"),
            format!("class: workload `notebooks` in workloads.toml:{class}"),
            format!("never: use_spot, by [team.vision] in policy.toml:{never}"),
            format!("keep: [environment.prod] in policy.toml:{keep}"),
        ] {
            assert!(of.because.contains(&want), "{want}\n{:?}", of.because);
        }
        let zone = |name: &str, tags: &[(&str, &str)]| owner(name, tags).said_by("zone").map(String::from);
        let workload = line(WORKLOADS, "zone = ");
        assert_eq!(
            zone("nb-1", &[]),
            Some(format!("workload `notebooks` in workloads.toml:{workload}"))
        );
        let team = line(POLICY, "zone = \"Asia/Tokyo");
        assert_eq!(
            zone("x", &[("team", "search")]),
            Some(format!("[team.search] in policy.toml:{team}"))
        );
        assert_eq!(
            zone("x", &[]),
            Some(format!("[calendar] in policy.toml:{}", line(POLICY, "zone = \"UTC")))
        );
    }

    #[test]
    fn rules_are_inherited_from_team_environment_and_tags() {
        let of = owner("nb-1", &[("env", "prod"), ("lowwater-never", "set_schedule, stop")]);
        assert_eq!(
            of.never.iter().map(String::as_str).collect::<Vec<_>>(),
            ["set_schedule", "stop", "use_spot"]
        );
        assert_eq!(of.keep.unwrap().reason, "freeze");
        assert_eq!(of.criticality, Some(Criticality::High));
        let of = owner("chat-1", &[("lowwater-keep", "2026-11-06")]);
        assert_eq!(of.keep.unwrap().until, Some("2026-11-06".parse().unwrap()));
    }

    #[test]
    fn promises_come_with_the_workload() {
        let of = owner("chat-1", &[]);
        assert_eq!(of.deadline.unwrap().to_string(), "06:00:00 daily");
        assert_eq!(of.latency_p99, Some(jiff::SignedDuration::from_millis(300)));
        assert_eq!(of.checkpoint.unwrap().every, Some(jiff::SignedDuration::from_mins(30)));
        // Who promised nothing has the same bytes as before there were promises.
        let text = serde_json::to_string(&owner("nb-1", &[])).unwrap();
        assert!(
            ["deadline", "latency_p99", "checkpoint"]
                .iter()
                .all(|key| !text.contains(key)),
            "{text}"
        );
    }

    #[test]
    fn class_by_tag_only_without_a_workload_and_labels_of_nobody_are_no_team() {
        assert_eq!(owner("x", &[("workload-class", "training")]).class, Class::Training);
        assert_eq!(owner("x", &[("workload-class", "fun")]).class, Class::Unknown);
        assert_eq!(
            owner("nb-1", &[("workload-class", "training")]).class,
            Class::Development
        );
        assert_eq!(owner("x", &[("team", "(idle)")]).team, None);
    }

    #[test]
    fn untagged_means_without_a_required_key() {
        let workloads = Workloads::default();
        let policy = Policy::defaults(&[]);
        let owners = Owners::new(&workloads, &policy);
        let tags = |k: &str, v: &str| BTreeMap::from([(k.to_owned(), v.to_owned())]);
        assert!(owners.is_untagged(&BTreeMap::new()));
        assert!(owners.is_untagged(&tags("team", " ")));
        assert!(!owners.is_untagged(&tags("owner", "a")));
    }
}
