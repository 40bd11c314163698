//! What files look like: one file a format, one word in the list.

use jiff::Timestamp;
use lowwater_model::job::JobRun;
use lowwater_model::money::Money;
use lowwater_model::usage::ActivityMetric;

use crate::error::StoreError;
use crate::input::Input;
use crate::load::Reject;

/// A format, as plain data.
#[derive(Clone, Copy)]
pub struct Format {
    /// As after `--format`.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// A paragraph: which files, which columns, what is forgiven, what is refused.
    pub doc: &'static str,
    /// Does a file look like it?
    pub detects: fn(&Head<'_>) -> bool,
    /// How to read it.
    pub decode: Decode,
}

/// How a format is read: as charges, as samples of GPU activity, as runs of jobs, as prices, or not from a file.
#[derive(Clone, Copy)]
pub enum Decode {
    /// A bill.
    Bill(fn(&mut Input, &mut dyn BillSink) -> Result<(), StoreError>),
    /// GPU metrics.
    Metrics(fn(&mut Input, &MetricsOptions, &mut dyn MetricsSink) -> Result<(), StoreError>),
    /// Runs of jobs.
    Jobs(fn(&mut Input, &MetricsOptions, &mut dyn JobSink) -> Result<(), StoreError>),
    /// A price list.
    Prices(fn(&mut Input, &mut dyn PriceSink) -> Result<(), StoreError>),
    /// GPU metrics that a server is asked for: there is no file.
    Server,
}

/// The beginning of a file, decompressed.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// File name without directories and without `.gz` or `.zst`, in lower case.
    pub name: &'a str,
    /// Its first bytes, at most 64 KiB, without a byte-order mark.
    pub bytes: &'a [u8],
    /// Column names where it is Parquet.
    pub parquet_columns: Option<&'a [String]>,
}

impl Head<'_> {
    /// The first line as text, without its end.
    pub fn first_line(&self) -> &str {
        let line = self.bytes.split(|b| *b == b'\n').next().unwrap_or_default();
        std::str::from_utf8(line).unwrap_or_default().trim_end_matches('\r')
    }
}

/// Takes the rows of a bill as text under FOCUS column names.
pub trait BillSink {
    /// The columns of the rows that follow, in their order. Names that are not FOCUS are kept as `x_`.
    fn columns(&mut self, names: &[String]) -> Result<(), StoreError>;
    /// One row, with its line (text) or number from 1 (Parquet); `None` = null. An error ends the load; a bad row is rejected, not an error.
    fn row(&mut self, number: u64, fields: &[Option<&str>]) -> Result<(), StoreError>;
    /// A row that can't even be split into fields.
    fn reject(&mut self, reject: Reject);
    /// Something that a reader must know; the same text counts once.
    fn warn(&mut self, warning: String);
}

/// What the command line says of metrics whose file does not.
#[derive(Clone, Debug, Default)]
pub struct MetricsOptions {
    /// Host where the file names none.
    pub host: Option<String>,
    /// IANA zone of times without offset.
    pub tz: Option<String>,
    /// Time of a scrape without timestamps.
    pub at: Option<Timestamp>,
}

/// Takes samples of GPU activity, in any order.
pub trait MetricsSink {
    /// One sample of one GPU at one instant.
    fn sample(&mut self, sample: Sample<'_>) -> Result<(), StoreError>;
    /// A line that can't be read.
    fn reject(&mut self, reject: Reject);
    /// Something that a reader must know; the same text counts once.
    fn warn(&mut self, warning: String);
}

/// One GPU (or MIG instance) at one instant, or over an hour. Missing is unknown, never 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// When, or the beginning of the hour.
    pub at: Timestamp,
    /// Seconds that it stands for; none = until the next sample of the same GPU, as far as the policy lets it.
    pub seconds: Option<u32>,
    /// Host.
    pub host: &'a str,
    /// UUID, else index on the host.
    pub gpu: &'a str,
    /// MIG instance id; empty for a whole GPU.
    pub mig_instance: &'a str,
    /// MIG profile such as `1g.5gb`.
    pub mig_profile: &'a str,
    /// Name that the driver reports.
    pub model: &'a str,
    /// Kubernetes namespace of the workload.
    pub namespace: &'a str,
    /// 0 to 1, with the metric it came from.
    pub activity: Option<(f64, ActivityMetric)>,
    /// MiB held.
    pub memory_used_mib: Option<f64>,
    /// MiB in all.
    pub memory_total_mib: Option<f64>,
    /// MiB not held, where that alone was seen: with what another sample of the same instant holds it is the total.
    pub memory_free_mib: Option<f64>,
    /// Watts.
    pub power_w: Option<f64>,
}

/// Takes runs of jobs, in any order.
pub trait JobSink {
    /// One run.
    fn run(&mut self, run: JobRun) -> Result<(), StoreError>;
    /// A row that can't be read.
    fn reject(&mut self, reject: Reject);
    /// Something that a reader must know; the same text counts once.
    fn warn(&mut self, warning: String);
}

/// Takes the lines of a price list.
pub trait PriceSink {
    /// What one instance type costs in one place.
    fn line(&mut self, line: PriceLine);
    /// A row that can't be read.
    fn reject(&mut self, reject: Reject);
    /// Something that a reader must know.
    fn warn(&mut self, warning: String);
}

/// One row of a price list: for an hour of the whole instance. Missing is unknown, never 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriceLine {
    /// Row of the file, from 1.
    pub row: u64,
    /// Region.
    pub region: String,
    /// Zone or zone id; empty = the whole region.
    pub zone: String,
    /// Instance type.
    pub sku: String,
    /// Accelerator, as the list names it.
    pub accelerator: String,
    /// How many; none where the list does not say.
    pub count: Option<f64>,
    /// By the hour.
    pub on_demand: Option<Money>,
    /// Interruptible.
    pub spot: Option<Money>,
}

macro_rules! formats {
    ($($module:ident),* $(,)?) => {
        $(pub mod $module;)*

        /// Every format; the first that detects a file reads it.
        pub const FORMATS: &[Format] = &[$($module::FORMAT),*];
    };
}

formats! { focus, dcgm, nvidia_smi, usage_csv, jobs, sacct, skypilot, prometheus }
