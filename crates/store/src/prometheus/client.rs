//! Questions to one server: its login, bounded answers, patience, and errors that say what to do.

use std::io::Read;
use std::time::Duration;

use jiff::Timestamp;
use ureq::Agent;
use ureq::http::Response;
use ureq::tls::{RootCerts, TlsConfig};

use super::url::ServerUrl;
use super::{Login, ServerOptions};
use crate::error::{InputError, StoreError};
use crate::load::Progress;

/// A server that asks for more patience is asked once more after this.
const MAX_PAUSE: Duration = Duration::from_mins(1);

/// How much is asked for at once, and how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Bytes of an answer.
    pub answer_bytes: usize,
    /// Points of a series in an answer; Prometheus refuses more than 11,000.
    pub points: i64,
    /// Times that the same question is asked.
    pub tries: u32,
    /// Pause after the first failure; each further one is twice as long.
    pub pause: Duration,
    /// Longest time for one answer: what Prometheus gives a query by default.
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            answer_bytes: 32 << 20,
            points: 11_000,
            tries: 5,
            pause: Duration::from_millis(500),
            timeout: Duration::from_mins(2),
        }
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// It was too much at once: less may do.
    TooMuch(StoreError),
    /// It is busy: less, after that time, may do; none where it names no time.
    Busy(StoreError, Option<Duration>),
    /// It may be better in a moment.
    Passing(StoreError),
    /// The server does not have what was asked for.
    Absent(StoreError),
    /// It is of no use to ask again.
    Final(StoreError),
}

impl Failure {
    pub(super) fn into_error(self) -> StoreError {
        match self {
            Self::TooMuch(e) | Self::Busy(e, _) | Self::Passing(e) | Self::Absent(e) | Self::Final(e) => e,
        }
    }

    /// How long to wait: as the server asks, within bounds, but not less than `pause`.
    pub(super) fn pause(&self, pause: Duration) -> Duration {
        match self {
            Self::Busy(_, Some(asked)) => pause.max(*asked).min(MAX_PAUSE.max(pause)),
            _ => pause,
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Final(error)
    }
}

/// One server.
pub(super) struct Client {
    agent: Agent,
    pub(super) url: ServerUrl,
    headers: Vec<(&'static str, String)>,
    /// What no message may hold, in every form in which the server has seen it.
    secrets: Vec<String>,
    pub(super) limits: Limits,
}

impl Client {
    pub(super) fn new(url: ServerUrl, options: &ServerOptions, limits: Limits) -> Self {
        // The machine's certificates: a server inside a company mostly has one that only that company signs.
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would carry the tenant, or lose the login: the user names the right server.
            .max_redirects(0)
            .max_redirects_will_error(false)
            // By default the environment would be read.
            .proxy(None)
            .tls_config(tls)
            .timeout_connect(Some(Duration::from_secs(10).min(limits.timeout)))
            .timeout_global(Some(limits.timeout))
            .user_agent(concat!("lowwater/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        let (login, secrets) = match &options.login {
            Login::None => (None, Vec::new()),
            Login::Bearer(token) => (
                Some(format!("Bearer {}", token.reveal())),
                vec![token.reveal().to_owned()],
            ),
            Login::Basic { user, password } => {
                let pair = base64(format!("{user}:{}", password.reveal()).as_bytes());
                (Some(format!("Basic {pair}")), vec![pair, password.reveal().to_owned()])
            }
        };
        let login = login.map(|login| ("Authorization", login));
        let tenant = options.tenant.clone().map(|tenant| ("X-Scope-OrgID", tenant));
        Self {
            agent,
            url,
            headers: login.into_iter().chain(tenant).collect(),
            secrets: secrets.into_iter().filter(|secret| !secret.is_empty()).collect(),
            limits,
        }
    }

    /// The body of an answer, asked for again while the failure may pass.
    pub(super) fn ask<T>(
        &self,
        path: &str,
        query: &[(&str, String)],
        progress: &dyn Progress,
        read: impl Fn(&Self, &[u8]) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut pause = self.limits.pause;
        for tries_left in (0..self.limits.tries.max(1)).rev() {
            if progress.stop() {
                return Err(StoreError::Stopped.into());
            }
            match self.once(path, query, progress).and_then(|body| read(self, &body)) {
                Err(failure @ (Failure::Passing(_) | Failure::Busy(..))) if tries_left > 0 => {
                    wait(failure.pause(pause), progress)?;
                }
                other => return other,
            }
            pause *= 2;
        }
        Err(Failure::Final(self.error("gives no answer").into()))
    }

    /// The body of an answer, asked for once.
    pub(super) fn once(
        &self,
        path: &str,
        query: &[(&str, String)],
        progress: &dyn Progress,
    ) -> Result<Vec<u8>, Failure> {
        let mut request = self.agent.get(format!("{}{path}", self.url.base()));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let pairs = query.iter().map(|(name, value)| (*name, value.as_str()));
        let mut response = request.query_pairs(pairs).call().map_err(|e| self.transport(&e))?;
        let body = self.body(&mut response, progress)?;
        let status = response.status().as_u16();
        if status == 200 {
            return Ok(body);
        }
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let later = header("retry-after").and_then(|text| retry_after(text, Timestamp::now()));
        Err(self.refused((status, later), &body, header("location")))
    }

    /// Reads in pieces, so that neither a long answer nor a slow one holds the program.
    fn body(&self, response: &mut Response<ureq::Body>, progress: &dyn Progress) -> Result<Vec<u8>, Failure> {
        let mut reader = response.body_mut().as_reader();
        let mut body = Vec::new();
        let mut piece = vec![0; 64 * 1024];
        loop {
            if progress.stop() {
                return Err(StoreError::Stopped.into());
            }
            let read = reader.read(&mut piece).map_err(|e| self.transport(&e.into()))?;
            if read == 0 {
                return Ok(body);
            }
            if body.len() + read > self.limits.answer_bytes {
                let what = format!("answers with more than {} bytes at once", self.limits.answer_bytes);
                let error = self
                    .error(what)
                    .hint("ask for fewer points: a longer --step, or one server for each cluster");
                return Err(Failure::TooMuch(error.into()));
            }
            body.extend_from_slice(&piece[..read]);
        }
    }

    /// A failure before or in the middle of an answer.
    fn transport(&self, error: &ureq::Error) -> Failure {
        let from = |what: String, hint: &str| StoreError::from(self.error(what).hint(hint));
        match error {
            ureq::Error::Timeout(_) => Failure::Busy(
                from(
                    format!("gives no answer within {} s", self.limits.timeout.as_secs()),
                    "is the server busy, or a firewall between? a longer --step asks for less",
                ),
                None,
            ),
            ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::ConnectionRefused => Failure::Final(from(
                "refuses the connection".into(),
                "does Prometheus run there, on that port? in Kubernetes: `kubectl port-forward svc/prometheus 9090`",
            )),
            ureq::Error::HostNotFound => Failure::Final(from(
                "is not a host that can be found".into(),
                "is the name right, and can this machine resolve it?",
            )),
            ureq::Error::Rustls(e) => Failure::Final(from(format!("TLS: {e}"), TLS_HINT)),
            ureq::Error::Tls(e) => Failure::Final(from(format!("TLS: {e}"), TLS_HINT)),
            ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::InvalidData => {
                Failure::Final(from(format!("TLS: {e}"), TLS_HINT))
            }
            ureq::Error::Http(_) => Failure::Final(from(
                "the login or the tenant holds a character that no header can".into(),
                "does the token file hold more than the token?",
            )),
            ureq::Error::Protocol(e) => Failure::Final(from(
                format!("does not speak HTTP: {e}"),
                "is it https instead of http, or another port?",
            )),
            other if self.url.has_tls() => Failure::Passing(from(format!("broke off: {other}"), BROKE_TLS_HINT)),
            other => Failure::Passing(from(format!("broke off: {other}"), BROKE_HINT)),
        }
    }

    /// An answer that is none.
    fn refused(&self, (status, later): (u16, Option<Duration>), body: &[u8], location: Option<&str>) -> Failure {
        let says = self.said(body);
        let from = |what: String, hint: &str| StoreError::from(self.error(what).hint(hint));
        match status {
            401 => Failure::Final(from(format!("wants another login (401{says})"), LOGIN_HINT)),
            403 => Failure::Absent(from(format!("does not let this login ask (403{says})"), LOGIN_HINT)),
            404 | 405 | 501 => Failure::Absent(from(
                format!("has no Prometheus API there ({status}{says})"),
                "name the address under which `/api/v1/query` answers, such as http://HOST:9090 or https://HOST/prometheus",
            )),
            422 => Failure::TooMuch(from(format!("can't answer that much ({status}{says})"), SMALLER_HINT)),
            400 if says.contains("maximum resolution") => {
                Failure::TooMuch(from(format!("can't answer that much ({status}{says})"), SMALLER_HINT))
            }
            503 | 504 => Failure::Busy(from(format!("is too busy ({status}{says})"), SMALLER_HINT), later),
            429 => Failure::Busy(
                from(
                    format!("is asked too often (429{says})"),
                    "try again later, or with a longer --step; what was committed is kept and not fetched twice",
                ),
                later,
            ),
            500 | 502 => Failure::Passing(from(
                format!("fails ({status}{says})"),
                "look into the server's log; what was committed is kept and not fetched twice",
            )),
            300..400 => {
                let to = location
                    .and_then(|l| l.split(['?', '#']).next())
                    .filter(|l| !l.contains('@'));
                let to = to.map(|to| format!(" to {}", self.shown(to))).unwrap_or_default();
                Failure::Final(from(
                    format!("sends elsewhere{to} ({status})"),
                    "name that server itself",
                ))
            }
            _ => Failure::Final(from(
                format!("does not answer ({status}{says})"),
                "is it a Prometheus of version 2 or newer?",
            )),
        }
    }

    /// What a server says of a failure, short: the error in its JSON, else nothing.
    fn said(&self, body: &[u8]) -> String {
        let json: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        json["error"]
            .as_str()
            .map(|text| format!(": {}", self.shown(text)))
            .unwrap_or_default()
    }

    /// Text of the server for a message: short, harmless, and without the login, which some servers repeat.
    pub(super) fn shown(&self, text: &str) -> String {
        short(&self.without_login(text))
    }

    fn without_login(&self, text: &str) -> String {
        let hide = |text: String, secret: &String| text.replace(secret.as_str(), "(login)");
        self.secrets.iter().fold(text.to_owned(), hide)
    }

    /// An error about this server.
    pub(super) fn error(&self, what: impl Into<String>) -> InputError {
        InputError::new(self.url.base(), self.without_login(&what.into()))
    }
}

const BROKE_HINT: &str = "try again; what was committed is kept and not fetched twice";
const BROKE_TLS_HINT: &str =
    "try again; what was committed is kept. Does it speak TLS? a server without TLS is http://";
const TLS_HINT: &str =
    "install the certificate of your company's authority on this machine; a server without TLS is http://";
const LOGIN_HINT: &str = "give it in LOWWATER_PROMETHEUS_TOKEN or --token-file, or in LOWWATER_PROMETHEUS_USER and \
LOWWATER_PROMETHEUS_PASSWORD; Mimir wants --tenant too";
const SMALLER_HINT: &str = "try again later, or with a longer --step; what was committed is kept and not fetched twice";

/// Text for a message: short, and without anything that moves a cursor.
fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// Sleeps, and wakes for Ctrl-C.
/// `Retry-After` of HTTP: seconds, or an instant.
fn retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp();
    Some(Duration::from_secs(
        u64::try_from(at.as_second() - now.as_second()).unwrap_or(0),
    ))
}

/// Sleeps, and wakes for Ctrl-C.
pub(super) fn wait(pause: Duration, progress: &dyn Progress) -> Result<(), Failure> {
    let slice = Duration::from_millis(50);
    let mut left = pause;
    while !left.is_zero() {
        if progress.stop() {
            return Err(StoreError::Stopped.into());
        }
        let nap = left.min(slice);
        std::thread::sleep(nap);
        left -= nap;
    }
    Ok(())
}

/// As basic authentication wants it.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let number = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= three.len() { letter as char } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::Secret;
    use super::*;

    #[test]
    fn a_time_to_wait_is_seconds_or_an_instant() {
        let now = "2026-10-21T07:28:00Z".parse().unwrap();
        let waits = |text: &str| retry_after(text, now).map(|pause| pause.as_secs());
        assert_eq!(waits("120"), Some(120));
        assert_eq!(waits("Wed, 21 Oct 2026 07:28:30 GMT"), Some(30));
        assert_eq!(waits("Wed, 21 Oct 2015 07:28:00 GMT"), Some(0), "it is over");
        assert_eq!((waits("soon"), waits("-1")), (None, None));
        let busy = |asked| Failure::Busy(StoreError::Stopped, Some(Duration::from_secs(asked)));
        assert_eq!(busy(1_000_000).pause(Duration::from_secs(1)), MAX_PAUSE);
        assert_eq!(busy(0).pause(Duration::from_secs(1)), Duration::from_secs(1));
    }

    #[test]
    fn base64_as_in_its_standard() {
        let cases = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let want = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(cases.map(|c| base64(c.as_bytes())), want);
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
    }

    fn client(login: Login) -> Client {
        let options = ServerOptions {
            login,
            ..ServerOptions::default()
        };
        Client::new(
            ServerUrl::parse(std::path::Path::new("http://127.0.0.1:9")).unwrap(),
            &options,
            Limits::default(),
        )
    }

    #[test]
    fn what_servers_say_moves_no_cursor() {
        let client = client(Login::None);
        assert_eq!(client.said(b"{\"error\":\"a\\u001b[2Jb\"}"), ": a[2Jb");
        assert_eq!(client.said(b"<html>"), "");
        assert_eq!(client.shown(&"x".repeat(1000)).len(), 200);
    }

    #[test]
    fn a_login_that_the_server_repeats_is_not_shown() {
        let long = "T".repeat(300);
        let client_of = |token: &str| client(Login::Bearer(Secret::new(token)));
        assert_eq!(
            client_of("S3CRET").shown("bad token Bearer S3CRET, S3CRET"),
            "bad token Bearer (login), (login)"
        );
        assert_eq!(
            client_of(&long).shown(&format!("no: {long}")),
            "no: (login)",
            "not even its begin"
        );
        let basic = client(Login::Basic {
            user: "ada".into(),
            password: Secret::new("hunter2"),
        });
        assert_eq!(
            basic.shown("Basic YWRhOmh1bnRlcjI= is ada:hunter2"),
            "Basic (login) is ada:(login)"
        );
        let error = basic
            .refused((400, None), b"{\"error\":\"hunter2\"}", None)
            .into_error()
            .to_string();
        assert!(error.contains("(400: (login))"), "{error}");
    }
}
