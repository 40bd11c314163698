//! What was bought: services that are sold for one kind of work.

use lowwater_model::facts::{Facts, Resource};
use lowwater_model::workload::Class;

use super::{Clue, against};

use Class::{BatchInference, Ci, Development, Experiment, FineTuning, RealtimeInference, Training};

/// Part of a service's name, part of what is used of it (any of them), and what that says. The first that fits counts.
type Product = (&'static str, &'static [&'static str], &'static [(Class, f64)]);

const PRODUCTS: &[Product] = &[
    ("sagemaker", &["transform"], &[(BatchInference, 4.0)]),
    ("sagemaker", &["host", "endpoint", "async"], &[(RealtimeInference, 4.0)]),
    ("sagemaker", &["notebook", "studio", "jupyter"], &[(Development, 4.0)]),
    ("sagemaker", &["train"], &[(Training, 3.5), (FineTuning, 1.5)]),
    ("sagemaker", &["processing"], &[(BatchInference, 2.0), (Experiment, 1.0)]),
    ("vertex", &["batch prediction"], &[(BatchInference, 4.0)]),
    ("vertex", &["online", "prediction", "endpoint"], &[(RealtimeInference, 4.0)]),
    ("vertex", &["workbench", "notebook", "colab"], &[(Development, 4.0)]),
    ("vertex", &["training", "custom job"], &[(Training, 3.5), (FineTuning, 1.5)]),
    ("machine learning", &["batch endpoint"], &[(BatchInference, 4.0)]),
    ("machine learning", &["online endpoint", "managed endpoint"], &[(RealtimeInference, 4.0)]),
    ("machine learning", &["compute instance"], &[(Development, 4.0)]),
    ("machine learning", &["compute cluster"], &[(Training, 2.0), (Experiment, 1.5), (FineTuning, 1.0)]),
    ("aws batch", &[""], &[(BatchInference, 1.5), (Training, 1.0)]),
    ("codebuild", &[""], &[(Ci, 4.0)]),
    ("cloud build", &[""], &[(Ci, 4.0)]),
];

pub(super) fn clues(_: &Facts, resource: &Resource) -> Vec<Clue> {
    let clues = &resource.clues;
    let Some(sold_as) = &clues.service else {
        return Vec::new();
    };
    let uses = clues.usage_types.iter().chain(&clues.resource_type).chain(&clues.service_category);
    let uses: Vec<&String> = uses.chain([sold_as]).collect();
    let name = sold_as.to_lowercase();
    let fits = |(part, words, _): &&Product| {
        name.contains(part) && words.iter().any(|word| uses.iter().any(|text| text.to_lowercase().contains(word)))
    };
    let found = PRODUCTS.iter().find(fits);
    let says = |(_, words, _): &Product| {
        let used = uses.iter().find(|text| words.iter().any(|word| text.to_lowercase().contains(word)));
        format!("it is billed as {sold_as}, `{}`", used.map_or(sold_as.as_str(), |text| text.as_str()))
    };
    let product = found.map(|product| Clue::new(says(product), product.2));
    product.into_iter().chain(traffic(resource)).collect()
}

/// Whoever counts requests or has a load balancer answers somebody.
fn traffic(resource: &Resource) -> Option<Clue> {
    let weights = [(RealtimeInference, 3.0), (Training, -2.0), (FineTuning, -2.0), (Development, -1.0), (Ci, -2.0)];
    against::is_answering(resource).then(|| Clue::new("it answers requests", &weights))
}
