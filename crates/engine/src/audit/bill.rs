//! Rules on money: every amount again, from counted hours.

use lowwater_model::change::Change;
use lowwater_model::money::{Estimate, Money, Range};
use lowwater_model::plan::{Bill, Saving};

use super::recount::{Counted, Recount};
use super::{Case, MONTH_HOURS, Report, at};

/// Plans hold amounts to six digits.
const TOLERANCE: f64 = 1e-6;

pub(super) fn check(case: Case<'_>, report: &mut Report) {
    let steps = &case.plan.steps;
    let recount = Recount::new(case.facts, steps.iter().map(|step| &step.change));
    let mut sum = Counted::default();
    for index in 0..steps.len() {
        let share = recount.share(index);
        saving(case, index, &recount, report);
        sum.cash += share.cash;
        sum.freed += share.freed;
    }
    unchanged(case, report);
    total(case, sum, report);
    planned(case, sum, &recount, report);
}

/// Equal to the digits that a plan holds. What is no number is equal to nothing.
fn is_close(a: f64, b: f64, parts: usize) -> bool {
    (a - b).abs() <= TOLERANCE * (parts + 1) as f64 + a.abs() * 1e-12
}

fn is(estimate: Estimate, amount: f64) -> bool {
    is_close(estimate.amount(), amount, 0)
}

fn saving(case: Case<'_>, index: usize, recount: &Recount<'_>, report: &mut Report) {
    let step = &case.plan.steps[index];
    let at = at(step);
    let share = recount.share(index);
    let claimed = step.saving.cash.p50.amount();
    let alone = recount.alone(index);
    let is_twice = !is(step.saving.cash.p50, share.cash) && is(step.saving.cash.p50, alone.cash);
    report.demand(!is_twice, "overlap", &at, || {
        format!(
            "{claimed} counts hours that earlier steps save; {} are left",
            share.cash
        )
    });
    let amounts = [
        ("cash", step.saving.cash.p50, share.cash),
        ("freed commitment", step.saving.freed.p50, share.freed),
        ("share", step.share, share.cash),
        ("loss without it", step.without, recount.without(index).cash),
    ];
    for (name, given, counted) in amounts {
        report.demand(is(given, counted), "saving", &at, || {
            format!("{name} is {}, counted {counted}", given.amount())
        });
    }
    ranges(
        case,
        &at,
        (&step.saving, &step.per_month),
        may_lose(&step.change),
        report,
    );
    let least = case.policy.section("plan").float("min_saving_per_month");
    let month = claimed * MONTH_HOURS / acting_hours(case, &step.change);
    report.demand(month >= least - TOLERANCE * MONTH_HOURS, "saving", &at, || {
        format!("{month} a month is less than the {least} of the policy")
    });
}

/// Hours of the period in which the change acts: a stop acts from its beginning on.
pub(super) fn acting_hours(case: Case<'_>, change: &Change) -> f64 {
    let hours = case.facts.period.hour_range();
    match change {
        Change::Stop(stop) => hours.filter(|hour| hour * 3600 >= stop.since.as_second()).count() as f64,
        _ => hours.count() as f64,
    }
}

/// Stopping never costs; a spot price or a commitment may.
fn may_lose(change: &Change) -> bool {
    matches!(change, Change::UseSpot(_) | Change::Commit(_))
}

fn is_in_order(range: Range, may_lose: bool) -> bool {
    let is_low_sound = if may_lose {
        range.p10.amount().is_finite()
    } else {
        0.0 <= range.p10.amount()
    };
    is_low_sound && range.p10 <= range.p50 && range.p50 <= range.p90
}

fn ranges(case: Case<'_>, at: &str, (saving, per_month): (&Saving, &Saving), may_lose: bool, report: &mut Report) {
    let hours = case.facts.period.hours();
    let factor = if hours > 0.0 { MONTH_HOURS / hours } else { 0.0 };
    for (name, of_period, of_month) in [
        ("cash", saving.cash, per_month.cash),
        ("freed commitment", saving.freed, per_month.freed),
    ] {
        report.demand(is_in_order(of_period, may_lose), "saving", at, || {
            format!("the range of {name} is not in order")
        });
        let ends = [
            (of_period.p10, of_month.p10),
            (of_period.p50, of_month.p50),
            (of_period.p90, of_month.p90),
        ];
        let is_scaled = ends
            .into_iter()
            .all(|(period, month)| is_close(period.amount() * factor, month.amount(), 2));
        report.demand(is_scaled, "saving", at, || {
            format!("{name} a month is not {factor} times that of the period")
        });
    }
}

/// The bill as it was is the loaded bill.
fn unchanged(case: Case<'_>, report: &mut Report) {
    let (ledger, bill) = (&case.facts.ledger, &case.plan.bill);
    report.demand(bill.exact == ledger.total, "bill", "plan", || {
        format!("{} is not the loaded {}", bill.exact, ledger.total)
    });
    let is_plain = bill.modelled == Estimate::ZERO && bill.freed == Estimate::ZERO;
    report.demand(is_plain, "bill", "plan", || {
        "the bill as it was holds modelled money".into()
    });
    report.demand(is(bill.total, ledger.total.estimate().amount()), "bill", "plan", || {
        "its total is not its exact part".into()
    });
    for (bill, name) in [(bill, "as it was"), (&case.plan.planned, "as planned")] {
        let is_same = bill.reconciliation == ledger.reconciliation && bill.unexplained == ledger.unexplained;
        report.demand(is_same, "bill", "plan", || {
            format!("the reconciliation of the bill {name} is not that of the facts")
        });
    }
    let named: Money = ledger.reconciliation.iter().map(|line| line.amount).sum();
    let billed = ledger.total + named + ledger.unexplained;
    report.demand(billed == ledger.billed, "bill", "facts", || {
        format!("the parts sum to {billed}, billed were {}", ledger.billed)
    });
}

fn total(case: Case<'_>, sum: Counted, report: &mut Report) {
    let plan = case.plan;
    let count = plan.steps.len();
    let shares: f64 = plan.steps.iter().map(|step| step.share.amount()).sum();
    let taken =
        |of: fn(&Range) -> Estimate| -> f64 { plan.minimums.iter().map(|minimum| of(&minimum.taken).amount()).sum() };
    let (cash, paid_anyway) = (plan.saving.cash.p50.amount(), taken(|r| r.p50));
    report.demand(is_close(shares - paid_anyway, cash, count), "total", "plan", || {
        format!("shares sum to {shares}, minimums take {paid_anyway}, the total is {cash}")
    });
    report.demand(is_close(sum.cash - paid_anyway, cash, count), "total", "plan", || {
        format!("cash is {cash}, counted {}", sum.cash - paid_anyway)
    });
    let freed = plan.saving.freed.p50.amount();
    report.demand(is_close(sum.freed, freed, count), "total", "plan", || {
        format!("freed is {freed}, counted {}", sum.freed)
    });
    let may_lose = plan.steps.iter().any(|step| may_lose(&step.change));
    ranges(case, "plan", (&plan.saving, &plan.per_month), may_lose, report);
    let ends = |of: fn(&Range) -> Estimate| {
        let parts: f64 = plan.steps.iter().map(|step| of(&step.saving.cash).amount()).sum();
        is_close(parts - taken(of), of(&plan.saving.cash).amount(), count)
    };
    report.demand(ends(|r| r.p10) && ends(|r| r.p90), "total", "plan", || {
        "its ends are not the sums of the steps' ends".into()
    });
}

fn planned(case: Case<'_>, sum: Counted, recount: &Recount<'_>, report: &mut Report) {
    let (bill, planned): (&Bill, &Bill) = (&case.plan.bill, &case.plan.planned);
    let exact = case.facts.ledger.total - recount.touched();
    report.demand(planned.exact == exact, "total", "plan", || {
        format!("{} is untouched, not {}", exact, planned.exact)
    });
    let modelled = recount.touched().estimate().amount() - sum.cash;
    report.demand(
        is_close(planned.modelled.amount(), modelled, 1),
        "total",
        "plan",
        || {
            format!(
                "{modelled} is left of what is touched, not {}",
                planned.modelled.amount()
            )
        },
    );
    report.demand(is_close(planned.freed.amount(), sum.freed, 1), "total", "plan", || {
        format!("{} is freed, not {}", sum.freed, planned.freed.amount())
    });
    let left = bill.total.amount() - case.plan.saving.cash.p50.amount();
    report.demand(is_close(planned.total.amount(), left, 1), "total", "plan", || {
        format!(
            "the planned bill is {}, the bill less the cash is {left}",
            planned.total.amount()
        )
    });
}
