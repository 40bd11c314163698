//! `/prices`: every known price with its basis and age; a search over all of them.

use jiff::Timestamp;
use lowwater_model::offer::Market;
use serde::Serialize;

use super::{PageMeta, Topic};
use crate::error::AppError;
use crate::output::View as _;
use crate::view::offers::{Offers, Search};
use crate::view::prices::{Prices, day_of};
use crate::web::asked::Asked;
use crate::web::frame::{Choice, Page, Part};
use crate::web::live::Shown;

/// The page.
pub struct PricesPage;

/// What is shown.
#[derive(Debug, Serialize)]
pub struct PricesView {
    /// Of what the bill holds.
    pub bought: Prices,
    /// What was searched for; null where nothing was.
    pub found: Option<Offers>,
}

impl Topic for PricesPage {
    type View = PricesView;

    const META: PageMeta = PageMeta {
        path: "/prices",
        name: "Prices",
        api: "prices",
        icon: "M2 8l6-6h6v6l-6 6zM11 5h.01",
        divisible: false,
    };

    fn view(shown: &Shown, asked: &Asked) -> Result<PricesView, AppError> {
        let facts = shown.facts()?;
        let given = |key: &str| asked.get(key).map(str::to_owned);
        let search = Search {
            what: given("what"),
            region: given("region"),
            provider: given("provider"),
            market: asked.get("market").and_then(Market::parse),
            count: None,
        };
        let is_asked = ["what", "region", "provider", "market"].iter().any(|key| asked.get(key).is_some());
        let found = is_asked
            .then(|| Ok::<_, AppError>(Offers::new(&shown.store.offers(Timestamp::now())?, &search, day_of(facts), true)))
            .transpose()?;
        Ok(PricesView {
            bought: Prices::new(facts, false),
            found,
        })
    }

    fn page(view: &PricesView, asked: &Asked) -> Page {
        let mut page = Page::of_screen(view.bought.screen());
        page.parts.insert(0, Part::Search("what".into(), asked.get("what").unwrap_or_default().to_owned()));
        page.parts.insert(1, Part::Choices(vec![markets(asked)]));
        if let Some(found) = &view.found {
            let rest = page.parts.split_off(2);
            page = page.screen(found.screen()).part(Part::Title("What the bill holds".into()));
            page.parts.extend(rest);
        }
        page
    }
}

fn markets(asked: &Asked) -> Choice {
    let chosen = asked.get("market").and_then(Market::parse);
    let all = (String::new(), "all".to_owned(), chosen.is_none());
    let each = Market::ALL.iter().map(|m| (m.as_str().to_owned(), m.as_str().replace('_', " "), chosen == Some(*m)));
    Choice {
        key: "market".into(),
        label: "Terms".into(),
        options: std::iter::once(all).chain(each).collect(),
    }
}
