//! Scores of generated organisations against their truth.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::amount::{plural, quantity};
use crate::output::View;
use crate::screen::{Column, Screen, Table};
use crate::sim::{CaseScore, Score};

/// Scores of some seeds.
#[derive(Debug, Serialize)]
pub struct SimView {
    /// One a seed.
    pub scores: Vec<Score>,
}

impl SimView {
    /// Within all limits, every one?
    pub fn is_good(&self) -> bool {
        self.scores.iter().all(Score::is_good)
    }

    fn headline(&self) -> String {
        let sum = |of: fn(&Score) -> f64| self.scores.iter().map(of).sum::<f64>();
        let (all, falsely) = (sum(|s| s.gpu_hours), sum(|s| s.falsely));
        let wrong: usize = self.scores.iter().map(|s| s.misallocated.len()).sum();
        format!(
            "{} of {}: false stops {} of {} GPU-hours ({:.3} %), {} allocated wrongly, {} GPU-hours wrongly on spot.",
            if self.is_good() {
                "Within the limits"
            } else {
                "Beyond the limits"
            },
            plural(self.scores.len() as u64, "seed"),
            quantity(falsely),
            quantity(all),
            if all > 0.0 { falsely / all * 100.0 } else { 0.0 },
            plural(wrong as u64, "row"),
            quantity(sum(|s| s.wrongly_on_spot)),
        )
    }

    /// Cases of all seeds together.
    fn cases(&self) -> BTreeMap<&str, CaseScore> {
        let mut all: BTreeMap<&str, CaseScore> = BTreeMap::new();
        for (name, case) in self.scores.iter().flat_map(|score| &score.cases) {
            let sum = all.entry(name).or_default();
            sum.machines += case.machines;
            sum.found = sum
                .found
                .map_or(case.found, |found| Some(found + case.found.unwrap_or(0)));
            sum.taken += case.taken;
            sum.falsely += case.falsely;
        }
        all
    }

    fn table(&self) -> Table {
        let mut table = Table::new([
            Column::text("case"),
            Column::number("machines"),
            Column::number("found"),
            Column::number("GPU-hours taken"),
            Column::number("falsely"),
        ]);
        for (name, case) in self.cases() {
            table.row([
                name.to_owned(),
                case.machines.to_string(),
                case.found.map_or_else(String::new, |found| found.to_string()),
                quantity(case.taken),
                quantity(case.falsely),
            ]);
        }
        table
    }

    fn faults(&self) -> Vec<String> {
        let of = |score: &Score| {
            let faults = score.faults().into_iter();
            faults
                .map(|fault| format!("seed {}: {fault}", score.seed))
                .collect::<Vec<_>>()
        };
        self.scores.iter().flat_map(of).collect()
    }
}

impl View for SimView {
    fn screen(&self) -> Screen {
        Screen::new(self.headline()).table(self.table()).points(self.faults())
    }
}
