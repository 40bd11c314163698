//! One step: everything about it.

use std::collections::BTreeSet;

use lowwater_model::id::{Currency, ResourceId};
use lowwater_model::money::Estimate;
use lowwater_model::plan::{Plan, Step};
use serde::{Serialize, Serializer};

use super::next::Next;
use super::plan::{metric_words, named, target_words};
use crate::amount::{self, estimate_cents, range};
use crate::output::View;
use crate::screen::{Figure, Screen, figure};

/// Resources that are named one by one.
const MOST_RESOURCES: usize = 60;

/// A step with the plan around it; as JSON the step itself.
#[derive(Debug)]
pub struct StepView<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Its step, from 0.
    pub index: usize,
    /// What makes it a plan of something else than what is loaded now.
    pub stale: Option<String>,
    /// How next commands name the data directory.
    pub next: Next,
}

impl Serialize for StepView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.step().serialize(serializer)
    }
}

impl StepView<'_> {
    fn step(&self) -> &Step {
        &self.plan.steps[self.index]
    }

    fn figures(&self) -> Vec<Figure> {
        let (step, currency) = (self.step(), &self.plan.currency);
        let period = amount::period(&self.plan.period);
        let mut figures = vec![
            figure(
                "cash a month",
                with(range(&step.per_month.cash), currency),
                "not paid any more",
            ),
            figure(
                "cash",
                with(range(&step.saving.cash), currency),
                format!("replayed over {period}"),
            ),
        ];
        if step.saving.freed.p50 != Estimate::ZERO {
            let remark = "over the same days: commitment set free, still paid until it ends";
            figures.push(figure("freed", with(range(&step.saving.freed), currency), remark));
        }
        let basis = metric_words(self.plan.basis.metric);
        let (share, without) = (estimate_cents(step.share), estimate_cents(step.without));
        figures.push(figure(
            "share",
            with(share, currency),
            format!("what it takes off the {basis} that the steps before it left"),
        ));
        figures.push(figure(
            "without it",
            with(without, currency),
            "what the whole plan would save less",
        ));
        let (first, last) = step.phase.weeks();
        figures.push(figure(
            "phase",
            step.phase.as_str().replace('-', " "),
            format!("weeks {first} to {last}"),
        ));
        figures.push(figure("risk", step.risk.as_str(), "what can go wrong"));
        figures.push(figure("effort", step.effort.as_str(), "what it takes"));
        figures
    }
}

/// `name (id)` of each, as far as a reader goes.
fn listed(resources: &BTreeSet<ResourceId>, plan: &Plan) -> Vec<String> {
    let mut named: Vec<String> = resources
        .iter()
        .take(MOST_RESOURCES)
        .map(|id| named(plan, id))
        .collect();
    if resources.len() > MOST_RESOURCES {
        named.push(format!(
            "and {} more (--json has all)",
            resources.len() - MOST_RESOURCES
        ));
    }
    named
}

fn with(amount: String, currency: &Currency) -> String {
    format!("{amount} {currency}")
}

impl View for StepView<'_> {
    fn screen(&self) -> Screen {
        let step = self.step();
        let number = self.index + 1;
        let headline = format!(
            "{} (step {number} of {}, {}, by {})",
            step.title,
            self.plan.steps.len(),
            step.id,
            step.lever
        );
        let mut screen = Screen::default()
            .warnings(self.stale.iter().cloned().collect())
            .then(Screen::new(headline).figures(self.figures()));
        let words = step.change.kind().describe();
        if words != step.title {
            screen = screen.text(words);
        }
        screen = screen.title("Because").points(step.because.clone());
        if !step.needs.is_empty() {
            let state = |met: bool| if met { "met" } else { "open" };
            let needs = step
                .needs
                .iter()
                .map(|n| format!("{}: {}", state(n.met), n.text))
                .collect();
            screen = screen.title("Needs").points(needs);
        }
        screen = screen.title("Undo").text(step.undo.clone());
        let (resources, words) = (step.change.kind().resources(), target_words(self.plan, &step.target));
        screen = screen
            .title(match step.target.scope {
                Some(_) => format!("Sized on these machines of {words}, touches none"),
                None => format!("Touches {words}"),
            })
            .points(listed(&resources, self.plan));
        let explain = resources.first().map(|id| {
            self.next
                .command(&format!("explain {}", crate::config::quoted(id.as_str())))
        });
        match explain {
            Some(command) => screen.next([(command, "what is known of a resource, and why it is treated so")]),
            None => screen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::screen::Paint;
    use crate::view::sample;

    #[test]
    fn shows_everything_of_a_step() {
        let plan = sample::plan();
        let view = StepView {
            plan: &plan,
            index: 1,
            stale: None,
            next: Next::default(),
        };
        let text = view.screen().render(100, Paint::new(false));
        let parts = [
            "Stop i-0bbb (step 2 of 2, aa99bb22cc33, by idle)",
            "18.2k (15.9k to 20.1k) USD",
            "weeks 3 to 4",
            "- all 8 GPUs idle in all 336 hours",
            "- open: say that nothing on the instance store is needed",
            "start it again",
            "Touches notebooks (i-0bbb)",
            "lowwater explain i-0bbb",
        ];
        for part in parts {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert_eq!(
            serde_json::to_value(&view).unwrap(),
            serde_json::to_value(&plan.steps[1]).unwrap()
        );
    }

    #[test]
    fn long_lists_are_cut_and_said() {
        let mut plan = sample::plan();
        plan.names = [("i-001".into(), "trainer".to_owned())].into();
        let resources = (0..MOST_RESOURCES + 3).map(|i| format!("i-{i:03}").as_str().into());
        let lines = listed(&resources.collect(), &plan);
        assert_eq!(lines[..2], ["i-000", "trainer (i-001)"]);
        assert_eq!(lines.len(), MOST_RESOURCES + 1);
        assert_eq!(lines.last().unwrap(), "and 3 more (--json has all)");
    }
}
