//! `/data`: what is loaded, what was not kept, and what would improve the answers.

use serde::Serialize;

use super::{PageMeta, Topic};
use crate::error::AppError;
use crate::output::View as _;
use crate::view::doctor::Diagnosis;
use crate::view::next::Next;
use crate::view::rejects::Rejects;
use crate::view::tags::TagsView;
use crate::view::unload::Unloaded;
use crate::web::asked::Asked;
use crate::web::frame::{Page, Part};
use crate::web::live::Shown;
use lowwater_store::unload::held;

/// The page.
pub struct DataPage;

/// Rejected rows that are shown.
const MOST_REJECTS: usize = 200;

/// What is shown.
#[derive(Debug, Serialize)]
pub struct DataView {
    /// What is missing for a better answer.
    pub missing: Diagnosis,
    /// Every load.
    pub loads: Unloaded,
    /// Rows that were not kept.
    pub rejects: Rejects,
    /// Coverage of required tags.
    pub tags: TagsView,
}

impl Topic for DataPage {
    type View = DataView;

    const META: PageMeta = PageMeta {
        path: "/data",
        name: "Data",
        api: "data",
        icon: "M8 2c3 0 5 1 5 2s-2 2-5 2-5-1-5-2 2-2 5-2zM3 4v8c0 1 2 2 5 2s5-1 5-2V4M3 8c0 1 2 2 5 2s5-1 5-2",
        divisible: false,
    };

    fn view(shown: &Shown, _asked: &Asked) -> Result<DataView, AppError> {
        let store = &shown.store;
        Ok(DataView {
            missing: shown.diagnosis()?.clone(),
            loads: Unloaded::list(&held(store.manifest()), Next::default()),
            rejects: Rejects::new(store.rejects()?, store.currency(), MOST_REJECTS),
            tags: TagsView::new(store.tagging()?, store.currency(), false, Next::default()),
        })
    }

    fn page(view: &DataView, _asked: &Asked) -> Page {
        Page::of_screen(view.missing.screen())
            .part(Part::Title("Loaded".into()))
            .screen(view.loads.screen())
            .part(Part::Title("Not kept".into()))
            .screen(view.rejects.screen())
            .part(Part::Title("Tags".into()))
            .screen(view.tags.screen())
    }
}
