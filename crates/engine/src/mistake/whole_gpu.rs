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
    doc: "Inference on GPUs that can be divided (MIG), where the most memory ever held fits a seventh-sized slice's memory and mean activity is below one compute \
          slice's share. Cost: its hours.",
    find,
};

/// Slices of memory of a GPU with seven compute slices.
const MEMORY_SLICES: f64 = 8.0;

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

fn fits_slice(resource: &Resource, facts: &Facts) -> bool {
    let Some((accelerator, (memory, activity))) = divisible(resource).zip(peaks(resource, facts)) else {
        return false;
    };
    memory <= 1.0 / MEMORY_SLICES && activity <= 1.0 / f64::from(accelerator.mig_slices)
}

fn find(scene: &Scene<'_>) -> Vec<Mistake> {
    let facts = scene.facts;
    let small = facts.resources.iter().filter(|r| {
        is_class(r, &[Class::RealtimeInference, Class::BatchInference]) && fits_slice(r, facts)
    });
    let mut out = Vec::new();
    for (name, resources) in fleets(small) {
        let slices = resources.iter().find_map(|r| divisible(r)).map_or(7, |a| a.mig_slices);
        out.push(Mistake {
            id: KIND.id,
            cost: Some(cost(&resources, facts.period, |_| true)),
            place: place(&name, &resources),
            why: format!("its model never held more than an eighth of the memory, and never needed more than a {slices}th of the compute, of GPUs that can be divided"),
            hint: "run several such models on one GPU in MIG slices".into(),
        });
    }
    out
}
