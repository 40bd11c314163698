//! Tags: coverage by cost, spellings, and what to mend first.

use lowwater_model::charge::CostMetric;
use lowwater_model::money::Money;
use lowwater_store::tagging::{Fix, KeyCoverage, Tagging, Variants};
use serde::Serialize;

use super::next::Next;
use super::plan::metric_words;
use crate::amount::{cents, plural, share, share_of};
use crate::output::View;
use crate::screen::{Column, Screen, Table};

/// Fixes of the text form; `--all` shows the rest.
const MOST: usize = 20;

/// The state of the tags.
#[derive(Debug, Serialize)]
pub struct TagsView {
    metric: CostMetric,
    currency: String,
    taggable: Money,
    untaggable: Money,
    target_share: f64,
    keys: Vec<Coverage>,
    variants: Vec<Spelled>,
    fixes: Vec<Mend>,
    #[serde(skip)]
    most: usize,
    #[serde(skip)]
    next: Next,
}

#[derive(Debug, Serialize)]
struct Coverage {
    key: String,
    tagged: Money,
    conflicting: Money,
    missing: Money,
    resources: usize,
    /// Of the taggable cost; null where there is none.
    share: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Spelled {
    key: String,
    spellings: Vec<Spelling>,
}

#[derive(Debug, Serialize)]
struct Spelling {
    value: String,
    cost: Money,
}

#[derive(Debug, Serialize)]
struct Mend {
    resource_id: String,
    name: String,
    key: String,
    /// Null = ask its owner.
    value: Option<String>,
    cost: Money,
}

impl Mend {
    fn new(fix: Fix) -> Self {
        let Fix {
            resource_id,
            name,
            key,
            value,
            cost,
        } = fix;
        Self {
            resource_id,
            name,
            key,
            value,
            cost,
        }
    }
}

impl TagsView {
    /// Of what the store found.
    pub fn new(tagging: Tagging, currency: String, all: bool, next: Next) -> Self {
        let taggable = tagging.taggable;
        let key = |k: KeyCoverage| Coverage {
            share: share_of(k.tagged, taggable),
            key: k.key,
            tagged: k.tagged,
            conflicting: k.conflicting,
            missing: k.missing,
            resources: k.resources,
        };
        let spelled = |v: Variants| Spelled {
            key: v.key,
            spellings: v
                .spellings
                .into_iter()
                .map(|(value, cost)| Spelling { value, cost })
                .collect(),
        };
        Self {
            metric: tagging.metric,
            currency,
            taggable,
            untaggable: tagging.untaggable,
            target_share: tagging.target_share,
            keys: tagging.keys.into_iter().map(key).collect(),
            variants: tagging.variants.into_iter().map(spelled).collect(),
            fixes: tagging.fixes.into_iter().map(Mend::new).collect(),
            most: if all { usize::MAX } else { MOST },
            next,
        }
    }

    /// Does every key reach the policy's share?
    pub fn is_good(&self) -> bool {
        self.keys.iter().all(|k| k.share.is_none_or(|s| s >= self.target_share))
    }

    fn headline(&self) -> String {
        let metric = metric_words(self.metric);
        let worst = self
            .keys
            .iter()
            .filter_map(|k| Some((k.share?, k)))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((least, key)) = worst else {
            return "Nothing in the bill can carry a tag.".into();
        };
        let wanted = share(self.target_share);
        let money = format!(
            "{} of {} {} of {metric}",
            share(least),
            cents(self.taggable),
            self.currency
        );
        if self.is_good() {
            return format!("Tags are good: {money} carry `{}`, the policy wants {wanted}.", key.key);
        }
        let count = plural(self.fixes.len() as u64, "resource");
        format!(
            "{money} carry `{}`, the policy wants {wanted}: tag {count} to reach it.",
            key.key
        )
    }

    fn keys_table(&self) -> Table {
        let mut table = Table::new([
            Column::text("required key"),
            Column::number("share"),
            Column::number(format!("tagged ({})", self.currency)),
            Column::number("missing"),
            Column::number("resources"),
            Column::number("two values"),
        ]);
        for k in &self.keys {
            table.row([
                k.key.clone(),
                k.share.map_or_else(|| "unknown".into(), share),
                cents(k.tagged),
                cents(k.missing),
                k.resources.to_string(),
                cents(k.conflicting),
            ]);
        }
        table
    }

    fn fixes_table(&self) -> Table {
        let mut table = Table::new([
            Column::number(format!("cost ({})", self.currency)),
            Column::text("resource").at_least(24).whole(),
            Column::text("tag"),
            Column::text("value"),
        ]);
        for fix in self.fixes.iter().take(self.most) {
            let name = if fix.name.is_empty() {
                fix.resource_id.clone()
            } else {
                format!("{} ({})", fix.name, fix.resource_id)
            };
            let value = fix.value.as_ref().map_or_else(
                || "ask its owner".into(),
                |v| format!("{v}, as all that are tagged in its account"),
            );
            table.row([cents(fix.cost), name, fix.key.clone(), value]);
        }
        table
    }

    fn spellings(&self) -> Vec<String> {
        let one = |v: &Spelled| {
            let all = v.spellings.iter().map(|s| format!("`{}` ({})", s.value, cents(s.cost)));
            format!(
                "{}: {}; reports count them as one",
                v.key,
                all.collect::<Vec<_>>().join(", ")
            )
        };
        self.variants.iter().map(one).collect()
    }
}

impl View for TagsView {
    fn screen(&self) -> Screen {
        let mut screen = Screen::new(self.headline()).table(self.keys_table());
        if !self.untaggable.is_zero() {
            let text = format!(
                "{} {} can't carry a tag: tax, purchases, charges without a resource.",
                cents(self.untaggable),
                self.currency
            );
            screen = screen.text(text);
        }
        if !self.fixes.is_empty() {
            screen = screen
                .title("Fewest tags that reach the target")
                .table(self.fixes_table());
            if self.fixes.len() > self.most {
                screen = screen.text(format!("{} more; `--all` shows them.", self.fixes.len() - self.most));
            }
        }
        if !self.variants.is_empty() {
            screen = screen.title("One value, several spellings").points(self.spellings());
        }
        screen.next([(
            self.next.command("report --by team"),
            "what each team costs with the tags as they are",
        )])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;

    fn tagging(tagged: i64, missing: i64) -> Tagging {
        Tagging {
            metric: CostMetric::Effective,
            taggable: Money::whole(tagged + missing),
            untaggable: Money::whole(5),
            keys: vec![KeyCoverage {
                key: "team".into(),
                tagged: Money::whole(tagged),
                conflicting: Money::ZERO,
                missing: Money::whole(missing),
                resources: 2,
            }],
            variants: vec![Variants {
                key: "team".into(),
                spellings: vec![("vision".into(), Money::whole(60)), ("Vision".into(), Money::whole(20))],
            }],
            fixes: vec![Fix {
                resource_id: "i-3".into(),
                name: "nb-3".into(),
                key: "team".into(),
                value: None,
                cost: Money::whole(missing),
            }],
            target_share: 0.9,
        }
    }

    fn view(tagged: i64, missing: i64) -> TagsView {
        TagsView::new(tagging(tagged, missing), "USD".into(), false, Next::default())
    }

    #[test]
    fn a_key_below_the_target_is_a_finding_with_what_to_do() {
        let view = view(80, 20);
        assert!(!view.is_good());
        let text = view.screen().render(100, Paint::new(false));
        for part in [
            "80.0 % of 100.00 USD of effective cost carry `team`",
            "tag 1 resource",
            "nb-3 (i-3)",
            "ask its owner",
            "`Vision` (20.00)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let json = serde_json::to_value(&view).unwrap();
        assert_eq!(
            (&json["keys"][0]["share"], &json["fixes"][0]["value"]),
            (&0.8.into(), &serde_json::Value::Null)
        );
    }

    #[test]
    fn good_tags_and_no_tags_at_all() {
        assert!(view(95, 5).is_good());
        let empty = view(0, 0);
        assert!(empty.is_good() && empty.headline().starts_with("Nothing in the bill"));
    }
}
