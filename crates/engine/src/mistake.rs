//! Common mistakes with GPUs, each a file: what they cost in the replayed period, where, why, and what to do.
//!
//! A mistake is found in the facts and the plan alone. It changes nothing; where a lever can mend it, the hint says so.

use std::collections::BTreeMap;

use lowwater_model::charge::PricingCategory;
use lowwater_model::facts::{Facts, LineKind, Resource};
use lowwater_model::money::Money;
use lowwater_model::period::{Period, Spans};
use lowwater_model::plan::Plan;
use lowwater_model::policy::Policy;
use lowwater_model::workload::{Class, Role};
use serde::Serialize;

/// What a kind of mistake looks at.
pub struct Scene<'a> {
    /// What was billed and used.
    pub facts: &'a Facts,
    /// The owner's limits.
    pub policy: &'a Policy,
    /// The plan for these facts.
    pub plan: &'a Plan,
}

/// A mistake that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mistake {
    /// Stable word.
    pub id: &'static str,
    /// Money that it concerns in the replayed period; null = unknown.
    pub cost: Option<Money>,
    /// Workload, resources, scope.
    #[serde(rename = "where")]
    pub place: String,
    /// What is wrong, with numbers.
    pub why: String,
    /// What to do.
    pub hint: String,
}

/// A kind of mistake, as plain data.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Stable word.
    pub id: &'static str,
    /// One line.
    pub title: &'static str,
    /// What counts as one, and how its cost is counted.
    pub doc: &'static str,
    /// Looks for it.
    pub find: fn(&Scene<'_>) -> Vec<Mistake>,
}

macro_rules! mistakes {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*

        /// Every kind of mistake.
        pub const KINDS: &[Kind] = &[$($module::KIND),*];
    };
}

mistakes! {
    serving_on_spot,
    training_on_demand,
    spot_without_checkpoints,
    egress_eats_spot,
    running_idle,
    development_always_on,
    whole_gpu,
    inference_without_step,
    commitment_below_break_even,
    stale_prices,
}

/// Every mistake in these facts, the most expensive first.
pub fn mistakes(facts: &Facts, policy: &Policy, plan: &Plan) -> Vec<Mistake> {
    let scene = Scene { facts, policy, plan };
    let mut all: Vec<Mistake> = KINDS.iter().flat_map(|kind| (kind.find)(&scene)).collect();
    all.sort_by(|a, b| {
        b.cost
            .cmp(&a.cost)
            .then_with(|| (a.id, &a.place).cmp(&(b.id, &b.place)))
    });
    all
}

/// Resources that people name together: those of one workload, else each by itself.
fn fleets<'a>(resources: impl Iterator<Item = &'a Resource>) -> BTreeMap<String, Vec<&'a Resource>> {
    let mut out: BTreeMap<String, Vec<&Resource>> = BTreeMap::new();
    for resource in resources {
        let name = match &resource.owner.workload {
            Some(workload) => workload.to_string(),
            None => resource.name.clone().unwrap_or_else(|| resource.id.to_string()),
        };
        out.entry(name).or_default().push(resource);
    }
    out
}

/// `chat (3 resources)`.
fn place(name: &str, resources: &[&Resource]) -> String {
    match resources {
        [one] if one.id.as_str() == name => name.to_owned(),
        [one] => format!("{name} ({})", one.id),
        many => format!("{name} ({} resources)", many.len()),
    }
}

/// Compute cost on some terms in the period.
fn compute(resource: &Resource, period: Period, terms: fn(PricingCategory) -> bool) -> Money {
    let hours = period.hour_range();
    let lines = resource
        .lines
        .iter()
        .filter(|l| l.kind == LineKind::Compute && terms(l.pricing));
    let runs = lines.flat_map(|line| &line.runs);
    runs.map(|run| {
        let (start, end) = (run.start.0.max(hours.start), run.end().0.min(hours.end));
        run.cost.times((end - start).max(0))
    })
    .sum()
}

fn is_spot(pricing: PricingCategory) -> bool {
    pricing == PricingCategory::Dynamic
}

/// Compute cost on some terms of many resources.
fn cost(resources: &[&Resource], period: Period, terms: fn(PricingCategory) -> bool) -> Money {
    resources.iter().map(|r| compute(r, period, terms)).sum()
}

fn is_class(resource: &Resource, classes: &[Class]) -> bool {
    classes.contains(&resource.owner.class) && resource.owner.role != Role::Standby
}

/// Hours that are billed and observed in the period: idle ones, and all.
fn observed(resource: &Resource, period: Period) -> (u32, u32) {
    let hours = period.hour_range();
    let billed: Spans = crate::replay::billed(resource, period);
    let seen = resource.usage.iter().filter(|(hour, _)| {
        hours.contains(&hour.0) && billed.overlap(hour.start_second(), hour.start_second() + 1) > 0
    });
    seen.fold((0, 0), |(idle, all), (_, usage)| {
        (idle + u32::from(usage.idle), all + 1)
    })
}

#[cfg(test)]
mod tests;
