//! `/plan`: from today's bill to the planned one, step by step; `/plan?step=ID`: one step with all that is known of it.

use askama::Template;
use lowwater_model::money::Estimate;
use lowwater_model::plan::{Phase, Plan, Step};
use lowwater_store::state::{Approval, Role};
use serde::Serialize;

use super::{PageMeta, Topic, lever};
use crate::amount::{self, echoed};
use crate::error::AppError;
use crate::output::View as _;
use crate::view::next::Next;
use crate::view::plan::{Extent, PlanView, phase_words};
use crate::view::step::StepView;
use crate::web::approve;
use crate::web::asked::Asked;
use crate::web::chart::{Stage, waterfall};
use crate::web::frame::{Page, Part};
use crate::web::grid::Grid;
use crate::web::live::Shown;

/// The page.
pub struct PlanPage;

/// What is shown: exactly the file plan.json.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Planned {
    /// The plan of what is loaded now.
    pub plan: Plan,
    /// Approvals that hold.
    #[serde(skip)]
    approvals: Vec<Approval>,
    /// Why the step that was asked for can't be approved.
    #[serde(skip)]
    against: Option<String>,
    #[serde(skip)]
    token: String,
}

/// The form under a step's sentence.
#[derive(Template)]
#[template(path = "decide.html")]
struct Decide<'a> {
    token: &'a str,
    plan: &'a str,
    step: &'a str,
    approval: Option<&'a Approval>,
    at: String,
    until: String,
    against: Option<&'a str>,
}

impl Topic for PlanPage {
    type View = Planned;

    const META: PageMeta = PageMeta {
        path: "/plan",
        name: "Plan",
        api: "plan",
        icon: "M2 3h7v3H2zM5 7h6v3H5zM8 11h6v3H8z",
        divisible: false,
    };

    fn view(shown: &Shown, asked: &Asked) -> Result<Planned, AppError> {
        let (facts, plan) = (shown.facts()?, shown.plan()?.clone());
        if let Some(id) = asked.get("step").filter(|id| index_of(&plan, id).is_none()) {
            return Err(AppError::Usage(format!(
                "the plan has no step {} any more\nhint: it was made anew from newer data; look at the whole plan",
                echoed(id)
            )));
        }
        let step = asked.get("step").and_then(|id| plan.steps.iter().find(|step| step.id.as_str() == id));
        Ok(Planned {
            against: step.and_then(|step| approve::stands_against(facts, step)).or_else(|| {
                let may = asked.asker.may(Role::Approver);
                (!may).then(|| format!("{} may look, and not decide", asked.asker.person.name))
            }),
            approvals: shown.approvals()?,
            token: asked.asker.token.clone(),
            plan,
        })
    }

    fn page(view: &Planned, asked: &Asked) -> Page {
        let plan = &view.plan;
        match asked.get("step").and_then(|id| index_of(plan, id)) {
            Some(index) => step(view, index),
            None => whole(view, asked),
        }
    }
}

fn index_of(plan: &Plan, id: &str) -> Option<usize> {
    plan.steps.iter().position(|step| step.id.as_str() == id)
}

fn whole(planned: &Planned, asked: &Asked) -> Page {
    let plan = &planned.plan;
    let view = PlanView {
        plan,
        written: None,
        stale: None,
        extent: Extent::Whole,
        next: Next::default(),
    };
    let mut page = Page::new(view.headline()).figures(view.figures().into_iter().take(5).collect());
    if !plan.steps.is_empty() {
        let title = format!("From the bill to the plan, {}", amount::period(&plan.period));
        page = page.part(Part::Chart(waterfall(&title, &stages(plan), plan.currency.as_str(), "var(--good)")));
    }
    for phase in Phase::ALL.iter().copied() {
        page = page.grid(&phase_words(phase), steps(planned, phase, asked));
    }
    page.screen(view.beyond_steps())
}

fn stages(plan: &Plan) -> Vec<Stage> {
    let whole = |name: &str, amount: Estimate| Stage {
        name: name.to_owned(),
        amount: amount.amount(),
        whole: true,
        text: amount::short(amount),
        short: name.to_owned(),
    };
    let step = |(index, step): (usize, &Step)| Stage {
        name: format!("{}. {}", index + 1, step.title),
        short: (index + 1).to_string(),
        amount: -step.share.amount(),
        whole: false,
        text: amount::short(Estimate::new(-step.share.amount())),
    };
    let steps = plan.steps.iter().enumerate().map(step);
    std::iter::once(whole("bill", plan.bill.total)).chain(steps).chain([whole("plan", plan.planned.total)]).collect()
}

fn steps(planned: &Planned, phase: Phase, asked: &Asked) -> Grid {
    let steps = planned.plan.steps.iter().enumerate();
    let of_phase = steps.filter(|(_, step)| step.phase == phase).map(|(index, _)| index);
    lever::grid(&planned.plan, of_phase, &planned.approvals, asked).file(phase.as_str())
}

fn step(planned: &Planned, index: usize) -> Page {
    let plan = &planned.plan;
    let view = StepView {
        plan,
        index,
        stale: None,
        next: Next::default(),
    };
    let mut page = Page::of_screen(view.screen());
    let id = plan.steps[index].id.as_str();
    let approval = planned.approvals.iter().find(|approval| approval.step == id);
    let decide = Decide {
        token: &planned.token,
        plan: plan.id.as_str(),
        step: id,
        approval,
        at: approval.map(|a| amount::instant(a.at)).unwrap_or_default(),
        until: approval.map(|a| amount::instant(a.until)).unwrap_or_default(),
        against: planned.against.as_deref(),
    };
    // A template of ours into a text does not fail; without the form the page still says what the step is.
    page.parts.insert(0, Part::Html(decide.render().unwrap_or_default()));
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    #[test]
    fn the_waterfall_ends_where_the_plan_does() {
        let plan = sample::plan();
        let stages = stages(&plan);
        assert_eq!(stages.len(), plan.steps.len() + 2);
        let mut level = stages[0].amount;
        level += stages[1..stages.len() - 1].iter().map(|stage| stage.amount).sum::<f64>();
        let shares: f64 = plan.steps.iter().map(|step| step.share.amount()).sum();
        assert!((level - (plan.bill.total.amount() - shares)).abs() < 1e-6);
    }
}
