use std::path::Path;

use lowwater_model::usage::ActivityMetric::{GpuUtil, GrEngine, SmActive};
use proptest::prelude::*;

use super::*;
use crate::metrics::testing::{Taken, take};
use crate::shared;

fn at(text: &str) -> MetricsOptions {
    MetricsOptions {
        at: Some(text.parse().unwrap()),
        ..MetricsOptions::default()
    }
}

fn decode_text(text: &[u8], options: &MetricsOptions) -> Result<Taken, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("scrape.prom");
    std::fs::write(&path, text).unwrap();
    take(&FORMAT, &path, options)
}

fn decode_file(path: &Path) -> Taken {
    take(&FORMAT, path, &at("2026-07-14T09:00:00Z")).unwrap()
}

#[test]
fn time_slicing_counts_a_gpu_once() {
    let Some(path) = shared::file("billing/regressions/r08_dcgm_time_slicing.prom") else {
        return;
    };
    let taken = decode_file(&path);
    let [sample] = &taken.samples[..] else {
        panic!("{taken:?}");
    };
    assert_eq!(sample.activity, Some((0.99, GpuUtil)));
    assert_eq!((&*sample.host, &*sample.gpu, &*sample.namespace), ("n1", "GPU-a", "default"));
    assert_eq!((&*sample.model, &*sample.mig_instance), ("Tesla T4", ""));
    assert!(taken.rejects.is_empty());
}

#[test]
fn power_is_the_gpus_own_and_activity_the_instances() {
    let Some(path) = shared::file("billing/regressions/r09_dcgm_mig_power.prom") else {
        return;
    };
    let taken = decode_file(&path);
    let of = |instance: &str| taken.samples.iter().find(|s| s.mig_instance == instance).unwrap();
    assert_eq!(taken.samples.len(), 4);
    assert_eq!((of("").power_w, of("").activity), (Some(400.0), None));
    let parts = ["7", "8", "3"].map(|i| (crate::usage::slices(&of(i).mig_profile).unwrap(), of(i).activity.map(|a| a.0)));
    assert!(parts.iter().all(|(_, a)| a.is_some()));
    assert!((crate::usage::gpu_activity(&parts, 7).unwrap() - 2.0 / 7.0).abs() < 1e-12);
    assert!(["7", "8", "3"].iter().all(|i| of(i).power_w.is_none()));
}

#[test]
fn the_real_scrape_of_a_gpu_with_an_instance() {
    let Some(path) = shared::file("billing/gpu-metrics/dcgm_a100_mig_scrape.prom") else {
        return;
    };
    let taken = decode_file(&path);
    assert!(taken.rejects.is_empty(), "{:?}", taken.rejects);
    let whole = taken.samples.iter().find(|s| s.mig_instance.is_empty()).unwrap();
    assert_eq!(whole.activity, Some((0.995_63, GrEngine)));
    assert_eq!(whole.power_w, Some(409.692));
    // No FB_RESERVED in this scrape: the total is used and free.
    assert_eq!((whole.memory_used_mib, whole.memory_total_mib), (Some(4845.0), Some(40_535.0)));
    assert_eq!(whole.host, "ub20-a100-k8s");
    let part = taken.samples.iter().find(|s| s.mig_instance == "13").unwrap();
    assert_eq!(part.mig_profile, "1g.5gb");
    assert!(part.power_w.is_none());
}

#[test]
fn detects_scrapes_and_nothing_else() {
    let detected = |name: &str, bytes: &[u8]| {
        (FORMAT.detects)(&Head {
            name,
            bytes,
            parquet_columns: None,
        })
    };
    assert!(detected("x", b"# HELP DCGM_FI_DEV_GPU_UTIL x\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 1\n"));
    assert!(detected("x", b"{__name__=\"DCGM_FI_DEV_GPU_UTIL\", gpu=\"0\"} 1 1700000000000\n"));
    // The exporter's own list of counters is no scrape.
    assert!(!detected("counters.csv", b"DCGM_FI_DEV_SM_CLOCK,  gauge, SM clock frequency (in MHz).\n"));
    assert!(!detected("bill.csv", b"BilledCost,ChargePeriodStart\n1,DCGM_FI_DEV_GPU_UTIL{}\n"));
}

const TWO_SCRAPES: &str = r#"# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",uuid="GPU-a",hostname="n1",exported_namespace="search",namespace="monitoring"} 40 1785567600000
DCGM_FI_DEV_GPU_UTIL{gpu="1",uuid="GPU-b",hostname="n1"} 0 1785567600000
DCGM_FI_PROF_SM_ACTIVE{gpu="0",uuid="GPU-a",hostname="n1"} 0.25 1785567600000
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",uuid="GPU-a",hostname="n1"} 0.3 1785567600000
DCGM_FI_DEV_FB_USED{gpu="0",uuid="GPU-a",hostname="n1"} 1000 1785567600000
DCGM_FI_DEV_FB_FREE{gpu="0",uuid="GPU-a",hostname="n1"} 7000 1785567600000
DCGM_FI_DEV_FB_RESERVED{gpu="0",uuid="GPU-a",hostname="n1"} 192 1785567600000
DCGM_FI_DEV_XID_ERRORS{gpu="0",uuid="GPU-a",hostname="n1"} not-even-a-number 1785567600000
DCGM_FI_DEV_GPU_UTIL{gpu="0",uuid="GPU-a",hostname="n1"} 50 1785567900.000
DCGM_FI_PROF_SM_ACTIVE{gpu="0",uuid="GPU-a",hostname="n1"} 9223372036854775794 1785567900000
# EOF
"#;

#[test]
fn joins_metric_by_metric_and_keeps_the_best() {
    let taken = decode_text(TWO_SCRAPES.as_bytes(), &MetricsOptions::default()).unwrap();
    assert!(taken.rejects.is_empty(), "{:?}", taken.rejects);
    let seen: Vec<_> = taken.samples.iter().map(|s| (s.at.as_second(), &*s.gpu, s.activity)).collect();
    assert_eq!(
        seen,
        [
            (1_785_567_600, "GPU-a", Some((0.25, SmActive))),
            (1_785_567_900, "GPU-a", Some((0.5, GpuUtil))),
            (1_785_567_600, "GPU-b", Some((0.0, GpuUtil))),
        ]
    );
    assert_eq!((taken.samples[0].memory_total_mib, &*taken.samples[0].namespace), (Some(8192.0), "search"));
    assert_eq!(taken.samples[2].memory_used_mib, None);
}

#[test]
fn lines_that_cannot_be_read_are_rejected_with_their_row() {
    let text = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"n\"} 1\n\
         DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"n\" 1\n\
         DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",Hostname=\"n\"} lots\n\
         DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",Hostname=\"n\"} -4\n\
         DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"0\",Hostname=\"n\"} 47\n\
         DCGM_FI_DEV_FB_USED{gpu=\"0\",Hostname=\"n\"} 5 12 13\n\
         DCGM_FI_DEV_FB_USED{gpu=\"0\",Hostname=\"n\"} 5 12\n\
         DCGM_FI_DEV_FB_USED{Hostname=\"n\"} 5\n\
         <html>502 Bad Gateway</html>\n";
    let long = format!("{text}{}\n", "x".repeat(70_000));
    let taken = decode_text(long.as_bytes(), &at("2026-07-14T09:00:00Z")).unwrap();
    let rows: Vec<_> = taken.rejects.iter().map(|r| (r.row, &*r.column)).collect();
    assert_eq!(
        rows,
        [(2, ""), (3, "value"), (4, "value"), (5, "value"), (6, ""), (7, "timestamp"), (8, ""), (9, ""), (10, "")]
    );
    assert!(taken.rejects.iter().all(|r| r.file.ends_with("scrape.prom") && r.value.len() <= 200));
    assert_eq!(taken.samples.len(), 1);
}

#[test]
fn absurd_numbers_are_unknown_and_told() {
    let text = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"n\"} 101\n\
         DCGM_FI_PROF_SM_ACTIVE{gpu=\"0\",Hostname=\"n\"} 1e308\n\
         DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",Hostname=\"n\"} 10000.5\n\
         DCGM_FI_DEV_FB_USED{gpu=\"0\",Hostname=\"n\"} +Inf\n\
         DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu=\"0\",Hostname=\"n\"} 1.02\n\
         DCGM_FI_DEV_FB_FREE{gpu=\"0\",Hostname=\"n\"} 9223372036854775794\n";
    let taken = decode_text(text.as_bytes(), &at("2026-07-14T09:00:00Z")).unwrap();
    let told: Vec<_> = taken.rejects.iter().map(|r| (r.row, r.value.trim())).collect();
    assert_eq!(told, [(1, "101"), (2, "1e308"), (3, "10000.5"), (4, "+Inf"), (5, "1.02")], "a blank is no fault");
    assert!(taken.samples.iter().all(|s| s.activity.is_none() && s.power_w.is_none() && s.memory_used_mib.is_none()));
}

#[test]
fn what_the_file_does_not_say_is_asked_for() {
    let line = b"DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 1\n";
    let error = decode_text(line, &at("2026-07-14T09:00:00Z")).unwrap_err();
    assert!(error.contains("scrape.prom:1") && error.contains("--host"), "{error}");
    let host = MetricsOptions {
        host: Some("n7".into()),
        ..MetricsOptions::default()
    };
    let error = decode_text(line, &host).unwrap_err();
    assert!(error.contains("hint: ") && error.contains("--at"), "{error}");
    let both = MetricsOptions {
        host: host.host,
        ..at("2026-07-14T09:00:00Z")
    };
    assert_eq!(decode_text(line, &both).unwrap().samples[0].host, "n7");
    let twice = [&line[..], line].concat();
    let error = decode_text(&twice, &both).unwrap_err();
    assert!(error.contains(":2") && error.contains("several scrapes"), "{error}");
}

#[test]
fn more_series_than_are_kept_lose_nothing() {
    let mut text = String::new();
    for pod in 0..60_000 {
        let stamp = 1_785_567_600_000_i64 + pod * 1000;
        text.push_str(&format!("DCGM_FI_DEV_GPU_UTIL{{gpu=\"0\",Hostname=\"n\",pod=\"p{pod}\"}} 1 {stamp}\n"));
    }
    assert_eq!(decode_text(text.as_bytes(), &MetricsOptions::default()).unwrap().samples.len(), 60_000);
}

proptest! {
    #[test]
    fn any_bytes_are_samples_rejects_or_an_error(bytes in prop::collection::vec(1..=255_u8, 1..300)) {
        let _ = decode_text(&bytes, &at("2026-07-14T09:00:00Z"));
    }

    /// A scrape with some bytes changed never fails in a way that we did not foresee.
    #[test]
    fn damaged_scrapes(places in prop::collection::vec((0..TWO_SCRAPES.len(), 1..=255_u8), 0..12)) {
        let mut bytes = TWO_SCRAPES.as_bytes().to_vec();
        for (place, byte) in places {
            bytes[place] = byte;
        }
        let _ = decode_text(&bytes, &MetricsOptions::default());
    }

    /// The order of lines within a scrape does not matter.
    #[test]
    fn order_within_a_scrape(order in Just((0..7_usize).collect::<Vec<_>>()).prop_shuffle()) {
        let lines: Vec<&str> = TWO_SCRAPES.lines().skip(1).take(7).collect();
        let shuffled: String = order.iter().map(|i| format!("{}\n", lines[*i])).collect();
        let mut got = decode_text(shuffled.as_bytes(), &MetricsOptions::default()).unwrap().samples;
        got.sort_by(|a, b| a.gpu.cmp(&b.gpu));
        let straight = decode_text(lines.join("\n").as_bytes(), &MetricsOptions::default()).unwrap().samples;
        prop_assert_eq!(got, straight);
    }
}
