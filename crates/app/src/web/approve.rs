//! Approving a step and taking that back: only from a page of this server, only what the plan of now holds.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Form, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use jiff::{SignedDuration, Timestamp};
use lowwater_model::facts::Facts;
use lowwater_model::plan::{Plan, Step};
use lowwater_store::state::{self, Approval, Role};
use serde::Deserialize;

use super::answer;
use super::asked::{Asked, encoded};
use super::asker::Asker;
use super::guard::is_ours;
use super::live::{Live, Shown};
use crate::amount::range;
use crate::error::AppError;
use crate::view::plan::needs_words;

/// How long an approval may hold, in days.
pub const DAYS: [i64; 3] = [7, 30, 90];

/// What the forms of a step's page send.
#[derive(Debug, Deserialize)]
struct Decision {
    token: String,
    step: String,
    #[serde(default)]
    plan: String,
    #[serde(default)]
    days: i64,
}

/// Routes that change something.
pub fn routes() -> Router<Arc<Live>> {
    Router::new()
        .route("/plan/approve", post(approve))
        .route("/plan/withdraw", post(withdraw))
        .route("/api/v1/approvals", get(approvals))
}

async fn approvals(State(live): State<Arc<Live>>, Extension(asker): Extension<Asker>) -> Response {
    let seen = answer::whole(&asker, "approvals");
    answer::json(answer::work(live, move |shown| seen.and_then(|()| shown.approvals())).await)
}

async fn approve(
    State(live): State<Arc<Live>>,
    Extension(asker): Extension<Asker>,
    headers: HeaderMap,
    Form(decision): Form<Decision>,
) -> Response {
    decide(live, (asker, headers), decision, |shown, who, decision| {
        let approval = wanted(shown.facts()?, shown.plan()?, decision, (who, Timestamp::now()))?;
        Ok(state::State::open(&shown.data)?.approve(&approval)?)
    })
    .await
}

async fn withdraw(
    State(live): State<Arc<Live>>,
    Extension(asker): Extension<Asker>,
    headers: HeaderMap,
    Form(decision): Form<Decision>,
) -> Response {
    decide(live, (asker, headers), decision, |shown, who, decision| {
        let done = state::State::there(&shown.data)?
            .map(|state| state.withdraw(&decision.step, who, Timestamp::now()))
            .transpose()?;
        match done {
            Some(true) => Ok(()),
            _ => Err(AppError::Refused(
                "this step is not approved\nhint: look at the step again".into(),
            )),
        }
    })
    .await
}

/// Checks where a decision comes from, takes it, and leads back to the step.
async fn decide(
    live: Arc<Live>,
    (asker, headers): (Asker, HeaderMap),
    decision: Decision,
    work: fn(&Shown, &str, &Decision) -> Result<(), AppError>,
) -> Response {
    let asked = Asked::new("/plan", Vec::new()).asked_by(asker.clone());
    if !asker.may(Role::Approver) || !asker.sees_everything() {
        let error = AppError::Denied(format!(
            "{} may look, and not decide\nhint: ask somebody who may approve; `lowwater user list` says who",
            asker.person.name
        ));
        return answer::page("Plan", &asked, Err(error));
    }
    if !is_ours(&headers) || decision.token != asker.token {
        let error = AppError::Refused(
            "this was not sent by a page of this server\nhint: load the page again, and decide there".into(),
        );
        return answer::page("Plan", &asked, Err(error));
    }
    let back = format!("/plan?step={}", encoded(&decision.step));
    match answer::work(live, move |shown| work(shown, &asker.person.name, &decision)).await {
        Ok(()) => Redirect::to(&back).into_response(),
        Err(error) => answer::page("Plan", &asked, Err(error)),
    }
}

/// The approval that is asked for, or why it can't be given.
fn wanted(facts: &Facts, plan: &Plan, decision: &Decision, (who, at): (&str, Timestamp)) -> Result<Approval, AppError> {
    let refused = |what: &str, hint: &str| AppError::Refused(format!("{what}\nhint: {hint}"));
    if plan.id.as_str() != decision.plan {
        return Err(refused(
            "the plan was made anew since you saw it, from newer data or other settings",
            "look at the step again: its numbers may be others",
        ));
    }
    let Some(step) = plan.steps.iter().find(|step| step.id.as_str() == decision.step) else {
        return Err(refused("the plan has no such step", "look at the whole plan"));
    };
    if !DAYS.contains(&decision.days) {
        return Err(AppError::Usage(
            "an approval holds 7, 30 or 90 days\nhint: choose one of them".into(),
        ));
    }
    if let Some(why) = stands_against(facts, step) {
        return Err(refused(
            &why,
            "an approval of what can't be done yet, or rests on a part of the bill, would mislead",
        ));
    }
    Ok(Approval {
        step: decision.step.clone(),
        plan: decision.plan.clone(),
        title: step.title.clone(),
        per_month: format!("{} {}", range(&step.per_month.cash), plan.currency),
        who: who.to_owned(),
        at,
        until: at + SignedDuration::from_hours(24 * decision.days),
    })
}

/// Why a step can't be approved now; none where it can.
pub fn stands_against(facts: &Facts, step: &Step) -> Option<String> {
    let quality = &facts.quality;
    if step.is_blocked() {
        return Some(format!("it waits for {}", needs_words(step)));
    }
    (quality.days_with_charges < quality.days).then(|| {
        format!(
            "the bill is not whole: {} of {} days have charges",
            quality.days_with_charges, quality.days
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    #[test]
    fn what_is_approved_is_what_the_plan_of_now_holds() {
        let (facts, plan) = (sample::facts(), sample::plan());
        let step = plan.steps.iter().find(|step| !step.is_blocked()).unwrap();
        let at: Timestamp = "2026-11-01T00:00:00Z".parse().unwrap();
        let ask = |plan_id: &str, step: &str, days: i64| {
            let decision = Decision {
                token: String::new(),
                step: step.into(),
                plan: plan_id.into(),
                days,
            };
            wanted(&facts, &plan, &decision, ("ann", at)).map_err(|e| e.message().unwrap_or_default())
        };
        let given = ask(plan.id.as_str(), step.id.as_str(), 30).unwrap();
        assert_eq!(
            (given.who.as_str(), given.until.to_string().as_str()),
            ("ann", "2026-12-01T00:00:00Z")
        );
        assert!(
            ask("older", step.id.as_str(), 30)
                .unwrap_err()
                .contains("was made anew")
        );
        assert!(
            ask(plan.id.as_str(), "nothing", 30)
                .unwrap_err()
                .contains("no such step")
        );
        assert!(
            ask(plan.id.as_str(), step.id.as_str(), 365)
                .unwrap_err()
                .contains("7, 30 or 90")
        );
        let mut part = facts.clone();
        part.quality.days_with_charges = part.quality.days - 1;
        assert!(stands_against(&part, step).unwrap().contains("the bill is not whole"));
        let mut blocked = step.clone();
        blocked.needs = vec![lowwater_model::change::Condition {
            id: "disk_saved".into(),
            text: "save it".into(),
            met: false,
        }];
        assert_eq!(stands_against(&facts, &blocked).unwrap(), "it waits for disk saved");
    }
}
