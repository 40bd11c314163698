//! Steps and refusals of some levers, for the pages that are about them.

use lowwater_model::plan::{Plan, Step};
use lowwater_store::state::Approval;

use crate::amount::{instant, range};
use crate::view::plan::{amount_or_dash, needs_words};
use crate::view::refusals;
use crate::web::asked::{Asked, encoded};
use crate::web::grid::{Cell, Grid, Head, Tone};

/// The plan of some levers alone: their steps and refusals, its totals are those of the whole.
fn only(plan: &Plan, levers: &[&str]) -> Plan {
    let mut part = plan.clone();
    part.declined.retain(|one| levers.contains(&one.lever.as_str()));
    part
}

/// Their steps, as the page of the plan has them.
pub fn steps(plan: &Plan, levers: &[&str], approvals: &[Approval], asked: &Asked) -> Grid {
    let all = plan.steps.iter().enumerate();
    let ours = all
        .filter(|(_, step)| levers.contains(&step.lever.as_str()))
        .map(|(index, _)| index);
    grid(plan, ours, approvals, asked)
}

/// Steps of a plan by their number, from 0.
pub fn grid(plan: &Plan, indices: impl Iterator<Item = usize>, approvals: &[Approval], asked: &Asked) -> Grid {
    let currency = &plan.currency;
    let heads = [
        Head::number("#"),
        Head::text("what to do"),
        Head::text("workload"),
        Head::number(format!("cash a month ({currency})")).term("not paid any more: p50 with p10 to p90"),
        Head::number(format!("freed a month ({currency})")).term("commitment set free: still paid until it ends"),
        Head::text("risk"),
        Head::text("effort"),
        Head::text("state").term("an approval says that somebody may do it; nothing here changes a cloud"),
    ];
    let mut grid = Grid::new("Steps of the plan", heads);
    for index in indices {
        let step = &plan.steps[index];
        let workload = step.target.workload.as_ref().map_or_else(
            || Cell::new("-").tone(Tone::Muted),
            |name| Cell::new(name.as_str()).link(format!("/workloads?workload={}", encoded(name.as_str()))),
        );
        grid.row([
            Cell::new((index + 1).to_string()),
            Cell::new(step.title.clone()).link(asked.on("/plan").with("step", step.id.as_str()).url()),
            workload,
            Cell::new(range(&step.per_month.cash)).key(step.per_month.cash.p50.amount()),
            Cell::new(amount_or_dash(&step.per_month.freed)).key(step.per_month.freed.p50.amount()),
            Cell::new(step.risk.as_str()),
            Cell::new(step.effort.as_str()),
            state(step, approvals),
        ]);
    }
    grid
}

/// Approved until when, or what it waits for.
fn state(step: &Step, approvals: &[Approval]) -> Cell {
    match approvals.iter().find(|approval| approval.step == step.id.as_str()) {
        Some(approval) => Cell::new(format!("approved until {}", instant(approval.until)))
            .title(format!("by {}, not applied by Lowwater", approval.who))
            .tone(Tone::Good),
        None if step.is_blocked() => Cell::new(format!("waits for {}", needs_words(step))).tone(Tone::Caution),
        None => Cell::new("can be approved"),
    }
}

/// What they looked at and did not propose, as the terminal tells it.
pub fn refusals(plan: &Plan, levers: &[&str]) -> Grid {
    let part = only(plan, levers);
    Grid::of_table(&refusals::table(&part, &refusals::merged(&part)))
}
