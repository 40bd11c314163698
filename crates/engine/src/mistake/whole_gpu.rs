//! A whole GPU for a model that fits a slice of one.

use super::{Kind, Mistake, Scene, cost, fleets, is_class, place};
use lowwater_model::facts::{Facts, Resource};
use lowwater_model::sku::{AcceleratorFact, find_accelerator};
use lowwater_model::usage::BINS;
use lowwater_model::workload::Class;

/// See the module.
pub(super) const KIND: Kind = Kind {
    id: "whole_gpu",
    title: "a whole GPU on a model that fits a slice",
    doc: "Inference on GPUs that can be divided (MIG), where the most memory ever held and the busiest hour fit a slice of which a GPU has two or more. Cost: its \
          hours.",
    find,
};

/// A kind of slice: its share of the compute and of the memory of a GPU, and how many fit on one.
struct Slice {
    compute: f64,
    memory: f64,
    copies: usize,
}

const fn slice(compute: f64, memory: f64, copies: usize) -> Slice {
    Slice { compute, memory, copies }
}

/// Seven compute and eight memory slices (A100, H100, H200, B200): 1g, 1g with double memory, 2g, 3g, as NVIDIA's MIG guide
/// places them.
const OF_SEVEN: &[Slice] = &[
    slice(1.0 / 7.0, 1.0 / 8.0, 7),
    slice(1.0 / 7.0, 2.0 / 8.0, 4),
    slice(2.0 / 7.0, 2.0 / 8.0, 3),
    slice(3.0 / 7.0, 4.0 / 8.0, 2),
];
/// Four of both (A30, RTX PRO 6000).
const OF_FOUR: &[Slice] = &[slice(1.0 / 4.0, 1.0 / 4.0, 4), slice(2.0 / 4.0, 2.0 / 4.0, 2)];

fn divisible(resource: &Resource) -> Option<&'static AcceleratorFact> {
    let fact = resource.sku_fact()?;
    find_accelerator(fact.accelerator.as_str()).filter(|a| a.mig_slices > 0)
}

/// Highest share of memory held (end of its bin) and highest hourly mean of activity; none where either is unknown.
fn peaks(resource: &Resource, facts: &Facts) -> Option<(f64, f64)> {
    let hours = facts.period.hour_range();
    let seen: Vec<_> = resource.usage.iter().filter(|(hour, _)| hours.contains(&hour.0)).map(|(_, usage)| usage).collect();
    let memory = seen.iter().map(|usage| usage.memory_max_bin).collect::<Option<Vec<u8>>>()?.into_iter().max()?;
    let activity = seen.iter().map(|usage| usage.activity_permille).max()?;
    Some((f64::from(memory + 1) / BINS as f64, f64::from(activity) / 1000.0))
}

/// The smallest slice that held all that was ever seen.
fn smallest(resource: &Resource, facts: &Facts) -> Option<&'static Slice> {
    let (accelerator, (memory, activity)) = divisible(resource).zip(peaks(resource, facts))?;
    let slices = match accelerator.mig_slices {
        7 => OF_SEVEN,
        4 => OF_FOUR,
        _ => return None,
    };
    slices.iter().find(|slice| memory <= slice.memory && activity <= slice.compute)
}

fn find(scene: &Scene<'_>) -> Vec<Mistake> {
    let facts = scene.facts;
    let small = facts.resources.iter().filter(|r| {
        is_class(r, &[Class::RealtimeInference, Class::BatchInference]) && smallest(r, facts).is_some()
    });
    let mut out = Vec::new();
    for (name, resources) in fleets(small) {
        let copies = resources.iter().filter_map(|r| smallest(r, facts)).map(|slice| slice.copies).min().unwrap_or(2);
        out.push(Mistake {
            id: KIND.id,
            cost: Some(cost(&resources, facts.period, |_| true)),
            place: place(&name, &resources),
            why: format!("what it held in memory and its busiest hour fit a slice of which a GPU has {copies}"),
            hint: format!("run {copies} such models on one GPU in MIG slices; replay does not yet say what that saves"),
        });
    }
    out
}
