//! Orders what the levers found, replays it together, and gives each step its share.
//!
//! Levers look in their order, each at what the ones before left. Inside a lever the larger saving goes first. A step's
//! share is replay(steps before) - replay(steps before and this), so shares sum to the total; `without` is what the
//! total would lose without it. Both are replays of the step's own resources only: a bill is the sum of its resources,
//! so all others cancel.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use lowwater_model::change::Change;
use lowwater_model::facts::Facts;
use lowwater_model::id::{Currency, ResourceId};
use lowwater_model::money::{Estimate, Range};
use lowwater_model::plan::{Declined, Finding, PLAN_VERSION, Phase, Plan, Saving, Step, Verdict};
use lowwater_model::policy::Policy;

use crate::identity::{plan_id, policy_id, step_id};
use crate::lever::{LEVERS, Lever, LeverMeta};
use crate::order;
use crate::replay::{Replay, Saved, month_factor};

mod band;
mod list_price;
mod minimum;
mod notes;
mod stake;
#[cfg(test)]
mod tests;

/// The plan for these facts under these limits. The same input gives the same bytes.
///
/// `seed` is for levers that simulate; it stands in the plan, so that every number can be made again.
pub fn plan(facts: &Facts, policy: &Policy, seed: u64) -> Plan {
    let facts = sorted(facts);
    let mut portfolio = Portfolio::new(&facts, policy);
    for lever in LEVERS {
        portfolio.pull(*lever);
    }
    portfolio.into_plan(seed)
}

/// Resources by id, as every look-up wants them.
fn sorted(facts: &Facts) -> Cow<'_, Facts> {
    if facts.resources.is_sorted_by(|a, b| a.id < b.id) {
        return Cow::Borrowed(facts);
    }
    let mut facts = facts.clone();
    facts.resources.sort_by(|a, b| a.id.cmp(&b.id));
    Cow::Owned(facts)
}

/// A finding that is worth doing, with what it saves after the ones before.
struct Chosen {
    meta: &'static LeverMeta,
    finding: Finding,
    resources: BTreeSet<ResourceId>,
    saved: Saved,
    saving: Saving,
    band: String,
    /// The part of its cash that is saved with each provider, 0 to 1.
    by_cloud: BTreeMap<String, f64>,
}

/// What people call the resources of a plan, where that is not their id.
fn names(facts: &Facts, steps: &[Step], declined: &[Declined]) -> BTreeMap<ResourceId, String> {
    let mut ids: BTreeSet<ResourceId> = steps.iter().flat_map(|s| s.change.kind().resources()).collect();
    let targets = steps
        .iter()
        .map(|s| &s.target)
        .chain(declined.iter().map(|d| &d.target));
    ids.extend(targets.flat_map(|t| t.resources.iter().cloned()));
    let named = facts.resources.iter().filter(|r| ids.contains(&r.id));
    named
        .filter_map(|r| Some((r.id.clone(), r.name.clone().filter(|name| *name != r.id.as_str())?)))
        .collect()
}

/// A plan in the making.
struct Portfolio<'a> {
    facts: &'a Facts,
    policy: &'a Policy,
    replay: Replay<'a>,
    chosen: Vec<Chosen>,
    declined: Vec<Declined>,
}

/// Every number of a saving scaled from the period of the facts to a month.
fn month(facts: &Facts, saving: Saving) -> Saving {
    let factor = month_factor(facts);
    Saving {
        cash: saving.cash.scaled(factor).rounded(),
        freed: saving.freed.scaled(factor).rounded(),
    }
}

impl<'a> Portfolio<'a> {
    fn new(facts: &'a Facts, policy: &'a Policy) -> Self {
        Self {
            facts,
            policy,
            replay: Replay::of(facts),
            chosen: Vec::new(),
            declined: Vec::new(),
        }
    }

    /// Takes what a lever finds, the largest cash first.
    fn pull(&mut self, lever: &dyn Lever) {
        let meta = lever.meta();
        let mut found = Vec::new();
        for verdict in lever.find(&self.replay, self.policy) {
            match verdict {
                Verdict::Declined(declined) => self.declined.push(declined),
                Verdict::Found(finding) => {
                    let alone = Replay::of(self.facts).with(&finding.change).saved().cash.rounded();
                    found.push((alone.amount(), finding));
                }
            }
        }
        found.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.target.cmp(&y.target)));
        for (_, finding) in found {
            self.take(meta, finding);
        }
    }

    /// Keeps the finding if it is worth the work after the steps before.
    fn take(&mut self, meta: &'static LeverMeta, finding: Finding) {
        let resources = finding.change.kind().resources();
        let before = self.replay.part(&resources);
        let after = before.with(&finding.change);
        let saved = after.saved() - before.saved();
        let least = self.policy.section("plan").float("min_saving_per_month");
        let month = saved.in_acting_month(self.facts, &finding.change);
        if month.cash.amount() < least {
            self.declined
                .push(too_small(meta, &self.facts.currency, finding, month, least));
            return;
        }
        let weeks = band::Weeks::of(&before, &after, &finding.change);
        let mut saving = Saving {
            cash: if meta.phase == Phase::Commit {
                weeks.open_cash(saved.cash, self.facts.period)
            } else {
                weeks.cash(saved.cash)
            },
            freed: weeks.freed(saved.freed),
        };
        let mut band = weeks.describe();
        if let Some((worse, better)) = finding.change.kind().outlooks() {
            let of = |change: &Change| before.with(change).saved().cash - before.saved().cash;
            saving.cash = band::widened(saving.cash, of(&worse), of(&better));
            band.push_str(match finding.change {
                Change::Commit(_) => "; demand that falls as far as the policy allows moves its low end further",
                _ => "; a worse and a better market move its ends further",
            });
        }
        let by_cloud = minimum::parts(&before, &after, &resources);
        self.replay = self.replay.with(&finding.change);
        self.chosen.push(Chosen {
            meta,
            finding,
            resources,
            saved,
            saving,
            band,
            by_cloud,
        });
    }

    /// What the total loses without each step: other steps on the same resources take over what they can.
    ///
    /// A lot ties its resources together, so the part that is replayed holds all resources of every lot that covers one
    /// of the step's own.
    fn without(&self) -> Vec<Estimate> {
        let mut touching: BTreeMap<&ResourceId, Vec<usize>> = BTreeMap::new();
        for (index, chosen) in self.chosen.iter().enumerate() {
            for id in &chosen.resources {
                touching.entry(id).or_default().push(index);
            }
        }
        let lost = |index: usize| {
            let near = self.near(index, &touching);
            let others: BTreeSet<usize> = near.iter().flat_map(|id| &touching[id]).copied().collect();
            let others = others.into_iter().filter(|other| *other != index);
            let rest = others.fold(Replay::of(self.facts), |replay, other| {
                replay.with(&self.chosen[other].finding.change)
            });
            let rest = rest.part(&near);
            rest.with(&self.chosen[index].finding.change).saved().cash - rest.saved().cash
        };
        (0..self.chosen.len()).map(lost).collect()
    }

    /// The resources of a step, and those that share a lot with them.
    fn near(&self, index: usize, touching: &BTreeMap<&ResourceId, Vec<usize>>) -> BTreeSet<ResourceId> {
        let own = &self.chosen[index].resources;
        let steps: BTreeSet<usize> = own.iter().flat_map(|id| &touching[id]).copied().collect();
        let lots = steps.into_iter().map(|step| &self.chosen[step]);
        let lots = lots.filter(|chosen| chosen.meta.phase == Phase::Commit);
        lots.flat_map(|chosen| &chosen.resources).chain(own).cloned().collect()
    }

    fn into_plan(mut self, seed: u64) -> Plan {
        let without = self.without();
        let minimums = minimum::outcomes(self.facts, &self.chosen);
        let taken = minimums
            .iter()
            .fold(Range::default(), |sum, minimum| sum + minimum.taken);
        let saving = minimum::capped(self.total(), taken);
        let bill = Replay::of(self.facts).bill();
        let at_list_price = list_price::share(self.facts, self.policy, &self.chosen);
        let chosen = std::mem::take(&mut self.chosen);
        let steps: Vec<Step> = chosen
            .into_iter()
            .zip(without)
            .map(|(chosen, without)| step(self.facts, chosen, without))
            .collect();
        let declined = stake::sorted(self.facts, std::mem::take(&mut self.declined));
        let mut plan = Plan {
            version: PLAN_VERSION,
            id: "".into(),
            parent: None,
            facts: self.facts.id.clone(),
            policy: policy_id(self.policy),
            as_of: self.facts.as_of,
            period: self.facts.period,
            currency: self.facts.currency.clone(),
            basis: self.facts.basis.clone(),
            seed,
            planned: minimum::with_shortfall(&bill, self.replay.bill(), (taken.p50, saving.cash.p50)),
            bill,
            saving,
            per_month: month(self.facts, saving),
            notes: notes::of(self.facts, self.policy, &steps, &minimums),
            minimums,
            at_list_price,
            alternatives: order::orders(self.facts, self.policy, &steps),
            names: names(self.facts, &steps, &declined),
            steps,
            declined,
        };
        plan.id = plan_id(&plan);
        plan
    }

    /// One replay of all steps; its ends are the sums of the steps' ends, as if all bad weeks were the same weeks.
    fn total(&self) -> Saving {
        let saved = self.replay.saved();
        let sum = |of: fn(&Saving) -> Range, middle: Estimate| {
            let ends = self
                .chosen
                .iter()
                .fold(Range::default(), |sum, chosen| sum + of(&chosen.saving));
            band::around(middle, ends.p10, ends.p90)
        };
        Saving {
            cash: sum(|s| s.cash, saved.cash),
            freed: sum(|s| s.freed, saved.freed),
        }
    }
}

fn too_small(meta: &LeverMeta, currency: &Currency, finding: Finding, month: Saved, least: f64) -> Declined {
    let Saved { cash, freed } = month;
    let why = format!(
        "{}: saves {} {} a month in cash, less than the {} of [plan] min_saving_per_month{}",
        finding.change.kind().describe(),
        cash.grouped(2),
        currency,
        Estimate::new(least).grouped(2),
        if freed.amount() > 0.0 {
            format!(
                "; {} a month stay paid, because a commitment covers the hours",
                freed.grouped(2)
            )
        } else {
            String::new()
        }
    );
    let numbers = BTreeMap::from([
        ("cash_per_month".to_owned(), cash),
        ("freed_per_month".to_owned(), freed),
    ]);
    Declined {
        lever: meta.name.into(),
        target: finding.target,
        why,
        numbers,
        declare: None,
    }
}

/// What a step that begins inside the period saves once it acts in every hour: more than the replay of these days shows.
fn later_start(facts: &Facts, change: &Change, saved: Saved) -> Option<String> {
    let (hours, all) = (change.acting_hours(facts.period), facts.period.hours());
    (hours < all).then(|| {
        format!(
            "replay has it act in the last {hours:.0} of the {all:.0} hours only; a month in which it acts throughout \
             saves {} {} in cash",
            saved.in_acting_month(facts, change).cash.grouped(2),
            facts.currency
        )
    })
}

fn step(facts: &Facts, chosen: Chosen, without: Estimate) -> Step {
    let Chosen {
        meta,
        finding,
        saved,
        saving,
        band,
        ..
    } = chosen;
    let Finding {
        target,
        change,
        needs,
        mut because,
        effort,
        price: _,
    } = finding;
    because.extend(later_start(facts, &change, saved));
    because.push(band);
    let kind: &dyn lowwater_model::change::Kind = Change::kind(&change);
    Step {
        id: step_id(meta.name, &change),
        lever: meta.name.into(),
        title: kind.describe(),
        target,
        phase: meta.phase,
        saving,
        per_month: month(facts, saving),
        share: saved.cash.rounded(),
        without: without.rounded(),
        risk: kind.risk(),
        effort,
        needs,
        because,
        undo: kind.undo(),
        change,
    }
}
