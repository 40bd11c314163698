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
pub use mig::{gpu_activity, slices};

#[cfg(test)]
pub(crate) mod tests {
    use crate::format::Sample;
    use crate::metrics::unknown_sample;

    /// A sample of which only the place and the second are known.
    pub(crate) fn sample<'a>(host: &'a str, gpu: &'a str, second: i64) -> Sample<'a> {
        unknown_sample(jiff::Timestamp::from_second(second).unwrap(), host, gpu)
    }
}
