//! The checks: each looks at one kind of gap.

use lowwater_model::charge::CostMetric;
use lowwater_model::facts::{Facts, Resource};
use lowwater_model::known::Known;
use lowwater_model::money::Money;
use lowwater_model::offer::{Market, PriceKey};
use lowwater_model::workload::Class;

use super::{Evidence, Finding};
use crate::amount::{self, plural};
use crate::view::prices::{OLD_DAYS, bought, day_of};
use crate::view::resource::{cost, is_observed, name};

/// A check: nothing, or what is missing.
type Check = fn(&Evidence) -> Vec<Finding>;

/// Every check.
pub const ALL: &[Check] = &[
    unmatched_cost,
    unmatched_gpus,
    ambiguous_hosts,
    undeclared,
    untagged,
    past_deadlines,
    unmeasured_memory,
    unmeasured_power,
    not_hourly,
    incomplete_days,
    late_metrics,
    unreliable_effective,
    prices,
    unknown_sku,
    unknown_gpu,
    rejects,
    unknown_costs,
    config,
];

/// Names that are listed before `and n more`.
const MOST_NAMES: usize = 3;

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MOST_NAMES {
        format!("{shown} and {} more", names.len() - MOST_NAMES)
    } else {
        shown
    }
}

/// One finding about all resources that a test picks, the dearest named first.
fn about(
    facts: &Facts,
    picks: impl Fn(&Resource) -> bool,
    make: impl Fn(u64, String, Money) -> Finding,
) -> Vec<Finding> {
    let mut picked: Vec<(Money, &Resource)> = facts
        .resources
        .iter()
        .filter(|r| picks(r))
        .map(|r| (cost(r, &facts.period), r))
        .filter(|(c, _)| !c.is_zero())
        .collect();
    if picked.is_empty() {
        return Vec::new();
    }
    picked.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.id.cmp(&b.1.id)));
    let names: Vec<String> = picked.iter().map(|(_, r)| name(r)).collect();
    vec![make(
        picked.len() as u64,
        listed(&names),
        picked.iter().map(|(c, _)| *c).sum(),
    )]
}

fn unmatched_cost(of: &Evidence) -> Vec<Finding> {
    about(
        &of.facts,
        |r| !is_observed(r, &of.facts.period),
        |n, place, cost| {
            Finding {
        id: "unmatched_cost",
        cost: Some(cost),
        place,
        why: format!("{} with GPUs without activity: whether they idle is unknown", plural(n, "billed resource")),
        hint: "load their GPU metrics; if they are loaded under another name, write host and ResourceId into hosts.csv".into(),
    }
        },
    )
}

fn unmatched_gpus(of: &Evidence) -> Vec<Finding> {
    if of.unmatched.is_empty() {
        return Vec::new();
    }
    let mut hosts: Vec<String> = of
        .unmatched
        .iter()
        .map(|(host, gpu)| if host.is_empty() { gpu.clone() } else { host.clone() })
        .collect();
    hosts.dedup();
    vec![Finding {
        id: "unmatched_gpus",
        cost: None,
        place: listed(&hosts),
        why: format!(
            "{} observed that match no billed resource",
            plural(of.unmatched.len() as u64, "GPU")
        ),
        hint: "write host and ResourceId into hosts.csv, or load the bill that they are on".into(),
    }]
}

fn ambiguous_hosts(of: &Evidence) -> Vec<Finding> {
    let one = |(host, resources): &(String, Vec<String>)| Finding {
        id: "ambiguous_host",
        cost: None,
        place: host.clone(),
        why: format!(
            "matches {}: {}",
            plural(resources.len() as u64, "resource"),
            listed(resources)
        ),
        hint: "say which one it is in hosts.csv".into(),
    };
    of.ambiguous.iter().map(one).collect()
}

fn undeclared(of: &Evidence) -> Vec<Finding> {
    about(
        &of.facts,
        |r| r.owner.class == Class::Unknown,
        |n, place, cost| Finding {
            id: "undeclared",
            cost: Some(cost),
            place,
            why: format!(
                "{} of no declared class: little is proposed for what nobody explained",
                plural(n, "GPU resource")
            ),
            hint: "declare them in workloads.toml".into(),
        },
    )
}

fn untagged(of: &Evidence) -> Vec<Finding> {
    if of.untagged.is_zero() {
        return Vec::new();
    }
    let uncarried = of.uncarried_tags.iter().map(|key| Finding {
        id: "required_tag_is_on_nothing",
        cost: None,
        place: format!("tag `{key}`"),
        why: "owner.required_tags asks for it, and no charge carries it".into(),
        hint: "look in policy.toml whether it is spelled as in the bill, or tag the resources".into(),
    });
    let untagged = Finding {
        id: "untagged",
        cost: Some(of.untagged),
        place: "lowwater report --by team,account".into(),
        why: "cost without a tag that the policy requires".into(),
        hint: "tag it, declare it in workloads.toml, or name your tags in owner.team_tags of policy.toml".into(),
    };
    std::iter::once(untagged).chain(uncarried).collect()
}

fn past_deadlines(of: &Evidence) -> Vec<Finding> {
    let is_over = |r: &Resource| {
        r.owner
            .deadline
            .is_some_and(|due| due.is_over(&r.owner.zone, of.facts.as_of))
    };
    about(&of.facts, is_over, |n, place, cost| Finding {
        id: "past_deadline",
        cost: Some(cost),
        place,
        why: format!(
            "{} whose deadline is over: plans take it that none is left",
            plural(n, "GPU resource")
        ),
        hint: "declare the next deadline in workloads.toml, or take the old one out".into(),
    })
}

fn observed_without(of: &Evidence, has: fn(&lowwater_model::usage::HourUsage) -> bool) -> impl Fn(&Resource) -> bool {
    let period = of.facts.period;
    let range = period.hour_range();
    move |r| is_observed(r, &period) && !r.usage.iter().any(|(hour, u)| range.contains(&hour.0) && has(u))
}

fn unmeasured_memory(of: &Evidence) -> Vec<Finding> {
    about(
        &of.facts,
        observed_without(of, |u| u.memory_max_bin.is_some()),
        |n, place, cost| Finding {
            id: "unmeasured_memory",
            cost: Some(cost),
            place,
            why: format!(
                "{} whose memory was never measured: idle can't be told from a loaded model that waits",
                plural(n, "GPU resource")
            ),
            hint: "export DCGM_FI_DEV_FB_USED and DCGM_FI_DEV_FB_FREE, or fill memory_used_mib in usage.csv".into(),
        },
    )
}

fn unmeasured_power(of: &Evidence) -> Vec<Finding> {
    about(
        &of.facts,
        observed_without(of, |u| u.power_max_w.is_some()),
        |n, place, cost| Finding {
            id: "unmeasured_power",
            cost: Some(cost),
            place,
            why: format!(
                "{} whose power was never measured: an idle finding lacks its third witness",
                plural(n, "GPU resource")
            ),
            hint: "export DCGM_FI_DEV_POWER_USAGE, or fill power_w in usage.csv".into(),
        },
    )
}

fn not_hourly(of: &Evidence) -> Vec<Finding> {
    about(
        &of.facts,
        |r| !r.is_hourly(),
        |n, place, cost| Finding {
            id: "not_hourly",
            cost: Some(cost),
            place,
            why: format!(
                "{} billed by the day or month: when they ran is unknown, so their idle cost is too, and few changes are proposed",
                plural(n, "GPU resource")
            ),
            hint: "export the bill by the hour".into(),
        },
    )
}

fn incomplete_days(of: &Evidence) -> Vec<Finding> {
    let quality = &of.facts.quality;
    if quality.days_with_charges >= quality.days {
        return Vec::new();
    }
    vec![Finding {
        id: "incomplete_days",
        cost: None,
        place: amount::period(&of.facts.period),
        why: format!(
            "only {} of {} days have charges: every amount a month is too low",
            quality.days_with_charges, quality.days
        ),
        hint: "load the missing days of the bill".into(),
    }]
}

fn late_metrics(of: &Evidence) -> Vec<Finding> {
    let quality = &of.facts.quality;
    let (Some(bill), Some(metrics)) = (quality.bill_until, quality.metrics_until) else {
        return Vec::new();
    };
    if bill.as_second() - metrics.as_second() <= 24 * 3600 {
        return Vec::new();
    }
    vec![Finding {
        id: "late_metrics",
        cost: None,
        place: amount::instant(metrics),
        why: format!(
            "GPU metrics end there, the bill at {}: the newest hours are unknown",
            amount::instant(bill)
        ),
        hint: "load newer GPU metrics".into(),
    }]
}

fn unreliable_effective(of: &Evidence) -> Vec<Finding> {
    let facts = &of.facts;
    if facts.basis.metric == CostMetric::Effective {
        return Vec::new();
    }
    vec![Finding {
        id: "unreliable_effective_cost",
        cost: Some(facts.ledger.billed),
        place: "EffectiveCost".into(),
        why: format!("plans stand on {}: {}", facts.basis.metric.column(), facts.basis.why),
        hint: "ask the provider for an export with exact EffectiveCost".into(),
    }]
}

fn prices(of: &Evidence) -> Vec<Finding> {
    let day = day_of(&of.facts);
    let one = |((cloud, region, sku), cost): (crate::view::prices::Place, Money)| {
        let key = PriceKey {
            cloud: &cloud,
            region: &region,
            sku: &sku,
            market: Market::OnDemand,
        };
        let (id, why) = match of.facts.prices.find(&key, day) {
            Known::Unknown(why) => ("unknown_price", why),
            Known::Value(offer) if (day - offer.as_of).get_days() > OLD_DAYS => ("old_price", offer.evidence(day)),
            Known::Value(_) => return None,
        };
        let hint = "add a current price to offers.csv".to_owned();
        Some(Finding {
            id,
            cost: Some(cost),
            place: format!("{sku} in {cloud} {region}"),
            why,
            hint,
        })
    };
    bought(&of.facts).into_iter().filter_map(one).collect()
}

fn unknown_sku(of: &Evidence) -> Vec<Finding> {
    let mut findings = about(
        &of.facts,
        |r| r.sku.value().is_none(),
        |n, place, cost| Finding {
            id: "unknown_sku",
            cost: Some(cost),
            place,
            why: format!(
                "{} whose instance type no column of the bill names",
                plural(n, "GPU resource")
            ),
            hint: "export SkuPriceDetails, or an x_ column with the instance type".into(),
        },
    );
    let off_table = |r: &Resource| r.gpus > 0.0 && r.sku.value().is_some() && r.sku_fact().is_none();
    findings.extend(about(&of.facts, off_table, |n, place, cost| Finding {
        id: "unknown_hardware",
        cost: Some(cost),
        place,
        why: format!(
            "{} of types that the table of hardware facts does not know",
            plural(n, "GPU resource")
        ),
        hint: "its power and memory limits stay unknown; where the bill does not say how many GPUs it has, a row in offers.csv does".into(),
    }));
    findings
}

fn unknown_gpu(of: &Evidence) -> Vec<Finding> {
    about(
        &of.facts,
        |r| r.gpus <= 0.0,
        |n, place, cost| Finding {
            id: "unknown_gpu",
            cost: Some(cost),
            place,
            why: format!(
                "{} of unknown GPUs: the bill names a GPU but not how many, so whether all of them idle is unknown",
                plural(n, "GPU resource")
            ),
            hint:
                "say it with a row of the instance type in offers.csv (accelerator and count), or export GpuCount in \
                   SkuPriceDetails"
                    .into(),
        },
    )
}

fn rejects(of: &Evidence) -> Vec<Finding> {
    if of.rejects.is_empty() {
        return Vec::new();
    }
    let bills = of.rejects.iter().filter(|reject| reject.of_bill);
    let stakes: Option<Vec<Money>> = bills.map(|r| Money::parse(r.at_stake.as_deref()?).ok()).collect();
    let mut files: Vec<String> = of.rejects.iter().map(|r| r.file.clone()).collect();
    files.sort();
    files.dedup();
    vec![Finding {
        id: "rejects",
        cost: stakes.map(|s| s.iter().sum()),
        place: listed(&files),
        why: format!("{} not kept: no sum holds them", plural(of.rejects.len() as u64, "row")),
        hint: "`lowwater rejects` lists them; correct and load again".into(),
    }]
}

fn unknown_costs(of: &Evidence) -> Vec<Finding> {
    if of.unknown_costs == 0 {
        return Vec::new();
    }
    vec![Finding {
        id: "unknown_costs",
        cost: None,
        place: "BilledCost".into(),
        why: format!(
            "{} without a cost: no sum holds them",
            plural(of.unknown_costs, "charge")
        ),
        hint: "ask the provider for the missing costs".into(),
    }]
}

fn config(of: &Evidence) -> Vec<Finding> {
    let one = |warning: &String| {
        let (place, why) = warning.split_once(": ").unwrap_or(("configuration", warning));
        Finding {
            id: "configuration",
            cost: None,
            place: place.into(),
            why: why.into(),
            hint: "correct the line; it changes nothing as it is".into(),
        }
    };
    of.config_warnings.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::sample;
    use lowwater_model::charge::Spread;
    use lowwater_model::usage::Usage;
    use lowwater_store::load::Reject;

    /// Healthy evidence, then one thing goes wrong: exactly that is found.
    fn found(break_it: impl Fn(&mut Evidence)) -> Vec<Finding> {
        let mut evidence = sample::evidence();
        evidence.facts.resources.iter_mut().for_each(sample::measure_memory);
        break_it(&mut evidence);
        ALL.iter().flat_map(|check| check(&evidence)).collect()
    }

    fn only(break_it: impl Fn(&mut Evidence)) -> Finding {
        let all = found(break_it);
        assert_eq!(all.len(), 1, "{all:?}");
        all.into_iter().next().unwrap()
    }

    /// 28 days of 22 an hour.
    const ONE: Money = Money::whole(28 * 24 * 22);

    #[test]
    fn gaps_of_the_join() {
        assert!(found(|_| {}).is_empty());
        let cost = only(|e| e.facts.resources[1].usage = Usage::default());
        assert_eq!(
            (cost.id, cost.cost, cost.place.as_str()),
            ("unmatched_cost", Some(ONE), "notebook-i-0bbb (i-0bbb)")
        );
        let gpus = only(|e| e.unmatched = (0..5).map(|i| (format!("node-{i}"), "0".into())).collect());
        assert_eq!(
            (gpus.id, gpus.cost, gpus.place.as_str()),
            ("unmatched_gpus", None, "node-0, node-1, node-2 and 2 more")
        );
        let ambiguous = only(|e| e.ambiguous = vec![("node".into(), vec!["a".into(), "b".into()])]);
        assert_eq!(ambiguous.why, "matches 2 resources: a, b");
    }

    #[test]
    fn a_required_tag_on_nothing_may_be_misspelt() {
        let mut evidence = sample::evidence();
        evidence.untagged = Money::whole(7);
        evidence.uncarried_tags = vec!["taem".into()];
        let found = untagged(&evidence);
        let said: Vec<(&str, Option<Money>, &str)> = found.iter().map(|f| (f.id, f.cost, f.place.as_str())).collect();
        let place = "lowwater report --by team,account";
        assert_eq!(
            said,
            [
                ("untagged", Some(Money::whole(7)), place),
                ("required_tag_is_on_nothing", None, "tag `taem`")
            ]
        );
    }

    #[test]
    fn a_deadline_that_is_over_is_told() {
        let past = only(|e| e.facts.resources[0].owner.deadline = Some("2026-01-01".parse().unwrap()));
        assert_eq!((past.id, past.cost), ("past_deadline", Some(ONE)));
        let daily = |e: &mut Evidence| e.facts.resources[0].owner.deadline = Some("06:00 daily".parse().unwrap());
        assert!(found(daily).is_empty());
    }

    #[test]
    fn gaps_of_owners() {
        let undeclared = only(|e| e.facts.resources[0].owner.class = Class::Unknown);
        assert_eq!((undeclared.id, undeclared.cost), ("undeclared", Some(ONE)));
        let untagged = only(|e| e.untagged = Money::whole(7));
        assert_eq!((untagged.id, untagged.cost), ("untagged", Some(Money::whole(7))));
    }

    #[test]
    fn gaps_of_measurement() {
        let hours = |e: &mut Evidence, f: fn(&mut lowwater_model::usage::HourUsage)| {
            e.facts.resources[0].usage.hours.iter_mut().flatten().for_each(f);
        };
        assert_eq!(only(|e| hours(e, |u| u.memory_max_bin = None)).id, "unmeasured_memory");
        assert_eq!(only(|e| hours(e, |u| u.power_max_w = None)).id, "unmeasured_power");
        assert_eq!(
            only(|e| e.facts.resources[0].lines[0].spread = Spread::Even).id,
            "not_hourly"
        );
        assert_eq!(only(|e| e.facts.quality.days_with_charges = 20).id, "incomplete_days");
        let late = only(|e| e.facts.quality.metrics_until = Some("2026-10-30T00:00:00Z".parse().unwrap()));
        assert!(late.why.contains("the bill at 1 Nov 2026 00:00 UTC"), "{}", late.why);
        assert!(
            found(|e| e.facts.quality.metrics_until = Some("2026-10-31T00:00:00Z".parse().unwrap())).is_empty(),
            "a day is usual"
        );
    }

    #[test]
    fn gaps_of_money() {
        let basis = only(|e| e.facts.basis.metric = CostMetric::Billed);
        assert_eq!(
            (basis.id, basis.cost),
            ("unreliable_effective_cost", Some(ONE.times(2)))
        );
        let price = only(|e| e.facts.prices.0.clear());
        assert_eq!((price.id, price.cost), ("unknown_price", Some(ONE.times(2))));
        let old = only(|e| {
            e.facts
                .prices
                .0
                .iter_mut()
                .for_each(|o| o.as_of = "2026-01-01".parse().unwrap());
        });
        assert_eq!(old.id, "old_price");
        assert_eq!(
            only(|e| e.unknown_costs = 1).why,
            "1 charge without a cost: no sum holds them"
        );
        let sku = found(|e| e.facts.resources[0].sku = Known::unknown("no column"));
        assert_eq!(sku.iter().map(|f| f.id).collect::<Vec<_>>(), ["unknown_sku"]);
        let uncounted = only(|e| e.facts.resources[0].gpus = 0.0);
        assert_eq!((uncounted.id, uncounted.cost), ("unknown_gpu", Some(ONE)));
        let hardware = found(|e| e.facts.resources[0].sku = Known::Value("x9.metal".into()));
        assert_eq!(
            hardware.iter().map(|f| f.id).collect::<Vec<_>>(),
            ["unknown_price", "unknown_hardware"]
        );
    }

    #[test]
    fn gaps_of_files() {
        let reject = |stake: Option<&str>| Reject {
            file: "bill.csv".into(),
            row: 1,
            column: String::new(),
            value: String::new(),
            reason: "short".into(),
            at_stake: stake.map(Into::into),
            of_bill: true,
        };
        let known = only(|e| e.rejects = vec![reject(Some("1.5")), reject(Some("2"))]);
        assert_eq!(
            (known.cost, known.place.as_str()),
            (Some(Money::parse("3.5").unwrap()), "bill.csv")
        );
        assert_eq!(
            only(|e| e.rejects = vec![reject(Some("1.5")), reject(None)]).cost,
            None,
            "partly unknown is unknown"
        );
        let config = only(|e| e.config_warnings = vec!["offers.csv:3: price is not positive".into()]);
        assert_eq!(
            (config.place.as_str(), config.why.as_str()),
            ("offers.csv:3", "price is not positive")
        );
    }
}
