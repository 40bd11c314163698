//! One server: what it says of itself, where to begin, its pages and its nodes.

use std::path::Path;

use jiff::Timestamp;
use lowwater_model::period::HOUR_SECONDS;
use sha2::{Digest, Sha256};

use super::answer::{self, Configured, Found, Runtime, cluster_label, retention_seconds};
use super::client::{Client, Failure, Limits, wait};
use super::page::{self, Naming, qualified};
use super::span::{Span, hour};
use super::url::ServerUrl;
use super::{DEFAULT_STEP_SECONDS, ServerOptions, ServerReport};
use crate::error::StoreError;
use crate::format::MetricsSink;
use crate::join::ProviderIds;
use crate::load::{LoadRequest, Progress};

/// The metrics that are read, as one selector.
const SELECTOR: &str = "{__name__=~\"DCGM_FI_PROF_SM_ACTIVE|DCGM_FI_PROF_GR_ENGINE_ACTIVE|DCGM_FI_DEV_GPU_UTIL|DCGM_FI_DEV_FB_USED|\
DCGM_FI_DEV_FB_FREE|DCGM_FI_DEV_FB_RESERVED|DCGM_FI_DEV_POWER_USAGE\"}";
/// Where a server does not say how long it keeps samples, the oldest is looked for so far back.
const HORIZON_SECONDS: i64 = 400 * 86_400;
/// Nodes that are remembered of a day; more are no nodes.
const MAX_NODES: usize = 100_000;

/// A page of points.
struct Page {
    found: Found,
    warnings: Vec<String>,
    body: Vec<u8>,
}

/// A server that answers.
pub(super) struct Server {
    client: Client,
    /// `prometheus/CLUSTER`.
    pub(super) source: String,
    cluster: String,
    host: Option<String>,
    retention: Option<String>,
    oldest: Option<i64>,
    /// Points of a series in the next page.
    page_points: i64,
    /// More were too much.
    most_points: i64,
    /// Failures since the last page.
    failures: u32,
    pages: u64,
    warnings: Vec<String>,
}

impl Server {
    /// Asks a server who it is.
    pub(super) fn greet(
        path: &Path,
        request: &LoadRequest,
        limits: Limits,
        progress: &dyn Progress,
    ) -> Result<Self, StoreError> {
        let options = &request.server;
        let client = Client::new(ServerUrl::parse(path)?, options, limits);
        progress.at(&format!("asking {}", client.url.base()), 0, 1);
        let runtime = status::<Runtime>(&client, "/api/v1/status/runtimeinfo", progress)?;
        let cluster = match &options.cluster {
            Some(name) => name.clone(),
            None => status::<Configured>(&client, "/api/v1/status/config", progress)?
                .and_then(|configured| cluster_label(&configured.yaml))
                .unwrap_or_else(|| place(&client.url, options)),
        };
        Ok(Self {
            source: format!("prometheus/{cluster}"),
            cluster,
            host: request.host.clone(),
            retention: runtime.map(|r| r.storage_retention).filter(|text| !text.is_empty()),
            oldest: None,
            page_points: limits.points,
            most_points: limits.points,
            failures: 0,
            pages: 0,
            warnings: Vec::new(),
            client,
        })
    }

    /// What to ask for: from where the user says, else the last whole hour that is stored, else the oldest sample.
    pub(super) fn span(
        &mut self,
        stored: Option<i64>,
        options: &ServerOptions,
        progress: &dyn Progress,
    ) -> Result<Span, StoreError> {
        let step = i64::from(options.step_seconds.unwrap_or(DEFAULT_STEP_SECONDS));
        let end = options.end.unwrap_or_else(Timestamp::now).as_second();
        let kept = self.retention.as_deref().and_then(retention_seconds);
        let begin = kept.map(|kept| end - kept);
        if options.start.is_some() || stored.is_none() {
            self.oldest = self.oldest(end, kept.unwrap_or(HORIZON_SECONDS), progress)?;
        }
        let start = match options.start {
            Some(start) => start.as_second(),
            None => hour(stored.or(self.oldest).or(begin).ok_or_else(|| self.no_beginning())?).min(end),
        };
        let span = Span::new(start, end, step)?;
        if let Some(first) = self.oldest.or(begin).filter(|first| start < *first) {
            let first = Span::new(first, end, step)?.start;
            let keeps = self
                .retention
                .as_ref()
                .map(|r| format!(", which keeps {r}"))
                .unwrap_or_default();
            self.warnings.push(format!(
                "{} is before the oldest sample (about {first}) on {}{keeps}: the hours between are unknown",
                span.start,
                self.client.url.base()
            ));
        }
        Ok(span)
    }

    /// About when the oldest sample is from, to the hour.
    fn oldest(&self, end: i64, seconds: i64, progress: &dyn Progress) -> Result<Option<i64>, StoreError> {
        let most = self.client.limits.points.max(2) - 1;
        let mut seconds = seconds.min(end);
        while seconds >= HOUR_SECONDS {
            // Of a step of an hour or a few, so that one answer has it all.
            let step = (seconds / HOUR_SECONDS / most + 1) * HOUR_SECONDS;
            match self.first_seen(end - seconds, end, step, progress) {
                // Between two far steps the GPUs may have been there, too.
                Ok(Some(at)) if step > HOUR_SECONDS => {
                    let before = at - (10 * step).min(most * HOUR_SECONDS);
                    let closer = self.first_seen(before, at + step, HOUR_SECONDS, progress);
                    return closer.map(|closer| closer.or(Some(at))).map_err(Failure::into_error);
                }
                Ok(found) => return Ok(found),
                // Some servers bound the length of a query.
                Err(Failure::TooMuch(_) | Failure::Busy(..)) => seconds /= 4,
                Err(other) => return Err(other.into_error()),
            }
        }
        Ok(None)
    }

    /// The step before the first at which any GPU was there.
    fn first_seen(&self, from: i64, to: i64, step: i64, progress: &dyn Progress) -> Result<Option<i64>, Failure> {
        let query = range(&format!("count({SELECTOR})"), hour(from), hour(to), step);
        let (found, _) = self
            .client
            .ask("/api/v1/query_range", &query, progress, answer::read::<Found>)?;
        let times = found
            .result
            .iter()
            .flat_map(|series| &series.values)
            .map(|point| point.0 as i64);
        Ok(times
            .filter(|at| (hour(from)..=to).contains(at))
            .min()
            .map(|at| at - step))
    }

    /// Asks for every point of a span and hands over the samples. Gives an id of what came.
    pub(super) fn pages(
        &mut self,
        span: &Span,
        nodes: &ProviderIds,
        sink: &mut dyn MetricsSink,
        progress: &dyn Progress,
    ) -> Result<String, StoreError> {
        let mut hash = Sha256::new();
        hash.update(format!("{} {nodes:?}", self.source));
        let Some((mut at, last)) = span.points() else {
            return Ok(hex(hash));
        };
        while at <= last {
            let upto = last.min(at + (self.page_points - 1) * span.step);
            let Some(page) = self.page(at, upto, span.step, progress)? else {
                continue;
            };
            for warning in page.warnings {
                sink.warn(format!("the server warns: {warning}"));
            }
            hash.update(&page.body);
            let naming = Naming {
                cluster: &self.cluster,
                host: self.host.as_deref(),
                asked: at * 1000..=upto * 1000,
            };
            page::take(&page.found, &naming, sink)?;
            if page.body.len() < self.client.limits.answer_bytes / 4 {
                self.page_points = (self.page_points * 2).min(self.most_points);
            }
            at = upto + span.step;
        }
        Ok(hex(hash))
    }

    /// One page, whole; none where the next one is to be smaller or later.
    fn page(&mut self, at: i64, upto: i64, step: i64, progress: &dyn Progress) -> Result<Option<Page>, StoreError> {
        // Without the look-back of an instant: a GPU that is gone is not said to do for five minutes what it did last.
        let query = range(
            &format!("last_over_time({SELECTOR}[{}ms])", step * 1000 - 1),
            at,
            upto,
            step,
        );
        let body = self.client.once("/api/v1/query_range", &query, progress);
        let page = body.and_then(|body| {
            let (found, warnings) = answer::read::<Found>(&self.client, &body)?;
            Ok(Page { found, warnings, body })
        });
        let asked = (upto - at) / step + 1;
        let failure = match page {
            Ok(page) => {
                self.pages += 1;
                self.failures = 0;
                return Ok(Some(page));
            }
            Err(failure) => failure,
        };
        match failure {
            Failure::TooMuch(_) if asked > 1 => {
                self.most_points = asked / 2;
                self.page_points = asked / 2;
            }
            Failure::Busy(..) | Failure::Passing(_) if self.failures + 1 < self.client.limits.tries => {
                let pause = failure.pause(self.client.limits.pause * (1 << self.failures));
                wait(pause, progress).map_err(Failure::into_error)?;
                self.failures += 1;
                if matches!(failure, Failure::Busy(..)) {
                    self.page_points = (asked / 2).max(1);
                }
            }
            other => return Err(other.into_error()),
        }
        Ok(None)
    }

    /// Which provider id each node had in a span; empty where the server knows no nodes.
    pub(super) fn provider_ids(&mut self, span: &Span, progress: &dyn Progress) -> Result<ProviderIds, StoreError> {
        let seconds = span.end.as_second() - span.start.as_second();
        let query = [
            (
                "query",
                format!("group by (cluster, node, provider_id) (last_over_time(kube_node_info[{seconds}s]))"),
            ),
            ("time", span.end.as_second().to_string()),
        ];
        let mut ids = ProviderIds::new();
        let found = match self
            .client
            .ask("/api/v1/query", &query, progress, answer::read::<Found>)
        {
            Ok((found, _)) => found,
            Err(Failure::TooMuch(_)) => {
                let warning = "kube_node_info is too much for the server: its nodes are joined by name alone";
                if !self.warnings.iter().any(|known| known == warning) {
                    self.warnings.push(warning.to_owned());
                }
                return Ok(ids);
            }
            Err(other) => return Err(other.into_error()),
        };
        for series in found.result.iter().take(MAX_NODES) {
            let label = |name: &str| series.metric.get(name).filter(|value| !value.is_empty());
            if let (Some(node), Some(id)) = (label("node"), label("provider_id")) {
                let host = qualified(&series.metric, &self.cluster, node);
                ids.entry(host).or_default().insert(id.clone());
            }
        }
        Ok(ids)
    }

    fn no_beginning(&self) -> StoreError {
        let error = self
            .client
            .error("does not say how long it keeps samples, and none of a GPU was found");
        error
            .hint(format!(
                "say where to begin: --start 2026-10-01T00:00:00Z; {EXPORTER_HINT}"
            ))
            .into()
    }

    /// For a server that never gave a sample.
    pub(super) fn has_no_gpu(&self, span: &Span) -> StoreError {
        let what = format!("has no metric of a GPU (DCGM_FI_…) from {} to {}", span.start, span.end);
        self.client.error(what).hint(EXPORTER_HINT).into()
    }

    /// What came of it.
    pub(super) fn report(self, span: &Span) -> ServerReport {
        ServerReport {
            url: self.client.url.base(),
            source: self.source,
            retention: self.retention,
            oldest: self.oldest.and_then(|s| Timestamp::from_second(s).ok()),
            start: span.start,
            end: span.end,
            pages: self.pages,
            warnings: self.warnings,
        }
    }
}

const EXPORTER_HINT: &str = "does this server scrape dcgm-exporter? `up{job=~\".*dcgm.*\"}` should be 1";

/// What a server says of itself, where it does and this login may ask.
fn status<T: serde::de::DeserializeOwned>(
    client: &Client,
    path: &str,
    progress: &dyn Progress,
) -> Result<Option<T>, StoreError> {
    match client.ask(path, &[], progress, answer::read::<T>) {
        Ok((status, _)) => Ok(Some(status)),
        Err(Failure::Absent(_)) => Ok(None),
        Err(other) => Err(other.into_error()),
    }
}

/// What stands for the cluster where nobody names it.
fn place(url: &ServerUrl, options: &ServerOptions) -> String {
    let tenant = options.tenant.as_ref().map(|tenant| format!("/{tenant}"));
    url.place() + &tenant.unwrap_or_default()
}

fn range(query: &str, first: i64, last: i64, step: i64) -> [(&'static str, String); 4] {
    [
        ("query", query.to_owned()),
        ("start", first.to_string()),
        ("end", last.to_string()),
        ("step", step.to_string()),
    ]
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}
