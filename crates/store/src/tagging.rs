//! Tags: how much of the money carries the required keys, which values are written in several ways, and the cheapest
//! set of fixes that reaches the policy's coverage.

use std::collections::{BTreeMap, BTreeSet};

use lowwater_model::charge::CostMetric;
use lowwater_model::money::Money;

use crate::error::StoreError;
use crate::owner::Owners;
use crate::session::Row;
use crate::store::Store;
use crate::tags;

/// What the bill says of tags, in the cost metric of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Tagging {
    /// Cost column of the amounts.
    pub metric: CostMetric,
    /// Cost of charges that can carry a tag: usage of a resource.
    pub taggable: Money,
    /// Cost of the others: tax, purchases, credits, usage without a resource.
    pub untaggable: Money,
    /// One a required key, in the policy's order.
    pub keys: Vec<KeyCoverage>,
    /// Values that differ only in case or in spaces at their ends, the most expensive first.
    pub variants: Vec<Variants>,
    /// The fewest resources to tag so that every key reaches the target, the most expensive first.
    pub fixes: Vec<Fix>,
    /// Share of the taggable cost that the policy wants.
    pub target_share: f64,
}

/// How much money carries a key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyCoverage {
    /// The required key.
    pub key: String,
    /// Cost of resources that carry it.
    pub tagged: Money,
    /// Cost of resources on which it has two values, so none.
    pub conflicting: Money,
    /// Cost of resources without it.
    pub missing: Money,
    /// Resources without it.
    pub resources: usize,
}

/// One value in several spellings.
#[derive(Clone, Debug, PartialEq)]
pub struct Variants {
    /// The key.
    pub key: String,
    /// Spellings with their cost, the most expensive first: the one to keep.
    pub spellings: Vec<(String, Money)>,
}

/// A resource to tag.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// FOCUS ResourceId.
    pub resource_id: String,
    /// FOCUS ResourceName or Name tag.
    pub name: String,
    /// The key that it lacks.
    pub key: String,
    /// The value that every tagged neighbour in its account has, where most have one; none = ask its owner.
    pub value: Option<String>,
    /// What it cost.
    pub cost: Money,
}

/// A resource with its tags, over everything that is loaded.
#[derive(Clone, Debug, Default, PartialEq)]
struct Tagged {
    name: String,
    account: String,
    cost: Money,
    /// Values by key as it is folded.
    values: BTreeMap<String, String>,
    conflicts: BTreeSet<String>,
}

impl Store {
    /// The state of the tags, over everything that is loaded.
    pub fn tagging(&self) -> Result<Tagging, StoreError> {
        let metric = self.basis().metric;
        let owners = Owners::new(&self.config().workloads, &self.config().policy);
        let target_share = self.config().policy.section("tags").float("target_share");
        let (resources, untaggable) = self.tagged_resources(metric)?;
        let keys: Vec<(String, Vec<String>)> = owners.required_keys();
        let coverage = keys
            .iter()
            .map(|(key, group)| coverage(key, group, &resources))
            .collect();
        let fixes = keys
            .iter()
            .flat_map(|(key, group)| fixes(key, group, &resources, target_share));
        let mut fixes: Vec<Fix> = fixes.collect();
        fixes.sort_by(|a, b| {
            b.cost
                .cmp(&a.cost)
                .then_with(|| (&a.resource_id, &a.key).cmp(&(&b.resource_id, &b.key)))
        });
        Ok(Tagging {
            metric,
            taggable: resources.values().map(|r| r.cost).sum(),
            untaggable,
            keys: coverage,
            variants: variants(&resources),
            fixes,
            target_share,
        })
    }

    /// Required keys that nothing carries.
    pub fn uncarried_tags(&self) -> Result<Vec<String>, StoreError> {
        let keys = self.tagging()?.keys.into_iter();
        let uncarried = keys.filter(|key| key.tagged.is_zero() && !key.missing.is_zero());
        Ok(uncarried.map(|key| key.key).collect())
    }

    /// Resources with their tags, and the cost of what can't carry one.
    fn tagged_resources(&self, metric: CostMetric) -> Result<(BTreeMap<String, Tagged>, Money), StoreError> {
        // The newest spelling of a resource's tags is the one that can be mended: rows come in order of the day.
        let sql = format!(
            "SELECT ResourceId, ResourceName, coalesce(SubAccountId, x_Account) AS x_AccountId, Tags,
                    ChargeCategory = 'Usage' AND ResourceId IS NOT NULL
                      AND CommitmentDiscountStatus IS DISTINCT FROM 'Unused' AS x_Taggable,
                    sum({}) AS cost, max(x_Day) AS newest
             FROM daily GROUP BY 1, 2, 3, 4, 5 ORDER BY newest, ResourceId, Tags",
            metric.column()
        );
        let mut resources: BTreeMap<String, Tagged> = BTreeMap::new();
        let mut untaggable = Money::ZERO;
        for row in self.session()?.query(&sql)?.iter() {
            match row.text("ResourceId").filter(|_| row.bool("x_Taggable")) {
                Some(id) => resources.entry(id.to_owned()).or_default().add(row),
                None => untaggable += row.money_or_zero("cost"),
            }
        }
        Ok((resources, untaggable))
    }
}

impl Tagged {
    fn add(&mut self, row: Row<'_>) {
        let read = tags::read(row.text_or_empty("Tags")).unwrap_or_default();
        self.cost += row.money_or_zero("cost");
        self.account = row.text_or_empty("x_AccountId").into();
        if let Some(name) = row
            .text("ResourceName")
            .or_else(|| read.values.get("name").map(String::as_str))
        {
            self.name = name.into();
        }
        self.values = read.values;
        self.conflicts = read.conflicts;
    }

    fn value(&self, group: &[String]) -> Option<&str> {
        let values = group.iter().filter_map(|key| self.values.get(key));
        values.map(|value| value.trim()).find(|value| !value.is_empty())
    }
}

fn coverage(key: &str, group: &[String], resources: &BTreeMap<String, Tagged>) -> KeyCoverage {
    let mut out = KeyCoverage {
        key: key.to_owned(),
        tagged: Money::ZERO,
        conflicting: Money::ZERO,
        missing: Money::ZERO,
        resources: 0,
    };
    for resource in resources.values() {
        if resource.value(group).is_some() {
            out.tagged += resource.cost;
        } else if group.iter().any(|key| resource.conflicts.contains(key)) {
            out.conflicting += resource.cost;
        } else {
            out.missing += resource.cost;
            out.resources += 1;
        }
    }
    out
}

/// The fewest resources to tag so that the share of the cost with the key reaches the target: each is one edit, so the
/// most expensive first.
fn fixes(key: &str, group: &[String], resources: &BTreeMap<String, Tagged>, target_share: f64) -> Vec<Fix> {
    let whole: Money = resources.values().map(|r| r.cost).sum();
    let tagged: Money = resources
        .values()
        .filter(|r| r.value(group).is_some())
        .map(|r| r.cost)
        .sum();
    // not money: a share in millionths
    let target = i128::from((target_share.clamp(0.0, 1.0) * 1e6).round() as i64);
    let reached = |sum: Money| sum.units().saturating_mul(1_000_000) >= whole.units().saturating_mul(target);
    let mut missing: Vec<(&String, &Tagged)> = resources
        .iter()
        .filter(|(_, r)| r.value(group).is_none() && r.cost > Money::ZERO)
        .collect();
    missing.sort_by(|(a_id, a), (b_id, b)| b.cost.cmp(&a.cost).then(a_id.cmp(b_id)));
    let neighbours = only_values(group, resources);
    let mut sum = tagged;
    let mut out = Vec::new();
    for (id, resource) in missing {
        if reached(sum) {
            break;
        }
        sum += resource.cost;
        out.push(Fix {
            resource_id: id.clone(),
            name: resource.name.clone(),
            key: group.first().cloned().unwrap_or_else(|| key.to_owned()),
            value: neighbours.get(resource.account.as_str()).cloned().flatten(),
            cost: resource.cost,
        });
    }
    out
}

/// The one value that tagged resources of an account have; none where they differ, and where they are few or the
/// smaller part of its cost: one tagged machine says nothing of its neighbours.
fn only_values<'a>(group: &[String], resources: &'a BTreeMap<String, Tagged>) -> BTreeMap<&'a str, Option<String>> {
    let mut out: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let mut weights: BTreeMap<&str, (usize, Money, Money)> = BTreeMap::new();
    for resource in resources.values() {
        let (count, tagged, all) = weights.entry(&resource.account).or_default();
        *all += resource.cost;
        let Some(value) = resource.value(group) else { continue };
        *count += 1;
        *tagged += resource.cost;
        let slot = out.entry(&resource.account).or_insert_with(|| Some(value.to_owned()));
        if slot.as_deref().is_some_and(|one| !one.eq_ignore_ascii_case(value)) {
            *slot = None;
        }
    }
    let are_most = |(count, tagged, all): &(usize, Money, Money)| *count >= MIN_TAGGED && tagged.times(2) > *all;
    out.retain(|account, _| weights.get(account).is_some_and(are_most));
    out
}

/// Fewer tagged resources of an account say nothing of the others.
const MIN_TAGGED: usize = 2;

fn variants(resources: &BTreeMap<String, Tagged>) -> Vec<Variants> {
    let mut seen: BTreeMap<(String, String), BTreeMap<String, Money>> = BTreeMap::new();
    for resource in resources.values() {
        for (key, value) in resource.values.iter().filter(|(key, _)| *key != "name") {
            let folded = (key.clone(), value.trim().to_lowercase());
            *seen.entry(folded).or_default().entry(value.clone()).or_default() += resource.cost;
        }
    }
    let several = seen.into_iter().filter(|(_, spellings)| spellings.len() > 1);
    let mut out: Vec<Variants> = several
        .map(|((key, _), spellings)| {
            let mut spellings: Vec<(String, Money)> = spellings.into_iter().collect();
            spellings.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            Variants { key, spellings }
        })
        .collect();
    let cost = |v: &Variants| -> Money { v.spellings.iter().map(|s| s.1).sum() };
    out.sort_by(|a, b| cost(b).cmp(&cost(a)).then_with(|| a.key.cmp(&b.key)));
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample::{Line, focus_csv, load_text, open};

    fn line(resource: &str, price: &str, tags: &str) -> Line {
        let at = "2026-10-01T00:00:00Z".parse().unwrap();
        Line {
            tags: tags.into(),
            ..Line::hour(resource, "", at, price)
        }
    }

    #[test]
    fn coverage_by_cost_spellings_and_fixes() {
        let lines = [
            line("i-1", "60", r#"{"team":"vision"}"#),
            line("i-2", "20", r#"{"Team":"Vision "}"#),
            line("i-3", "15", "{}"),
            line("i-4", "4", r#"{"team":"a","Team":"b"}"#),
            line("i-5", "1", ""),
            Line {
                category: "Tax",
                ..line("", "10", "")
            },
        ];
        let dir = tempfile::tempdir().unwrap();
        load_text(dir.path(), "bill.csv", &focus_csv(&lines));
        let tagging = open(dir.path()).tagging().unwrap();
        assert_eq!(
            (tagging.taggable, tagging.untaggable),
            (Money::whole(100), Money::whole(10))
        );
        let team = &tagging.keys[0];
        assert_eq!(
            (team.key.as_str(), team.tagged, team.conflicting),
            ("team", Money::whole(80), Money::whole(4))
        );
        assert_eq!((team.missing, team.resources), (Money::whole(16), 2));
        let spellings: Vec<&str> = tagging.variants[0].spellings.iter().map(|s| s.0.as_str()).collect();
        assert_eq!(spellings, ["vision", "Vision "]);
        // Ninety of a hundred are reached with the largest one; its neighbours all belong to one team.
        let fixes: Vec<_> = tagging
            .fixes
            .iter()
            .map(|f| (f.resource_id.as_str(), f.value.as_deref()))
            .collect();
        assert_eq!(fixes, [("i-3", Some("vision"))]);
    }

    #[test]
    fn one_tagged_machine_says_nothing_of_its_neighbours() {
        let guess = |costs: &[(u16, bool)]| {
            let fixes = fixes("team", &["team".to_owned()], &resources(costs), 1.0);
            fixes[0].value.clone()
        };
        assert_eq!(guess(&[(1, true), (1, false), (1, false)]), None);
        assert_eq!(guess(&[(100, true), (1, false)]), None, "however large it is");
        assert_eq!(guess(&[(1, true), (1, true), (9, false)]), None, "nor two small ones");
        assert_eq!(guess(&[(1, true), (2, true), (1, false)]).as_deref(), Some("a"));
    }

    fn resources(costs: &[(u16, bool)]) -> BTreeMap<String, Tagged> {
        let resource = |(number, (cost, is_tagged)): (usize, &(u16, bool))| {
            let values = is_tagged.then(|| ("team".to_owned(), "a".to_owned()));
            let tagged = Tagged {
                cost: Money::whole(i64::from(*cost)),
                values: values.into_iter().collect(),
                ..Tagged::default()
            };
            (format!("{number:03}"), tagged)
        };
        costs.iter().enumerate().map(resource).collect()
    }

    proptest! {
        /// No smaller set of resources reaches the target.
        #[test]
        fn no_smaller_set_of_fixes_is_enough(costs in prop::collection::vec((1_u16..100, any::<bool>()), 1..9), target in 0_u32..=100) {
            let all = resources(&costs);
            let group = ["team".to_owned()];
            let found = fixes("team", &group, &all, f64::from(target) / 100.0);
            let whole: u32 = costs.iter().map(|c| u32::from(c.0)).sum();
            let tagged: u32 = costs.iter().filter(|c| c.1).map(|c| u32::from(c.0)).sum();
            let missing: Vec<u32> = costs.iter().filter(|c| !c.1).map(|c| u32::from(c.0)).collect();
            let enough = |subset: u32| {
                let chosen = missing.iter().enumerate().filter(|(i, _)| subset & (1 << i) != 0).map(|(_, c)| c);
                (tagged + chosen.sum::<u32>()) * 100 >= whole * target
            };
            let fewest = (0..1_u32 << missing.len()).filter(|s| enough(*s)).map(u32::count_ones).min();
            prop_assert_eq!(Some(found.len() as u32), fewest);
        }
    }
}
