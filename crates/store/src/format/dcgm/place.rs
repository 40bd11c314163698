//! What one GPU or MIG instance said at one instant, gathered line by line.

use std::sync::Arc;

use jiff::Timestamp;
use lowwater_model::usage::ActivityMetric;

use crate::error::StoreError;
use crate::format::{MetricsSink, Sample};
use crate::metrics::{best_activity, mebibytes, share, unknown_sample, watts};

/// The metrics that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metric {
    SmActive,
    GrEngineActive,
    GpuUtil,
    FramebufferUsed,
    FramebufferFree,
    FramebufferReserved,
    PowerUsage,
}

impl Metric {
    pub(super) fn parse(name: &[u8]) -> Option<Self> {
        Some(match name.strip_prefix(b"DCGM_FI_")? {
            b"PROF_SM_ACTIVE" => Self::SmActive,
            b"PROF_GR_ENGINE_ACTIVE" => Self::GrEngineActive,
            b"DEV_GPU_UTIL" => Self::GpuUtil,
            b"DEV_FB_USED" => Self::FramebufferUsed,
            b"DEV_FB_FREE" => Self::FramebufferFree,
            b"DEV_FB_RESERVED" => Self::FramebufferReserved,
            b"DEV_POWER_USAGE" => Self::PowerUsage,
            _ => return None,
        })
    }

    /// The value as a share, as MiB or as watts, or why it can't be one.
    pub(super) fn checked(self, value: f64) -> Result<f64, String> {
        match self {
            Self::SmActive | Self::GrEngineActive => share(value, 1.0),
            Self::GpuUtil => share(value, 100.0),
            Self::PowerUsage => watts(value),
            Self::FramebufferUsed | Self::FramebufferFree | Self::FramebufferReserved => mebibytes(value),
        }
    }
}

/// A GPU or MIG instance.
#[derive(Debug, Default)]
pub(super) struct Place {
    host: String,
    gpu: String,
    mig_instance: String,
    pub mig_profile: String,
    pub model: String,
    pending: Pending,
}

/// Values of one instant.
#[derive(Debug, Default)]
struct Pending {
    /// Epoch milliseconds; none = nothing was read.
    at: Option<i64>,
    /// Known values, by metric.
    values: [Option<f64>; 7],
    namespace: Option<Arc<str>>,
}

impl Place {
    pub(super) fn new([host, gpu, mig_instance]: [String; 3]) -> Self {
        Self {
            host,
            gpu,
            mig_instance,
            ..Self::default()
        }
    }

    /// Takes a value. With the first value of another instant the one before is done.
    ///
    /// A value that comes twice, for two pods on one GPU, counts once: the larger. Of two namespaces the first by name counts.
    pub(super) fn add(
        &mut self,
        metric: Metric,
        at: i64,
        value: Option<f64>,
        namespace: &Arc<str>,
        sink: &mut dyn MetricsSink,
    ) -> Result<(), StoreError> {
        if self.pending.at.is_some_and(|before| before != at) {
            self.emit(sink)?;
        }
        let pending = &mut self.pending;
        pending.at = Some(at);
        let slot = &mut pending.values[metric as usize];
        *slot = slot.zip(value).map(|(a, b)| a.max(b)).or(*slot).or(value);
        let is_better = |known: &Arc<str>| namespace < known;
        if !namespace.is_empty() && pending.namespace.as_ref().is_none_or(is_better) {
            pending.namespace = Some(Arc::clone(namespace));
        }
        Ok(())
    }

    /// Hands over what was gathered.
    pub(super) fn emit(&mut self, sink: &mut dyn MetricsSink) -> Result<(), StoreError> {
        let pending = std::mem::take(&mut self.pending);
        let Some(at) = pending.at.and_then(|ms| Timestamp::from_millisecond(ms).ok()) else {
            return Ok(());
        };
        let value = |metric: Metric| pending.values[metric as usize];
        let used = value(Metric::FramebufferUsed);
        let free = value(Metric::FramebufferFree);
        let reserved = value(Metric::FramebufferReserved).unwrap_or(0.0);
        sink.sample(Sample {
            mig_instance: &self.mig_instance,
            mig_profile: &self.mig_profile,
            model: &self.model,
            namespace: pending.namespace.as_deref().unwrap_or_default(),
            activity: best_activity([
                (value(Metric::SmActive), ActivityMetric::SmActive),
                (value(Metric::GrEngineActive), ActivityMetric::GrEngine),
                (value(Metric::GpuUtil), ActivityMetric::GpuUtil),
            ]),
            memory_used_mib: used,
            memory_total_mib: used.zip(free).map(|(used, free)| used + free + reserved),
            // A dump goes series by series: then what is held comes later, as a sample of its own.
            memory_free_mib: free.filter(|_| used.is_none()),
            power_w: value(Metric::PowerUsage),
            ..unknown_sample(at, &self.host, &self.gpu)
        })
    }
}
