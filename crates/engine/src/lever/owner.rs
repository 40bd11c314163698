//! What owners do not want: never, keep, standby, criticality. Each refusal says who said so.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use lowwater_model::facts::{Facts, Resource};
use lowwater_model::policy::{OwnerRules, Policy};
use lowwater_model::workload::{Criticality, Keep, Role};

mod standing;

pub(super) use standing::{Standing, standing};

/// The owner's zone; UTC where it is unknown.
pub(super) fn zone(resource: &Resource) -> TimeZone {
    TimeZone::get(&resource.owner.zone).unwrap_or(TimeZone::UTC)
}

/// The owner's day at the end of the facts.
fn today(facts: &Facts, resource: &Resource) -> Date {
    zone(resource).to_datetime(facts.as_of).date()
}

/// Did somebody say that it waits on purpose: as a standby, or kept as it is?
pub(super) fn waits_on_purpose(facts: &Facts, policy: &Policy, resource: &Resource) -> bool {
    resource.owner.role == Role::Standby || keep(resource, policy, today(facts, resource)).is_some()
}

/// The rules of the policy for the owner's team and environment, each with the name of its section.
fn policy_rules<'a>(resource: &Resource, policy: &'a Policy) -> Vec<(String, &'a OwnerRules)> {
    let owner = &resource.owner;
    let team = owner
        .team
        .as_ref()
        .and_then(|t| Some((format!("[team.{t}]"), policy.team(t)?)));
    let environment = owner
        .environment
        .as_ref()
        .and_then(|e| Some((format!("[environment.{e}]"), policy.environment(e)?)));
    team.into_iter().chain(environment).collect()
}

/// Who said it: the rule that the facts name, else the owner.
fn by(resource: &Resource, field: &str) -> String {
    resource.owner.said_by(field).unwrap_or("its owner").to_owned()
}

/// The facts give a line for each kind that must never be: `never: stop, by tag never`.
fn by_for_kind(resource: &Resource, kind: &str) -> String {
    resource.owner.forbidden_by(kind).unwrap_or("its owner").to_owned()
}

/// Who forbids these kinds of change, if anybody does.
pub(super) fn never(resource: &Resource, policy: &Policy, kinds: &[&str]) -> Option<String> {
    let own = resource
        .owner
        .never
        .iter()
        .map(|kind| (kind, by_for_kind(resource, kind)));
    let rules = policy_rules(resource, policy);
    let inherited = rules
        .iter()
        .flat_map(|(section, rules)| rules.never.iter().map(move |kind| (kind, section.clone())));
    own.chain(inherited)
        .find(|(kind, _)| kinds.contains(&kind.as_str()))
        .map(|(kind, by)| format!("never `{kind}`, says {by}"))
}

fn keep(resource: &Resource, policy: &Policy, day: Date) -> Option<String> {
    let own = resource.owner.keep.as_ref().map(|keep| (keep, by(resource, "keep")));
    let rules = policy_rules(resource, policy);
    let inherited = rules
        .iter()
        .filter_map(|(section, rules)| Some((rules.keep.as_ref()?, section.clone())));
    own.into_iter()
        .chain(inherited)
        .find(|(keep, _)| keep.holds_on(day))
        .map(|(keep, by)| format!("{}: {}, says {by}", until(keep), keep.reason))
}

fn until(keep: &Keep) -> String {
    keep.until
        .map_or_else(|| "keep".to_owned(), |day| format!("keep until {day}"))
}

/// The gravest criticality that anybody gave, with who did.
fn criticality(resource: &Resource, policy: &Policy) -> Option<(Criticality, String)> {
    let own = resource.owner.criticality.map(|c| (c, by(resource, "criticality")));
    let rules = policy_rules(resource, policy);
    let inherited = rules
        .iter()
        .filter_map(|(section, rules)| Some((rules.criticality?, section.clone())));
    own.into_iter()
        .chain(inherited)
        .max_by_key(|(criticality, _)| *criticality)
}

/// Why the resource must be left as it is; none = its owner does not mind.
///
/// `kinds` are the words in `never` that forbid the change. `max_criticality` is the gravest that may be touched;
/// a word that is none allows nothing but the lowest.
pub(super) fn refusal(
    facts: &Facts,
    policy: &Policy,
    resource: &Resource,
    kinds: &[&str],
    max_criticality: &str,
) -> Option<String> {
    let limit = Criticality::parse(max_criticality).unwrap_or(Criticality::Low);
    let standby = || {
        (resource.owner.role == Role::Standby)
            .then(|| format!("a standby waits on purpose, says {}", by(resource, "role")))
    };
    let critical = || {
        criticality(resource, policy)
            .filter(|(criticality, _)| *criticality > limit)
            .map(|(criticality, by)| format!("criticality is {criticality}, says {by}; the policy allows {limit}"))
    };
    never(resource, policy, kinds)
        .or_else(|| keep(resource, policy, today(facts, resource)))
        .or_else(standby)
        .or_else(critical)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn why(owner: &str, rules: &str, kinds: &[&str]) -> Option<String> {
        let facts = sample::facts(&format!(
            "as_of = \"2026-11-06T20:00:00Z\"\nhistory_days = 1\nreplay_days = 1\n[[resource]]\nid = \"a\"\n\
             team = \"vision\"\nenvironment = \"prod\"\n{owner}"
        ));
        refusal(&facts, &sample::policy(rules), &facts.resources[0], kinds, "medium")
    }

    #[test]
    fn a_keep_ends_with_the_owners_day() {
        let keep = |zone: &str| {
            let owner = format!(
                "zone = \"{zone}\"\nkeep = {{ reason = \"demo\", until = 2026-11-06 }}\nbecause = [\"keep: tag keep\"]"
            );
            why(&owner, "", &["stop"])
        };
        assert_eq!(keep("UTC").unwrap(), "keep until 2026-11-06: demo, says tag keep");
        assert_eq!(keep("Asia/Kolkata"), None, "there it is the seventh already");
        assert!(keep("Mars/Base").is_some(), "an unknown zone counts as UTC");
        assert_eq!(
            why("keep = { reason = \"archive\" }", "", &["stop"]).unwrap(),
            "keep: archive, says its owner"
        );
    }

    #[test]
    fn rules_of_team_and_environment_hold_too() {
        assert_eq!(why("", "", &["stop"]), None);
        let team = "[team.vision]\nnever = [\"stop\"]";
        assert_eq!(why("", team, &["stop"]).unwrap(), "never `stop`, says [team.vision]");
        assert_eq!(why("", team, &["set_schedule"]), None);
        assert_eq!(why("", "[team.speech]\nnever = [\"stop\"]", &["stop"]), None);
        let environment = "[environment.prod]\nkeep = { reason = \"freeze\", until = 2026-12-31 }";
        assert_eq!(
            why("", environment, &["stop"]).unwrap(),
            "keep until 2026-12-31: freeze, says [environment.prod]"
        );
        let said = "never = [\"stop\", \"set_schedule\"]\nbecause = [\"never: set_schedule, by tag `never`\", \"never: stop, by workload `nb`\"]";
        assert_eq!(why(said, "", &["stop"]).unwrap(), "never `stop`, says workload `nb`");
        let both = "[team.vision]\ncriticality = \"low\"\n[environment.prod]\ncriticality = \"critical\"";
        assert_eq!(
            why("criticality = \"medium\"", both, &[]).unwrap(),
            "criticality is critical, says [environment.prod]; the policy allows medium"
        );
        assert_eq!(why("criticality = \"medium\"", "", &[]), None);
    }

    #[test]
    fn an_unknown_limit_is_the_lowest() {
        let facts = sample::facts(
            "as_of = \"2026-11-06T20:00:00Z\"\nhistory_days = 1\nreplay_days = 1\n[[resource]]\nid = \"a\"\ncriticality = \"medium\"",
        );
        let refusal = |limit| refusal(&facts, &sample::policy(""), &facts.resources[0], &[], limit);
        assert!(refusal("grave").is_some() && refusal("low").is_some());
        assert_eq!((refusal("medium"), refusal("critical")), (None, None));
    }
}
