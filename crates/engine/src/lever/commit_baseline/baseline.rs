//! One scope: its demand, the best term and level, and why there may be none.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use lowwater_model::facts::Resource;
use lowwater_model::known::Known;
use lowwater_model::money::Estimate;
use lowwater_model::offer::{Market, Offer, PriceKey};
use lowwater_model::period::{HOUR_SECONDS, Period};
use lowwater_model::plan::{Declined, Scope};
use lowwater_model::policy::Settings;

use super::purchase::Purchase;
use super::{META, is_listed, target};
use crate::lever::evidence;
use crate::lever::running::last_week;
use crate::replay::{Replay, billed};
use crate::solve::quantile::{HourDemand, best_level, break_even_utilisation, outcome};

/// A scope with what runs on demand in it.
pub(super) struct Baseline<'a> {
    pub(super) so_far: &'a Replay<'a>,
    pub(super) settings: &'a Settings,
    pub(super) scope: Scope,
    pub(super) members: Vec<&'a Resource>,
    /// Of the replayed period.
    pub(super) hours: Vec<HourDemand>,
    pub(super) days: i64,
    refusal: Option<String>,
    pub(super) numbers: BTreeMap<String, Estimate>,
}

fn mean(hours: &[HourDemand]) -> f64 {
    if hours.is_empty() {
        return 0.0;
    }
    hours.iter().map(|hour| hour.units).sum::<f64>() / hours.len() as f64
}

impl<'a> Baseline<'a> {
    pub(super) fn new(so_far: &'a Replay<'a>, settings: &'a Settings, scope: Scope, members: Vec<&'a Resource>) -> Self {
        let facts = so_far.facts();
        let ids = || members.iter().map(|r| &r.id);
        let hours = so_far.on_demand(ids(), facts.period);
        let first = members
            .iter()
            .filter_map(|r| billed(r, facts.history).iter().next().map(|(start, _)| start))
            .min();
        let days = first.map_or(0, |first| (facts.history.end.as_second() - first) / (24 * HOUR_SECONDS));
        let mut baseline = Self {
            so_far,
            settings,
            hours,
            days,
            refusal: None,
            numbers: BTreeMap::new(),
            scope,
            members,
        };
        let means = baseline.means();
        let names = ["before", "in_period", "last_week"];
        for (name, mean) in names.into_iter().zip(means) {
            if let Some(mean) = mean {
                baseline.numbers.insert(format!("running_{name}"), Estimate::new(mean).rounded());
            }
        }
        baseline.refusal = baseline.unfit(means);
        baseline
    }

    /// Instances that ran on demand on average: in the history before the period, in the period, in its last week.
    fn means(&self) -> [Option<f64>; 3] {
        let facts = self.so_far.facts();
        let ids = || self.members.iter().map(|r| &r.id);
        let before = Period::from_seconds(facts.history.start.as_second(), facts.period.start.as_second());
        let of = |within: Period| mean(&self.so_far.on_demand(ids(), within));
        let before = (before.seconds() > 0).then(|| of(before));
        [before, Some(mean(&self.hours)), Some(of(last_week(facts)))]
    }

    /// Why nothing is promised for the scope, whatever the price.
    fn unfit(&self, [before, period, week]: [Option<f64>; 3]) -> Option<String> {
        let (settings, quality) = (self.settings, &self.so_far.facts().quality);
        if quality.days_with_charges < quality.days {
            return Some(format!(
                "the data is incomplete: {} of {} days have charges; load the missing days first",
                quality.days_with_charges, quality.days
            ));
        }
        if is_listed(settings, "nothing_for", &self.scope) {
            return Some(format!("{} is in nothing_for: its generation is on its way out", self.scope.sku));
        }
        let need = settings.int("min_history_days");
        if self.days < need {
            return Some(format!(
                "its history is {}, the policy wants {need} days",
                evidence::count(self.days.max(0) as usize, "day")
            ));
        }
        let most = settings.float("max_fall_share");
        let fell = |from: Option<f64>, to: Option<f64>, words: &str| {
            let (from, to) = (from?, to?);
            (to < (1.0 - most) * from).then(|| {
                format!("demand falls: {to:.2} ran on average {words} {from:.2}; the policy allows {:.0} % less", most * 100.0)
            })
        };
        fell(before, period, "in the replayed period, before that")
            .or_else(|| fell(period, week, "in the last week, in the replayed period"))
    }

    /// Terms that the owner allows for this type.
    fn terms(&self) -> &'static [Market] {
        if is_listed(self.settings, "three_years_for", &self.scope) {
            &[Market::OneYear, Market::ThreeYears]
        } else {
            &[Market::OneYear]
        }
    }

    pub(super) fn today(&self) -> Date {
        TimeZone::UTC.to_datetime(self.so_far.facts().as_of).date()
    }

    fn price(&self, term: Market) -> Result<Offer, String> {
        let key = PriceKey {
            cloud: &self.scope.provider,
            region: self.scope.region.as_str(),
            sku: self.scope.sku.as_str(),
            market: term,
        };
        let facts = self.so_far.facts();
        match facts.prices.find(&key, self.today()) {
            Known::Unknown(why) => Err(format!("{why}; write one in offers.csv")),
            Known::Value(offer) if offer.currency != facts.currency => {
                Err(format!("the {term} price is in {}, the bill in {}", offer.currency, facts.currency))
            }
            Known::Value(offer) => {
                let age = i64::from((self.today() - offer.as_of).get_days());
                let most = self.settings.int("max_price_age_days");
                if age > most {
                    return Err(format!("the {term} price is {age} days old, the policy allows {most}"));
                }
                Ok(offer)
            }
        }
    }

    /// The term and level that save most, before any limit.
    pub(super) fn best(&self) -> Result<Purchase, String> {
        if let Some(why) = &self.refusal {
            return Err(why.clone());
        }
        let mut reasons = Vec::new();
        let mut best: Option<Purchase> = None;
        for term in self.terms() {
            match self.at_best_level(*term) {
                Ok(purchase) if best.as_ref().is_none_or(|other| purchase.saved() > other.saved()) => best = Some(purchase),
                Ok(_) => {}
                Err(why) => reasons.push(why),
            }
        }
        best.ok_or_else(|| reasons.join("; "))
    }

    fn at_best_level(&self, term: Market) -> Result<Purchase, String> {
        let offer = self.price(term)?;
        let rate = offer.rate.0;
        let level = u32::try_from(best_level(&self.hours, rate)).unwrap_or(u32::MAX);
        if level == 0 {
            let cost: f64 = self.hours.iter().map(|hour| hour.units * hour.price).sum();
            let price = cost / self.hours.iter().map(|hour| hour.units).sum::<f64>();
            let even = break_even_utilisation(rate, price).unwrap_or(f64::INFINITY);
            if even > 1.0 {
                return Err(format!("the {term} price {rate:.4} is dearer than {price:.4} on demand"));
            }
            return Err(format!(
                "no unit would be used in more than the {:.1} % of the hours at which the {term} price {rate:.4} breaks even with \
                 {price:.4} on demand",
                even * 100.0
            ));
        }
        let outcome = outcome(&self.hours, f64::from(level), rate);
        Ok(Purchase { term, offer, level, outcome })
    }

    pub(super) fn declined(&self, why: String, numbers: BTreeMap<String, Estimate>) -> Declined {
        Declined {
            lever: META.name.into(),
            target: target(&self.scope, &self.members),
            why,
            numbers, declare: None }
    }
}
