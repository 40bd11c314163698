//! The shape of its activity: day and night, plateaus, nights, office hours, bursts, nothing at all.

use lowwater_model::facts::{Facts, Resource};
use lowwater_model::workload::Class;

use super::Clue;

use Class::{BatchInference, Ci, Development, Experiment, FineTuning, RealtimeInference, Training};

/// Known hours without which a shape says nothing: a week.
const LEAST_HOURS: usize = 7 * 24;
/// Share of active hours below which it never works.
const FLAT_SHARE: f64 = 0.005;
/// Length of the part of a day that holds office hours, and of one that holds a nightly run.
const OFFICE_HOURS: usize = 11;
const NIGHT_HOURS: usize = 8;

/// From its first to its last active hour: what came before and after was not work.
#[derive(Debug)]
struct Shape {
    /// Known hours with their mean activity in thousandths; 0 = idle.
    hours: Vec<(i64, f64)>,
    /// Lengths of unbroken stretches of active hours.
    runs: Vec<usize>,
}

/// Hours of the history that were seen to be idle (0) or to work.
fn known(facts: &Facts, resource: &Resource) -> Vec<(i64, f64)> {
    let history = facts.history.hour_range();
    let within = resource.usage.iter().filter(|(hour, _)| history.contains(&hour.0));
    let seen = within.filter(|(_, usage)| usage.is_active() || usage.idle);
    seen.map(|(hour, usage)| {
        let level = if usage.is_active() { usage.activity_permille.max(1) } else { 0 };
        (hour.0, f64::from(level))
    })
    .collect()
}

/// Was it seen for a week or more, and never to work?
pub(super) fn is_flat(facts: &Facts, resource: &Resource) -> bool {
    never_works(&known(facts, resource))
}

fn never_works(hours: &[(i64, f64)]) -> bool {
    let active = hours.iter().filter(|(_, level)| *level > 0.0).count();
    hours.len() >= LEAST_HOURS && (active as f64) < FLAT_SHARE * hours.len() as f64
}

impl Shape {
    fn of(mut hours: Vec<(i64, f64)>) -> Option<Self> {
        let is_active = |(_, level): &(i64, f64)| *level > 0.0;
        let first = hours.iter().position(is_active)?;
        let last = hours.iter().rposition(is_active)?;
        hours = hours[first..=last].to_vec();
        let runs = hours
            .chunk_by(|a, b| (a.1 > 0.0) == (b.1 > 0.0) && b.0 == a.0 + 1)
            .filter(|run| run[0].1 > 0.0);
        let runs = runs.map(<[_]>::len).collect();
        (hours.len() >= LEAST_HOURS).then_some(Self { hours, runs })
    }

    fn active(&self) -> impl Iterator<Item = (i64, f64)> + '_ {
        self.hours.iter().copied().filter(|(_, level)| *level > 0.0)
    }

    fn active_share(&self) -> f64 {
        self.active().count() as f64 / self.hours.len() as f64
    }

    /// Mean activity of the active hours, 0 to 1.
    fn level(&self) -> f64 {
        self.active().map(|(_, level)| level).sum::<f64>() / 1e3 / self.active().count().max(1) as f64
    }

    fn mean_run(&self) -> f64 {
        self.runs.iter().sum::<usize>() as f64 / self.runs.len().max(1) as f64
    }

    /// Mean activity in each hour of a UTC day.
    fn day(&self) -> [f64; 24] {
        let mut sums = [(0.0, 0.0); 24];
        for (hour, level) in &self.hours {
            let cell = &mut sums[hour.rem_euclid(24) as usize];
            *cell = (cell.0 + level, cell.1 + 1.0);
        }
        sums.map(|(sum, count): (f64, f64)| sum / count.max(1.0))
    }

    /// Quietest three hours of the day against the busiest three: 1 = flat, 0 = silent at night.
    fn night_against_day(&self) -> f64 {
        let day = self.day();
        let three = |at: usize| day[at] + day[(at + 1) % 24] + day[(at + 2) % 24];
        let least = (0..24).map(three).fold(f64::MAX, f64::min);
        least / (0..24).map(three).fold(1e-9, f64::max)
    }

    /// The busiest stretch of so many hours of the day, wherever its people live: where it begins, and its share.
    fn busiest(&self, length: usize) -> (usize, f64) {
        let mut day = [0.0; 24];
        self.active().for_each(|(hour, _)| day[hour.rem_euclid(24) as usize] += 1.0);
        let within = |start: usize| (0..length).map(|hour| day[(start + hour) % 24]).sum::<f64>();
        let best = (0..24).map(|start| (start, within(start)));
        let (start, most) = best.fold((0, -1.0), |best, next| if next.1 > best.1 { next } else { best });
        (start, most / day.iter().sum::<f64>().max(1.0))
    }

    /// Active hours a day on the two quietest neighbouring days of the week, against the other five. Days begin before
    /// the busiest stretch, so that no zone cuts it in two.
    fn weekend_against_week(&self, start: usize) -> f64 {
        let mut days = [0.0; 7];
        let before = start as i64 - (24 - OFFICE_HOURS as i64) / 2;
        self.active().for_each(|(hour, _)| days[(hour - before).div_euclid(24).rem_euclid(7) as usize] += 1.0);
        let two = |at: usize| days[at] + days[(at + 1) % 7];
        let least = (0..7).map(two).fold(f64::MAX, f64::min);
        let rest: f64 = days.iter().sum::<f64>() - least;
        (least / 2.0) / (rest / 5.0).max(1e-9)
    }
}

pub(super) fn clues(facts: &Facts, resource: &Resource) -> Vec<Clue> {
    let hours = known(facts, resource);
    if never_works(&hours) {
        return vec![Clue::new("it was never seen to work", &[(RealtimeInference, 0.4), (Development, 0.4)])];
    }
    let Some(shape) = Shape::of(hours) else {
        return Vec::new();
    };
    if shape.active_share() >= 0.9 {
        return vec![always_at_work(&shape)];
    }
    if shape.mean_run() >= 24.0 && shape.level() >= 0.55 {
        return vec![plateau("it works at full load for days", &shape)];
    }
    let (start, in_office) = shape.busiest(OFFICE_HOURS);
    let weekend = shape.weekend_against_week(start);
    if in_office >= 0.8 && weekend < 0.3 {
        return vec![office(&shape, in_office)];
    }
    let (_, in_night) = shape.busiest(NIGHT_HOURS);
    let found = if in_night >= 0.85 && weekend >= 0.5 {
        nightly(in_night)
    } else {
        bursts(&shape)
    };
    vec![found]
}

fn always_at_work(shape: &Shape) -> Clue {
    let night = shape.night_against_day();
    if night < 0.65 {
        let weights = [
            (RealtimeInference, 2.8),
            (Training, -2.0),
            (FineTuning, -2.0),
            (Development, -2.0),
            (Ci, -2.0),
            (Experiment, -1.5),
            (BatchInference, -1.0),
        ];
        let says = format!("it works around the clock, by night {:.0} % of what it does by day", night * 100.0);
        return Clue::new(says, &weights);
    }
    if shape.level() >= 0.55 {
        return plateau("it works at full load around the clock", shape);
    }
    let weights = [(RealtimeInference, 1.2), (Training, -0.8), (Development, -1.0), (Ci, -1.0)];
    let says = format!("it works around the clock at {:.0} %", shape.level() * 100.0);
    Clue::new(says, &weights)
}

fn plateau(says: &str, shape: &Shape) -> Clue {
    let weights = [
        (Training, 2.2),
        (FineTuning, 0.8),
        (Experiment, 0.3),
        (BatchInference, 0.3),
        (RealtimeInference, -0.5),
        (Development, -2.5),
        (Ci, -2.0),
    ];
    Clue::new(format!("{says} ({:.0} %)", shape.level() * 100.0), &weights)
}

fn office(shape: &Shape, share: f64) -> Clue {
    let share = share * 100.0;
    if shape.mean_run() <= 1.8 {
        let weights = [
            (Ci, 1.8),
            (Development, 0.8),
            (Experiment, 0.5),
            (Training, -2.0),
            (BatchInference, -1.5),
            (RealtimeInference, -1.5),
            (FineTuning, -1.0),
        ];
        return Clue::new(format!("short bursts, {share:.0} % of them in {OFFICE_HOURS} hours of working days"), &weights);
    }
    let weights = [
        (Development, 2.3),
        (Experiment, 0.6),
        (Training, -2.0),
        (BatchInference, -1.5),
        (RealtimeInference, -1.5),
        (FineTuning, -1.0),
    ];
    Clue::new(format!("{share:.0} % of its work lies in {OFFICE_HOURS} hours of working days"), &weights)
}

fn nightly(share: f64) -> Clue {
    let weights = [
        (BatchInference, 2.2),
        (Development, -2.0),
        (Training, -1.5),
        (FineTuning, -1.0),
        (RealtimeInference, -1.0),
        (Experiment, -1.0),
        (Ci, -0.5),
    ];
    let says = format!("{:.0} % of its work lies in the same {NIGHT_HOURS} hours of every day", share * 100.0);
    Clue::new(says, &weights)
}

fn bursts(shape: &Shape) -> Clue {
    let (mean, says) = (shape.mean_run(), format!("bursts of {:.1} hours at no fixed time", shape.mean_run()));
    if mean >= 3.0 {
        let weights = [
            (FineTuning, 1.5),
            (Experiment, 1.3),
            (Training, 0.8),
            (BatchInference, 0.5),
            (Development, -1.0),
            (Ci, -1.5),
            (RealtimeInference, -2.0),
        ];
        return Clue::new(says, &weights);
    }
    Clue::new(says, &[(Ci, 1.2), (Experiment, 0.5), (Development, 0.3), (Training, -1.0)])
}
