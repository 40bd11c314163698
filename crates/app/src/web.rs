//! The dashboard: the same views as on the terminal, as pages and as JSON, from one pinned version of the store.

mod answer;
mod approve;
mod asked;
mod asset;
mod chart;
mod days;
mod frame;
mod grid;
mod guard;
mod live;
mod metrics;
mod page;
mod strip;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use tokio::net::TcpListener;
use tower_http::compression::CompressionLayer;
use tower_http::limit::RequestBodyLimitLayer;

pub use self::asked::Asked;
pub use self::days::Days;
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
    /// Who decides: on this machine the user of its system.
    pub who: String,
}

/// A dashboard that listens and does not answer yet.
pub struct Bound {
    listener: TcpListener,
    runtime: tokio::runtime::Runtime,
    router: Router,
    /// Let go last, outside of the runtime: stores bring one of their own.
    live: Arc<Live>,
    /// Where it listens: the port is known even where any free one was asked for.
    pub address: SocketAddr,
}

/// Opens the port.
pub fn bind(serving: &Serving) -> Result<Bound, AppError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(AppError::Output)?;
    let listener = runtime.block_on(TcpListener::bind(serving.listen)).map_err(|e| {
        AppError::Refused(format!(
            "can't listen on {}: {e}\nhint: another program may have that port; choose another with --listen",
            serving.listen
        ))
    })?;
    let address = listener.local_addr().map_err(AppError::Output)?;
    let token = secret().map_err(AppError::Output)?;
    let live = Arc::new(Live::new(serving.data.clone()).deciding(serving.who.clone(), token));
    live.watch();
    Ok(Bound {
        listener,
        runtime,
        router: router(Arc::clone(&live), address),
        live,
        address,
    })
}

impl Bound {
    /// Answers until Ctrl-C.
    pub fn run(self) -> Result<(), AppError> {
        let stop = async {
            // Without a handler there is no Ctrl-C to wait for.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let serve = axum::serve(self.listener, self.router).with_graceful_shutdown(stop);
        let ended = self.runtime.block_on(async { serve.await }).map_err(AppError::Output);
        drop(self.runtime);
        drop(self.live);
        ended
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
pub fn router(live: Arc<Live>, address: SocketAddr) -> Router {
    let hosts = Arc::new(Hosts::new(address));
    page::routes()
        .merge(asset::routes())
        .merge(approve::routes())
        .merge(metrics::routes())
        .fallback(answer::not_found)
        .with_state(live)
        .layer(RequestBodyLimitLayer::new(MAX_BODY))
        .layer(CompressionLayer::new())
        .layer(from_fn(guard::headers))
        .layer(from_fn_with_state(hosts, guard::host))
}
