//! One fleet: what it runs on demand, which market is best, and why it may be refused.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use lowwater_model::change::use_spot::UseSpot;
use lowwater_model::change::{Change, Effort};
use lowwater_model::facts::{Facts, Resource};
use lowwater_model::known::Known;
use lowwater_model::money::Estimate;
use lowwater_model::offer::{Market, PriceKey};
use lowwater_model::plan::{Declined, Finding, Verdict};
use lowwater_model::policy::{Policy, Settings};
use lowwater_model::spot::SpotMarket;
use lowwater_model::workload::Checkpoint;

use super::words::every;
use super::market::{Job, Look, digits};
use super::{META, target};
use crate::lever::{evidence, owner};
use crate::replay::{MONTH_HOURS, Replay};


/// The members of a fleet that may be interrupted, and what they run on demand.
pub(super) struct Fleet<'a> {
    pub(super) so_far: &'a Replay<'a>,
    policy: &'a Policy,
    settings: Settings,
    pub(super) members: Vec<&'a Resource>,
    pub(super) checkpoint: &'a Checkpoint,
    pub(super) gb: f64,
    pub(super) job: Job,
    /// What an hour on demand costs.
    pub(super) on_demand_rate: f64,
    /// On-demand hours and their cost that earlier steps left.
    pub(super) hours_left: f64,
    cost_left: f64,
    /// Largest share of the time since its first hour that a member ran.
    busy_share: f64,
}

/// Why there is no step.
struct Refusal {
    why: String,
    numbers: BTreeMap<String, Estimate>,
}

impl<'a> Fleet<'a> {
    /// None where nobody is left.
    pub(super) fn new(so_far: &'a Replay<'a>, policy: &'a Policy, members: Vec<&'a Resource>) -> Option<Self> {
        let first = members.first()?;
        let checkpoint = first.owner.checkpoint.as_ref()?;
        let gb = checkpoint.gb?;
        let facts = so_far.facts();
        let settings = policy.lever(META.name, first.owner.team.as_ref(), first.owner.environment.as_deref());
        let ids = || members.iter().map(|r| &r.id);
        let as_billed = Replay::of(facts).on_demand(ids(), facts.period);
        let sum = |hours: &[crate::solve::quantile::HourDemand]| {
            let cost: f64 = hours.iter().map(|hour| hour.units * hour.price).sum();
            (hours.iter().map(|hour| hour.units).sum::<f64>(), cost)
        };
        let (hours, cost) = sum(&as_billed);
        let (hours_left, cost_left) = sum(&so_far.on_demand(ids(), facts.period));
        Some(Self {
            so_far,
            policy,
            checkpoint,
            gb,
            job: Job::new(at_once(facts, &members), gb, &settings),
            on_demand_rate: digits(cost / hours),
            hours_left,
            cost_left,
            busy_share: members.iter().map(|r| busy_share(facts, r)).fold(0.0, f64::max),
            settings,
            members,
        })
    }

    pub(super) fn verdict(&self) -> Verdict {
        match self.step() {
            Ok(finding) => Verdict::Found(finding),
            Err(Refusal { why, numbers }) => Verdict::Declined(Declined {
                lever: META.name.into(),
                target: target(&self.members),
                why,
                numbers, declare: None }),
        }
    }

    fn step(&self) -> Result<Finding, Refusal> {
        let look = self.best_market()?;
        let change = self.change(&look);
        self.in_time(&look, &change)?;
        self.worth_it(&look, &change)?;
        Ok(Finding {
            target: target(&self.members),
            needs: evidence::store_condition(&self.members, self.policy).into_iter().collect(),
            because: self.because(&look, &change).into_iter().chain(self.guesses()).collect(),
            effort: Effort::Hours,
            price: None,
            change: Change::UseSpot(change),
        })
    }

    /// The guesses of the members' classes, where nobody declared them.
    fn guesses(&self) -> impl Iterator<Item = String> {
        let facts = self.so_far.facts();
        let standings = self.members.iter().map(|member| owner::standing(facts, self.policy, member));
        standings.filter_map(|standing| standing.ok()?.guessed)
    }

    /// The market on which an hour of the work is expected to cost least.
    fn best_market(&self) -> Result<Look<'a>, Refusal> {
        let facts = self.so_far.facts();
        let first = self.members[0];
        let fitting: Vec<&SpotMarket> = facts.spot.iter().filter(|market| market.place.fits(first)).collect();
        let words = match &first.sku {
            Known::Value(sku) => format!("{sku} in {}", first.region),
            Known::Unknown(why) => return Err(plain(format!("measure this first: its type is not known: {why}"))),
        };
        if fitting.is_empty() {
            return Err(plain(self.without_market(&words)));
        }
        let fresh: Vec<&SpotMarket> = fitting.into_iter().filter(|market| self.is_fresh(market)).collect();
        if fresh.is_empty() {
            let days = self.settings.int("max_price_age_days");
            return Err(plain(format!(
                "every spot price of {words} is older than {days} days or in another currency; load newer ones"
            )));
        }
        let is_newest = |market: &&SpotMarket| !fresh.iter().any(|other| other.place == market.place && other.as_of > market.as_of);
        let newest = || fresh.iter().copied().filter(is_newest);
        let looks = newest().filter_map(|market| {
            let known = market.interruptions_per_hour.value()?;
            (known.is_sound() && market.rate.is_sound()).then(|| self.job.on(market, known))
        });
        let looks: Vec<Look<'_>> = looks.collect();
        if !looks.is_empty() && looks.iter().all(|look| !look.expected.hours.is_finite()) {
            return Err(plain(format!(
                "it would never end on spot capacity of {words}: interruptions come faster than a save and a restart"
            )));
        }
        let cost = |look: &Look<'_>| self.change(look).hour_cost(look.expected);
        let best = looks.into_iter().min_by(|a, b| cost(a).total_cmp(&cost(b)).then_with(|| a.market.place.cmp(&b.market.place)));
        best.ok_or_else(|| {
            let why = newest().find_map(|market| match &market.interruptions_per_hour {
                Known::Unknown(why) => Some(why.as_str()),
                Known::Value(_) => None,
            });
            plain(format!(
                "measure this first: nobody knows how often spot capacity of {words} is taken back: {}; write a row of spot.csv or \
                 load jobs that ran there",
                why.unwrap_or("what is known of it is no spread")
            ))
        })
    }

    /// What is missing where no market fits: the price as well, or only how often capacity is taken back.
    fn without_market(&self, words: &str) -> String {
        let (facts, first) = (self.so_far.facts(), self.members[0]);
        let key = PriceKey {
            cloud: &first.cloud,
            region: first.region.as_str(),
            sku: first.sku.value().map_or("", |sku| sku.as_str()),
            market: Market::Spot,
        };
        let day = TimeZone::UTC.to_datetime(facts.as_of).date();
        match facts.prices.find(&key, day) {
            Known::Unknown(_) => format!("no spot price of {words} is known; load one"),
            Known::Value(offer) => format!(
                "measure this first: spot capacity of {words} costs {:.4} {} an hour, but nobody knows how often it is taken \
                 back; load a trace",
                offer.rate.0, offer.currency
            ),
        }
    }

    fn is_fresh(&self, market: &SpotMarket) -> bool {
        let facts = self.so_far.facts();
        let today = TimeZone::UTC.to_datetime(facts.as_of).date();
        let age = (today - market.as_of).get_days();
        market.currency == facts.currency && (0..=self.settings.int("max_price_age_days")).contains(&i64::from(age))
    }

    fn change(&self, look: &Look<'_>) -> UseSpot {
        let kept = self.settings.int("checkpoints_kept") as f64;
        let person = self.settings.float("engineer_hours_per_interruption");
        UseSpot {
            workload: self.members[0].owner.workload.clone().unwrap_or_else(|| "".into()),
            resources: self.members.iter().map(|r| r.id.clone()).collect(),
            place: Box::new(look.market.place.clone()),
            checkpoint_every_hours: look.interval_hours,
            on_demand_rate: self.on_demand_rate,
            interruption_cost: digits(person * self.policy.section("plan").float("engineer_hour")),
            storage_per_month: digits(self.gb * kept * self.settings.float("storage_per_gb_month")),
            expected: look.expected,
            worse: look.worse,
            better: look.better,
        }
    }

    fn numbers(&self, look: &Look<'_>, change: &UseSpot) -> BTreeMap<String, Estimate> {
        let mut numbers = evidence::at_stake(self.so_far, &Change::UseSpot(change.clone()));
        let month = MONTH_HOURS / self.so_far.facts().period.hours();
        let more = [
            ("spot_hours_per_hour", look.expected.hours),
            ("interruptions_per_month", look.expected.interruptions * self.hours_left * month),
            ("net_saving_percent", self.net_saving(change) * 100.0),
        ];
        numbers.extend(more.map(|(name, value)| (name.to_owned(), Estimate::new(value).rounded())));
        // Work that never ends has no numbers.
        numbers.retain(|_, number| number.amount().is_finite());
        numbers
    }

    /// Share of the on-demand cost that is left after everything.
    pub(super) fn net_saving(&self, change: &UseSpot) -> f64 {
        let ids = self.members.iter().map(|r| r.id.clone()).collect();
        let before = self.so_far.part(&ids);
        let saved = before.with(&Change::UseSpot(change.clone())).saved().cash - before.saved().cash;
        saved.amount() / self.cost_left
    }

    fn in_time(&self, look: &Look<'_>, change: &UseSpot) -> Result<(), Refusal> {
        let facts = self.so_far.facts();
        let due = self.members.iter().find_map(|r| Some((*r, r.owner.deadline.filter(|due| !due.is_over(&r.owner.zone, facts.as_of))?)));
        let needed = self.busy_share * look.worst_wall;
        match due {
            Some((resource, deadline)) if needed > 1.0 => {
                let mut numbers = self.numbers(look, change);
                numbers.insert("hours_on_the_clock_per_hour".into(), Estimate::new(look.worst_wall).rounded());
                numbers.insert("busy_percent".into(), Estimate::new(self.busy_share * 100.0).rounded());
                Err(Refusal {
                    why: format!(
                        "the deadline {deadline} would be missed: {} ran {:.0} % of the time, and on {} the same work takes {:.2} \
                         times as long when interruptions are at the high end of their spread",
                        resource.owner.workload.as_ref().map_or("it", |name| name.as_str()),
                        self.busy_share * 100.0,
                        look.market.place,
                        look.worst_wall
                    ),
                    numbers,
                })
            }
            _ => Ok(()),
        }
    }

    fn worth_it(&self, look: &Look<'_>, change: &UseSpot) -> Result<(), Refusal> {
        let (net, least) = (self.net_saving(change), self.settings.float("min_net_saving_share"));
        if net >= least {
            return Ok(());
        }
        Err(Refusal {
            why: format!(
                "{} on {}, less than the {:.0} % of min_net_saving_share: an hour of today's at {:.4} {} becomes \
                 {:.3} spot hours at {:.4}, interrupted {}",
                saves(net),
                look.market.place,
                least * 100.0,
                self.on_demand_rate,
                self.so_far.facts().currency,
                look.expected.hours,
                look.expected.rate,
                every(look.mean_hours),
            ),
            numbers: self.numbers(look, change),
        })
    }
}

fn plain(why: String) -> Refusal {
    Refusal { why, numbers: BTreeMap::new() }
}

/// The most machines that ran on demand in one hour.
fn at_once(facts: &Facts, members: &[&Resource]) -> f64 {
    let mut running = vec![0_u32; facts.period.hour_range().count()];
    for member in members {
        let hours = Replay::of(facts).on_demand([&member.id], facts.period);
        for (count, hour) in running.iter_mut().zip(hours) {
            *count += u32::from(hour.units > 0.0);
        }
    }
    f64::from(running.into_iter().max().unwrap_or(0).max(1))
}

/// Share of the time from its first hour in the period to the end that the resource ran on demand.
fn busy_share(facts: &Facts, resource: &Resource) -> f64 {
    let hours = Replay::of(facts).on_demand([&resource.id], facts.period);
    let since_first: Vec<f64> = hours.iter().map(|hour| hour.units).skip_while(|units| *units == 0.0).collect();
    if since_first.is_empty() { 0.0 } else { since_first.iter().sum::<f64>() / since_first.len() as f64 }
}

/// A share in words; one beyond reason is not spelled out.
fn saves(net: f64) -> String {
    if net < -10.0 {
        return "costs more than eleven times as much net".into();
    }
    format!("saves {:.1} % net", net * 100.0)
}
