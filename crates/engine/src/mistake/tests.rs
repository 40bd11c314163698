//! Each kind of mistake is found where it is, with its cost, and not where it is not.

use lowwater_model::charge::Spread;
use lowwater_model::facts::{CostLine, CostRun};
use lowwater_model::period::Hour;
use lowwater_model::usage::{HourUsage, Usage};

use super::*;
use crate::sample;

/// Ten days of one machine at one a hour, as a workload of a class.
fn facts(class: &str) -> Facts {
    let mut facts = sample::facts(&format!(
        "as_of = \"2026-11-01T00:00:00Z\"\nhistory_days = 10\nreplay_days = 10\n\
         price = [{{ sku = \"p4d.24xlarge\", rate = 2.0, as_of = \"2026-10-31\" }}]\n\
         [[resource]]\nid = \"a\"\nworkload = \"w\"\nclass = \"{class}\"\nsku = \"p4d.24xlarge\"\nline = [{{ rate = \"1\" }}]\n"
    ));
    facts.resources[0].cloud = "aws".into();
    facts
}

fn on_spot(mut facts: Facts) -> Facts {
    facts.resources[0].lines[0].pricing = PricingCategory::Dynamic;
    facts
}

/// Every hour like this.
fn used(mut facts: Facts, idle: bool, memory_bin: u8, activity_permille: u16) -> Facts {
    let mut usage = Usage::default();
    for hour in facts.period.hour_range() {
        let seen = HourUsage {
            gpus: 8,
            observed_minutes: 60,
            idle,
            activity_max_bin: u8::from(!idle),
            activity_permille,
            memory_max_bin: Some(memory_bin),
            power_max_w: Some(60),
        };
        usage.push(Hour(hour), seen);
    }
    facts.resources[0].usage = usage;
    facts
}

fn found(facts: &Facts) -> Vec<Mistake> {
    let policy = Policy::defaults(&crate::lever::sections());
    mistakes(facts, &policy, &crate::plan(facts, &policy, 1))
}

fn ids(facts: &Facts) -> Vec<&'static str> {
    found(facts).iter().map(|m| m.id).collect()
}

#[test]
fn serving_on_spot_counts_the_gap() {
    let all = found(&on_spot(facts("realtime-inference")));
    let mistake = all.iter().find(|m| m.id == "serving_on_spot").unwrap();
    // 30 + 180 + 120 seconds against two minutes of notice.
    assert!(mistake.why.contains("leaves 210 s without it"), "{}", mistake.why);
    assert_eq!(mistake.cost, Some(Money::whole(240)));
    assert!(!ids(&facts("realtime-inference")).contains(&"serving_on_spot"));
    assert!(!ids(&on_spot(facts("batch-inference"))).contains(&"serving_on_spot"));
    let mut elsewhere = on_spot(facts("realtime-inference"));
    elsewhere.resources[0].cloud = "suncloud".into();
    assert!(found(&elsewhere).iter().any(|m| m.why.contains("an unknown notice")));
}

#[test]
fn training_on_demand_and_on_spot() {
    assert!(ids(&facts("training")).contains(&"training_on_demand"));
    let mut due = facts("training");
    due.resources[0].owner.deadline = Some("2026-12-01".parse().unwrap());
    assert!(!ids(&due).contains(&"training_on_demand"));
    let mut spot = on_spot(facts("fine-tuning"));
    assert!(ids(&spot).contains(&"spot_without_checkpoints") && !ids(&spot).contains(&"training_on_demand"));
    spot.resources[0].owner.checkpoint = Some(toml::from_str("every = \"30m\"\ngb = 100\nresumable = true").unwrap());
    assert!(!ids(&spot).contains(&"spot_without_checkpoints"));
}

#[test]
fn idle_machines_by_class() {
    let idle = |class: &str| used(facts(class), true, 0, 0);
    let all = found(&idle("batch-inference"));
    let mistake = all.iter().find(|m| m.id == "running_idle").unwrap();
    assert_eq!(
        (mistake.cost, mistake.place.as_str()),
        (Some(Money::whole(240)), "w (a)")
    );
    assert!(!ids(&used(facts("batch-inference"), false, 10, 700)).contains(&"running_idle"));
    assert!(
        !ids(&facts("batch-inference")).contains(&"running_idle"),
        "what was not measured is not idle"
    );
    let development = ids(&idle("development"));
    assert!(development.contains(&"development_always_on") && !development.contains(&"running_idle"));
    let mut standby = idle("realtime-inference");
    standby.resources[0].owner.role = Role::Standby;
    assert!(!ids(&standby).contains(&"running_idle"));
}

#[test]
fn a_small_model_on_a_whole_gpu() {
    let copies = |bin: u8, permille: u16| {
        let all = found(&used(facts("realtime-inference"), false, bin, permille));
        let mistake = all.into_iter().find(|m| m.id == "whole_gpu")?;
        mistake.why.split_whitespace().last()?.parse::<usize>().ok()
    };
    // Bin 1 ends at 10 % of the memory, bin 2 at 15 %: more than an eighth.
    assert_eq!(copies(1, 142), Some(7));
    assert_eq!(copies(2, 142), Some(4));
    assert_eq!(copies(1, 150), Some(3));
    assert_eq!((copies(9, 300), copies(4, 428)), (Some(2), Some(2)));
    assert_eq!((copies(10, 300), copies(1, 430)), (None, None), "more than half of it");
    let mut unmeasured = used(facts("realtime-inference"), false, 1, 100);
    unmeasured.resources[0].usage.hours[3].as_mut().unwrap().memory_max_bin = None;
    assert!(
        !ids(&unmeasured).contains(&"whole_gpu"),
        "an hour without memory could be the full one"
    );
}

#[test]
fn inference_without_a_step() {
    assert!(ids(&facts("batch-inference")).contains(&"inference_without_step"));
    assert!(!ids(&facts("training")).contains(&"inference_without_step"));
}

#[test]
fn a_commitment_below_its_break_even() {
    let commitment = |used: i64, unused: i64| {
        let mut facts = facts("training");
        facts.resources[0].lines = vec![CostLine {
            kind: LineKind::Compute,
            pricing: PricingCategory::Committed,
            commitment: Some("sp".into()),
            spread: Spread::Hourly,
            // Half of the two an hour on demand.
            runs: vec![CostRun {
                start: Hour(facts.period.hour_range().start),
                hours: 240,
                cost: Money::whole(1),
                seconds: 3600,
            }],
        }];
        facts.commitments = vec![CommitmentUseOf(used, unused).build()];
        found(&facts)
            .into_iter()
            .find(|m| m.id == "commitment_below_break_even")
    };
    let mistake = commitment(40, 60).unwrap();
    assert!(
        mistake.why.contains("40.0 % of it is used; it pays off from 50.0 %"),
        "{}",
        mistake.why
    );
    assert_eq!(mistake.cost, Some(Money::whole(60)));
    assert!(commitment(60, 40).is_none());
}

/// Paid and used, paid and not used.
struct CommitmentUseOf(i64, i64);

impl CommitmentUseOf {
    fn build(self) -> lowwater_model::facts::CommitmentUse {
        lowwater_model::facts::CommitmentUse {
            id: "sp".into(),
            name: None,
            kind: "Savings Plan".into(),
            used: Money::whole(self.0),
            unused: Money::whole(self.1),
        }
    }
}

#[test]
fn stale_prices_are_of_what_is_bought() {
    let mut facts = facts("training");
    assert!(!ids(&facts).contains(&"stale_prices"));
    facts.prices.0[0].as_of = "2026-06-01".parse().unwrap();
    let all = found(&facts);
    let mistake = all.iter().find(|m| m.id == "stale_prices").unwrap();
    assert!(mistake.why.contains("153 days old"), "{}", mistake.why);
    let whole = mistake.cost.unwrap();
    let mut covered = facts.clone();
    covered.resources[0].lines[0].commitment = Some("sp-1".into());
    assert!(
        !ids(&covered).contains(&"stale_prices"),
        "what a commitment covers needs no price"
    );
    let line = facts.resources[0].lines[0].clone();
    covered.resources[0].lines.push(line);
    let all = found(&covered);
    let partly = all.iter().find(|m| m.id == "stale_prices").unwrap();
    assert_eq!(partly.cost, Some(whole), "only the rest of it counts");
    covered.resources[0].lines[1].pricing = PricingCategory::Committed;
    assert!(
        !ids(&covered).contains(&"stale_prices"),
        "the bill need not name the commitment"
    );
    for basis in lowwater_model::offer::PriceBasis::ALL {
        facts.prices.0[0].basis = *basis;
        assert!(
            ids(&facts).contains(&"stale_prices"),
            "a discount does not make a price new: {basis}"
        );
    }
    facts.prices.0.clear();
    assert!(
        !ids(&facts).contains(&"stale_prices"),
        "an unknown price is not a stale one"
    );
}

#[test]
fn every_kind_is_documented_and_called_once() {
    for (at, kind) in KINDS.iter().enumerate() {
        assert!(kind.doc.len() > 40 && kind.title.len() > 5, "{}", kind.id);
        assert!(KINDS[..at].iter().all(|other| other.id != kind.id));
    }
}

/// Ten days of spot at one an hour where on demand costs two: 240 are saved.
fn far_from_its_data(paid_by: Option<&str>, cost: i64) -> Facts {
    let mut facts = on_spot(facts("training"));
    let of_workload = paid_by.is_none();
    facts.transfer = vec![lowwater_model::facts::Transfer {
        workload: of_workload.then(|| "w".into()),
        resource: Some(paid_by.unwrap_or("bucket").into()),
        cost: Money::whole(cost),
    }];
    facts
}

#[test]
fn egress_that_eats_a_spot_saving() {
    let of = |facts: &Facts| found(facts).into_iter().find(|m| m.id == "egress_eats_spot");
    for payer in [None, Some("a")] {
        let mistake = of(&far_from_its_data(payer, 241)).unwrap();
        assert_eq!(mistake.cost, Some(Money::whole(241)));
        let why = "its spot hours cost 240.00 USD less than on demand, and data that left its region cost 241.00";
        assert_eq!((mistake.place.as_str(), mistake.why.as_str()), ("w (a)", why));
        assert_eq!(of(&far_from_its_data(payer, 239)), None, "something is saved");
    }
    assert_eq!(of(&far_from_its_data(Some("b"), 9_999)), None, "of somebody else");
    let mut on_demand = far_from_its_data(None, 9_999);
    on_demand.resources[0].lines[0].pricing = PricingCategory::Standard;
    assert_eq!(of(&on_demand), None, "nothing was to be saved");
    let mut unpriced = far_from_its_data(None, 9_999);
    unpriced.prices.0.clear();
    assert_eq!(of(&unpriced), None, "what is saved is not known");
}
