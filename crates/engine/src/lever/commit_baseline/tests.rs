use lowwater_model::change::Change;
use lowwater_model::change::commit::Commit;
use lowwater_model::facts::{CommitmentUse, Facts};
use lowwater_model::money::Money;
use lowwater_model::plan::{Declined, Finding, Verdict};
use lowwater_model::workload::Keep;

use super::CommitBaseline;
use crate::lever::Lever;
use crate::replay::Replay;
use crate::{plan, sample};

const YEAR: &str = "{ sku = \"p4d.24xlarge\", market = \"1y\", rate = 13.921094, as_of = \"2026-10-20\" }";
const THREE: &str = "{ sku = \"p4d.24xlarge\", market = \"3y\", rate = 9.0, as_of = \"2026-10-20\" }";
/// Three machines that always run, one that runs half of the time and one that is new.
const MACHINES: &str = r#"
[[resource]]
id = "always-{}"
count = 3
sku = "p4d.24xlarge"
line = [{ rate = "21.957642" }]
[[resource]]
id = "half"
sku = "p4d.24xlarge"
line = [{ rate = "10.978821", seconds = 1800 }]
"#;

fn facts(prices: &str, machines: &str) -> Facts {
    sample::facts(&format!(
        "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 91\nreplay_days = 28\nprice = [{prices}]\n{machines}"
    ))
}

fn verdicts(facts: &Facts, policy: &str) -> Vec<Verdict> {
    CommitBaseline.find(&Replay::of(facts), &sample::policy(policy))
}

fn bought(facts: &Facts, policy: &str) -> (Commit, Finding) {
    match &verdicts(facts, policy)[..] {
        [Verdict::Found(finding)] => match &finding.change {
            Change::Commit(commit) => (commit.clone(), finding.clone()),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn declined(facts: &Facts, policy: &str) -> Declined {
    match &verdicts(facts, policy)[..] {
        [Verdict::Declined(declined)] => declined.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_unit_is_bought_while_it_replaces_more_than_it_costs() {
    let (commit, finding) = bought(&facts(YEAR, MACHINES), "");
    assert_eq!((commit.level, commit.rate), (3, 13.921094), "half of a machine is below 63.4 % of the hours");
    assert!(finding.needs.is_empty() && finding.target.scope.is_some());
    let metrics = "coverage 85.7 %, utilisation 100.0 % (break-even 63.4 %), effective savings rate 31.4 %";
    assert!(finding.because.iter().any(|line| line == metrics), "{:?}", finding.because);
    let cheap = YEAR.replace("13.921094", "10.9");
    assert_eq!(bought(&facts(&cheap, MACHINES), "").0.level, 4, "half of the hours is enough at half of the price");
    let dear = YEAR.replace("13.921094", "21.957642");
    let why = declined(&facts(&dear, MACHINES), "").why;
    assert!(why.contains("no unit would be used in more than the 100.0 % of the hours"), "{why}");
}

#[test]
fn the_saving_is_replayed_and_the_fee_is_paid_used_or_not() {
    let facts = facts(YEAR, MACHINES);
    let (commit, _) = bought(&facts, "");
    let saved = Replay::of(&facts).with(&Change::Commit(commit)).saved().cash.rounded().amount();
    assert!((saved - 3.0 * 672.0 * (21.957642 - 13.921094)).abs() < 1e-5);
}

#[test]
fn three_years_only_where_the_owner_says_so() {
    let both = facts(&format!("{YEAR}, {THREE}"), MACHINES);
    let term = |policy: &str| bought(&both, policy).0.term.to_string();
    assert_eq!(term(""), "1y");
    for name in ["A100-40", "p4d.24xlarge"] {
        let policy = format!("[lever.commit_baseline]\nthree_years_for = [\"{name}\"]\nmax_purchase = 5000000.0");
        assert_eq!(term(&policy), "3y");
    }
    let why = declined(&both, "[lever.commit_baseline]\nnothing_for = [\"A100-40\"]").why;
    assert!(why.contains("on its way out"), "{why}");
}

#[test]
fn prices_must_be_known_fresh_and_in_the_bills_currency() {
    assert!(declined(&facts("", MACHINES), "").why.contains("no 1y price of p4d.24xlarge in aws us-east-1; write one in offers.csv"));
    let old = YEAR.replace("2026-10-20", "2026-05-01");
    assert!(declined(&facts(&old, MACHINES), "").why.contains("the 1y price is 185 days old, the policy allows 90"));
    let future = YEAR.replace("2026-10-20", "2026-12-01");
    assert!(declined(&facts(&future, MACHINES), "").why.contains("no 1y price"));
    let mut foreign = facts(YEAR, MACHINES);
    foreign.prices.0[0].currency = "EUR".into();
    assert!(declined(&foreign, "").why.contains("the 1y price is in EUR, the bill in USD"));
}

#[test]
fn short_falling_and_incomplete_histories_are_refused() {
    let young = MACHINES.replace("\" }]", "\", from = \"2026-09-10T00:00:00Z\" }]").replace("seconds = 1800 }]", "seconds = 1800, from = \"2026-09-10T00:00:00Z\" }]");
    let why = declined(&facts(YEAR, &young), "").why;
    assert_eq!(why, "its history is 53 days, the policy wants 60 days");
    bought(&facts(YEAR, &young), "[lever.commit_baseline]\nmin_history_days = 50");

    let ended = |to: &str| {
        let gone = format!("[[resource]]\nid = \"gone\"\nsku = \"p4d.24xlarge\"\nline = [{{ rate = \"21.957642\", to = \"{to}\" }}]");
        facts(YEAR, &format!("{MACHINES}{gone}"))
    };
    let fell = declined(&ended("2026-10-06T00:00:00Z"), "");
    assert!(fell.why.starts_with("demand falls: 3.54 ran on average in the replayed period, before that 4.50"), "{}", fell.why);
    assert_eq!(fell.numbers["running_before"].amount(), 4.5);
    let lately = declined(&ended("2026-10-27T00:00:00Z"), "");
    assert!(lately.why.starts_with("demand falls: 3.64 ran on average in the last week"), "{}", lately.why);
    bought(&ended("2026-10-06T00:00:00Z"), "[lever.commit_baseline]\nmax_fall_share = 0.25");

    let mut holes = facts(YEAR, MACHINES);
    holes.quality.days_with_charges = 27;
    assert!(declined(&holes, "").why.contains("the data is incomplete: 27 of 28 days"));
}

#[test]
fn a_purchase_is_cut_to_the_limits_or_refused() {
    let level = |policy: &str| bought(&facts(YEAR, MACHINES), policy).0.level;
    assert_eq!(level("[lever.commit_baseline]\nmax_hourly_exposure = 30.0"), 2);
    assert_eq!(level("[lever.commit_baseline]\nmax_purchase = 130000.0"), 1, "one is 121,949 a year");
    let none = declined(&facts(YEAR, MACHINES), "[lever.commit_baseline]\nmax_hourly_exposure = 10.0");
    assert!(none.why.starts_with("one p4d.24xlarge at 13.9211 USD an hour is beyond the limits"), "{}", none.why);
    assert_eq!(none.numbers["best_level"].amount(), 3.0);
    let mut bound = facts(YEAR, MACHINES);
    bound.commitments.push(CommitmentUse {
        id: "sp-1".into(),
        name: None,
        kind: "Savings Plan".into(),
        used: Money::whole(672 * 50),
        unused: Money::whole(672 * 20),
    });
    let (commit, finding) = bought(&bound, "");
    assert_eq!(commit.level, 2, "70 of 100 an hour are promised already");
    assert!(finding.because.iter().any(|line| line.contains("left 20.00 USD an hour unused")));
}

#[test]
fn scopes_share_the_exposure_the_larger_saving_first() {
    let prices = format!("{YEAR}, {{ sku = \"g5.xlarge\", market = \"1y\", rate = 0.5, as_of = \"2026-10-20\" }}");
    let machines = format!("{MACHINES}[[resource]]\nid = \"small\"\nsku = \"g5.xlarge\"\nline = [{{ rate = \"1.006\" }}]");
    let all = verdicts(&facts(&prices, &machines), "[lever.commit_baseline]\nmax_hourly_exposure = 42.0");
    let [Verdict::Found(large), Verdict::Declined(small)] = &all[..] else {
        panic!("{all:?}")
    };
    assert!(large.change.kind().describe().starts_with("Commit to 3 x p4d.24xlarge in us-east-1 for a year"));
    assert!(small.numbers["hourly_exposure_left"].amount() < 0.5);
}

#[test]
fn what_must_not_be_committed_does_not_count() {
    let never = MACHINES.replacen("count = 3", "count = 3\nnever = [\"commit\"]", 1);
    let all = verdicts(&facts(YEAR, &never), "");
    assert_eq!(all.len(), 2);
    assert!(all.iter().all(|v| matches!(v, Verdict::Declined(_))), "half of a machine is left");
    let covered = MACHINES.replace("rate = ", "commitment = \"sp\", rate = ");
    assert!(verdicts(&facts(YEAR, &covered), "").is_empty());
    let standby = MACHINES.replace("count = 3", "count = 3\nrole = \"standby\"\ncriticality = \"critical\"");
    assert_eq!(bought(&facts(YEAR, &standby), "").0.level, 3, "a standby runs all the time, and is left as it is");
}

/// An idle machine is stopped first, and is not committed for.
#[test]
fn sized_on_what_earlier_steps_leave() {
    let idle = "use = [{ memory = 9, power = 300 }, { from = \"2026-10-12T00:00:00Z\", idle = true, memory = 0, power = 55 }]";
    let machines = format!("{MACHINES}[[resource]]\nid = \"idle\"\nsku = \"p4d.24xlarge\"\nclass = \"training\"\nworkload = \"w\"\nline = [{{ rate = \"21.957642\" }}]\n{idle}");
    let facts = facts(YEAR, &machines);
    let policy = sample::policy("[usage]\nmin_join_share = 0.0");
    let plan = plan(&facts, &policy, 1);
    assert_eq!(crate::audit(&facts, &policy, &plan), []);
    let [stop, commit] = &plan.steps[..] else { panic!("{:?}", plan.steps) };
    assert!(matches!(stop.change, Change::Stop(_)));
    let Change::Commit(bought) = &commit.change else { panic!() };
    assert_eq!((bought.level, bought.resources.len()), (3, 4));
    assert!(commit.needs.is_empty(), "the stopped machine is not in it");
}

#[test]
fn what_idles_is_no_demand() {
    let idle = "use = [{ idle = true, memory = 0, power = 28 }]";
    let machines = |more: &str| format!("{MACHINES}[[resource]]\nid = \"old\"\nsku = \"p4d.24xlarge\"\nline = [{{ rate = \"21.957642\" }}]\n{idle}\n{more}");
    let wasted = facts(YEAR, &machines(""));
    let all = verdicts(&wasted, "");
    let commit = all.iter().find_map(|verdict| match verdict {
        Verdict::Found(Finding { change: Change::Commit(commit), .. }) => Some(commit.clone()),
        _ => None,
    });
    let commit = commit.unwrap();
    assert_eq!((commit.level, commit.resources.contains(&"old".into())), (3, false));
    let why = all.iter().find_map(|verdict| match verdict {
        Verdict::Declined(declined) => Some((declined.why.clone(), declined.numbers["hours_idle"].amount())),
        Verdict::Found(_) => None,
    });
    let (why, idle_hours) = why.unwrap();
    assert!(why.starts_with("it was idle on every GPU in most of its observed hours on demand"), "{why}");
    assert_eq!(idle_hours, 672.0);
    let (standby, _) = bought(&facts(YEAR, &machines("role = \"standby\"")), "");
    assert_eq!(standby.level, 4, "a standby waits on purpose");
    let mut kept = facts(YEAR, &machines("team = \"vision\""));
    let rule = "[team.vision.keep]\nreason = \"demo\"\nuntil = ";
    assert_eq!(bought(&kept, &format!("{rule}2026-12-31")).0.level, 4, "the policy may say so");
    assert_eq!(verdicts(&kept, &format!("{rule}2026-01-31")).len(), 2, "until then only");
    let old = kept.resources.iter_mut().find(|r| r.id.as_str() == "old").unwrap();
    old.owner.keep = Some(Keep { reason: "demo".into(), until: "2026-01-31".parse().ok() });
    assert_eq!(verdicts(&kept, "").len(), 2, "a keep that is over keeps nothing");
    let mostly_busy = machines("").replace(idle, "use = [{}, { from = \"2026-10-20T00:00:00Z\", idle = true, memory = 0 }]");
    assert_eq!(bought(&facts(YEAR, &mostly_busy), "").0.level, 4, "half of the hours may be idle");
}
