//! This week: what was spent, what moved and why, what leaks, what waits, what broke. The page `/` and `lowwater digest`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use lowwater_engine::forecast::forecast;
use lowwater_engine::movement::{Cause, Movement, Used, movement};
use lowwater_model::money::{Estimate, Money, Range};
use lowwater_model::plan::Plan;
use lowwater_store::report::{Report, ReportRow};
use lowwater_store::state::Approval;
use serde::Serialize;

use super::doctor::Finding;
use crate::amount::{self, cents, estimate_cents, plural, share, share_of};
use crate::output::View;
use crate::screen::{Column, Figure, Screen, Table, figure};
use crate::view::next::Next;

/// Movers, leaks, steps and gaps that are shown.
const MOST: usize = 5;
/// A change under this share of all spend is no mover.
const LEAST_MOVE: f64 = 0.001;

/// What the week is made from: reports by workload, team and SKU of the days and of those before, and by day.
pub struct Week<'a> {
    /// First day, and first day after.
    pub days: (Date, Date),
    /// By workload and SKU, now.
    pub now: &'a Report,
    /// The same in as many days before; none where the bill has not all of them.
    pub before: Option<&'a Report>,
    /// By workload and team, now: who owns what idles.
    pub owners: &'a Report,
    /// By day and class, over the last 28 days and the month so far.
    pub daily: &'a Report,
    /// The plan of what is loaded.
    pub plan: &'a Plan,
    /// What is missing or broke in the data.
    pub gaps: &'a [Finding],
    /// Approvals that hold.
    pub approvals: &'a [Approval],
}

/// This week.
#[derive(Debug, Serialize)]
pub struct WeekView {
    /// First day, in the owner's zone.
    pub from: Date,
    /// First day after.
    pub to: Date,
    /// Of all money.
    pub currency: String,
    /// Cost column.
    pub metric: String,
    /// What these days cost.
    pub spend: Money,
    /// What as many days before cost; null where the bill has not all of them.
    pub before: Option<Money>,
    /// `spend` over a month of 30.4 days.
    pub run_rate: Estimate,
    /// The month that is not over, or the next one.
    pub forecast: Option<Forecast>,
    /// Workloads whose cost changed most, and why.
    pub movers: Vec<Mover>,
    /// What idles, by workload, in money an hour.
    pub leaks: Vec<Leak>,
    /// What idles in money an hour, all of it; null = unknown.
    pub leak_per_hour: Option<Estimate>,
    /// Steps of the plan, those with most cash first.
    pub steps: Vec<Waiting>,
    /// All steps together, cash a month.
    pub plan_per_month: Range,
    /// How many there are.
    pub plan_steps: usize,
    /// What is missing or broke in the data.
    pub gaps: Vec<Finding>,
    /// Cost by day and class, over the last 28 days and the month so far.
    pub by_day: Vec<DayCost>,
    #[serde(skip)]
    next: Next,
}

/// A day.
#[derive(Clone, Debug, Serialize)]
pub struct DayCost {
    /// In the owner's zone.
    pub day: String,
    /// Cost by class, and by label of what belongs to nobody.
    pub cost: BTreeMap<String, Money>,
}

/// Rows of day and label as days.
pub fn by_day(report: &Report) -> Vec<DayCost> {
    let mut days: BTreeMap<&str, BTreeMap<String, Money>> = BTreeMap::new();
    for row in &report.rows {
        let (day, label) = labels(row);
        *days.entry(day).or_default().entry(label.to_owned()).or_default() += row.cost;
    }
    days.into_iter()
        .map(|(day, cost)| DayCost {
            day: day.to_owned(),
            cost,
        })
        .collect()
}

/// What a month will cost.
#[derive(Clone, Debug, Serialize)]
pub struct Forecast {
    /// `2026-11`.
    pub month: String,
    /// What its days so far cost.
    pub so_far: Money,
    /// All of it.
    pub total: Range,
    /// What it rests on.
    pub basis: &'static str,
}

/// A workload whose cost changed.
#[derive(Clone, Debug, Serialize)]
pub struct Mover {
    /// Which.
    pub workload: String,
    /// What it costs now.
    pub cost: Money,
    /// By how much it changed.
    pub change: Money,
    /// The largest part of the change.
    pub cause: Cause,
    /// All parts.
    pub parts: Movement,
}

/// Machines that idle.
#[derive(Clone, Debug, Serialize)]
pub struct Leak {
    /// Whose.
    pub workload: String,
    /// Its team.
    pub team: String,
    /// Idle cost in these days.
    pub idle: Money,
    /// The same an hour.
    pub per_hour: Estimate,
}

/// A step of the plan.
#[derive(Clone, Debug, Serialize)]
pub struct Waiting {
    /// Id.
    pub step: String,
    /// What to do.
    pub title: String,
    /// Cash a month.
    pub per_month: Range,
    /// Does a condition stand in its way?
    pub blocked: bool,
    /// Until when it is approved; null where it is not.
    pub approved_until: Option<Timestamp>,
}

impl Waiting {
    /// In words.
    pub fn state(&self) -> String {
        match self.approved_until {
            Some(until) => format!("approved until {}", amount::instant(until)),
            None if self.blocked => "waits for a condition".to_owned(),
            None => "can be approved".to_owned(),
        }
    }
}

fn hours(days: (Date, Date)) -> f64 {
    24.0 * f64::from(days.1.since(days.0).map_or(0, |span| span.get_days()))
}

impl WeekView {
    /// Of reports, a plan and gaps.
    pub fn new(week: &Week<'_>, next: Next) -> Self {
        let spend = week.now.stored;
        let hours = hours(week.days).max(1.0);
        let idle = week
            .owners
            .idle_known
            .then(|| week.owners.lines.idle.estimate().scaled(1.0 / hours).rounded());
        Self {
            from: week.days.0,
            to: week.days.1,
            currency: week.now.currency.clone(),
            metric: week.now.metric.to_string(),
            spend,
            before: week.before.map(|report| report.stored),
            run_rate: spend.estimate().scaled(730.0 / hours).rounded(),
            forecast: month(week),
            movers: week.before.map(|before| movers(before, week.now)).unwrap_or_default(),
            leaks: leaks(week.owners, hours),
            leak_per_hour: idle,
            steps: steps(week.plan, week.approvals),
            plan_per_month: week.plan.per_month.cash,
            plan_steps: week.plan.steps.len(),
            gaps: week.gaps.iter().take(MOST).cloned().collect(),
            by_day: by_day(week.daily),
            next,
        }
    }

    /// With next commands on another data directory.
    #[must_use]
    pub fn with_next(self, next: Next) -> Self {
        Self { next, ..self }
    }

    /// The one sentence.
    pub fn headline(&self) -> String {
        let days = plural(u64::from((hours((self.from, self.to)) / 24.0) as u32), "day");
        let change = self.before.and_then(|before| share_of(self.spend - before, before));
        let change = match change {
            Some(change) if change.abs() < 0.0005 => ", as much as in the days before".to_owned(),
            Some(change) => format!(", {} {}", share(change.abs()), if change > 0.0 { "up" } else { "down" }),
            None => String::new(),
        };
        let leak = match self.leak_per_hour {
            Some(idle) if idle > Estimate::ZERO => {
                format!("; {} {} an hour of it idles", amount::short(idle), self.currency)
            }
            _ => String::new(),
        };
        format!(
            "{} {} in the last {days}{change}{leak}.",
            cents(self.spend),
            self.currency
        )
    }

    /// What stands out.
    pub fn figures(&self) -> Vec<Figure> {
        let money = |text: String| format!("{text} {}", self.currency);
        let before = self.before.map_or_else(
            || "the bill does not have all of the days before".to_owned(),
            |before| format!("{} in as many days before", cents(before)),
        );
        let mut figures = vec![
            figure(
                "spend",
                money(cents(self.spend)),
                format!("{} cost; {before}", self.metric),
            ),
            figure(
                "run rate",
                money(amount::short(self.run_rate)),
                "a month of 730 hours at this pace",
            ),
        ];
        if let Some(forecast) = &self.forecast {
            let spent = match forecast.so_far {
                Money::ZERO => String::new(),
                money => format!(", of which {} is spent", cents(money)),
            };
            let remark = format!("{}{spent}", forecast.basis);
            figures.push(figure(
                format!("forecast {}", forecast.month),
                money(amount::range(&forecast.total)),
                remark,
            ));
        }
        let idle = self
            .leak_per_hour
            .map_or_else(|| amount::UNKNOWN.to_owned(), |idle| money(amount::short(idle)));
        figures.push(figure(
            "idles, an hour",
            idle,
            "hours in which every GPU of a machine did nothing",
        ));
        let steps = plural(self.plan_steps as u64, "step");
        figures.push(figure(
            "the plan",
            money(amount::range(&self.plan_per_month)),
            format!("cash a month in {steps}"),
        ));
        figures
    }

    /// Movers as rows: workload, cost, change, cause in words.
    pub fn mover_rows(&self) -> impl Iterator<Item = [String; 4]> + '_ {
        self.movers.iter().map(|mover| {
            let sign = if mover.change > Money::ZERO { "+" } else { "" };
            [
                mover.workload.clone(),
                cents(mover.cost),
                format!("{sign}{}", cents(mover.change)),
                cause_words(mover),
            ]
        })
    }
}

fn cause_words(mover: &Mover) -> String {
    let parts = &mover.parts;
    let named = match mover.cause {
        Cause::Price => ("other prices", parts.price),
        Cause::Volume if parts.volume > Estimate::ZERO => ("more GPU-hours", parts.volume),
        Cause::Volume => ("fewer GPU-hours", parts.volume),
        Cause::Mix => ("other machines for the same hours", parts.mix),
        Cause::New if parts.new > Estimate::ZERO => ("new, or use without GPU-hours", parts.new),
        Cause::New => ("gone, or use without GPU-hours", parts.new),
    };
    format!("{} ({})", named.0, estimate_cents(named.1))
}

/// The two labels of a row.
fn labels(row: &ReportRow) -> (&str, &str) {
    let label = |at: usize| row.labels.get(at).map_or("", String::as_str);
    (label(0), label(1))
}

fn by_sku(report: &Report) -> BTreeMap<String, BTreeMap<String, Used>> {
    let mut all: BTreeMap<String, BTreeMap<String, Used>> = BTreeMap::new();
    for row in &report.rows {
        let (workload, sku) = labels(row);
        let used = all
            .entry(workload.to_owned())
            .or_default()
            .entry(sku.to_owned())
            .or_default();
        used.quantity += row.gpu_hours.estimate().amount();
        used.cost += row.cost.estimate().amount();
    }
    all
}

fn costs(report: &Report) -> BTreeMap<&str, Money> {
    let mut costs: BTreeMap<&str, Money> = BTreeMap::new();
    for row in &report.rows {
        *costs.entry(labels(row).0).or_default() += row.cost;
    }
    costs
}

fn movers(before: &Report, now: &Report) -> Vec<Mover> {
    let (were, are) = (by_sku(before), by_sku(now));
    let (cost_before, cost_now) = (costs(before), costs(now));
    let least = now.stored.estimate().amount().abs() * LEAST_MOVE;
    let names: std::collections::BTreeSet<&String> = were.keys().chain(are.keys()).collect();
    let none = BTreeMap::new();
    let mover = |workload: &&String| {
        let of = |costs: &BTreeMap<&str, Money>| costs.get(workload.as_str()).copied().unwrap_or(Money::ZERO);
        let parts = movement(
            were.get(*workload).unwrap_or(&none),
            are.get(*workload).unwrap_or(&none),
        );
        Mover {
            workload: (*workload).clone(),
            cost: of(&cost_now),
            change: of(&cost_now) - of(&cost_before),
            cause: parts.cause(),
            parts: Movement {
                price: parts.price.rounded(),
                volume: parts.volume.rounded(),
                mix: parts.mix.rounded(),
                new: parts.new.rounded(),
            },
        }
    };
    let size = |mover: &Mover| mover.change.estimate().amount().abs();
    let mut movers: Vec<Mover> = names.iter().map(mover).filter(|mover| size(mover) > least).collect();
    movers.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.workload.cmp(&b.workload)));
    movers.truncate(MOST);
    movers
}

fn leaks(owners: &Report, hours: f64) -> Vec<Leak> {
    let idle = owners
        .rows
        .iter()
        .filter(|row| row.idle_known && row.of_which_idle > Money::ZERO);
    let mut leaks: Vec<Leak> = idle
        .map(|row| Leak {
            workload: labels(row).0.to_owned(),
            team: labels(row).1.to_owned(),
            idle: row.of_which_idle,
            per_hour: row.of_which_idle.estimate().scaled(1.0 / hours).rounded(),
        })
        .collect();
    leaks.sort_by(|a, b| b.idle.cmp(&a.idle).then_with(|| a.workload.cmp(&b.workload)));
    leaks.truncate(MOST);
    leaks
}

fn steps(plan: &Plan, approvals: &[Approval]) -> Vec<Waiting> {
    let mut steps: Vec<Waiting> = plan
        .steps
        .iter()
        .map(|step| Waiting {
            step: step.id.to_string(),
            title: step.title.clone(),
            per_month: step.per_month.cash,
            blocked: step.is_blocked(),
            approved_until: approvals.iter().find(|a| a.step == step.id.as_str()).map(|a| a.until),
        })
        .collect();
    steps.sort_by(|a, b| {
        b.per_month
            .p50
            .amount()
            .total_cmp(&a.per_month.p50.amount())
            .then_with(|| a.step.cmp(&b.step))
    });
    steps.truncate(MOST);
    steps
}

/// The month in which the first day after lies: what it cost so far, and what its other days will.
fn month(week: &Week<'_>) -> Option<Forecast> {
    let today = week.days.1;
    let first = today.first_of_month();
    let next = first.checked_add(jiff::Span::new().months(1)).ok()?;
    let mut use_by_day: BTreeMap<Date, f64> = BTreeMap::new();
    let mut so_far = Money::ZERO;
    for row in &week.daily.rows {
        let (day, class) = labels(row);
        let day: Date = day.parse().ok()?;
        if day >= first {
            so_far += row.cost;
        }
        // What is booked once a month says nothing about tomorrow.
        let monthly = class.starts_with('(') && class != "(unused commitment)";
        *use_by_day.entry(day).or_default() += if monthly { 0.0 } else { row.cost.estimate().amount() };
    }
    let days: Vec<(Date, f64)> = use_by_day.into_iter().filter(|(day, _)| *day < today).collect();
    let rest = forecast(&days, today, next)?;
    let spent = so_far.estimate();
    Some(Forecast {
        month: first.strftime("%Y-%m").to_string(),
        so_far,
        total: Range {
            p10: spent + rest.p10,
            p50: spent + rest.p50,
            p90: spent + rest.p90,
        }
        .rounded(),
        basis: "by weekday from the last 28 days, without what is booked once a month",
    })
}

impl View for WeekView {
    fn screen(&self) -> Screen {
        let currency = &self.currency;
        let mut movers = Table::new([
            Column::text("workload").whole(),
            Column::number(format!("cost ({currency})")),
            Column::number(format!("change ({currency})")),
            Column::text("mostly because of").at_least(24),
        ]);
        self.mover_rows().for_each(|row| movers.row(row));
        let mut leaks = Table::new([
            Column::text("workload").whole(),
            Column::text("team"),
            Column::number(format!("idle ({currency})")),
            Column::number(format!("an hour ({currency})")),
        ]);
        for leak in &self.leaks {
            leaks.row([
                leak.workload.clone(),
                leak.team.clone(),
                cents(leak.idle),
                estimate_cents(leak.per_hour),
            ]);
        }
        let mut steps = Table::new([
            Column::text("what to do").at_least(30),
            Column::number(format!("cash a month ({currency})")),
            Column::text("state"),
        ]);
        for step in &self.steps {
            steps.row([step.title.clone(), amount::range(&step.per_month), step.state()]);
        }
        let mut gaps = Table::new([
            Column::number(format!("concerns ({currency})")),
            Column::text("what is missing").at_least(30),
        ]);
        for gap in &self.gaps {
            gaps.row([
                gap.cost.map_or_else(|| amount::UNKNOWN.to_owned(), cents),
                format!("{} ({})", gap.why, gap.place),
            ]);
        }
        let titled = |screen: Screen, title: &str, table: Table| {
            if table.is_empty() {
                screen
            } else {
                screen.title(title).table(table)
            }
        };
        let mut screen = Screen::new(self.headline()).figures(self.figures());
        screen = titled(screen, "What moved", movers);
        screen = titled(screen, "What leaks now", leaks);
        screen = titled(screen, "Largest steps of the plan", steps);
        screen = titled(screen, "What is missing in the data", gaps);
        screen.next([
            (self.next.command("show plan"), "every step with its reasons"),
            (self.next.command("serve"), "the same in a browser, and more"),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lowwater_model::known::Known;
    use lowwater_store::report::{GpuFigures, Lines};

    fn row(labels: [&str; 2], cost: i64, gpu_hours: i64) -> ReportRow {
        ReportRow {
            labels: labels.map(str::to_owned).to_vec(),
            cost: Money::whole(cost),
            of_which_idle: Money::ZERO,
            idle_known: true,
            gpu_hours: Money::whole(gpu_hours),
        }
    }

    fn report(rows: Vec<ReportRow>) -> Report {
        Report {
            metric: lowwater_model::charge::CostMetric::Effective,
            metric_why: None,
            currency: "USD".into(),
            by: Vec::new(),
            stored: rows.iter().map(|r| r.cost).sum(),
            rows,
            exact: None,
            idle_known: true,
            lines: Lines::default(),
            gpu: GpuFigures {
                cost: Money::ZERO,
                development: Money::ZERO,
                undeclared: Money::ZERO,
                gpu_hours: Money::ZERO,
                useful_gpu_hours: Known::unknown("not measured"),
                cost_per_useful_gpu_hour: Known::unknown("not measured"),
            },
            days: None,
            zone: "UTC".into(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_mover_has_a_cause() {
        let before = report(vec![
            row(["chat", "h100"], 100, 10),
            row(["embed", "l4"], 50, 50),
            row(["gone", "l4"], 7, 7),
        ]);
        let now = report(vec![row(["chat", "h100"], 200, 20), row(["embed", "l4"], 60, 50)]);
        let movers = movers(&before, &now);
        let said: Vec<(&str, Money, Cause)> = movers
            .iter()
            .map(|m| (m.workload.as_str(), m.change, m.cause))
            .collect();
        assert_eq!(
            said,
            [
                ("chat", Money::whole(100), Cause::Volume),
                ("embed", Money::whole(10), Cause::Price),
                ("gone", Money::whole(-7), Cause::New)
            ]
        );
    }
}
