//! Names that are hashes of what they name: the same content has the same name on every machine.

use std::fmt::Write as _;

use lowwater_model::change::Change;
use lowwater_model::id::{PlanId, PolicyId, StepId};
use lowwater_model::plan::Plan;
use lowwater_model::policy::Policy;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Hex digits of a step's name: enough that no two steps of a plan meet, few enough to type.
const STEP_DIGITS: usize = 12;

/// Hash of everything in the plan but its id.
pub fn plan_id(plan: &Plan) -> PlanId {
    let mut value = json(plan);
    if let Value::Object(fields) = &mut value {
        fields.remove("id");
    }
    hash(&value).into()
}

/// Hash of all keys of the policy, defaults included.
pub fn policy_id(policy: &Policy) -> PolicyId {
    hash(&json(policy)).into()
}

/// Hash of the change and of the lever that found it.
pub fn step_id(lever: &str, change: &Change) -> StepId {
    let text = hash(&json(&(lever, change)));
    text[..STEP_DIGITS].into()
}

/// What serialises as JSON in every other place does so here; what did not would be a plan without content.
fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn hash(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    Sha256::digest(text.as_bytes())
        .iter()
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

/// JSON without spaces and with the keys of each object in order, whatever map the JSON library was built with.
fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(values) => {
            out.push('[');
            for (index, value) in values.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_canonical(value, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort_unstable();
            out.push('{');
            for (index, name) in names.into_iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                let _ = write!(out, "{}:", Value::String(name.clone()));
                write_canonical(&fields[name.as_str()], out);
            }
            out.push('}');
        }
        plain => {
            let _ = write!(out, "{plain}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_at_every_depth_and_texts_are_escaped() {
        let mut out = String::new();
        write_canonical(&json!({"b": [{"d": 1.5, "c": "x\"y"}, null], "a": true}), &mut out);
        assert_eq!(out, r#"{"a":true,"b":[{"c":"x\"y","d":1.5},null]}"#);
        assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["b"][0]["c"], "x\"y");
    }

    #[test]
    fn the_hash_is_sha_256() {
        // `printf 'null' | sha256sum`
        let want = "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b";
        assert_eq!(hash(&Value::Null), want);
    }

    #[test]
    fn a_policy_is_named_by_what_it_says() {
        let name = |text: &str| policy_id(&Policy::parse(text, "policy.toml", &[]).unwrap());
        assert_eq!(
            name(""),
            name("[plan]\nreplay_days = 28"),
            "a default that is written down is the same policy"
        );
        assert_ne!(name(""), name("[plan]\nreplay_days = 27"));
        assert_ne!(name(""), name("[team.vision]\nnever = [\"stop\"]"));
    }
}
