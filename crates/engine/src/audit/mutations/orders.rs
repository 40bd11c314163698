//! Other orders of the steps, broken in many ways.

use lowwater_model::money::Estimate;
use lowwater_model::order::{Order, OrderName};
use lowwater_model::plan::Plan;

use super::{Mutation, add};
use crate::{audit, plan, plan_id, sample};

fn own(plan: &mut Plan) -> Option<&mut Order> {
    plan.alternatives.first_mut()
}

fn last(plan: &mut Plan) -> Option<&mut Order> {
    plan.alternatives.last_mut()
}

pub(super) const MUTATIONS: &[Mutation] = &[
    ("no order at all", "alternative", |p| {
        own(p)?;
        p.alternatives.clear();
        Some(())
    }),
    ("without its own order", "alternative", |p| {
        own(p)?;
        p.alternatives.remove(0);
        Some(())
    }),
    ("an order twice", "alternative", |p| {
        let order = last(p)?.clone();
        p.alternatives.push(order);
        Some(())
    }),
    ("an order that leaves a step out", "alternative", |p| {
        last(p)?.steps.pop()?;
        Some(())
    }),
    ("an order with a step twice", "alternative", |p| {
        let order = last(p)?;
        *order.steps.last_mut()? = order.steps.first().filter(|_| order.steps.len() > 1)?.clone();
        Some(())
    }),
    ("an order with a foreign step", "alternative", |p| {
        *last(p)?.steps.last_mut()? = "0123".into();
        Some(())
    }),
    ("an order of another name", "alternative", |p| {
        let order = own(p)?;
        (order.steps.len() > 1).then(|| order.steps.reverse())
    }),
    ("cash a week early", "alternative", |p| {
        add(own(p)?.cash_by_week.get_mut(3)?, 1.0)
    }),
    ("a week too few", "alternative", |p| {
        own(p)?.cash_by_week.pop()?;
        Some(())
    }),
    ("more in a year", "alternative", |p| {
        add(&mut last(p)?.cash_in_year, 1.0)
    }),
    ("less forgone", "alternative", |p| {
        add(&mut last(p)?.forgone_in_year, -1.0)
    }),
    ("more a month than there is", "alternative", |p| {
        add(&mut own(p)?.per_month, 1.0)
    }),
    ("less work", "alternative", |p| {
        own(p)?.weeks *= 0.5;
        Some(())
    }),
    ("a warning for nothing", "alternative", |p| {
        own(p)?.unsafe_because = Some("it rains".into());
        Some(())
    }),
];

/// Two machines that nobody uses beside two busy ones, and a price for a year.
const FLEET: &str = r#"
    as_of = "2026-11-02T00:00:00Z"
    history_days = 91
    replay_days = 28
    price = [{ sku = "g6.xlarge", rate = 0.5, market = "1y", as_of = "2026-11-01" }]
    [[resource]]
    id = "idle-{}"
    count = 2
    sku = "g6.xlarge"
    class = "experiment"
    workload = "old"
    line = [{ rate = "0.8" }]
    use = [{ idle = true, memory = 0, power = 10 }]
    [[resource]]
    id = "small"
    sku = "g6.xlarge"
    class = "experiment"
    workload = "older"
    line = [{ rate = "0.7" }]
    use = [{ idle = true, memory = 0, power = 10 }]
    [[resource]]
    id = "busy-{}"
    count = 2
    sku = "g6.xlarge"
    class = "realtime-inference"
    workload = "chat"
    line = [{ rate = "0.8" }]
    use = [{ memory = 15, power = 60 }]
"#;

fn named(plan: &mut Plan, name: OrderName) -> &mut Order {
    plan.alternatives.iter_mut().find(|order| order.name == name).unwrap()
}

/// Words of the violation, and what leads to it.
type Break = (&'static str, fn(&mut Plan));

#[test]
fn what_is_bought_too_early_is_audited() {
    let (facts, policy) = (sample::facts(FLEET), sample::policy(""));
    let good = plan(&facts, &policy, 1);
    assert_eq!(audit(&facts, &policy, &good), []);
    assert!(!named(&mut good.clone(), OrderName::CommitFirst).bought.is_empty());
    let breaks: &[Break] = &[
        ("says so", |p| named(p, OrderName::CommitFirst).unsafe_because = None),
        ("says so", |p| named(p, OrderName::CommitFirst).bought.clear()),
        ("the last unit", |p| {
            named(p, OrderName::CommitFirst).bought[0].level += 1;
        }),
        ("buys what the plan does not", |p| {
            let bought = named(p, OrderName::CommitFirst).bought.clone();
            named(p, OrderName::Plan).bought = bought;
        }),
        ("in the order of its name", |p| {
            let swapped = named(p, OrderName::CashPerEngineerWeek);
            let end = swapped.steps.len() - 1;
            swapped.steps.swap(0, end);
        }),
        ("brings more for its work", |p| {
            // The first and the third stop: 0.8 and 0.7 an hour for the same work.
            named(p, OrderName::CashPerEngineerWeek).steps.swap(0, 2);
        }),
        ("the best order saves", |p| {
            named(p, OrderName::CommitFirst).forgone_in_year = Estimate::ZERO;
        }),
    ];
    for (words, mutate) in breaks {
        let mut plan = good.clone();
        mutate(&mut plan);
        plan.id = plan_id(&plan);
        let found = audit(&facts, &policy, &plan);
        assert!(
            found.iter().any(|v| v.rule == "alternative" && v.what.contains(words)),
            "{words}: {found:?}"
        );
    }
}
