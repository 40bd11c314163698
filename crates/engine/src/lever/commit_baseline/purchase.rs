//! One purchase: cut to the owner's limits, with its evidence.

use lowwater_model::change::commit::Commit;
use lowwater_model::change::{Change, Condition, Effort};
use lowwater_model::facts::{CommitmentUse, Facts, Resource};
use lowwater_model::id::CommitmentId;
use lowwater_model::money::{Estimate, Money};
use lowwater_model::offer::{Market, Offer};
use lowwater_model::plan::{Finding, Verdict};

use super::baseline::Baseline;
use super::{promised, target};
use crate::lever::evidence;
use crate::replay::{MONTH_HOURS, Replay};
use crate::solve::quantile::{Outcome, break_even_utilisation, outcome};

/// Name of the condition that the steps before are done.
pub(crate) const EARLIER_CONDITION: &str = "earlier_steps_done";
const YEAR_HOURS: f64 = 8760.0;

/// Hours of a term.
fn term_hours(term: Market) -> f64 {
    if term == Market::ThreeYears { 3.0 * YEAR_HOURS } else { YEAR_HOURS }
}

/// A term at its best level.
#[derive(Clone, Debug)]
pub(super) struct Purchase {
    pub(super) term: Market,
    pub(super) offer: Offer,
    pub(super) level: u32,
    pub(super) outcome: Outcome,
}

impl Purchase {
    /// Over the replayed period.
    pub(super) fn saved(&self) -> f64 {
        self.outcome.on_demand - self.outcome.total()
    }

    fn rate(&self) -> f64 {
        self.offer.rate.0
    }

    /// As much of it as the limits allow. `left` is the hourly exposure that may still be taken on.
    pub(super) fn within(self, baseline: &Baseline<'_>, left: f64) -> Verdict {
        let most = baseline.settings.float("max_purchase") / term_hours(self.term);
        let fits = (left.min(most) / self.rate() + 1e-9).floor().max(0.0);
        let level = fits.min(f64::from(self.level)) as u32;
        if level > 0 {
            return Verdict::Found(self.finding(baseline, level));
        }
        let mut numbers = baseline.numbers.clone();
        numbers.insert("best_level".into(), Estimate::new(f64::from(self.level)));
        numbers.insert("hourly_exposure_left".into(), Estimate::new(left).rounded());
        let facts = baseline.so_far.facts();
        let why = format!(
            "one {} at {:.4} {} an hour is beyond the limits: {:.4} of max_hourly_exposure is left after the {:.4} an hour on \
             the bill and the purchases that save more, and a purchase may promise {:.4} an hour for its term (max_purchase)",
            baseline.scope.sku,
            self.rate(),
            facts.currency,
            left.max(0.0),
            promised(facts),
            most
        );
        Verdict::Declined(baseline.declined(why, numbers))
    }

    fn finding(&self, baseline: &Baseline<'_>, level: u32) -> Finding {
        let got = outcome(&baseline.hours, f64::from(level), self.rate());
        Finding {
            // It touches no machine: those that it was sized on are in the change.
            target: target(&baseline.scope, &[]),
            needs: earlier_steps(baseline).into_iter().collect(),
            because: self.because(baseline, level, &got),
            effort: Effort::Hours,
            price: Some(self.offer.basis),
            change: Change::Commit(Commit {
                scope: baseline.scope.clone(),
                resources: baseline.members.iter().map(|r| r.id.clone()).collect(),
                term: self.term,
                level,
                rate: self.rate(),
                demand: 1.0,
                worst_demand: 1.0 - baseline.settings.float("max_fall_share"),
            }),
        }
    }

    fn because(&self, baseline: &Baseline<'_>, level: u32, got: &Outcome) -> Vec<String> {
        let facts = baseline.so_far.facts();
        let running: f64 = baseline.hours.iter().map(|hour| hour.units).sum();
        let price = got.on_demand / running;
        let percent = |share: Option<f64>| format!("{:.1} %", share.unwrap_or(0.0) * 100.0);
        let even = break_even_utilisation(self.rate(), price);
        let mut lines = vec![
            format!(
                "{:.2} of {} ran on demand on average after all steps before, at {price:.4} {} an hour, in a history of {}",
                running / baseline.hours.len() as f64,
                evidence::count(baseline.members.len(), "machine"),
                facts.currency,
                evidence::count(baseline.days.max(0) as usize, "day")
            ),
            format!(
                "{} for {}: {:.4} an hour, {}",
                baseline.scope.sku,
                self.term,
                self.rate(),
                self.offer.evidence(baseline.today())
            ),
            format!(
                "coverage {}, utilisation {} (break-even {}), effective savings rate {}",
                percent(got.coverage()),
                percent(got.utilisation()),
                percent(even),
                percent(got.effective_savings_rate())
            ),
            format!(
                "promises {} an hour, {} over the term; a unit that nobody uses any more costs {} a month until then",
                cents(f64::from(level) * self.rate()),
                cents(f64::from(level) * self.rate() * term_hours(self.term)),
                cents(self.rate() * MONTH_HOURS)
            ),
        ];
        let may_cover = |commitment: &&CommitmentUse| !covers_elsewhere_only(facts, &commitment.id, &baseline.scope.provider);
        let unused: Money = facts.commitments.iter().filter(may_cover).map(|commitment| commitment.unused).sum();
        if unused > Money::ZERO {
            lines.push(format!(
                "commitments with {} left {:.2} {} an hour unused: see first whether they can cover these machines",
                baseline.scope.provider,
                unused.estimate().amount() / facts.period.hours(),
                facts.currency
            ));
        }
        if level < self.level {
            lines.push(format!(
                "{} would save most; the limits on hourly exposure and on one purchase allow {level}",
                self.level
            ));
        }
        lines
    }
}

/// A commitment that was sized on what other steps leave waits for them.
fn earlier_steps(baseline: &Baseline<'_>) -> Option<Condition> {
    let facts = baseline.so_far.facts();
    let ids = || baseline.members.iter().map(|r| &r.id);
    let as_billed = Replay::of(facts).on_demand(ids(), facts.history);
    let left = baseline.so_far.on_demand(ids(), facts.history);
    let is_changed = as_billed.iter().zip(&left).any(|(billed, left)| billed.units != left.units);
    is_changed.then(|| Condition {
        id: EARLIER_CONDITION.into(),
        text: "it is sized on what the earlier steps on these machines leave: carry those out first".into(),
        met: false,
    })
}

fn cents(amount: f64) -> String {
    Estimate::new(amount).grouped(2)
}

/// Did a commitment cover machines, and none of this cloud?
fn covers_elsewhere_only(facts: &Facts, id: &CommitmentId, cloud: &str) -> bool {
    let covers = |resource: &&Resource| resource.lines.iter().any(|line| line.commitment.as_ref() == Some(id));
    let mut clouds = facts.resources.iter().filter(covers).map(|resource| resource.cloud.as_str()).peekable();
    clouds.peek().is_some() && clouds.all(|covered| covered != cloud)
}
