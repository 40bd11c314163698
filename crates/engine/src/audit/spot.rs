//! Rules on spot capacity: the owner's promise, the market, the expected hours, the deadline, the net saving.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use lowwater_model::change::Change;
use lowwater_model::change::use_spot::{Outlook, UseSpot};
use lowwater_model::deadline::Deadline;
use lowwater_model::facts::Resource;
use lowwater_model::id::ResourceId;
use lowwater_model::plan::Step;
use lowwater_model::policy::Settings;
use lowwater_model::spot::SpotMarket;

use super::recount::Recount;
use super::{Case, Report, at};

/// Numbers of a change hold nine digits after the point.
const DIGITS: f64 = 1e-8;

pub(super) fn check(case: Case<'_>, report: &mut Report) {
    let recount = Recount::new(case.facts, case.plan.steps.iter().map(|step| &step.change));
    let mut seen: BTreeSet<&ResourceId> = BTreeSet::new();
    for (index, step) in case.plan.steps.iter().enumerate() {
        let Change::UseSpot(spot) = &step.change else { continue };
        let is_first = spot.resources.iter().all(|id| seen.insert(id));
        report.demand(is_first, "spot", &at(step), || {
            "an earlier step has it on spot already".into()
        });
        let members: Vec<&Resource> = case
            .facts
            .resources
            .iter()
            .filter(|r| spot.resources.contains(&r.id))
            .collect();
        let Some(first) = members.first() else { continue };
        let owner = &first.owner;
        let settings = case
            .policy
            .lever(&step.lever, owner.team.as_ref(), owner.environment.as_deref());
        for member in &members {
            promised(step, member, report);
        }
        let ids: Vec<&ResourceId> = spot.resources.iter().collect();
        let alone: Vec<Vec<(f64, f64)>> = ids.iter().map(|id| recount.demand(&[id], &[])).collect();
        let look = Look {
            case,
            step,
            spot,
            members,
            settings,
            alone,
        };
        look.prices(report);
        if let Some(market) = look.market(report) {
            look.hours(market, report);
            look.deadline(market, report);
        }
        let before: Vec<usize> = (0..index).collect();
        let taken = ids.iter().find(|id| recount.is_taken(id, &before));
        look.demand(taken.is_none(), report, || {
            format!("{} is taken by an earlier step", taken.map_or("", |id| id.as_str()))
        });
        let left = recount.demand(&ids, &before);
        look.net(
            left.iter().map(|(_, cost)| cost).sum(),
            recount.share(index).cash,
            report,
        );
    }
}

/// The owner said that work goes on from its last save.
fn promised(step: &Step, resource: &Resource, report: &mut Report) {
    let checkpoint = resource.owner.checkpoint.as_ref();
    let is_safe = checkpoint.is_some_and(|c| c.resumable && c.gb.is_some_and(|gb| gb > 0.0));
    report.demand(is_safe, "spot", &at(step), || {
        format!(
            "nobody said that {} goes on from a checkpoint of a known size",
            resource.id
        )
    });
}

struct Look<'a> {
    case: Case<'a>,
    step: &'a Step,
    spot: &'a UseSpot,
    members: Vec<&'a Resource>,
    settings: Settings,
    /// For each machine how much of each hour it ran on demand, and the cost.
    alone: Vec<Vec<(f64, f64)>>,
}

fn is_near(given: f64, counted: f64) -> bool {
    (given - counted).abs() <= DIGITS + counted.abs() * 1e-9
}

impl Look<'_> {
    fn demand(&self, holds: bool, report: &mut Report, what: impl FnOnce() -> String) {
        report.demand(holds, "spot", &at(self.step), what);
    }

    fn gb(&self) -> f64 {
        let first = self.members.first().and_then(|m| m.owner.checkpoint.as_ref());
        first.and_then(|checkpoint| checkpoint.gb).unwrap_or(f64::NAN)
    }

    /// Machines that an interruption of one takes down.
    fn machines(&self) -> f64 {
        let hours = self.alone.first().map_or(0, Vec::len);
        let running = |hour: usize| self.alone.iter().filter(|machine| machine[hour].0 > 0.0).count();
        (0..hours).map(running).max().unwrap_or(0).max(1) as f64
    }

    fn prices(&self, report: &mut Report) {
        let (running, cost) = self
            .alone
            .iter()
            .flatten()
            .fold((0.0, 0.0), |sum, hour| (sum.0 + hour.0, sum.1 + hour.1));
        self.demand(is_near(self.spot.on_demand_rate, cost / running), report, || {
            format!(
                "an hour on demand costs {}, not {}",
                cost / running,
                self.spot.on_demand_rate
            )
        });
        let person = self.settings.float("engineer_hours_per_interruption");
        let price = person * self.case.policy.section("plan").float("engineer_hour");
        self.demand(is_near(self.spot.interruption_cost, price), report, || {
            format!("an interruption costs {price} by the policy")
        });
        let kept = self.settings.int("checkpoints_kept") as f64;
        let storage = kept * self.gb() * self.settings.float("storage_per_gb_month");
        self.demand(is_near(self.spot.storage_per_month, storage), report, || {
            format!("keeping the checkpoints costs {storage} a month")
        });
    }

    fn market(&self, report: &mut Report) -> Option<&SpotMarket> {
        let place = &self.spot.place;
        for member in &self.members {
            let is_same_type = member
                .sku
                .value()
                .is_some_and(|sku| sku.as_str().eq_ignore_ascii_case(place.sku.as_str()));
            let is_same_place = member.cloud == place.cloud && member.region == place.region;
            self.demand(is_same_type && is_same_place, report, || {
                format!("{} is not {place}", member.id)
            });
        }
        let facts = self.case.facts;
        let today = TimeZone::UTC.to_datetime(facts.as_of).date();
        let here = facts
            .spot
            .iter()
            .filter(|m| m.place == **place && m.currency == facts.currency && m.as_of <= today);
        let newest = here.clone().map(|market| market.as_of).max();
        let rates = [self.spot.better.rate, self.spot.expected.rate, self.spot.worse.rate];
        let market = here.filter(|market| Some(market.as_of) == newest).find(|market| {
            let known = [market.rate.low, market.rate.middle, market.rate.high];
            rates.into_iter().zip(known).all(|(given, known)| is_near(given, known))
        });
        self.demand(market.is_some(), report, || {
            format!("no newest market {place} has these prices in {}", facts.currency)
        });
        let market = market?;
        let age = i64::from((today - market.as_of).get_days());
        self.demand(age <= self.settings.int("max_price_age_days"), report, || {
            format!("its price is {age} days old")
        });
        Some(market)
    }

    /// Hours of a save, and from new capacity to work.
    fn overheads(&self) -> (f64, f64) {
        let copy = self.gb() / (self.settings.float("checkpoint_gb_per_second") * 3600.0);
        (copy, copy + self.settings.float("start_minutes") / 60.0)
    }

    /// Machine hours and interruptions of the job for an hour of work: a segment is tried until it succeeds, and each
    /// failure is followed by restarts until one succeeds.
    fn expected(&self, interruptions_per_hour: f64, interval: f64) -> (f64, f64) {
        let (save, restart) = self.overheads();
        let rate = interruptions_per_hour * self.machines();
        let length = interval + save;
        if rate == 0.0 {
            return (length / interval, 0.0);
        }
        // (1 - p) / p of a chance p = e^-x, without its loss of digits where x is small.
        let failures_until_success = |x: f64| x.exp_m1();
        let failures = failures_until_success(rate * length);
        let interruptions = failures + failures * failures_until_success(rate * restart);
        // Time under risk is one hour in 1 / rate interruptions.
        (interruptions / rate / interval, interruptions / interval)
    }

    fn hours(&self, market: &SpotMarket, report: &mut Report) {
        let Some(known) = market.interruptions_per_hour.value() else {
            self.demand(false, report, || "nobody knows how often it is interrupted".into());
            return;
        };
        let interval = self.spot.checkpoint_every_hours;
        let most = self.settings.float("max_interval_hours");
        self.demand(interval > 0.0 && interval <= most, report, || {
            format!("a save every {interval} hours")
        });
        let outlooks: [(&str, Outlook, f64); 3] = [
            ("better", self.spot.better, known.low),
            ("expected", self.spot.expected, known.middle),
            ("worse", self.spot.worse, known.high),
        ];
        for (name, given, rate) in outlooks {
            let (hours, interruptions) = self.expected(rate, interval);
            let per_machine = interruptions / self.machines();
            // Differences of exponentials close to one lose digits.
            let is_right = (given.hours - hours).abs() <= 1e-6 * hours
                && (given.interruptions - per_machine).abs() <= DIGITS + 1e-6 * per_machine;
            self.demand(is_right, report, || {
                format!("{name}: {hours} hours and {per_machine} interruptions for an hour, not {given:?}")
            });
        }
        let at = |interval: f64| self.expected(known.middle, interval).0;
        let longer = (interval * 1.05).min(most);
        let is_best = at(interval) <= at(interval * 0.95) + 1e-9 && at(interval) <= at(longer) + 1e-9;
        self.demand(is_best, report, || {
            format!("another interval than {interval} hours is better")
        });
    }

    /// What ran all the time has no time to lose.
    fn deadline(&self, market: &SpotMarket, report: &mut Report) {
        let Some(known) = market.interruptions_per_hour.value() else {
            return;
        };
        let (hours, interruptions) = self.expected(known.high, self.spot.checkpoint_every_hours);
        let clock = hours + interruptions * market.wait_hours;
        let is_due = self.members.iter().any(|member| self.is_due(member));
        if !is_due {
            return;
        }
        let busiest = self.alone.iter().map(|hours| busy(hours)).fold(0.0, f64::max);
        self.demand(busiest * clock <= 1.0 + 1e-6, report, || {
            format!("it ran {busiest} of the time and would take {clock} times as long: its deadline would be missed")
        });
    }

    fn is_due(&self, member: &Resource) -> bool {
        let now = self.case.facts.as_of;
        match member.owner.deadline {
            None => false,
            Some(Deadline::Daily(_)) => true,
            Some(Deadline::At(at)) => now < at,
            Some(Deadline::Day(day)) => {
                let zone = TimeZone::get(&member.owner.zone).unwrap_or(TimeZone::UTC);
                zone.to_datetime(now).date() <= day
            }
        }
    }

    fn net(&self, cost_left: f64, saved: f64, report: &mut Report) {
        let least = self.settings.float("min_net_saving_share");
        self.demand(saved >= (least - 1e-9) * cost_left, report, || {
            format!("it saves {saved} of {cost_left}, the policy wants {least}")
        });
    }
}

/// Share of the period since its first on-demand hour that a machine ran.
fn busy(hours: &[(f64, f64)]) -> f64 {
    let first = hours.iter().position(|(running, _)| *running > 0.0);
    first.map_or(0.0, |first| {
        let ran: f64 = hours[first..].iter().map(|(running, _)| running).sum();
        ran / (hours.len() - first) as f64
    })
}
