//! The class that a lever may rely on: declared, or guessed beyond doubt; else what to declare.

use lowwater_model::clue::Guess;
use lowwater_model::facts::{Facts, Resource};
use lowwater_model::policy::Policy;
use lowwater_model::workload::{Class, Role};

use crate::class;
use crate::lever::Refusal;

/// The class that a lever may rely on, and how it is known where nobody declared it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::lever) struct Standing {
    pub(in crate::lever) class: Class,
    /// The guess, as evidence of a step.
    pub(in crate::lever) guessed: Option<String>,
}

/// What begins the evidence of a step on a class that nobody declared.
const GUESSED: &str = "class guessed";

/// What a lever says where nobody declared a class and nothing speaks for one.
const DECLARE_FIRST: &str =
    "declare this first: nobody has said what it is for; give it a class in workloads.toml or by tag";

/// The declared class; or the guessed one, where the guess is surer than the policy asks, work of its kind bears an
/// interruption, and nothing speaks against acting on it; or what to declare. Every lever asks here.
pub(in crate::lever) fn standing(facts: &Facts, policy: &Policy, resource: &Resource) -> Result<Standing, Refusal> {
    if resource.owner.class != Class::Unknown {
        return Ok(Standing {
            class: resource.owner.class,
            guessed: None,
        });
    }
    let guess = class::guess(facts, resource);
    if guess.class == Class::Unknown {
        return Err(DECLARE_FIRST.to_owned().into());
    }
    let least = policy.section("classes").float("min_confidence");
    let obstacle = obstacle(&guess, least);
    let seen = guess.because.join("; ");
    let sure = percent(guess.confidence);
    match obstacle {
        None => Ok(Standing {
            class: guess.class,
            guessed: Some(format!(
                "{GUESSED}: {} looks like {}, {sure} sure: {seen}; nothing speaks against it",
                resource.id, guess.class
            )),
        }),
        Some(obstacle) => Err(Refusal {
            why: format!(
                "declare this first: it looks like {}, {sure} sure: {seen}. {obstacle}",
                looks(&guess)
            ),
            declare: Some((guess.class, guess.role)),
        }),
    }
}

fn looks(guess: &Guess) -> String {
    match guess.role {
        Role::Standby => format!("a standby of {}", guess.class),
        _ => guess.class.to_string(),
    }
}

/// A share of thousandths, as a percentage.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Why the guess is not acted on.
fn obstacle(guess: &Guess, least: f64) -> Option<String> {
    if !guess.against.is_empty() {
        return Some(format!("A guess is not acted on here: {}", guess.against.join("; ")));
    }
    if !guess.may_be_interrupted() {
        return Some("A guess is not enough to touch what somebody may wait for".to_owned());
    }
    (guess.confidence <= least).then(|| {
        format!(
            "A guess is acted on above {} only, [classes] min_confidence",
            percent(least)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn an_undeclared_class_is_guessed_or_to_be_declared() {
        let office = "use = [{ idle = true }, { days = [0, 4], hours = [9, 18] }]";
        let ask = |owner: &str, rules: &str| {
            let facts = sample::facts(&format!(
                "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 28\nreplay_days = 28\n[[resource]]\nid = \"a\"\n\
                 line = [{{ rate = \"1\" }}]\n{owner}\n{office}"
            ));
            standing(&facts, &sample::policy(rules), &facts.resources[0])
        };
        let notebook = "clues.tags = { purpose = \"notebook\" }";
        let declared = ask(&format!("class = \"ci\"\n{notebook}"), "").unwrap();
        assert_eq!(
            (declared.class, declared.guessed),
            (Class::Ci, None),
            "a declaration goes over any guess"
        );
        let guessed = ask(notebook, "").unwrap();
        assert_eq!(guessed.class, Class::Development);
        let said = guessed.guessed.unwrap();
        assert!(
            said.starts_with("class guessed: a looks like development, 9")
                && said.ends_with("nothing speaks against it")
        );
        for (owner, rules, why) in [
            (
                notebook,
                "[classes]\nmin_confidence = 1",
                "acted on above 100.0 % only, [classes] min_confidence",
            ),
            ("name = \"x\"", "", "above 95.0 % only"),
            (
                "environment = \"prod\"\nclues.tags = { purpose = \"notebook\" }",
                "",
                "looks like production",
            ),
            (
                "clues.tags = { app = \"vllm\", component = \"serving\" }\nclues.service = \"Vertex AI online\"",
                "",
                "somebody may wait for",
            ),
        ] {
            let refusal = ask(owner, rules).unwrap_err();
            assert!(
                refusal.why.starts_with("declare this first: it looks like "),
                "{refusal:?}"
            );
            assert!(refusal.why.contains(why) && refusal.declare.is_some(), "{refusal:?}");
        }
    }
}
