//! What the formats of GPU metrics share: times, plausible numbers, rejects.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use lowwater_model::period::has_impossible_offset;
use lowwater_model::usage::ActivityMetric;

use crate::error::{InputError, StoreError};
use crate::format::{MetricsOptions, Sample};
use crate::load::Reject;

/// The years in which GPU metrics can have been taken; a time outside is a wrong unit or a broken clock.
const FIRST_SECOND: i64 = 946_684_800;
const LAST_SECOND: i64 = 4_102_444_800;

/// First of the sixteen blanks of DCGM's fields of 32 bits (2^31 - 16), of floating point (2^47) and of 64 bits (2^63 - 16):
/// they say why there is no value.
const FIRST_BLANKS: [f64; 3] = [2_147_483_632.0, 140_737_488_355_328.0, 9_223_372_036_854_775_792.0];

/// No GPU draws more.
const MAX_WATTS: f64 = 10_000.0;

/// No GPU has more memory: 16 TiB.
const MAX_MEBIBYTES: f64 = 16_777_216.0;

/// A sample of which nothing is known.
pub(crate) fn unknown_sample<'a>(at: Timestamp, host: &'a str, gpu: &'a str) -> Sample<'a> {
    Sample {
        at,
        seconds: None,
        host,
        gpu,
        mig_instance: "",
        mig_profile: "",
        model: "",
        namespace: "",
        activity: None,
        memory_used_mib: None,
        memory_total_mib: None,
        memory_free_mib: None,
        power_w: None,
    }
}

/// A rejected line.
pub(crate) fn reject(file: &str, row: u64, column: &str, value: &[u8], reason: impl Into<String>) -> Reject {
    let cut = &value[..value.len().min(800)];
    Reject {
        file: file.to_owned(),
        row,
        column: column.to_owned(),
        value: String::from_utf8_lossy(cut).chars().take(200).collect(),
        reason: reason.into(),
        at_stake: None,
        of_bill: false,
    }
}

/// A number as exporters write it; none = they say that they do not know it (not a number, a blank of DCGM).
pub(crate) fn known(value: f64) -> Option<f64> {
    let is_blank = FIRST_BLANKS
        .iter()
        .any(|first| (*first..=*first + 15.0).contains(&value));
    (!value.is_nan() && !is_blank).then_some(value)
}

/// A share between 0 and 1 from a number on a scale of its own, such as 100; the error says what is wrong.
pub(crate) fn share(value: f64, scale: f64) -> Result<f64, String> {
    within(value, scale, "").map(|value| value / scale)
}

/// Power of one GPU.
pub(crate) fn watts(value: f64) -> Result<f64, String> {
    within(value, MAX_WATTS, " W")
}

/// Memory of one GPU.
pub(crate) fn mebibytes(value: f64) -> Result<f64, String> {
    within(value, MAX_MEBIBYTES, " MiB")
}

fn within(value: f64, most: f64, unit: &str) -> Result<f64, String> {
    if (0.0..=most).contains(&value) {
        Ok(value)
    } else {
        Err(format!("is not between 0 and {most}{unit}"))
    }
}

/// Values of a row that can't be, by column: each counts as unknown, the rest of the row is taken.
#[derive(Debug, Default)]
pub(crate) struct Odd(Vec<(usize, String)>);

impl Odd {
    /// The value of a column, unless it can't be.
    pub(crate) fn take(&mut self, column: usize, checked: Result<f64, String>) -> Option<f64> {
        checked.map_err(|why| self.0.push((column, why))).ok()
    }

    /// Memory held, unless it is more than there is.
    pub(crate) fn held(&mut self, column: usize, used: Option<f64>, total: Option<f64>) -> Option<f64> {
        let most = total.unwrap_or(f64::INFINITY);
        let checked = used.map(|used| {
            if used <= most {
                Ok(used)
            } else {
                Err(format!("is more than the total of {most} MiB"))
            }
        });
        checked.and_then(|checked| self.take(column, checked))
    }

    /// Tells of each, and forgets them.
    pub(crate) fn tell(&mut self, mut reject: impl FnMut(usize, String)) {
        for (column, why) in self.0.drain(..) {
            reject(column, format!("{why}; the value counts as unknown"));
        }
    }
}

/// Best first: the one that is known.
pub(crate) fn best_activity(candidates: [(Option<f64>, ActivityMetric); 3]) -> Option<(f64, ActivityMetric)> {
    let known = candidates
        .into_iter()
        .filter_map(|(share, metric)| Some((share?, metric)));
    known.min_by_key(|(_, metric)| *metric)
}

/// An instant in which a GPU metric can have been taken.
pub(crate) fn plausible(at: Timestamp) -> Result<Timestamp, String> {
    if (FIRST_SECOND..LAST_SECOND).contains(&at.as_second()) {
        Ok(at)
    } else {
        Err(format!("{at} is not a time in which GPUs were measured"))
    }
}

/// Reads times: with an offset as they are, without one in the zone that the user gave.
pub(crate) struct Clock {
    zone: Option<TimeZone>,
    last: Timestamp,
    /// Some time came twice that night, or never: the clocks changed.
    pub(crate) was_ambiguous: bool,
}

/// Why a time can't be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClockError {
    /// It is no time at all.
    Unreadable(String),
    /// It has no offset and no zone was given.
    NoZone,
}

impl Clock {
    pub(crate) fn new(options: &MetricsOptions, file: &str) -> Result<Self, StoreError> {
        let mut zone = None;
        if let Some(name) = &options.tz {
            let Ok(known) = TimeZone::get(name) else {
                return Err(InputError::new(file, format!("`{name}` is not an IANA time zone"))
                    .hint("write it like `--tz Europe/Berlin`")
                    .into());
            };
            zone = Some(known);
        }
        Ok(Self {
            zone,
            last: Timestamp::MIN,
            was_ambiguous: false,
        })
    }

    /// An instant from text.
    pub(crate) fn read(&mut self, text: &str) -> Result<Timestamp, ClockError> {
        let unreadable = |why: String| ClockError::Unreadable(why);
        if has_impossible_offset(text) {
            return Err(unreadable("has an offset of more than 14 hours from UTC".into()));
        }
        let at = if let Ok(at) = text.parse::<Timestamp>() {
            at
        } else {
            let local = local_time(text).ok_or_else(|| unreadable("is not a time".into()))?;
            self.resolve(local)?
        };
        let at = plausible(at).map_err(unreadable)?;
        self.last = at;
        Ok(at)
    }

    /// An instant from text that has nothing to do with the one before: an hour that comes twice is its first coming.
    pub(crate) fn read_alone(&mut self, text: &str) -> Result<Timestamp, ClockError> {
        self.last = Timestamp::MIN;
        self.read(text)
    }

    fn resolve(&mut self, local: DateTime) -> Result<Timestamp, ClockError> {
        let zone = self.zone.as_ref().ok_or(ClockError::NoZone)?;
        let ambiguous = zone.to_ambiguous_timestamp(local);
        let offset = ambiguous.offset();
        let far = |e: jiff::Error| ClockError::Unreadable(e.to_string());
        if matches!(offset, AmbiguousOffset::Unambiguous { .. }) {
            return ambiguous.compatible().map_err(far);
        }
        self.was_ambiguous = true;
        if matches!(offset, AmbiguousOffset::Gap { .. }) {
            return ambiguous.compatible().map_err(far);
        }
        // A log runs forward: a time that would go back is the second coming of that hour.
        let earlier = ambiguous.earlier().map_err(far)?;
        if earlier >= self.last {
            return Ok(earlier);
        }
        zone.to_ambiguous_timestamp(local).later().map_err(far)
    }
}

/// `2026-07-14 09:00:44.579`, with `T`, and with slashes as nvidia-smi writes it.
fn local_time(text: &str) -> Option<DateTime> {
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    let slashed = text.as_bytes().get(4) == Some(&b'/');
    slashed.then(|| text.replace('/', "-").parse().ok()).flatten()
}

/// For a time without offset where no zone was given.
pub(crate) fn zone_is_missing(file: &str, row: u64, value: &str) -> StoreError {
    let mut error = InputError::new(file, "the time has no offset, so its zone must be given")
        .row(row)
        .hint("say in which zone the clock ran: --tz Europe/Berlin, or --tz UTC");
    error.value = Some(value.to_owned());
    error.into()
}

/// For a file that names no host.
pub(crate) fn host_is_missing(file: &str, row: u64) -> StoreError {
    InputError::new(file, "the file does not say which host it is from")
        .row(row)
        .hint("give it: --host NAME, as the bill or hosts.csv calls the machine")
        .into()
}

/// For a file whose samples have no time.
pub(crate) fn time_is_missing(file: &str, row: u64) -> StoreError {
    InputError::new(file, "the sample has no time")
        .row(row)
        .hint("say when it was taken: --at 2026-10-31T14:05:00Z")
        .into()
}

/// For tests of formats: what a file gives.
#[cfg(test)]
pub(crate) mod testing {
    use std::path::Path;

    use super::*;
    use crate::format::{Decode, Format, MetricsSink};
    use crate::input::Input;

    /// A sample with its own texts.
    #[derive(Clone, Debug, PartialEq)]
    pub(crate) struct OwnSample {
        pub at: Timestamp,
        pub seconds: Option<u32>,
        pub host: String,
        pub gpu: String,
        pub mig_instance: String,
        pub mig_profile: String,
        pub model: String,
        pub namespace: String,
        pub activity: Option<(f64, ActivityMetric)>,
        pub memory_used_mib: Option<f64>,
        pub memory_total_mib: Option<f64>,
        pub power_w: Option<f64>,
    }

    /// All that a format hands over.
    #[derive(Debug, Default, PartialEq)]
    pub(crate) struct Taken {
        pub samples: Vec<OwnSample>,
        pub rejects: Vec<Reject>,
        pub warnings: Vec<String>,
    }

    impl MetricsSink for Taken {
        fn sample(&mut self, s: Sample<'_>) -> Result<(), StoreError> {
            self.samples.push(OwnSample {
                at: s.at,
                seconds: s.seconds,
                host: s.host.to_owned(),
                gpu: s.gpu.to_owned(),
                mig_instance: s.mig_instance.to_owned(),
                mig_profile: s.mig_profile.to_owned(),
                model: s.model.to_owned(),
                namespace: s.namespace.to_owned(),
                activity: s.activity,
                memory_used_mib: s.memory_used_mib,
                memory_total_mib: s.memory_total_mib,
                power_w: s.power_w,
            });
            Ok(())
        }

        fn reject(&mut self, reject: Reject) {
            self.rejects.push(reject);
        }

        fn warn(&mut self, warning: String) {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    /// Everything that a format reads from a file, or the text of its error.
    pub(crate) fn take(format: &Format, path: &Path, options: &MetricsOptions) -> Result<Taken, String> {
        let Decode::Metrics(decode) = format.decode else {
            panic!("{} is no format of metrics", format.name);
        };
        let mut taken = Taken::default();
        let mut input = Input::open(path).map_err(|e| e.to_string())?;
        decode(&mut input, options, &mut taken).map_err(|e| e.to_string())?;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clock(tz: Option<&str>) -> Clock {
        let options = MetricsOptions {
            tz: tz.map(ToOwned::to_owned),
            ..MetricsOptions::default()
        };
        Clock::new(&options, "f").unwrap_or_else(|e| panic!("{e}"))
    }

    fn read(clock: &mut Clock, text: &str) -> String {
        clock.read(text).map_or_else(|e| format!("{e:?}"), |at| at.to_string())
    }

    #[test]
    fn times_with_and_without_offset() {
        let mut berlin = clock(Some("Europe/Berlin"));
        assert_eq!(read(&mut berlin, "2026/07/14 09:00:44.579"), "2026-07-14T07:00:44.579Z");
        assert_eq!(read(&mut berlin, "2026-07-14T09:00:44"), "2026-07-14T07:00:44Z");
        assert_eq!(read(&mut berlin, "2026-07-14T09:00:44Z"), "2026-07-14T09:00:44Z");
        assert_eq!(read(&mut berlin, "2026-07-14T09:00:00+05:30"), "2026-07-14T03:30:00Z");
        for wrong in ["2026-07-14T09:00:00+24:00", "2026-07-14 09:00:00-15:00"] {
            assert!(read(&mut berlin, wrong).contains("more than 14 hours"), "{wrong}");
        }
        assert!(!berlin.was_ambiguous);
        assert_eq!(clock(None).read("2026/07/14 09:00:44"), Err(ClockError::NoZone));
        for text in [
            "",
            "yesterday",
            "2026/07/14",
            "14/07/2026 09:00",
            "1970-01-01T00:00:00Z",
            "[N/A]",
        ] {
            let got = clock(Some("UTC")).read(text);
            // A day alone is midnight, which is a time.
            assert_eq!(got.is_err(), text != "2026/07/14", "{text}: {got:?}");
        }
    }

    #[test]
    fn an_hour_that_comes_twice_runs_forward() {
        let mut clock = clock(Some("Europe/Berlin"));
        let times = ["02:30:00", "02:59:59", "02:00:00", "02:59:00", "03:00:00"];
        let got: Vec<String> = times
            .iter()
            .map(|t| read(&mut clock, &format!("2026/10/25 {t}")))
            .collect();
        assert_eq!(
            got,
            [
                "2026-10-25T00:30:00Z",
                "2026-10-25T00:59:59Z",
                "2026-10-25T01:00:00Z",
                "2026-10-25T01:59:00Z",
                "2026-10-25T02:00:00Z"
            ]
        );
        assert!(clock.was_ambiguous);
    }

    #[test]
    fn an_hour_that_never_was_is_noted() {
        let mut clock = clock(Some("Europe/Berlin"));
        assert_eq!(read(&mut clock, "2026/03/29 02:30:00"), "2026-03-29T01:30:00Z");
        assert!(clock.was_ambiguous);
    }

    #[test]
    fn an_unknown_zone_is_an_error() {
        let options = MetricsOptions {
            tz: Some("Mars/Base".into()),
            ..MetricsOptions::default()
        };
        let error = Clock::new(&options, "a.csv").err().map(|e| e.to_string());
        assert!(error.is_some_and(|e| e.contains("a.csv") && e.contains("Mars/Base") && e.contains("hint:")));
    }

    #[test]
    fn blanks_are_unknown() {
        for blank in [
            2_147_483_632.0,
            2_147_483_647.0,
            9_223_372_036_854_775_794.0,
            140_737_488_355_328.0,
            f64::NAN,
        ] {
            assert_eq!(known(blank), None, "{blank}");
        }
        for value in [0.0, 81_559.0, 2_147_483_648.0, 1e308, f64::INFINITY] {
            assert_eq!(known(value), Some(value), "is a value, be it an absurd one");
        }
    }

    #[test]
    fn what_cannot_be_is_told_and_never_cut_to_what_can() {
        assert_eq!((share(99.0, 100.0), share(1.0, 1.0)), (Ok(0.99), Ok(1.0)));
        assert_eq!((watts(700.0), mebibytes(294_912.0)), (Ok(700.0), Ok(294_912.0)));
        for value in [-1.0, -1e-9, 1e308, f64::INFINITY, f64::NAN] {
            assert!(
                share(value, 1.0).is_err() && watts(value).is_err() && mebibytes(value).is_err(),
                "{value}"
            );
        }
        assert_eq!(share(101.0, 100.0), Err("is not between 0 and 100".into()));
        assert_eq!(watts(10_001.0), Err("is not between 0 and 10000 W".into()));
        let mut odd = Odd::default();
        assert_eq!(odd.held(5, Some(3.0), Some(3.0)), Some(3.0));
        assert_eq!(
            (odd.held(5, Some(3.0), None), odd.held(5, None, Some(3.0))),
            (Some(3.0), None)
        );
        assert_eq!(odd.held(5, Some(4.0), Some(3.0)), None);
        let mut told = Vec::new();
        odd.tell(|column, why| told.push((column, why)));
        assert_eq!(
            told,
            [(
                5,
                "is more than the total of 3 MiB; the value counts as unknown".to_owned()
            )]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_a_time_or_an_error(text in ".{0,40}") {
            let _ = clock(Some("Europe/Berlin")).read(&text);
        }

        /// A log that runs forward in true time is read back exactly, across both changes of the clocks.
        #[test]
        fn logs_run_forward(start in 1_790_000_000..1_795_000_000_i64, steps in prop::collection::vec(1..1800_i64, 1..40)) {
            let zone = TimeZone::get("Europe/Berlin").unwrap();
            let mut clock = clock(Some("Europe/Berlin"));
            let mut second = start;
            for step in steps {
                second += step;
                let at = Timestamp::from_second(second).unwrap();
                let text = zone.to_datetime(at).strftime("%Y/%m/%d %H:%M:%S").to_string();
                let got = clock.read(&text).unwrap();
                // A log that starts inside the doubled hour can't be told from one an hour earlier.
                let began_inside = got != at && got.as_second() == second - 3600;
                prop_assert!(got == at || began_inside, "{} {}", got, at);
                if began_inside { return Ok(()); }
            }
        }
    }
}
