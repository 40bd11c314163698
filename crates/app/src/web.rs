//! The dashboard: the same views as on the terminal, as pages and as JSON, from one pinned version of the store.

mod answer;
mod approve;
mod asked;
mod asker;
mod asset;
mod chart;
mod days;
mod frame;
mod gate;
mod grid;
mod guard;
mod live;
mod metrics;
mod page;
mod strip;
mod tls;
mod tries;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum_server::Handle;
use axum_server::tls_rustls::RustlsConfig;
use tower_http::compression::CompressionLayer;
use tower_http::limit::RequestBodyLimitLayer;

pub use self::asked::Asked;
pub use self::days::Days;
pub use self::gate::Entrance;
use self::gate::Gate;
use self::guard::Hosts;
pub use self::live::{Live, Shown};
use crate::error::AppError;
use crate::output::View;

/// Bytes of a request's body that are read.
const MAX_BODY: usize = 64 * 1024;

/// Where it is served if nobody says.
pub const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7433);

/// How the dashboard is served.
#[derive(Clone, Debug)]
pub struct Serving {
    /// Data directory.
    pub data: PathBuf,
    /// Where to listen.
    pub listen: SocketAddr,
    /// Names under which it is reached, beside its address.
    pub names: Vec<String>,
    /// Who is let in.
    pub entrance: Entrance,
    /// Certificate chain and key, in PEM.
    pub tls: Option<(PathBuf, PathBuf)>,
}

impl Serving {
    /// On this machine, for its user.
    pub fn here(data: &Path, listen: SocketAddr, who: &str) -> Self {
        Self {
            data: data.to_owned(),
            listen,
            names: Vec::new(),
            entrance: Entrance {
                everybody: Some(who.to_owned()),
                ..Entrance::default()
            },
            tls: None,
        }
    }
}

/// A dashboard that listens and does not answer yet.
pub struct Bound {
    listener: std::net::TcpListener,
    runtime: tokio::runtime::Runtime,
    router: Router,
    tls: Option<RustlsConfig>,
    /// Let go last, outside of the runtime: stores and what is kept of people bring runtimes of their own.
    kept: (Arc<Live>, Arc<Gate>),
    /// Where it listens: the port is known even where any free one was asked for.
    pub address: SocketAddr,
}

/// How long a handshake, or the head of a request, may take to arrive: who is slower holds a connection for nothing.
const MAX_HEAD: Duration = Duration::from_secs(15);
/// How long answers that were begun may take after Ctrl-C.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Opens the port.
pub fn bind(serving: &Serving) -> Result<Bound, AppError> {
    let tls = serving
        .tls
        .as_ref()
        .map(|(chain, key)| tls::config(chain, key))
        .transpose()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(AppError::Output)?;
    let listener = std::net::TcpListener::bind(serving.listen).map_err(|e| {
        AppError::Refused(format!(
            "can't listen on {}: {e}\nhint: another program may have that port; choose another with --listen",
            serving.listen
        ))
    })?;
    let address = listener.local_addr().map_err(AppError::Output)?;
    let live = Arc::new(Live::new(serving.data.clone()));
    let secret = secret().map_err(AppError::Output)?;
    let gate = Arc::new(Gate::new(serving.entrance.clone(), serving.data.clone(), secret));
    live.watch();
    let hosts = Hosts::new(address, &serving.names);
    Ok(Bound {
        listener,
        runtime,
        router: router(Arc::clone(&live), Arc::clone(&gate), hosts),
        tls,
        kept: (live, gate),
        address,
    })
}

impl Bound {
    /// Its address, as a browser takes it.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/", self.address)
    }

    /// Answers until Ctrl-C.
    pub fn run(self) -> Result<(), AppError> {
        let handle = Handle::new();
        let stop = handle.clone();
        let service = self.router.into_make_service_with_connect_info::<SocketAddr>();
        let (listener, tls) = (self.listener, self.tls);
        let ended = self.runtime.block_on(async {
            tokio::spawn(async move {
                // Without a handler there is no Ctrl-C to wait for.
                if tokio::signal::ctrl_c().await.is_ok() {
                    stop.graceful_shutdown(Some(LAST_ANSWERS));
                }
            });
            if let Some(tls) = tls {
                let mut server = axum_server::from_tcp_rustls(listener, tls)?.handle(handle);
                server.http_builder().http1().header_read_timeout(MAX_HEAD);
                return server.serve(service).await;
            }
            let mut server = axum_server::from_tcp(listener)?.handle(handle);
            server.http_builder().http1().header_read_timeout(MAX_HEAD);
            server.serve(service).await
        });
        drop(self.runtime);
        drop(self.kept);
        ended.map_err(AppError::Output)
    }
}

/// A word that nobody can guess.
fn secret() -> std::io::Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A view as a page of its own, to be sent: nothing in it leads to this server.
pub fn letter(view: &impl View) -> Result<String, AppError> {
    let written = frame::letter(&frame::Page::of_screen(view.screen()));
    written.map_err(|e| AppError::Output(std::io::Error::other(e)))
}

/// Every route, and what every answer passes through.
fn router(live: Arc<Live>, gate: Arc<Gate>, hosts: Hosts) -> Router {
    page::routes()
        .merge(asset::routes())
        .merge(approve::routes())
        .merge(metrics::routes())
        .fallback(answer::not_found)
        .with_state(live)
        .merge(gate::routes(Arc::clone(&gate)))
        .layer(from_fn_with_state(gate, gate::gate))
        .layer(RequestBodyLimitLayer::new(MAX_BODY))
        .layer(CompressionLayer::new())
        .layer(from_fn(guard::headers))
        .layer(from_fn_with_state(Arc::new(hosts), guard::host))
}
