//! Other orders of a plan's steps: what each brings by when.

use lowwater_model::money::Estimate;
use lowwater_model::order::{Order, OrderName};
use lowwater_model::plan::Plan;

use crate::amount;
use crate::screen::{Column, Screen, Table};

/// The weeks whose cash has a column.
const EARLY_WEEKS: [usize; 2] = [4, 13];

const fn words(name: OrderName) -> &'static str {
    match name {
        OrderName::Plan => "this plan",
        OrderName::CashPerEngineerWeek => "most cash per engineer-week first",
        OrderName::CommitFirst => "commit, then spot, then switch off",
        OrderName::SpotFirst => "spot, then switch off, then commit",
    }
}

/// Nothing where there is nothing to put in another order.
pub(super) fn screen(plan: &Plan) -> Screen {
    let is_one = plan.steps.len() < 2 && plan.alternatives.iter().all(|order| order.bought.is_empty());
    if plan.alternatives.is_empty() || is_one {
        return Screen::default();
    }
    let warnings = plan.alternatives.iter().filter_map(|order| {
        let why = order.unsafe_because.as_ref()?;
        Some(format!("{} is not safe: {why}.", words(order.name)))
    });
    let left_out = if plan.alternatives.len() < OrderName::ALL.len() {
        " Orders that begin with a kind of step that this plan lacks are left out."
    } else {
        ""
    };
    Screen::default()
        .title("In another order")
        .text(format!(
            "The same steps, begun at once, at the hours a week of [plan] work_hours_per_week, with conditions met in \
                 time: cash in {}, from the middles of the ranges.{left_out}",
            plan.currency
        ))
        .table(table(plan))
        .points(warnings.collect())
}

fn table(plan: &Plan) -> Table {
    let mut table = Table::new([
        Column::text("order of the steps").at_least(30),
        Column::number("weeks of work").optional(4),
        Column::number(format!("by week {}", EARLY_WEEKS[0])).optional(2),
        Column::number(format!("by week {}", EARLY_WEEKS[1])).optional(1),
        Column::number("in a year"),
        Column::number("forgone"),
        Column::number("monthly after").optional(3),
        Column::text("safe"),
    ]);
    for order in &plan.alternatives {
        let is_same =
            order.name != OrderName::Plan && plan.alternatives.first().is_some_and(|own| own.steps == order.steps);
        let mut row = row(order);
        if is_same {
            row[0] += " (the same here)";
        }
        table.row(row);
    }
    table
}

fn row(order: &Order) -> [String; 8] {
    let by = |week: usize| {
        let cash = order.cash_by_week.get(week - 1);
        cash.map_or_else(|| amount::UNKNOWN.to_owned(), |cash| amount::short(*cash))
    };
    let forgone = if order.forgone_in_year == Estimate::ZERO {
        "-".to_owned()
    } else {
        amount::short(order.forgone_in_year)
    };
    [
        words(order.name).to_owned(),
        format!("{:.1}", order.weeks),
        by(EARLY_WEEKS[0]),
        by(EARLY_WEEKS[1]),
        amount::short(order.cash_in_year),
        forgone,
        amount::short(order.per_month),
        if order.unsafe_because.is_some() { "no" } else { "yes" }.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;
    use crate::view::sample;

    fn text(plan: &Plan, width: usize) -> String {
        screen(plan).render(width, Paint::new(false))
    }

    #[test]
    fn orders_stand_side_by_side_and_say_what_is_not_safe() {
        let text = text(&sample::plan(), 120);
        let row = |words: &str| {
            text.lines()
                .find(|line| line.starts_with(words))
                .unwrap_or_else(|| panic!("{words}: {text}"))
        };
        let own = row("this plan");
        assert!(
            own.contains("4.3k") && own.contains("436.8k") && own.ends_with("yes"),
            "{own}"
        );
        let early = row("commit, then spot");
        assert!(
            early.contains("200.0k") && early.contains("236.8k") && early.ends_with("no"),
            "{early}"
        );
        assert!(
            text.contains("switch off is not safe: it commits on demand that later steps take away"),
            "{text}"
        );
    }

    #[test]
    fn a_narrow_terminal_keeps_the_year() {
        let text = text(&sample::plan(), 80);
        assert!(
            text.contains("in a year") && text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }

    #[test]
    fn one_step_has_no_other_order() {
        let mut plan = sample::plan();
        plan.steps.truncate(1);
        plan.alternatives.truncate(1);
        assert_eq!(text(&plan, 120), "");
        plan.steps.clear();
        plan.alternatives.clear();
        assert_eq!(text(&plan, 120), "");
    }
}
