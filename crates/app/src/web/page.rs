//! The pages: one file each, one word in the list.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Query, State};
use axum::routing::get;
use serde::Serialize;

use super::answer;
use super::asked::Asked;
use super::asker::Asker;
use super::frame::{Page, Part};
use super::live::{Live, Shown};
use crate::error::AppError;

/// What is known of a page without its data.
#[derive(Debug)]
pub struct PageMeta {
    /// Its address.
    pub path: &'static str,
    /// Its name in the navigation and in the API.
    pub name: &'static str,
    /// Under `/api/v1/`.
    pub api: &'static str,
    /// A drawing in a square of 16.
    pub icon: &'static str,
    /// Does it show a part of the organisation to who sees no more? Others are refused to them.
    pub divisible: bool,
}

/// A page: one view, shown as HTML and given as JSON.
pub trait Topic {
    /// What it shows.
    type View: Serialize + Send + 'static;
    /// Address and name.
    const META: PageMeta;

    /// Works out what is shown.
    fn view(shown: &Shown, asked: &Asked) -> Result<Self::View, AppError>;

    /// The page of it.
    fn page(view: &Self::View, asked: &Asked) -> Page;
}

mod lever;

macro_rules! pages {
    ($($module:ident :: $name:ident),+ $(,)?) => {
        $(mod $module;)+

        /// All of them, in the order of the navigation.
        pub const PAGES: &[PageMeta] = &[$($module::$name::META),+];

        /// Works every page out as it is first asked for.
        pub fn warm(shown: &Shown) {
            $(let _ = $module::$name::view(shown, &Asked::new($module::$name::META.path, Vec::new()));)+
        }

        /// Their routes: the page, its JSON and its tables as files.
        pub fn routes() -> Router<Arc<Live>> {
            let router = Router::new();
            $(let router = with::<$module::$name>(router);)+
            router
        }
    };
}

pages! {
    week::WeekPage,
    explore::Explore,
    fleet::Fleet,
    workloads::Workloads,
    plan::PlanPage,
    spot::Spot,
    commitments::Commitments,
    serving::Serving,
    idle::IdlePage,
    prices::PricesPage,
    data::DataPage,
}

/// Pages of what a bill says have nothing to show without one.
fn no_bill() -> AppError {
    AppError::Refused(
        "no bill is loaded\nhint: load one: `lowwater load BILL`; or look at a sample: `lowwater demo`".into(),
    )
}

/// May the asker be shown this, and does the address mean something?
fn seen(page: &PageMeta, asked: &Asked) -> Result<(), AppError> {
    if !page.divisible {
        answer::whole(&asked.asker, page.name)?;
    }
    asked.check()
}

type Words = Query<Vec<(String, String)>>;

fn with<T: Topic + 'static>(router: Router<Arc<Live>>) -> Router<Arc<Live>> {
    let page = |State(live): State<Arc<Live>>, Extension(asker): Extension<Asker>, Query(words): Words| async move {
        let asked = Asked::new(T::META.path, words).asked_by(asker);
        if let Err(error) = seen(&T::META, &asked) {
            return answer::page(T::META.name, &asked, Err(error));
        }
        let question = asked.clone();
        if let Some(name) = asked.get("file").map(str::to_owned) {
            let page = answer::work(live, move |shown| Ok(T::page(&T::view(shown, &question)?, &question)));
            return table(&name, page.await);
        }
        let page = answer::work(live, move |shown| {
            let page = T::page(&T::view(shown, &question)?, &question);
            answer::written(T::META.name, &question, shown, &page)
        });
        answer::page(T::META.name, &asked, page.await)
    };
    let json = |State(live): State<Arc<Live>>, Extension(asker): Extension<Asker>, Query(words): Words| async move {
        let asked = Asked::new(T::META.path, words).asked_by(asker);
        let seen = seen(&T::META, &asked);
        answer::json(answer::work(live, move |shown| seen.and_then(|()| T::view(shown, &asked))).await)
    };
    router
        .route(T::META.path, get(page))
        .route(&format!("/api/v1/{}", T::META.api), get(json))
}

/// A table of a page as a file: exactly what the page shows.
fn table(name: &str, outcome: Result<Page, AppError>) -> axum::response::Response {
    let csv = outcome.and_then(|page| {
        let grids = page.parts.iter().filter_map(|part| match part {
            Part::Grid(grid) => Some(grid),
            Part::Chart(chart) => Some(&chart.table),
            _ => None,
        });
        let found = grids
            .into_iter()
            .find(|grid| grid.file == name)
            .map(|grid| grid.csv().into_bytes());
        found.ok_or_else(|| {
            AppError::Usage("this page has no table of that name\nhint: follow a link of the page".into())
        })
    });
    answer::file(&format!("{name}.csv"), "text/csv; charset=utf-8", csv)
}
