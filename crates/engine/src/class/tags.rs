//! Tags and labels that are no declaration: what people call the work, and what tools write.

use lowwater_model::facts::{Facts, Resource};
use lowwater_model::workload::Class;

use super::{Clue, words};

use Class::{BatchInference, Ci, Development, Experiment, FineTuning, RealtimeInference, Training};

/// Keys whose values name the work, whole or as the last part of a longer key: `app.kubernetes.io/name`, `label_app`.
const PURPOSE_KEYS: &[&str] = &[
    "workload",
    "workload-class",
    "workload-type",
    "workload_type",
    "class",
    "purpose",
    "usage",
    "use",
    "usecase",
    "use-case",
    "function",
    "kind",
    "type",
    "role",
    "task",
    "activity",
    "app",
    "application",
    "component",
    "service",
    "stack",
    "job",
    "job-name",
    "part-of",
    "k8s-app",
    "label_app",
    "deployment",
    "nodegroup",
    "nodepool",
];

/// Keys that a tool writes on its own work, with what their presence says.
const TOOL_KEYS: &[(&str, &[(Class, f64)])] = &[
    ("mlflow", &[(Experiment, 2.0), (Training, 1.5), (FineTuning, 1.0)]),
    ("wandb", &[(Experiment, 2.0), (Training, 1.5), (FineTuning, 1.0)]),
    ("training.kubeflow.org", &[(Training, 3.0), (FineTuning, 1.5)]),
    ("sagemaker:training-job", &[(Training, 3.5), (FineTuning, 1.5)]),
    ("sagemaker:endpoint", &[(RealtimeInference, 3.5)]),
    ("sagemaker:transform-job", &[(BatchInference, 3.5)]),
    ("sagemaker:domain", &[(Development, 3.0)]),
    ("sagemaker:notebook", &[(Development, 3.5)]),
    ("serving.kserve.io", &[(RealtimeInference, 3.5)]),
    ("serving.knative.dev", &[(RealtimeInference, 3.0)]),
    ("hub.jupyter.org", &[(Development, 3.5)]),
    ("notebook-name", &[(Development, 3.5)]),
    ("actions.github.com", &[(Ci, 3.5)]),
    ("gitlab-runner", &[(Ci, 3.5)]),
    ("buildkite.com", &[(Ci, 3.5)]),
];

/// A tag says more than a name: somebody wrote it to say something.
const OF_A_TAG: f64 = 1.15;

pub(super) fn clues(_: &Facts, resource: &Resource) -> Vec<Clue> {
    let mut found = Vec::new();
    for (key, value) in &resource.clues.tags {
        let tool = TOOL_KEYS.iter().find(|(tool, _)| key.contains(tool));
        if let Some((_, weights)) = tool {
            found.push(Clue::new(format!("a tool wrote the tag `{key}`"), weights));
        } else if is_purpose(key) {
            let spoken = words::spoken(value).into_iter();
            found.extend(spoken.map(|(_, weights)| {
                let weights: Vec<_> = weights.iter().map(|(class, weight)| (*class, OF_A_TAG * weight)).collect();
                Clue::new(format!("tag `{key}` is `{}`", value.trim()), &weights)
            }));
        }
    }
    found
}

/// Does the key, or its last part, name the work?
fn is_purpose(key: &str) -> bool {
    let last = key.rsplit(['/', ':', '.']).next().unwrap_or(key);
    PURPOSE_KEYS.contains(&key) || (last != key && (PURPOSE_KEYS.contains(&last) || last == "name"))
}

/// Values of purpose tags: what a job that ran here may be called.
pub(super) fn purposes(resource: &Resource) -> impl Iterator<Item = &str> {
    let tags = resource.clues.tags.iter().filter(|(key, _)| is_purpose(key));
    tags.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}
