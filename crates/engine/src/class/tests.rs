//! What the guess is for machines of known kind, and what must not change it.

use std::collections::BTreeSet;

use lowwater_model::facts::Facts;
use lowwater_model::id::ResourceId;
use lowwater_model::workload::{Class, Role};

use super::{declaration, guess};
use crate::sample;

/// One machine with four weeks of history.
fn machine(lines: &str) -> Facts {
    sample::facts(&format!(
        "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 28\nreplay_days = 28\n[[resource]]\nid = \"a\"\n\
         line = [{{ rate = \"1\" }}]\n{lines}"
    ))
}

fn of(lines: &str) -> lowwater_model::clue::Guess {
    let facts = machine(lines);
    guess(&facts, &facts.resources[0])
}

const OFFICE: &str = "use = [{ idle = true }, { days = [0, 4], hours = [9, 18] }]";

#[test]
fn nothing_speaks_for_a_machine_without_words_and_metrics() {
    let guess = of("");
    assert_eq!(
        (guess.class, guess.role, guess.against.len()),
        (Class::Unknown, Role::Primary, 0)
    );
}

#[test]
fn a_name_alone_is_weak_and_a_second_source_makes_it_sure() {
    let named = of("name = \"jupyter-7\"");
    assert_eq!(named.class, Class::Development);
    assert!(named.confidence <= 0.8, "{named:?}");
    let tagged = of("name = \"jupyter-7\"\nclues.tags = { purpose = \"notebook\", app = \"jupyterlab\" }");
    assert!(tagged.confidence <= 0.95, "tag and name are one source: {tagged:?}");
    let working = of(&format!("name = \"jupyter-7\"\n{OFFICE}"));
    assert!(working.confidence > 0.95, "{working:?}");
    assert_eq!(working.because.len(), 2);
}

#[test]
fn shapes_are_told_apart() {
    for (uses, class) in [
        (OFFICE.to_owned(), Class::Development),
        (
            "zone = \"America/Los_Angeles\"\nuse = [{ idle = true }, { days = [0, 4], hours = [9, 18] }]".into(),
            Class::Development,
        ),
        (
            "use = [{ idle = true }, { hours = [1, 5] }]".into(),
            Class::BatchInference,
        ),
    ] {
        let guess = of(&uses);
        assert_eq!(guess.class, class, "{uses}: {guess:?}");
        assert!(guess.confidence <= 0.8, "a shape alone is one clue: {guess:?}");
    }
}

#[test]
fn misleading_words_do_not_overrule_what_a_machine_does() {
    let mut facts = machine("name = \"train-3\"\nuse = [{}]");
    for (index, seen) in facts.resources[0].usage.hours.iter_mut().enumerate() {
        let by_day = 500.0 + 400.0 * (index as f64 * std::f64::consts::TAU / 24.0).sin();
        seen.as_mut().unwrap().activity_permille = by_day as u16;
    }
    let guess = guess(&facts, &facts.resources[0]);
    assert!(guess.confidence < 0.8, "{guess:?}");
}

#[test]
fn services_speak_for_themselves() {
    for (service, usage, class) in [
        ("Amazon SageMaker", "USE1-Train:ml.p4d.24xlarge", Class::Training),
        ("Amazon SageMaker", "USE1-Host:ml.g5.xlarge", Class::RealtimeInference),
        (
            "Amazon SageMaker",
            "USE1-Notebk:ml.g5.xlarge, notebook",
            Class::Development,
        ),
        ("Vertex AI", "Custom Training N1", Class::Training),
        ("Vertex AI", "Batch Prediction", Class::BatchInference),
        ("Azure Machine Learning", "compute instance", Class::Development),
    ] {
        let guess = of(&format!(
            "clues = {{ service = \"{service}\", usage_types = [\"{usage}\"] }}"
        ));
        assert_eq!(guess.class, class, "{usage}");
        assert!(
            guess.confidence <= 0.95 && guess.confidence > 0.75,
            "{usage}: {guess:?}"
        );
    }
    assert_eq!(
        of("clues = { service = \"Amazon EC2\", usage_types = [\"BoxUsage\"] }").class,
        Class::Unknown
    );
}

#[test]
fn jobs_count_where_they_ran() {
    let job = |placed: &str, from: &str| {
        sample::facts(&format!(
            "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 28\nreplay_days = 28\n[[resource]]\nid = \"a\"\nname = \"n1\"\n{placed}\n\
             line = [{{ rate = \"1\" }}]\n[[job]]\njob = \"j1\"\nworkload = \"llm\"\nstart = \"{from}\"\n\
             end = \"2026-10-30T00:00:00Z\"\nexit = \"preempted\"\ncheckpoints = 12"
        ))
    };
    let class = |facts: &Facts| guess(facts, &facts.resources[0]).class;
    assert_eq!(
        class(&job("", "2026-10-20T00:00:00Z")),
        Class::Unknown,
        "it ran elsewhere"
    );
    assert_eq!(
        class(&job("clues.jobs = [\"j1\"]", "2026-10-20T00:00:00Z")),
        Class::Training
    );
    assert_eq!(
        class(&job("clues.tags = { workload = \"llm\" }", "2026-10-20T00:00:00Z")),
        Class::Training
    );
    assert_eq!(
        class(&job("clues.jobs = [\"j1\"]", "2026-11-03T00:00:00Z")),
        Class::Unknown,
        "later than the facts"
    );
}

#[test]
fn what_forbids_acting_is_found_wherever_it_stands() {
    for lines in [
        "environment = \"prod\"",
        "name = \"notebook-prod-1\"",
        "clues.tags = { stage = \"Production\" }",
        "clues.tags = { \"kubernetes.io/ingress\" = \"x\" }",
        "name = \"jupyter-lb-1\"",
        "clues.request_metrics = [\"vllm:request_success_total\"]",
        "clues.traffic_from = [\"alb-1\"]",
        "name = \"jupyter-standby\"",
        "clues.namespaces = [\"serving-production\"]",
    ] {
        assert_eq!(of(lines).against.len(), 1, "{lines}: {:?}", of(lines));
    }
    assert!(
        of("name = \"reproduce-1\"\nclues.tags = { team = \"product\" }")
            .against
            .is_empty()
    );
}

#[test]
fn what_waits_is_a_standby_only_while_it_does_nothing() {
    let role = |lines: &str| of(lines).role;
    assert_eq!(role("name = \"chat-standby\"\nuse = [{ idle = true }]"), Role::Standby);
    assert_eq!(role("name = \"chat-standby\"\nuse = [{}]"), Role::Primary);
    assert_eq!(
        role("name = \"vllm-2\"\nuse = [{ idle = true }]"),
        Role::Standby,
        "serves, and never works"
    );
    assert_eq!(role("name = \"jupyter-2\"\nuse = [{ idle = true }]"), Role::Primary);
}

#[test]
fn the_lines_that_declare_are_read_as_they_are_meant() {
    let ids: BTreeSet<ResourceId> = ["a\"b\\c".into(), "i-2".into()].into();
    let lines = declaration(Class::FineTuning, Role::Standby, &ids);
    let all = lowwater_model::workload::Workloads::parse(&lines, "workloads.toml").unwrap();
    assert_eq!(
        (all.workload[0].class, all.workload[0].role),
        (Class::FineTuning, Role::Standby)
    );
    assert!(!declaration(Class::Ci, Role::Primary, &ids).contains("role"));
    assert_eq!(all.workload[0].select[0].resource_id.0, ["a\"b\\c", "i-2"]);
    assert!(all.workload[0].name.as_str().ends_with("and 1 more"));
}
