//! Style, script and plotly.js: part of the program, under addresses that change with their content.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::io::Write as _;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use plotly::Plot;

use super::live::Live;

/// A file of the program.
struct Asset {
    name: &'static str,
    kind: &'static str,
    plain: Bytes,
    zipped: Bytes,
    hash: String,
}

impl Asset {
    fn new(name: &'static str, kind: &'static str, text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let mut zip = GzEncoder::new(Vec::new(), Compression::default());
        // Into memory it does not fail; an empty answer would be seen at once.
        let zipped = zip
            .write_all(text.as_bytes())
            .and_then(|()| zip.finish())
            .unwrap_or_default();
        Self {
            name,
            kind,
            plain: Bytes::copy_from_slice(text.as_bytes()),
            zipped: zipped.into(),
            hash: format!("{:016x}", hasher.finish()),
        }
    }
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    vec![
        Asset::new("app.css", "text/css; charset=utf-8", include_str!("asset/app.css")),
        Asset::new("app.js", SCRIPT, include_str!("asset/app.js")),
        Asset::new("icon.svg", "image/svg+xml", include_str!("asset/icon.svg")),
        Asset::new("plotly.js", SCRIPT, &plotly_js()),
    ]
});

/// What the crate embeds is HTML: a script element with plotly.js, then one with MathJax, which we have no use for.
fn plotly_js() -> String {
    let html = Plot::offline_js_sources();
    let begin = html
        .find("<script")
        .and_then(|at| Some(at + html[at..].find('>')? + 1))
        .unwrap_or(0);
    let end = html[begin..].find("</script>").map_or(html.len(), |at| begin + at);
    html[begin..end].trim().to_owned()
}

/// The address of a file; it changes when the file does, so that browsers may keep it for ever.
pub fn url(name: &str) -> String {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    debug_assert!(asset.is_some(), "no asset {name}");
    asset.map_or_else(String::new, |asset| format!("/assets/{}/{name}", asset.hash))
}

/// Their routes.
pub fn routes() -> Router<Arc<Live>> {
    Router::new().route("/assets/{hash}/{name}", get(asset))
}

async fn asset(Path((hash, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name && asset.hash == hash) else {
        return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
    };
    let accepted = headers
        .get(ACCEPT_ENCODING)
        .and_then(|v| v.to_str().ok())
        .unwrap_or_default();
    let fixed = [
        (CONTENT_TYPE, asset.kind),
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (VARY, "accept-encoding"),
    ];
    if accepted.contains("gzip") {
        return (fixed, [(CONTENT_ENCODING, "gzip")], asset.zipped.clone()).into_response();
    }
    (fixed, asset.plain.clone()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plotly_is_a_script_and_nothing_else() {
        let script = plotly_js();
        assert!(
            script.len() > 1_000_000 && script.contains("plotly.js v"),
            "{}",
            script.len()
        );
        assert!(!script.contains("<script") && !script.starts_with('<'));
    }

    #[test]
    fn an_address_names_what_there_is() {
        assert!(url("app.css").starts_with("/assets/") && url("app.css").ends_with("/app.css"));
        assert_ne!(url("app.css")[..24], url("app.js")[..24]);
    }
}
