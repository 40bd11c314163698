//! `/metrics`: what other tools watch, in the text form of Prometheus. Names are those of OpenCost where it has them.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use lowwater_model::facts::{Facts, LineKind, Resource};
use lowwater_model::plan::Plan;

use super::answer;
use super::asker::Asker;
use super::live::{Live, Shown};
use crate::error::AppError;
use crate::view::hours::Hours;

/// Routes for machines that watch this one.
pub fn routes() -> Router<Arc<Live>> {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
}

async fn ready(State(live): State<Arc<Live>>) -> Response {
    match answer::work(live, |_| Ok(())).await {
        Ok(()) => "ready\n".into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, error.message().unwrap_or_default()).into_response(),
    }
}

async fn metrics(State(live): State<Arc<Live>>, Extension(asker): Extension<Asker>) -> Response {
    let seen = answer::whole(&asker, "metrics");
    match answer::work(live, move |shown: &Shown| {
        seen?;
        Ok::<_, AppError>(text(shown.facts()?, shown.plan()?))
    })
    .await
    {
        Ok(text) => ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response(),
        Err(AppError::Denied(why)) => (StatusCode::FORBIDDEN, why).into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, error.message().unwrap_or_default()).into_response(),
    }
}

/// A family of samples in the making.
struct Family<'a> {
    out: &'a mut String,
    name: &'static str,
}

impl<'a> Family<'a> {
    fn new(out: &'a mut String, name: &'static str, help: &str) -> Self {
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge");
        Self { out, name }
    }

    fn sample(&mut self, labels: &[(&str, &str)], value: f64) {
        let words: Vec<String> = labels
            .iter()
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        let labels = if words.is_empty() {
            String::new()
        } else {
            format!("{{{}}}", words.join(","))
        };
        let _ = writeln!(self.out, "{}{labels} {}", self.name, crate::amount::six_digits(value));
    }
}

/// As the text form wants the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// What an hour of the machine cost when it ran last in the replayed days; none where it did not.
fn hourly(resource: &Resource, facts: &Facts) -> Option<f64> {
    let begin = facts.period.hour_range().start;
    let compute = resource.lines.iter().filter(|line| line.kind == LineKind::Compute);
    let runs = compute
        .flat_map(|line| &line.runs)
        .filter(|run| run.end().0 > begin && run.seconds > 0);
    let last = runs.max_by_key(|run| run.end())?;
    Some(last.cost.estimate().amount() * 3600.0 / f64::from(last.seconds))
}

fn text(facts: &Facts, plan: &Plan) -> String {
    let mut out = String::new();
    let running: Vec<(&Resource, f64)> = facts
        .resources
        .iter()
        .filter_map(|r| Some((r, hourly(r, facts)?)))
        .collect();
    let labels = |r: &Resource| -> Vec<(&'static str, String)> {
        vec![
            ("node", r.name.clone().unwrap_or_else(|| r.id.to_string())),
            ("provider_id", r.id.to_string()),
            (
                "instance_type",
                r.sku.value().map(ToString::to_string).unwrap_or_default(),
            ),
            ("region", r.region.to_string()),
        ]
    };
    let mut each = |name: &'static str, help: &str, value: fn(&Resource, f64) -> Option<f64>| {
        let mut family = Family::new(&mut out, name, help);
        for (resource, rate) in &running {
            if let Some(value) = value(resource, *rate) {
                let labels = labels(resource);
                let labels: Vec<(&str, &str)> = labels.iter().map(|(name, value)| (*name, value.as_str())).collect();
                family.sample(&labels, value);
            }
        }
    };
    each(
        "node_total_hourly_cost",
        "What an hour of the machine costs, as it was billed last.",
        |_, rate| Some(rate),
    );
    each(
        "node_gpu_hourly_cost",
        "The same for one of its GPUs: the whole machine is counted to them.",
        |r, rate| (r.gpus > 0.0).then(|| rate / r.gpus),
    );
    each("node_gpu_count", "GPUs of the machine.", |r, _| {
        (r.gpus > 0.0).then_some(r.gpus)
    });
    whole(&mut out, facts, plan);
    out
}

/// Figures of the whole organisation.
fn whole(out: &mut String, facts: &Facts, plan: &Plan) {
    let currency = facts.currency.as_str();
    let hours: Hours = facts.resources.iter().map(|r| Hours::of(r, &facts.period)).sum();
    let mut states = Family::new(
        out,
        "lowwater_gpu_hours",
        "GPU-hours of the replayed days by what they did.",
    );
    for (state, value) in [
        ("busy", hours.busy),
        ("held", hours.held),
        ("idle", hours.idle),
        ("unknown", hours.unknown),
    ] {
        states.sample(&[("state", state)], value);
    }
    let mut one = |name: &'static str, help: &str, value: f64| {
        Family::new(out, name, help).sample(&[("currency", currency)], value);
    };
    one(
        "lowwater_gpu_cost",
        "Cost of GPU machines in the replayed days.",
        hours.cost.estimate().amount(),
    );
    one(
        "lowwater_idle_cost",
        "Compute cost of the idle and held part of it.",
        hours.idle_cost.estimate().amount(),
    );
    let mut cash = Family::new(
        out,
        "lowwater_plan_cash_per_month",
        "What the plan saves in cash a month.",
    );
    let saved = &plan.per_month.cash;
    for (quantile, value) in [("0.1", saved.p10), ("0.5", saved.p50), ("0.9", saved.p90)] {
        cash.sample(&[("currency", currency), ("quantile", quantile)], value.amount());
    }
    let mut plain = |name: &'static str, help: &str, value: f64| {
        Family::new(out, name, help).sample(&[], value);
    };
    plain("lowwater_plan_steps", "Steps of the plan.", plan.steps.len() as f64);
    plain(
        "lowwater_replayed_days",
        "Days that a plan replays.",
        facts.period.hours() / 24.0,
    );
    plain(
        "lowwater_bill_end_timestamp_seconds",
        "Until when the bill is there.",
        facts.as_of.as_second() as f64,
    );
    if let Some(share) = facts.quality.join_share() {
        plain(
            "lowwater_joined_cost_share",
            "Share of GPU cost on machines with joined metrics.",
            share,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;

    #[test]
    fn names_of_machines_are_text_and_every_family_says_what_it_is() {
        let mut facts = sample::facts();
        facts.resources[0].name = Some("evil\"} 1\nnode{x=\"\\".into());
        let text = text(&facts, &sample::plan());
        assert!(text.contains(r#"node="evil\"} 1\nnode{x=\"\\""#), "{text}");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().is_ok(), "{line}");
            let family = name.split('{').next().unwrap();
            assert!(text.contains(&format!("# TYPE {family} gauge")), "{family}");
        }
        let gpu = text
            .lines()
            .find(|line| line.starts_with("node_gpu_hourly_cost{"))
            .unwrap();
        let node = text
            .lines()
            .find(|line| line.starts_with("node_total_hourly_cost{"))
            .unwrap();
        let value = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap();
        assert!(
            (value(gpu) * facts.resources[0].gpus - value(node)).abs() < 1e-5,
            "{gpu} {node}"
        );
    }

    #[test]
    fn the_grafana_dashboard_asks_for_what_there_is() {
        let dashboard: serde_json::Value =
            serde_json::from_str(include_str!("../../../../docs/grafana/lowwater.json")).unwrap();
        let text = text(&sample::facts(), &sample::plan());
        let known: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
            .collect();
        let panels = dashboard["panels"].as_array().unwrap();
        let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
        let asked: Vec<&str> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
        assert!(asked.len() >= 8, "{asked:?}");
        for question in asked {
            assert!(
                known.iter().any(|name| question.contains(name)),
                "{question} asks for none of {known:?}"
            );
        }
    }
}
