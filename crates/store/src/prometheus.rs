//! GPU activity from Prometheus servers: asked for in pages, committed day by day, continued where the last load ended.

mod answer;
mod client;
mod page;
mod server;
mod span;
mod url;

use std::fmt;
use std::path::Path;

use jiff::Timestamp;
use lowwater_model::policy::Policy;
use serde::Serialize;

use self::client::Limits;
use self::server::Server;
use self::span::Span;
use crate::error::{InputError, StoreError};
use crate::layout::{Layout, Manifest};
use crate::load::{Existing, LoadReport, LoadRequest, Progress, UnitReport};
use crate::usage::{self, Stream};

/// Seconds between two points where nobody says.
pub const DEFAULT_STEP_SECONDS: u32 = 60;

/// How to ask servers.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// First instant; none = where the last load ended, else the oldest sample.
    pub start: Option<Timestamp>,
    /// First instant after; none = now.
    pub end: Option<Timestamp>,
    /// Seconds between two points; none = [`DEFAULT_STEP_SECONDS`].
    pub step_seconds: Option<u32>,
    /// Name of the cluster; none = as the server says, else its address.
    pub cluster: Option<String>,
    /// `X-Scope-OrgID`.
    pub tenant: Option<String>,
    /// Who asks.
    pub login: Login,
}

/// Who asks a server.
#[derive(Clone, Debug, Default)]
pub enum Login {
    /// Nobody in particular.
    #[default]
    None,
    /// `Authorization: Bearer`.
    Bearer(Secret),
    /// `Authorization: Basic`.
    Basic {
        /// User.
        user: String,
        /// Password.
        password: Secret,
    },
}

/// Text that is shown nowhere.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Takes the text, without white space around it.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What came of one server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServerReport {
    /// Its address.
    pub url: String,
    /// Its source in the store: `prometheus/CLUSTER`.
    pub source: String,
    /// How long it keeps samples, as it says; none where it does not.
    pub retention: Option<String>,
    /// About when its oldest sample of a GPU is from, to the hour; none where that is not known or was not asked for.
    pub oldest: Option<Timestamp>,
    /// First instant that was asked for.
    pub start: Timestamp,
    /// First instant after.
    pub end: Timestamp,
    /// Answers that were fetched.
    pub pages: u64,
    /// What a reader must know.
    pub warnings: Vec<String>,
}

/// Is it the address of a server rather than a file?
pub fn is_server(path: &Path) -> bool {
    url::is_url(path)
}

/// Is a server to be asked, and not a file to be read?
pub(crate) fn is_asked(request: &LoadRequest) -> bool {
    request.paths.iter().any(|path| is_server(path))
}

/// Loads from every server of a request, day by day: what is committed stays, whatever comes after.
pub(crate) fn load(
    dir: &Path,
    request: &LoadRequest,
    policy: &Policy,
    progress: &dyn Progress,
) -> Result<LoadReport, StoreError> {
    load_within(Limits::default(), dir, request, policy, progress)
}

fn load_within(
    limits: Limits,
    dir: &Path,
    request: &LoadRequest,
    policy: &Policy,
    progress: &dyn Progress,
) -> Result<LoadReport, StoreError> {
    check(request)?;
    let layout = Layout::open(dir)?;
    // Where each begins is known before any of them is loaded: two servers of one cluster fill each other's gaps.
    let manifest = layout.manifest()?;
    let mut asked = Vec::new();
    for path in &request.paths {
        let mut server = Server::greet(path, request, limits, progress)?;
        let stored = last_stored(&manifest, &server.source);
        let span = server.span(stored, &request.server, progress)?;
        asked.push((server, span, stored));
    }
    let mut report = LoadReport {
        unchanged: true,
        ..LoadReport::default()
    };
    for (mut server, span, stored) in asked {
        let mut run = Run {
            layout: &layout,
            policy,
            progress,
            report: &mut report,
        };
        let found = run.days(&mut server, &span)?;
        if !found && stored.is_none() {
            return Err(server.has_no_gpu(&span));
        }
        report.servers.push(server.report(&span));
    }
    report.units.sort_by_key(UnitReport::key);
    Ok(report)
}

/// One load over all its servers.
struct Run<'a> {
    layout: &'a Layout,
    policy: &'a Policy,
    progress: &'a dyn Progress,
    report: &'a mut LoadReport,
}

impl Run<'_> {
    /// Loads day after day. Did any sample come?
    fn days(&mut self, server: &mut Server, span: &Span) -> Result<bool, StoreError> {
        let mut found = false;
        for day in span.days() {
            let what = format!("{} {}", server.source, day.name());
            self.progress.at(&what, day.number, day.count);
            match self.day(server, &day.span) {
                Ok(any) => found |= any,
                Err(StoreError::Stopped) if !self.report.unchanged => return Err(stopped(&day.span)),
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    fn day(&mut self, server: &mut Server, span: &Span) -> Result<bool, StoreError> {
        let mut transaction = self.layout.write(self.progress)?;
        let progress = self.progress;
        let nodes = server.provider_ids(span, progress)?;
        let stream = Stream {
            source: &server.source.clone(),
            provider_ids: nodes.clone(),
        };
        let (units, changed) = usage::ingest_stream(stream, self.policy, &mut transaction, progress, &mut |sink| {
            server.pages(span, &nodes, sink, progress)
        })?;
        if progress.stop() {
            return Err(StoreError::Stopped);
        }
        if changed {
            transaction.commit()?;
            self.report.unchanged = false;
        }
        let found = !units.is_empty();
        for unit in units {
            self.report.units.retain(|known| known.key() != unit.key());
            self.report.units.push(unit);
        }
        Ok(found)
    }
}

fn stopped(span: &Span) -> StoreError {
    let kept = format!(
        "what was before {} is kept, and the next load goes on from there",
        span.start
    );
    StoreError::StoppedAfter { kept }
}

/// The newest sample of a source, epoch seconds.
fn last_stored(manifest: &Manifest, source: &str) -> Option<i64> {
    let units = manifest.usage.values().filter(|unit| unit.source == source);
    units.map(|unit| unit.last).max()
}

/// Refuses what means something for files only: it would be silently without effect.
fn check(request: &LoadRequest) -> Result<(), StoreError> {
    let refuse = |what: &str, hint: &str| Err(InputError::new("lowwater load", what).hint(hint).into());
    if request.format.as_deref().is_some_and(|format| format != "prometheus") {
        return refuse(
            "only Prometheus is read from a server",
            "leave --format out, or write --format prometheus",
        );
    }
    if !request.paths.iter().all(|path| url::is_url(path)) {
        return refuse(
            "servers and files can't be in one load",
            "load them one after the other",
        );
    }
    if request.source.is_some() {
        return refuse(
            "a server's source is its cluster",
            "name the cluster instead: --cluster NAME",
        );
    }
    if request.existing != Existing::Guarded {
        let hint = "leave --replace and --append out; --start TIME fetches hours again that are there";
        return refuse("hours from a server are merged into what is there", hint);
    }
    if request.provider.is_some() || request.tz.is_some() || request.at.is_some() {
        return refuse(
            "--provider, --tz and --at are for files",
            "a server knows its times; leave them out",
        );
    }
    let step = request.server.step_seconds.unwrap_or(DEFAULT_STEP_SECONDS);
    if !(1..=3600).contains(&step) {
        return refuse(
            "--step is not between 1 and 3600 seconds",
            "60 is a good step; an hour needs several points",
        );
    }
    match (request.server.start, request.server.end) {
        (Some(start), Some(end)) if start >= end => {
            refuse("--start is not before --end", "name the earlier time first")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
