//! What is missing for a better answer, and how much money each gap concerns.

pub mod checks;

use lowwater_model::facts::Facts;
use lowwater_model::money::Money;
use lowwater_store::load::Reject;
use serde::{Serialize, Serializer};

use super::next::Next;
use crate::amount::{self, UNKNOWN, cents};
use crate::output::View;
use crate::screen::{Column, Figure, Screen, Table, figure};

/// Everything that the checks look at.
#[derive(Debug)]
pub struct Evidence {
    /// The frozen input of a plan.
    pub facts: Facts,
    /// GPUs that match no billed resource: host and GPU.
    pub unmatched: Vec<(String, String)>,
    /// Hosts that match several resources.
    pub ambiguous: Vec<(String, Vec<String>)>,
    /// Cost in the period that lacks a required tag.
    pub untagged: Money,
    /// Required tags that no charge carries.
    pub uncarried_tags: Vec<String>,
    /// Rows that were not kept.
    pub rejects: Vec<Reject>,
    /// Charges whose cost is unknown.
    pub unknown_costs: u64,
    /// Lines of the owner's files that were left out.
    pub config_warnings: Vec<String>,
    /// Share of GPU money that the policy wants joined.
    pub min_join_share: f64,
}

/// Something that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable word.
    pub id: &'static str,
    /// Money that it concerns in the replayed period; null = unknown.
    pub cost: Option<Money>,
    /// Which resources, hosts, files.
    #[serde(rename = "where")]
    pub place: String,
    /// What is missing, and what that means.
    pub why: String,
    /// What to do.
    pub hint: String,
}

/// All of them, as JSON a plain array.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// The most expensive first, unknown amounts last.
    pub findings: Vec<Finding>,
    currency: String,
    days: String,
    figures: Vec<Figure>,
    next: Next,
}

impl Serialize for Diagnosis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.findings.serialize(serializer)
    }
}

impl Diagnosis {
    /// Runs every check; what concerns most money comes first, unknown amounts last.
    pub fn new(evidence: &Evidence, next: Next) -> Self {
        let mut findings: Vec<Finding> = checks::ALL.iter().flat_map(|check| check(evidence)).collect();
        findings.sort_by(|a, b| b.cost.cmp(&a.cost).then(a.id.cmp(b.id)).then(a.place.cmp(&b.place)));
        let facts = &evidence.facts;
        Self {
            findings,
            currency: facts.currency.to_string(),
            days: amount::period(&facts.period),
            figures: figures(facts, evidence.min_join_share),
            next,
        }
    }

    /// Is anything missing?
    pub fn is_healthy(&self) -> bool {
        self.findings.is_empty()
    }

    fn headline(&self) -> String {
        match self.findings.first() {
            None => "Nothing is missing: every GPU is joined, declared, tagged and priced.".to_owned(),
            Some(first) => {
                let largest = first.cost.map_or_else(String::new, |c| {
                    format!("; the largest concerns {} {}", cents(c), self.currency)
                });
                let gaps = amount::plural(self.findings.len() as u64, "gap");
                format!(
                    "{gaps} between the data and a better answer{largest}, from {}.",
                    self.days
                )
            }
        }
    }
}

fn figures(facts: &Facts, min_join_share: f64) -> Vec<Figure> {
    let quality = &facts.quality;
    let instant = |at: Option<jiff::Timestamp>| at.map_or_else(|| UNKNOWN.to_owned(), amount::instant);
    let wanted = format!(
        "of GPU money is on machines with joined metrics; idle findings need {}",
        amount::share(min_join_share)
    );
    vec![
        figure("joined", amount::share_or_unknown(quality.join_share()), wanted),
        figure(
            "days",
            format!("{} of {}", quality.days_with_charges, quality.days),
            "of the replayed days have charges",
        ),
        figure("bill to", instant(quality.bill_until), ""),
        figure("metrics to", instant(quality.metrics_until), ""),
    ]
}

impl View for Diagnosis {
    fn screen(&self) -> Screen {
        let mut table = Table::new([
            Column::number(format!("concerns ({})", self.currency)),
            Column::text("gap"),
            Column::text("what is missing, and what to do").at_least(30),
        ]);
        for finding in &self.findings {
            let cost = finding.cost.map_or_else(|| UNKNOWN.to_owned(), cents);
            let text = format!("{} ({})\nhint: {}", finding.why, finding.place, finding.hint);
            table.row([cost, finding.id.replace('_', " "), text]);
        }
        let screen = Screen::new(self.headline()).figures(self.figures.clone()).table(table);
        screen.next([
            (self.next.command("report --by team,class"), "who spends it on what"),
            (self.next.command("plan"), "what can be said already"),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;
    use crate::view::sample;

    fn text(evidence: &Evidence) -> String {
        Diagnosis::new(evidence, Next::default())
            .screen()
            .render(100, Paint::new(false))
    }

    #[test]
    fn healthy_data_has_no_findings() {
        let mut evidence = sample::evidence();
        evidence.facts.resources.iter_mut().for_each(sample::measure_memory);
        let view = Diagnosis::new(&evidence, Next::default());
        assert!(view.is_healthy(), "{:?}", view.findings);
        assert!(text(&evidence).starts_with("Nothing is missing"));
    }

    #[test]
    fn what_concerns_most_money_comes_first_and_unknown_last() {
        let mut evidence = sample::evidence();
        evidence.untagged = Money::whole(1);
        evidence.unknown_costs = 3;
        let view = Diagnosis::new(&evidence, Next::default());
        let ids: Vec<&str> = view.findings.iter().map(|f| f.id).collect();
        assert_eq!(ids, ["unmeasured_memory", "untagged", "unknown_costs"]);
        let screen = text(&evidence);
        assert!(
            screen.starts_with("3 gaps between the data and a better answer; the largest concerns 29,568.00 USD"),
            "{screen}"
        );
        let json = serde_json::to_value(&view).unwrap();
        assert_eq!(json[1]["cost"], "1.00");
        assert!(json[2]["cost"].is_null());
        assert!(
            json.as_array()
                .unwrap()
                .iter()
                .all(|f| f["where"].is_string() && f["why"].is_string() && f["hint"].is_string())
        );
    }
}
