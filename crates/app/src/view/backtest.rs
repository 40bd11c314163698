//! How a past plan would have done: step by step, expected against would have been.

use jiff::Timestamp;
use lowwater_engine::Backtest;
use lowwater_model::money::Range;
use serde::Serialize;

use super::next::Next;
use crate::amount::{self, estimate_cents, plural, quantity, share};
use crate::output::View;
use crate::screen::{Column, Screen, Table};

/// Shares of outcomes inside the ranges that speak for them: from 75 % to 85 %, because a range leaves one in five out.
const AIM: (f64, f64) = (0.75, 0.85);

/// A judged plan.
#[derive(Debug, Serialize)]
pub struct BacktestView {
    /// The day of the plan: it saw nothing after it.
    pub as_of: Timestamp,
    /// Of all money.
    pub currency: String,
    /// Days after it that were asked for.
    pub horizon_days: i64,
    /// What came of it.
    #[serde(flatten)]
    pub judged: Backtest,
    #[serde(skip)]
    next: Next,
}

impl BacktestView {
    /// Of what the engine found.
    pub fn new(judged: Backtest, (as_of, horizon_days): (Timestamp, i64), currency: String) -> Self {
        Self {
            as_of,
            horizon_days,
            currency,
            judged,
            next: Next::default(),
        }
    }

    /// With commands that work from where the user stands.
    pub fn with_next(self, next: Next) -> Self {
        Self { next, ..self }
    }

    /// In one sentence.
    pub fn headline(&self) -> String {
        let judged = &self.judged;
        let days = amount::period(&judged.period);
        if judged.steps.is_empty() {
            return format!(
                "The plan of {} had no step to judge on {days}.",
                amount::instant(self.as_of)
            );
        }
        let inside = judged.steps.iter().filter(|step| step.inside).count();
        format!(
            "The plan of {} expected {} {} of cash from {days} and would have saved {}; {inside} of {} inside their ranges.",
            amount::instant(self.as_of),
            estimate_cents(judged.expected.p50),
            self.currency,
            estimate_cents(judged.would_have_been),
            plural(judged.steps.len() as u64, "step"),
        )
    }

    fn table(&self) -> Table {
        let mut table = Table::new([
            Column::number("step"),
            Column::text("what").at_least(24),
            Column::number(format!("expected ({})", self.currency)),
            Column::number("p10 to p90").optional(1),
            Column::number("would have been"),
            Column::text("inside"),
            Column::number("work taken (GPU-hours)").optional(2),
        ]);
        for (number, step) in (1..).zip(&self.judged.steps) {
            table.row([
                format!("{number}"),
                step.title.clone(),
                estimate_cents(step.expected.p50),
                ends(&step.expected),
                estimate_cents(step.would_have_been),
                if step.inside { "yes" } else { "no" }.to_owned(),
                quantity(step.active_gpu_hours_removed),
            ]);
        }
        table
    }

    /// What the outcomes say of the ranges, and of work that was in the way.
    pub fn remarks(&self) -> Vec<String> {
        let judged = &self.judged;
        let inside = judged.inside_share.map(|inside| {
            let word = if inside < AIM.0 {
                "too narrow, or the past was no guide"
            } else {
                "wide enough"
            };
            let few = if judged.steps.len() < 10 {
                "; with so few steps that says little"
            } else {
                ""
            };
            format!(
                "{} of the outcomes lie between p10 and p90, where four in five should: {word}{few}",
                share(inside)
            )
        });
        let taken = judged.active_gpu_hours_removed;
        let of = if judged.gpu_hours > 0.0 {
            taken / judged.gpu_hours
        } else {
            0.0
        };
        let false_stops = format!(
            "steps would have taken machines in {} GPU-hours in which they worked, {:.3} % of all {}",
            quantity(taken),
            of * 100.0,
            quantity(judged.gpu_hours)
        );
        let days = judged.period.seconds() / 86_400;
        let short = (days < self.horizon_days)
            .then(|| format!("the bill has only {} of the {} days after it", days, self.horizon_days));
        inside.into_iter().chain(short).chain([false_stops]).collect()
    }
}

fn ends(range: &Range) -> String {
    format!("{} to {}", estimate_cents(range.p10), estimate_cents(range.p90))
}

impl View for BacktestView {
    fn screen(&self) -> Screen {
        let screen = Screen::new(self.headline());
        if self.judged.steps.is_empty() {
            return screen.next([(self.next.command("plan"), "why there is no step")]);
        }
        screen
            .table(self.table())
            .title("What that says")
            .points(self.remarks())
            .next([(self.next.command("plan"), "the plan of today")])
    }
}

#[cfg(test)]
mod tests {
    use lowwater_model::period::Period;

    use super::*;
    use crate::screen::Paint;
    use crate::view::sample;

    fn view() -> BacktestView {
        let plan = sample::plan();
        let mut facts = sample::facts();
        let end = facts.period.end.as_second();
        facts.period = Period::from_seconds(end - 7 * 86_400, end);
        BacktestView::new(lowwater_engine::backtest(&plan, &facts), (plan.as_of, 7), "USD".into())
    }

    #[test]
    fn every_step_stands_with_both_numbers() {
        let view = view();
        let text = view.screen().render(140, Paint::new(false));
        assert!(
            text.contains("would have been") && text.contains("between p10 and p90"),
            "{text}"
        );
        let json = serde_json::to_value(&view).unwrap();
        assert_eq!(json["steps"].as_array().unwrap().len(), sample::plan().steps.len());
        for step in json["steps"].as_array().unwrap() {
            assert!(
                step["expected"]["p50"].is_number()
                    && step["would_have_been"].is_number()
                    && step["inside"].is_boolean()
            );
        }
        assert!(json["as_of"].is_string() && json["period"]["start"].is_string());
    }

    #[test]
    fn a_plan_without_steps_says_so() {
        let mut view = view();
        view.judged.steps.clear();
        assert!(
            view.screen()
                .render(100, Paint::new(false))
                .contains("had no step to judge")
        );
    }
}
