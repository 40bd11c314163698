//! When it was there: always, on weekdays only, for days only, or coming and going.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use lowwater_model::facts::{Facts, LineKind, Resource};
use lowwater_model::period::Hour;
use lowwater_model::workload::Class;

use super::Clue;

use Class::{BatchInference, Ci, Development, Experiment, FineTuning, RealtimeInference, Training};

/// Days of history without which a lifetime says nothing.
const LEAST_DAYS: i64 = 14;

/// Hours of the history in which the machine itself was billed.
pub(super) fn billed_hours(facts: &Facts, resource: &Resource) -> BTreeSet<i64> {
    let history = facts.history.hour_range();
    let compute = resource.lines.iter().filter(|line| line.kind == LineKind::Compute);
    let runs = compute.flat_map(|line| &line.runs).filter(|run| run.seconds > 0);
    runs.flat_map(|run| run.start.0.max(history.start)..run.end().0.min(history.end))
        .collect()
}

pub(super) fn clues(facts: &Facts, resource: &Resource) -> Vec<Clue> {
    let history = facts.history.hour_range();
    let hours = billed_hours(facts, resource);
    if history.end - history.start < LEAST_DAYS * 24 || hours.is_empty() || !resource.is_hourly() {
        return Vec::new();
    }
    let starts = hours.iter().filter(|hour| !hours.contains(&(**hour - 1))).count();
    let found = if is_on_weekdays_only(resource, &hours) {
        weekdays_only()
    } else if starts >= 5 {
        comes_and_goes(starts)
    } else if hours.len() < 7 * 24 && hours.last().is_some_and(|last| *last + 1 < history.end) {
        lasted_days(hours.len())
    } else if starts == 1 && hours.len() as i64 == history.end - history.start {
        always_on()
    } else {
        return Vec::new();
    };
    vec![found]
}

fn is_on_weekdays_only(resource: &Resource, hours: &BTreeSet<i64>) -> bool {
    let zone = TimeZone::get(&resource.owner.zone).unwrap_or(TimeZone::UTC);
    let weekend = |hour: &&i64| {
        let day = zone.to_datetime(Hour(**hour).period().start).weekday();
        day.to_monday_zero_offset() > 4
    };
    let span = hours.last().zip(hours.first()).map_or(0, |(last, first)| last - first);
    let at_weekends = hours.iter().filter(weekend).count();
    span >= LEAST_DAYS * 24 && (at_weekends as f64) < 0.02 * hours.len() as f64
}

fn weekdays_only() -> Clue {
    let weights = [
        (Development, 1.8),
        (Ci, 0.8),
        (Experiment, 0.3),
        (RealtimeInference, -2.5),
        (Training, -1.5),
        (BatchInference, -0.8),
    ];
    Clue::new("it runs on weekdays only", &weights)
}

fn comes_and_goes(starts: usize) -> Clue {
    let weights = [
        (Training, 0.5),
        (FineTuning, 0.7),
        (Experiment, 0.8),
        (Ci, 0.8),
        (BatchInference, 0.6),
        (Development, 0.2),
        (RealtimeInference, -2.0),
    ];
    Clue::new(format!("it was started {starts} times"), &weights)
}

fn lasted_days(hours: usize) -> Clue {
    let weights = [
        (FineTuning, 0.8),
        (Experiment, 0.8),
        (Training, 0.6),
        (RealtimeInference, -1.0),
    ];
    Clue::new(format!("it existed for {hours} hours only"), &weights)
}

fn always_on() -> Clue {
    let weights = [(RealtimeInference, 0.6), (Ci, -0.8), (BatchInference, -0.4), (FineTuning, -0.5)];
    Clue::new("it was on in every hour of the history", &weights)
}
