//! What forbids acting on a guess, whatever its confidence, and what makes a resource look like a standby.

use lowwater_model::clue::Clues;
use lowwater_model::facts::{Facts, Resource};
use lowwater_model::workload::{Class, Role};

use super::{shape, words};

const PRODUCTION: &[&str] = &["prod", "production", "prd", "live", "customer", "customers"];
const BALANCED: &[&str] = &[
    "ingress",
    "loadbalancer",
    "lb",
    "alb",
    "elb",
    "nlb",
    "elbv",
    "targetgroup",
    "gateway",
    "apigateway",
    "haproxy",
    "envoy",
];
const WAITING: &[&str] = &[
    "standby",
    "hotspare",
    "spare",
    "failover",
    "fallback",
    "passive",
    "secondary",
    "warm",
    "dr",
    "disasterrecovery",
    "backup",
];
/// Parts of names of metrics that count what was served, where they come as labels.
const COUNTED: &[&str] = &["requests_total", "request_success", "http_requests", "tokens_total"];

/// The first of these words in a tag, name or namespace, with where it stands.
fn place(resource: &Resource, wanted: &[&str]) -> Option<String> {
    let holds = |text: &str| words::tokens(text).iter().any(|token| wanted.contains(&token.as_str()));
    let environment = resource
        .owner
        .environment
        .iter()
        .map(|text| ("environment".to_owned(), text));
    let name = resource.name.iter().map(|text| ("name".to_owned(), text));
    let namespaces = resource
        .clues
        .namespaces
        .iter()
        .map(|text| ("namespace".to_owned(), text));
    let found = environment.chain(name).chain(namespaces).find(|(_, text)| holds(text));
    let of_text = found.map(|(what, text)| format!("its {what} is `{text}`"));
    of_text.or_else(|| {
        let mut tags = resource.clues.tags.iter();
        let tag = tags.find(|(key, value)| holds(key) || holds(value));
        tag.map(|(key, value)| format!("tag `{key}` is `{value}`"))
    })
}

/// Are requests counted for it, or sent to it?
pub(super) fn is_answering(resource: &Resource) -> bool {
    let Clues {
        request_metrics,
        traffic_from,
        tags,
        ..
    } = &resource.clues;
    let counted = |key: &String| COUNTED.iter().any(|part| key.contains(part));
    !request_metrics.is_empty() || !traffic_from.is_empty() || tags.keys().any(counted)
}

/// Every reason not to act on a guess.
pub(super) fn found(resource: &Resource) -> Vec<String> {
    let clues = &resource.clues;
    let metric = clues.request_metrics.first();
    let sender = clues.traffic_from.first();
    let counted = clues
        .tags
        .keys()
        .find(|key| COUNTED.iter().any(|part| key.contains(part)));
    let latency = resource.owner.latency_p99.is_some();
    [
        place(resource, PRODUCTION).map(|at| format!("it looks like production: {at}")),
        place(resource, BALANCED).map(|at| format!("it looks load-balanced: {at}")),
        sender.map(|sender| format!("`{sender}` sends traffic to it")),
        metric
            .or(counted)
            .map(|name| format!("requests are counted for it: `{name}`")),
        latency.then(|| "a latency is promised for it".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// `standby` where its words say so, or where it never works and looks like serving. One that works is no standby, but
/// its words still forbid acting on a guess.
pub(super) fn role(facts: &Facts, resource: &Resource, class: Class, against: &mut Vec<String>) -> Role {
    let worded = place(resource, WAITING);
    let is_flat = shape::is_flat(facts, resource);
    let is_serving = class == Class::RealtimeInference;
    if let Some(at) = &worded {
        against.push(format!("it may wait on purpose: {at}"));
    }
    if is_flat && (worded.is_some() || is_serving) {
        if worded.is_none() {
            against.push("it may wait on purpose: it serves, and never works".to_owned());
        }
        return Role::Standby;
    }
    Role::Primary
}
