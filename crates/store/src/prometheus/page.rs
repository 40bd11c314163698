//! One page of series as samples of GPUs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::answer::{Found, Series};
use crate::error::StoreError;
use crate::format::MetricsSink;
use crate::format::dcgm::{Point, Points};

/// How series are named.
pub(super) struct Naming<'a> {
    /// Where a series does not say its cluster.
    pub cluster: &'a str,
    /// Where a series does not say its host.
    pub host: Option<&'a str>,
    /// Instants that were asked for, epoch milliseconds; others are not taken.
    pub asked: std::ops::RangeInclusive<i64>,
}

/// Hands over every sample of a page. What is no sample is left out with a warning: the same page twice warns once.
pub(super) fn take(found: &Found, naming: &Naming<'_>, sink: &mut dyn MetricsSink) -> Result<(), StoreError> {
    let mut points = Points::default();
    for series in &found.result {
        let Some(text) = text(series, naming) else {
            sink.warn(format!(
                "a series of {} names no host and is left out; give --host",
                name(series)
            ));
            continue;
        };
        let Some(known) = points.series(&text, sink) else {
            continue;
        };
        for point in &series.values {
            // The cast saturates; what is saturated was not asked for.
            let at = (point.0 * 1000.0).round() as i64;
            match point.1.0 {
                Some(value) if naming.asked.contains(&at) => points.push(
                    Point {
                        series: known,
                        at,
                        value,
                    },
                    sink,
                ),
                Some(_) => sink.warn(format!(
                    "{} has points that were not asked for; they are left out",
                    name(series)
                )),
                None => sink.warn(format!(
                    "{} has values that are no numbers: taken as unknown",
                    name(series)
                )),
            }
        }
    }
    points.finish(sink)
}

fn name(series: &Series) -> &str {
    series.metric.get("__name__").map_or("no name", String::as_str)
}

/// Name and labels as a text exposition has them, with the cluster in the host's name.
fn text(series: &Series, naming: &Naming<'_>) -> Option<String> {
    let host = host(&series.metric).or(naming.host)?;
    let host = qualified(&series.metric, naming.cluster, host);
    let mut text = format!("{}{{Hostname=\"{}\"", name(series), escaped(&host));
    for (key, value) in &series.metric {
        if !["__name__", "Hostname", "hostname"].contains(&key.as_str()) {
            let _ = write!(text, ",{key}=\"{}\"", escaped(value));
        }
    }
    text.push('}');
    Some(text)
}

fn host(labels: &BTreeMap<String, String>) -> Option<&str> {
    let label = |name: &str| labels.get(name).map(String::as_str).filter(|value| !value.is_empty());
    let named = ["Hostname", "hostname", "node", "kubernetes_node"]
        .into_iter()
        .find_map(label);
    // Without its port, which `[::1]:9400` has and `::1` has not.
    let instance = || {
        label("instance").map(|instance| match instance.rsplit_once(':') {
            Some((host, port))
                if port.bytes().all(|b| b.is_ascii_digit()) && (!host.contains(':') || host.ends_with(']')) =>
            {
                host
            }
            _ => instance,
        })
    };
    named.or_else(instance)
}

/// `CLUSTER/HOST`.
pub(super) fn qualified(labels: &BTreeMap<String, String>, cluster: &str, host: &str) -> String {
    let own = labels.get("cluster").filter(|own| !own.is_empty());
    format!("{}/{host}", own.map_or(cluster, String::as_str))
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing::Taken;
    use proptest::prelude::*;

    fn page(series: &str) -> Taken {
        let found: Found = serde_json::from_str(&format!("{{\"result\":[{series}]}}")).unwrap();
        let naming = Naming {
            cluster: "eu",
            host: None,
            asked: 1_760_000_000_000..=1_760_003_600_000,
        };
        let mut taken = Taken::default();
        take(&found, &naming, &mut taken).unwrap();
        taken
    }

    fn series(name: &str, labels: &str, value: &str) -> String {
        format!(
            r#"{{"metric":{{"__name__":"DCGM_FI_{name}","UUID":"GPU-1"{labels}}},"values":[[1760000040,"{value}"]]}}"#
        )
    }

    #[test]
    fn all_metrics_of_an_instant_are_one_sample() {
        let labels = r#","Hostname":"n1","modelName":"A","exported_namespace":"ml""#;
        let all = [
            ("DEV_FB_USED", "5"),
            ("DEV_FB_FREE", "70"),
            ("DEV_FB_RESERVED", "5"),
            ("DEV_POWER_USAGE", "300"),
        ];
        let all = all.map(|(name, value)| series(name, labels, value)).join(",");
        let taken = page(&all);
        let [sample] = taken.samples.as_slice() else {
            panic!("{taken:?}");
        };
        assert_eq!(
            (sample.host.as_str(), sample.model.as_str(), sample.namespace.as_str()),
            ("eu/n1", "A", "ml")
        );
        assert_eq!((sample.memory_total_mib, sample.power_w), (Some(80.0), Some(300.0)));
    }

    #[test]
    fn hosts_and_clusters() {
        let host = |labels: &str| {
            page(&series("DEV_GPU_UTIL", labels, "50"))
                .samples
                .first()
                .map(|s| s.host.clone())
        };
        assert_eq!(host(r#","hostname":"a","node":"b""#).as_deref(), Some("eu/a"));
        assert_eq!(
            host(r#","Hostname":"","node":"b","cluster":"us""#).as_deref(),
            Some("us/b")
        );
        assert_eq!(host(r#","instance":"10.0.0.1:9400""#).as_deref(), Some("eu/10.0.0.1"));
        assert_eq!(host(r#","instance":"[::1]:9400""#).as_deref(), Some("eu/[::1]"));
        assert_eq!(host(r#","instance":"fe80::1""#).as_deref(), Some("eu/fe80::1"));
        assert_eq!(host(""), None);
        let odd = host(r#","Hostname":"a\"\\b\n{}""#);
        assert_eq!(odd.as_deref(), Some("eu/a\"\\b\n{}"));
    }

    #[test]
    fn what_is_no_sample_is_unknown_and_said_once() {
        let labels = r#","Hostname":"n1""#;
        for (value, said) in [
            ("250", "not between 0 and 100"),
            ("-1", "not between 0 and 100"),
            ("x", "no numbers"),
        ] {
            let two = format!("{0},{0}", series("DEV_GPU_UTIL", labels, value));
            let taken = page(&two);
            assert!(taken.samples.iter().all(|s| s.activity.is_none()), "{taken:?}");
            assert!(
                taken.warnings.len() == 1 && taken.warnings[0].contains(said),
                "{taken:?}"
            );
        }
        assert!(
            page(&series("DEV_GPU_UTIL", labels, "NaN"))
                .samples
                .iter()
                .all(|s| s.activity.is_none())
        );
        let far = series("DEV_GPU_UTIL", labels, "1").replace("1760000040", "1e300");
        assert!(page(&far).samples.is_empty());
        assert!(page(&series("DEV_XID_ERRORS", labels, "1")).samples.is_empty());
    }

    proptest! {
        /// A damaged page is samples within what was asked for, or an error.
        #[test]
        fn any_page_is_samples_or_an_error(at in 0..200_usize, byte in any::<u8>(), cut in 0..300_usize) {
            let text = series("DEV_FB_USED", r#","Hostname":"n1","cluster":"us""#, "5");
            let mut bytes = format!("{{\"result\":[{text}]}}").into_bytes();
            let at = at.min(bytes.len() - 1);
            bytes[at] = byte;
            bytes.truncate(cut.max(bytes.len() / 2));
            let Ok(found) = serde_json::from_slice::<Found>(&bytes) else { return Ok(()) };
            let naming = Naming { cluster: "eu", host: None, asked: 1_760_000_000_000..=1_760_003_600_000 };
            let mut taken = Taken::default();
            take(&found, &naming, &mut taken).unwrap();
            prop_assert!(taken.samples.iter().all(|s| naming.asked.contains(&s.at.as_millisecond())));
        }
    }
}
