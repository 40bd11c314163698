//! From views to [`Facts`]: the frozen input of every decision.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use lowwater_model::charge::{CostMetric, PricingCategory, Spread};
use lowwater_model::cloud::cloud_id;
use lowwater_model::facts::{
    CommitmentUse, CostLine, CostRun, Facts, Ledger, LedgerLine, LineKind, Quality, Resource, Transfer,
};
use lowwater_model::id::{CommitmentId, FactsId, ResourceId};
use lowwater_model::known::Known;
use lowwater_model::money::Money;
use lowwater_model::offer::{Market, Offer, PriceBasis, PriceBook, builtin_offers};
use lowwater_model::period::{HOUR_SECONDS, Hour, Period};
use lowwater_model::unit::HourlyRate;
use lowwater_model::usage::{HourUsage, Usage};
use sha2::{Digest, Sha256};

use crate::believed::believed;
use crate::clues;
use crate::error::StoreError;
use crate::owner::Owners;
use crate::session::{Row, Rows};
use crate::store::{Store, traits};
use crate::views::{Places, View};

const DAY_SECONDS: i64 = 24 * HOUR_SECONDS;

/// There may be metrics: alone they say nothing about money.
pub(crate) fn no_bill() -> StoreError {
    StoreError::Refused {
        what: "no bill is loaded".into(),
        hint: "load one: `lowwater load PATH`".into(),
    }
}

impl Store {
    /// The facts at an instant: nothing that begins after it is in them. None = the end of the bill.
    pub fn facts(&self, as_of: Option<Timestamp>) -> Result<Facts, StoreError> {
        let (history, period) = self.periods(as_of)?;
        let mut facts = self.facts_of(history, period)?;
        // Whole days that the bill has, whatever was asked for.
        if let Some(at) = as_of.filter(|at| at.as_second() - facts.as_of.as_second() >= DAY_SECONDS) {
            let end = facts.as_of;
            facts
                .quality
                .warnings
                .push(format!("asked as of {at}, after the end of the bill: as of {end}"));
        }
        Ok(facts)
    }

    /// The id of those facts, without reading them.
    pub fn facts_id(&self, as_of: Option<Timestamp>) -> Result<FactsId, StoreError> {
        let (history, _) = self.periods(as_of)?;
        Ok(self.hash_at(history.end))
    }

    /// The end of the newest charge of a day or less: until then the bill is there. None without a bill.
    pub fn charged_until(&self) -> Result<Option<Timestamp>, StoreError> {
        let newest = self.newest_charge()?.and_then(|at| Timestamp::from_second(at).ok());
        Ok(newest.or_else(|| self.bill_period().map(|bill| bill.end)))
    }

    /// The instant up to which the facts of everything that is loaded see.
    pub fn facts_end(&self) -> Result<Timestamp, StoreError> {
        Ok(self.periods(None)?.0.end)
    }

    /// The facts of whole days that the bill has: what came after a plan, to judge it on.
    pub fn facts_between(&self, start: Timestamp, end: Timestamp) -> Result<Facts, StoreError> {
        let days = |at: Timestamp| at.as_second().div_euclid(DAY_SECONDS) * DAY_SECONDS;
        let newest = self.newest_charge()?.unwrap_or(i64::MIN);
        let period = Period::from_seconds(days(start), days(end).min(newest.div_euclid(DAY_SECONDS) * DAY_SECONDS));
        if period.end <= period.start {
            return Err(StoreError::Refused {
                what: format!("the bill has no whole day from {start} on"),
                hint: "choose an earlier day, or load a newer bill".into(),
            });
        }
        self.facts_of(period, period)
    }

    fn facts_of(&self, history: Period, period: Period) -> Result<Facts, StoreError> {
        let basis = self.basis();
        let places = self.places(period);
        let mut resources = self.resources(history, basis.metric)?;
        let jobs = self.jobs(history.end)?;
        self.place_jobs(&jobs, &mut resources)?;
        let (prices, doubts) = self.price_book(history.end, basis.metric, &Bought::of(&resources))?;
        let ledger = self.ledger(&places, basis.metric)?;
        let mut quality = self.quality(&resources, period)?;
        quality.warnings.extend(doubts);
        Ok(Facts {
            id: self.hash_at(history.end),
            as_of: history.end,
            currency: self.currency().into(),
            history,
            period,
            ledger,
            commitments: self.commitments(&places, basis.metric)?,
            transfer: self.transfer(&places, basis.metric)?,
            spot: crate::spot::markets(&prices, &self.config().interruptions, &jobs, history.end),
            prices,
            minimums: self.minimums(period, basis.metric)?,
            jobs,
            calendars: self.config().calendars.clone(),
            resources,
            quality,
            basis,
        })
    }

    /// History and replayed period, in whole UTC days, as the policy wants them and the bill has them.
    fn periods(&self, as_of: Option<Timestamp>) -> Result<(Period, Period), StoreError> {
        let bill = self.bill_period().ok_or_else(no_bill)?;
        let newest = self.newest_charge()?.unwrap_or(bill.end.as_second());
        let limit = as_of.map_or(newest, |at| at.as_second().min(newest));
        let first = bill.start.as_second().div_euclid(DAY_SECONDS) * DAY_SECONDS;
        let end = (limit.div_euclid(DAY_SECONDS) * DAY_SECONDS).max(first + DAY_SECONDS);
        if limit <= first {
            return Err(StoreError::Refused {
                what: format!(
                    "there are no charges before {}: the bill begins at {}",
                    Timestamp::from_second(limit).unwrap_or(bill.start),
                    bill.start
                ),
                hint: "choose a later --as-of".into(),
            });
        }
        let plan = self.config().policy.section("plan");
        let back = |days: i64| (end - days.max(1) * DAY_SECONDS).max(first);
        let history = Period::from_seconds(back(plan.int("history_days")), end);
        let period = Period::from_seconds(back(plan.int("replay_days")).max(history.start.as_second()), end);
        Ok((history, period))
    }

    /// End of the newest charge of a day or less: monthly ones run ahead of what has been billed.
    pub(crate) fn newest_charge(&self) -> Result<Option<i64>, StoreError> {
        let sql = format!("SELECT max(ChargePeriodEnd) AS newest FROM charges WHERE x_PeriodSeconds <= {DAY_SECONDS}");
        let rows = self.session()?.query(&sql)?;
        Ok(rows.iter().next().and_then(|r| r.second("newest")))
    }

    pub(crate) fn query_view(&self, name: &str, places: &Places) -> Result<Rows, StoreError> {
        let view = View::find(name).ok_or_else(|| StoreError::Query(format!("there is no view {name}")))?;
        self.session()?.query(&view.text(places))
    }

    fn resources(&self, history: Period, metric: CostMetric) -> Result<Vec<Resource>, StoreError> {
        let places = self.places(history);
        let joined = self.joined()?;
        let mut billed = self.clues(history)?;
        let owners = Owners::new(&self.config().workloads, &self.config().policy);
        let spelling = self.spelling()?;
        let mut usage = usage_by_resource(&self.session()?.query(&format!(
            "SELECT * FROM resource_hours WHERE {} ORDER BY ResourceId, x_Hour",
            period_sql("x_Hour", history)
        ))?);
        let mut lines = lines_by_resource(&self.query_view("gpu_lines", &places)?, metric, &usage);
        let rows = self
            .session()?
            .query("SELECT * FROM gpu_resource_traits ORDER BY ResourceId")?;
        let resources = rows.iter().filter_map(|row| {
            let id = ResourceId::from(row.text("ResourceId")?);
            let lines = lines.remove(&id)?;
            let traits = traits(row, joined);
            let owner = spelling.folded(owners.of(&traits));
            Some(Resource {
                name: Some(traits.resource_name.clone()).filter(|n| !n.is_empty()),
                cloud: cloud_id(row.text_or_empty("x_Cloud")),
                account: row.text_or_empty("x_AccountId").into(),
                region: row.text_or_empty("RegionId").into(),
                sku: row.text("x_Sku").map_or_else(
                    || Known::unknown("no column names an instance type"),
                    |s| Known::Value(s.into()),
                ),
                gpus: self.gpus(row),
                usage: usage.remove(&id).unwrap_or_default(),
                clues: clues::of(owner.class, &traits, billed.remove(&id)),
                owner,
                lines,
                id,
            })
        });
        let mut resources: Vec<Resource> = resources.collect();
        resources.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(resources)
    }

    /// The exact bill of the period, and why it differs from BilledCost.
    fn ledger(&self, places: &Places, metric: CostMetric) -> Result<Ledger, StoreError> {
        let mut ledger = Ledger::default();
        let mut named: BTreeMap<&str, Money> = BTreeMap::new();
        for row in self.query_view("reconciliation", places)?.iter() {
            let (total, billed) = (row.money_or_zero(metric.column()), row.money_or_zero("BilledCost"));
            ledger.total += total;
            ledger.billed += billed;
            match difference_label(row.text_or_empty("ChargeCategory"), row.bool("x_Committed")) {
                Some(label) => *named.entry(label).or_default() += billed - total,
                None => ledger.unexplained += billed - total,
            }
        }
        ledger.reconciliation = named
            .into_iter()
            .filter(|(_, amount)| !amount.is_zero())
            .map(|(label, amount)| LedgerLine {
                label: label.to_owned(),
                amount,
            })
            .collect();
        Ok(ledger)
    }

    fn commitments(&self, places: &Places, metric: CostMetric) -> Result<Vec<CommitmentUse>, StoreError> {
        let mut uses: BTreeMap<CommitmentId, CommitmentUse> = BTreeMap::new();
        for row in self.query_view("commitments", places)?.iter() {
            let id = CommitmentId::from(row.text_or_empty("CommitmentDiscountId"));
            let commitment = uses.entry(id.clone()).or_insert_with(|| CommitmentUse {
                id,
                name: row.text("CommitmentDiscountName").map(Into::into),
                kind: row.text("CommitmentDiscountType").unwrap_or("unknown").into(),
                used: Money::ZERO,
                unused: Money::ZERO,
            });
            let cost = row.money_or_zero(metric.column());
            match row.text("CommitmentDiscountStatus") {
                Some("Unused") => commitment.unused += cost,
                _ => commitment.used += cost,
            }
        }
        Ok(uses.into_values().collect())
    }

    fn transfer(&self, places: &Places, metric: CostMetric) -> Result<Vec<Transfer>, StoreError> {
        let rows = self.query_view("transfer", places)?;
        let of = |row: Row<'_>| Transfer {
            workload: row.text("x_Workload").map(Into::into),
            resource: row.text("ResourceId").map(Into::into),
            cost: row.money_or_zero(metric.column()),
        };
        Ok(rows.iter().map(of).filter(|t| !t.cost.is_zero()).collect())
    }

    /// Rates observed in the bill, the owner's offers, loaded price lists as far as they are of hardware that the bill holds, the
    /// built-in table; list prices less what contract.toml says. An offer in another currency is left out: unknown; and so is
    /// one that can't be, with a word on it.
    fn price_book(
        &self,
        until: Timestamp,
        metric: CostMetric,
        bought: &Bought,
    ) -> Result<(PriceBook, Vec<String>), StoreError> {
        let listed = self.listed_offers(jiff::tz::TimeZone::UTC.to_datetime(until).date())?;
        let listed = listed.into_iter().filter(|offer| bought.is_like(offer)).collect();
        let currency = self.currency();
        let mut offers = self.observed_offers(until, metric)?;
        let written = self.written_offers(listed).filter(|o| o.currency.as_str() == currency);
        offers.extend(self.contracted(written, until)?);
        let (offers, doubts) = believed(offers);
        Ok((sorted(offers), doubts))
    }

    /// Every price that is known at an instant, in any currency: for a search.
    pub fn offers(&self, until: Timestamp) -> Result<PriceBook, StoreError> {
        let listed = self.listed_offers(jiff::tz::TimeZone::UTC.to_datetime(until).date())?;
        let mut offers = self.observed_offers(until, self.basis().metric)?;
        offers.extend(self.contracted(self.written_offers(listed), until)?);
        Ok(sorted(offers))
    }

    /// What owners and lists say, and the built-in table.
    pub(crate) fn written_offers(&self, listed: Vec<Offer>) -> impl Iterator<Item = Offer> {
        self.config()
            .offers
            .iter()
            .cloned()
            .chain(listed)
            .chain(builtin_offers())
    }

    /// Rates observed in the bill, in the thirty days before an instant or before the end of the bill.
    fn observed_offers(&self, until: Timestamp, metric: CostMetric) -> Result<Vec<Offer>, StoreError> {
        if self.manifest().bills.is_empty() {
            return Ok(Vec::new());
        }
        let end = self
            .newest_charge()?
            .map_or(until.as_second(), |newest| newest.min(until.as_second()));
        let places = self.places(Period::from_seconds(end - 30 * DAY_SECONDS, end));
        let currency = self.currency();
        let rows = self.query_view("observed_rates", &places)?;
        Ok(rows
            .iter()
            .filter_map(|row| observed_offer(row, metric, &currency))
            .collect())
    }

    fn quality(&self, resources: &[Resource], period: Period) -> Result<Quality, StoreError> {
        let cost = |r: &Resource| -> Money {
            r.lines
                .iter()
                .filter(|l| l.kind == LineKind::Compute)
                .map(|l| cost_in(l, period))
                .sum()
        };
        let seen = |r: &&Resource| r.usage.iter().any(|(hour, _)| period.hour_range().contains(&hour.0));
        let days = self.session()?.query(&format!(
            "SELECT count(DISTINCT x_Day) AS days FROM daily WHERE {}",
            period_sql("x_Day", period)
        ))?;
        let newest = |table: &str, column: &str| -> Result<Option<Timestamp>, StoreError> {
            let rows = self
                .session()?
                .query(&format!("SELECT max({column}) AS newest FROM {table}"))?;
            let second = rows.iter().next().and_then(|r| r.second("newest"));
            Ok(second.and_then(|s| Timestamp::from_second(s + HOUR_SECONDS).ok()))
        };
        Ok(Quality {
            gpu_cost: resources.iter().map(cost).sum(),
            joined_gpu_cost: resources.iter().filter(seen).map(cost).sum(),
            days: (period.seconds() / DAY_SECONDS) as u32,
            days_with_charges: days.iter().next().and_then(|r| r.int("days")).unwrap_or(0) as u32,
            bill_until: self.newest_charge()?.and_then(|s| Timestamp::from_second(s).ok()),
            metrics_until: newest("usage", "x_Hour")?,
            warnings: self.notes(),
        })
    }

    /// Hash of what was loaded, of the configuration and of this program's tables of facts; not of when it was loaded.
    fn hash_at(&self, as_of: Timestamp) -> FactsId {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update(text.as_bytes());
            hash.update([0]);
        };
        add(env!("CARGO_PKG_VERSION"));
        add(&as_of.to_string());
        add(&self.config().hash);
        for unit in self.manifest().bills.values() {
            add(&unit.key());
            unit.inputs.iter().for_each(|i| add(i));
        }
        for unit in self.manifest().usage.values().chain(self.manifest().jobs.values()) {
            add(&unit.key());
            unit.inputs.iter().for_each(|i| add(i));
        }
        for unit in self.manifest().prices.values() {
            add(&unit.key());
            unit.inputs.iter().for_each(|i| add(i));
        }
        hash.finalize()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect::<String>()
            .into()
    }
}

fn sorted(mut offers: Vec<Offer>) -> PriceBook {
    offers.sort_by(|a, b| {
        let key = |o: &Offer| {
            (
                o.cloud.clone(),
                o.region.clone(),
                o.zone.clone(),
                o.sku.clone(),
                o.market,
                o.basis,
                o.as_of,
            )
        };
        key(a).cmp(&key(b)).then(a.rate.0.total_cmp(&b.rate.0))
    });
    PriceBook(offers)
}

/// Hardware that the bill holds: a price list has thousands of others.
struct Bought {
    skus: BTreeSet<String>,
    accelerators: BTreeSet<String>,
}

impl Bought {
    fn of(resources: &[Resource]) -> Self {
        let skus = resources.iter().filter_map(|r| r.sku.value());
        let facts = resources.iter().filter_map(Resource::sku_fact);
        Self {
            skus: skus.map(|sku| sku.as_str().to_lowercase()).collect(),
            accelerators: facts.map(|fact| fact.accelerator.to_string()).collect(),
        }
    }

    /// The same machine, or one with the same accelerator.
    fn is_like(&self, offer: &Offer) -> bool {
        let holds = || offer.holds().map(|holds| holds.accelerator.to_string());
        self.skus.contains(&offer.sku.as_str().to_lowercase())
            || holds().is_some_and(|accelerator| self.accelerators.contains(&accelerator))
    }
}

fn period_sql(column: &str, period: Period) -> String {
    use crate::views::instant;
    let (start, end) = (instant(period.start.as_second()), instant(period.end.as_second()));
    format!("{column} >= {start} AND {column} < {end}")
}

/// Why billed and effective cost of such rows differ; none where nothing explains a difference.
fn difference_label(category: &str, committed: bool) -> Option<&'static str> {
    match (category, committed) {
        ("Purchase", _) => Some("purchases: invoiced now, amortised over what they cover"),
        ("Usage", true) => Some("amortised commitment cost: not invoiced with the use"),
        ("Tax", _) => Some("tax"),
        ("Credit", _) => Some("credits"),
        ("Adjustment", _) => Some("adjustments"),
        _ => None,
    }
}

fn observed_offer(row: Row<'_>, metric: CostMetric, currency: &str) -> Option<Offer> {
    let market = match row.text("PricingCategory") {
        Some("Dynamic") => Market::Spot,
        _ => Market::OnDemand,
    };
    let hours = row.number("ConsumedQuantity").filter(|h| *h > 0.0)?;
    let at = Timestamp::from_second(row.second("x_Hour")?).ok()?;
    Some(Offer {
        cloud: cloud_id(row.text_or_empty("x_Cloud")),
        region: row.text_or_empty("RegionId").into(),
        zone: String::new(),
        sku: row.text("x_Sku")?.into(),
        list: None,
        holds: None,
        market,
        rate: HourlyRate((row.money(metric.column())?.estimate().amount() / hours * 1e6).round() / 1e6),
        currency: currency.into(),
        basis: PriceBasis::Observed,
        as_of: jiff::tz::TimeZone::UTC.to_datetime(at).date(),
        source: format!("bill, {metric} cost of the last 30 days"),
    })
}

fn usage_by_resource(rows: &Rows) -> BTreeMap<ResourceId, Usage> {
    let mut out: BTreeMap<ResourceId, Usage> = BTreeMap::new();
    let mut current: Option<(ResourceId, Usage)> = None;
    for row in rows.iter() {
        let (Some(id), Some(hour)) = (row.text("ResourceId"), row.hour("x_Hour")) else {
            continue;
        };
        if current.as_ref().is_none_or(|(c, _)| c.as_str() != id) {
            out.extend(current.replace((ResourceId::from(id), Usage::default())));
        }
        if let Some((_, usage)) = &mut current {
            usage.push(hour, hour_usage(row));
        }
    }
    out.extend(current);
    out
}

fn hour_usage(row: Row<'_>) -> HourUsage {
    let int = |name: &str| row.int(name).unwrap_or(0);
    let seconds = int("x_ActivitySeconds").max(1);
    HourUsage {
        gpus: int("x_Gpus") as u16,
        observed_minutes: (int("x_ObservedSeconds") / 60).clamp(0, 60) as u8,
        idle: row.bool("x_Idle"),
        activity_max_bin: row.int("x_ActivityMaxBin").unwrap_or(0) as u8,
        activity_permille: (int("x_ActivityMicroSeconds") / seconds / 1000).clamp(0, 1000) as u16,
        memory_max_bin: row.int("x_MemoryMaxBin").map(|b| b as u8),
        power_max_w: row.int("x_PowerMaxMilliWatt").map(|w| (w / 1000) as u16),
    }
}

/// What tells one cost line from another.
type LineKey = (LineKind, PricingCategory, Option<CommitmentId>, i64);

fn lines_by_resource(
    rows: &Rows,
    metric: CostMetric,
    usage: &BTreeMap<ResourceId, Usage>,
) -> BTreeMap<ResourceId, Vec<CostLine>> {
    let mut out: BTreeMap<ResourceId, Vec<CostLine>> = BTreeMap::new();
    let mut last: Option<(ResourceId, LineKey)> = None;
    for row in rows.iter() {
        let (Some(id), Some(hour), Some(seconds)) = (row.text("ResourceId"), row.hour("x_Hour"), row.int("x_Seconds"))
        else {
            continue;
        };
        let key = line_key(row, seconds);
        let same = last.as_ref().is_some_and(|(i, k)| i.as_str() == id && *k == key);
        if !same {
            let id = ResourceId::from(id);
            let line = new_line(&key, usage.get(&id));
            out.entry(id.clone()).or_default().push(line);
            last = Some((id, key));
        }
        let cost = row.money_or_zero(metric.column());
        let Some((id, _)) = &last else { continue };
        if let Some(line) = out.get_mut(id).and_then(|lines| lines.last_mut()) {
            if seconds <= HOUR_SECONDS {
                push_hour(&mut line.runs, hour, cost, billed_seconds(row));
            } else {
                spread(line, hour, (seconds / HOUR_SECONDS).max(1), cost, usage.get(id));
            }
        }
    }
    out
}

fn line_key(row: Row<'_>, seconds: i64) -> LineKey {
    let kind = if row.text("x_LineKind") == Some("compute") {
        LineKind::Compute
    } else {
        LineKind::Other
    };
    let pricing = row
        .text("PricingCategory")
        .and_then(PricingCategory::parse)
        .unwrap_or(PricingCategory::Other);
    (
        kind,
        pricing,
        row.text("CommitmentDiscountId").map(CommitmentId::from),
        seconds,
    )
}

fn new_line(key: &LineKey, usage: Option<&Usage>) -> CostLine {
    let (kind, pricing, commitment, seconds) = key.clone();
    let spread = match usage {
        _ if seconds <= HOUR_SECONDS => Spread::Hourly,
        Some(usage) if kind == LineKind::Compute && !usage.hours.is_empty() => Spread::Activity,
        _ => Spread::Even,
    };
    CostLine {
        kind,
        pricing,
        commitment,
        spread,
        runs: Vec::new(),
    }
}

/// Seconds of use in an hour: the quantity in hours, at most a whole hour; the whole hour where the bill gives none.
fn billed_seconds(row: Row<'_>) -> u32 {
    let hours = row.number("ConsumedQuantity").filter(|h| *h > 0.0).unwrap_or(1.0);
    (hours * HOUR_SECONDS as f64).round().clamp(0.0, HOUR_SECONDS as f64) as u32
}

fn push_hour(runs: &mut Vec<CostRun>, hour: Hour, cost: Money, seconds: u32) {
    match runs.last_mut() {
        Some(run) if run.end() == hour && run.cost == cost && run.seconds == seconds => run.hours += 1,
        _ => runs.push(CostRun {
            start: hour,
            hours: 1,
            cost,
            seconds,
        }),
    }
}

/// Spreads a charge over its hours: by activity where it was measured, else evenly; exact to the last digit.
fn spread(line: &mut CostLine, start: Hour, hours: i64, cost: Money, usage: Option<&Usage>) {
    let active = |hour: i64| {
        usage
            .and_then(|u| u.at(Hour(hour)))
            .map_or(0, |u| i128::from(u.activity_permille))
    };
    let mut weights: Vec<Money> = (start.0..start.0 + hours)
        .map(|h| Money::from_units(active(h)))
        .collect();
    if line.spread != Spread::Activity || weights.iter().all(|w| w.is_zero()) {
        // One charge without measured activity makes the whole line say nothing about when.
        line.spread = Spread::Even;
        weights = vec![Money::from_units(1); weights.len()];
    }
    let shares = lowwater_model::money::split_by_weight(cost, &weights).unwrap_or_default();
    for (hour, share) in (start.0..).zip(shares) {
        push_hour(&mut line.runs, Hour(hour), share, HOUR_SECONDS as u32);
    }
}

/// Cost of a line inside a period.
fn cost_in(line: &CostLine, period: Period) -> Money {
    let range = period.hour_range();
    line.runs
        .iter()
        .map(|run| {
            let hours = run.end().0.min(range.end) - run.start.0.max(range.start);
            run.cost.times(hours.max(0))
        })
        .sum()
}

#[cfg(test)]
mod tests;
