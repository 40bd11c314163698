//! Rules on classes: declared, or guessed beyond the policy's doubt with nothing against it, and said to be a guess.
//!
//! The guess is read as a fact, from the one place that makes it. Whether it may be acted on is judged here again: the
//! threshold, the classes that fit, and a list of its own of what forbids it.

use lowwater_model::change::Change;
use lowwater_model::clue::Guess;
use lowwater_model::facts::Resource;
use lowwater_model::plan::Step;
use lowwater_model::workload::{Class, Role};

use super::{Case, Report, at};
use crate::class::guess;

/// Parts of tags, names and environments that forbid acting on a guess.
const FORBIDDING: &[&str] = &[
    "production",
    "prod-",
    "-prod",
    "ingress",
    "loadbalancer",
    "load-balancer",
    "standby",
    "failover",
];

pub(super) fn check(case: Case<'_>, step: &Step, resource: &Resource, report: &mut Report) {
    if matches!(step.change, Change::Commit(_)) {
        // A commitment is about demand, whatever runs there.
        return;
    }
    let (at, id, declared) = (at(step), &resource.id, resource.owner.class);
    if declared != Class::Unknown {
        report.demand(fits(step, declared), "class", &at, || {
            format!("{id} has the class {declared}")
        });
        return;
    }
    let guess = guess(case.facts, resource);
    report.demand(
        fits(step, guess.class) && bears_interruption(&guess),
        "class",
        &at,
        || format!("nobody declared a class of {id}, and it looks like {}", guess.class),
    );
    let least = case.policy.section("classes").float("min_confidence");
    report.demand(guess.confidence > least, "class", &at, || {
        format!(
            "the class of {id} is guessed with {}, the policy wants more than {least}",
            guess.confidence
        )
    });
    report.demand(guess.against.is_empty(), "class", &at, || {
        format!("a guess of {id} must not be acted on: {}", guess.against.join("; "))
    });
    let forbidding = forbidding(resource);
    report.demand(forbidding.is_none(), "class", &at, || {
        format!(
            "a guess of {id} must not be acted on: {}",
            forbidding.unwrap_or_default()
        )
    });
    let prefix = format!("class guessed: {id} looks like {}, ", guess.class);
    let is_said = step.because.iter().any(|line| line.starts_with(&prefix));
    report.demand(is_said, "class", &at, || {
        format!("it does not say that the class of {id} is a guess")
    });
}

fn fits(step: &Step, class: Class) -> bool {
    match step.change {
        Change::Stop(_) => class != Class::Unknown,
        Change::SetSchedule(_) => class == Class::Development,
        Change::UseSpot(_) => matches!(class, Class::Training | Class::FineTuning),
        Change::Commit(_) => true,
    }
}

fn bears_interruption(guess: &Guess) -> bool {
    guess.role == Role::Primary && !matches!(guess.class, Class::RealtimeInference | Class::Unknown)
}

/// What anybody would see at a glance: production, traffic, a promise, a part that waits.
fn forbidding(resource: &Resource) -> Option<String> {
    let clues = &resource.clues;
    if let Some(name) = clues.request_metrics.iter().chain(&clues.traffic_from).next() {
        return Some(format!("`{name}` says that somebody waits for its answers"));
    }
    if resource.owner.latency_p99.is_some() {
        return Some("a latency is promised".into());
    }
    let tags = clues.tags.iter().flat_map(|(key, value)| [key, value]);
    let texts = tags
        .chain(&resource.owner.environment)
        .chain(&resource.name)
        .chain(&clues.namespaces);
    let stands_in = |text: &&String| {
        let lower = text.to_lowercase();
        lower == "prod" || FORBIDDING.iter().any(|part| lower.contains(part))
    };
    texts.into_iter().find(stands_in).map(|text| format!("`{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_forbids_a_guess_is_seen_without_the_guess() {
        let of = |lines: &str| {
            let facts = sample::facts(&format!(
                "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 1\nreplay_days = 1\n[[resource]]\nid = \"a\"\n{lines}"
            ));
            forbidding(&facts.resources[0])
        };
        for lines in [
            "environment = \"prod\"",
            "environment = \"Production\"",
            "name = \"nb-prod-1\"",
            "name = \"chat-standby\"",
            "clues.tags = { \"kubernetes.io/ingress.class\" = \"x\" }",
            "clues.tags = { tier = \"failover\" }",
            "clues.namespaces = [\"production\"]",
            "clues.traffic_from = [\"alb-1\"]",
            "clues.request_metrics = [\"tgi_request_count\"]",
        ] {
            assert!(of(lines).is_some(), "{lines}");
        }
        assert_eq!(
            of("name = \"reproduce-1\"\nenvironment = \"dev\"\nclues.tags = { team = \"product\" }"),
            None
        );
    }
}
