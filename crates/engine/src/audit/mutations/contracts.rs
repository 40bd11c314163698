//! Ways to break what a plan says of contracts and of list prices.

use lowwater_model::known::Known;
use lowwater_model::money::{Estimate, Money};
use lowwater_model::offer::PriceBasis;
use lowwater_model::plan::{MinimumOutcome, Plan};

use super::{Mutation, World, add};

fn minimum(plan: &mut Plan) -> Option<&mut MinimumOutcome> {
    plan.minimums.first_mut()
}

fn more(amount: &mut Option<Estimate>, more: f64) -> Option<()> {
    add(amount.as_mut()?, more)
}

pub(super) const MUTATIONS: &[Mutation] = &[
    ("no word of a minimum", "contract", |p| p.minimums.pop().map(drop)),
    ("a lower minimum", "contract", |p| {
        minimum(p)?.amount -= Money::whole(1);
        Some(())
    }),
    ("more is spent", "contract", |p| {
        minimum(p)?.spent = Known::Value(Money::whole(1_000_000_000));
        Some(())
    }),
    ("a shorter contract", "contract", |p| {
        let period = &mut minimum(p)?.period;
        period.end -= jiff::SignedDuration::from_hours(24);
        Some(())
    }),
    ("another contract", "contract", |p| {
        minimum(p)?.source.push('0');
        Some(())
    }),
    ("a minimum with another", "contract", |p| {
        minimum(p)?.provider = "azure".into();
        Some(())
    }),
    ("more without the plan", "contract", |p| {
        more(&mut minimum(p)?.unchanged, 0.01)
    }),
    ("more with the plan", "contract", |p| {
        more(&mut minimum(p)?.planned, 0.01)
    }),
    ("less missing", "contract", |p| more(&mut minimum(p)?.shortfall, -0.01)),
    ("less taken", "contract", |p| add(&mut minimum(p)?.taken.p50, -0.01)),
    ("less taken at an end", "contract", |p| {
        add(&mut minimum(p)?.taken.p90, -0.01)
    }),
    ("an uncapped plan", "total", |p| {
        let taken = minimum(p)?.taken.p50.amount();
        (taken > 0.01).then(|| add(&mut p.saving.cash.p50, taken))?
    }),
    ("a cheaper shortfall", "contract", |p| {
        add(&mut p.planned.shortfall, -0.01)
    }),
    ("a shortfall before", "contract", |p| add(&mut p.bill.shortfall, 0.01)),
    ("no word of list prices", "contract", |p| {
        p.at_list_price.take().map(drop)
    }),
    ("less at list price", "contract", |p| {
        add(&mut p.at_list_price.as_mut()?.share, -0.01)
    }),
    ("another cost at list price", "contract", |p| {
        p.at_list_price.as_mut()?.cost += Money::whole(1);
        Some(())
    }),
    ("a laxer limit", "contract", |p| {
        p.at_list_price.as_mut()?.limit = 0.9;
        Some(())
    }),
];

pub(super) const WORLDS: &[World] = &[
    ("a higher minimum", "contract", |f| {
        f.minimums[0].amount += Money::whole(1);
    }),
    ("less is spent", "contract", |f| {
        f.minimums[0].spent = Known::Value(Money::ZERO);
    }),
    ("nobody knows what is spent", "contract", |f| {
        f.minimums[0].spent = Known::unknown("the bill begins later");
    }),
    ("a slower pace", "contract", |f| f.minimums[0].pace -= Money::whole(1)),
    ("no contract", "contract", |f| f.minimums.clear()),
    ("a promise at a net price", "contract", |f| {
        f.prices.0[0].basis = PriceBasis::Net;
    }),
];

pub(super) const POLICIES: &[(&str, &str)] = &[("[plan]\nmax_list_share = 0.9", "contract")];
