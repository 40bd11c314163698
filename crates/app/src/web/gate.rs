//! Who is let in: on this machine its user, elsewhere whoever logs in, shows a token, or is named by a trusted proxy.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use askama::Template;
use axum::Router;
use axum::extract::{ConnectInfo, Form, Query, Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HeaderName, LOCATION, RETRY_AFTER, SET_COOKIE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use ipnet::IpNet;
use jiff::Timestamp;
use lowwater_store::state::{Person, Role, SESSION_DAYS, State as Kept};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use super::asked::encoded;
use super::asker::Asker;
use super::tries::Tries;
use super::{answer, asset, guard};
use crate::error::AppError;

/// Passwords that are checked at the same time: each takes a processor and 19 MiB for a while.
const CHECKS: usize = 2;

/// How people are told from each other.
#[derive(Clone, Debug, Default)]
pub struct Entrance {
    /// Who is let in without a login: the user of this machine. None = nobody is.
    pub everybody: Option<String>,
    /// A proxy in front of it ends TLS: cookies are for TLS alone, and its word on where a request comes from is taken.
    pub behind_proxy: bool,
    /// It speaks TLS itself.
    pub tls: bool,
    /// A header in which proxies of these networks name who asks.
    pub trusted: Option<(HeaderName, Vec<IpNet>)>,
}

/// The gate of a server.
pub struct Gate {
    entrance: Entrance,
    data: PathBuf,
    /// What users, tokens and sessions are kept in, once there is any.
    kept: OnceLock<Kept>,
    /// What tokens of forms are made of.
    secret: String,
    tries: Mutex<Tries>,
    checks: Semaphore,
}

/// What a browser or a program shows.
enum Shows {
    Token(String),
    Name(String),
    Session(String),
    Nothing,
}

impl Gate {
    /// Of a data directory.
    pub fn new(entrance: Entrance, data: PathBuf, secret: String) -> Self {
        Self {
            entrance,
            data,
            kept: OnceLock::new(),
            secret,
            tries: Mutex::default(),
            checks: Semaphore::new(CHECKS),
        }
    }

    /// None while nobody decided anything: reading needs no file.
    fn kept(&self) -> Result<Option<&Kept>, AppError> {
        if self.kept.get().is_none()
            && let Some(kept) = Kept::there(&self.data)?
        {
            let _ = self.kept.set(kept);
        }
        Ok(self.kept.get())
    }

    fn tries(&self) -> MutexGuard<'_, Tries> {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_secure(&self) -> bool {
        self.entrance.tls || self.entrance.behind_proxy
    }

    /// Browsers take a cookie of the first name from TLS alone, and from no other host of the domain.
    fn cookie(&self) -> &'static str {
        if self.is_secure() {
            "__Host-lowwater"
        } else {
            "lowwater"
        }
    }

    fn set_cookie(&self, secret: &str, seconds: i64) -> String {
        let secure = if self.is_secure() { "; Secure" } else { "" };
        let name = self.cookie();
        format!("{name}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
    }

    fn shows(&self, headers: &HeaderMap, peer: IpAddr) -> Shows {
        let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(token) = text(&AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")) {
            return Shows::Token(token.trim().to_owned());
        }
        if let Some((header, networks)) = &self.entrance.trusted
            && networks.iter().any(|network| network.contains(&peer))
            && let Some(name) = text(header)
        {
            return Shows::Name(name.trim().to_lowercase());
        }
        match self.session(headers) {
            Some(secret) => Shows::Session(secret),
            None => Shows::Nothing,
        }
    }

    fn session(&self, headers: &HeaderMap) -> Option<String> {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        pairs
            .find(|(name, _)| *name == self.cookie())
            .map(|(_, secret)| secret.to_owned())
    }

    /// Who that is; none where it is nobody who may come in.
    fn who(&self, shows: &Shows) -> Result<Option<Asker>, AppError> {
        let now = Timestamp::now();
        let asker = |person: Person, seed: &str, in_session| Asker {
            token: self.token(&person.name, seed),
            person,
            in_session,
        };
        let Some(kept) = self.kept()? else {
            return Ok(self
                .everybody()
                .filter(|_| !matches!(shows, Shows::Token(_) | Shows::Name(_))));
        };
        Ok(match shows {
            Shows::Token(token) => kept.with_token(token, now)?.map(|person| asker(person, token, false)),
            Shows::Name(name) => {
                let mut users = kept.users()?.into_iter();
                users
                    .find(|user| user.name == *name)
                    .map(|person| asker(person, "", false))
            }
            Shows::Session(secret) => match kept.session(secret, now)? {
                Some(person) => Some(asker(person, secret, true)),
                None => self.everybody(),
            },
            Shows::Nothing => self.everybody(),
        })
    }

    /// The user of this machine, where nobody has to log in.
    fn everybody(&self) -> Option<Asker> {
        let person = Person {
            name: self.entrance.everybody.clone()?,
            role: Role::Admin,
            ..Person::default()
        };
        Some(Asker {
            token: self.token(&person.name, ""),
            person,
            in_session: false,
        })
    }

    /// What the forms of somebody carry: known to nobody who does not know the secret of this server.
    fn token(&self, name: &str, seed: &str) -> String {
        let hash = Sha256::new()
            .chain_update(&self.secret)
            .chain_update([0])
            .chain_update(name)
            .chain_update([0]);
        hash.chain_update(seed)
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Where a request comes from: behind a proxy what it says last, since only that is its own.
    fn address(&self, headers: &HeaderMap, peer: IpAddr) -> String {
        let named = headers.get_all("x-forwarded-for").iter().next_back();
        let named = named.and_then(|value| value.to_str().ok()?.rsplit(',').next());
        match named.and_then(|name| name.trim().parse::<IpAddr>().ok()) {
            Some(address) if self.entrance.behind_proxy => address.to_string(),
            _ => peer.to_string(),
        }
    }

    /// Somebody of that name and password, or how long it must wait, or none.
    async fn check(
        self: &Arc<Self>,
        login: &Login,
        address: String,
    ) -> Result<Result<Option<String>, Duration>, AppError> {
        let keys = [format!("name {}", login.name), format!("address {address}")];
        let wait = self.tries().wait(&keys, Instant::now());
        if !wait.is_zero() {
            return Ok(Err(wait));
        }
        let _check = self.checks.acquire().await;
        let (gate, name, password) = (Arc::clone(self), login.name.clone(), login.password.clone());
        let session = blocking(move || {
            let now = Timestamp::now();
            let Some(kept) = gate.kept()? else { return Ok(None) };
            let Some(person) = kept.with_password(&name, &password)? else {
                kept.note_failure(&name, now)?;
                return Ok(None);
            };
            Ok(Some(kept.open_session(&person.name, now)?))
        })
        .await?;
        match session {
            Some(_) => self.tries().succeeded(&keys[0]),
            None => self.tries().failed(&keys, Instant::now()),
        }
        Ok(Ok(session))
    }
}

/// The state is asked where requests are not passed on.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    let outcome = tokio::task::spawn_blocking(work).await;
    outcome.unwrap_or_else(|_| {
        Err(AppError::Refused(
            "who asks could not be found out\nhint: this is a fault of Lowwater: please report it".into(),
        ))
    })
}

/// Paths that anybody may ask for: they say nothing of the data.
fn is_open(path: &str) -> bool {
    path.starts_with("/assets/") || ["/login", "/healthz", "/readyz"].contains(&path)
}

/// Does a program ask, which can do nothing with a form?
fn is_program(request: &Request) -> bool {
    let path = request.uri().path();
    let wants_page = request.method() == Method::GET && !path.starts_with("/api/") && path != "/metrics";
    !wants_page || request.headers().contains_key(AUTHORIZATION)
}

/// Lets in who may come in, and leads others to the login.
pub async fn gate(
    State(gate): State<Arc<Gate>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    if is_open(request.uri().path()) {
        return next.run(request).await;
    }
    let shows = gate.shows(request.headers(), peer.ip().to_canonical());
    let asked = Arc::clone(&gate);
    match blocking(move || asked.who(&shows)).await {
        Ok(Some(asker)) => {
            if request.uri().path() == "/" && !asker.sees_everything() {
                return (StatusCode::SEE_OTHER, [(LOCATION, "/explore")]).into_response();
            }
            request.extensions_mut().insert(asker);
            next.run(request).await
        }
        Ok(None) if is_program(&request) => {
            let error = AppError::Refused(
                "nobody is logged in\nhint: send a token as `Authorization: Bearer TOKEN`; `lowwater token add NAME` makes one".into(),
            );
            let mut response = answer::json::<()>(Err(error));
            *response.status_mut() = StatusCode::UNAUTHORIZED;
            response
                .headers_mut()
                .insert(WWW_AUTHENTICATE, axum::http::HeaderValue::from_static("Bearer"));
            response
        }
        Ok(None) => {
            let to = request.uri().path_and_query().map_or("/", |path| path.as_str());
            (
                StatusCode::SEE_OTHER,
                [(LOCATION, format!("/login?to={}", encoded(to)))],
            )
                .into_response()
        }
        Err(error) => answer::json::<()>(Err(error)),
    }
}

/// Logging in and out.
pub fn routes(gate: Arc<Gate>) -> Router {
    Router::new()
        .route("/login", get(form).post(login))
        .route("/logout", post(logout))
        .with_state(gate)
}

/// What the form of the login sends.
#[derive(Deserialize)]
struct Login {
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    to: String,
}

#[derive(Deserialize)]
struct Target {
    #[serde(default)]
    to: String,
}

#[derive(Deserialize)]
struct Leave {
    #[serde(default)]
    token: String,
}

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    style: String,
    icon: String,
    name: &'a str,
    to: &'a str,
    trouble: Option<String>,
}

/// Only a path of this server; anything else leads to its first page.
fn inside(to: &str) -> &str {
    let is_path = to.starts_with('/') && !to.starts_with("//") && !to.contains(['\\', '\r', '\n']);
    if is_path && to.len() <= 4096 { to } else { "/" }
}

fn login_page(status: StatusCode, name: &str, to: &str, trouble: Option<String>) -> Response {
    let page = LoginPage {
        style: asset::url("app.css"),
        icon: asset::url("icon.svg"),
        name,
        to: inside(to),
        trouble,
    };
    match page.render() {
        Ok(text) => (status, Html(text)).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn form(Query(target): Query<Target>) -> Response {
    login_page(StatusCode::OK, "", &target.to, None)
}

async fn login(
    State(gate): State<Arc<Gate>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Form(mut login): Form<Login>,
) -> Response {
    login.name = login.name.trim().to_lowercase();
    let again = |status, trouble: &str| login_page(status, &login.name, &login.to, Some(trouble.to_owned()));
    if !guard::is_ours(&headers) {
        return again(
            StatusCode::FORBIDDEN,
            "This was not sent by a page of this server. Try again here.",
        );
    }
    let address = gate.address(&headers, peer.ip().to_canonical());
    match gate.check(&login, address).await {
        Ok(Ok(Some(secret))) => {
            let cookie = gate.set_cookie(&secret, SESSION_DAYS * 24 * 3600);
            let to = inside(&login.to).to_owned();
            (StatusCode::SEE_OTHER, [(SET_COOKIE, cookie), (LOCATION, to)]).into_response()
        }
        Ok(Ok(None)) => again(
            StatusCode::UNAUTHORIZED,
            "That name and password do not belong together.",
        ),
        Ok(Err(wait)) => {
            let seconds = wait.as_secs() + 1;
            let said = format!(
                "Too many logins failed. Try again in {}.",
                crate::amount::plural(seconds, "second")
            );
            let mut response = again(StatusCode::TOO_MANY_REQUESTS, &said);
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
            response
        }
        Err(error) => again(StatusCode::INTERNAL_SERVER_ERROR, &error.message().unwrap_or_default()),
    }
}

async fn logout(State(gate): State<Arc<Gate>>, headers: HeaderMap, Form(leave): Form<Leave>) -> Response {
    let away = [(SET_COOKIE, gate.set_cookie("", 0)), (LOCATION, "/login".to_owned())];
    let Some(secret) = gate.session(&headers).filter(|_| guard::is_ours(&headers)) else {
        return (StatusCode::SEE_OTHER, [(LOCATION, "/login")]).into_response();
    };
    let closed = blocking(move || {
        let Some(kept) = gate.kept()? else { return Ok(false) };
        let Some(person) = kept.session(&secret, Timestamp::now())? else {
            return Ok(false);
        };
        let is_its_form = leave.token == gate.token(&person.name, &secret);
        Ok(is_its_form && kept.close_session(&secret, &person.name, Timestamp::now())?)
    });
    match closed.await {
        Ok(true) => (StatusCode::SEE_OTHER, away).into_response(),
        Ok(false) => (StatusCode::SEE_OTHER, [(LOCATION, "/login")]).into_response(),
        Err(error) => answer::json::<()>(Err(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(entrance: Entrance) -> (Gate, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        (Gate::new(entrance, dir.path().into(), "secret".into()), dir)
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let one = |(name, value): &(&'static str, &str)| (HeaderName::from_static(name), value.parse().unwrap());
        pairs.iter().map(one).collect()
    }

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn only_named_networks_name_who_asks() {
        let (gate, dir) = gate(Entrance {
            trusted: Some((HeaderName::from_static("x-user"), vec!["10.1.0.0/16".parse().unwrap()])),
            ..Entrance::default()
        });
        let ann = Person {
            name: "ann".into(),
            ..Person::default()
        };
        assert!(gate.kept().unwrap().is_none());
        let kept = Kept::open(dir.path()).unwrap();
        kept.add_user(&ann, "a sentence does well", "root", Timestamp::now())
            .unwrap();
        let who = |peer: &str, name: &str| {
            let shows = gate.shows(&headers(&[("x-user", name)]), peer.parse().unwrap());
            gate.who(&shows).unwrap().map(|asker| asker.person.name)
        };
        assert_eq!(who("10.1.2.3", "Ann"), Some("ann".into()));
        assert_eq!(who("10.2.2.3", "ann"), None, "anybody can send a header");
        assert_eq!(who("10.1.2.3", "eve"), None);
        assert_eq!(who("::1", "ann"), None);
    }

    #[test]
    fn what_a_proxy_says_last_is_its_own() {
        let forwarded = headers(&[("x-forwarded-for", "1.2.3.4, 5.6.7.8")]);
        let (plain, _one) = gate(Entrance::default());
        assert_eq!(plain.address(&forwarded, HERE), "127.0.0.1");
        let (behind, _two) = gate(Entrance {
            behind_proxy: true,
            ..Entrance::default()
        });
        assert_eq!(behind.address(&forwarded, HERE), "5.6.7.8");
        assert_eq!(
            behind.address(&headers(&[("x-forwarded-for", "nonsense")]), HERE),
            "127.0.0.1"
        );
        assert!(behind.set_cookie("x", 1).contains("__Host-") && behind.set_cookie("x", 1).ends_with("; Secure"));
        assert!(!plain.set_cookie("x", 1).contains("Secure"));
    }

    #[test]
    fn a_login_leads_to_a_path_of_this_server() {
        for good in ["/", "/explore?by=team", "/plan?step=1"] {
            assert_eq!(inside(good), good);
        }
        for bad in [
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "",
            "/a\r\nSet-Cookie: x",
            "explore",
        ] {
            assert_eq!(inside(bad), "/", "{bad}");
        }
    }

    #[test]
    fn a_form_is_of_one_person_and_one_session() {
        let (gate, _dir) = gate(Entrance::default());
        let all = [
            gate.token("ann", "1"),
            gate.token("ann", "2"),
            gate.token("bob", "1"),
            gate.token("ann", ""),
        ];
        let different: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(different.len(), 4);
    }
}
