//! Work that is interrupted at random and goes on from its last checkpoint: how long it takes, and how often to save.
//!
//! Interruptions come at a constant rate, one in M hours of machine time. A segment is `tau` hours of work and a save
//! of C hours; an interruption loses the segment's progress and costs R hours of restart. With x = (tau + C) / M:
//!
//! - machine hours of a segment: (M + R) (e^x - 1); if a restart can be interrupted as well, M e^(R/M) (e^x - 1);
//! - hours on the clock, with D unbilled hours of waiting for capacity after each interruption: M + D in place of M;
//! - interruptions of a segment: e^x - 1, or e^(R/M) (e^x - 1);
//! - best tau: M (1 + W0(-e^(-C/M - 1))), the principal branch of Lambert's W. R and D do not move it.

use std::f64::consts::E;

#[cfg(test)]
mod tests;

/// At what cost work survives interruptions. All in hours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interruptions {
    /// Mean machine time between two; infinite where there are none.
    pub mean_hours: f64,
    /// Of one save, during which no work is done.
    pub checkpoint_hours: f64,
    /// Boot and restore after one, billed.
    pub restart_hours: f64,
    /// Until capacity is back after one, not billed.
    pub wait_hours: f64,
    /// Can a restart be interrupted too?
    pub during_restart: bool,
}

/// What some work is expected to take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// Billed machine hours.
    pub machine_hours: f64,
    /// Hours on the clock.
    pub wall_hours: f64,
    /// Interruptions.
    pub interruptions: f64,
}

/// The principal branch of Lambert's W: the `w >= -1` with `w e^w = x`. NaN below `-1/e`.
pub fn lambert_w0(x: f64) -> f64 {
    let above_branch = E.mul_add(x, 1.0);
    if above_branch < -4.0 * f64::EPSILON || x.is_nan() {
        return f64::NAN;
    }
    if above_branch <= 0.0 {
        return -1.0;
    }
    let mut w = if x < 1.0 {
        // The series around the branch point, in p = sqrt(2 (e x + 1)).
        let p = (2.0 * above_branch).sqrt();
        -1.0 + p - p * p / 3.0 + 11.0 / 72.0 * p * p * p
    } else {
        let log = x.ln();
        log - log.max(1.0).ln()
    };
    for _ in 0..40 {
        let exp = w.exp();
        let miss = w * exp - x;
        let slope = w + 1.0;
        if slope <= 0.0 || miss == 0.0 {
            break;
        }
        // Halley's step.
        let step = miss / (exp * slope - (w + 2.0) * miss / (2.0 * slope));
        w -= step;
        if step.abs() <= 1e-15 * (1.0 + w.abs()) {
            break;
        }
    }
    w.max(-1.0)
}

/// `1 + W0(-e^(-c - 1))` for `c >= 0`: the `y` of `0..1` with `y + ln(1 - y) = -c`.
///
/// Near the branch point W0 has lost half of its digits: Newton's steps on this form bring them back.
fn above_branch(c: f64) -> f64 {
    if c <= 0.0 {
        return 0.0;
    }
    let mut y = 1.0 + lambert_w0(-(-c - 1.0).exp());
    if y <= 0.0 {
        y = (2.0 * c).sqrt();
    }
    for _ in 0..4 {
        if y <= 0.0 || y >= 1.0 {
            break;
        }
        y += (y + (-y).ln_1p() + c) * (1.0 - y) / y;
    }
    y.clamp(0.0, 1.0)
}

/// Young's interval, sqrt(2 C M): good where C is far below M.
pub fn young_interval(mean_hours: f64, checkpoint_hours: f64) -> f64 {
    (2.0 * checkpoint_hours * mean_hours).sqrt()
}

/// Daly's interval: Young's with the next terms.
pub fn daly_interval(mean_hours: f64, checkpoint_hours: f64) -> f64 {
    if checkpoint_hours >= 2.0 * mean_hours {
        return mean_hours;
    }
    let ratio = checkpoint_hours / (2.0 * mean_hours);
    young_interval(mean_hours, checkpoint_hours) * (1.0 + ratio.sqrt() / 3.0 + ratio / 9.0) - checkpoint_hours
}

/// The interval with the fewest machine hours; without end where nothing interrupts.
pub fn best_interval(mean_hours: f64, checkpoint_hours: f64) -> f64 {
    if mean_hours.is_infinite() {
        return f64::INFINITY;
    }
    mean_hours * above_branch(checkpoint_hours / mean_hours)
}

impl Interruptions {
    /// One segment of `tau` hours of work, and its save.
    pub fn segment(&self, tau: f64) -> Expected {
        self.segment_with(tau, self.checkpoint_hours)
    }

    fn segment_with(&self, tau: f64, checkpoint_hours: f64) -> Expected {
        let mean = self.mean_hours;
        if mean.is_infinite() {
            let hours = tau + checkpoint_hours;
            return Expected {
                machine_hours: hours,
                wall_hours: hours,
                interruptions: 0.0,
            };
        }
        let tries = ((tau + checkpoint_hours) / mean).exp_m1();
        let (interruptions, machine_hours) = if self.during_restart {
            let count = (self.restart_hours / mean).exp() * tries;
            (count, mean * count)
        } else {
            (tries, (mean + self.restart_hours) * tries)
        };
        Expected {
            machine_hours,
            wall_hours: machine_hours + self.wait_hours * interruptions,
            interruptions,
        }
    }

    /// `work` hours, saved every `interval` of them; without an interval nothing is ever saved.
    pub fn expected(&self, work: f64, interval: Option<f64>) -> Expected {
        let Some(interval) = interval.filter(|tau| *tau > 0.0 && *tau < work) else {
            let checkpoint = interval.map_or(0.0, |_| self.checkpoint_hours);
            return self.segment_with(work, checkpoint);
        };
        let whole = (work / interval).floor();
        let rest = work - whole * interval;
        let full = self.segment(interval);
        let last = if rest > 1e-12 * work {
            self.segment(rest)
        } else {
            Expected::default()
        };
        Expected {
            machine_hours: full.machine_hours * whole + last.machine_hours,
            wall_hours: full.wall_hours * whole + last.wall_hours,
            interruptions: full.interruptions * whole + last.interruptions,
        }
    }

    /// Machine hours for an hour of work in a long job.
    pub fn stretch(&self, interval: f64) -> f64 {
        self.segment(interval).machine_hours / interval
    }
}

/// What is lost of a segment at an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Half of it: interruptions come at any time.
    Mean,
    /// All of it.
    Worst,
}

/// Machine hours when the number of interruptions is given and not their rate:
/// `work + saves x C + interruptions x (R + loss)`.
pub fn hours_given(work: f64, interval: f64, interruptions: f64, costs: &Interruptions, loss: Loss) -> f64 {
    let lost = match loss {
        Loss::Mean => interval / 2.0,
        Loss::Worst => interval,
    };
    work + work / interval * costs.checkpoint_hours + interruptions * (costs.restart_hours + lost)
}

/// How often the same interruptions must come for a discount to be eaten up, given what one costs in machine hours.
pub fn break_even_interruptions(work: f64, discount: f64, hours_each: f64) -> f64 {
    (work / (1.0 - discount) - work) / hours_each
}
