//! What a plan looked at and did not propose: one row for a machine and a reason, whichever levers asked.

use std::collections::{BTreeMap, BTreeSet};

use lowwater_model::id::ResourceId;
use lowwater_model::money::Estimate;
use lowwater_model::plan::{Declined, Plan, Scope, Target};

use super::plan::{named, of_workload, target_words};
use crate::amount::{self, estimate_cents, plural};
use crate::screen::{Column, Screen, Table};

/// Resources of a refusal that are named.
const NAMED: usize = 2;
/// Reasons that are named where nothing is proposed.
const REASONS: usize = 3;
/// What stands for the machines in a reason that many share.
const THESE: &str = "these";

/// A reason, and the levers that were refused for it.
#[derive(Debug)]
pub struct Refusal<'a> {
    levers: BTreeSet<&'a str>,
    /// The widest of them: its resources are all that the others were about.
    widest: &'a Declined,
    /// Refusals for a reason that differs in nothing but the machine.
    alike: Vec<&'a Declined>,
}

impl<'a> Refusal<'a> {
    /// Is the other one about the same machines, or some of them, for the same reason?
    fn takes(&mut self, other: &'a Declined) -> bool {
        let (mine, its) = (&self.widest.target, &other.target);
        let same = self.widest.why == other.why && mine.workload == its.workload && mine.scope == its.scope;
        let taken = same && its.resources.is_subset(&mine.resources);
        if taken {
            self.levers.insert(&other.lever);
        }
        taken
    }

    /// The reason without the machine; none where it names none.
    fn reason(&self) -> Option<String> {
        let machine = machine(self.widest.target.scope.as_ref()?);
        let why = &self.widest.why;
        why.contains(&machine).then(|| why.replace(&machine, THESE))
    }

    /// Is the other one about another machine, for the same reason?
    fn is_like(&self, other: &Self) -> bool {
        let same = self.levers == other.levers && self.widest.target.workload == other.widest.target.workload;
        same && self.reason().is_some() && self.reason() == other.reason()
    }

    fn at_stake(&self) -> f64 {
        std::iter::once(&self.widest)
            .chain(&self.alike)
            .map(|d| d.at_stake())
            .sum()
    }

    /// What was looked at, why it is not proposed, and the numbers of it.
    fn words(&self, plan: &Plan) -> [String; 3] {
        let one = self.widest;
        match (self.reason(), self.alike.len()) {
            (Some(why), 1..) => {
                let numbers = "of each: see --json".to_owned();
                [self.machines(), why, numbers]
            }
            _ => [
                target(plan, &one.target),
                one.why.clone(),
                numbers_words(&one.numbers, plan),
            ],
        }
    }

    /// `2 types of machines: a, b in aws us-east-1`.
    fn machines(&self) -> String {
        let all = std::iter::once(&self.widest).chain(&self.alike);
        let mut places: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for scope in all.filter_map(|d| d.target.scope.as_ref()) {
            let place = format!("{} {}", scope.provider, scope.region);
            places.entry(place).or_default().insert(scope.sku.as_str());
        }
        let count: usize = places.values().map(BTreeSet::len).sum();
        let named = places.iter().map(|(place, skus)| {
            let skus: Vec<&str> = skus.iter().copied().collect();
            format!("{} in {place}", skus.join(", "))
        });
        let named: Vec<String> = named.collect();
        format!("{count} kinds of machine: {}", named.join("; "))
    }
}

/// What a reason calls a machine.
fn machine(scope: &Scope) -> String {
    format!("{} in {} {}", scope.sku, scope.provider, scope.region)
}

/// Every refusal once, those with most money at stake first.
pub fn merged(plan: &Plan) -> Vec<Refusal<'_>> {
    let mut declined: Vec<&Declined> = plan.declined.iter().collect();
    // The widest first; of equals the one that says most.
    declined.sort_by_key(|d| {
        (
            std::cmp::Reverse(d.target.resources.len()),
            std::cmp::Reverse(d.numbers.len()),
        )
    });
    let mut refusals: Vec<Refusal<'_>> = Vec::new();
    for one in declined {
        if !refusals.iter_mut().any(|refusal| refusal.takes(one)) {
            refusals.push(Refusal {
                levers: [one.lever.as_str()].into(),
                widest: one,
                alike: Vec::new(),
            });
        }
    }
    let mut refusals = by_reason(refusals);
    refusals.sort_by(|a, b| b.at_stake().total_cmp(&a.at_stake()));
    refusals
}

/// One refusal for all machines that are refused for the same reason.
fn by_reason(refusals: Vec<Refusal<'_>>) -> Vec<Refusal<'_>> {
    let mut grouped: Vec<Refusal<'_>> = Vec::new();
    for refusal in refusals {
        match grouped.iter_mut().find(|other| other.is_like(&refusal)) {
            Some(other) => other.alike.push(refusal.widest),
            None => grouped.push(refusal),
        }
    }
    grouped
}

/// `chat, 3 resources: chat-1 (i-1), chat-2 (i-2) and 1 more`.
fn target(plan: &Plan, target: &Target) -> String {
    let count = target.resources.len();
    if count < 2 {
        return target_words(plan, target);
    }
    let mut names: Vec<String> = target.resources.iter().take(NAMED).map(|id| named(plan, id)).collect();
    if count > NAMED {
        let last = names.pop().unwrap_or_default();
        names.push(format!("{last} and {} more", count - NAMED));
    }
    let resources = format!("{count} resources: {}", names.join(", "));
    match &target.workload {
        Some(workload) => of_workload(workload, &resources),
        None => resources,
    }
}

/// The lines of workloads.toml that answer refusals which ask for a declaration.
pub fn declarations(refusals: &[Refusal<'_>]) -> Screen {
    let all = refusals
        .iter()
        .flat_map(|refusal| std::iter::once(&refusal.widest).chain(&refusal.alike));
    let mut lines: Vec<&str> = all.filter_map(|one| one.declare.as_deref()).collect();
    // Two levers may ask for the same.
    lines.sort_unstable();
    lines.dedup();
    if lines.is_empty() {
        return Screen::default();
    }
    Screen::default()
        .text("To declare what nobody declared, write what is right of this into workloads.toml:")
        .verbatim(lines.join("\n"))
}

/// Refusals as a table.
pub fn table(plan: &Plan, refusals: &[Refusal<'_>]) -> Table {
    let mut table = Table::new([
        Column::text("lever"),
        Column::text("what was looked at").whole(),
        Column::text("why not").at_least(24),
        Column::text("numbers").at_least(20).optional(1),
    ]);
    for refusal in refusals {
        let levers: Vec<&str> = refusal.levers.iter().copied().collect();
        let [what, why, numbers] = refusal.words(plan);
        table.row([levers.join(", "), what, why, numbers]);
    }
    table
}

/// What stopping would take off the bill; where nobody measured, only what the machine costs is known.
fn saving_words(numbers: &BTreeMap<String, Estimate>, currency: &str) -> Vec<String> {
    let amount = |name: &str| {
        numbers
            .get(name)
            .filter(|n| **n != Estimate::ZERO)
            .map(|n| estimate_cents(*n))
    };
    let observed = numbers.get("hours_observed").map(|n| n.amount());
    let is_unmeasured = observed == Some(0.0);
    let [cash_verb, freed_verb] = if is_unmeasured {
        ["costs", "uses"]
    } else {
        ["would save", "would free"]
    };
    let cash = amount("cash_per_month").map(|n| format!("{cash_verb} {n} {currency} a month in cash"));
    let freed = amount("freed_per_month").map(|n| format!("{freed_verb} {n} {currency} a month of commitment"));
    let unknown = is_unmeasured.then(|| "nobody knows whether it idles".to_owned());
    [cash, freed, unknown].into_iter().flatten().collect()
}

/// The numbers of a refusal with their units; a number without known words stands under its own name.
fn numbers_words(numbers: &BTreeMap<String, Estimate>, plan: &Plan) -> String {
    let currency = &plan.currency;
    let words = numbers.iter().filter_map(|(name, number)| {
        let value = amount::plain(number.amount());
        let money = || estimate_cents(*number);
        Some(match name.as_str() {
            "cash_per_month" | "freed_per_month" | "hours_in_window" => return None,
            "cost_per_month" => format!("costs {} {currency} a month", money()),
            "hours_observed" => match numbers.get("hours_in_window") {
                Some(window) => format!(
                    "observed in {value} of the last {} hours",
                    amount::plain(window.amount())
                ),
                None => format!("observed in {value} hours"),
            },
            "hours_idle" => format!("idle in {value} of them"),
            "running_before" => format!("{value} ran on average before the replayed days"),
            "running_in_period" => format!("{value} ran on average in the replayed days"),
            "running_last_week" => format!("{value} in the last week"),
            "best_level" => format!("{value} would pay for themselves"),
            "hourly_exposure_left" => format!("{} {currency} an hour may still be promised", money()),
            "spot_hours_per_hour" => format!("{value} spot hours do the work of one"),
            "interruptions_per_month" => format!("interrupted {value} times a month"),
            "net_saving_percent" if number.amount() < -1000.0 => "costs more than eleven times as much".to_owned(),
            "net_saving_percent" => format!("saves {value} % net"),
            "busy_percent" => format!("at work {value} % of its time"),
            "hours_on_the_clock_per_hour" => format!("{value} hours on the clock for one of work"),
            "start_failure_chance" => format!("{} of starts fail", amount::share(number.amount())),
            "start_wait_hours" => format!("{value} hours until one succeeds"),
            "wait_hour_cost" => format!("{} {currency} an hour of waiting", money()),
            "wait_cost_per_month" => format!("waiting costs {} {currency} a month", money()),
            _ => format!("{} {value}", name.replace('_', " ")),
        })
    });
    let mut all = saving_words(numbers, currency.as_str());
    all.extend(words);
    all.join("; ")
}

/// Resources of a kind of reason, each with its part of the money at stake.
type Stakes<'a> = BTreeMap<&'a ResourceId, f64>;

/// Reasons by the money that they concern, the largest first: the words before a colon are the kind of reason.
/// A resource counts once for a kind, with the most that a lever puts at stake for it.
pub fn reasons(plan: &Plan) -> Vec<String> {
    let mut kinds: BTreeMap<&str, Stakes<'_>> = BTreeMap::new();
    for one in &plan.declined {
        let kind = one.why.split(':').next().unwrap_or_default();
        let stakes = kinds.entry(kind).or_default();
        let part = one.at_stake() / one.target.resources.len().max(1) as f64;
        for resource in &one.target.resources {
            let stake = stakes.entry(resource).or_default();
            *stake = stake.max(part);
        }
    }
    let sum = |stakes: &Stakes<'_>| stakes.values().sum::<f64>();
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by(|(_, a), (_, b)| sum(b).total_cmp(&sum(a)));
    let words = kinds.into_iter().take(REASONS).map(|(kind, stakes)| {
        let resources = plural(stakes.len() as u64, "resource");
        let money = amount::short(Estimate::new(sum(&stakes)));
        format!("{kind}: {resources}, {money} {} a month at stake", plan.currency)
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::{Paint, Screen};
    use crate::view::sample;

    fn text(plan: &Plan, width: usize) -> String {
        Screen::default()
            .table(table(plan, &merged(plan)))
            .render(width, Paint::new(false))
    }

    fn refusal(why: &str, resources: &[&str], numbers: &[(&str, f64)]) -> Declined {
        Declined {
            lever: "idle".into(),
            target: Target {
                resources: resources.iter().map(|r| (*r).into()).collect(),
                ..Target::default()
            },
            why: why.into(),
            numbers: numbers
                .iter()
                .map(|(n, v)| ((*n).to_owned(), Estimate::new(*v)))
                .collect(),
            declare: None,
        }
    }

    #[test]
    fn refusals_stand_by_money_with_units_and_names() {
        let mut plan = sample::plan();
        plan.declined = vec![
            refusal("small", &["i-1"], &[("cash_per_month", 5.0), ("freed_per_month", 0.0)]),
            refusal("middle", &["i-2", "i-3", "i-4", "i-5"], &[("cost_per_month", 672.0)]),
            refusal(
                "large",
                &["i-6", "i-7"],
                &[
                    ("freed_per_month", 9000.0),
                    ("hours_in_window", 336.0),
                    ("hours_observed", 12.0),
                    ("depth", 2.0),
                ],
            ),
        ];
        let text = text(&plan, 200);
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}\n{text}"));
        assert!(at("large") < at("middle") && at("middle") < at("small"), "{text}");
        at("4 resources: i-2, i-3 and 2 more");
        at("2 resources: i-6, i-7");
        at("would free 9,000.00 USD a month of commitment");
        at("observed in 12 of the last 336 hours");
        at("costs 672.00 USD a month");
        at("depth 2");
        assert!(!text.contains("would save 0"), "{text}");
    }

    #[test]
    fn machines_that_are_refused_for_one_reason_are_one_row() {
        let of = |sku: &str, region: &str, why: &str| {
            let mut one = refusal(why, &["i-1"], &[("running_in_period", 1.0)]);
            one.lever = "commit_baseline".into();
            one.target.scope = Some(Scope {
                provider: "aws".into(),
                sku: sku.into(),
                region: region.into(),
            });
            one.target.resources = [format!("i-{sku}-{region}").as_str().into()].into();
            one
        };
        let none =
            |sku: &str, region: &str| of(sku, region, &format!("no 1y price of {sku} in aws {region}; write one"));
        let mut plan = sample::plan();
        plan.declined = vec![
            none("p4d.24xlarge", "us-east-1"),
            none("g5.xlarge", "us-east-1"),
            none("g5.xlarge", "eu-west-1"),
            of("g6.xlarge", "us-east-1", "its history is 3 days"),
            of("g6.xlarge", "eu-west-1", "its history is 3 days"),
        ];
        let refused = merged(&plan);
        assert_eq!(refused.len(), 3, "{refused:?}");
        let shown = text(&plan, 200);
        for part in [
            "3 kinds of machine: g5.xlarge in aws eu-west-1; g5.xlarge, p4d.24xlarge in aws us-east-1",
            "no 1y price of these; write one",
            "of each: see --json",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
        assert_eq!(
            shown.matches("its history is 3 days").count(),
            2,
            "a reason that names no machine\n{shown}"
        );
        let alone = Plan {
            declined: vec![plan.declined[0].clone()],
            ..plan.clone()
        };
        assert!(text(&alone, 200).contains("no 1y price of p4d.24xlarge in aws us-east-1"));
    }

    #[test]
    fn reasons_stand_by_money() {
        let mut plan = sample::plan();
        plan.declined = vec![
            refusal(
                "declare this first: nobody said",
                &["i-1", "i-2"],
                &[("cash_per_month", 100.0)],
            ),
            refusal("measure this first: no metrics", &["i-3"], &[("cash_per_month", 900.0)]),
            refusal("measure this first: too few", &["i-4"], &[("cash_per_month", 100.0)]),
        ];
        assert_eq!(
            reasons(&plan),
            [
                "measure this first: 2 resources, 1.0k USD a month at stake",
                "declare this first: 2 resources, 100 USD a month at stake"
            ]
        );
    }

    #[test]
    fn a_machine_that_two_levers_are_refused_counts_once() {
        let mut plan = sample::plan();
        let mut schedule = refusal(
            "declare this first: nobody said",
            &["i-1", "i-2", "i-3"],
            &[("cost_per_month", 300.0)],
        );
        schedule.lever = "off_hours".into();
        let month = 300.0;
        let idle = refusal(
            "declare this first: nobody said",
            &["i-1", "i-2"],
            &[("cash_per_month", month * 2.0 / 3.0), ("hours_observed", 9.0)],
        );
        let other = refusal("declare this first: nobody said", &["i-9"], &[("cash_per_month", 1.0)]);
        plan.declined = vec![idle, schedule, other];
        let money = amount::short(Estimate::new(month + 1.0));
        assert_eq!(
            reasons(&plan),
            [format!("declare this first: 4 resources, {money} USD a month at stake")]
        );
        let shown = text(&plan, 200);
        assert_eq!(merged(&plan).len(), 2, "{shown}");
        assert!(
            shown.contains("idle, off_hours  3 resources: i-1, i-2 and 1 more"),
            "{shown}"
        );
    }

    #[test]
    fn no_saving_is_claimed_for_hours_that_nobody_measured() {
        let mut plan = sample::plan();
        let numbers = [
            ("cash_per_month", 1380.63),
            ("hours_in_window", 672.0),
            ("hours_observed", 0.0),
        ];
        plan.declined = vec![refusal("measure this first: no GPU metrics", &["i-1"], &numbers)];
        let shown = text(&plan, 250);
        assert!(
            shown.contains(
                "costs 1,380.63 USD a month in cash; nobody knows whether it idles; observed in 0 of the last 672 hours"
            ),
            "{shown}"
        );
        assert!(!shown.contains("would"), "{shown}");
    }
}
