//! Where the money goes: the bill by one or two dimensions, with what belongs to nobody as lines of its own.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::civil::Date;
use lowwater_model::charge::CostMetric;
use lowwater_model::known::Known;
use lowwater_model::money::{ExactSum, Money};
use serde::Serialize;

use crate::error::StoreError;
use crate::facts::no_bill;
use crate::session::Row;
use crate::store::Store;

macro_rules! dimensions {
    ($($(#[$doc:meta])* $variant:ident $text:literal $owner:literal $sql:literal;)+) => {
        /// What a report can be broken down by.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Dimension { $($(#[$doc])* $variant),+ }

        impl Dimension {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// As on the command line and as a column.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// Does it name an owner? Then money that belongs to nobody has a label here.
            pub const fn is_owner(self) -> bool {
                match self { $(Self::$variant => $owner),+ }
            }

            const fn sql(self) -> &'static str {
                match self { $(Self::$variant => $sql),+ }
            }
        }
    };
}

dimensions! {
    /// Month of the charge, or billing month.
    Month "month" false "";
    /// Day of the charge in the owner's zone.
    Day "day" false "to_char(x_Day, '%Y-%m-%d')";
    /// Class of work.
    Class "class" true "coalesce(x_Label, x_Class, 'unknown')";
    /// Team.
    Team "team" true "coalesce(x_Label, x_Team, '(unallocated)')";
    /// Project.
    Project "project" true "coalesce(x_Label, x_Project, '(unallocated)')";
    /// Environment.
    Environment "environment" true "coalesce(x_Label, x_Environment, '(unallocated)')";
    /// Model.
    Model "model" true "coalesce(x_Label, x_Model, '(unallocated)')";
    /// Workload.
    Workload "workload" true "coalesce(x_Label, x_Workload, '(unallocated)')";
    /// ResourceId.
    Resource "resource" false "coalesce(ResourceId, '(none)')";
    /// Instance type.
    Sku "sku" false "coalesce(x_Sku, '(none)')";
    /// Region.
    Region "region" false "coalesce(RegionId, '(none)')";
    /// Cloud.
    Provider "provider" false "coalesce(x_Cloud, '(none)')";
    /// Sub account, else billing account.
    Account "account" false "coalesce(x_AccountId, '(none)')";
    /// FOCUS PricingCategory.
    PricingCategory "pricing_category" false "coalesce(PricingCategory, '(none)')";
}

impl Dimension {
    /// Reads a name; `pricing` is short for `pricing_category`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = if text == "pricing" { "pricing_category" } else { text };
        Self::ALL.iter().copied().find(|d| d.as_str() == text)
    }

    pub(crate) const fn is_time(self) -> bool {
        matches!(self, Self::Month | Self::Day)
    }

    fn expression(self, kind: PeriodKind) -> &'static str {
        match (self, kind) {
            (Self::Month, PeriodKind::Billing) => "x_Month",
            (Self::Month, PeriodKind::Charge) => "to_char(x_Day, '%Y-%m')",
            _ => self.sql(),
        }
    }
}

/// Which time a report counts by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PeriodKind {
    /// When the charge was incurred.
    #[default]
    Charge,
    /// When it was invoiced.
    Billing,
}

/// How idle cost is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IdleMode {
    /// With its owner; each row says how much of it.
    #[default]
    Keep,
    /// As a line of its own.
    Separate,
    /// Spread over the owners by what they cost otherwise.
    Spread,
}

/// A question.
#[derive(Clone, Debug, Default)]
pub struct ReportQuery {
    /// One or two dimensions.
    pub by: Vec<Dimension>,
    /// Cost column; none = effective, or billed where effective can't be trusted.
    pub metric: Option<CostMetric>,
    /// First day, in the owner's zone, unless `utc` is set.
    pub from: Option<Date>,
    /// First day after.
    pub to: Option<Date>,
    /// Which time counts.
    pub period: PeriodKind,
    /// How idle cost is shown.
    pub idle: IdleMode,
    /// Only charges with one of these labels, for each dimension that is named; figures are of these charges too.
    pub only: BTreeMap<Dimension, Vec<String>>,
    /// Days are those of UTC, as the days of facts and plans.
    pub utc: bool,
}

impl ReportQuery {
    /// Does the answer depend on where a day begins?
    fn is_about_time(&self) -> bool {
        let by_time = self.by.iter().chain(self.only.keys()).any(|d| d.is_time());
        (by_time || self.from.is_some() || self.to.is_some()) && self.period == PeriodKind::Charge && !self.utc
    }

    /// The WHERE clause of its filters on labels.
    pub(crate) fn where_labels(&self) -> String {
        clause(Filter::new(self).labels.iter())
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Report {
    /// Cost column.
    pub metric: CostMetric,
    /// Why that one, where it was not asked for.
    pub metric_why: Option<String>,
    /// Billing currency.
    pub currency: String,
    /// The dimensions.
    pub by: Vec<Dimension>,
    /// By cost, the highest first; lines that belong to nobody last.
    pub rows: Vec<ReportRow>,
    /// Stored total of the rows.
    pub stored: Money,
    /// The file's own total where the report covers whole exports: stored plus what twelve digits could not hold.
    pub exact: Option<ExactSum>,
    /// Was any billed hour of a GPU machine observed, or are there none? Else idle cost is unknown and its zeros mean nothing.
    pub idle_known: bool,
    /// Money that stands out, whatever the dimensions.
    pub lines: Lines,
    /// GPU figures.
    pub gpu: GpuFigures,
    /// First and last day with charges in the report.
    pub days: Option<(String, String)>,
    /// The zone of these days, IANA.
    pub zone: String,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportRow {
    /// One label a dimension.
    pub labels: Vec<String>,
    /// In the report's metric.
    pub cost: Money,
    /// The part of it that ran idle.
    pub of_which_idle: Money,
    /// Was any of its GPU machines observed? Where none was, its idle cost is unknown; without GPUs it is nothing.
    pub idle_known: bool,
    /// GPU-hours billed.
    pub gpu_hours: Money,
}

/// Money that stands out; each is also inside the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lines {
    /// Ran idle: every GPU of the resource in its lowest activity bin for the hour.
    pub idle: Money,
    /// No team by workload or tag.
    pub unallocated: Money,
    /// Lacks a tag that the policy requires.
    pub untagged: Money,
    /// Committed and not used; none where the cost column does not say it.
    pub unused_commitment: Option<Money>,
}

/// GPU figures of a report.
#[derive(Clone, Debug)]
pub struct GpuFigures {
    /// Cost of resources with a GPU.
    pub cost: Money,
    /// The part of it that is development.
    pub development: Money,
    /// The part of it whose class nobody declared.
    pub undeclared: Money,
    /// GPU-hours billed.
    pub gpu_hours: Money,
    /// GPU-hours weighed by activity, on resources with joined metrics: two hours at 50 % are one useful hour.
    pub useful_gpu_hours: Known<f64>, // not money: hours
    /// Cost of the resources with joined metrics for one useful GPU-hour.
    pub cost_per_useful_gpu_hour: Known<f64>, // not money: a ratio, only shown
}

impl Store {
    /// Breaks the bill down.
    pub fn report(&self, query: &ReportQuery) -> Result<Report, StoreError> {
        if self.manifest().bills.is_empty() {
            return Err(no_bill());
        }
        let basis = self.basis();
        let metric = query.metric.unwrap_or(basis.metric);
        let filter = Filter::new(query);
        let (mut rows, figures) = self.rows_and_figures(query, metric, &filter)?;
        let mut notes = self.notes();
        notes.extend(self.spelling()?.notes());
        shape_idle(&mut rows, query, &mut notes);
        rows.retain(|r| !r.cost.is_zero() || !r.of_which_idle.is_zero());
        notes.extend(figures.counted_twice(metric, &self.currency()));
        sort_rows(&mut rows, query);
        let stored = figures.total;
        let exact = if filter.is_whole() {
            Some(self.file_total(metric))
        } else {
            None
        };
        if let Some(sum) = exact.filter(|sum| sum.stored() != stored) {
            return Err(StoreError::Refused {
                what: format!("the store holds {stored}, its manifest says {}", sum.stored()),
                hint: "its files were changed by something else: load the months again with `--replace`".into(),
            });
        }
        Ok(Report {
            metric,
            metric_why: query.metric.is_none().then(|| basis.why.clone()),
            currency: self.currency(),
            by: query.by.clone(),
            rows,
            stored,
            exact,
            idle_known: !self.joined()?.matched().is_empty() && (figures.observed || !figures.has_gpus),
            lines: Lines {
                unused_commitment: figures.unused(metric),
                ..figures.lines
            },
            gpu: self.gpu_figures(&figures, (metric, query), &filter)?,
            days: self.days(query, figures.days, &filter)?,
            zone: if query.utc {
                "UTC".to_owned()
            } else {
                self.config().policy.section("calendar").text("zone").to_owned()
            },
            notes,
        })
    }

    /// First and last day with charges, in the zone of the days of every report; `days` are those of the rows.
    fn days(&self, query: &ReportQuery, days: Option<Days>, filter: &Filter) -> Result<Option<Days>, StoreError> {
        if days.is_none() || query.utc || self.has_cube_days() || query.is_about_time() {
            return Ok(days);
        }
        let sql = format!(
            "SELECT to_char(min(x_Day), '%Y-%m-%d') AS first_day, to_char(max(x_Day), '%Y-%m-%d') AS last_day
             FROM charge_days {}",
            filter.of_time()
        );
        let rows = self.session()?.query(&sql)?;
        let local = |row: Row<'_>| Some((row.text("first_day")?.to_owned(), row.text("last_day")?.to_owned()));
        Ok(rows.iter().next().and_then(local))
    }

    /// The rows, and the sums that do not depend on the dimensions, in one pass over the bill.
    fn rows_and_figures(
        &self,
        query: &ReportQuery,
        metric: CostMetric,
        filter: &Filter,
    ) -> Result<(Vec<ReportRow>, Figures), StoreError> {
        let bill = self.owned_bill(query.is_about_time())?;
        let dimensions = query.by.iter().enumerate();
        let select: String = dimensions
            .map(|(i, d)| format!("{} AS d{i}, ", d.expression(query.period)))
            .collect();
        let group: Vec<String> = (1..=query.by.len() + 6).map(|i| i.to_string()).collect();
        let column = metric.column();
        // A machine that was observed in one month was not observed in all of them.
        let times = query.by.iter().filter(|d| d.is_time() && !query.utc).enumerate();
        let times: Vec<(usize, &str)> = times.map(|(i, d)| (i, d.expression(query.period))).collect();
        let when: String = times.iter().map(|(i, time)| format!(", {time} AS x_Time{i}")).collect();
        let then: String = times
            .iter()
            .map(|(i, time)| format!(" AND {time} = observed.x_Time{i}"))
            .collect();
        let sql = format!(
            "SELECT {select}x_Label, coalesce(x_Class, 'unknown') AS x_Class, x_Team IS NULL AS x_NoTeam,
                    coalesce(x_Untagged, true) AS x_Untagged, x_GpuType IS NOT NULL AS x_Gpu, x_Committed,
                    sum({column}) AS cost, sum(x_Idle{column}) AS idle, sum(x_GpuHours) AS gpu_hours,
                    to_char(min(x_Day), '%Y-%m-%d') AS first_day,
                    to_char(max(x_Day), '%Y-%m-%d') AS last_day,
                    max(CASE WHEN observed.x_Observed IS NULL THEN 0 ELSE 1 END) AS observed
             FROM (SELECT * FROM {bill} {}) b
             LEFT JOIN (SELECT DISTINCT u.ResourceId AS x_Observed{when} FROM (SELECT * FROM useful_hours {}) u
                        JOIN gpu_resources g ON u.ResourceId = g.ResourceId WHERE g.x_Gpus > 0) observed
               ON b.ResourceId = observed.x_Observed{then}
             GROUP BY {}",
            filter.of_bill(),
            filter.of_time(),
            group.join(", ")
        );
        let mut figures = Figures::default();
        let mut rows: BTreeMap<Vec<String>, Gathered> = BTreeMap::new();
        for row in self.session()?.query(&sql)?.iter() {
            figures.add(row);
            let labels: Vec<String> = (0..query.by.len())
                .map(|i| row.text_or_empty(&format!("d{i}")).to_owned())
                .collect();
            rows.entry(labels).or_default().add(row);
        }
        Ok((rows.into_iter().map(Gathered::row).collect(), figures))
    }

    fn gpu_figures(
        &self,
        figures: &Figures,
        (metric, query): (CostMetric, &ReportQuery),
        filter: &Filter,
    ) -> Result<GpuFigures, StoreError> {
        let why = if self.joined()?.matched().is_empty() {
            "no GPU metrics are joined to billed resources"
        } else {
            "no billed hour was observed: the bill has no rows by the hour, or the metrics are of other days"
        };
        let (useful, rate) = match self.useful_hours((metric, query), filter)? {
            Some((hours, cost)) if hours > 0.0 => (Known::Value(hours), Known::Value(cost.estimate().amount() / hours)),
            Some(_) => (Known::Value(0.0), Known::unknown("no activity was observed")),
            None => (Known::unknown(why), Known::unknown(why)),
        };
        Ok(GpuFigures {
            cost: figures.gpu,
            development: figures.development,
            undeclared: figures.undeclared,
            gpu_hours: figures.gpu_hours,
            useful_gpu_hours: useful,
            cost_per_useful_gpu_hour: rate,
        })
    }

    /// Useful GPU-hours, and the cost of the hours in which the resource was observed.
    fn useful_hours(
        &self,
        (metric, query): (CostMetric, &ReportQuery),
        filter: &Filter,
    ) -> Result<Option<(f64, Money)>, StoreError> {
        // not money: hours
        let sql = format!(
            "SELECT sum(x_ActivityMicroSeconds) AS active, sum({}) AS cost FROM useful_hours {}",
            metric.column(),
            filter.of_hours(self.owned_bill(query.is_about_time())?)
        );
        let rows = self.session()?.query(&sql)?;
        let row = rows.iter().next();
        Ok(row.and_then(|r| Some((r.int("active")? as f64 / 3.6e9, r.money_or_zero("cost"))))) // not money: hours
    }
}

/// First and last day.
type Days = (String, String);

/// A row in the making.
#[derive(Default)]
struct Gathered {
    cost: Money,
    idle: Money,
    gpu_hours: Money,
    has_gpus: bool,
    observed: bool,
}

impl Gathered {
    fn add(&mut self, row: Row<'_>) {
        self.cost += row.money_or_zero("cost");
        self.idle += row.money_or_zero("idle");
        self.gpu_hours += row.money_or_zero("gpu_hours");
        self.has_gpus |= row.bool("x_Gpu");
        self.observed |= row.int("observed") == Some(1);
    }

    fn row((labels, sums): (Vec<String>, Self)) -> ReportRow {
        ReportRow {
            labels,
            cost: sums.cost,
            of_which_idle: sums.idle,
            idle_known: !sums.has_gpus || sums.observed,
            gpu_hours: sums.gpu_hours,
        }
    }
}

/// Sums that do not depend on the dimensions.
#[derive(Default)]
struct Figures {
    total: Money,
    lines: Lines,
    gpu: Money,
    development: Money,
    undeclared: Money,
    gpu_hours: Money,
    has_gpus: bool,
    /// Any hour of a machine with GPUs.
    observed: bool,
    /// Of commitments, under whatever cost column.
    has_unused: bool,
    unused: Money,
    /// Purchases of commitments.
    commitments: Money,
    days: Option<Days>,
}

impl Figures {
    /// Billed cost has commitments as they were bought: what was not used of them is in its rows, and costs nothing there.
    fn unused(&self, metric: CostMetric) -> Option<Money> {
        let is_silent = metric == CostMetric::Billed && self.has_unused && self.unused.is_zero();
        (!is_silent).then_some(self.unused)
    }

    /// What a metric at prices before commitment discounts holds beside the use that commitments cover.
    fn counted_twice(&self, metric: CostMetric, currency: &str) -> Option<String> {
        let at_prices = matches!(metric, CostMetric::List | CostMetric::Contracted);
        let (bought, unused) = (self.commitments, self.unused);
        (at_prices && !(bought.is_zero() && unused.is_zero())).then(|| {
            format!(
                "the {metric} cost holds {bought} {currency} of commitments bought and {unused} {currency} of unused commitment \
                 beside the {metric} price of the use that commitments cover: take both off before you compare it with another metric"
            )
        })
    }

    fn add(&mut self, row: Row<'_>) {
        let cost = row.money_or_zero("cost");
        self.total += cost;
        self.lines.idle += row.money_or_zero("idle");
        self.has_gpus |= row.bool("x_Gpu");
        self.observed |= row.int("observed") == Some(1);
        self.gpu_hours += row.money_or_zero("gpu_hours");
        match row.text("x_Label") {
            Some("(unused commitment)") => {
                self.has_unused = true;
                self.unused += cost;
            }
            Some("(purchase)") if row.bool("x_Committed") => self.commitments += cost,
            Some(_) => {}
            None => {
                self.lines.unallocated += if row.bool("x_NoTeam") { cost } else { Money::ZERO };
                self.lines.untagged += if row.bool("x_Untagged") { cost } else { Money::ZERO };
            }
        }
        if row.bool("x_Gpu") {
            self.gpu += cost;
            match row.text("x_Class") {
                Some("development") => self.development += cost,
                Some("unknown") => self.undeclared += cost,
                _ => {}
            }
        }
        let (first, last) = (row.text_or_empty("first_day"), row.text_or_empty("last_day"));
        self.days = Some(match self.days.take() {
            None => (first.to_owned(), last.to_owned()),
            Some((a, b)) => (a.min(first.to_owned()), b.max(last.to_owned())),
        });
    }
}

/// The WHERE clauses of a report.
struct Filter {
    time: Vec<String>,
    /// On labels, which only the bill has.
    labels: Vec<String>,
}

impl Filter {
    fn new(query: &ReportQuery) -> Self {
        let bound = |day: Date, op: &str| match query.period {
            PeriodKind::Charge => format!("x_Day {op} CAST('{day}T00:00:00Z' AS TIMESTAMP)"),
            PeriodKind::Billing => format!("x_Month {op} '{}'", day.strftime("%Y-%m")),
        };
        let from = query.from.map(|d| bound(d, ">="));
        let to = query.to.map(|d| bound(d, "<"));
        let labels = query.only.iter().map(|(dimension, labels)| {
            let labels: Vec<String> = labels.iter().map(|label| quoted(label)).collect();
            format!("{} IN ({})", dimension.expression(query.period), labels.join(", "))
        });
        Self {
            time: from.into_iter().chain(to).collect(),
            labels: labels.collect(),
        }
    }

    fn of_time(&self) -> String {
        clause(self.time.iter())
    }

    fn of_bill(&self) -> String {
        clause(self.time.iter().chain(&self.labels))
    }

    /// On rows that know their resource and nothing of its labels.
    fn of_hours(&self, bill: &str) -> String {
        let resources = (!self.labels.is_empty())
            .then(|| format!("ResourceId IN (SELECT ResourceId FROM {bill} {})", self.of_bill()));
        clause(self.time.iter().chain(&resources))
    }

    /// Does the report cover everything that was loaded?
    fn is_whole(&self) -> bool {
        self.time.is_empty() && self.labels.is_empty()
    }
}

fn clause<'a>(parts: impl Iterator<Item = &'a String>) -> String {
    let parts: Vec<&str> = parts.map(String::as_str).collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("WHERE {}", parts.join(" AND "))
}

/// A text of SQL: nothing in it ends it.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Keeps, separates or spreads idle cost. The sum of all rows stays the same, exactly.
fn shape_idle(rows: &mut Vec<ReportRow>, query: &ReportQuery, notes: &mut Vec<String>) {
    match query.idle {
        IdleMode::Keep => {}
        IdleMode::Separate => separate(rows, &query.by),
        IdleMode::Spread => {
            if !spread(rows) {
                notes.push("idle cost is not spread: no owner has any other cost to spread it by".into());
            }
        }
    }
}

fn separate(rows: &mut Vec<ReportRow>, by: &[Dimension]) {
    let any_owner = by.iter().any(|d| d.is_owner());
    let mut idle: BTreeMap<Vec<String>, Money> = BTreeMap::new();
    for row in rows.iter_mut().filter(|r| !r.of_which_idle.is_zero()) {
        let label = |(i, text): (usize, &String)| {
            let replaced = if any_owner { by[i].is_owner() } else { i == 0 };
            if replaced { "(idle)".to_owned() } else { text.clone() }
        };
        let labels = row.labels.iter().enumerate().map(label).collect();
        *idle.entry(labels).or_default() += row.of_which_idle;
        row.cost -= row.of_which_idle;
        row.of_which_idle = Money::ZERO;
    }
    rows.extend(idle.into_iter().map(|(labels, cost)| ReportRow {
        labels,
        cost,
        of_which_idle: cost,
        idle_known: true,
        gpu_hours: Money::ZERO,
    }));
}

/// Spreads by what the owners cost otherwise, exact by largest remainder. False where there is nothing to spread by.
fn spread(rows: &mut [ReportRow]) -> bool {
    let idle: Money = rows.iter().map(|r| r.of_which_idle).sum();
    let is_owner =
        |r: &ReportRow| !r.labels.iter().any(|l| l.starts_with('(')) && (r.cost - r.of_which_idle) > Money::ZERO;
    let weights: Vec<Money> = rows
        .iter()
        .map(|r| {
            if is_owner(r) {
                r.cost - r.of_which_idle
            } else {
                Money::ZERO
            }
        })
        .collect();
    let Some(shares) = lowwater_model::money::split_by_weight(idle, &weights) else {
        return idle.is_zero();
    };
    for (row, share) in rows.iter_mut().zip(shares) {
        row.cost = row.cost - row.of_which_idle + share;
        row.of_which_idle = share;
        row.idle_known |= !share.is_zero();
    }
    true
}

/// Time goes forward, inside of its group where it is not the first dimension; otherwise the most expensive first, and
/// what belongs to nobody last.
fn sort_rows(rows: &mut [ReportRow], query: &ReportQuery) {
    let groups = groups(&query.by);
    let mut sums: BTreeMap<Vec<String>, Money> = BTreeMap::new();
    for row in rows.iter() {
        for (group, _) in &groups {
            *sums.entry(row.labels[..group.end].to_vec()).or_default() += row.cost;
        }
    }
    let sum = |row: &ReportRow, end: usize| sums.get(&row.labels[..end]).copied().unwrap_or_default();
    rows.sort_by(|a, b| {
        let order = |(group, is_time): &(Range<usize>, bool)| {
            let (mine, others) = (&a.labels[group.clone()], &b.labels[group.clone()]);
            let nobody = |labels: &[String]| labels.iter().any(|l| l.starts_with('('));
            let by_cost = if *is_time {
                std::cmp::Ordering::Equal
            } else {
                sum(b, group.end).cmp(&sum(a, group.end))
            };
            nobody(mine).cmp(&nobody(others)).then(by_cost).then(mine.cmp(others))
        };
        groups
            .iter()
            .map(order)
            .fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
}

/// The dimensions that are sorted together, and whether they are times.
fn groups(by: &[Dimension]) -> Vec<(Range<usize>, bool)> {
    let mut groups: Vec<(Range<usize>, bool)> = Vec::new();
    for (at, dimension) in by.iter().enumerate() {
        match groups.last_mut() {
            Some((group, is_time)) if *is_time == dimension.is_time() => group.end = at + 1,
            _ => groups.push((at..at + 1, dimension.is_time())),
        }
    }
    groups
}

#[cfg(test)]
mod tests;
