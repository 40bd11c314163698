//! Commitments for what runs on demand all the time, after everything else.

use std::collections::BTreeMap;

use lowwater_model::change::Change;
use lowwater_model::facts::{Facts, Resource};
use lowwater_model::money::{Estimate, Money};
use lowwater_model::plan::{Declined, Phase, Scope, Target, Verdict};
use lowwater_model::policy::KeyDefault::{Float, Int, List};
use lowwater_model::policy::{Policy, Section, Settings, key};

use super::{Lever, LeverMeta, evidence, merged, owner, running, target_of};
use crate::replay::Replay;

mod baseline;
mod purchase;
#[cfg(test)]
mod tests;

use baseline::Baseline;

/// See the module.
pub const META: LeverMeta = LeverMeta {
    name: "commit_baseline",
    title: "Commit for what always runs",
    doc: "A scope is the on-demand hours of one GPU type in one region, after all steps before: what is switched off or \
          goes to spot is not committed for. Each further unit of a commitment is bought while the on-demand cost \
          that it replaces in the replayed period is more than its fee over all hours, used or not: the exact \
          quantile rule, with the level that the discount deserves and not a fixed percentile. Coverage, utilisation, \
          effective savings rate and break-even utilisation are shown.\n\n\
          Refused: scopes with a history shorter than the policy asks or with demand that falls, days without \
          charges anywhere, prices that are unknown or old, types on their way out, machines that mostly idle, \
          and whatever goes beyond the limits on hourly exposure, on one purchase and on the term of a generation; a purchase is cut to the limits \
          where some of it fits. `never` forbids it for a resource, whose hours then do not count. `keep`, standby \
          and criticality are no obstacle: the machines stay as they are.\n\n\
          It believes that the next year looks like the last weeks. A commitment is the one step that can't be undone, \
          so it comes last, waits for the steps that it was sized on, and is better bought often and small.",
    phase: Phase::Commit,
    section: Section {
        name: "commit_baseline",
        keys: &[
            key(
                "min_history_days",
                Int(60),
                "Days since the first billed hour of a scope without which nothing is committed. Sixty: a project that ends with the quarter shows by then.",
            ),
            key(
                "max_fall_share",
                Float(0.1),
                "Share by which demand may lie below what it was before: the replayed period against the history before it, and the last week against the period. A tenth: machines that leave one by one strand a commitment. The low end of the range is what is saved when demand falls so far.",
            ),
            key(
                "max_idle_share",
                Float(0.5),
                "Share of the observed hours on demand that a machine may idle on every GPU and still count as demand; standbys and what is kept wait on purpose. Half: what idles longer should be stopped, shared or explained before anything is promised for it.",
            ),
            key(
                "max_hourly_exposure",
                Float(100.0),
                "Most that all commitments together, those on the bill included, may cost an hour, in the dataset's currency. A hundred is 876,000 a year: whoever may sign for more writes it down.",
            ),
            key(
                "max_purchase",
                Float(500_000.0),
                "Most that one purchase may promise over its whole term, in the dataset's currency. Small purchases, made often, end at different times.",
            ),
            key(
                "three_years_for",
                List(&[]),
                "Accelerators or types for which three years may be promised. None: prices of a generation fall by a third in three years, and a better one appears.",
            ),
            key(
                "nothing_for",
                List(&["K80", "M60", "P100", "V100-16", "V100-32"]),
                "Accelerators or types for which nothing is promised. Generations on their way out: what runs on them moves, and the promise stays.",
            ),
            key(
                "max_price_age_days",
                Int(90),
                "Days after which a commitment price is too old to buy on.",
            ),
        ],
    },
    changes: &["commit"],
};

/// Words in `never` that forbid a step of this lever.
const FORBIDDING: &[&str] = &["commit"];
/// Why waste is no demand.
const IDLES: &str = "it was idle on every GPU in most of its observed hours on demand: stop or share it first, or say that it waits \
                     on purpose (role = \"standby\", keep)";
/// A day: fewer observed hours say nothing of how much a machine idles.
const ENOUGH_HOURS: usize = 24;

/// See [`META`].
#[derive(Debug)]
pub struct CommitBaseline;

impl Lever for CommitBaseline {
    fn meta(&self) -> &'static LeverMeta {
        &META
    }

    fn find(&self, so_far: &Replay<'_>, policy: &Policy) -> Vec<Verdict> {
        let settings = policy.lever(META.name, None, None);
        let (scopes, mut declined) = scopes(so_far, policy);
        let (mut purchases, mut verdicts) = (Vec::new(), Vec::new());
        for (scope, members) in scopes {
            let baseline = Baseline::new(so_far, &settings, scope, members);
            match baseline.best() {
                Ok(purchase) => purchases.push((baseline, purchase)),
                Err(why) => {
                    let numbers = baseline.numbers.clone();
                    verdicts.push(Verdict::Declined(baseline.declined(why, numbers)));
                }
            }
        }
        purchases.sort_by(|(_, a), (_, b)| b.saved().total_cmp(&a.saved()));
        let mut left = settings.float("max_hourly_exposure") - promised(so_far.facts());
        for (baseline, purchase) in purchases {
            let verdict = purchase.within(&baseline, left);
            if let Verdict::Found(finding) = &verdict {
                left -= exposure(&finding.change);
            }
            verdicts.push(verdict);
        }
        declined = merged(declined);
        verdicts.extend(declined.into_iter().map(Verdict::Declined));
        verdicts
    }
}

/// What commitments on the bill cost an hour.
fn promised(facts: &Facts) -> f64 {
    let hours = facts.period.hours();
    let paid: Money = facts.commitments.iter().map(|commitment| commitment.used + commitment.unused).sum();
    if hours > 0.0 { paid.estimate().amount() / hours } else { 0.0 }
}

/// What a change promises to pay in every hour.
fn exposure(change: &Change) -> f64 {
    match change {
        Change::Commit(commit) => f64::from(commit.level) * commit.rate,
        _ => 0.0,
    }
}

type Scopes<'a> = BTreeMap<Scope, Vec<&'a Resource>>;

/// GPU resources that still run on demand, by type and region; those that an earlier step took away do not count.
fn scopes<'a>(so_far: &Replay<'a>, policy: &Policy) -> (Scopes<'a>, Vec<Declined>) {
    let facts = so_far.facts();
    let (mut scopes, mut declined): (Scopes<'_>, Vec<Declined>) = Default::default();
    for resource in facts.resources.iter().filter(|r| r.gpus > 0.0) {
        let Some(sku) = resource.sku.value() else { continue };
        if running::is_taken(so_far, resource) || !running::may_run(so_far, resource, facts.period) {
            continue;
        }
        let never = owner::never(resource, policy, FORBIDDING);
        let spread = (!resource.is_hourly()).then(|| evidence::NEEDS_HOURS.to_owned());
        let refused = never.or(spread).map(|why| (why, BTreeMap::new()));
        let wasted = || Some((IDLES.to_owned(), idles(so_far, policy, resource)?));
        if let Some((why, numbers)) = refused.or_else(wasted) {
            declined.push(Declined {
                lever: META.name.into(),
                target: target_of(resource),
                why,
                numbers, declare: None });
            continue;
        }
        let scope = Scope {
            provider: resource.cloud.clone(),
            sku: sku.clone(),
            region: resource.region.clone(),
        };
        scopes.entry(scope).or_default().push(resource);
    }
    (scopes, declined)
}

/// How much a machine idles that is waste and no demand: most of the time, and nobody has said that it should.
fn idles(so_far: &Replay<'_>, policy: &Policy, resource: &Resource) -> Option<BTreeMap<String, Estimate>> {
    if owner::waits_on_purpose(so_far.facts(), policy, resource) {
        return None;
    }
    let period = so_far.facts().period;
    let runs = so_far.on_demand([&resource.id], period);
    let first = period.hour_range().start;
    let seen = resource.usage.iter().filter(|(hour, _)| {
        let index = usize::try_from(hour.0 - first).ok();
        index.and_then(|index| runs.get(index)).is_some_and(|hour| hour.units > 0.0)
    });
    let (mut observed, mut idle) = (0_usize, 0_usize);
    for (_, usage) in seen {
        observed += 1;
        idle += usize::from(usage.idle);
    }
    let most = policy.lever(META.name, None, None).float("max_idle_share");
    (observed >= ENOUGH_HOURS && idle as f64 > most * observed as f64).then(|| {
        let numbers = [("hours_idle", idle), ("hours_observed", observed)];
        numbers.map(|(name, hours)| (name.to_owned(), Estimate::new(hours as f64))).into()
    })
}

/// Is the type, or its accelerator, in the list?
fn is_listed(settings: &Settings, list: &str, scope: &Scope) -> bool {
    let words = settings.list(list);
    let accelerator = lowwater_model::sku::find_sku(scope.sku.as_str()).map(|fact| fact.accelerator.as_str());
    words.contains(&scope.sku.as_str()) || accelerator.is_some_and(|name| words.contains(&name))
}

/// The scope and its resources as the target of a step or a refusal.
fn target(scope: &Scope, members: &[&Resource]) -> Target {
    Target {
        workload: None,
        resources: members.iter().map(|r| r.id.clone()).collect(),
        scope: Some(scope.clone()),
    }
}
