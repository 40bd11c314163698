//! Plans hold against the truth, and scores find what is wrong.

use super::*;

fn watch() -> Watch {
    use crate::config::{Environment, GlobalArgs, Settings};
    Watch::new(&Settings::new(
        &GlobalArgs {
            quiet: true,
            ..GlobalArgs::default()
        },
        &Environment::default(),
    ))
}

fn truth(dir: &Path) -> Truth {
    serde_json::from_str(&std::fs::read_to_string(dir.join("truth.json")).unwrap()).unwrap()
}

#[test]
fn every_planted_machine_is_on_the_bill() {
    for planted in (2..10).flat_map(cases::planted) {
        let machine = &planted.machine;
        assert!(
            crate::demo::prices::price(machine.place, machine.sku).is_some(),
            "{} has no price, so no bill names it",
            machine.sku
        );
    }
}

/// The organisation whose campaigns looked like a working week.
#[test]
fn a_plan_holds_in_an_organisation_of_campaigns() {
    let dir = tempfile::tempdir().unwrap();
    let score = run(dir.path(), 7, &watch()).unwrap();
    assert!(score.is_good(), "{score:?}");
}

/// One organisation, because it takes a while; then the same plan against lies about it.
#[test]
fn a_plan_holds_against_the_truth_and_not_against_lies() {
    let dir = tempfile::tempdir().unwrap();
    let score = run(dir.path(), 2, &watch()).unwrap();
    assert!(score.is_good(), "{score:?}");
    for case in [
        "abandoned",
        "left on",
        "company holiday",
        "training, idle between epochs",
        "steady serving",
    ] {
        let of = &score.cases[case];
        assert_eq!(of.found, Some(of.machines), "{case}");
    }
    for case in [
        "kept by tag",
        "production named test",
        "standby, only a tag says so",
        "service with a Sunday peak",
    ] {
        assert_eq!(score.cases[case].taken, 0.0, "{case}");
    }
    assert!(
        !dir.path().join("data/truth.json").exists(),
        "the truth is where no command looks"
    );

    let store = Store::open(&dir.path().join("data"), &registry::lever_sections()).unwrap();
    let plan = make(&store, None).unwrap();
    let mut needed = truth(dir.path());
    needed.machines.iter_mut().for_each(|machine| machine.must_run = true);
    let mut score = Score::new(2, &needed);
    score.plan(&plan, plan.period);
    assert!(
        !score.is_good() && score.false_share() > 0.01,
        "{}",
        score.false_share()
    );
    let mut blind = plan.clone();
    blind.steps.clear();
    let mut score = Score::new(2, &truth(dir.path()));
    score.plan(&blind, plan.period);
    score.found(&blind);
    assert!(
        score.false_share() == 0.0 && !score.is_good(),
        "a plan without steps finds nothing"
    );
    let mut robbed = truth(dir.path());
    robbed.paid.iter_mut().find(|paid| paid.team.is_some()).unwrap().billed +=
        lowwater_model::money::Money::from_units(1);
    let mut score = Score::new(2, &robbed);
    score.allocation(&store).unwrap();
    assert!(!score.misallocated.is_empty(), "a millionth of a millionth is told");
}

#[test]
fn another_seed_is_another_organisation() {
    let names = |seed: u64| {
        cases::planted(seed)
            .iter()
            .map(|p| p.machine.id.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(3), names(3));
    assert_ne!(names(3), names(4));
}
