use lowwater_model::usage::{ActivityMetric, BINS, Histogram};
use proptest::prelude::*;

use super::*;
use crate::format::Sample;
use crate::usage::reading::Activity;
use crate::usage::sort::Sorter;
use crate::usage::tests::sample;

/// Policy default of `usage.max_gap_minutes`, in seconds.
const MAX_GAP: i64 = 600;

/// All rows of samples that may come in any order.
fn rows(samples: &[Sample<'_>]) -> Vec<HourRow> {
    let directory = tempfile::tempdir().unwrap();
    let mut sorter = Sorter::new(directory.path());
    for sample in samples {
        sorter.push(sample).unwrap();
    }
    let (names, mut sorted) = sorter.finish();
    let mut out = Vec::new();
    let mut gpu: Option<GpuHours<'_>> = None;
    while let Some(point) = sorted.next().unwrap() {
        if gpu.as_ref().is_some_and(|g| g.gpu != point.gpu) {
            out.extend(gpu.take().unwrap().finish());
        }
        gpu.get_or_insert_with(|| GpuHours::new(&names, point.gpu, MAX_GAP))
            .push(point);
    }
    out.extend(gpu.into_iter().flat_map(GpuHours::finish));
    out
}

fn active(second: i64, share: f64) -> Sample<'static> {
    Sample {
        activity: Some((share, ActivityMetric::GrEngine)),
        ..sample("h", "GPU-a", second)
    }
}

fn instance<'a>(id: &'a str, profile: &'a str, share: f64) -> Sample<'a> {
    Sample {
        mig_instance: id,
        mig_profile: profile,
        model: "NVIDIA A100-SXM4-40GB",
        ..active(0, share)
    }
}

#[test]
fn a_sample_stands_until_the_next_and_the_last_for_the_median() {
    // 300 s apart twice, then a gap of an hour: the sample before it stands for ten minutes only.
    let rows = rows(&[active(0, 0.5), active(300, 0.0), active(600, 0.0), active(4200, 1.0)]);
    let of = |r: &HourRow| {
        (
            r.key.hour,
            r.activity.seconds(),
            r.idle_seconds(),
            r.longest_idle_seconds,
        )
    };
    assert_eq!(
        rows.iter().map(of).collect::<Vec<_>>(),
        [(0, 1200, 900, 900), (1, 300, 0, 0)]
    );
    assert_eq!(rows[0].activity_micro_seconds, 150_000_000);
    assert_eq!(
        (rows[0].first, rows[0].last, rows[0].minutes),
        (0, 600, 1 | 1 << 5 | 1 << 10)
    );
}

#[test]
fn a_lone_sample_stands_for_a_minute_and_an_hour_ends_on_the_hour() {
    let lone = rows(&[active(3590, 0.2)]);
    let of = |r: &HourRow| (r.key.hour, r.activity.seconds(), r.first);
    assert_eq!(lone.iter().map(of).collect::<Vec<_>>(), [(0, 10, 3590), (1, 50, 3600)]);
}

#[test]
fn an_idle_run_ends_where_nothing_is_known() {
    let mut unknown = active(120, 0.0);
    unknown.activity = None;
    let row = &rows(&[
        active(0, 0.0),
        active(60, 0.01),
        unknown,
        active(180, 0.0),
        active(240, 0.9),
    ])[0];
    assert_eq!((row.idle_seconds(), row.longest_idle_seconds), (180, 120));
    assert_eq!(row.activity.seconds(), 240, "the unknown minute is in no bin");
    assert_eq!(row.memory_used_max_mib, None);
}

#[test]
fn an_hourly_sample_stands_for_its_hour() {
    let hourly = |hour: i64, share| Sample {
        seconds: Some(3600),
        ..active(hour * 3600, share)
    };
    let whole = rows(&[hourly(5, 0.3), hourly(2, 0.0), hourly(2, 0.0)]);
    let of = |r: &HourRow| (r.key.hour, r.activity.seconds(), r.idle_seconds());
    assert_eq!(
        whole.iter().map(of).collect::<Vec<_>>(),
        [(2, 3600, 3600), (5, 3600, 0)]
    );
    assert_eq!(
        (whole[0].minutes.count_ones(), whole[0].first, whole[0].last),
        (60, 7200, 10_799)
    );
    // A zone with a half hour: the hour lies in two UTC hours.
    let half = Sample {
        seconds: Some(3600),
        ..active(1800, 0.5)
    };
    assert_eq!(
        rows(&[half]).iter().map(|r| r.activity.seconds()).collect::<Vec<_>>(),
        [1800, 1800]
    );
}

#[test]
fn instances_speak_for_the_gpu_and_power_is_the_gpus_own() {
    let power = Sample {
        power_w: Some(400.0),
        model: "NVIDIA A100-SXM4-40GB",
        ..sample("h", "GPU-a", 0)
    };
    let all = [
        instance("7", "1g.5gb", 0.9),
        instance("8", "1g.5gb", 0.1),
        instance("3", "2g.10gb", 0.5),
        power,
    ];
    let found = rows(&all);
    assert_eq!(
        found.iter().map(|r| &*r.key.mig_instance).collect::<Vec<_>>(),
        ["", "3", "7", "8"]
    );
    assert_eq!(found[0].activity_micro_seconds, 285_714 * 60);
    assert_eq!(found[0].power_max_milliwatts, Some(400_000));
    assert!(found[1..].iter().all(|r| r.power_max_milliwatts.is_none()));
    assert_eq!((&*found[0].mig_profile, &*found[1].mig_profile), ("", "2g.10gb"));
    // Without a line of its own the GPU still has a row.
    assert_eq!(rows(&all[..3])[0].activity_micro_seconds, 285_714 * 60);
}

#[test]
fn what_the_gpu_says_itself_counts_before_its_instances() {
    let whole = Sample {
        memory_used_mib: Some(4845.0),
        ..active(0, 0.99563)
    };
    let mut part = instance("13", "1g.5gb", 0.2);
    (part.memory_used_mib, part.memory_total_mib) = (Some(2486.0), Some(4864.0));
    let rows = rows(&[part, whole]);
    assert_eq!(rows[0].activity_micro_seconds, 995_630 * 60);
    assert_eq!(
        (rows[0].memory_used_max_mib, rows[0].memory_total_mib),
        (Some(2486), Some(4864))
    );
}

#[test]
fn labels_are_those_of_most_of_the_hour() {
    let under = |second, namespace| Sample {
        namespace,
        ..active(second, 0.5)
    };
    let rows = rows(&[
        under(0, "a"),
        under(60, "b"),
        under(180, "a"),
        under(200, "b"),
        under(300, "c"),
    ]);
    assert_eq!(&*rows[0].namespace, "b");
}

/// Seconds of each bin of activity by hour, counted second by second.
fn by_brute_force(samples: &[(i64, Option<u32>)]) -> BTreeMap<i64, (Histogram, u64)> {
    // The last sample of a second is its state.
    let last: BTreeMap<i64, Option<u32>> = samples
        .iter()
        .map(|(ms, share)| (ms.div_euclid(1000), *share))
        .collect();
    let seconds: Vec<i64> = last.keys().copied().collect();
    let mut apart: Vec<i64> = seconds.windows(2).map(|w| (w[1] - w[0]).min(MAX_GAP)).collect();
    apart.sort_unstable();
    let typical = apart.get(apart.len().saturating_sub(1) / 2).copied().unwrap_or(60);
    let mut hours: BTreeMap<i64, (Histogram, u64)> = BTreeMap::new();
    let end = seconds.last().map_or(0, |s| s + typical);
    for second in seconds.first().copied().unwrap_or(0)..end {
        let (at, share) = last.range(..=second).next_back().unwrap();
        if let (true, Some(share)) = (second < at + MAX_GAP, share) {
            let hour = hours.entry(second / 3600).or_default();
            hour.0.0[((share * BINS as u32 / 1_000_000) as usize).min(BINS - 1)] += 1;
            hour.1 += u64::from(*share);
        }
    }
    hours
}

fn samples() -> impl Strategy<Value = Vec<(i64, Option<u32>)>> {
    let gap = prop_oneof![
        1..2000_i64,
        20_000..70_000_i64,
        250_000..350_000_i64,
        500_000..4_000_000_i64
    ];
    let step = (
        gap,
        prop::option::of(prop_oneof![Just(0), 0..60_000_u32, 0..=1_000_000_u32]),
    );
    prop::collection::vec(step, 1..40).prop_map(|steps| {
        let mut at = 3_000_000;
        steps
            .into_iter()
            .map(|(gap, share)| {
                at += gap;
                (at, share)
            })
            .collect()
    })
}

fn sample_at(ms: i64, share: Option<u32>) -> Sample<'static> {
    Sample {
        at: jiff::Timestamp::from_millisecond(ms).unwrap(),
        activity: share.map(|s| (f64::from(s) / 1e6, ActivityMetric::SmActive)),
        ..sample("h", "0", 0)
    }
}

proptest! {
    /// Every second is in the bin of the sample that stands at it.
    #[test]
    fn hours_match_brute_force(samples in samples()) {
        let got: BTreeMap<i64, (Histogram, u64)> = rows(&samples.iter().map(|(ms, s)| sample_at(*ms, *s)).collect::<Vec<_>>())
            .into_iter()
            .filter(|r| r.activity.seconds() > 0)
            .map(|r| (r.key.hour, (r.activity, r.activity_micro_seconds)))
            .collect();
        prop_assert_eq!(got, by_brute_force(&samples));
    }

    /// The order of samples and their number do not matter.
    #[test]
    fn order_and_doubles_do_not_matter(samples in samples(), seed in any::<u64>()) {
        let straight: Vec<_> = samples.iter().map(|(ms, s)| sample_at(*ms, *s)).collect();
        let mut shuffled: Vec<_> = straight.iter().chain(&straight).copied().collect();
        shuffled.sort_by_key(|s| (s.at.as_millisecond() as u64).wrapping_mul(seed | 1).rotate_left(17));
        prop_assert_eq!(rows(&straight), rows(&shuffled));
    }

    /// The longest idle run is the longest stretch of idle seconds without a break.
    #[test]
    fn longest_idle_run(steps in prop::collection::vec((1..400_i64, prop::option::of(any::<bool>())), 1..30)) {
        let mut at = 0;
        let mut seconds: Vec<(i64, Option<bool>)> = Vec::new();
        for (gap, idle) in steps {
            seconds.push((at, idle));
            at += gap;
        }
        let all: Vec<_> = seconds.iter().map(|(s, idle)| sample_at(s * 1000, idle.map(|i| if i { 0 } else { 700_000 }))).collect();
        for row in rows(&all) {
            let state = |s: i64| seconds.iter().rev().find(|(at, _)| *at <= s).filter(|(at, _)| s < at + MAX_GAP).and_then(|x| x.1);
            let last = seconds.last().unwrap().0;
            let (mut best, mut run) = (0, 0);
            // The last sample's length is the median, which the other property checks: look at what lies before it.
            for s in row.key.hour * 3600..last.min((row.key.hour + 1) * 3600) {
                run = if state(s) == Some(true) { run + 1 } else { 0 };
                best = best.max(run);
            }
            prop_assert!(row.longest_idle_seconds >= best);
            prop_assert!(row.longest_idle_seconds <= row.idle_seconds());
            if last >= (row.key.hour + 1) * 3600 {
                prop_assert_eq!(row.longest_idle_seconds, best);
            }
        }
    }

    /// Quantiles over any window are those of its sorted seconds, right to a bin.
    #[test]
    fn quantiles_over_a_window(samples in samples(), q in 0.01..1.0_f64) {
        let rows = rows(&samples.iter().map(|(ms, s)| sample_at(*ms, *s)).collect::<Vec<_>>());
        let mut merged = Histogram::default();
        for row in &rows {
            merged.merge(&row.activity);
        }
        let mut sorted: Vec<usize> = by_brute_force(&samples)
            .values()
            .flat_map(|(h, _)| h.0.iter().enumerate().flat_map(|(bin, n)| std::iter::repeat_n(bin, *n as usize)).collect::<Vec<_>>())
            .collect();
        sorted.sort_unstable();
        let rank = ((q * sorted.len() as f64).ceil() as usize).max(1);
        prop_assert_eq!(merged.quantile(q), sorted.get(rank - 1).copied());
        prop_assert_eq!(merged.max(), sorted.last().copied());
    }
}

#[test]
fn the_better_metric_of_two_at_one_instant_counts() {
    let weak = Sample {
        activity: Some((0.99, ActivityMetric::GpuUtil)),
        ..sample("h", "GPU-a", 0)
    };
    let row = rows(&[weak, active(0, 0.25)]).remove(0);
    assert_eq!(row.activity_metric, Some(ActivityMetric::GrEngine));
    let activity = Activity {
        metric: ActivityMetric::GrEngine,
        millionths: 250_000,
    };
    assert_eq!(row.activity.0[activity.bin()], 60);
}
