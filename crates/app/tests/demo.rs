//! The sample organisation from its files to an audited plan: what a new user sees first.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::run_wide;
use lowwater_model::charge::CostMetric;
use lowwater_model::money::Money;
use lowwater_model::plan::Plan;
use lowwater_store::report::{Dimension, ReportQuery};
use lowwater_store::store::Store;

/// What is really the matter with each GPU machine: state by resource.
fn answers(dir: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(dir.join("answers.csv")).unwrap();
    let row = |line: &str| {
        let fields: Vec<&str> = line.splitn(5, ',').collect();
        (fields[0].to_owned(), fields[4].to_owned())
    };
    text.lines().skip(1).map(row).collect()
}

fn plan(dir: &Path) -> Plan {
    serde_json::from_str(&std::fs::read_to_string(dir.join("plan.json")).unwrap()).unwrap()
}

/// One run, because it takes a while; then everything that must hold of it.
#[test]
fn a_new_user_sees_where_the_money_goes_and_an_audited_plan() {
    let dir = tempfile::tempdir().unwrap();
    let demo = run_wide(dir.path(), 120, &["demo", "--no-serve", "--data", "sample"]);
    assert_eq!(demo.code, 0, "{}", demo.stderr);
    insta::assert_snapshot!("demo", demo.stdout);
    assert!(demo.stderr.trim().starts_with("All of it took "), "{}", demo.stderr);
    let sample = dir.path().join("sample");
    the_plan_is_sound(&sample);
    the_plan_knows_the_answers(&sample);
    reports_add_up(&sample);
    for (name, columns, args) in [
        ("demo_team", 100, &["report", "--by", "team,class"][..]),
        ("demo_plan", 140, &["show", "plan"]),
        ("demo_step", 100, &["show", "3"]),
        ("demo_doctor", 100, &["doctor"]),
    ] {
        insta::assert_snapshot!(
            name,
            run_wide(dir.path(), columns, &[args, &["--data", "sample"]].concat()).stdout
        );
    }
}

fn the_plan_is_sound(sample: &Path) {
    let levers = lowwater_engine::lever::sections();
    let store = Store::open(sample, &levers).unwrap();
    let (facts, plan) = (store.facts(None).unwrap(), plan(sample));
    let violations = lowwater_engine::audit(&facts, &store.config().policy, &plan);
    assert!(violations.is_empty(), "{violations:#?}");
    assert!(plan.steps.len() >= 4, "{:?}", plan.steps);
}

fn the_plan_knows_the_answers(sample: &Path) {
    let (answers, plan) = (answers(sample), plan(sample));
    let touched: Vec<&str> = plan
        .steps
        .iter()
        .flat_map(|s| &s.target.resources)
        .map(lowwater_model::id::ResourceId::as_str)
        .collect();
    for (resource, state) in &answers {
        let is_touched = touched.contains(&resource.as_str());
        let must_stay = ["standby", "kept", "in use", "memory"]
            .iter()
            .any(|word| state.contains(word));
        // A machine on whose memory somebody sits may still be switched off at night like its neighbours.
        let stopped = plan
            .steps
            .iter()
            .any(|s| s.lever == "idle" && s.target.resources.contains(resource.as_str()));
        assert!(!(must_stay && stopped), "{resource} is {state} and is stopped");
        let left_alone = ["standby", "kept", "in use"].iter().any(|word| state.contains(word));
        assert!(!(left_alone && is_touched), "{resource} is {state} and is touched");
    }
    for (resource, _) in answers.iter().filter(|(_, state)| !state.contains("in use")) {
        let step = plan
            .steps
            .iter()
            .any(|s| s.change.kind().resources().contains(resource.as_str()));
        let mut refusals = plan
            .declined
            .iter()
            .filter(|d| d.target.resources.contains(resource.as_str()));
        assert!(
            step || refusals.any(|d| !d.why.is_empty()),
            "nothing is said of {resource}"
        );
    }
    for lever in ["idle", "off_hours", "spot_training", "commit_baseline"] {
        assert!(plan.steps.iter().any(|s| s.lever == lever), "no step by {lever}");
        assert!(plan.declined.iter().any(|d| d.lever == lever), "no refusal by {lever}");
    }
    let standby = answers.iter().filter(|(_, state)| state.contains("standby"));
    for (resource, _) in standby {
        let mut declined = plan
            .declined
            .iter()
            .filter(|d| d.target.resources.contains(resource.as_str()));
        assert!(
            declined.any(|d| d.why.contains("standby")),
            "{resource} is not declined as a standby"
        );
    }
}

fn reports_add_up(sample: &Path) {
    let store = Store::open(sample, &lowwater_engine::lever::sections()).unwrap();
    for metric in [CostMetric::Billed, CostMetric::Effective] {
        let total = store.file_total(metric);
        assert!(total.is_exact());
        for by in [
            vec![Dimension::Team],
            vec![Dimension::Class, Dimension::Month],
            vec![Dimension::Sku],
        ] {
            let query = ReportQuery {
                by,
                metric: Some(metric),
                ..ReportQuery::default()
            };
            let report = store.report(&query).unwrap();
            assert_eq!(
                report.rows.iter().map(|r| r.cost).sum::<Money>(),
                total.stored(),
                "{metric} {:?}",
                query.by
            );
        }
    }
}
