//! The series of a file: labels are read once, then known by their bytes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::place::{Metric, Place};
use crate::error::StoreError;
use crate::format::MetricsSink;

/// Series that are kept; each pod that comes and goes makes new ones.
const MAX_SERIES: usize = 50_000;

/// What is known of a name with labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Not a metric that is read.
    Other,
    /// It names no host, and none was given.
    NoHost,
    /// Its number.
    Series(usize),
}

#[derive(Debug)]
struct Series {
    metric: Metric,
    place: usize,
    namespace: Arc<str>,
    came_without_time: bool,
}

/// Every series so far, and the GPUs that they speak of.
#[derive(Debug, Default)]
pub(super) struct SeriesCache {
    known: HashMap<Box<[u8]>, Found>,
    series: Vec<Series>,
    places: Vec<Place>,
    place_of: HashMap<[String; 3], usize>,
}

impl SeriesCache {
    /// What the name with its labels is; the error says why it is nothing.
    pub(super) fn find(&mut self, bytes: &[u8], host: Option<&str>) -> Result<Found, String> {
        if let Some(found) = self.known.get(bytes) {
            return Ok(*found);
        }
        let found = self.learn(bytes, host)?;
        self.known.insert(bytes.into(), found);
        Ok(found)
    }

    fn learn(&mut self, bytes: &[u8], host: Option<&str>) -> Result<Found, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8")?;
        let labels = Labels::parse(text)?;
        let name = metric_name(labels.name.as_bytes()).ok_or("is not a line of a text exposition")?;
        let Some(metric) = Metric::parse(name) else {
            return Ok(Found::Other);
        };
        let Some(host) = labels.host.as_deref().or(host) else {
            return Ok(Found::NoHost);
        };
        let gpu = labels.uuid.as_deref().or(labels.index.as_deref()).ok_or("names no GPU: no UUID, no gpu label")?;
        // Power is the whole GPU's; exporters repeat it on each of its instances.
        let is_whole = metric == Metric::PowerUsage;
        let own = |label: Option<&str>| label.filter(|_| !is_whole).unwrap_or_default().to_owned();
        let key = [host.to_owned(), gpu.to_owned(), own(labels.mig_instance.as_deref())];
        let place = self.place(key, own(labels.mig_profile.as_deref()), labels.model.as_deref());
        let namespace = labels.exported_namespace.as_deref().or(labels.namespace.as_deref()).unwrap_or_default();
        self.series.push(Series {
            metric,
            place,
            namespace: Arc::from(namespace),
            came_without_time: false,
        });
        Ok(Found::Series(self.series.len() - 1))
    }

    fn place(&mut self, key: [String; 3], profile: String, model: Option<&str>) -> usize {
        let next = self.places.len();
        let index = *self.place_of.entry(key.clone()).or_insert(next);
        if index == next {
            self.places.push(Place::new(key));
        }
        let place = &mut self.places[index];
        if !profile.is_empty() {
            place.mig_profile = profile;
        }
        if let Some(model) = model {
            model.clone_into(&mut place.model);
        }
        index
    }

    pub(super) fn metric(&self, series: usize) -> Metric {
        self.series[series].metric
    }

    /// Notes a line without timestamp; is it the first one of its series?
    pub(super) fn is_first_untimed(&mut self, series: usize) -> bool {
        !std::mem::replace(&mut self.series[series].came_without_time, true)
    }

    /// Takes a value of a series.
    pub(super) fn add(
        &mut self,
        series: usize,
        at: i64,
        value: Option<f64>,
        sink: &mut dyn MetricsSink,
    ) -> Result<(), StoreError> {
        let Series { metric, place, namespace, .. } = &self.series[series];
        self.places[*place].add(*metric, at, value, namespace, sink)
    }

    pub(super) fn is_full(&self) -> bool {
        self.known.len() >= MAX_SERIES
    }

    /// Hands over everything that waits, and forgets everything.
    pub(super) fn drain(&mut self, sink: &mut dyn MetricsSink) -> Result<(), StoreError> {
        let mut all = std::mem::take(self);
        all.places.iter_mut().try_for_each(|place| place.emit(sink))
    }
}

/// The name before the labels; none where it is no name.
pub(super) fn metric_name(series: &[u8]) -> Option<&[u8]> {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b == b':';
    let length = series.iter().take_while(|b| is_part(b)).count();
    let is_name = length > 0 && !series[0].is_ascii_digit() && matches!(series.get(length), None | Some(b'{' | b' ' | b'\t'));
    is_name.then(|| &series[..length])
}

/// The labels that matter. An empty one says nothing.
#[derive(Debug, Default)]
struct Labels<'a> {
    name: Cow<'a, str>,
    host: Option<Cow<'a, str>>,
    uuid: Option<Cow<'a, str>>,
    index: Option<Cow<'a, str>>,
    mig_instance: Option<Cow<'a, str>>,
    mig_profile: Option<Cow<'a, str>>,
    model: Option<Cow<'a, str>>,
    namespace: Option<Cow<'a, str>>,
    exported_namespace: Option<Cow<'a, str>>,
}

impl<'a> Labels<'a> {
    fn parse(text: &'a str) -> Result<Self, &'static str> {
        let (name, labels) = text.split_once('{').unwrap_or((text, "}"));
        let mut all = Self {
            name: Cow::Borrowed(name.trim_end()),
            ..Self::default()
        };
        let mut rest = labels.trim_start();
        while rest != "}" {
            let (key, after) = rest.split_once('=').ok_or("has a label without `=`")?;
            let (value, after) = quoted(after.trim_start()).ok_or("has a label whose value is not in quotes")?;
            all.take(key.trim(), value);
            let after = after.trim_start();
            rest = match after.strip_prefix(',') {
                Some(more) => more.trim_start(),
                None if after == "}" => after,
                None => return Err("has no comma between two labels"),
            };
        }
        Ok(all)
    }

    fn take(&mut self, key: &str, value: Cow<'a, str>) {
        let slot = match key {
            "__name__" => {
                self.name = value;
                return;
            }
            "Hostname" | "hostname" => &mut self.host,
            "UUID" | "uuid" => &mut self.uuid,
            "gpu" => &mut self.index,
            "GPU_I_ID" => &mut self.mig_instance,
            "GPU_I_PROFILE" => &mut self.mig_profile,
            "modelName" => &mut self.model,
            "namespace" | "pod_namespace" => &mut self.namespace,
            "exported_namespace" => &mut self.exported_namespace,
            _ => return,
        };
        if !value.is_empty() {
            *slot = Some(value);
        }
    }
}

/// A quoted value with its escapes undone, and what follows it.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let inner = text.strip_prefix('"')?;
    let end = inner.find(['"', '\\'])?;
    if inner.as_bytes()[end] == b'"' {
        return Some((Cow::Borrowed(&inner[..end]), &inner[end + 1..]));
    }
    let mut value = inner[..end].to_owned();
    let mut chars = inner[end..].char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((Cow::Owned(value), &inner[end + at + 1..])),
            '\\' => value.push(match chars.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            _ => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_spaces_and_dumps() {
        let text = r#"DCGM_FI_DEV_GPU_UTIL{ gpu = "0", uuid="GPU-\"a\"\\", Hostname="n{1}\n",modelName="" ,}"#;
        let labels = Labels::parse(text).unwrap();
        assert_eq!(labels.name, "DCGM_FI_DEV_GPU_UTIL");
        assert_eq!(labels.uuid.as_deref(), Some("GPU-\"a\"\\"));
        assert_eq!(labels.host.as_deref(), Some("n{1}\n"));
        assert_eq!((labels.index.as_deref(), labels.model), (Some("0"), None));
        let dump = Labels::parse(r#"{__name__="DCGM_FI_DEV_FB_USED", gpu="3"}"#).unwrap();
        assert_eq!((&*dump.name, dump.index.as_deref()), ("DCGM_FI_DEV_FB_USED", Some("3")));
        assert_eq!(Labels::parse("DCGM_FI_DEV_FB_USED").unwrap().name, "DCGM_FI_DEV_FB_USED");
    }

    #[test]
    fn what_is_no_label_set() {
        for text in [
            "x{",
            "x{a}",
            "x{a=b}",
            r#"x{a="b""#,
            r#"x{a="b"c="d"}"#,
            r#"x{a="b\"}"#,
            r#"x{a="b"}}"#,
        ] {
            assert!(Labels::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names() {
        assert_eq!(metric_name(b"DCGM_FI_DEV_FB_USED{"), Some(&b"DCGM_FI_DEV_FB_USED"[..]));
        assert_eq!(metric_name(b"up 1"), Some(&b"up"[..]));
        for bad in [&b"{a"[..], b"", b"9a", b"a-b{", b"a,"] {
            assert_eq!(metric_name(bad), None);
        }
    }

    proptest! {
        #[test]
        fn any_value_survives_its_escapes(value in ".{0,30}", other in "[a-z]{0,5}") {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let text = format!(r#"x{{Hostname="{escaped}",gpu="{other}"}}"#);
            let labels = Labels::parse(&text).unwrap();
            prop_assert_eq!(labels.host.as_deref().unwrap_or_default(), value.as_str());
            prop_assert_eq!(labels.index.as_deref().unwrap_or_default(), other.as_str());
        }

        #[test]
        fn any_text_is_labels_or_an_error(text in "[a{}=\",\\\\ ]{0,40}") {
            let _ = Labels::parse(&text);
        }
    }
}
