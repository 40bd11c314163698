//! What a load did: rows, rejects, and every sum to its last digit.

use std::collections::BTreeMap;

use lowwater_model::charge::CostMetric;
use lowwater_model::money::{ExactSum, Money};
use lowwater_store::coverage::{Coverage, CoverageDay};
use lowwater_store::layout::RejectedMoney;
use lowwater_store::load::{LoadReport, UnitReport, counted};
use lowwater_store::prometheus::ServerReport;
use serde::Serialize;

use super::next::Next;
use crate::amount::{self, cents, count, grouped, plural, quantity, share_or_unknown, six_digits};
use crate::output::View;
use crate::screen::{Column, Screen, Table};

/// Days that the text form shows.
const MOST_DAYS: usize = 31;
/// Units that the text form shows; sums of all stand above them.
const MOST_UNITS: usize = 40;

/// A sum as the file wrote it, as it is stored, and what lies between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Total {
    /// The file's own total, with the digits of its longest value.
    pub file: String,
    /// What the store holds.
    pub stored: String,
    /// `file` minus `stored`.
    pub residual: String,
    /// What the rejected rows would add to `file`, as far as it could be read; said of the billed cost of bills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
}

impl From<&ExactSum> for Total {
    fn from(sum: &ExactSum) -> Self {
        Self {
            file: sum.file_text(),
            stored: sum.stored().full(),
            residual: sum.residual_text(),
            rejected: None,
        }
    }
}

impl Total {
    fn rejected_words(&self, metric: &str, unknown: u64) -> String {
        match &self.rejected {
            _ if metric != CostMetric::Billed.as_str() => String::new(),
            None => "unknown".to_owned(),
            Some(known) if unknown == 0 => known.clone(),
            Some(known) => format!("{known} and {} unknown", plural(unknown, "row")),
        }
    }
}

/// One month of one account of one source.
#[derive(Clone, Debug, Serialize)]
pub struct Unit {
    /// `bill` or `usage`.
    pub kind: &'static str,
    /// Source.
    pub source: String,
    /// Billing account; empty for metrics.
    pub account: String,
    /// Month.
    pub month: String,
    /// Rows kept.
    pub rows: u64,
    /// Rows rejected.
    pub rejects: u64,
    /// Rejected rows whose BilledCost could not be read.
    pub rejects_without_cost: u64,
    /// By cost metric.
    pub totals: BTreeMap<String, Total>,
    /// What was there before and is not any more; null where nothing was.
    pub replaced: Option<Replaced>,
    /// What was there and stays, where rows were appended; null elsewhere.
    pub beside: Option<Replaced>,
    /// What a reader must know.
    pub warnings: Vec<String>,
}

/// A unit that made room for a newer export.
#[derive(Clone, Debug, Serialize)]
pub struct Replaced {
    /// Rows that it had.
    pub rows: u64,
    /// Their BilledCost, with the digits of its file; null where it was not known.
    pub billed: Option<String>,
}

impl From<&lowwater_store::load::Replaced> for Replaced {
    fn from(replaced: &lowwater_store::load::Replaced) -> Self {
        Self {
            rows: replaced.rows,
            billed: replaced.billed.map(|sum| sum.file_text()),
        }
    }
}

impl Replaced {
    fn words(&self, verb: &str) -> String {
        let rows = plural(self.rows, "row");
        match &self.billed {
            None => format!("{verb} {rows}"),
            Some(billed) => format!("{verb} {rows}, {}", grouped(billed)),
        }
    }
}

impl From<&UnitReport> for Unit {
    fn from(unit: &UnitReport) -> Self {
        Self {
            kind: unit.kind,
            source: unit.source.clone(),
            account: unit.account.clone(),
            month: unit.month.clone(),
            rows: unit.rows,
            rejects: unit.rejects,
            rejects_without_cost: unit.rejected.unknown,
            totals: totals(&unit.totals, unit.rejects, &unit.rejected),
            replaced: unit.replaced.as_ref().map(Replaced::from),
            beside: unit.beside.as_ref().map(Replaced::from),
            warnings: unit.warnings.clone(),
        }
    }
}

impl Unit {
    fn name(&self) -> String {
        let parts = [self.source.as_str(), self.account.as_str(), self.month.as_str()];
        parts
            .into_iter()
            .filter(|p| !p.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn totals(sums: &BTreeMap<String, ExactSum>, rejects: u64, rejected: &RejectedMoney) -> BTreeMap<String, Total> {
    let mut totals: BTreeMap<String, Total> = sums.iter().map(|(metric, sum)| (metric.clone(), sum.into())).collect();
    if let Some(billed) = totals.get_mut(CostMetric::Billed.as_str()) {
        // What is unknown in every rejected row is unknown in all.
        let known = rejects == 0 || rejected.unknown < rejects;
        billed.rejected = known.then(|| rejected.billed.file_text());
    }
    totals
}

/// A load.
#[derive(Clone, Debug, Serialize)]
pub struct Loaded {
    /// One a unit.
    pub units: Vec<Unit>,
    /// Over all units.
    pub totals: BTreeMap<String, Total>,
    /// The same files were there already: nothing was done.
    pub unchanged: bool,
    /// Of all money; none where only metrics were loaded.
    pub currency: Option<String>,
    /// Servers that were asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerReport>,
    /// How much of the bill has activity beside it, over everything that is loaded now.
    pub join: Join,
    #[serde(skip)]
    next: Next,
}

/// How the bill and the metrics fit together.
#[derive(Clone, Debug, Serialize)]
pub struct Join {
    /// Share of GPU money that is on machines with joined metrics, 0 to 1; null where the bill has no GPUs.
    pub share: Option<f64>,
    /// Share of all billed GPU-hours that was observed, 0 to 1; null where the bill has none.
    pub measured_share: Option<f64>,
    /// Cost of GPU machines.
    pub gpu_cost: Money,
    /// The part of it that is joined.
    pub joined_cost: Money,
    /// GPUs that match no billed resource.
    pub unmatched_gpus: u64,
    /// Billed GPU resources that match no metrics.
    pub unmatched_resources: u64,
    /// By day, UTC.
    pub days: Vec<DayHours>,
}

/// GPU-hours of a day.
#[derive(Clone, Debug, Serialize)]
pub struct DayHours {
    /// The day.
    pub day: String,
    /// GPU-hours billed.
    pub billed_gpu_hours: Money,
    /// GPU-hours observed on billed resources.
    pub observed_gpu_hours: f64,
}

impl From<&Coverage> for Join {
    fn from(coverage: &Coverage) -> Self {
        let day = |d: &CoverageDay| DayHours {
            day: d.day.clone(),
            billed_gpu_hours: d.billed_gpu_hours,
            observed_gpu_hours: six_digits(d.observed_gpu_hours),
        };
        let days = || {
            coverage
                .days
                .iter()
                .map(|d| (d.billed_gpu_hours.estimate().amount(), d.observed_gpu_hours))
        };
        let billed: f64 = days().map(|(billed, _)| billed).sum();
        let measured: f64 = days().map(|(billed, observed)| observed.min(billed)).sum();
        Self {
            share: coverage.join_share().map(six_digits),
            measured_share: (billed > 0.0).then(|| six_digits(measured / billed)),
            gpu_cost: coverage.gpu_cost,
            joined_cost: coverage.joined_cost,
            unmatched_gpus: coverage.unmatched_gpus.len() as u64,
            unmatched_resources: coverage.unmatched_resources.len() as u64,
            days: coverage.days.iter().map(day).collect(),
        }
    }
}

impl Loaded {
    /// Of a load, and of all that is loaded after it.
    pub fn new(report: &LoadReport, currency: Option<String>, coverage: &Coverage, next: Next) -> Self {
        let mut rejected = RejectedMoney::default();
        report.units.iter().for_each(|unit| rejected.merge(unit.rejected));
        let bills = report.units.iter().filter(|unit| unit.kind == "bill");
        let rejects = bills.map(|unit| unit.rejects).sum();
        Self {
            units: report.units.iter().map(Unit::from).collect(),
            totals: totals(&report.totals, rejects, &rejected),
            unchanged: report.unchanged,
            servers: report.servers.clone(),
            currency,
            join: coverage.into(),
            next,
        }
    }

    /// How much of the bill has activity beside it.
    pub fn join_words(&self) -> String {
        let join = &self.join;
        let Some(share) = join.share else {
            return "The bill has no GPU machines: there is nothing to join metrics to.".to_owned();
        };
        let unmatched = match (join.unmatched_resources, join.unmatched_gpus) {
            (0, 0) => "everything matched".to_owned(),
            (resources, gpus) => {
                let (resources, gpus) = (plural(resources, "billed machine"), plural(gpus, "observed GPU"));
                format!("{resources} and {gpus} match nothing")
            }
        };
        let (joined, all) = (cents(join.joined_cost), cents(join.gpu_cost));
        let share = amount::share(share);
        format!(
            "{share} of GPU money is on machines with joined metrics: {joined} of {all} {}; {unmatched}. {} of all billed \
             GPU-hours were observed.",
            self.currency(),
            share_or_unknown(join.measured_share)
        )
    }

    /// GPU-hours billed against observed, the newest days.
    fn days_table(&self) -> Table {
        let mut table = Table::new([
            Column::text("day (UTC)"),
            Column::number("GPU-hours billed"),
            Column::number("observed"),
            Column::number("share"),
        ]);
        let first = self.join.days.len().saturating_sub(MOST_DAYS);
        for day in &self.join.days[first..] {
            let billed = day.billed_gpu_hours.estimate().amount();
            let share = (billed > 0.0).then(|| day.observed_gpu_hours / billed);
            table.row([
                day.day.clone(),
                quantity(billed),
                quantity(day.observed_gpu_hours),
                share_or_unknown(share),
            ]);
        }
        table
    }

    fn join_screen(&self) -> Screen {
        let hidden = self.join.days.len().saturating_sub(MOST_DAYS);
        let screen = Screen::default().title("Bill and metrics").text(self.join_words());
        // Without metrics every day would say the same: nothing observed.
        if !self.is_about_gpus() || self.unchanged || self.join.joined_cost.is_zero() {
            return screen;
        }
        let screen = screen.table(self.days_table());
        if hidden == 0 {
            return screen;
        }
        screen.text(format!(
            "The newest {MOST_DAYS} days are shown; --json has the {hidden} before them too."
        ))
    }

    /// Did metrics come, or charges of months in which GPUs were billed? Else the hours of each day are as before.
    fn is_about_gpus(&self) -> bool {
        let has_gpus =
            |unit: &Unit| unit.kind == "bill" && self.join.days.iter().any(|day| day.day.starts_with(&unit.month));
        self.units.iter().any(|unit| unit.kind == "usage" || has_gpus(unit))
    }

    fn currency(&self) -> &str {
        self.currency.as_deref().unwrap_or("in the bill's currency")
    }

    fn headline(&self) -> String {
        let rows = |kind: &str| {
            self.units
                .iter()
                .filter(|u| u.kind == kind)
                .map(|u| u.rows)
                .sum::<u64>()
        };
        if self.unchanged && !self.servers.is_empty() {
            return "Nothing changed: what the servers have was loaded before.".to_owned();
        }
        if self.unchanged {
            return format!(
                "Nothing changed: the same files were loaded before, and they stay as they were read then, whatever the \
                 options of this load. `{}` takes a load back.",
                self.next.command("unload")
            );
        }
        let billed = self.totals.get(CostMetric::Billed.as_str());
        let bill = (rows("bill") > 0).then(|| {
            let billed = billed.map_or_else(
                || "an unknown amount".to_owned(),
                |total| format!("{} {}", grouped(&total.file), self.currency()),
            );
            format!("{} of bills with {billed} billed", plural(rows("bill"), "row"))
        });
        let usage = (rows("usage") > 0).then(|| format!("{} of GPU metrics", plural(rows("usage"), "GPU-hour")));
        let jobs = (rows("jobs") > 0).then(|| format!("{} of jobs in its months", plural(rows("jobs"), "run")));
        let prices = (rows("prices") > 0).then(|| plural(rows("prices"), "price"));
        let loaded: Vec<String> = [bill, usage, jobs, prices].into_iter().flatten().collect();
        let loaded = if loaded.is_empty() {
            "Nothing was loaded".to_owned()
        } else {
            format!("Loaded {}", loaded.join(" and "))
        };
        let rejects = self.units.iter().map(|u| u.rejects).sum::<u64>();
        let rejected = if rejects == 0 {
            "no row was rejected".to_owned()
        } else {
            format!("{} rejected", plural(rejects, "row"))
        };
        format!("{loaded}; {rejected}.")
    }

    /// The sums of the cost that is invoiced, with all digits.
    pub fn totals_words(&self) -> String {
        let billed = self.totals.get(CostMetric::Billed.as_str());
        billed.map_or_else(
            || "No bill was loaded.".to_owned(),
            |t| {
                let currency = self.currency();
                format!(
                    "Billed {currency}: file total {}, stored total {}, residual {}.",
                    t.file, t.stored, t.residual
                )
            },
        )
    }

    fn units_table(&self) -> Table {
        let replaces = self
            .units
            .iter()
            .any(|unit| unit.replaced.is_some() || unit.beside.is_some());
        let mut columns = vec![
            Column::text("source").whole(),
            Column::text("account").whole(),
            Column::text("month"),
            Column::number("rows"),
            Column::number("rejected"),
        ];
        if replaces {
            columns.push(Column::text("before"));
        }
        let mut table = Table::new(columns);
        for unit in self.units.iter().take(MOST_UNITS) {
            let mut cells = vec![
                unit.source.clone(),
                unit.account.clone(),
                unit.month.clone(),
                count(unit.rows),
                count(unit.rejects),
            ];
            if replaces {
                let replaced = unit.replaced.as_ref().map(|there| there.words("replaces"));
                let beside = unit.beside.as_ref().map(|there| there.words("beside"));
                cells.push(replaced.or(beside).unwrap_or_default());
            }
            table.row(cells);
        }
        table
    }

    /// Every sum with all digits: in all first, then by unit.
    fn sums_table(&self) -> Table {
        let mut columns = vec![
            Column::text("unit"),
            Column::text("cost"),
            Column::number(format!("file total ({})", self.currency())),
            Column::number("stored total").optional(2),
            Column::number("residual").optional(1),
        ];
        let bills = || self.units.iter().filter(|unit| unit.kind == "bill");
        let rejects = bills().any(|unit| unit.rejects > 0);
        if rejects {
            columns.push(Column::number("rejected"));
        }
        let mut table = Table::new(columns);
        let cells = |unit: &str, metric: &str, total: &Total, unknown: u64| {
            let texts = [unit, metric, &total.file, &total.stored, &total.residual];
            let rejected = rejects.then(|| total.rejected_words(metric, unknown));
            texts.into_iter().map(str::to_owned).chain(rejected).collect::<Vec<_>>()
        };
        for (metric, total) in in_order(&self.totals) {
            let unknown = bills().map(|unit| unit.rejects_without_cost).sum();
            table.total(cells("all", metric, total, unknown));
        }
        for unit in self.units.iter().take(MOST_UNITS) {
            for (metric, total) in in_order(&unit.totals) {
                table.row(cells(&unit.name(), metric, total, unit.rejects_without_cost));
            }
        }
        table
    }

    /// Each warning once, with the units that it is about.
    fn warnings(&self) -> Vec<String> {
        let mut by_text: BTreeMap<&str, (Option<u64>, Vec<String>)> = BTreeMap::new();
        for unit in &self.units {
            for warning in &unit.warnings {
                let (text, rows) = counted(warning);
                let (sum, units) = by_text.entry(text).or_default();
                *sum = rows.map(|rows| sum.unwrap_or(0) + rows);
                units.push(unit.name());
            }
        }
        let words = |(text, (rows, units)): (&str, (Option<u64>, Vec<String>))| {
            let text = rows.map_or_else(|| text.to_owned(), |rows| format!("{text}: {}", plural(rows, "row")));
            match units.len() {
                1 => format!("{text} ({})", units[0]),
                n if n == self.units.len() => format!("{text} (all {n} units)"),
                n => format!("{text} ({n} of {} units)", self.units.len()),
            }
        };
        let servers = self.servers.iter().flat_map(|server| server.warnings.iter().cloned());
        by_text.into_iter().map(words).chain(servers).collect()
    }
}

/// What one server was asked for, and how long it keeps samples.
fn server_words(server: &ServerReport) -> String {
    let keeps = server.retention.as_ref().map_or_else(
        || "it does not say how long it keeps samples".to_owned(),
        |retention| format!("it keeps {retention}"),
    );
    let oldest = server
        .oldest
        .map(|at| format!(", its oldest sample is of about {at}"))
        .unwrap_or_default();
    let pages = plural(server.pages, "page");
    format!(
        "{} as {}: {pages} from {} to {}; {keeps}{oldest}.",
        server.url, server.source, server.start, server.end
    )
}

/// Billed first, as everywhere.
fn in_order(totals: &BTreeMap<String, Total>) -> impl Iterator<Item = (&'static str, &Total)> {
    CostMetric::ALL
        .iter()
        .filter_map(|m| Some((m.as_str(), totals.get(m.as_str())?)))
}

impl View for Loaded {
    fn screen(&self) -> Screen {
        let mut screen = Screen::new(self.headline())
            .table(self.units_table())
            .table(self.sums_table());
        if self.units.len() > MOST_UNITS {
            let more = self.units.len() - MOST_UNITS;
            screen = screen.text(format!(
                "{more} more units of source, account and month are in the sums of all; --json has each."
            ));
        }
        for server in &self.servers {
            screen = screen.text(server_words(server));
        }
        screen = screen.warnings(self.warnings());
        screen = screen.aside(self.join_screen());
        let rejects = self.units.iter().any(|u| u.rejects > 0);
        let report = (self.next.command("report"), "where the money goes");
        let doctor = (self.next.command("doctor"), "what is missing for a better answer");
        if rejects {
            screen.next([
                (self.next.command("rejects"), "the rows that were not kept, and why"),
                report,
                doctor,
            ])
        } else {
            screen.next([report, doctor])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;
    use lowwater_model::money::Decimal;

    fn sum(values: &[&str]) -> ExactSum {
        let mut sum = ExactSum::default();
        for v in values {
            sum.add(Decimal::parse(v).unwrap());
        }
        sum
    }

    fn unit(month: &str, values: &[&str], warnings: &[&str]) -> UnitReport {
        UnitReport {
            kind: "bill",
            source: "AWS".into(),
            account: "1234".into(),
            month: month.into(),
            rows: values.len() as u64,
            rejects: 0,
            rejected: RejectedMoney::default(),
            replaced: None,
            beside: None,
            totals: [("billed".to_owned(), sum(values)), ("list".to_owned(), sum(values))].into(),
            warnings: warnings.iter().map(|w| (*w).to_owned()).collect(),
        }
    }

    fn coverage(days: usize) -> Coverage {
        let day = |i: usize| CoverageDay {
            day: format!("2026-10-{:02}", i + 1),
            billed_gpu_hours: Money::whole(24),
            observed_gpu_hours: 18.0,
        };
        Coverage {
            metric: CostMetric::Effective,
            gpu_cost: Money::whole(if days == 0 { 0 } else { 200 }),
            joined_cost: Money::whole(if days == 0 { 0 } else { 150 }),
            days: (0..days).map(day).collect(),
            unmatched_gpus: Vec::new(),
            ambiguous_hosts: BTreeMap::new(),
            unmatched_resources: Vec::new(),
            undeclared_resources: Vec::new(),
            without_memory: std::collections::BTreeSet::new(),
            without_power: std::collections::BTreeSet::new(),
        }
    }

    #[test]
    fn a_remark_on_rows_stands_once_with_the_sum() {
        let warned = |month: &str, warning: &str| unit(month, &["1"], &[warning]);
        let report = LoadReport {
            units: vec![
                warned("2026-08", "PricingCategory is empty: 1 row"),
                warned("2026-09", "PricingCategory is empty: 1,200 rows"),
                warned("2026-10", "x: two rows"),
            ],
            ..LoadReport::default()
        };
        let view = Loaded::new(&report, Some("USD".into()), &coverage(0), Next::default());
        assert_eq!(
            view.warnings(),
            [
                "PricingCategory is empty: 1,201 rows (2 of 3 units)",
                "x: two rows (AWS 1234 2026-10)"
            ]
        );
    }

    #[test]
    fn days_stand_only_where_something_was_joined_and_loaded() {
        let report = LoadReport {
            units: vec![unit("2026-10", &["1"], &[])],
            ..LoadReport::default()
        };
        let shown = |report: &LoadReport, joined: i64| {
            let mut coverage = coverage(2);
            coverage.joined_cost = Money::whole(joined);
            let view = Loaded::new(report, Some("USD".into()), &coverage, Next::default());
            view.screen().render(100, Paint::new(false))
        };
        assert!(shown(&report, 150).contains("GPU-hours billed"));
        assert!(!shown(&report, 0).contains("GPU-hours billed"));
        let again = LoadReport {
            unchanged: true,
            ..report
        };
        assert!(!shown(&again, 150).contains("GPU-hours billed"));
    }

    #[test]
    fn long_sums_fit_the_width() {
        let sums = ["-4829123456.331368897859170123456789", "123456789.331368897859"];
        let report = LoadReport {
            units: vec![unit("2026-10", &sums, &[])],
            totals: [("billed".to_owned(), sum(&sums))].into(),
            ..LoadReport::default()
        };
        let view = Loaded::new(&report, Some("USD".into()), &coverage(2), Next::default());
        for width in [80, 100, 120] {
            let text = view.screen().render(width, Paint::new(false));
            assert!(text.lines().all(|l| l.chars().count() <= width), "{width}\n{text}");
        }
    }

    #[test]
    fn says_how_much_is_joined_and_what_each_day_has() {
        let of = |month: &str| LoadReport {
            units: vec![unit(month, &["1"], &[])],
            ..LoadReport::default()
        };
        let text = |days| {
            let view = Loaded::new(&of("2026-10"), Some("USD".into()), &coverage(days), Next::default());
            view.screen().render(100, Paint::new(false))
        };
        assert!(text(0).contains("The bill has no GPU machines"));
        let two = text(2);
        assert!(
            two.contains(
                "75.0 % of GPU money is on machines with joined metrics: 150.00 of 200.00 USD; everything matched."
            ),
            "{two}"
        );
        assert!(two.contains("2026-10-02              24.0      18.0  75.0 %"), "{two}");
        let many = text(MOST_DAYS + 2);
        assert!(
            many.contains("The newest 31 days are shown; --json has the 2 before them too."),
            "{many}"
        );
        let elsewhere = Loaded::new(&of("2025-01"), None, &coverage(2), Next::default());
        let elsewhere = elsewhere.screen().render(100, Paint::new(false));
        assert!(
            !elsewhere.contains("GPU-hours billed"),
            "no day of it changed\n{elsewhere}"
        );
        assert!(!many.contains("2026-10-02 ") && many.contains("2026-10-03 "), "{many}");
    }

    fn loaded(units: Vec<UnitReport>) -> Loaded {
        let mut totals: BTreeMap<String, ExactSum> = BTreeMap::new();
        for (metric, sum) in units.iter().flat_map(|u| &u.totals) {
            totals.entry(metric.clone()).or_default().merge(*sum);
        }
        Loaded::new(
            &LoadReport {
                units,
                totals,
                unchanged: false,
                servers: Vec::new(),
            },
            Some("USD".into()),
            &coverage(0),
            Next::default(),
        )
    }

    #[test]
    fn prints_every_digit_of_every_sum() {
        let view = loaded(vec![
            unit("2026-09", &["4829.331368897859170", "0.1"], &["a"]),
            unit("2026-10", &["0.0000000000007"], &["a", "b"]),
        ]);
        let text = view.screen().render(140, Paint::new(false));
        assert!(
            text.starts_with("Loaded 3 rows of bills with 4,829.431368897859870 USD billed; no row was rejected."),
            "{text}"
        );
        for digits in [
            "4829.431368897859870",
            "4829.431368897860",
            "-0.000000000000130",
            "4829.431368897859170",
            "4829.431368897859",
            "0.000000000000170",
            "0.0000000000007",
            "0.000000000001",
        ] {
            assert!(text.contains(digits), "{digits}\n{text}");
        }
        assert!(
            text.contains("warning: a (all 2 units)") && text.contains("warning: b (AWS 1234 2026-10)"),
            "{text}"
        );
    }

    #[test]
    fn text_and_json_hold_the_same_sums() {
        let view = loaded(vec![unit("2026-09", &["1.5", "-0.25"], &[])]);
        let json = serde_json::to_value(&view).unwrap();
        let billed = &json["units"][0]["totals"]["billed"];
        assert_eq!(billed["file"], "1.25");
        assert_eq!(billed["stored"], "1.250000000000");
        assert_eq!(billed["residual"], "0.00");
        let text = view.screen().render(120, Paint::new(false));
        for part in ["file", "stored", "residual"] {
            assert!(text.contains(billed[part].as_str().unwrap()));
        }
    }

    #[test]
    fn rejected_money_stands_beside_the_totals_and_unknown_is_not_zero() {
        let with = |rejects: u64, values: &[&str], unknown: u64| {
            loaded(vec![UnitReport {
                rejects,
                rejected: RejectedMoney {
                    billed: sum(values),
                    unknown,
                },
                ..unit("2026-09", &["1.5"], &[])
            }])
        };
        let both = |view: &Loaded| {
            let json = serde_json::to_value(view).unwrap();
            let total = json["totals"]["billed"]["rejected"].clone();
            assert_eq!(json["units"][0]["totals"]["billed"]["rejected"], total);
            assert!(json["totals"]["list"].get("rejected").is_none());
            (total, view.screen().render(140, Paint::new(false)))
        };
        let (json, text) = both(&with(0, &[], 0));
        assert!(json == "0" && text.contains("  residual\n"), "{text}");
        let (json, text) = both(&with(3, &["2.50", "0.25"], 1));
        assert!(json == "2.75" && text.contains("2.75 and 1 row unknown"), "{text}");
        let (json, text) = both(&with(2, &[], 2));
        assert!(json.is_null() && text.contains("unknown"), "{text}");
    }

    #[test]
    fn what_was_replaced_is_announced() {
        let replaced = lowwater_store::load::Replaced {
            rows: 9120,
            billed: Some(sum(&["12345.67"])),
        };
        let view = loaded(vec![
            unit("2026-09", &["1"], &[]),
            UnitReport {
                replaced: Some(replaced),
                ..unit("2026-10", &["1"], &[])
            },
        ]);
        let text = view.screen().render(140, Paint::new(false));
        assert_eq!(text.matches("replaces 9,120 rows, 12,345.67").count(), 1, "{text}");
        let json = serde_json::to_value(&view).unwrap();
        assert_eq!(
            json["units"][1]["replaced"],
            serde_json::json!({"rows": 9120, "billed": "12345.67"})
        );
        assert!(json["units"][0]["replaced"].is_null());
    }

    #[test]
    fn a_load_of_nothing_or_without_a_known_cost_is_a_sentence() {
        let none = UnitReport {
            rejects: 2,
            rows: 0,
            totals: BTreeMap::new(),
            ..unit("2026-09", &[], &[])
        };
        let text = |unit: UnitReport| loaded(vec![unit]).headline();
        assert_eq!(text(none.clone()), "Nothing was loaded; 2 rows rejected.");
        let unknown = UnitReport {
            rejects: 0,
            rows: 3,
            ..none
        };
        assert_eq!(
            text(unknown),
            "Loaded 3 rows of bills with an unknown amount billed; no row was rejected."
        );
    }

    #[test]
    fn says_what_servers_were_asked_and_how_long_they_keep_samples() {
        let mut view = loaded(Vec::new());
        assert!(
            serde_json::to_value(&view).unwrap().get("servers").is_none(),
            "files have no servers"
        );
        view.unchanged = true;
        let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
        view.servers = vec![ServerReport {
            url: "http://prometheus:9090".into(),
            source: "prometheus/eu-1".into(),
            retention: Some("15d".into()),
            oldest: Some(at("2026-10-01T05:00:00Z")),
            start: at("2026-09-01T00:00:00Z"),
            end: at("2026-10-02T00:00:00Z"),
            pages: 32,
            warnings: vec!["the start is before the oldest sample".into()],
        }];
        let text = view.screen().render(400, Paint::new(false));
        for part in [
            "what the servers have was loaded before",
            "prometheus/eu-1",
            "15d",
            "about 2026-10-01T05:00:00Z",
            "32",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(
            text.contains("warning: the start is before the oldest sample"),
            "{text}"
        );
        assert_eq!(serde_json::to_value(&view).unwrap()["servers"][0]["retention"], "15d");
        view.servers[0].retention = None;
        assert!(
            view.screen()
                .render(200, Paint::new(false))
                .contains("it does not say how long")
        );
    }

    #[test]
    fn says_that_nothing_changed_and_leads_to_rejects() {
        let mut view = loaded(vec![unit("2026-09", &["1"], &[])]);
        assert!(
            !view
                .screen()
                .render(100, Paint::new(false))
                .contains("lowwater rejects")
        );
        view.units[0].rejects = 2;
        let text = view.screen().render(100, Paint::new(false));
        assert!(
            text.contains("2 rows rejected") && text.contains("lowwater rejects"),
            "{text}"
        );
        view.unchanged = true;
        assert!(
            view.screen()
                .render(100, Paint::new(false))
                .starts_with("Nothing changed")
        );
    }

    #[test]
    fn thousands_of_units_are_cut_and_said() {
        let mut report = LoadReport {
            units: (0..99).map(|n| unit(&format!("{n:04}-01"), &["1"], &[])).collect(),
            ..LoadReport::default()
        };
        report
            .units
            .iter_mut()
            .for_each(|unit| unit.account = unit.month.clone());
        let text = Loaded::new(&report, None, &coverage(0), Next::default())
            .screen()
            .render(100, Paint::new(false));
        assert!(text.contains("0039-01") && !text.contains("0040-01"), "{text}");
        assert!(text.contains("59 more units"), "{text}");
    }
}
