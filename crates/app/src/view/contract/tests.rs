use lowwater_model::money::{Money, Range};

use super::*;
use crate::output::View;
use crate::screen::Paint;
use crate::view::next::Next;
use crate::view::plan::{Extent, PlanView};
use crate::view::sample;

fn minimum(spent: Known<Money>, shortfall: Option<f64>, taken: f64) -> MinimumOutcome {
    let estimate = |amount: f64| Estimate::new(amount);
    MinimumOutcome {
        provider: "aws".into(),
        period: Period {
            start: "2026-01-01T00:00:00Z".parse().unwrap(),
            end: "2027-01-01T00:00:00Z".parse().unwrap(),
        },
        amount: Money::whole(500_000),
        unchanged: shortfall.map(|_| estimate(520_000.0)),
        planned: shortfall.map(|missing| estimate(500_000.0 - missing)),
        spent,
        shortfall: shortfall.map(estimate),
        taken: Range::exactly(estimate(taken)),
        source: "contract.toml:12".into(),
    }
}

fn shown(edit: impl Fn(&mut Plan)) -> (String, String) {
    let mut plan = sample::plan();
    edit(&mut plan);
    let view = PlanView {
        plan: &plan,
        written: None,
        stale: None,
        extent: Extent::Short,
        next: Next::default(),
    };
    let text = view.screen().render(200, Paint::new(false));
    (
        text.lines().next().unwrap_or_default().to_owned(),
        text.split_whitespace().collect::<Vec<_>>().join(" "),
    )
}

#[test]
fn a_plan_below_the_minimum_says_so_first() {
    let (first, text) =
        shown(|plan| plan.minimums = vec![minimum(Known::Value(Money::whole(1)), Some(20_000.0), 1234.5)]);
    assert_eq!(
        first,
        "2 steps save 36.4k (31.8k to 40.2k) USD a month in cash, after the contract's minimum with aws, replayed on 4 Oct to \
         31 Oct 2026 (28 days)."
    );
    for part in [
        "shortfall 20,000.00 USD of the 500,000.00 USD that the contract with aws promises until 31 Dec 2026 (contract.toml:12)",
        "they have to be paid all the same, so 1,234.50 of what the steps save over these days is no cash",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn what_no_step_causes_and_what_nobody_knows_is_a_figure_and_no_headline() {
    let (first, text) = shown(|plan| {
        plan.minimums = vec![
            minimum(Known::Value(Money::whole(1)), Some(7.0), 0.0),
            minimum(Known::unknown("the bill begins later"), None, 0.0),
            minimum(Known::Value(Money::whole(1)), Some(0.0), 0.0),
        ];
    });
    assert!(!first.contains("minimum"), "{first}");
    assert!(text.contains("paid all the same, with or without the plan"), "{text}");
    assert!(
        text.contains("minimum unknown how much is spent of the 500,000.00 USD"),
        "{text}"
    );
    assert!(text.contains("(contract.toml:12): the bill begins later"), "{text}");
    assert_eq!(
        text.matches("contract.toml:12").count(),
        2,
        "one that is met needs no figure\n{text}"
    );
}

#[test]
fn much_money_at_list_price_stands_in_the_first_line() {
    let listed = |share: f64| {
        shown(move |plan| {
            plan.at_list_price = Some(ListShare {
                cost: Money::whole(110),
                of: Money::whole(1000),
                share: Estimate::new(share),
                limit: 0.1,
            });
        })
    };
    let (first, text) = listed(0.11);
    assert!(
        first.contains("a month in cash (11.0 % of the money behind them at list price), replayed"),
        "{first}"
    );
    assert!(
        text.contains("at list price 11.0 % 110.00 of the 1,000.00 USD"),
        "{text}"
    );
    assert!(
        !listed(0.1).1.contains("list price"),
        "a tenth is what the policy takes"
    );
}
