//! What every answer carries, and which requests are answered at all.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

/// Scripts and data only from this server, none inside of a page. Plotly sets styles on what it draws, and makes
/// pictures to save as blobs.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
                      font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const FIXED: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Sets the security headers; pages are not kept by anyone.
pub async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in FIXED {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Names under which this server may be asked for: a page of another site whose name was made to lead here is refused.
pub struct Hosts {
    names: Vec<String>,
}

impl Hosts {
    /// For a server on an address, that is reached under these names too.
    pub fn new(address: SocketAddr, named: &[String]) -> Self {
        let mut names = vec![address.ip().to_string()];
        names.extend(named.iter().cloned());
        if address.ip().is_loopback() {
            names.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
        }
        Self { names }
    }

    fn knows(&self, headers: &HeaderMap) -> bool {
        let host = headers
            .get(HOST)
            .and_then(|host| host.to_str().ok())
            .unwrap_or_default();
        let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((six, port)) => (six, port),
            None => host.split_at(host.find(':').unwrap_or(host.len())),
        };
        let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
        is_port && self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Does the browser say that a page of this server sent it? One that says nothing is old; then the token decides.
pub fn is_ours(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(HOST.as_str()).unwrap_or_default();
    let origin = text(ORIGIN.as_str()).is_none_or(|origin| origin.split("://").nth(1) == Some(host));
    let site = text("sec-fetch-site").is_none_or(|site| site == "same-origin");
    origin && site
}

/// Refuses a request for another host.
pub async fn host(State(hosts): State<Arc<Hosts>>, request: Request, next: Next) -> Response {
    if hosts.knows(request.headers()) {
        return next.run(request).await;
    }
    let what = "this server does not answer for that host; ask it by the address that it prints\n";
    (StatusCode::MISDIRECTED_REQUEST, what).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect::<HeaderMap>()
    }

    #[test]
    fn only_a_page_of_this_server_decides() {
        let host = ("host", "127.0.0.1:7433");
        assert!(is_ours(&headers(&[host, ("origin", "http://127.0.0.1:7433")])));
        assert!(is_ours(&headers(&[host])), "the token decides");
        for other in [
            "http://evil.example",
            "null",
            "http://127.0.0.1:7434",
            "https://127.0.0.1:7433.evil.example",
        ] {
            assert!(!is_ours(&headers(&[host, ("origin", other)])), "{other}");
        }
        assert!(!is_ours(&headers(&[host, ("sec-fetch-site", "cross-site")])));
    }

    #[test]
    fn a_name_that_was_made_to_lead_here_is_refused() {
        let hosts = Hosts::new(([127, 0, 0, 1], 7433).into(), &["lowwater.example.com".to_owned()]);
        let knows = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_str(host).unwrap());
            hosts.knows(&headers)
        };
        for good in [
            "127.0.0.1:7433",
            "lowwater.example.com",
            "localhost:7433",
            "LOCALHOST",
            "[::1]:7433",
        ] {
            assert!(knows(good), "{good}");
        }
        for bad in [
            "evil.example:7433",
            "127.0.0.1.evil.example",
            "",
            "[::2]:7433",
            "localhost.evil.example",
            "127.0.0.1:7433.evil.example",
            "localhost:x@evil.example",
            "[::1].evil.example",
            "[::1]:",
            "localhost:99999",
        ] {
            assert!(!knows(bad), "{bad}");
        }
        assert!(!hosts.knows(&HeaderMap::new()));
    }
}
