//! A plan: what to do, in which order, what it saves, and what was not proposed.

use lowwater_model::charge::CostMetric;
use lowwater_model::id::{ResourceId, WorkloadName};
use lowwater_model::money::{Estimate, Range};
use lowwater_model::plan::{Phase, Plan, Step, Target};
use serde::{Serialize, Serializer};

use super::next::Next;
use super::{contract, orders, refusals};
use crate::amount::{self, cents, estimate_cents, plural, range};
use crate::output::View;
use crate::screen::{Column, Figure, Screen, Table, figure};

/// Declined targets that the short form shows.
const SHORT_DECLINED: usize = 8;
/// From this width on there is room for the ids of steps beside their numbers.
const WIDE: usize = 140;

/// How much of a plan is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What comes first.
    Short,
    /// That, and every refusal.
    Refusals,
    /// Everything.
    Whole,
}

/// A plan, as JSON exactly the file plan.json.
#[derive(Debug)]
pub struct PlanView<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Where it was written; none where it was only read.
    pub written: Option<String>,
    /// What makes it a plan of something else than what is loaded now.
    pub stale: Option<String>,
    /// How much of it.
    pub extent: Extent,
    /// How next commands name the data directory.
    pub next: Next,
}

impl Serialize for PlanView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.plan.serialize(serializer)
    }
}

/// What a cost metric is called in a sentence.
pub fn metric_words(metric: CostMetric) -> String {
    format!("{metric} cost")
}

/// A change that is no change is not worth a range.
pub fn amount_or_dash(saving: &Range) -> String {
    if saving.p90 == Estimate::ZERO && saving.p10 == Estimate::ZERO {
        "-".to_owned()
    } else {
        range(saving)
    }
}

/// The last part of an id that is a path: enough for a reader, and for `lowwater explain`.
pub(super) fn short_id(id: &ResourceId) -> String {
    let last = id.as_str().rsplit('/').find(|part| !part.is_empty());
    last.unwrap_or(id.as_str()).to_owned()
}

/// `name (id)` where the bill has a name, else the id.
pub(super) fn named(plan: &Plan, id: &ResourceId) -> String {
    let short = short_id(id);
    match plan.names.get(id) {
        Some(name) if *name != short => format!("{name} ({short})"),
        _ => short,
    }
}

/// `chat (2 resources)`; no brackets inside of brackets.
pub(super) fn of_workload(workload: &WorkloadName, what: &str) -> String {
    if what.contains('(') {
        format!("{workload}, {what}")
    } else {
        format!("{workload} ({what})")
    }
}

/// `notebooks`, or the only resource, or how many there are.
pub fn target_words(plan: &Plan, target: &Target) -> String {
    let resources = match target.resources.len() {
        0 => None,
        1 => target.resources.first().map(|id| named(plan, id)),
        n => Some(plural(n as u64, "resource")),
    };
    let scope = target
        .scope
        .as_ref()
        .map(|s| format!("{} in {} {}", s.sku, s.provider, s.region));
    let what = match (scope, resources) {
        (Some(scope), Some(resources)) => Some(format!("{scope}, {resources}")),
        (scope, resources) => scope.or(resources),
    };
    match (&target.workload, what) {
        (Some(workload), Some(what)) => of_workload(workload, &what),
        (Some(workload), None) => workload.to_string(),
        (None, Some(what)) => what,
        (None, None) => "everything".to_owned(),
    }
}

/// What still has to happen, in short: ids of unmet conditions.
pub fn needs_words(step: &Step) -> String {
    let unmet: Vec<String> = step
        .needs
        .iter()
        .filter(|n| !n.met)
        .map(|n| n.id.replace('_', " "))
        .collect();
    if unmet.is_empty() {
        "nothing".to_owned()
    } else {
        unmet.join(", ")
    }
}

/// `Weeks 3 to 4: stop waste`.
pub fn phase_words(phase: Phase) -> String {
    let (first, last) = phase.weeks();
    format!("Weeks {first} to {last}: {}", phase.as_str().replace('-', " "))
}

impl PlanView<'_> {
    /// The one sentence.
    pub fn headline(&self) -> String {
        let plan = self.plan;
        if plan.steps.is_empty() {
            return format!(
                "Nothing to change was found in the replay of {}; {} looked at and declined.",
                amount::period(&plan.period),
                were(refusals::merged(plan).len())
            );
        }
        let cash = range(&plan.per_month.cash);
        let steps = plural(plan.steps.len() as u64, "step");
        let save = if plan.steps.len() == 1 { "saves" } else { "save" };
        format!(
            "{steps} {save} {cash} {} a month in cash{}, replayed on {}.",
            plan.currency,
            contract::headline(plan),
            amount::period(&plan.period)
        )
    }

    /// What stands out.
    pub fn figures(&self) -> Vec<Figure> {
        let plan = self.plan;
        let metric = metric_words(plan.basis.metric);
        let share = if plan.bill.total == Estimate::ZERO {
            amount::UNKNOWN.to_owned()
        } else {
            amount::share((plan.bill.total - plan.planned.total).amount() / plan.bill.total.amount())
        };
        let money = |e: Estimate| format!("{} {}", estimate_cents(e), plan.currency);
        let bill = format!("{metric} of {}", amount::period(&plan.period));
        let mut figures = vec![figure("bill", money(plan.bill.total), bill)];
        if plan.steps.is_empty() {
            return figures;
        }
        figures.extend([
            figure(
                "with the plan",
                money(plan.planned.total),
                format!("{share} less, the same hours replayed with all steps"),
            ),
            figure(
                "cash",
                format!("{} {}", range(&plan.saving.cash), plan.currency),
                "not paid any more, over these days",
            ),
        ]);
        if plan.saving.freed.p50 != Estimate::ZERO {
            let freed = format!("{} {}", range(&plan.saving.freed), plan.currency);
            figures.push(figure(
                "freed",
                freed,
                "commitment set free: still paid until it ends, not counted as saved",
            ));
        }
        figures.extend(contract::figures(plan));
        let waiting: Vec<&Step> = plan.steps.iter().filter(|s| s.is_blocked()).collect();
        if !waiting.is_empty() {
            let cash: Estimate = waiting.iter().map(|s| s.per_month.cash.p50).sum();
            let value = format!("{} {}", amount::short(cash), plan.currency);
            let of = format!(
                "a month of the cash stands behind a condition ({} of {} steps)",
                waiting.len(),
                plan.steps.len()
            );
            figures.push(figure("waiting", value, of));
        }
        figures
    }

    fn steps(&self, phase: Phase) -> Table {
        let currency = &self.plan.currency;
        let mut table = Table::new([
            Column::number("#"),
            Column::text("step").only_from(WIDE),
            Column::text("what to do").at_least(28),
            Column::text("workload").at_least(21).optional(5),
            Column::number(format!("cash a month ({currency})")),
            Column::number(format!("freed a month ({currency})")).optional(3),
            Column::text("risk").optional(4),
            Column::text("effort").optional(6),
            Column::text("waits for").optional(2),
        ]);
        let steps = self.plan.steps.iter().enumerate().filter(|(_, s)| s.phase == phase);
        for (index, step) in steps {
            table.row([
                (index + 1).to_string(),
                step.id.to_string(),
                step.title.clone(),
                step.target.workload.as_ref().map_or("-", |w| w.as_str()).to_owned(),
                range(&step.per_month.cash),
                amount_or_dash(&step.per_month.freed),
                step.risk.to_string(),
                step.effort.to_string(),
                needs_words(step),
            ]);
        }
        table
    }

    /// Why there is no step, and what would help.
    fn why_nothing(&self) -> Screen {
        let doctor = self.next.command("doctor");
        let reasons = refusals::reasons(self.plan);
        if reasons.is_empty() {
            return Screen::default().text(format!(
                "No GPU resource was idle, and none of class development runs outside of working hours, as far as these days and \
                 their metrics show. `{doctor}` says which metrics, owners or days are missing for a better answer."
            ));
        }
        Screen::default()
            .title("What stands in the way, by money")
            .points(reasons)
            .text(format!("`{doctor}` says what to do about it."))
    }

    fn reconciliation(&self) -> Screen {
        let bill = &self.plan.bill;
        let mut table = Table::new([
            Column::text("from the replayed bill to the invoice"),
            Column::number(format!("{} ({})", "amount", self.plan.currency)),
        ]);
        table.row([metric_words(self.plan.basis.metric), estimate_cents(bill.total)]);
        for line in &bill.reconciliation {
            table.row([line.label.clone(), cents(line.amount)]);
        }
        table.row(["unexplained".to_owned(), cents(bill.unexplained)]);
        Screen::default().title("Reconciliation").table(table)
    }
}

fn were(count: usize) -> String {
    if count == 1 {
        "1 change was".to_owned()
    } else {
        format!("{count} changes were")
    }
}

impl PlanView<'_> {
    /// What stands under the steps: other orders, what was not proposed, what to know, what it was made from.
    pub fn beyond_steps(&self) -> Screen {
        let plan = self.plan;
        let mut screen = orders::screen(plan);
        let refused = refusals::merged(plan);
        if !refused.is_empty() {
            let most = if self.extent == Extent::Short {
                SHORT_DECLINED
            } else {
                usize::MAX
            };
            let shown = refused.len().min(most);
            let more = if shown < refused.len() {
                format!(", {shown} shown")
            } else {
                String::new()
            };
            screen = screen
                .title(format!("Looked at and not proposed ({}{more})", refused.len()))
                .table(refusals::table(plan, &refused[..shown]))
                .then(refusals::declarations(&refused[..shown]));
        }
        screen = screen.remarks("What to know", plan.notes.clone());
        if self.extent == Extent::Whole {
            screen = screen.then(self.reconciliation());
        }
        screen.text(self.identity())
    }
}

impl View for PlanView<'_> {
    fn screen(&self) -> Screen {
        let plan = self.plan;
        let mut screen = Screen::default()
            .warnings(self.stale.iter().cloned().collect())
            .then(Screen::new(self.headline()).figures(self.figures()));
        if plan.steps.is_empty() {
            screen = screen.then(self.why_nothing());
        } else if !plan.steps.iter().any(|s| s.phase == Phase::SeeClearly) {
            screen = screen.title(phase_words(Phase::SeeClearly)).text(format!(
                "No step of this plan: `{}` lists what to measure, declare and tag in these weeks.",
                self.next.command("doctor")
            ));
        }
        for phase in Phase::ALL
            .iter()
            .copied()
            .filter(|p| plan.steps.iter().any(|s| s.phase == *p))
        {
            screen = screen.title(phase_words(phase)).table(self.steps(phase));
        }
        screen.then(self.beyond_steps()).then(self.next_commands())
    }
}

impl PlanView<'_> {
    fn identity(&self) -> String {
        let plan = self.plan;
        let short = |id: &str| id.chars().take(12).collect::<String>();
        let (id, facts, policy) = (
            short(plan.id.as_str()),
            short(plan.facts.as_str()),
            short(plan.policy.as_str()),
        );
        let ids = format!(
            "Plan {id} from facts {facts} under policy {policy}, as of {}.",
            amount::instant(plan.as_of)
        );
        match &self.written {
            Some(path) => format!("{ids} Written to {path}."),
            None => ids,
        }
    }

    fn next_commands(&self) -> Screen {
        let next = &self.next;
        let first = self
            .plan
            .steps
            .first()
            .map(|_| (next.command("show 1"), "everything about the first step"));
        match (self.extent == Extent::Whole, first) {
            (true, Some(step)) => {
                Screen::default().next([step, (next.command("show prices"), "what every price stands on")])
            }
            (false, Some(step)) => Screen::default().next([
                step,
                (next.command("show plan"), "all refusals and the way to the invoice"),
            ]),
            (_, None) => Screen::default().next([(next.command("doctor"), "what is missing for a better answer")]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;
    use crate::view::sample;

    fn text(plan: &Plan, extent: Extent, width: usize) -> String {
        let view = PlanView {
            plan,
            written: None,
            stale: None,
            extent,
            next: Next::default(),
        };
        view.screen().render(width, Paint::new(false))
    }

    #[test]
    fn says_what_it_saves_and_what_waits() {
        let text = text(&sample::plan(), Extent::Whole, 120);
        let first = text.lines().next().unwrap();
        assert_eq!(
            first,
            "2 steps save 36.4k (31.8k to 40.2k) USD a month in cash, replayed on 4 Oct to 31 Oct 2026 (28 days)."
        );
        for part in [
            "412,300.00 USD",
            "375,900.00 USD",
            "8.8 % less",
            "freed",
            "1.0k (900 to 1.1k) USD",
            "Weeks 3 to 4: stop waste",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(
            text.contains("instance store") && text.contains("acknowledged\n") && text.contains("(1 of 2 steps)"),
            "{text}"
        );
        assert!(
            text.contains("a standby waits on purpose") && text.contains("would save 2,645.50 USD"),
            "{text}"
        );
        assert!(text.contains("unexplained") && text.contains("-0.02"), "{text}");
    }

    #[test]
    fn the_short_form_leaves_out_the_way_to_the_invoice() {
        assert!(!text(&sample::plan(), Extent::Short, 120).contains("Reconciliation"));
        let mut plan = sample::plan();
        let other = |n: usize| {
            let mut declined = plan.declined[0].clone();
            declined.target.resources = [format!("i-{n}").into()].into();
            declined
        };
        plan.declined = (0..SHORT_DECLINED + 5).map(other).collect();
        assert!(text(&plan, Extent::Short, 120).contains("Looked at and not proposed (13, 8 shown)"));
        assert!(text(&plan, Extent::Whole, 120).contains("Looked at and not proposed (13)"));
    }

    #[test]
    fn a_plan_without_steps_says_so() {
        let mut plan = sample::plan();
        plan.steps.clear();
        let text = text(&plan, Extent::Short, 120);
        assert!(
            text.starts_with(
                "Nothing to change was found in the replay of 4 Oct to 31 Oct 2026 (28 days); 1 change was looked"
            ),
            "{text}"
        );
        assert!(text.contains("lowwater doctor"));
    }

    #[test]
    fn a_plan_without_steps_says_what_stands_in_the_way() {
        let mut plan = sample::plan();
        plan.steps.clear();
        plan.declined.clear();
        let shown = text(&plan, Extent::Short, 120);
        assert!(
            shown.contains("No GPU resource was idle") && shown.contains("`lowwater doctor` says which"),
            "{shown}"
        );
        assert!(!shown.contains("with the plan"), "{shown}");
    }

    #[test]
    fn a_stale_plan_says_so_first() {
        let plan = sample::plan();
        let view = PlanView {
            plan: &plan,
            written: None,
            stale: Some("this plan is of older data".into()),
            extent: Extent::Short,
            next: Next::default(),
        };
        let text = view.screen().render(100, Paint::new(false));
        assert!(
            text.lines().next().unwrap().contains("this plan is of older data"),
            "{text}"
        );
    }

    #[test]
    fn the_id_of_a_step_needs_room_and_clear_sight_is_one_line() {
        let narrow = text(&sample::plan(), Extent::Short, 139);
        assert!(
            !narrow.contains("aa99bb22cc33") && !narrow.contains("no room for: step"),
            "{narrow}"
        );
        assert!(text(&sample::plan(), Extent::Short, 140).contains("aa99bb22cc33"));
        assert!(
            narrow.contains("Weeks 1 to 2: see clearly\nNo step of this plan: `lowwater doctor` lists"),
            "{narrow}"
        );
    }

    #[test]
    fn fits_every_width_and_names_what_it_leaves_out() {
        for width in [60, 80, 100, 160, 200] {
            let text = text(&sample::plan(), Extent::Whole, width);
            assert!(text.lines().all(|l| l.chars().count() <= width), "{width}\n{text}");
            assert!(text.contains("18.2k (15.9k to 20.1k)"), "{width}\n{text}");
        }
    }

    #[test]
    fn json_is_the_plan_itself() {
        let plan = sample::plan();
        let view = PlanView {
            plan: &plan,
            written: Some("x".into()),
            stale: None,
            extent: Extent::Short,
            next: Next::default(),
        };
        assert_eq!(
            serde_json::to_value(&view).unwrap(),
            serde_json::to_value(&plan).unwrap()
        );
    }

    #[test]
    fn targets_in_words() {
        let mut plan = sample::plan();
        plan.names = [
            ("i-1".into(), "nb-1".to_owned()),
            ("/vms/wb-2".into(), "wb-2".to_owned()),
        ]
        .into();
        let target = |workload: Option<&str>, resources: &[&str]| {
            let resources = resources.iter().map(|r| (*r).into()).collect();
            let target = Target {
                workload: workload.map(Into::into),
                resources,
                scope: None,
            };
            target_words(&plan, &target)
        };
        assert_eq!(target(None, &["i-1"]), "nb-1 (i-1)");
        assert_eq!(target(Some("notebooks"), &["i-1"]), "notebooks, nb-1 (i-1)");
        assert_eq!(target(None, &["/vms/wb-2"]), "wb-2", "the name is the end of the id");
        assert_eq!(target(Some("chat"), &["a", "b"]), "chat (2 resources)");
        assert_eq!(target(None, &["a"]), "a");
        assert_eq!(
            target(None, &["//compute.googleapis.com/projects/p/instances/wb-1"]),
            "wb-1"
        );
        assert_eq!(target(Some("chat"), &[]), "chat");
        assert_eq!(target(None, &[]), "everything");
    }
}
