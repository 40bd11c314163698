//! Common mistakes and what they cost.

use jiff::Timestamp;
use lowwater_engine::mistake::Mistake;
use lowwater_model::facts::Facts;
use lowwater_model::plan::Plan;
use lowwater_store::tagging::Tagging;
use serde::{Serialize, Serializer};

use super::next::Next;
use crate::amount::{self, UNKNOWN, cents, plural, share, share_of};
use crate::output::View;
use crate::screen::{Column, Screen, Table};

/// All of them, as JSON a plain array.
#[derive(Debug)]
pub struct CheckView {
    mistakes: Vec<Mistake>,
    currency: String,
    days: String,
    as_of: Timestamp,
    next: Next,
}

impl Serialize for CheckView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.mistakes.serialize(serializer)
    }
}

impl CheckView {
    /// What the engine found in these facts.
    pub fn new(mistakes: Vec<Mistake>, facts: &Facts, next: Next) -> Self {
        Self {
            mistakes,
            currency: facts.currency.to_string(),
            days: amount::period(&facts.period),
            as_of: facts.as_of,
            next,
        }
    }

    /// With spend that lacks a required tag, where more does than the policy takes.
    #[must_use]
    pub fn with_tags(mut self, tagging: &Tagging) -> Self {
        for key in &tagging.keys {
            let Some(tagged) = share_of(key.tagged, tagging.taggable).filter(|s| *s < tagging.target_share) else {
                continue;
            };
            self.mistakes.push(Mistake {
                id: "untagged_spend",
                cost: Some(key.missing + key.conflicting),
                place: format!("tag `{}` on {}", key.key, plural(key.resources as u64, "resource")),
                why: if key.tagged.is_zero() {
                    format!(
                        "nothing carries it: is it spelled as in the bill? {} should; cost is that of all loaded months",
                        share(tagging.target_share)
                    )
                } else {
                    format!(
                        "{} of the taggable cost carries it, the policy wants {}; cost is that of all loaded months",
                        share(tagged),
                        share(tagging.target_share)
                    )
                },
                hint: format!("`{}` names the fewest resources to tag", self.next.command("tags")),
            });
        }
        self.sorted()
    }

    /// With the age of the plan that was written.
    #[must_use]
    pub fn with_plan(mut self, plan: Option<&Plan>, max_days: i64) -> Self {
        let age = plan.map(|plan| self.as_of.duration_since(plan.as_of).as_hours() / 24);
        if let Some(days) = age.filter(|days| *days > max_days) {
            self.mistakes.push(Mistake {
                id: "old_plan",
                cost: None,
                place: "plan.json".into(),
                why: format!("it is {days} days older than the bill, the policy takes {max_days}"),
                hint: format!("make it anew: `{}`", self.next.command("plan")),
            });
        }
        self.sorted()
    }

    /// The most expensive first, unknown amounts last.
    fn sorted(mut self) -> Self {
        self.mistakes.sort_by(|a, b| {
            b.cost
                .cmp(&a.cost)
                .then_with(|| (a.id, &a.place).cmp(&(b.id, &b.place)))
        });
        self
    }

    /// None found?
    pub fn is_good(&self) -> bool {
        self.mistakes.is_empty()
    }

    fn headline(&self) -> String {
        match self.mistakes.first() {
            None => format!("None of the common mistakes from {}.", self.days),
            Some(first) => {
                let largest = first.cost.map_or_else(String::new, |cost| {
                    format!("; the largest concerns {} {}", cents(cost), self.currency)
                });
                format!(
                    "{} from {}{largest}. Amounts may overlap, and those of tags are of all loaded months.",
                    plural(self.mistakes.len() as u64, "common mistake"),
                    self.days
                )
            }
        }
    }
}

impl View for CheckView {
    fn screen(&self) -> Screen {
        let screen = Screen::new(self.headline());
        let mut table = Table::new([
            Column::number(format!("concerns ({})", self.currency)),
            Column::text("mistake").at_least(16),
            Column::text("where, why, and what to do").at_least(30),
        ]);
        for mistake in &self.mistakes {
            let cost = mistake.cost.map_or_else(|| UNKNOWN.to_owned(), cents);
            let text = format!("{}: {}\nhint: {}", mistake.place, mistake.why, mistake.hint);
            table.row([cost, mistake.id.replace('_', " "), text]);
        }
        let screen = if self.mistakes.is_empty() {
            screen
        } else {
            screen.table(table)
        };
        screen.next([(self.next.command("plan"), "what to change, and what each step saves")])
    }
}

#[cfg(test)]
mod tests {
    use lowwater_model::money::Money;
    use lowwater_store::tagging::KeyCoverage;

    use super::*;
    use crate::screen::Paint;
    use crate::view::sample;

    fn mistake(cost: i64) -> Mistake {
        Mistake {
            id: "serving_on_spot",
            cost: Some(Money::whole(cost)),
            place: "chat (3 resources)".into(),
            why: "it runs on spot".into(),
            hint: "do not".into(),
        }
    }

    fn view(mistakes: Vec<Mistake>) -> CheckView {
        CheckView::new(mistakes, &sample::facts(), Next::default())
    }

    fn tagging(tagged: i64) -> Tagging {
        Tagging {
            metric: lowwater_model::charge::CostMetric::Effective,
            taggable: Money::whole(100),
            untaggable: Money::ZERO,
            keys: vec![KeyCoverage {
                key: "team".into(),
                tagged: Money::whole(tagged),
                conflicting: Money::ZERO,
                missing: Money::whole(100 - tagged),
                resources: 4,
            }],
            variants: Vec::new(),
            fixes: Vec::new(),
            target_share: 0.9,
        }
    }

    #[test]
    fn the_most_expensive_first_and_unknown_last() {
        let mut plan = sample::plan();
        plan.as_of = "2026-01-01T00:00:00Z".parse().unwrap();
        let view = view(vec![mistake(10)])
            .with_tags(&tagging(70))
            .with_plan(Some(&plan), 90);
        let json = serde_json::to_value(&view).unwrap();
        let ids: Vec<&str> = json
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["untagged_spend", "serving_on_spot", "old_plan"]);
        assert!(json[2]["cost"].is_null() && json[0]["where"].is_string());
        let text = view.screen().render(100, Paint::new(false));
        assert!(
            text.starts_with("3 common mistakes") && text.contains("hint: do not"),
            "{text}"
        );
    }

    #[test]
    fn a_tag_that_nothing_carries_may_be_misspelt() {
        let view = view(Vec::new()).with_tags(&tagging(0));
        assert!(
            view.mistakes[0]
                .why
                .starts_with("nothing carries it: is it spelled as in the bill?"),
            "{:?}",
            view.mistakes
        );
    }

    #[test]
    fn good_tags_and_a_new_plan_are_no_mistakes() {
        let view = view(Vec::new())
            .with_tags(&tagging(95))
            .with_plan(Some(&sample::plan()), 90)
            .with_plan(None, 90);
        assert!(view.is_good(), "{:?}", view.mistakes);
        assert!(
            view.screen()
                .render(100, Paint::new(false))
                .starts_with("None of the common mistakes")
        );
    }
}
