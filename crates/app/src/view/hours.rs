//! What GPUs did in the hours that were paid: at work, held, idle, or not seen; and when in the week.

use std::collections::BTreeMap;
use std::iter::Sum;

use jiff::tz::TimeZone;
use lowwater_model::facts::{LineKind, Resource};
use lowwater_model::money::Money;
use lowwater_model::period::{Hour, Period};
use lowwater_model::usage::HourUsage;
use serde::Serialize;

use crate::amount::six_digits;

/// The first bin above a tenth of the memory: less is a driver and an empty context.
const HELD_BIN: u8 = 2;

/// GPU-hours of some machines by what they did, and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Hours {
    /// Billed.
    pub paid: f64,
    /// Paid, and some GPU of the machine worked.
    pub busy: f64,
    /// Paid and idle, with more than a tenth of a GPU's memory held: a model or a notebook waits in it.
    pub held: f64,
    /// Paid and idle, with less memory held, or none measured.
    pub idle: f64,
    /// Paid and not seen well enough to say.
    pub unknown: f64,
    /// Weighed by activity: two hours at 50 % are one.
    pub useful: f64,
    /// Cost of the machines, disks and all.
    pub cost: Money,
    /// Compute cost of the hours that were idle or held.
    pub idle_cost: Money,
}

/// GPU-hours of each hour in which the machine was billed.
fn billed(resource: &Resource, period: &Period) -> BTreeMap<i64, (f64, Money)> {
    let range = period.hour_range();
    let mut hours: BTreeMap<i64, (f64, Money)> = BTreeMap::new();
    for line in resource.lines.iter().filter(|line| line.kind == LineKind::Compute) {
        for run in &line.runs {
            for hour in run.start.0.max(range.start)..run.end().0.min(range.end) {
                let entry = hours.entry(hour).or_default();
                entry.0 += resource.gpus * f64::from(run.seconds) / 3600.0;
                entry.1 += run.cost;
            }
        }
    }
    hours
}

impl Hours {
    /// Of one machine in a period.
    pub fn of(resource: &Resource, period: &Period) -> Self {
        let mut all = Self {
            cost: super::resource::cost(resource, period),
            ..Self::default()
        };
        for (hour, (gpu_hours, cost)) in billed(resource, period) {
            all.paid += gpu_hours;
            match resource.usage.at(Hour(hour)) {
                Some(seen) if seen.is_active() => {
                    all.busy += gpu_hours;
                    all.useful += gpu_hours * f64::from(seen.activity_permille) / 1000.0;
                }
                Some(seen) if seen.idle => {
                    all.idle_cost += cost;
                    let held = seen.memory_max_bin.is_some_and(|bin| bin >= HELD_BIN);
                    *(if held { &mut all.held } else { &mut all.idle }) += gpu_hours;
                }
                _ => all.unknown += gpu_hours,
            }
        }
        all
    }

    /// Adds those of another machine.
    fn add(&mut self, other: &Self) {
        self.paid += other.paid;
        self.busy += other.busy;
        self.held += other.held;
        self.idle += other.idle;
        self.unknown += other.unknown;
        self.useful += other.useful;
        self.cost += other.cost;
        self.idle_cost += other.idle_cost;
    }

    /// A part of the paid hours, 0 to 1; none where nothing was paid.
    pub fn share(&self, part: f64) -> Option<f64> {
        (self.paid > 0.0).then(|| part / self.paid)
    }

    /// Rounded, as every float that leaves the program.
    #[must_use]
    pub fn rounded(self) -> Self {
        Self {
            paid: six_digits(self.paid),
            busy: six_digits(self.busy),
            held: six_digits(self.held),
            idle: six_digits(self.idle),
            unknown: six_digits(self.unknown),
            useful: six_digits(self.useful),
            ..self
        }
    }
}

impl Sum for Hours {
    fn sum<I: Iterator<Item = Self>>(hours: I) -> Self {
        hours.fold(Self::default(), |mut all, one| {
            all.add(&one);
            all
        })
    }
}

/// Activity below which 95 in 100 observed hours of these machines lie, 0 to 1, from hourly means; none = not observed.
pub fn p95_activity<'a>(resources: impl Iterator<Item = &'a Resource>, period: &Period) -> Option<f64> {
    let range = period.hour_range();
    let mut means: Vec<u16> = resources
        .flat_map(|r| r.usage.iter())
        .filter(|(hour, usage)| range.contains(&hour.0) && is_seen(usage))
        .map(|(_, usage)| usage.activity_permille)
        .collect();
    means.sort_unstable();
    let at = (means.len() as f64 * 0.95).ceil() as usize;
    means.get(at.max(1) - 1).map(|permille| f64::from(*permille) / 1000.0)
}

fn is_seen(usage: &HourUsage) -> bool {
    usage.idle || usage.is_active()
}

/// Mean activity by hour of the week, Monday 00:00 first, in a zone; none = never observed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeekHours {
    /// IANA zone.
    pub zone: String,
    /// 168 of them, 0 to 1.
    pub activity: Vec<Option<f64>>,
}

impl WeekHours {
    /// Of some machines in a period.
    pub fn of<'a>(resources: impl Iterator<Item = &'a Resource>, period: &Period, zone: &str) -> Self {
        let clock = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
        let range = period.hour_range();
        let mut cells = vec![(0_u64, 0_u64); 168];
        for (hour, usage) in resources
            .flat_map(|r| r.usage.iter())
            .filter(|(hour, _)| range.contains(&hour.0))
        {
            if is_seen(usage) {
                let local = clock.to_datetime(hour.period().start);
                let day = usize::from(local.weekday().to_monday_zero_offset().unsigned_abs());
                let cell = &mut cells[day * 24 + usize::from(local.hour().unsigned_abs())];
                cell.0 += u64::from(usage.activity_permille);
                cell.1 += 1;
            }
        }
        let mean = |(sum, count): (u64, u64)| (count > 0).then(|| six_digits(sum as f64 / count as f64 / 1000.0));
        Self {
            zone: zone.to_owned(),
            activity: cells.into_iter().map(mean).collect(),
        }
    }

    /// Was anything observed?
    pub fn is_known(&self) -> bool {
        self.activity.iter().any(Option::is_some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;
    use lowwater_model::usage::Usage;

    /// A machine of one GPU, billed in all hours of the sample, with this use in its first hours.
    fn machine(uses: &[Option<HourUsage>]) -> (Resource, Period) {
        let facts = sample::facts();
        let mut resource = facts.resources[0].clone();
        resource.gpus = 1.0;
        let start = Hour(facts.period.hour_range().start);
        resource.usage = Usage {
            start: Some(start),
            hours: uses.to_vec(),
        };
        (resource, facts.period)
    }

    fn seen(permille: u16, memory: Option<u8>) -> HourUsage {
        HourUsage {
            gpus: 1,
            observed_minutes: 60,
            idle: permille == 0,
            activity_max_bin: u8::from(permille > 0) * 9,
            activity_permille: permille,
            memory_max_bin: memory,
            power_max_w: None,
        }
    }

    #[test]
    fn every_paid_hour_is_one_of_four() {
        let (resource, period) = machine(&[
            Some(seen(500, None)),
            Some(seen(0, Some(9))),
            Some(seen(0, Some(0))),
            Some(seen(0, None)),
            None,
        ]);
        let hours = Hours::of(&resource, &period);
        assert_eq!((hours.busy, hours.useful, hours.held, hours.idle), (1.0, 0.5, 1.0, 2.0));
        assert!((hours.busy + hours.held + hours.idle + hours.unknown - hours.paid).abs() < 1e-9);
        assert!(hours.unknown > 0.0, "an hour that nobody saw is not idle");
    }

    #[test]
    fn activity_at_the_ends() {
        let (resource, period) = machine(&[Some(seen(100, None)), Some(seen(900, None)), None]);
        assert_eq!(p95_activity([&resource].into_iter(), &period), Some(0.9));
        let (unseen, period) = machine(&[None]);
        assert_eq!(p95_activity([&unseen].into_iter(), &period), None);
        assert!(!WeekHours::of([&unseen].into_iter(), &period, "UTC").is_known());
    }
}
