//! The sample organisation, shown as a guided tour: what was loaded, where the money goes, what to do.

use std::path::Path;

use lowwater_model::plan::Plan;
use serde::Serialize;

use super::backtest::BacktestView;
use super::load::Loaded;
use super::next::Next;
use super::plan::{Extent, PlanView};
use super::report::ReportView;
use crate::amount::count;
use crate::demo::DemoSummary;
use crate::output::View;
use crate::screen::{Column, Screen, Table};

/// What the demo did.
#[derive(Debug, Serialize)]
pub struct DemoView {
    /// Where its files are.
    pub directory: String,
    /// Rows of its bills.
    pub bill_rows: u64,
    /// Rows of its hourly metrics.
    pub usage_rows: u64,
    /// Scrapes of one GPU in its DCGM files.
    pub dcgm_samples: u64,
    /// What its commands said.
    #[serde(flatten)]
    pub shown: Shown,
    #[serde(skip)]
    next: Next,
}

/// What the commands of the tour say.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// As `lowwater load --json`.
    pub loaded: Loaded,
    /// As `lowwater report --json`.
    pub report: ReportView,
    /// As `lowwater plan --json`.
    pub plan: Plan,
    /// As `lowwater backtest --json`.
    pub backtest: BacktestView,
}

impl DemoView {
    /// Of a demo.
    pub fn new(dir: &Path, summary: &DemoSummary, shown: Shown) -> Self {
        Self {
            directory: dir.display().to_string(),
            bill_rows: summary.rows(),
            usage_rows: summary.measured.usage_rows,
            dcgm_samples: summary.measured.dcgm_samples,
            shown,
            next: Next::on(dir),
        }
    }

    fn headline(&self) -> String {
        format!(
            "Fernhollow Robotics, an invented organisation, is in {}: {} rows of bills, {} GPU-hours and {} scrapes of GPUs, as the files that a real one has.",
            self.directory,
            count(self.bill_rows),
            count(self.usage_rows),
            count(self.dcgm_samples)
        )
    }

    /// One line a source: what `load` prints by unit, added up.
    fn sources(&self) -> Table {
        let mut table = Table::new([
            Column::text("source").whole(),
            Column::number("months"),
            Column::number("rows"),
            Column::number("rejected"),
        ]);
        let mut names: Vec<&str> = self.shown.loaded.units.iter().map(|u| u.source.as_str()).collect();
        names.dedup();
        for name in names {
            let units: Vec<_> = self.shown.loaded.units.iter().filter(|u| u.source == name).collect();
            let sum = |of: fn(&super::load::Unit) -> u64| count(units.iter().map(|u| of(u)).sum());
            table.row([
                name.to_owned(),
                count(units.len() as u64),
                sum(|u| u.rows),
                sum(|u| u.rejects),
            ]);
        }
        table
    }
}

impl View for DemoView {
    fn screen(&self) -> Screen {
        let plan = PlanView {
            plan: &self.shown.plan,
            written: Some(format!("{}/plan.json", self.directory)),
            stale: None,
            extent: Extent::Refusals,
            next: self.next.clone(),
        };
        let mut report = self.shown.report.screen();
        report.drop_next();
        let mut plan = plan.screen();
        plan.drop_next();
        Screen::new(self.headline())
            .title("1. Loaded: lowwater load")
            .table(self.sources())
            .text(self.shown.loaded.totals_words())
            .text(self.shown.loaded.join_words())
            .title("2. Where the money goes: lowwater report")
            .then(report)
            .title("3. What to do about it: lowwater plan")
            .then(plan)
            .title("4. Would it have worked? lowwater backtest")
            .text(self.shown.backtest.headline())
            .points(self.shown.backtest.remarks())
            .next([
                (self.next.command("show 1"), "everything about the first step"),
                (self.next.command("show plan"), "the whole plan, with all refusals"),
                (
                    self.next.command("backtest"),
                    "a past plan, step by step, against what followed",
                ),
                (self.next.command("report --by team,class"), "who spends it on what"),
                (self.next.command("doctor"), "what is missing for a better answer"),
                (self.next.command("serve"), "all of it in a browser"),
                ("lowwater init".to_owned(), "the same for your own bill"),
            ])
    }
}
