//! Points of series that come one series after the other, gathered into samples by instant.

use super::series::{Found, SeriesCache};
use crate::error::StoreError;
use crate::format::MetricsSink;
use crate::metrics::known;

/// A value of a series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Number of the series, from [`Points::series`].
    pub series: usize,
    /// Epoch milliseconds.
    pub at: i64,
    /// As it was measured.
    pub value: f64,
}

/// The points of some series.
#[derive(Debug, Default)]
pub(crate) struct Points {
    cache: SeriesCache,
    /// Instant, series, value; none = unknown.
    points: Vec<(i64, usize, Option<f64>)>,
}

impl Points {
    /// The number of a series by its name and labels; none where it is of no use.
    pub(crate) fn series(&mut self, text: &str, sink: &mut dyn MetricsSink) -> Option<usize> {
        match self.cache.find(text.as_bytes(), None) {
            Ok(Found::Series(series)) => Some(series),
            Ok(Found::Other | Found::NoHost) => None,
            Err(reason) => {
                let name = text.split('{').next().unwrap_or_default();
                sink.warn(format!("a series of {name} {reason} and is left out"));
                None
            }
        }
    }

    /// Takes a point. A value that can't be is unknown.
    pub(crate) fn push(&mut self, point: Point, sink: &mut dyn MetricsSink) {
        let metric = self.cache.metric(point.series);
        let value = known(point.value).map(|value| metric.checked(value)).transpose();
        let value = value.unwrap_or_else(|reason| {
            sink.warn(format!("{metric:?} of some GPU {reason} at times: taken as unknown"));
            None
        });
        self.points.push((point.at, point.series, value));
    }

    /// Hands over everything, instant by instant.
    pub(crate) fn finish(mut self, sink: &mut dyn MetricsSink) -> Result<(), StoreError> {
        self.points.sort_unstable_by_key(|(at, series, _)| (*at, *series));
        for (at, series, value) in self.points {
            self.cache.add(series, at, value, sink)?;
        }
        self.cache.drain(sink)
    }
}
