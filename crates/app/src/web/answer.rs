//! From a question to an answer: a page, JSON, a file, or what went wrong and what to do.

use std::sync::Arc;

use axum::extract::Extension;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse as _, Response};
use serde::Serialize;

use super::asked::Asked;
use super::asker::Asker;
use super::frame::{Page, Part, render};
use super::live::{Live, Shown};
use crate::error::AppError;

/// Works an answer out where it may take its time. A version is let go there too: its store may not be closed where
/// requests are only passed on.
pub async fn work<T: Send + 'static>(
    live: Arc<Live>,
    work: impl FnOnce(&Shown) -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    let outcome = tokio::task::spawn_blocking(move || {
        let shown = live.shown()?;
        work(&shown)
    });
    outcome.await.unwrap_or_else(|_| {
        Err(AppError::Refused(
            "this answer could not be worked out\nhint: this is a fault of Lowwater: please report it".into(),
        ))
    })
}

/// May somebody be shown this, which is of the whole organisation?
pub fn whole(asker: &Asker, what: &str) -> Result<(), AppError> {
    if asker.sees_everything() {
        return Ok(());
    }
    Err(AppError::Denied(format!(
        "{} sees {}, and the {what} page is of the whole organisation\nhint: Explore shows what is yours",
        asker.person.name, asker.person.scope
    )))
}

/// The HTML of a page of a version.
pub fn written(title: &str, asked: &Asked, shown: &Shown, page: &Page) -> Result<String, AppError> {
    render(title, asked, Some(shown), page).map_err(|e| AppError::Output(std::io::Error::other(e)))
}

/// A page that was written, or why there is none.
pub fn page(title: &str, asked: &Asked, outcome: Result<String, AppError>) -> Response {
    match outcome {
        Ok(text) => Html(text).into_response(),
        Err(error) => html(status(&error), title, asked, &failed(&error)),
    }
}

/// A value as JSON, or why there is none.
pub fn json<T: Serialize>(outcome: Result<T, AppError>) -> Response {
    let value = match outcome {
        Ok(value) => serde_json::to_vec(&value).map(|text| (StatusCode::OK, text)),
        Err(error) => {
            let (what, hint) = words(&error);
            serde_json::to_vec(&serde_json::json!({ "error": what, "hint": hint })).map(|text| (status(&error), text))
        }
    };
    let (status, text) = value.unwrap_or_else(|_| (StatusCode::INTERNAL_SERVER_ERROR, b"{}".to_vec()));
    (status, [(CONTENT_TYPE, "application/json")], text).into_response()
}

/// A file to save.
pub fn file(name: &str, kind: &'static str, outcome: Result<Vec<u8>, AppError>) -> Response {
    let safe: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    match outcome {
        Ok(bytes) => {
            let save = format!("attachment; filename=\"{safe}\"");
            ([(CONTENT_TYPE, kind.to_owned()), (CONTENT_DISPOSITION, save)], bytes).into_response()
        }
        Err(error) => (status(&error), error.message().unwrap_or_default()).into_response(),
    }
}

/// There is nothing at that address.
pub async fn not_found(uri: Uri, asker: Option<Extension<Asker>>) -> Response {
    let asker = asker.map(|Extension(asker)| asker).unwrap_or_default();
    let page = Page::new("There is no such page.").part(Part::Text("Choose one at the left.".into()));
    html(
        StatusCode::NOT_FOUND,
        "Not found",
        &Asked::new(uri.path(), Vec::new()).asked_by(asker),
        &page,
    )
}

/// A page of no version.
fn html(status: StatusCode, title: &str, asked: &Asked, page: &Page) -> Response {
    match render(title, asked, None, page) {
        Ok(text) => (status, Html(text)).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// What happened, and what to do.
fn words(error: &AppError) -> (String, String) {
    let message = error.message().unwrap_or_default();
    let (what, hint) = message.split_once("\nhint: ").unwrap_or((message.as_str(), ""));
    (what.to_owned(), hint.to_owned())
}

fn failed(error: &AppError) -> Page {
    let (what, hint) = words(error);
    Page::new("This can't be shown now.")
        .part(Part::Warning(what))
        .part(Part::Text(hint))
}

fn status(error: &AppError) -> StatusCode {
    if matches!(error, AppError::Denied(_)) {
        return StatusCode::FORBIDDEN;
    }
    match error.exit_code() {
        2 => StatusCode::BAD_REQUEST,
        3 => StatusCode::UNPROCESSABLE_ENTITY,
        4 => StatusCode::CONFLICT,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
