//! How many units to commit: the exact level for hourly demand.
//!
//! A committed unit costs `rate` in every hour, used or not; what demand exceeds the level costs its hourly price. The
//! k-th unit is worth buying when what it saves, the sum over hours of price x min(1, max(0, demand - (k - 1))), is more
//! than `rate` x hours. That sum only falls with k, so the best whole level is the last unit that is worth it. With
//! whole demand and one price it is the largest L for which demand reaches L in more than `rate / price` = 1 - d of the
//! hours: the quantile rule. A unit that exactly breaks even is not bought.

#[cfg(test)]
mod tests;

/// What was wanted in an hour, and what a unit of it costs without a commitment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HourDemand {
    /// Units that ran in the hour, in whole hours: half an hour of one is 0.5.
    pub units: f64,
    /// Price of a unit-hour.
    pub price: f64,
}

/// What a level would have cost and covered over the hours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// All demand at its own price.
    pub on_demand: f64,
    /// Fee for the level, used or not.
    pub committed: f64,
    /// Demand above the level, at its own price.
    pub spill: f64,
    /// Unit-hours committed.
    pub bought_hours: f64,
    /// Of these, used.
    pub used_hours: f64,
    /// Demand that the level covered, at its own price.
    pub covered: f64,
}

impl Outcome {
    /// What is paid in all.
    pub fn total(&self) -> f64 {
        self.committed + self.spill
    }

    /// Share of the committed hours that is used; none where nothing is committed.
    pub fn utilisation(&self) -> Option<f64> {
        (self.bought_hours > 0.0).then(|| self.used_hours / self.bought_hours)
    }

    /// Share of the demand, by its on-demand value, that is covered; none without demand.
    pub fn coverage(&self) -> Option<f64> {
        (self.on_demand > 0.0).then(|| self.covered / self.on_demand)
    }

    /// Effective savings rate: (on-demand value - paid) / on-demand value; below zero where the commitment loses.
    pub fn effective_savings_rate(&self) -> Option<f64> {
        (self.on_demand > 0.0).then(|| 1.0 - self.total() / self.on_demand)
    }
}

/// The utilisation below which a committed unit costs more than it saves: `rate / price` = 1 - discount.
pub fn break_even_utilisation(rate: f64, price: f64) -> Option<f64> {
    (price > 0.0).then(|| rate / price)
}

/// What the `unit`-th unit (from 1) would have saved, before its fee.
fn worth(hours: &[HourDemand], unit: u64) -> f64 {
    let below = unit.saturating_sub(1) as f64;
    hours
        .iter()
        .map(|hour| hour.price * (hour.units - below).clamp(0.0, 1.0))
        .sum()
}

/// The whole level with the least cost, and of several the smallest.
pub fn best_level(hours: &[HourDemand], rate: f64) -> u64 {
    let fee = rate * hours.len() as f64;
    let most = hours.iter().fold(0.0, |most: f64, hour| most.max(hour.units)).ceil() as u64;
    let (mut bought, mut not_bought) = (0, most + 1);
    while not_bought - bought > 1 {
        let unit = bought + (not_bought - bought) / 2;
        if worth(hours, unit) > fee {
            bought = unit;
        } else {
            not_bought = unit;
        }
    }
    bought
}

/// The best level where parts of a unit can be bought and every unit has the same price: the quantile of demand at the
/// discount. Zero where no demand is reached in more than `1 - discount` of the hours.
pub fn quantile_level(demand: &[f64], discount: f64) -> f64 {
    let mut falling = demand.to_vec();
    falling.sort_by(|a, b| b.total_cmp(a));
    let needed = (1.0 - discount) * demand.len() as f64;
    let index = needed.floor().max(0.0) as usize;
    falling.get(index).copied().unwrap_or(0.0).max(0.0)
}

/// What a level costs and covers.
pub fn outcome(hours: &[HourDemand], level: f64, rate: f64) -> Outcome {
    let mut sum = Outcome {
        bought_hours: level * hours.len() as f64,
        ..Outcome::default()
    };
    sum.committed = rate * sum.bought_hours;
    for hour in hours {
        let used = hour.units.clamp(0.0, level);
        sum.used_hours += used;
        sum.on_demand += hour.units * hour.price;
        sum.covered += used * hour.price;
        sum.spill += (hour.units - used) * hour.price;
    }
    sum
}
