//! What machines of each class do, hour by hour.

use lowwater_model::workload::{Class, Role};

use super::{DAYS, Dice, HOURS, Truth};

/// Activity of every hour in thousandths, 0 = idle; none where the machine does not exist.
pub(super) fn of(truth: Truth, dice: &mut Dice) -> Vec<Option<f64>> {
    let mut hours = vec![Some(0.0); HOURS as usize];
    if truth.role == Role::Standby {
        return hours;
    }
    match truth.class {
        Class::Training => stretches(&mut hours, (60, 400), (2, 30), 850.0, dice),
        Class::FineTuning => stretches(&mut hours, (3, 20), (4, 60), 800.0, dice),
        Class::Experiment => stretches(&mut hours, (1, 14), (2, 50), 650.0, dice),
        // An answer that only people in an office ask for looks like development.
        Class::RealtimeInference if dice.chance(0.1) => at_the_desk(&mut hours, 0.9, dice),
        Class::RealtimeInference => by_day(&mut hours, dice),
        Class::BatchInference => every_night(&mut hours, dice),
        Class::Development | Class::Unknown => at_the_desk(&mut hours, 0.85, dice),
        Class::Ci => at_the_desk(&mut hours, 0.4, dice),
    }
    if matches!(truth.class, Class::FineTuning | Class::Experiment | Class::Training) && dice.chance(0.4) {
        // Goes when it has nothing to do for long.
        let idle: Vec<bool> = hours.iter().map(|hour| *hour == Some(0.0)).collect();
        for at in 3..hours.len() {
            if idle[at - 3..=at].iter().all(|idle| *idle) {
                hours[at] = None;
            }
        }
    }
    if truth.class == Class::Development && dice.chance(0.25) {
        // Forgotten some weeks ago.
        let from = dice.within(14, 30) as usize * 24;
        hours[from..].fill(Some(0.0));
    }
    hours
}

fn stretches(hours: &mut [Option<f64>], work: (i64, i64), rest: (i64, i64), level: f64, dice: &mut Dice) {
    let mut at = dice.within(0, rest.1);
    while at < HOURS {
        let end = (at + dice.within(work.0, work.1)).min(HOURS);
        let own = level * (0.8 + 0.3 * dice.share());
        for hour in at..end {
            hours[hour as usize] = Some((own * (0.92 + 0.16 * dice.share())).min(1000.0));
        }
        at = end + dice.within(rest.0, rest.1);
    }
}

/// Serving: mostly with a day and a night, at times flat, at times asleep at night.
fn by_day(hours: &mut [Option<f64>], dice: &mut Dice) {
    let (mean, swing, peak) = (
        150.0 + 450.0 * dice.share(),
        dice.pick(&[0.1, 0.5, 0.6, 0.75, 0.95]),
        dice.within(0, 24),
    );
    let sleeps = dice.chance(0.1);
    for (at, hour) in hours.iter_mut().enumerate() {
        let angle = (at as f64 - peak as f64) * std::f64::consts::TAU / 24.0;
        let level = mean * (1.0 + swing * angle.cos()) * (0.85 + 0.3 * dice.share());
        *hour = Some(if sleeps && level < 0.4 * mean {
            0.0
        } else {
            level.clamp(1.0, 1000.0)
        });
    }
}

fn every_night(hours: &mut [Option<f64>], dice: &mut Dice) {
    let (start, length) = (dice.within(0, 24), dice.within(2, 8));
    for day in 0..DAYS {
        let from = day * 24 + start + dice.within(-1, 2);
        for hour in from.max(0)..(from + length).min(HOURS) {
            hours[hour as usize] = Some(700.0 + 250.0 * dice.share());
        }
    }
}

/// People's working hours, somewhere on earth, with a late evening now and then.
fn at_the_desk(hours: &mut [Option<f64>], busy: f64, dice: &mut Dice) {
    let morning = dice.within(0, 24);
    for day in (0..DAYS).filter(|day| day % 7 < 5) {
        let late = if dice.chance(0.1) { dice.within(1, 6) } else { 0 };
        for hour in 0..9 + late {
            let at = day * 24 + morning + hour;
            if at < HOURS && dice.chance(busy) {
                hours[at as usize] = Some(80.0 + 500.0 * dice.share());
            }
        }
    }
}
