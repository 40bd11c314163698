//! Where the money goes: the bill by one or two dimensions, to the last digit.

use lowwater_model::charge::CostMetric;
use lowwater_model::known::Known;
use lowwater_model::money::Money;
use lowwater_model::period::Period;
use lowwater_store::report::{Dimension, IdleMode, PeriodKind, Report, ReportQuery, ReportRow};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::jobs::JobsView;
use super::next::Next;
use super::plan::metric_words;
use crate::amount::{self, UNKNOWN, cents, share_of, share_or_unknown};
use crate::csv::Csv;
use crate::output::View;
use crate::screen::{Column, Figure, Screen, Table, figure};

/// Label of what twelve stored digits could not hold.
const ROUNDING: &str = "(rounding)";

/// A report. Its rows sum to its total, exactly.
#[derive(Debug, Serialize)]
pub struct ReportView {
    /// `billed`, `effective`, `contracted` or `list`.
    pub metric: CostMetric,
    /// Why that one, where nobody asked for it.
    pub metric_why: Option<String>,
    /// Of all money.
    pub currency: String,
    /// The dimensions.
    pub by: Vec<Dimension>,
    /// Which time counts.
    pub period: PeriodKind,
    /// How idle cost is shown.
    pub idle: IdleMode,
    /// First and last day with charges.
    pub days: Option<(String, String)>,
    /// The zone of the days, IANA.
    pub zone: String,
    /// The parts.
    pub rows: Vec<Row>,
    /// All of it: the bill.
    pub total: String,
    /// Money that stands out; each is inside the rows too.
    pub lines: Lines,
    /// GPU figures.
    pub gpu: GpuView,
    /// What became of jobs; null where none is loaded.
    pub jobs: Option<JobsView>,
    /// What a reader must know.
    pub notes: Vec<String>,
    /// Where the bill has charges at all, in days of UTC.
    #[serde(skip)]
    pub bill: Option<Period>,
    #[serde(skip)]
    stored: Money,
    #[serde(skip)]
    next: Next,
}

/// Money that stands out.
#[derive(Debug, Serialize)]
pub struct Lines {
    /// Ran idle; null = unknown, because nothing was measured.
    pub idle: Option<Money>,
    /// No team by workload or tag.
    pub unallocated: Money,
    /// Lacks a tag that the policy requires.
    pub untagged: Money,
    /// Committed and not used.
    pub unused_commitment: Option<Money>,
}

/// One part of the bill.
#[derive(Debug)]
pub struct Row {
    /// A label for each dimension, under its name.
    pub labels: Vec<(&'static str, String)>,
    /// Exact, as text.
    pub cost: String,
    /// The part of it that ran idle; null = unknown, because none of its GPU machines was measured.
    pub of_which_idle: Option<Money>,
    /// GPU-hours billed.
    pub gpu_hours: Money,
    /// For tables; the residual of a rounding line has none.
    money: Option<Money>,
}

impl Row {
    /// Its cost; of a rounding line nothing, its digits are beyond those of money.
    pub fn money(&self) -> Money {
        self.money.unwrap_or(Money::ZERO)
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, label) in &self.labels {
            map.serialize_entry(name, label)?;
        }
        map.serialize_entry("cost", &self.cost)?;
        map.serialize_entry("of_which_idle", &self.of_which_idle)?;
        map.serialize_entry("gpu_hours", &self.gpu_hours)?;
        map.end()
    }
}

/// GPU figures of a report.
#[derive(Debug, Serialize)]
pub struct GpuView {
    /// Cost of resources with a GPU.
    pub cost: Money,
    /// The part of it that is development.
    pub development: Money,
    /// The part of it whose class is unknown: neither declared nor told by a tag.
    pub undeclared: Money,
    /// `development` of `cost`, 0 to 1; null where there is no GPU cost.
    pub development_share: Option<f64>,
    /// Billed.
    pub gpu_hours: Money,
    /// Weighed by activity.
    pub useful_gpu_hours: Known<f64>,
    /// Cost of the measured part for one of them.
    pub cost_per_useful_gpu_hour: Known<f64>,
}

impl ReportView {
    /// Of a report.
    pub fn new(report: Report, query: &ReportQuery, next: Next) -> Self {
        let is_measured = report.idle_known;
        let mut rows: Vec<Row> = report.rows.iter().map(|r| row(&report.by, r, is_measured)).collect();
        let exact = report.exact.filter(|sum| !sum.is_exact());
        if let Some(sum) = exact {
            rows.push(rounding(&report.by, sum.residual_text()));
        }
        let (gpu, why) = (&report.gpu, report.metric_why.clone());
        Self {
            metric: report.metric,
            metric_why: report.metric_why,
            currency: report.currency,
            by: report.by,
            period: query.period,
            idle: query.idle,
            days: report.days,
            zone: report.zone,
            rows,
            total: exact.map_or_else(|| report.stored.to_string(), |sum| sum.file_text()),
            lines: Lines {
                idle: is_measured.then_some(report.lines.idle),
                unallocated: report.lines.unallocated,
                untagged: report.lines.untagged,
                unused_commitment: report.lines.unused_commitment,
            },
            gpu: GpuView {
                cost: gpu.cost,
                development: gpu.development,
                undeclared: gpu.undeclared,
                development_share: share_of(gpu.development, gpu.cost).map(amount::six_digits),
                gpu_hours: gpu.gpu_hours,
                useful_gpu_hours: gpu.useful_gpu_hours.clone(),
                cost_per_useful_gpu_hour: gpu.cost_per_useful_gpu_hour.clone(),
            },
            notes: relevant(report.notes, query, report.metric, why.as_deref()),
            jobs: None,
            bill: None,
            stored: report.stored,
            next,
        }
    }

    /// The one sentence.
    pub fn headline(&self) -> String {
        let days = self.days.as_ref().map_or_else(String::new, |(first, last)| {
            format!(" from {}", amount::days(first, last, &self.zone))
        });
        let total = format!(
            "{} is {} {}{days}",
            sentence(&metric_words(self.metric)),
            cents(self.stored),
            self.currency
        );
        match self.lines.idle.filter(|idle| !idle.is_zero()) {
            Some(idle) => {
                let share = share_or_unknown(share_of(idle, self.gpu.cost));
                format!("{total}; {} of it ran idle, {share} of GPU spend.", cents(idle))
            }
            None => format!("{total}."),
        }
    }

    fn empty_words(&self) -> String {
        let bill = self.bill.as_ref().map(amount::period);
        let bill = bill.map_or_else(String::new, |days| format!("; the bill has charges from {days}"));
        format!("No charge is in the days that were asked for{bill}.")
    }

    fn money(&self, money: Money) -> String {
        format!("{} {}", cents(money), self.currency)
    }

    fn of_bill(&self, money: Money, rest: &str) -> String {
        format!("{} of the bill{rest}", share_or_unknown(share_of(money, self.stored)))
    }

    /// The sum of all rows, as it is stored.
    pub const fn total_money(&self) -> Money {
        self.stored
    }

    /// What stands out.
    pub fn figures(&self) -> Vec<Figure> {
        let lines = &self.lines;
        let why = self.metric_why.clone().unwrap_or_default();
        let of_bill =
            |label: &str, money: Money, rest: &str| figure(label, self.money(money), self.of_bill(money, rest));
        let mut figures = vec![figure(metric_words(self.metric), self.money(self.stored), why)];
        figures.extend(self.gpu_figures());
        figures.extend([
            of_bill("no team", lines.unallocated, ": neither workload nor tag names one"),
            of_bill("untagged", lines.untagged, ": lacks a tag that the policy requires"),
            lines.unused_commitment.map_or_else(
                || {
                    figure(
                        "unused commitment",
                        UNKNOWN,
                        "billed cost says what was bought, not what was used: --metric effective does",
                    )
                },
                |unused| of_bill("unused commitment", unused, ": paid for and not used"),
            ),
        ]);
        figures
    }

    fn gpu_figures(&self) -> Vec<Figure> {
        let gpu = &self.gpu;
        if gpu.cost.is_zero() {
            return vec![figure(
                "GPU spend",
                self.money(gpu.cost),
                "no charge is known to be a GPU",
            )];
        }
        let hours = amount::quantity(gpu.gpu_hours.estimate().amount());
        let of_gpu = |m: Money, rest: &str| format!("{} of GPU spend{rest}", share_or_unknown(share_of(m, gpu.cost)));
        let spend = self.of_bill(gpu.cost, &format!(", {hours} GPU-hours billed"));
        let idle = match self.lines.idle {
            Some(idle) => {
                let remark = of_gpu(idle, ": hours in which every GPU of a machine did nothing");
                figure("idle", self.money(idle), remark)
            }
            None => figure("idle", UNKNOWN, gpu.useful_gpu_hours.why().unwrap_or_default()),
        };
        // The class has costs without a GPU as well: its line of the table is another number.
        let rest = ": class development, only machines with GPUs";
        let development = if gpu.undeclared == gpu.cost {
            figure("GPU development", UNKNOWN, "no machine with GPUs has a known class")
        } else {
            let remark = of_gpu(gpu.development, rest);
            figure("GPU development", self.money(gpu.development), remark)
        };
        let mut figures = vec![figure("GPU spend", self.money(gpu.cost), spend), idle, development];
        if !gpu.undeclared.is_zero() {
            let rest = ": class unknown; the other cost of that class has no GPU";
            figures.push(figure(
                "GPU undeclared",
                self.money(gpu.undeclared),
                of_gpu(gpu.undeclared, rest),
            ));
        }
        figures.push(self.useful());
        figures
    }

    fn useful(&self) -> Figure {
        let label = "a useful GPU-hour";
        match (&self.gpu.cost_per_useful_gpu_hour, &self.gpu.useful_gpu_hours) {
            (Known::Value(rate), Known::Value(hours)) => {
                let hours = amount::quantity(*hours);
                let remark = format!("{hours} GPU-hours weighed by activity, on measured machines");
                figure(label, format!("{rate:.2} {}", self.currency), remark)
            }
            (Known::Unknown(why), _) | (_, Known::Unknown(why)) => figure(label, UNKNOWN, why.clone()),
        }
    }

    fn table(&self) -> Table {
        let names = self
            .by
            .iter()
            .map(|d| Column::text(d.as_str().replace('_', " ")).whole());
        let cost = Column::number(format!("{} ({})", metric_words(self.metric), self.currency));
        let numbers = [
            cost,
            Column::number("share"),
            Column::number(format!("{} ({})", self.idle_column(), self.currency)).optional(1),
        ];
        let mut table = Table::new(names.chain(numbers));
        let share = |m: Money| share_or_unknown(share_of(m, self.stored));
        let first = std::iter::once("all".to_owned()).chain(vec![String::new(); self.by.len().saturating_sub(1)]);
        table.total(first.chain([cents(self.stored), share(self.stored), idle_words(self.lines.idle)]));
        for row in &self.rows {
            let labels = row.labels.iter().map(|(_, label)| label.clone());
            let numbers = match row.money {
                Some(money) => [cents(money), share(money), idle_words(row.of_which_idle)],
                // All its digits would push the column aside; a remark has them.
                None => [cents(Money::ZERO), share(Money::ZERO), cents(Money::ZERO)],
            };
            table.row(labels.chain(numbers));
        }
        table
    }

    /// A row's own idle cost, or its share of everybody's.
    const fn idle_column(&self) -> &'static str {
        match self.idle {
            IdleMode::Spread => "of which idle of all, spread",
            IdleMode::Keep | IdleMode::Separate => "of which idle",
        }
    }

    /// The rows for a spreadsheet, in FOCUS words; the metric is in the header.
    pub fn csv(&self) -> String {
        let column = self.metric.column();
        let mut csv = Csv::default();
        let header = self.by.iter().map(|d| d.as_str().to_owned());
        let kind = if self.idle == IdleMode::Spread {
            "SpreadIdle"
        } else {
            "Idle"
        };
        let idle = format!("x_{kind}{column}");
        csv.record(
            header
                .chain([column.to_owned(), idle, "BillingCurrency".to_owned()])
                .map(Csv::text),
        );
        for row in &self.rows {
            let labels = row.labels.iter().map(|(_, label)| Csv::text(label.clone()));
            let numbers = [
                Csv::number(row.cost.clone()),
                Csv::number(row.of_which_idle.map_or_else(String::new, |m| m.to_string())),
            ];
            csv.record(labels.chain(numbers).chain([Csv::text(self.currency.clone())]));
        }
        csv.into_text()
    }
}

fn idle_words(idle: Option<Money>) -> String {
    idle.map_or_else(|| UNKNOWN.to_owned(), cents)
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|c| c.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

fn row(by: &[Dimension], row: &ReportRow, is_measured: bool) -> Row {
    Row {
        labels: by.iter().map(|d| d.as_str()).zip(row.labels.iter().cloned()).collect(),
        cost: row.cost.to_string(),
        of_which_idle: (is_measured && row.idle_known).then_some(row.of_which_idle),
        gpu_hours: row.gpu_hours,
        money: Some(row.cost),
    }
}

/// Notes about this question: not what the metric's reason says already, of no other cost column, and of no names that
/// are not shown.
fn relevant(notes: Vec<String>, query: &ReportQuery, metric: CostMetric, why: Option<&str>) -> Vec<String> {
    let is_ours = |note: &String| {
        // A rejected row is in no sum, whichever column it was rejected for.
        let is_about = |m: CostMetric| {
            note.starts_with(m.column()) || note.contains(&format!("unknown {}, which no sum", m.column()))
        };
        let columns = CostMetric::ALL.iter().any(|m| *m != metric && is_about(*m));
        let field = note.split(' ').next().unwrap_or_default();
        let spelling = note.ends_with(": counted as one") && !query.by.iter().any(|d| d.as_str() == field);
        !columns && !spelling && why != Some(note.as_str())
    };
    let mut kept: Vec<String> = notes.into_iter().filter(is_ours).collect();
    let mut seen = std::collections::BTreeSet::new();
    kept.retain(|note| seen.insert(note.clone()));
    kept
}

/// The line that makes the rows tie out to the last digit of the files.
fn rounding(by: &[Dimension], residual: String) -> Row {
    let owner = by.iter().position(|d| d.is_owner()).unwrap_or(0);
    let label =
        |(i, d): (usize, &Dimension)| (d.as_str(), if i == owner { ROUNDING.to_owned() } else { String::new() });
    Row {
        labels: by.iter().enumerate().map(label).collect(),
        cost: residual,
        of_which_idle: Some(Money::ZERO),
        gpu_hours: Money::ZERO,
        money: None,
    }
}

impl View for ReportView {
    fn screen(&self) -> Screen {
        if self.days.is_none() {
            let ask = self.next.command("report");
            return Screen::new(self.empty_words()).next([(ask, "where the money of the whole bill goes")]);
        }
        let mut screen = Screen::new(self.headline()).figures(self.figures()).table(self.table());
        if let Some(row) = self.rows.iter().find(|r| r.money.is_none()) {
            let (cost, currency) = (&row.cost, &self.currency);
            screen = screen.text(format!(
                "{ROUNDING} is {cost} {currency}: digits of the files beyond the twelfth."
            ));
        }
        if let Some(jobs) = &self.jobs {
            screen = jobs.under(screen);
        }
        let screen = screen.remarks("What to know", self.notes.clone());
        let plan = (self.next.command("plan"), "what to change, and what each step saves");
        if self.by == [Dimension::Team, Dimension::Class] {
            return screen.next([
                plan,
                (
                    self.next.command("report --by workload,sku"),
                    "which machines it runs on",
                ),
            ]);
        }
        screen.next([
            plan,
            (self.next.command("report --by team,class"), "who spends it on what"),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;
    use lowwater_model::money::{Decimal, ExactSum};
    use lowwater_store::report::GpuFigures;

    fn sample(values: &[(&str, &str)]) -> Report {
        let mut exact = ExactSum::default();
        for (_, cost) in values {
            exact.add(Decimal::parse(cost).unwrap());
        }
        let row = |(team, cost): &(&str, &str)| ReportRow {
            labels: vec![(*team).to_owned(), "training".to_owned()],
            cost: Decimal::parse(cost).unwrap().money,
            of_which_idle: Money::whole(1),
            idle_known: *team != "unmeasured",
            gpu_hours: Money::ZERO,
        };
        Report {
            metric: CostMetric::Effective,
            metric_why: Some("as the FinOps Framework compares use".into()),
            currency: "USD".into(),
            by: vec![Dimension::Team, Dimension::Class],
            rows: values.iter().map(row).collect(),
            stored: exact.stored(),
            exact: Some(exact),
            idle_known: true,
            lines: lowwater_store::report::Lines {
                idle: Money::whole(2),
                ..lowwater_store::report::Lines::default()
            },
            gpu: GpuFigures {
                cost: Money::whole(40),
                development: Money::whole(10),
                undeclared: Money::whole(5),
                gpu_hours: Money::whole(1234),
                useful_gpu_hours: Known::Value(8.0),
                cost_per_useful_gpu_hour: Known::Value(4.861),
            },
            days: Some(("2026-10-01".into(), "2026-10-31".into())),
            zone: "UTC".into(),
            notes: vec!["dates have no zone".into()],
        }
    }

    fn view(values: &[(&str, &str)]) -> ReportView {
        ReportView::new(sample(values), &ReportQuery::default(), Next::default())
    }

    #[test]
    fn names_metric_idle_share_and_what_is_unknown() {
        let text = view(&[("vision", "30.5"), ("(tax)", "19.5")])
            .screen()
            .render(120, Paint::new(false));
        let first = text.lines().next().unwrap();
        assert_eq!(
            first,
            "Effective cost is 50.00 USD from 1 Oct to 31 Oct 2026 (31 days); 2.00 of it ran idle, 5.0 % of GPU spend."
        );
        for part in [
            "a useful GPU-hour   4.86 USD  8.0 GPU-hours",
            "GPU development",
            "25.0 % of GPU spend: class development, only machines with GPUs",
            "1,234.0 GPU-hours billed",
            "effective cost (USD)",
            "- dates have no zone",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains(ROUNDING));
    }

    #[test]
    fn days_of_another_zone_than_the_bills_say_so() {
        let report = Report {
            zone: "Europe/Berlin".into(),
            ..sample(&[("vision", "30.5")])
        };
        let view = ReportView::new(report, &ReportQuery::default(), Next::default());
        let headline = view.headline();
        assert!(
            headline.contains("from 1 Oct to 31 Oct 2026 (31 days of Europe/Berlin);"),
            "{headline}"
        );
        assert_eq!(serde_json::to_value(&view).unwrap()["zone"], "Europe/Berlin");
    }

    #[test]
    fn notes_of_other_columns_names_and_what_is_said_already_are_left_out() {
        let mut report = sample(&[("vision", "30.5")]);
        report.metric = CostMetric::Billed;
        report.metric_why = Some("EffectiveCost is unreliable: rounded".into());
        report.notes = [
            "EffectiveCost is unreliable: rounded",
            "EffectiveCost is odd",
            "1 row was rejected with an unknown EffectiveCost: not in these totals",
            "2 of the charges have an unknown BilledCost",
            "2 of the charges have an unknown BilledCost",
            "team `platform` is also written `Platform`: counted as one",
            "model `m` is also written `M`: counted as one",
        ]
        .map(String::from)
        .to_vec();
        let query = ReportQuery {
            by: vec![Dimension::Team, Dimension::Class],
            ..ReportQuery::default()
        };
        let notes = ReportView::new(report, &query, Next::default()).notes;
        assert_eq!(
            notes,
            [
                "1 row was rejected with an unknown EffectiveCost: not in these totals",
                "2 of the charges have an unknown BilledCost",
                "team `platform` is also written `Platform`: counted as one"
            ]
        );
    }

    #[test]
    fn idle_cost_of_unmeasured_machines_is_unknown_beside_measured_ones() {
        let view = view(&[("vision", "30.5"), ("unmeasured", "9")]);
        let json = serde_json::to_value(&view).unwrap();
        assert_eq!(json["rows"][0]["of_which_idle"], "1.00");
        assert!(json["rows"][1]["of_which_idle"].is_null());
        let text = view.screen().render(120, Paint::new(false));
        let line = text.lines().find(|l| l.starts_with("unmeasured")).unwrap();
        assert!(line.ends_with("unknown"), "{text}");
    }

    #[test]
    fn spread_idle_cost_has_a_name_of_its_own() {
        for (idle, column, header) in [
            (IdleMode::Keep, "of which idle (USD)", "x_IdleEffectiveCost"),
            (IdleMode::Separate, "of which idle (USD)", "x_IdleEffectiveCost"),
            (
                IdleMode::Spread,
                "of which idle of all, spread (USD)",
                "x_SpreadIdleEffectiveCost",
            ),
        ] {
            let query = ReportQuery {
                idle,
                ..ReportQuery::default()
            };
            let view = ReportView::new(sample(&[("vision", "30.5")]), &query, Next::default());
            let text = view.screen().render(120, Paint::new(false));
            assert!(text.contains(column), "{column}\n{text}");
            assert!(view.csv().contains(&format!(",{header},")), "{}", view.csv());
        }
    }

    #[test]
    fn days_without_a_charge_are_no_report_of_zeros() {
        let report = Report {
            days: None,
            ..sample(&[])
        };
        let mut view = ReportView::new(report, &ReportQuery::default(), Next::default());
        view.bill = Some(Period::from_seconds(0, 3 * 86_400));
        let text = view.screen().render(120, Paint::new(false));
        assert!(
            text.starts_with("No charge is in the days that were asked for; the bill has charges from 1 Jan to 3 Jan 1970 (3 days).\n"),
            "{text}"
        );
        assert!(!text.contains("0.00"), "{text}");
    }

    #[test]
    fn what_twelve_digits_cannot_hold_is_a_line_of_its_own() {
        let view = view(&[("vision", "1.0000000000001"), ("=x", "2")]);
        let json = serde_json::to_value(&view).unwrap();
        assert_eq!(json["total"], "3.0000000000001");
        assert_eq!(json["rows"][2]["team"], ROUNDING);
        let text = view.screen().render(100, Paint::new(false));
        assert!(text.contains("(rounding) is 0.0000000000001 USD: digits"), "{text}");
        assert_eq!(text.matches("0.0000000000001").count(), 1, "not in the table\n{text}");
        assert_eq!(
            (&json["rows"][2]["class"], &json["rows"][2]["cost"]),
            (&"".into(), &"0.0000000000001".into())
        );
        assert!(view.screen().render(120, Paint::new(false)).contains("0.0000000000001"));
        assert_eq!(
            view.csv(),
            "team,class,EffectiveCost,x_IdleEffectiveCost,BillingCurrency\n\
             vision,training,1.00,1.00,USD\n'=x,training,2.00,1.00,USD\n(rounding),,0.0000000000001,0.00,USD\n"
        );
    }

    #[test]
    fn what_was_not_measured_is_not_idle_it_is_unknown() {
        let mut report = sample(&[("vision", "30.5")]);
        report.lines.idle = Money::ZERO;
        report.idle_known = false;
        report.gpu.useful_gpu_hours = Known::unknown("no metrics");
        report.gpu.cost_per_useful_gpu_hour = Known::unknown("no metrics");
        let view = ReportView::new(report, &ReportQuery::default(), Next::default());
        let text = view.screen().render(120, Paint::new(false));
        assert!(
            text.contains("idle               unknown") && text.contains("a useful GPU-hour  unknown"),
            "{text}"
        );
        let json = serde_json::to_value(&view).unwrap();
        assert!(json["lines"]["idle"].is_null() && json["rows"][0]["of_which_idle"].is_null());
        assert!(view.csv().contains("vision,training,30.50,,USD"), "{}", view.csv());
    }

    #[test]
    fn a_report_of_nothing_has_no_shares() {
        let mut report = sample(&[]);
        report.lines.idle = Money::ZERO;
        report.gpu.cost = Money::ZERO;
        report.gpu.development = Money::ZERO;
        let view = ReportView::new(report, &ReportQuery::default(), Next::default());
        assert!(serde_json::to_value(&view).unwrap()["gpu"]["development_share"].is_null());
        assert!(
            view.screen()
                .render(120, Paint::new(false))
                .starts_with("Effective cost is 0.00 USD from 1 Oct to 31 Oct 2026 (31 days).\n")
        );
    }
}
