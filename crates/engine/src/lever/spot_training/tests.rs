use lowwater_model::change::Change;
use lowwater_model::change::use_spot::UseSpot;
use lowwater_model::facts::Facts;
use lowwater_model::plan::{Declined, Finding, Verdict};

use super::SpotTraining;
use crate::lever::Lever;
use crate::replay::Replay;
use crate::sample;

/// Four weeks of two p4d on demand at 20, half of it on one machine alone.
const JOB: &str = "workload = \"llm\"\nclass = \"training\"\ncheckpoint = { every = \"2h\", gb = 100, resumable = true }";
const MARKET: &str = "{ sku = \"p4d.24xlarge\", rate = [6, 8, 9], interruptions = [0.005, 0.01, 0.02], as_of = \"2026-11-01\" }";

fn facts(job: &str, markets: &str) -> Facts {
    sample::facts(&format!(
        "as_of = \"2026-11-02T00:00:00Z\"\nhistory_days = 42\nreplay_days = 28\nspot = [{markets}]\n[[resource]]\n\
         id = \"t-{{}}\"\ncount = 2\nsku = \"p4d.24xlarge\"\nline = [{{ rate = \"20\" }}]\n{job}"
    ))
}

fn verdicts(facts: &Facts, policy: &str) -> Vec<Verdict> {
    SpotTraining.find(&Replay::of(facts), &sample::policy(policy))
}

fn found(facts: &Facts, policy: &str) -> (UseSpot, Finding) {
    match &verdicts(facts, policy)[..] {
        [Verdict::Found(finding)] => match &finding.change {
            Change::UseSpot(spot) => (spot.clone(), finding.clone()),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn declined(job: &str, markets: &str, policy: &str) -> Declined {
    match &verdicts(&facts(job, markets), policy)[..] {
        [Verdict::Declined(declined)] => declined.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_job_goes_to_the_best_market_at_the_best_interval() {
    let (spot, finding) = found(&facts(JOB, MARKET), "");
    // Two machines at once: an interruption in fifty hours. A save takes 100 s, a restart 10 minutes and 100 s.
    let save = 100.0 / 3600.0;
    let interruptions = crate::solve::checkpoint::Interruptions {
        mean_hours: 50.0,
        checkpoint_hours: save,
        restart_hours: 1.0 / 6.0 + save,
        wait_hours: 0.0,
        during_restart: true,
    };
    let best = crate::solve::checkpoint::best_interval(50.0, save);
    assert!((spot.checkpoint_every_hours - best).abs() < 1e-8 && (1.6..1.7).contains(&best));
    assert!((spot.expected.hours - interruptions.stretch(best)).abs() < 1e-8);
    assert_eq!((spot.on_demand_rate, spot.interruption_cost), (20.0, 120.0));
    assert!((spot.storage_per_month - 6.9).abs() < 1e-9);
    assert_eq!((spot.better.rate, spot.expected.rate, spot.worse.rate), (6.0, 8.0, 9.0));
    assert!(spot.better.hours < spot.expected.hours && spot.expected.hours < spot.worse.hours);
    assert!(finding.because.iter().any(|line| line.contains("today it saves every 2.00 hours")));
    assert!(finding.needs.iter().any(|need| !need.met && need.id == "instance_store_acknowledged"));

    let cheaper = "{ sku = \"P4D.24XLARGE\", zone = \"us-east-1c\", rate = [4, 5, 6], interruptions = [0, 0.01, 0.02], as_of = \"2026-11-01\" }";
    let wild = "{ sku = \"p4d.24xlarge\", zone = \"us-east-1d\", rate = [1, 1, 1], interruptions = [0.1, 0.3, 0.5], as_of = \"2026-11-01\" }";
    let (spot, _) = found(&facts(JOB, &format!("{MARKET}, {cheaper}, {wild}")), "");
    assert_eq!(spot.place.zone.as_deref(), Some("us-east-1c"), "cheap is not what is interrupted all the time");
    assert_eq!(spot.better.interruptions, 0.0);
}

#[test]
fn the_newest_price_of_a_place_counts() {
    let older = MARKET.replace("[6, 8, 9]", "[3, 4, 5]").replace("2026-11-01", "2026-10-25");
    let facts = facts(JOB, &format!("{older}, {MARKET}"));
    assert_eq!(found(&facts, "").0.expected.rate, 8.0);
}

#[test]
fn undeclared_training_goes_to_spot_only_where_the_guess_is_sure() {
    let job = |clues: &str| {
        let undeclared = JOB.replace("class = \"training\"", clues);
        facts(&format!("{undeclared}\nuse = [{{}}]"), MARKET)
    };
    // Names and product agree; half load around the clock says nothing of its own for training.
    let sagemaker = "clues = { service = \"Amazon SageMaker\", usage_types = [\"Train:p4d\"], tags = { purpose = \"pretrain\" } }";
    let facts = job(sagemaker);
    let (_, finding) = found(&facts, "");
    let guesses = finding.because.iter().filter(|line| line.starts_with("class guessed: ")).count();
    assert_eq!(guesses, 2, "{:?}", finding.because);
    assert!(verdicts(&facts, "[classes]\nmin_confidence = 1").is_empty());
    assert!(verdicts(&job("name = \"train-1\""), "").is_empty(), "a name is not enough");
    assert!(verdicts(&job(&format!("{sagemaker}\nenvironment = \"prod\"")), "").is_empty());
}

#[test]
fn what_may_not_be_interrupted_is_refused_with_its_reason() {
    for (job, words) in [
        ("workload = \"llm\"\nclass = \"training\"", "no checkpoints"),
        ("class = \"training\"", "declare this first: it belongs to no workload"),
        ("workload = \"llm\"\nclass = \"training\"\ncheckpoint = { gb = 100 }", "cannot go on"),
        ("workload = \"llm\"\nclass = \"training\"\ncheckpoint = { resumable = true }", "checkpoint.gb"),
        (&format!("{JOB}\nrole = \"standby\""), "standby"),
        (&format!("{JOB}\nnever = [\"use_spot\"]"), "never `use_spot`"),
        (&format!("{JOB}\ncriticality = \"high\""), "criticality is high"),
        (&format!("{JOB}\nkeep = {{ reason = \"demo\" }}"), "keep"),
    ] {
        let declined = declined(job, MARKET, "");
        assert!(declined.why.contains(words), "{}", declined.why);
        assert_eq!(declined.target.resources.len(), 2);
    }
}

#[test]
fn a_market_must_be_known_fresh_and_measured() {
    for (market, words) in [
        ("", "no spot price of p4d.24xlarge in us-east-1"),
        (&MARKET.replace("2026-11-01", "2026-10-01"), "older than 30 days"),
        (&MARKET.replace("2026-11-01", "2026-11-20"), "older than 30 days"),
        (&MARKET.replace("interruptions = [0.005, 0.01, 0.02], ", ""), "measure this first"),
        (&MARKET.replace("[6, 8, 9]", "[9, 8, 6]"), "measure this first"),
        (&MARKET.replace("p4d.24xlarge", "g5.xlarge"), "no spot price"),
    ] {
        let declined = declined(JOB, market, "");
        assert!(declined.why.contains(words), "{}", declined.why);
    }
}

#[test]
fn a_price_without_interruptions_is_said() {
    let mut facts = facts(JOB, "");
    facts.prices.0.push(lowwater_model::offer::Offer {
        cloud: "aws".into(),
        region: "us-east-1".into(),
        zone: String::new(),
        sku: "p4d.24xlarge".into(),
        list: None,
        holds: None,
        market: lowwater_model::offer::Market::Spot,
        rate: lowwater_model::unit::HourlyRate(8.25),
        currency: "USD".into(),
        basis: lowwater_model::offer::PriceBasis::List,
        as_of: "2026-11-01".parse().unwrap(),
        source: "offers.csv".into(),
    });
    let [Verdict::Declined(declined)] = &verdicts(&facts, "")[..] else {
        panic!("one refusal")
    };
    assert!(declined.why.contains("costs 8.2500 USD an hour, but nobody knows how often"), "{}", declined.why);
}

#[test]
fn too_little_is_declined_with_the_number() {
    let dear = declined(JOB, &MARKET.replace("[6, 8, 9]", "[15, 16, 17]"), "");
    assert!(dear.why.starts_with("saves ") && dear.why.contains("less than the 20 % of min_net_saving_share"), "{}", dear.why);
    let net = dear.numbers["net_saving_percent"].amount();
    assert!(net < 20.0 && net > 0.0, "{net}");
    let above = declined(JOB, &MARKET.replace("[6, 8, 9]", "[30, 32, 33]"), "");
    assert!(above.numbers["net_saving_percent"].amount() < -50.0, "spot may be dearer than on demand");
    let hectic = declined(JOB, &MARKET.replace("[0.005, 0.01, 0.02]", "[0.1, 0.2, 0.3]"), "");
    assert!(hectic.numbers["interruptions_per_month"].amount() > 290.0, "{hectic:?}");
    let net_at = |policy: &str| {
        let (spot, _) = found(&facts(JOB, MARKET), policy);
        1.0 - spot.hour_cost(spot.expected) / 20.0
    };
    assert!(net_at("[lever.spot_training]\nengineer_hours_per_interruption = 0.0") > net_at("") + 0.05);
}

#[test]
fn a_deadline_leaves_time_or_there_is_no_step() {
    let due = |deadline: &str| format!("{JOB}\ndeadline = \"{deadline}\"");
    let missed = declined(&due("2026-11-20"), MARKET, "");
    assert!(missed.why.starts_with("the deadline 2026-11-20 would be missed: llm ran 100 % of the time"), "{}", missed.why);
    assert_eq!(missed.numbers["busy_percent"].amount(), 100.0);
    assert!(declined(&due("06:00 daily"), MARKET, "").why.contains("06:00:00 daily"));
    found(&facts(&due("2026-11-01"), MARKET), "");
    found(&facts(&due("2026-11-02T00:00:00Z"), MARKET), "");
    let half = due("2026-11-20").replace("workload", "use = []\nworkload");
    let mut facts = facts(&half, MARKET);
    for resource in &mut facts.resources {
        let run = resource.lines[0].runs[0];
        let day = |day: i64| lowwater_model::facts::CostRun {
            start: lowwater_model::period::Hour(run.start.0 + day * 24),
            hours: 12,
            ..run
        };
        resource.lines[0].runs = (0..42).map(day).collect();
    }
    found(&facts, "");
}

#[test]
fn only_training_on_demand_is_looked_at() {
    assert!(verdicts(&facts(&JOB.replace("training", "development"), MARKET), "").is_empty());
    found(&facts(&JOB.replace("training", "fine-tuning"), MARKET), "");
    let mut covered = facts(JOB, MARKET);
    for resource in &mut covered.resources {
        resource.lines[0].commitment = Some("sp".into());
    }
    assert!(verdicts(&covered, "").is_empty());
    let mut spread = facts(JOB, MARKET);
    let line = spread.resources[0].lines[0].clone();
    spread.resources[0].lines.push(lowwater_model::facts::CostLine { spread: lowwater_model::charge::Spread::Even, ..line });
    assert_eq!(verdicts(&spread, "").len(), 2, "one is refused, one goes");
}

/// Chances so small that 1 - e^-x has no digits left must not part planner and auditor.
#[test]
fn hardly_any_interruption_is_counted_alike() {
    for rate in ["1e-15", "1e-300", "1e-9", "0"] {
        let market = format!("{{ sku = \"p4d.24xlarge\", rate = [6, 8, 9], interruptions = [{rate}, {rate}, {rate}], as_of = \"2026-11-01\" }}");
        let (facts, policy) = (facts(JOB, &market), sample::policy(""));
        let plan = crate::plan(&facts, &policy, 1);
        assert_eq!((plan.steps.len(), crate::audit(&facts, &policy, &plan)), (1, vec![]), "{rate}");
    }
    let (_, finding) = found(&facts(JOB, &MARKET.replace("[0.005, 0.01, 0.02]", "[0, 0, 0]")), "");
    assert!(finding.because.iter().any(|line| line.contains("is interrupted never")), "{:?}", finding.because);
}

#[test]
fn work_that_would_never_end_and_rates_that_nobody_knows_are_said() {
    let often = MARKET.replace("[0.005, 0.01, 0.02]", "[900, 1e9, 1e10]");
    assert!(declined(JOB, &often, "").why.starts_with("it would never end on spot capacity of p4d.24xlarge"));
}

#[test]
fn a_speed_or_an_interval_of_nothing_is_no_policy() {
    for key in ["checkpoint_gb_per_second", "max_interval_hours"] {
        let text = format!("[lever.spot_training]\n{key} = 0.0");
        let error = lowwater_model::policy::Policy::parse(&text, "policy.toml", &crate::lever::sections()).unwrap_err();
        assert!(error.to_string().contains("must be above 0"), "{error}");
    }
}
