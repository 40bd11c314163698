//! One sample in whole numbers: exact, ordered, small, and the same in whatever order samples come.

use lowwater_model::usage::{ActivityMetric, BINS};

use crate::format::Sample;

/// Activity in millionths, with the metric that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Activity {
    pub metric: ActivityMetric,
    pub millionths: u32,
}

/// What was seen at one instant. None = unknown, never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reading {
    pub activity: Option<Activity>,
    pub memory_used_mib: Option<u32>,
    pub memory_total_mib: Option<u32>,
    pub memory_free_mib: Option<u32>,
    pub power_milliwatts: Option<u32>,
}

/// One whole, in millionths.
pub(crate) const WHOLE: u32 = 1_000_000;

impl Reading {
    /// From a sample. What is no plausible number is unknown.
    pub(crate) fn of(sample: &Sample<'_>) -> Self {
        let activity = sample.activity.and_then(|(share, metric)| {
            let millionths = whole(share * f64::from(WHOLE)).filter(|millionths| *millionths <= WHOLE)?;
            Some(Activity { metric, millionths })
        });
        Self {
            activity,
            memory_used_mib: sample.memory_used_mib.and_then(whole),
            memory_total_mib: sample.memory_total_mib.and_then(whole).filter(|total| *total > 0),
            memory_free_mib: sample.memory_free_mib.and_then(whole),
            power_milliwatts: sample.power_w.and_then(|watts| whole(watts * 1000.0)),
        }
    }

    /// Two readings of the same instant: what one does not know the other may. Where both know, the better metric counts,
    /// then the larger value, so that a GPU never looks idler than one of them says.
    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            activity: join_activity(self.activity, other.activity),
            memory_used_mib: self.memory_used_mib.max(other.memory_used_mib),
            memory_total_mib: self.memory_total_mib.max(other.memory_total_mib),
            memory_free_mib: self.memory_free_mib.max(other.memory_free_mib),
            power_milliwatts: self.power_milliwatts.max(other.power_milliwatts),
        }
    }

    /// All samples of the instant are in: what is held and what is free are the total.
    pub(crate) fn settled(self) -> Self {
        let sum = self
            .memory_used_mib
            .zip(self.memory_free_mib)
            .and_then(|(used, free)| used.checked_add(free));
        Self {
            memory_total_mib: self.memory_total_mib.or(sum.filter(|total| *total > 0)),
            memory_free_mib: None,
            ..self
        }
    }

    /// The bin of memory held, where both numbers are known.
    pub(crate) fn memory_bin(&self) -> Option<usize> {
        let (used, total) = (u64::from(self.memory_used_mib?), u64::from(self.memory_total_mib?));
        Some(bin(used, total))
    }
}

impl Activity {
    /// Its bin.
    pub(crate) fn bin(self) -> usize {
        bin(u64::from(self.millionths), u64::from(WHOLE))
    }
}

/// The twentieth in which `part` of `whole` lies, in whole numbers: no share falls to the wrong side of an edge.
fn bin(part: u64, whole: u64) -> usize {
    usize::try_from(part * BINS as u64 / whole.max(1)).map_or(BINS - 1, |bin| bin.min(BINS - 1))
}

fn join_activity(a: Option<Activity>, b: Option<Activity>) -> Option<Activity> {
    match (a, b) {
        (Some(a), Some(b)) if a.metric == b.metric => Some(a.max(b)),
        (Some(a), Some(b)) => Some(if a.metric < b.metric { a } else { b }),
        (a, b) => a.or(b),
    }
}

/// Rounded to a whole number, where it is one that can be meant.
fn whole(value: f64) -> Option<u32> {
    let rounded = value.round();
    (rounded >= 0.0 && rounded < f64::from(u32::MAX)).then_some(rounded as u32)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use lowwater_model::usage::Histogram;
    use proptest::prelude::*;

    /// Any reading.
    pub(crate) fn readings() -> impl Strategy<Value = Reading> {
        let metric = prop::sample::select(ActivityMetric::ALL);
        let activity = prop::option::of((metric, 0..=WHOLE));
        let mib = || prop::option::of(0..90_000_u32);
        (
            activity,
            mib(),
            mib(),
            prop::option::of(1..90_000_u32),
            prop::option::of(0..1_000_000_u32),
        )
            .prop_map(|(activity, used, free, total, power)| Reading {
                activity: activity.map(|(metric, millionths)| Activity { metric, millionths }),
                memory_used_mib: used,
                memory_total_mib: total,
                memory_free_mib: free,
                power_milliwatts: power,
            })
    }

    proptest! {
        /// The order and the number of times that a reading comes do not matter.
        #[test]
        fn join_is_a_lattice(a in readings(), b in readings(), c in readings()) {
            prop_assert_eq!(a.join(b), b.join(a));
            prop_assert_eq!(a.join(b).join(c), a.join(b.join(c)));
            prop_assert_eq!(a.join(a), a);
            prop_assert_eq!(a.join(Reading::default()), a);
        }

        #[test]
        fn bins_agree_with_the_model(millionths in 0..=WHOLE) {
            let ours = Activity { metric: ActivityMetric::SmActive, millionths }.bin();
            prop_assert_eq!(ours, Histogram::bin(f64::from(millionths) / f64::from(WHOLE)));
        }
    }

    #[test]
    fn the_better_metric_wins_even_if_it_is_lower() {
        let of = |metric, millionths| Reading {
            activity: Some(Activity { metric, millionths }),
            ..Reading::default()
        };
        let joined = of(ActivityMetric::GpuUtil, WHOLE).join(of(ActivityMetric::GrEngine, 200_000));
        assert_eq!(joined, of(ActivityMetric::GrEngine, 200_000));
        assert_eq!(
            of(ActivityMetric::SmActive, 10).join(of(ActivityMetric::GrEngine, 200_000)),
            of(ActivityMetric::SmActive, 10)
        );
    }

    #[test]
    fn edges_and_nonsense() {
        for twentieth in 0..=20_u32 {
            let at = Activity {
                metric: ActivityMetric::GpuUtil,
                millionths: twentieth * 50_000,
            };
            assert_eq!(at.bin(), (twentieth as usize).min(19));
        }
        assert_eq!((whole(-1.0), whole(f64::NAN), whole(f64::INFINITY)), (None, None, None));
        assert_eq!((whole(0.4), whole(409.692 * 1000.0)), (Some(0), Some(409_692)));
        let full = Reading {
            memory_used_mib: Some(81_559),
            memory_total_mib: Some(81_559),
            ..Reading::default()
        };
        assert_eq!(full.memory_bin(), Some(19));
        let unknown = Reading {
            memory_used_mib: Some(5),
            ..Reading::default()
        };
        assert_eq!(unknown.memory_bin(), None);
        let free = Reading {
            memory_free_mib: Some(15),
            ..unknown
        };
        assert_eq!(free.settled().memory_total_mib, Some(20));
        assert_eq!(free.settled().memory_bin(), Some(5));
        assert_eq!((full.settled(), unknown.settled()), (full, unknown));
    }
}
