//! The evidence of a step, in words.

use jiff::tz::TimeZone;
use lowwater_model::change::use_spot::UseSpot;

use super::fleet::Fleet;
use super::market::Look;
use crate::lever::evidence;

/// How often, in words.
pub(super) fn every(mean_hours: f64) -> String {
    if mean_hours.is_finite() { format!("once in {mean_hours:.1} hours") } else { "never".into() }
}

impl Fleet<'_> {
    pub(super) fn because(&self, look: &Look<'_>, change: &UseSpot) -> Vec<String> {
        let facts = self.so_far.facts();
        let (market, job) = (look.market, &self.job);
        let day = TimeZone::UTC.to_datetime(facts.as_of).date();
        let age = (day - market.as_of).get_days();
        let mut lines = vec![
            format!(
                "{:.1} on-demand hours at {:.4} {} are left of {}, up to {} at once",
                self.hours_left,
                self.on_demand_rate,
                facts.currency,
                evidence::count(self.members.len(), "machine"),
                job.machines
            ),
            format!(
                "spot price of {}: {:.4} ({:.4} to {:.4}), {age} days old, {}",
                market.place, market.rate.middle, market.rate.low, market.rate.high, market.source
            ),
            format!(
                "the job is interrupted {}; a save of {} GB takes {:.1} minutes, a restart {:.1}",
                every(look.mean_hours),
                self.gb,
                job.checkpoint_hours * 60.0,
                job.restart_hours * 60.0
            ),
            format!(
                "with a save every {:.2} hours an hour of today's takes {:.3} spot hours ({:.3} to {:.3})",
                look.interval_hours, look.expected.hours, look.better.hours, look.worse.hours
            ),
        ];
        let over = self.members.iter().filter_map(|r| r.owner.deadline.filter(|due| due.is_over(&r.owner.zone, facts.as_of)));
        if let Some(over) = over.min_by_key(ToString::to_string) {
            lines.push(format!("its deadline {over} is over and does not count; declare the next one"));
        }
        if let Some(today) = self.checkpoint.every {
            let every = today.as_secs_f64() / 3600.0;
            lines.push(format!(
                "today it saves every {every:.2} hours, which would take {:.3}",
                job.hours_at(look, every)
            ));
        }
        lines.push(format!(
            "each interruption costs {:.2} {} of a person's time; the saves cost {:.2} a month to keep; no egress: the region \
             stays; {:.1} % are saved net of all this",
            change.interruption_cost,
            facts.currency,
            change.storage_per_month,
            self.net_saving(change) * 100.0
        ));
        lines
    }
}
