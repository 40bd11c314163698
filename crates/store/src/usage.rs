//! GPU activity: samples in any order become one row a GPU and hour, merged into what is there.

mod hours;
mod ingest;
mod mig;
mod month;
mod names;
mod reading;
mod row;
mod sort;
mod table;

pub use ingest::{MetricsFile, ingest};
pub(crate) use ingest::{Stream, by_source, ingest_stream};
pub use mig::{gpu_activity, slices};

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::row::HourRow;
    use super::table;
    use crate::format::Sample;
    use crate::layout::Layout;
    use crate::metrics::unknown_sample;

    /// A row as it is stored.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct StoredHour(HourRow);

    impl StoredHour {
        /// Puts a cluster before the name of the host.
        pub(crate) fn rename(&mut self, cluster: &str) {
            self.0.key.host = Arc::from(format!("{cluster}/{}", self.0.key.host));
        }

        pub(crate) fn host(&self) -> &str {
            &self.0.key.host
        }

        /// When the hour begins.
        pub(crate) fn second(&self) -> i64 {
            self.0.key.hour * 3600
        }

        pub(crate) fn observed_seconds(&self) -> u64 {
            self.0.activity.seconds()
        }
    }

    /// Every row of a data directory.
    pub(crate) fn stored_hours(directory: &Path) -> Vec<StoredHour> {
        let snapshot = Layout::open(directory).unwrap().snapshot().unwrap();
        table::tests::read(snapshot.files("usage"))
            .into_iter()
            .map(StoredHour)
            .collect()
    }

    /// A sample of which only the place and the second are known.
    pub(crate) fn sample<'a>(host: &'a str, gpu: &'a str, second: i64) -> Sample<'a> {
        unknown_sample(jiff::Timestamp::from_second(second).unwrap(), host, gpu)
    }
}
