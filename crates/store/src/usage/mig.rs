//! A GPU that is cut into MIG instances: what its parts say of the whole.

use super::reading::{Activity, Reading, WHOLE};

/// Compute slices of a GPU whose model the table of facts does not know: every MIG GPU but the A30 has seven.
pub const DEFAULT_SLICES: u8 = 7;

/// Compute slices of a MIG profile: `2g.10gb` has two; `1c.3g.40gb` is one of the three of its GPU instance.
pub fn slices(profile: &str) -> Option<u8> {
    profile
        .split('.')
        .find_map(|part| part.strip_suffix('g'))
        .and_then(|count| count.parse().ok())
        .filter(|count| (1..=DEFAULT_SLICES).contains(count))
}

/// Activity of the whole GPU from its MIG instances, weighted by their compute slices; slices that nobody holds are idle.
///
/// Unknown where one instance is unknown: the unknown one could be the busy one.
pub fn gpu_activity(instances: &[(u8, Option<f64>)], total_slices: u8) -> Option<f64> {
    let held: u32 = instances.iter().map(|(slices, _)| u32::from(*slices)).sum();
    if held == 0 {
        return None;
    }
    let busy: f64 = instances
        .iter()
        .map(|(slices, activity)| activity.map(|a| a * f64::from(*slices)))
        .sum::<Option<f64>>()?;
    // More slices held than there are means that the table is wrong about this GPU: believe the instances.
    Some(busy / f64::from(held.max(u32::from(total_slices))))
}

/// What all MIG instances of one instant say of the whole GPU: weighted activity and the sum of memory.
pub(crate) fn whole_gpu(instances: &[(Option<u8>, Reading)], total_slices: u8) -> Reading {
    let sum = |of: fn(&Reading) -> Option<u32>| {
        let parts = instances.iter().map(|(_, r)| of(r).map(u64::from));
        parts.sum::<Option<u64>>().and_then(|sum| u32::try_from(sum).ok())
    };
    Reading {
        activity: whole_activity(instances, total_slices),
        memory_used_mib: sum(|r| r.memory_used_mib),
        memory_total_mib: sum(|r| r.memory_total_mib),
        memory_free_mib: None,
        power_milliwatts: None,
    }
}

fn whole_activity(instances: &[(Option<u8>, Reading)], total_slices: u8) -> Option<Activity> {
    let shares: Option<Vec<_>> = instances
        .iter()
        .map(|(slices, r)| {
            let share = r.activity.map(|a| f64::from(a.millionths) / f64::from(WHOLE));
            slices.map(|slices| (slices, share))
        })
        .collect();
    let share = gpu_activity(&shares?, total_slices)?;
    // The weakest of the metrics speaks for the whole.
    let metric = instances
        .iter()
        .filter_map(|(_, r)| r.activity)
        .map(|a| a.metric)
        .max()?;
    Some(Activity {
        metric,
        millionths: (share * f64::from(WHOLE)).round() as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lowwater_model::usage::ActivityMetric::{GpuUtil, GrEngine};
    use proptest::prelude::*;

    #[test]
    fn profiles() {
        let of = |p: &str| slices(p);
        assert_eq!(
            (of("1g.5gb"), of("2g.10gb"), of("7g.80gb")),
            (Some(1), Some(2), Some(7))
        );
        assert_eq!((of("1g.10gb+me"), of("1c.3g.40gb")), (Some(1), Some(3)));
        assert_eq!((of(""), of("gb"), of("9g.1gb"), of("MIG")), (None, None, None, None));
    }

    #[test]
    fn the_published_case() {
        let instances = [(1, Some(0.9)), (1, Some(0.1)), (2, Some(0.5))];
        let activity = gpu_activity(&instances, 7).unwrap();
        assert!((activity - 2.0 / 7.0).abs() < 1e-12);
        assert_eq!(gpu_activity(&[(1, Some(0.9)), (1, None)], 7), None);
        assert_eq!(gpu_activity(&[], 7), None);
    }

    #[test]
    fn the_whole_sums_memory_and_names_the_weakest_metric() {
        let of = |metric, millionths, used| Reading {
            activity: Some(Activity { metric, millionths }),
            memory_used_mib: used,
            memory_total_mib: Some(9728),
            memory_free_mib: None,
            power_milliwatts: Some(400_000),
        };
        let two = [
            (Some(1), of(GrEngine, WHOLE, Some(100))),
            (Some(3), of(GpuUtil, 0, Some(20))),
        ];
        let whole = whole_gpu(&two, 7);
        assert_eq!(
            whole.activity.map(|a| (a.metric, a.millionths)),
            Some((GpuUtil, 142_857))
        );
        assert_eq!(
            (whole.memory_used_mib, whole.memory_total_mib),
            (Some(120), Some(19_456))
        );
        assert_eq!(
            whole.power_milliwatts, None,
            "power is the GPU's own, never a sum over instances"
        );
        let unknown = [two[0], (Some(3), of(GrEngine, 0, None))];
        assert_eq!(whole_gpu(&unknown, 7).memory_used_mib, None);
        let nameless = [two[0], (None, of(GrEngine, 0, None))];
        assert_eq!(whole_gpu(&nameless, 7).activity, None);
    }

    proptest! {
        /// Never above the busiest instance, and exactly its own activity where it holds the whole GPU.
        #[test]
        fn bounds(parts in prop::collection::vec((1..4_u8, 0.0..=1.0_f64), 1..8)) {
            let instances: Vec<_> = parts.iter().map(|(s, a)| (*s, Some(*a))).collect();
            let busiest = parts.iter().map(|p| p.1).fold(0.0, f64::max);
            let whole = gpu_activity(&instances, 7).unwrap();
            prop_assert!(whole >= 0.0 && whole <= busiest + 1e-12);
            prop_assert!((gpu_activity(&[(7, Some(busiest))], 7).unwrap() - busiest).abs() < 1e-12);
        }
    }
}
