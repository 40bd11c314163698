//! The address of a server, without anything secret in it.

use std::path::Path;

use crate::error::{InputError, StoreError};

/// `http://HOST:9090` or `https://HOST/prometheus`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerUrl {
    scheme: &'static str,
    /// Host, port and path, without a slash at the end.
    rest: String,
}

/// Is it the address of a server rather than a file?
pub(super) fn is_url(path: &Path) -> bool {
    path.to_str().is_some_and(|text| scheme(text).is_some())
}

fn scheme(text: &str) -> Option<(&'static str, &str)> {
    ["http://", "https://"].into_iter().find_map(|scheme| {
        let start = text.get(..scheme.len())?;
        start
            .eq_ignore_ascii_case(scheme)
            .then(|| (scheme, &text[scheme.len()..]))
    })
}

impl ServerUrl {
    /// From what the user wrote. An error never repeats it: there may be a password in it.
    pub(super) fn parse(path: &Path) -> Result<Self, StoreError> {
        let refuse =
            |what: &str, hint: &str| StoreError::from(InputError::new("the address of the server", what).hint(hint));
        let example = "write it like http://HOST:9090 or https://HOST/prometheus";
        let (scheme, rest) = path
            .to_str()
            .and_then(scheme)
            .ok_or_else(|| refuse("is none", example))?;
        let rest = rest.trim_end_matches('/');
        let host = rest.split('/').next().unwrap_or_default();
        if rest.contains('@') {
            let hint = "take user and password out of the address and set LOWWATER_PROMETHEUS_USER and LOWWATER_PROMETHEUS_PASSWORD";
            return Err(refuse("holds a login, which would end up in logs and histories", hint));
        }
        if rest.contains(['?', '#']) {
            return Err(refuse("goes on after `?` or `#`", example));
        }
        let plain = |c: char| c.is_ascii_graphic() && !"\"<>\\^`{|}".contains(c);
        if host.is_empty() || !rest.chars().all(plain) {
            return Err(refuse("is no address", example));
        }
        let port = host
            .rsplit_once(':')
            .filter(|(_, port)| !port.ends_with(']'))
            .map(|(_, port)| port);
        if port.is_some_and(|port| port.parse::<u16>().map_or(true, |port| port == 0)) {
            return Err(refuse("names no port after `:`", "a port is a number from 1 to 65535"));
        }
        if host.starts_with('[') != host.contains(']') || host.parse::<ureq::http::uri::Authority>().is_err() {
            return Err(refuse("names no host", example));
        }
        Ok(Self {
            scheme,
            rest: rest.to_owned(),
        })
    }

    /// The address before `/api/v1`.
    pub(super) fn base(&self) -> String {
        format!("{}{}", self.scheme, self.rest)
    }

    /// Is the way to it encrypted?
    pub(super) fn has_tls(&self) -> bool {
        self.scheme == "https://"
    }

    /// What tells this server from others: host, port and path.
    pub(super) fn place(&self) -> String {
        self.rest.to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let base = |text: &str| ServerUrl::parse(Path::new(text)).map(|url| (url.base(), url.place()));
        let ok = |text: &str| base(text).unwrap();
        assert_eq!(ok("http://h:9090/"), ("http://h:9090".into(), "h:9090".into()));
        assert_eq!(ok("HTTPS://H/prom/"), ("https://H/prom".into(), "h/prom".into()));
        assert_eq!(ok("http://[::1]:9090").1, "[::1]:9090");
        for bad in [
            "http://",
            "https:///x",
            "http://h?x=1",
            "http://h/#a",
            "http://h b",
            "ftp://h",
            "h:9090",
        ] {
            let error = base(bad).unwrap_err().to_string();
            assert!(error.contains("hint: write it like http://"), "{error}");
        }
        for (bad, why) in [
            ("http://h:99999", "names no port"),
            ("http://h:0", "names no port"),
            ("http://h:", "names no port"),
            ("http://h:x/p", "names no port"),
            ("http://[::1", "names no host"),
            ("http://::1]", "names no host"),
            ("http://h]:1", "names no host"),
        ] {
            let error = base(bad).unwrap_err().to_string();
            assert!(error.contains(why), "{bad}: {error}");
        }
    }

    #[test]
    fn a_password_is_refused_and_not_repeated() {
        for text in ["http://me:s3cret@h:9090", "https://h/path@s3cret", "http://s3cret@h"] {
            let error = ServerUrl::parse(Path::new(text)).unwrap_err().to_string();
            assert!(
                error.contains("LOWWATER_PROMETHEUS_USER") && !error.contains("s3cret"),
                "{error}"
            );
        }
    }

    #[test]
    fn urls_and_files() {
        assert!(is_url(Path::new("http://h")) && is_url(Path::new("HTTPS://h")));
        assert!(!is_url(Path::new("bills/http")) && !is_url(Path::new("http:/h")) && !is_url(Path::new("é")));
    }
}
