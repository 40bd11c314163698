//! What an hour of a fleet's work is expected to take on one spot market.

use lowwater_model::change::use_spot::Outlook;
use lowwater_model::policy::Settings;
use lowwater_model::spot::{Likely, SpotMarket};

use crate::solve::checkpoint::{Interruptions, best_interval};

/// How the fleet works, whatever the market.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// Machines that run at once; an interruption of one interrupts all.
    pub(super) machines: f64,
    /// Hours of a save.
    pub(super) checkpoint_hours: f64,
    /// Hours from new capacity to work.
    pub(super) restart_hours: f64,
    /// Longest interval between two saves.
    pub(super) max_interval_hours: f64,
}

/// A market with what it makes of the job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    pub(super) market: &'a SpotMarket,
    pub(super) interval_hours: f64,
    pub(super) expected: Outlook,
    pub(super) worse: Outlook,
    pub(super) better: Outlook,
    /// Hours on the clock for an hour of work, where interruptions come at the high end of their spread.
    pub(super) worst_wall: f64,
    /// Mean hours between two interruptions of the job.
    pub(super) mean_hours: f64,
}

/// As many digits as every platform computes alike.
pub(super) fn digits(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

impl Job {
    pub(super) fn new(machines: f64, gb: f64, settings: &Settings) -> Self {
        let copy_hours = gb / settings.float("checkpoint_gb_per_second") / 3600.0;
        Self {
            machines,
            checkpoint_hours: copy_hours,
            restart_hours: settings.float("start_minutes") / 60.0 + copy_hours,
            max_interval_hours: settings.float("max_interval_hours"),
        }
    }

    fn interrupted(&self, per_machine_hour: f64, wait_hours: f64) -> Interruptions {
        Interruptions {
            mean_hours: 1.0 / (self.machines * per_machine_hour),
            checkpoint_hours: self.checkpoint_hours,
            restart_hours: self.restart_hours,
            wait_hours,
            during_restart: true,
        }
    }

    /// The job on a market with known interruptions.
    pub(super) fn on<'a>(&self, market: &'a SpotMarket, known: &Likely) -> Look<'a> {
        let mean_hours = self.interrupted(known.middle, market.wait_hours).mean_hours;
        let best = best_interval(mean_hours, self.checkpoint_hours);
        let interval_hours = digits(best.min(self.max_interval_hours));
        let outlook = |rate: f64, interruptions: f64| {
            let segment = self.interrupted(interruptions, market.wait_hours).segment(interval_hours);
            Outlook {
                rate: digits(rate),
                hours: digits(segment.machine_hours / interval_hours),
                interruptions: digits(segment.interruptions / interval_hours / self.machines),
            }
        };
        let worst = self.interrupted(known.high, market.wait_hours).segment(interval_hours);
        Look {
            market,
            interval_hours,
            expected: outlook(market.rate.middle, known.middle),
            worse: outlook(market.rate.high, known.high),
            better: outlook(market.rate.low, known.low),
            worst_wall: worst.wall_hours / interval_hours,
            mean_hours,
        }
    }

    /// Spot hours for an hour of work at another interval between saves.
    pub(super) fn hours_at(&self, look: &Look<'_>, interval_hours: f64) -> f64 {
        let interruptions = Interruptions {
            mean_hours: look.mean_hours,
            ..self.interrupted(0.0, look.market.wait_hours)
        };
        interruptions.stretch(interval_hours)
    }
}
