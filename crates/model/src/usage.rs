//! What GPUs did in an hour: mergeable histograms, so that quantiles over any window are right to a bin.

use serde::{Deserialize, Serialize};

use crate::period::Hour;

/// Bins of a histogram of a share between 0 and 1; each is 5 points wide, the last one holds 1.
pub const BINS: usize = 20;

/// Seconds spent in each twentieth of a share between 0 and 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Histogram(pub [u32; BINS]);

impl Histogram {
    /// The bin of a share; values outside 0..1 go to the end bins.
    pub fn bin(share: f64) -> usize {
        ((share * BINS as f64) as usize).min(BINS - 1)
    }

    /// Adds `seconds` at `share`.
    pub fn add(&mut self, share: f64, seconds: u32) {
        self.0[Self::bin(share)] += seconds;
    }

    /// Adds another one.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine += theirs;
        }
    }

    /// Seconds in all bins.
    pub fn seconds(&self) -> u64 {
        self.0.iter().map(|s| u64::from(*s)).sum()
    }

    /// The bin that holds the `q`-quantile of time (0 to 1); none where nothing was observed.
    pub fn quantile(&self, q: f64) -> Option<usize> {
        let total = self.seconds();
        // The smallest bin at which the cumulated time reaches q of the whole, at least one second of it.
        let need = ((q * total as f64).ceil() as u64).clamp(1, total.max(1));
        let mut sum = 0;
        self.0.iter().position(|s| {
            sum += u64::from(*s);
            sum >= need
        })
    }

    /// The highest bin with time in it.
    pub fn max(&self) -> Option<usize> {
        self.0.iter().rposition(|s| *s > 0)
    }
}

/// Which metric the activity came from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ActivityMetric {
    /// Share of cycles in which an SM had a warp: the honest one.
    #[serde(rename = "SM_ACTIVE")]
    SmActive,
    /// Share of time in which the graphics or compute engine was busy; works per MIG instance.
    #[serde(rename = "GR_ENGINE")]
    GrEngine,
    /// Share of samples in which some kernel ran, even on one SM: the weakest.
    #[serde(rename = "GPU_UTIL")]
    GpuUtil,
}

impl ActivityMetric {
    /// Best first.
    pub const ALL: &'static [Self] = &[Self::SmActive, Self::GrEngine, Self::GpuUtil];

    /// As files write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SmActive => "SM_ACTIVE",
            Self::GrEngine => "GR_ENGINE",
            Self::GpuUtil => "GPU_UTIL",
        }
    }

    /// Reads it.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|m| m.as_str() == text)
    }
}

/// One hour of one billed resource, over all its GPUs. Made by one SQL view, so that reports and levers agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HourUsage {
    /// GPUs of the resource that were observed in this hour.
    pub gpus: u16,
    /// Minutes observed, of the GPU that was observed least.
    pub observed_minutes: u8,
    /// All GPUs of the resource were observed for the policy's minutes, and none left the lowest activity bin.
    pub idle: bool,
    /// Highest activity bin that any GPU reached.
    pub activity_max_bin: u8,
    /// Mean activity of the GPUs in thousandths.
    pub activity_permille: u16,
    /// Highest bin of memory held on any GPU; none where it was not measured.
    pub memory_max_bin: Option<u8>,
    /// Highest power draw of any GPU in watts; none where it was not measured.
    pub power_max_w: Option<u16>,
}

impl HourUsage {
    /// Was any GPU seen to work? An hour that is neither idle nor active was not observed well enough to say.
    pub const fn is_active(&self) -> bool {
        self.activity_max_bin > 0
    }
}

/// Usage of one resource: consecutive hours, with gaps where nothing was observed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Hour of the first element.
    pub start: Option<Hour>,
    /// One element an hour; none = unknown, which is not idle.
    pub hours: Vec<Option<HourUsage>>,
}

impl Usage {
    /// Adds an hour; hours must come in order.
    pub fn push(&mut self, hour: Hour, usage: HourUsage) {
        let start = *self.start.get_or_insert(hour);
        let index = usize::try_from(hour.0 - start.0).unwrap_or(0);
        if index >= self.hours.len() {
            self.hours.resize(index, None);
            self.hours.push(Some(usage));
        }
    }

    /// That hour, where observed.
    pub fn at(&self, hour: Hour) -> Option<&HourUsage> {
        let index = usize::try_from(hour.0 - self.start?.0).ok()?;
        self.hours.get(index)?.as_ref()
    }

    /// Observed hours in order.
    pub fn iter(&self) -> impl Iterator<Item = (Hour, &HourUsage)> {
        let start = self.start.map_or(0, |h| h.0);
        self.hours
            .iter()
            .enumerate()
            .filter_map(move |(i, u)| u.as_ref().map(|u| (Hour(start + i as i64), u)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ends_and_quantiles() {
        assert_eq!(Histogram::bin(0.0), 0);
        assert_eq!(Histogram::bin(0.05), 1);
        assert_eq!(Histogram::bin(1.0), 19);
        assert_eq!(Histogram::bin(1.7), 19);
        assert_eq!(Histogram::bin(-0.1), 0);
        assert_eq!(Histogram::default().quantile(0.5), None);
        let mut h = Histogram::default();
        h.add(0.0, 95);
        h.add(0.99, 5);
        assert_eq!(
            (h.quantile(0.5), h.quantile(0.95), h.quantile(0.96), h.max()),
            (Some(0), Some(0), Some(19), Some(19))
        );
    }

    #[test]
    fn a_gap_stays_unknown() {
        let hour = HourUsage {
            gpus: 1,
            observed_minutes: 60,
            idle: true,
            activity_max_bin: 0,
            activity_permille: 0,
            memory_max_bin: None,
            power_max_w: None,
        };
        let mut usage = Usage::default();
        usage.push(Hour(10), hour);
        usage.push(Hour(12), hour);
        assert!(usage.at(Hour(10)).is_some() && usage.at(Hour(11)).is_none() && usage.at(Hour(12)).is_some());
        assert!(usage.at(Hour(9)).is_none() && usage.at(Hour(13)).is_none());
        assert_eq!(usage.iter().map(|(h, _)| h.0).collect::<Vec<_>>(), [10, 12]);
    }

    proptest! {
        /// Merged histograms give the quantile of all samples together, right to a bin.
        #[test]
        fn quantiles_match_sorted_samples(a in prop::collection::vec(0.0..1.0_f64, 1..40), b in prop::collection::vec(0.0..1.0_f64, 1..40), q in 0.01..1.0_f64) {
            let fill = |values: &[f64]| { let mut h = Histogram::default(); for v in values { h.add(*v, 1); } h };
            let mut merged = fill(&a);
            merged.merge(&fill(&b));
            let mut all: Vec<f64> = a.iter().chain(&b).copied().collect();
            all.sort_by(f64::total_cmp);
            let rank = ((q * all.len() as f64).ceil() as usize).max(1);
            prop_assert_eq!(merged.quantile(q), Some(Histogram::bin(all[rank - 1])));
            prop_assert_eq!(merged.max(), Some(Histogram::bin(all[all.len() - 1])));
        }
    }
}
