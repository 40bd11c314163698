//! `/commitments`: what is committed and how much of it is used; what could be.

use lowwater_model::facts::CommitmentUse;
use lowwater_model::money::Money;
use lowwater_model::plan::Plan;
use lowwater_store::state::Approval;
use serde::Serialize;

use super::{PageMeta, Topic, lever};
use crate::amount::{cents, share_of, share_or_unknown};
use crate::error::AppError;
use crate::screen::figure;
use crate::web::asked::Asked;
use crate::web::frame::{Page, Part};
use crate::web::grid::{Cell, Grid, Head, Tone};
use crate::web::live::Shown;

/// The page.
pub struct Commitments;

const LEVER: &[&str] = &["commit_baseline"];

/// What is shown.
#[derive(Debug, Serialize)]
pub struct View {
    /// The plan; `steps` and `declined` of the lever `commit_baseline` are what the page shows.
    pub plan: Plan,
    /// What the bill holds.
    pub held: Vec<CommitmentUse>,
    #[serde(skip)]
    approvals: Vec<Approval>,
}

impl Topic for Commitments {
    type View = View;

    const META: PageMeta = PageMeta {
        path: "/commitments",
        name: "Commitments",
        api: "commitments",
        icon: "M3 3h10v10H3zM5 8l2 2 4-4",
        divisible: false,
    };

    fn view(shown: &Shown, _asked: &Asked) -> Result<View, AppError> {
        let mut plan = shown.plan()?.clone();
        plan.steps.retain(|step| LEVER.contains(&step.lever.as_str()));
        plan.declined.retain(|one| LEVER.contains(&one.lever.as_str()));
        Ok(View {
            plan,
            held: shown.facts()?.commitments.clone(),
            approvals: shown.approvals()?,
        })
    }

    fn page(view: &View, asked: &Asked) -> Page {
        let currency = &view.plan.currency;
        let used: Money = view.held.iter().map(|one| one.used).sum();
        let unused: Money = view.held.iter().map(|one| one.unused).sum();
        let utilisation = share_or_unknown(share_of(used, used + unused));
        let headline = if view.held.is_empty() {
            "No commitment is on the bill of the replayed days.".to_owned()
        } else {
            format!("{} {currency} of commitments were paid in the replayed days; {utilisation} of it was used.", cents(used + unused))
        };
        let money = |amount: Money| format!("{} {currency}", cents(amount));
        Page::new(headline)
            .figures(vec![
                figure("paid", money(used + unused), "commitments in the replayed days"),
                figure("used", money(used), format!("utilisation {utilisation}")),
                figure("not used", money(unused), "paid for nothing"),
            ])
            .grid("On the bill", held(view))
            .grid("What the plan proposes", lever::steps(&view.plan, LEVER, &view.approvals, asked))
            .grid("Looked at and not proposed", lever::refusals(&view.plan, LEVER))
            .part(Part::Text(
                "When commitments end is not on a FOCUS bill. Prices for new ones come from offers.csv or a price list with terms of one or three years.".into(),
            ))
    }
}

fn held(view: &View) -> Grid {
    let currency = &view.plan.currency;
    let heads = [
        Head::text("commitment"),
        Head::text("type").term("FOCUS CommitmentDiscountType"),
        Head::number(format!("used ({currency})")),
        Head::number(format!("not used ({currency})")),
        Head::number("utilisation").term("used of paid"),
    ];
    let mut grid = Grid::new("Commitments on the bill", heads).file("commitments");
    for one in &view.held {
        let share = share_of(one.used, one.used + one.unused);
        let low = share.is_some_and(|share| share < 0.9);
        grid.row([
            Cell::new(one.name.clone().unwrap_or_else(|| one.id.to_string())).title(one.id.to_string()),
            Cell::new(one.kind.clone()),
            Cell::new(cents(one.used)),
            Cell::new(cents(one.unused)),
            Cell::new(share_or_unknown(share)).tone(if low { Tone::Caution } else { Tone::Good }),
        ]);
    }
    grid
}
