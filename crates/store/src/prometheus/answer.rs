//! What the API answers, as far as it is read.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer};

use super::client::{Client, Failure};

/// Every answer: the data, and what it is worth.
#[derive(Debug, Deserialize)]
struct Envelope<T> {
    status: String,
    data: Option<T>,
    #[serde(default)]
    warnings: Vec<String>,
}

/// What a query gives.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Found {
    pub result: Vec<Series>,
}

/// A series with its points over time, or its labels alone where one instant was asked for.
#[derive(Debug, Deserialize)]
pub(super) struct Series {
    pub metric: BTreeMap<String, String>,
    #[serde(default)]
    pub values: Vec<Point>,
}

/// Epoch seconds and a value.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Point(pub f64, pub Number);

/// A number in quotes; none where it is no number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number(pub Option<f64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Quoted;
        impl Visitor<'_> for Quoted {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number in quotes")
            }
            fn visit_str<E>(self, text: &str) -> Result<Number, E> {
                Ok(Number(text.parse().ok()))
            }
        }
        deserializer.deserialize_str(Quoted)
    }
}

/// Of `/api/v1/status/runtimeinfo`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Runtime {
    #[serde(default)]
    pub storage_retention: String,
}

/// Of `/api/v1/status/config`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Configured {
    #[serde(default)]
    pub yaml: String,
}

/// The data of an answer, and what the server warns of, such as a store that did not answer.
pub(super) fn read<T: DeserializeOwned>(client: &Client, body: &[u8]) -> Result<(T, Vec<String>), Failure> {
    let envelope: Envelope<T> = serde_json::from_slice(body).map_err(|e| {
        if e.is_eof() && body.first().is_none_or(|first| *first == b'{') {
            let error = client.error("broke off in the middle of its answer");
            return Failure::Passing(
                error
                    .hint("try again; is there a proxy between that cuts long answers?")
                    .into(),
            );
        }
        let error = client.error(format!("answers with something else than Prometheus does: {e}"));
        Failure::Final(error.hint("is there a login page or a proxy in front of it?").into())
    })?;
    match envelope.data {
        Some(data) if envelope.status == "success" => {
            Ok((data, envelope.warnings.iter().map(|w| client.shown(w)).collect()))
        }
        _ => {
            let error = client.error(format!(
                "answers with status `{}` and no data",
                client.shown(&envelope.status)
            ));
            Err(Failure::Final(error.hint("look into the server's log").into()))
        }
    }
}

/// The external label `cluster` of a configuration as Prometheus writes it: two spaces for each level.
pub(super) fn cluster_label(yaml: &str) -> Option<String> {
    let mut lines = yaml
        .lines()
        .skip_while(|line| line.trim_end() != "  external_labels:")
        .skip(1);
    let mut labels = lines.by_ref().take_while(|line| line.starts_with("    "));
    let value = labels.find_map(|line| line.trim().strip_prefix("cluster:"))?;
    let value = value.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

/// Seconds of a retention such as `15d` or `1w2d or 10GiB`; none where only the size is bounded.
pub(super) fn retention_seconds(text: &str) -> Option<i64> {
    let first = text.split(" or ").next()?.trim();
    let (mut total, mut number, mut unit) = (0_i64, String::new(), String::new());
    let mut flush = |number: &mut String, unit: &mut String| -> Option<()> {
        let seconds = match unit.as_str() {
            "y" => 365 * 86_400,
            "w" => 7 * 86_400,
            "d" => 86_400,
            "h" => 3600,
            "m" => 60,
            "s" => 1,
            "ms" => 0,
            _ => return None,
        };
        total = total.checked_add(number.parse::<i64>().ok()?.checked_mul(seconds)?)?;
        number.clear();
        unit.clear();
        Some(())
    };
    for c in first.chars() {
        if c.is_ascii_digit() && !unit.is_empty() {
            flush(&mut number, &mut unit)?;
        }
        if c.is_ascii_digit() {
            number.push(c);
        } else {
            unit.push(c);
        }
    }
    flush(&mut number, &mut unit)?;
    (total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retentions() {
        let cases = [
            ("15d", Some(15 * 86_400)),
            ("1w2d or 10GiB", Some(9 * 86_400)),
            ("1h30m", Some(5400)),
            ("10GiB", None),
            ("", None),
            ("0s", None),
            ("99999999999999999999y", None),
            ("9999999999999999y", None),
        ];
        for (text, want) in cases {
            assert_eq!(retention_seconds(text), want, "{text}");
        }
    }

    #[test]
    fn the_cluster_is_an_external_label_and_no_other() {
        let yaml = "global:\n  scrape_interval: 1m\n  external_labels:\n    cluster: eu-1\n    replica: a\nscrape_configs:\n- job_name: x\n  static_configs:\n  - labels:\n      cluster: other\n";
        assert_eq!(cluster_label(yaml).as_deref(), Some("eu-1"));
        assert_eq!(cluster_label(&yaml.replace("    cluster: eu-1\n", "")), None);
        assert_eq!(cluster_label(&yaml.replace("eu-1", "\"7\"")).as_deref(), Some("7"));
        assert_eq!(cluster_label("global:\n  scrape_interval: 1m\n"), None);
    }

    #[test]
    fn numbers_in_quotes() {
        let points: Vec<Point> = serde_json::from_str(r#"[[1.5,"2"],[2,"NaN"],[3,"+Inf"],[4,"x"]]"#).unwrap();
        assert_eq!((points[0].0, points[0].1), (1.5, Number(Some(2.0))));
        assert!(points[1].1.0.is_some_and(f64::is_nan) && points[2].1.0 == Some(f64::INFINITY));
        assert_eq!(points[3].1, Number(None));
        assert!(serde_json::from_str::<Point>("[1,2]").is_err());
    }
}
