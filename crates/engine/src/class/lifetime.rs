//! When it was there: always, on weekdays only, for days only, or coming and going.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lowwater_model::facts::{Facts, Resource};
use lowwater_model::period::HOUR_SECONDS;
use lowwater_model::workload::Class;

use super::Clue;
use crate::replay::billed;

use Class::{BatchInference, Ci, Development, Experiment, FineTuning, RealtimeInference, Training};

/// Days of history without which a lifetime says nothing.
const LEAST_DAYS: f64 = 14.0;

pub(super) fn clues(facts: &Facts, resource: &Resource) -> Vec<Clue> {
    let (there, history) = (billed(resource, facts.history), facts.history);
    let spans: Vec<(i64, i64)> = there.iter().collect();
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return Vec::new();
    };
    if history.hours() < LEAST_DAYS * 24.0 || !resource.is_hourly() {
        return Vec::new();
    }
    let (starts, hours) = (spans.len(), there.hours());
    let lasted = (last.1 - first.0) as f64 / HOUR_SECONDS as f64;
    let found = if starts > 1 && lasted >= LEAST_DAYS * 24.0 && is_on_weekdays_only(resource, &spans) {
        weekdays_only()
    } else if starts >= 5 {
        comes_and_goes(starts)
    } else if hours < 7.0 * 24.0 && last.1 < history.end.as_second() {
        lasted_days(hours)
    } else if hours >= history.hours() {
        always_on()
    } else {
        return Vec::new();
    };
    vec![found]
}

/// Does next to none of its time lie on a Saturday or Sunday of its owner?
fn is_on_weekdays_only(resource: &Resource, spans: &[(i64, i64)]) -> bool {
    let zone = TimeZone::get(&resource.owner.zone).unwrap_or(TimeZone::UTC);
    let is_weekend = |second: &&i64| {
        let at = Timestamp::from_second(**second).unwrap_or_default();
        zone.to_datetime(at).weekday().to_monday_zero_offset() > 4
    };
    let step = HOUR_SECONDS as usize;
    let hours: Vec<i64> = spans.iter().flat_map(|(start, end)| (*start..*end).step_by(step)).collect();
    let at_weekends = hours.iter().filter(is_weekend).count();
    (at_weekends as f64) < 0.02 * hours.len() as f64
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

fn lasted_days(hours: f64) -> Clue {
    let weights = [
        (FineTuning, 0.8),
        (Experiment, 0.8),
        (Training, 0.6),
        (RealtimeInference, -1.0),
    ];
    Clue::new(format!("it existed for {hours:.0} hours only"), &weights)
}

fn always_on() -> Clue {
    let weights = [(RealtimeInference, 0.6), (Ci, -0.8), (BatchInference, -0.4), (FineTuning, -0.5)];
    Clue::new("it was on in every hour of the history", &weights)
}
