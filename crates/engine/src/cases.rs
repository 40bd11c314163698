//! The levers' cases: folders with facts and policy, and the plan that must come of them.
//!
//! `LOWWATER_BLESS=1` writes the expected plans anew; read the diff.

#![expect(clippy::disallowed_methods, reason = "cases are files")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lowwater_model::change::Change;
use lowwater_model::plan::Plan;
use lowwater_model::policy::SECTIONS;

use crate::lever::LEVERS;
use crate::{audit, plan, sample};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(of).unwrap_or_else(|error| panic!("{}: {error}", of.display()));
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Plans the case, audits the plan, and compares it with the expected one.
fn check(folder: &Path) -> Plan {
    let toml = read(&folder.join("facts.toml"));
    let about = toml::from_str::<sample::Sample>(&toml)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .about;
    assert!(
        about.len() > 20,
        "{}: `about` says what the case shows",
        folder.display()
    );
    let (facts, policy) = (sample::facts(&toml), sample::policy(&read(&folder.join("policy.toml"))));
    let plan = plan(&facts, &policy, 7);
    assert_eq!(audit(&facts, &policy, &plan), [], "{}", folder.display());
    let text = serde_json::to_string_pretty(&plan).unwrap();
    let read_back: Plan = serde_json::from_str(&text).unwrap();
    assert_eq!(crate::plan_id(&read_back), plan.id, "the id survives the file");
    let got = serde_json::to_string_pretty(&without_policy_id(plan.clone())).unwrap() + "\n";
    let expected = folder.join("expected.json");
    if std::env::var_os("LOWWATER_BLESS").is_some() {
        std::fs::write(&expected, &got).unwrap();
    }
    assert!(
        got == read(&expected),
        "{}: another plan than expected.json; LOWWATER_BLESS=1 shows it",
        folder.display()
    );
    plan
}

/// A new policy key gives every policy a new id, and with it every plan: that is no news of any case.
fn without_policy_id(plan: Plan) -> Plan {
    Plan {
        id: "".into(),
        policy: "".into(),
        ..plan
    }
}

#[test]
fn every_case_gives_its_plan_and_every_lever_has_cases_for_and_against() {
    let names: BTreeSet<String> = LEVERS.iter().map(|lever| lever.meta().name.to_owned()).collect();
    let mut found: BTreeMap<String, (u32, u32)> = names.iter().map(|name| (name.clone(), (0, 0))).collect();
    for folder in folders(&root()) {
        let lever = folder.file_name().unwrap().to_string_lossy().into_owned();
        assert!(names.contains(&lever), "cases of a lever that is not there: {lever}");
        for case in folders(&folder) {
            let plan = check(&case);
            let counts = found.get_mut(&lever).unwrap();
            counts.0 += u32::from(plan.steps.iter().any(|step| step.lever == lever));
            counts.1 += u32::from(plan.steps.is_empty() && plan.declined.iter().any(|d| d.lever == lever));
        }
    }
    for (lever, (positive, negative)) in found {
        assert!(
            positive > 0 && negative > 0,
            "{lever} has {positive} cases with a step and {negative} without"
        );
    }
}

#[test]
fn every_lever_and_key_is_documented_once() {
    let mut names = BTreeSet::new();
    let kinds: BTreeSet<&str> = Change::META.iter().map(|meta| meta.kind).collect();
    for meta in LEVERS.iter().map(|lever| lever.meta()) {
        assert!(names.insert(meta.name), "two levers are called {}", meta.name);
        assert!(!SECTIONS.iter().any(|section| section.name == meta.name));
        assert_eq!(meta.section.name, meta.name);
        assert!(
            meta.title.len() > 10 && meta.doc.len() > 200,
            "{} has no page",
            meta.name
        );
        assert!(!meta.changes.is_empty() && meta.changes.iter().all(|kind| kinds.contains(kind)));
        let keys: BTreeSet<&str> = meta.section.keys.iter().map(|key| key.name).collect();
        assert_eq!(
            keys.len(),
            meta.section.keys.len(),
            "a key of {} stands twice",
            meta.name
        );
        assert!(meta.section.keys.iter().all(|key| key.doc.len() > 20));
    }
    let rules: BTreeSet<&str> = audit::RULES.iter().map(|(name, _)| *name).collect();
    assert_eq!(rules.len(), audit::RULES.len());
}
