//! Text exposition of NVIDIA's dcgm-exporter: scraped by hand, from Prometheus `/federate`, or dumped by promtool.

mod place;
mod points;
mod series;

use jiff::Timestamp;

use self::place::Metric;
use self::series::{Found, SeriesCache};
pub(crate) use self::points::{Point, Points};
use super::{Decode, Format, Head, MetricsOptions, MetricsSink};
use crate::error::{InputError, StoreError};
use crate::input::Input;
use crate::lines::{Line, LineReader};
use crate::metrics::{host_is_missing, known, plausible, reject, time_is_missing};

/// The format.
pub const FORMAT: Format = Format {
    name: "dcgm",
    title: "dcgm-exporter text exposition",
    doc: "Lines `DCGM_FI_…{labels} value [timestamp]`, as dcgm-exporter, Prometheus `/federate` and `promtool tsdb dump` write them. \
Timestamps are milliseconds or, as in OpenMetrics, seconds; a scrape without them needs `--at`. Read are SM_ACTIVE, GR_ENGINE_ACTIVE, GPU_UTIL \
(the best of the three that a GPU has counts, and which one it was is kept), FB_USED, FB_FREE, FB_RESERVED and POWER_USAGE; other metrics are \
skipped. Labels `UUID` or `uuid`, `Hostname` or `hostname`, `GPU_I_ID` and `GPU_I_PROFILE` of MIG instances, `exported_namespace` before `namespace`. \
A value that a GPU repeats for each pod or MIG instance counts once; power is the whole GPU's. Blank values of DCGM are unknown, never 0. \
A line that can't be read is rejected.",
    detects,
    decode: Decode::Metrics(decode),
};

/// Longest line that is read.
const MAX_LINE_BYTES: usize = 64 * 1024;
/// A timestamp below this is in seconds, above in milliseconds: the year 5138 in the one, 1973 in the other.
const FIRST_MILLISECOND: f64 = 1e11;

fn detects(head: &Head<'_>) -> bool {
    head.bytes.split(|b| *b == b'\n').any(|line| {
        let dump = line.strip_prefix(b"{__name__=\"");
        if dump.is_some_and(|name| name.starts_with(b"DCGM_FI_")) {
            return true;
        }
        line.starts_with(b"DCGM_FI_") && series::metric_name(line).is_some_and(|name| line.get(name.len()) == Some(&b'{'))
    })
}

fn decode(input: &mut Input, options: &MetricsOptions, sink: &mut dyn MetricsSink) -> Result<(), StoreError> {
    let file = input.name().to_owned();
    let mut lines = LineReader::new(input, MAX_LINE_BYTES);
    let mut scrape = Scrape {
        file: &file,
        options,
        cache: SeriesCache::default(),
    };
    while let Some((row, line)) = lines.read()? {
        match line {
            Line::Whole(line) => scrape.line(row, line.trim_ascii(), sink)?,
            Line::TooLong(line) => sink.reject(reject(&file, row, "", line, "the line is longer than 64 KiB")),
        }
    }
    scrape.cache.drain(sink)
}

/// Why a line is not taken: the column to blame and what is wrong.
type Fault = (&'static str, String);

/// A file in the reading.
struct Scrape<'a> {
    file: &'a str,
    options: &'a MetricsOptions,
    cache: SeriesCache,
}

impl Scrape<'_> {
    fn line(&mut self, row: u64, line: &[u8], sink: &mut dyn MetricsSink) -> Result<(), StoreError> {
        if line.is_empty() || line[0] == b'#' {
            return Ok(());
        }
        let (series, rest) = split(line);
        // Most lines of a scrape are other metrics: they are known without a look at their labels.
        if series::metric_name(series).is_some_and(|name| Metric::parse(name).is_none()) {
            return Ok(());
        }
        let found = match self.cache.find(series, self.options.host.as_deref()) {
            Ok(Found::Other) => return Ok(()),
            Ok(Found::NoHost) => return Err(host_is_missing(self.file, row)),
            Ok(Found::Series(index)) => index,
            Err(reason) => {
                sink.reject(reject(self.file, row, "", line, reason));
                return Ok(());
            }
        };
        match self.numbers(row, found, rest)? {
            Ok((at, value)) => self.cache.add(found, at, value, sink)?,
            Err((column, reason)) => sink.reject(reject(self.file, row, column, rest, reason)),
        }
        if self.cache.is_full() {
            self.cache.drain(sink)?;
        }
        Ok(())
    }

    /// Milliseconds and value of a line; the inner error rejects the line.
    fn numbers(&mut self, row: u64, series: usize, rest: &[u8]) -> Result<Result<(i64, Option<f64>), Fault>, StoreError> {
        let (value, stamp) = match numbers(rest) {
            Ok(numbers) => numbers,
            Err(fault) => return Ok(Err(fault)),
        };
        let at = match (stamp, self.options.at) {
            (Some(at), _) => at,
            (None, Some(at)) if self.cache.is_first_untimed(series) => at.as_millisecond(),
            (None, Some(_)) => return Err(self.second_scrape(row)),
            (None, None) => return Err(time_is_missing(self.file, row)),
        };
        let checked = known(value).map(|v| self.cache.metric(series).checked(v)).transpose();
        Ok(checked.map(|value| (at, value)).map_err(|reason| ("value", reason)))
    }

    fn second_scrape(&self, row: u64) -> StoreError {
        InputError::new(self.file, "the same series comes twice without timestamps: several scrapes in one file")
            .row(row)
            .hint("load each scrape on its own with its --at, or let Prometheus write them (`/federate` adds timestamps)")
            .into()
    }
}

/// Name with labels, and the numbers after them. Label values may hold braces, numbers can't.
fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let end = match line.iter().rposition(|b| *b == b'}') {
        Some(brace) => brace + 1,
        None => line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len()),
    };
    line.split_at(end)
}

/// Value, and milliseconds where there is a timestamp.
fn numbers(rest: &[u8]) -> Result<(f64, Option<i64>), Fault> {
    let text = std::str::from_utf8(rest).unwrap_or_default();
    let mut words = text.split_ascii_whitespace();
    let number = |word: &str| word.parse::<f64>().ok();
    let value = words.next().and_then(number).ok_or(("value", "is not a number".to_owned()))?;
    let at = match words.next() {
        None => None,
        Some(word) => Some(number(word).ok_or(("timestamp", "is not a number".to_owned()))?),
    };
    if words.next().is_some() {
        return Err(("", "the line goes on after the timestamp".to_owned()));
    }
    Ok((value, at.map(milliseconds).transpose()?))
}

fn milliseconds(stamp: f64) -> Result<i64, Fault> {
    let factor = if stamp < FIRST_MILLISECOND { 1000.0 } else { 1.0 };
    // The cast saturates; what is saturated is not plausible.
    let at = Timestamp::from_millisecond((stamp * factor).round() as i64).map_err(|_| "is not a time".to_owned());
    at.and_then(plausible).map(Timestamp::as_millisecond).map_err(|reason| ("timestamp", reason))
}

#[cfg(test)]
mod tests;
