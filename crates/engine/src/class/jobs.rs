//! What a scheduler ran on it.

use lowwater_model::facts::{Facts, Resource};
use lowwater_model::job::{ExitState, JobRun};
use lowwater_model::workload::Class;

use super::{Clue, tags, words};

use Class::{BatchInference, Ci, Development, Experiment, FineTuning, RealtimeInference, Training};

/// A run is short below this many hours and long from that many.
const SHORT_HOURS: f64 = 0.5;
const LONG_HOURS: f64 = 12.0;

pub(super) fn clues(facts: &Facts, resource: &Resource) -> Vec<Clue> {
    let runs: Vec<&JobRun> = facts.jobs.iter().filter(|run| is_on(facts, resource, run)).collect();
    if runs.is_empty() {
        return Vec::new();
    }
    let mut found = vec![by_length(facts, &runs)];
    let saving = runs.iter().filter(|run| run.checkpoints.is_some_and(|count| count > 0)).count();
    if saving > 0 {
        found.push(Clue::new(
            format!("{saving} of {} jobs on it wrote checkpoints", runs.len()),
            &[(Training, 3.0), (FineTuning, 1.5), (Experiment, 0.5)],
        ));
    }
    let lost = runs.iter().filter(|run| matches!(run.exit, ExitState::Preempted | ExitState::Requeued)).count();
    if lost > 0 {
        found.push(Clue::new(
            format!("{lost} of {} jobs on it were preempted or requeued", runs.len()),
            &[(Training, 1.0), (FineTuning, 0.8), (BatchInference, 0.8), (Experiment, 0.5), (RealtimeInference, -1.0)],
        ));
    }
    let mut named: Vec<Clue> = runs
        .iter()
        .filter_map(|run| run.workload.as_deref())
        .flat_map(|name| words::spoken(name).into_iter())
        .map(|(word, weights)| Clue::new(format!("jobs on it are called `{word}`"), weights))
        .collect();
    named.sort_by(|a, b| a.says.cmp(&b.says));
    named.dedup();
    found.extend(named);
    found
}

/// Did it run here, and begin before the end of the history?
fn is_on(facts: &Facts, resource: &Resource, run: &JobRun) -> bool {
    let began = run.start.is_some_and(|start| start < facts.history.end && start >= facts.history.start);
    began && (resource.clues.jobs.contains(&run.job) || is_called_alike(resource, run))
}

/// Where no record says on which node: the run's workload is what the resource is tagged or named, and type and region
/// do not speak against it.
fn is_called_alike(resource: &Resource, run: &JobRun) -> bool {
    let Some(name) = run.workload.as_deref().map(str::trim).filter(|name| !name.is_empty()) else {
        return false;
    };
    let sku = resource.sku.value().map(lowwater_model::id::Sku::as_str);
    let agrees = |here: Option<&str>, there: Option<&str>| here.is_none() || there.is_none() || here == there;
    let mut names = tags::purposes(resource).chain(resource.name.as_deref());
    names.any(|own| own.eq_ignore_ascii_case(name))
        && agrees(sku, run.sku.as_deref())
        && agrees(Some(resource.region.as_str()), run.region.as_deref())
}

fn by_length(facts: &Facts, runs: &[&JobRun]) -> Clue {
    let end = facts.history.end;
    let hours: f64 = runs
        .iter()
        .filter_map(|run| Some(run.end.unwrap_or(end).min(end).duration_since(run.start?).as_secs_f64() / 3600.0))
        .sum();
    let mean = hours.max(0.0) / runs.len() as f64;
    let says = format!("{} jobs ran on it, {mean:.1} hours each", runs.len());
    if mean < SHORT_HOURS {
        let weights = [(Ci, 2.0), (Experiment, 0.8), (BatchInference, 0.5), (Training, -1.0), (RealtimeInference, -2.5)];
        Clue::new(says, &weights)
    } else if mean < LONG_HOURS {
        let weights = [
            (FineTuning, 1.2),
            (Experiment, 1.2),
            (BatchInference, 1.0),
            (Training, 0.8),
            (RealtimeInference, -2.5),
            (Development, -1.0),
        ];
        Clue::new(says, &weights)
    } else {
        let weights = [
            (Training, 2.0),
            (FineTuning, 0.8),
            (Ci, -2.0),
            (RealtimeInference, -2.5),
            (Development, -1.5),
        ];
        Clue::new(says, &weights)
    }
}
