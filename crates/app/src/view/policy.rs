//! The policy as it holds, and as a file to begin with.

use std::fmt::Write as _;

use lowwater_model::policy::{OWNER_KEYS, Policy, PolicyKey, SECTIONS, Section};
use serde::Serialize;
use serde_json::Value;

use crate::output::View;
use crate::screen::Screen;
use crate::screen::paragraph::wrap;

/// Every key with its value.
#[derive(Debug, Serialize)]
pub struct EffectivePolicy {
    /// In the order of the documentation.
    pub keys: Vec<EffectiveKey>,
    /// Rules of teams, by name.
    pub team: Value,
    /// Rules of environments, by name.
    pub environment: Value,
    #[serde(skip)]
    changed_only: bool,
}

/// One key.
#[derive(Debug, Serialize)]
pub struct EffectiveKey {
    /// With its section: `load.max_reject_share`.
    pub key: String,
    /// The value that holds.
    pub value: Value,
    /// The value where the owner says nothing.
    pub default: Value,
    /// They differ.
    pub changed: bool,
    /// What it means and why the default is what it is.
    pub doc: &'static str,
}

/// All sections with their full names.
pub fn sections(levers: &[Section]) -> Vec<(String, &'static [PolicyKey])> {
    let plain = SECTIONS.iter().map(|s| (s.name.to_owned(), s.keys));
    plain
        .chain(levers.iter().map(|s| (format!("lever.{}", s.name), s.keys)))
        .collect()
}

impl EffectivePolicy {
    /// Of this policy; `changed_only` leaves out what is as it was.
    pub fn new(policy: &Policy, levers: &[Section], changed_only: bool) -> Self {
        let all = serde_json::to_value(policy).unwrap_or_default();
        let key = |section: &str, key: &PolicyKey| {
            let value = all["sections"][section][key.name].clone();
            let default = serde_json::to_value(key.default.value()).unwrap_or_default();
            let changed = value != default;
            EffectiveKey {
                key: format!("{section}.{}", key.name),
                value,
                default,
                changed,
                doc: key.doc,
            }
        };
        let keys = sections(levers)
            .into_iter()
            .flat_map(|(name, keys)| keys.iter().map(move |k| key(&name, k)).collect::<Vec<_>>());
        Self {
            keys: keys.filter(|k| k.changed || !changed_only).collect(),
            team: all["team"].clone(),
            environment: all["environment"].clone(),
            changed_only,
        }
    }

    fn headline(&self) -> String {
        let changed = self.keys.iter().filter(|k| k.changed).count();
        match (changed, self.changed_only) {
            (0, true) => "No policy key differs from its default.".into(),
            (0, false) => format!("All {} policy keys are as shipped.", self.keys.len()),
            (n, true) => format!("{n} policy keys differ from their default."),
            (n, false) => format!("{n} of {} policy keys differ from their default.", self.keys.len()),
        }
    }
}

impl View for EffectivePolicy {
    fn screen(&self) -> Screen {
        let mut screen = Screen::new(self.headline());
        let section = |key: &EffectiveKey| key.key.rsplit_once('.').map_or("", |(section, _)| section).to_owned();
        for keys in self.keys.chunk_by(|a, b| section(a) == section(b)) {
            screen = screen
                .title(format!("[{}]", section(&keys[0])))
                .terms(keys.iter().map(term).collect());
        }
        for (kind, owners) in [("team", &self.team), ("environment", &self.environment)] {
            let rules = owners.as_object().into_iter().flatten();
            let rules = rules
                .map(|(name, rules)| format!("{kind} {name}: {}", words(rules)))
                .collect::<Vec<_>>();
            if !rules.is_empty() {
                screen = screen.title(format!("Rules by {kind}")).points(rules);
            }
        }
        screen
    }
}

/// `max_reject_share = 0.05 (default 0.01)`, and what it means.
fn term(key: &EffectiveKey) -> (String, String) {
    let name = key.key.rsplit_once('.').map_or(key.key.as_str(), |(_, name)| name);
    let default = if key.changed {
        format!(" (default {})", key.default)
    } else {
        String::new()
    };
    (format!("{name} = {}{default}", key.value), key.doc.to_owned())
}

/// `zone = "Europe/Berlin", lever.off_hours.margin_hours = 1`: what is said, and nothing that is not.
fn words(rules: &Value) -> String {
    let mut out = Vec::new();
    collect(rules, "", &mut out);
    out.join(", ")
}

fn collect(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Array(list) if list.is_empty() => {}
        Value::Object(map) => {
            let at = |key: &str| {
                if path.is_empty() {
                    key.to_owned()
                } else {
                    format!("{path}.{key}")
                }
            };
            map.iter().for_each(|(key, value)| collect(value, &at(key), out));
        }
        other => out.push(format!("{path} = {other}")),
    }
}

/// A policy.toml with every key, its default and its reason, all commented out: it changes nothing.
pub fn commented_policy(levers: &[Section]) -> String {
    let mut out = String::from(
        "# Your limits. Every key is shown with its default and the reason for it; remove the `#` to change one.\n\
         # An unknown key is an error. `lowwater policy` shows what holds.\n",
    );
    for (name, keys) in sections(levers) {
        let _ = write!(out, "\n[{name}]\n");
        for key in keys {
            for line in wrap(key.doc, 116, "") {
                let _ = writeln!(out, "# {line}");
            }
            let _ = writeln!(out, "# {} = {}\n", key.name, key.default.value());
        }
        out.truncate(out.trim_end().len() + 1);
    }
    out.push_str("\n# Rules of a team or an environment, which its resources inherit:\n");
    for (name, doc) in OWNER_KEYS {
        let _ = writeln!(out, "#   {name:12} {doc}");
    }
    out.push_str(
        "# and any key of a lever, for this owner only. Example:\n#\n# [team.vision]\n# zone = \"Europe/Berlin\"\n# never = [\"stop\"]\n",
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;

    const LEVER: Section = Section {
        name: "idle",
        keys: &[PolicyKey {
            name: "window_days",
            default: lowwater_model::policy::KeyDefault::Int(14),
            doc: "Days without work before a resource counts as idle. Two weeks: a holiday is shorter.",
        }],
    };

    fn parse(text: &str) -> Policy {
        Policy::parse(text, "policy.toml", &[LEVER]).unwrap()
    }

    #[test]
    fn the_commented_file_changes_nothing_and_uncommented_is_the_defaults() {
        let text = commented_policy(&[LEVER]);
        assert_eq!(parse(&text), Policy::defaults(&[LEVER]));
        let keys = sections(&[LEVER]).iter().map(|(_, k)| k.len()).sum::<usize>();
        let is_key = |l: &&str| {
            l.strip_prefix("# ")
                .and_then(|l| l.split_once(" = "))
                .is_some_and(|(k, _)| !k.contains(' '))
        };
        let body = text.split("\n# Rules of a team").next().unwrap();
        assert_eq!(body.lines().filter(is_key).count(), keys);
        let live: Vec<&str> = body.lines().map(|l| if is_key(&l) { &l[2..] } else { l }).collect();
        assert_eq!(parse(&live.join("\n")), Policy::defaults(&[LEVER]));
        assert!(text.lines().all(|l| l.chars().count() <= 120));
    }

    #[test]
    fn says_what_was_changed() {
        let policy = parse(
            "[load]\nmax_reject_share = 0.5\n[lever.idle]\nwindow_days = 7\n[team.vision]\nzone = \"Europe/Berlin\"\nlever.idle.window_days = 3\n",
        );
        let view = EffectivePolicy::new(&policy, &[LEVER], true);
        let changed: Vec<(&str, String)> = view
            .keys
            .iter()
            .map(|k| (k.key.as_str(), k.value.to_string()))
            .collect();
        assert_eq!(
            changed,
            [
                ("load.max_reject_share", "0.5".into()),
                ("lever.idle.window_days", "7".into())
            ]
        );
        let text = view.screen().render(120, Paint::new(false));
        assert!(text.starts_with("2 policy keys differ from their default."), "{text}");
        assert!(
            text.contains("- team vision: lever.idle.window_days = 3, zone = \"Europe/Berlin\""),
            "{text}"
        );
        let all = EffectivePolicy::new(&policy, &[LEVER], false);
        assert!(all.screen().render(120, Paint::new(false)).starts_with("2 of "));
        let none = EffectivePolicy::new(&parse(""), &[LEVER], true);
        assert_eq!(
            none.screen().render(120, Paint::new(false)),
            "No policy key differs from its default.\n"
        );
    }
}
