//! The GPUs: what there is, where, on which terms, and what of the paid hours was of use.

use std::collections::BTreeMap;

use lowwater_model::charge::PricingCategory;
use lowwater_model::facts::{Facts, LineKind, Resource};
use lowwater_model::money::Money;
use lowwater_model::period::Period;
use lowwater_model::workload::Class;
use serde::Serialize;

use super::hours::{Hours, p95_activity};
use super::resource::line_hours;
use crate::amount::{self, UNKNOWN, cents, quantity, share, share_of, share_or_unknown};
use crate::screen::{Figure, figure};

/// All GPUs in a period.
#[derive(Debug, Serialize)]
pub struct FleetView {
    /// The whole days, in UTC.
    pub period: Period,
    /// Of all money.
    pub currency: String,
    /// By type, cloud, region and instance type, the most expensive first.
    pub rows: Vec<FleetRow>,
    /// All of them.
    pub all: Hours,
    /// GPU-hours by FOCUS PricingCategory.
    pub by_terms: BTreeMap<String, f64>,
    /// Cost of machines of class development.
    pub development: Money,
}

/// Machines of one type in one place.
#[derive(Debug, Serialize)]
pub struct FleetRow {
    /// Accelerator; `unknown` where no table knows it.
    pub accelerator: String,
    /// Cloud id.
    pub provider: String,
    /// Region.
    pub region: String,
    /// Instance type.
    pub sku: String,
    /// Machines that were billed.
    pub machines: usize,
    /// Their GPU-hours and cost.
    pub hours: Hours,
    /// See [`p95_activity`].
    pub p95_activity: Option<f64>,
}

impl FleetView {
    /// Of facts, in the part of a period that their history holds.
    pub fn new(facts: &Facts, asked: Period) -> Self {
        let period = Period {
            start: asked.start.max(facts.history.start),
            end: asked
                .end
                .min(facts.history.end)
                .max(asked.start.max(facts.history.start)),
        };
        let mut groups: BTreeMap<[String; 4], Vec<&Resource>> = BTreeMap::new();
        let mut by_terms: BTreeMap<String, f64> = BTreeMap::new();
        let mut development = Money::ZERO;
        for resource in &facts.resources {
            let accelerator = resource
                .sku_fact()
                .map_or_else(|| UNKNOWN.to_owned(), |fact| fact.accelerator.to_string());
            let sku = resource
                .sku
                .value()
                .map_or_else(|| UNKNOWN.to_owned(), ToString::to_string);
            let key = [accelerator, resource.cloud.clone(), resource.region.to_string(), sku];
            groups.entry(key).or_default().push(resource);
            for line in resource.lines.iter().filter(|line| line.kind == LineKind::Compute) {
                *by_terms.entry(terms(line.pricing)).or_default() += line_hours(line, &period) * resource.gpus;
            }
            if resource.owner.class == Class::Development {
                development += super::resource::cost(resource, &period);
            }
        }
        let mut rows: Vec<FleetRow> = groups
            .into_iter()
            .map(|([accelerator, provider, region, sku], members)| {
                let of: Vec<Hours> = members.iter().map(|r| Hours::of(r, &period)).collect();
                FleetRow {
                    accelerator,
                    provider,
                    region,
                    sku,
                    machines: of.iter().filter(|one| !one.cost.is_zero() || one.paid > 0.0).count(),
                    hours: of.iter().copied().sum::<Hours>().rounded(),
                    p95_activity: p95_activity(members.iter().copied(), &period),
                }
            })
            .filter(|row| row.machines > 0)
            .collect();
        rows.sort_by(|a, b| {
            b.hours
                .cost
                .cmp(&a.hours.cost)
                .then_with(|| (&a.sku, &a.region).cmp(&(&b.sku, &b.region)))
        });
        for hours in by_terms.values_mut() {
            *hours = amount::six_digits(*hours);
        }
        by_terms.retain(|_, hours| *hours > 0.0);
        Self {
            period,
            currency: facts.currency.to_string(),
            all: rows.iter().map(|row| row.hours).sum::<Hours>().rounded(),
            rows,
            by_terms,
            development,
        }
    }

    /// The one sentence.
    pub fn headline(&self) -> String {
        let of_use = self
            .all
            .share(self.all.useful)
            .map_or_else(|| UNKNOWN.to_owned(), share);
        format!(
            "{} GPU-hours cost {} {} from {}; {of_use} of them were of use.",
            quantity(self.all.paid),
            cents(self.all.cost),
            self.currency,
            amount::period(&self.period)
        )
    }

    /// What stands out.
    pub fn figures(&self) -> Vec<Figure> {
        let all = &self.all;
        let hours = |value: f64| format!("{} GPU-hours", quantity(value));
        let of_paid = |value: f64| format!("{} of the paid", share_or_unknown(all.share(value)));
        vec![
            figure(
                "paid",
                hours(all.paid),
                format!("{} {}", cents(all.cost), self.currency),
            ),
            figure(
                "useful",
                hours(all.useful),
                format!("{}: hours weighed by activity", of_paid(all.useful)),
            ),
            figure("idle", hours(all.idle), of_paid(all.idle)),
            figure(
                "held",
                hours(all.held),
                format!("{}: idle, with more than a tenth of the memory held", of_paid(all.held)),
            ),
            figure(
                "unknown",
                hours(all.unknown),
                format!("{}: no metrics", of_paid(all.unknown)),
            ),
        ]
    }

    /// How much of it is development.
    pub fn development_words(&self) -> String {
        format!(
            "Development is {} of the cost of GPUs: {} {}.",
            share_or_unknown(share_of(self.development, self.all.cost)),
            cents(self.development),
            self.currency
        )
    }
}

fn terms(pricing: PricingCategory) -> String {
    pricing.to_string()
}
