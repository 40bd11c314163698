//! From a question to an answer: a page, JSON, a file, or what went wrong and what to do.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{StatusCode, Uri};
use axum::response::{Html, IntoResponse as _, Response};
use serde::Serialize;

use super::asked::Asked;
use super::frame::{Page, Part, render};
use super::live::{Live, Shown};
use crate::error::AppError;

/// Works an answer out where it may take its time.
pub async fn work<T: Send + 'static>(
    live: Arc<Live>,
    work: impl FnOnce(&Shown) -> Result<T, AppError> + Send + 'static,
) -> Result<(Arc<Shown>, T), AppError> {
    let outcome = tokio::task::spawn_blocking(move || {
        let shown = live.shown()?;
        let answer = work(&shown)?;
        Ok((shown, answer))
    });
    outcome.await.unwrap_or_else(|_| {
        Err(AppError::Refused(
            "this answer could not be worked out\nhint: this is a fault of Lowwater: please report it".into(),
        ))
    })
}

/// A page, or why there is none.
pub fn page(title: &str, asked: &Asked, outcome: Result<(Arc<Shown>, Page), AppError>) -> Response {
    match outcome {
        Ok((shown, page)) => html(StatusCode::OK, title, asked, (Some(&shown), &page)),
        Err(error) => html(status(&error), title, asked, (None, &failed(&error))),
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
pub async fn not_found(uri: Uri, Query(_): Query<Vec<(String, String)>>, State(_): State<Arc<Live>>) -> Response {
    let page = Page::new("There is no such page.").part(Part::Text("Choose one at the left.".into()));
    html(
        StatusCode::NOT_FOUND,
        "Not found",
        &Asked::new(uri.path(), Vec::new()),
        (None, &page),
    )
}

fn html(status: StatusCode, title: &str, asked: &Asked, (shown, page): (Option<&Shown>, &Page)) -> Response {
    match render(title, asked, shown, page) {
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
    match error.exit_code() {
        2 => StatusCode::BAD_REQUEST,
        3 => StatusCode::UNPROCESSABLE_ENTITY,
        4 => StatusCode::CONFLICT,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
