//! What holds for every organisation and every policy.

use lowwater_model::change::Change;
use lowwater_model::facts::Facts;
use lowwater_model::id::ResourceId;
use lowwater_model::money::{Estimate, Money, Range};
use lowwater_model::period::{Hour, Period, Spans};
use lowwater_model::plan::{Phase, Plan};
use lowwater_model::policy::Policy;
use lowwater_model::workload::{Class, Workloads};
use proptest::prelude::*;

use crate::replay::Replay;
use crate::{audit, plan, sample};

fn text(plan: &Plan) -> String {
    serde_json::to_string_pretty(plan).unwrap()
}

fn policy() -> impl Strategy<Value = Policy> {
    sample::random::policy_text().prop_map(sample::policy)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_plan_passes_the_audit_and_never_costs_more_than_doing_nothing(facts in sample::random::facts(), policy in policy()) {
        let plan = plan(&facts, &policy, 1);
        prop_assert_eq!(audit(&facts, &policy, &plan), []);
        prop_assert!(plan.planned.total.amount() <= plan.bill.total.amount());
        let may_lose = plan.steps.iter().any(|step| step.phase >= Phase::Spot);
        prop_assert!(may_lose || plan.saving.cash.p10.amount() >= 0.0);
    }

    /// A minimum takes savings and never adds any, is met with what is paid, and takes nothing where it is met anyway.
    #[test]
    fn a_minimum_only_takes(facts in sample::random::facts(), policy in policy()) {
        let free = plan(&Facts { minimums: Vec::new(), ..facts.clone() }, &policy, 1);
        let plan = plan(&facts, &policy, 1);
        let steps = |plan: &Plan| plan.steps.iter().map(|step| step.id.clone()).collect::<Vec<_>>();
        prop_assert_eq!(steps(&plan), steps(&free), "steps are those of a world without contracts");
        for (capped, cash) in [
            (plan.saving.cash.p10, free.saving.cash.p10),
            (plan.saving.cash.p50, free.saving.cash.p50),
            (plan.saving.cash.p90, free.saving.cash.p90),
        ] {
            prop_assert!(capped.amount() <= cash.amount() + 1e-6, "{capped:?} of {cash:?}");
            prop_assert!(capped.amount() >= cash.amount().min(0.0) - 1e-6, "a minimum takes no more than there is");
        }
        for (minimum, known) in plan.minimums.iter().zip(&facts.minimums) {
            let (Some(unchanged), Some(planned)) = (minimum.unchanged, minimum.planned) else {
                prop_assert_eq!(minimum.taken, Range::default());
                continue;
            };
            // What is paid until the contract ends, by what the plan claims: never below the minimum, unless the plan
            // saves nothing there.
            let left = known.period.end.as_second() - known.period.start.max(facts.as_of).as_second();
            let periods = left as f64 / facts.period.seconds() as f64;
            let with_taken = planned.amount() + minimum.taken.p50.amount() * periods;
            let least = minimum.amount.estimate().amount().min(unchanged.amount());
            prop_assert!(planned > unchanged || with_taken >= least - 1e-3, "{with_taken} of {least}");
            if planned.amount() >= minimum.amount.estimate().amount() {
                prop_assert_eq!((minimum.taken.p50, minimum.shortfall), (Estimate::ZERO, Some(Estimate::ZERO)));
            }
        }
    }

    /// Whatever the policy asks: serving, standbys, production and what answers requests is never touched on a guess.
    #[test]
    fn a_guess_never_touches_what_somebody_waits_for(facts in sample::random::facts(), policy in policy()) {
        let plan = plan(&facts, &policy, 1);
        for step in plan.steps.iter().filter(|step| !matches!(step.change, Change::Commit(_))) {
            let touched = step.target.resources.iter().filter_map(|id| facts.resource(id));
            for resource in touched.filter(|resource| resource.owner.class == Class::Unknown) {
                let name = resource.name.as_deref().unwrap_or_default();
                let clues = &resource.clues;
                prop_assert!(!name.contains("prod") && !name.contains("standby") && clues.traffic_from.is_empty());
                prop_assert!(clues.tags.values().all(|value| value != "production"));
                prop_assert!(step.because.iter().any(|line| line.starts_with("class guessed: ")));
                prop_assert!(policy.section("classes").float("min_confidence") < crate::class::guess(&facts, resource).confidence);
            }
        }
        for declined in plan.declined.iter().filter(|declined| declined.why.contains("it looks like ")) {
            let lines = declined.declare.as_deref().unwrap();
            let all = Workloads::parse(lines, "workloads.toml").unwrap();
            let ids: Vec<&str> = declined.target.resources.iter().map(ResourceId::as_str).collect();
            prop_assert_eq!(&all.workload[0].select[0].resource_id.0, &ids);
        }
    }

    #[test]
    fn with_no_change_the_bill_is_the_loaded_bill(facts in sample::random::facts()) {
        let bill = Replay::of(&facts).bill();
        prop_assert_eq!(bill.exact, facts.ledger.total);
        let named: Money = bill.reconciliation.iter().map(|line| line.amount).sum();
        prop_assert_eq!(bill.exact + named + bill.unexplained, facts.ledger.billed);
        prop_assert_eq!(bill.modelled.amount(), 0.0);
        prop_assert_eq!(bill.total.amount(), facts.ledger.total.estimate().rounded().amount());
    }

    #[test]
    fn the_same_input_gives_the_same_bytes(facts in sample::random::facts(), policy in policy(), seed: u64) {
        let first = plan(&facts, &policy, seed);
        prop_assert_eq!(text(&first), text(&plan(&facts, &policy, seed)));
        let read_back: Plan = serde_json::from_str(&text(&first)).unwrap();
        prop_assert_eq!(text(&read_back), text(&first));
        prop_assert_eq!(audit(&facts, &policy, &read_back), []);
    }

    #[test]
    fn the_order_of_resources_and_lines_does_not_matter(facts in sample::random::facts(), policy in policy(), turn in 0..7_usize) {
        let mut other = facts.clone();
        other.resources.reverse();
        let count = other.resources.len().max(1);
        other.resources.rotate_left(turn % count);
        for resource in &mut other.resources {
            resource.lines.reverse();
        }
        prop_assert_eq!(text(&plan(&other, &policy, 1)), text(&plan(&facts, &policy, 1)));
    }

    #[test]
    fn what_comes_after_changes_nothing(facts in sample::random::facts(), policy in policy(), cost in 0..1_000_000_000_000_i128, idle: bool) {
        let mut later = facts.clone();
        let end = Hour::of(facts.as_of);
        for resource in &mut later.resources {
            let seen = resource.usage.iter().last().map(|(_, seen)| *seen);
            if let Some(mut seen) = seen {
                seen.idle = idle;
                (0..50).for_each(|hour| resource.usage.push(Hour(end.0 + hour), seen));
            }
            for line in &mut resource.lines {
                let run = lowwater_model::facts::CostRun { start: end, hours: 50, cost: Money::from_units(cost), seconds: 3600 };
                line.runs.push(run);
            }
        }
        prop_assert_eq!(text(&plan(&later, &policy, 1)), text(&plan(&facts, &policy, 1)));
    }

    /// Removing an hour twice removes it once, in whatever order, and step by step equals all at once.
    #[test]
    fn replay_is_a_union(facts in sample::random::facts(), mut changes in sample::random::changes(), turn in 0..4_usize) {
        let replay = |changes: &[Change]| changes.iter().fold(Replay::of(&facts), |replay, change| replay.with(change));
        let forward = replay(&changes);
        if !changes.is_empty() {
            let count = changes.len();
            changes.rotate_left(turn % count);
            let again = changes[turn % count].clone();
            if matches!(again, Change::Stop(_)) {
                changes.push(again);
            }
        }
        let other = replay(&changes);
        prop_assert_eq!(forward.bill(), other.bill());
        for resource in &facts.resources {
            prop_assert_eq!(forward.remaining(&resource.id), other.remaining(&resource.id));
        }
        prop_assert_eq!(left_by_hand(&facts, &forward), forward.bill().total.amount());
        let saved = facts.ledger.total.estimate() - forward.saved().cash;
        prop_assert_eq!(saved.rounded(), forward.bill().total);
    }

    /// Spot and a commitment meet removals in whatever order; parts that share no lot sum to the whole.
    #[test]
    fn discounts_meet_removals_in_any_order(facts in sample::random::facts(), mut changes in sample::random::changes(), (spot, commit) in sample::random::discounts(), turn in 0..6_usize) {
        changes.extend([spot, commit.clone()]);
        let replay = |changes: &[Change]| changes.iter().fold(Replay::of(&facts), |replay, change| replay.with(change));
        let forward = replay(&changes);
        let count = changes.len();
        changes.rotate_left(turn % count);
        let other = replay(&changes);
        prop_assert_eq!(forward.bill(), other.bill());
        prop_assert_eq!(forward.saved_in(facts.history).cash.rounded(), other.saved_in(facts.history).cash.rounded());
        let lot = commit.kind().resources();
        let rest = facts.resources.iter().map(|resource| &resource.id).filter(|id| !lot.contains(*id));
        let parts: f64 = rest.map(|id| forward.part(&[id.clone()].into()).saved().cash.amount()).sum();
        let charged: f64 = forward.charges().iter().map(|charge| charge.amount.amount()).sum();
        let of_lot = if lot.is_empty() { Replay::of(&facts).with(&commit) } else { forward.part(&lot) };
        let whole = forward.saved().cash.amount();
        prop_assert!((parts + of_lot.saved().cash.amount() - charged - whole).abs() < 1e-6 * (1.0 + whole.abs()));
        // What is touched and not exact is modelled: the bill stays whole.
        let bill = forward.bill();
        let sum = bill.exact.estimate().amount() + bill.modelled.amount();
        prop_assert!((sum - bill.total.amount()).abs() < 1e-5);
        prop_assert!((facts.ledger.total.estimate().amount() - whole - bill.total.amount()).abs() < 1e-5);
    }

    /// Weeks of the history add up to the whole of it.
    #[test]
    fn weekly_savings_sum_to_those_of_the_history(facts in sample::random::facts(), mut changes in sample::random::changes(), (spot, commit) in sample::random::discounts()) {
        changes.extend([spot, commit]);
        let replay = changes.iter().fold(Replay::of(&facts), |replay, change| replay.with(change));
        let start = facts.history.start.as_second();
        let week = |n: i64| Period::from_seconds(start + n * 604_800, start + (n + 1) * 604_800);
        let whole = replay.saved_in(facts.history);
        let weeks: Vec<_> = (0..6).map(|n| replay.saved_in(week(n))).collect();
        let cash: f64 = weeks.iter().map(|saved| saved.cash.amount()).sum();
        let freed: f64 = weeks.iter().map(|saved| saved.freed.amount()).sum();
        prop_assert!((cash - whole.cash.amount()).abs() < 1e-6 && (freed - whole.freed.amount()).abs() < 1e-6);
    }
}

/// The bill as the sum of what is left of every hour of every resource, and of everything else.
fn left_by_hand(facts: &Facts, replay: &Replay<'_>) -> f64 {
    use lowwater_model::charge::{PricingCategory, Spread};
    use lowwater_model::facts::LineKind;

    let hours = facts.period.hour_range();
    let mut unit_seconds = 0_i128;
    let mut units = facts.ledger.total.units();
    for resource in &facts.resources {
        let remaining: Spans = replay.remaining(&resource.id);
        for line in &resource.lines {
            let stays = line.kind == LineKind::Other
                || line.spread == Spread::Even
                || line.commitment.is_some()
                || line.pricing == PricingCategory::Committed;
            let run_hours = line
                .runs
                .iter()
                .flat_map(|run| (run.start.0..run.end().0).map(|hour| (hour, run.cost.units())));
            for (hour, cost) in run_hours.filter(|(hour, _)| hours.contains(hour) && !stays) {
                units -= cost;
                unit_seconds += cost * i128::from(remaining.overlap(hour * 3600, hour * 3600 + 3600));
            }
        }
    }
    let amount = |units: i128| Money::from_units(units).estimate().amount();
    let charged: f64 = replay.charges().iter().map(|charge| charge.amount.amount()).sum();
    Estimate::new(amount(units) + amount(unit_seconds) / 3600.0 + charged)
        .rounded()
        .amount()
}
