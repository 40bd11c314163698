//! One hour of one GPU or MIG instance, as it is stored.

use std::sync::Arc;

use lowwater_model::period::HOUR_SECONDS;
use lowwater_model::usage::{ActivityMetric, Histogram};

/// What a row is about; rows are stored in this order within a month.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub host: Arc<str>,
    pub gpu: Arc<str>,
    /// Empty for the whole GPU.
    pub mig_instance: Arc<str>,
    /// Hours since the epoch.
    pub hour: i64,
}

/// A row of the table `usage`. Empty text, no seconds or none = unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HourRow {
    pub key: Key,
    pub mig_profile: Arc<str>,
    pub gpu_model: Arc<str>,
    pub namespace: Arc<str>,
    /// The weakest metric in the hour.
    pub activity_metric: Option<ActivityMetric>,
    pub activity: Histogram,
    pub activity_micro_seconds: u64,
    pub longest_idle_seconds: u32,
    pub memory: Histogram,
    pub memory_total_mib: Option<u32>,
    pub memory_used_max_mib: Option<u32>,
    pub power_milliwatt_seconds: u64,
    pub power_seconds: u32,
    pub power_max_milliwatts: Option<u32>,
    /// First and last sample, epoch seconds.
    pub first: i64,
    pub last: i64,
    /// Bit m = a sample lies in minute m.
    pub minutes: u64,
}

impl HourRow {
    /// An hour of which nothing is known.
    pub(crate) fn unknown(key: Key) -> Self {
        let empty: Arc<str> = Arc::from("");
        Self {
            key,
            mig_profile: Arc::clone(&empty),
            gpu_model: Arc::clone(&empty),
            namespace: empty,
            activity_metric: None,
            activity: Histogram::default(),
            activity_micro_seconds: 0,
            longest_idle_seconds: 0,
            memory: Histogram::default(),
            memory_total_mib: None,
            memory_used_max_mib: None,
            power_milliwatt_seconds: 0,
            power_seconds: 0,
            power_max_milliwatts: None,
            first: i64::MAX,
            last: i64::MIN,
            minutes: 0,
        }
    }

    /// Seconds in the lowest bin of activity.
    pub(crate) fn idle_seconds(&self) -> u32 {
        self.activity.0[0]
    }

    /// Notes samples from one second of the hour to another, both included.
    pub(crate) fn mark(&mut self, first: i64, last: i64) {
        self.first = self.first.min(first);
        self.last = self.last.max(last);
        let minute = |second: i64| (second - self.key.hour * HOUR_SECONDS).div_euclid(60).clamp(0, 59);
        let up_to_last = u64::MAX >> (63 - minute(last));
        self.minutes |= up_to_last & (u64::MAX << minute(first));
    }

    fn observed_seconds(&self) -> u64 {
        self.activity.seconds() + self.memory.seconds() + u64::from(self.power_seconds)
    }

    /// Do the two rows come from different stretches of the hour?
    fn is_disjoint(&self, other: &Self) -> bool {
        self.minutes & other.minutes == 0 || self.last < other.first || other.last < self.first
    }

    /// The same hour from another load: different stretches add up; of the same stretch the row that saw more counts, else the newer.
    pub(crate) fn merge(self, newer: Self) -> Self {
        if self.is_disjoint(&newer) {
            self.add(&newer)
        } else if newer.observed_seconds() >= self.observed_seconds() {
            newer
        } else {
            self
        }
    }

    fn add(mut self, other: &Self) -> Self {
        for (mine, theirs) in [
            (&mut self.mig_profile, &other.mig_profile),
            (&mut self.gpu_model, &other.gpu_model),
            (&mut self.namespace, &other.namespace),
        ] {
            // The first by name, so that the order of loads does not matter.
            if mine.is_empty() || (!theirs.is_empty() && theirs < mine) {
                *mine = Arc::clone(theirs);
            }
        }
        self.activity_metric = self.activity_metric.max(other.activity_metric);
        self.activity.merge(&other.activity);
        self.activity_micro_seconds += other.activity_micro_seconds;
        self.longest_idle_seconds = self.longest_idle_seconds.max(other.longest_idle_seconds);
        self.memory.merge(&other.memory);
        self.memory_total_mib = self.memory_total_mib.max(other.memory_total_mib);
        self.memory_used_max_mib = self.memory_used_max_mib.max(other.memory_used_max_mib);
        self.power_milliwatt_seconds += other.power_milliwatt_seconds;
        self.power_seconds += other.power_seconds;
        self.power_max_milliwatts = self.power_max_milliwatts.max(other.power_max_milliwatts);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.minutes |= other.minutes;
        self
    }
}

/// The UTC month of an hour since the epoch, `2026-10`.
pub(crate) fn month_of(hour: i64) -> String {
    let at = lowwater_model::period::Hour(hour).period().start;
    at.strftime("%Y-%m").to_string()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn row(first: i64, last: i64, seconds: u32) -> HourRow {
        let key = Key {
            host: "h".into(),
            gpu: "0".into(),
            mig_instance: "".into(),
            hour: 0,
        };
        let mut row = HourRow::unknown(key);
        row.mark(first, first);
        row.mark(last, last);
        row.activity.add(0.5, seconds);
        row.activity_metric = Some(ActivityMetric::GrEngine);
        row
    }

    #[test]
    fn months_are_utc() {
        assert_eq!(month_of(0), "1970-01");
        let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_second() / HOUR_SECONDS;
        assert_eq!(month_of(at("2026-10-31T23:00:00Z")), "2026-10");
        assert_eq!(month_of(at("2026-11-01T00:00:00Z")), "2026-11");
    }

    #[test]
    fn marks_are_minutes() {
        let mut all = row(0, 0, 0);
        all.mark(0, 3599);
        assert_eq!((all.minutes, all.first, all.last), ((1 << 60) - 1, 0, 3599));
        let mut some = row(120, 120, 0);
        some.mark(3540, 3599);
        assert_eq!(some.minutes, 1 << 2 | 1 << 59);
    }

    #[test]
    fn different_stretches_add_up_in_any_order() {
        let parts = [
            row(0, 600, 600),
            row(700, 900, 300),
            row(1800, 3599, 1800),
            row(1000, 1010, 60),
        ];
        let want = parts.iter().cloned().reduce(HourRow::merge).unwrap();
        assert_eq!(want.activity.seconds(), 2760);
        assert_eq!((want.first, want.last), (0, 3599));
        // A stretch that fills a hole between two others is still its own.
        let order = [2, 0, 3, 1];
        let got = order.iter().map(|i| parts[*i].clone()).reduce(HourRow::merge).unwrap();
        assert_eq!(got, want);
    }

    #[test]
    fn of_the_same_stretch_the_fuller_row_counts_and_twice_is_once() {
        let (thin, full) = (row(0, 3000, 1200), row(0, 3500, 3600));
        assert_eq!(thin.clone().merge(full.clone()), full);
        assert_eq!(full.clone().merge(thin.clone()), full);
        assert_eq!(full.clone().merge(full.clone()), full);
        let mut corrected = full.clone();
        corrected.activity = Histogram::default();
        corrected.activity.add(0.9, 3600);
        assert_eq!(full.merge(corrected.clone()), corrected, "a tie goes to the newer");
    }

    #[test]
    fn names_and_the_weakest_metric_survive() {
        let mut a = row(0, 10, 10);
        let mut b = row(700, 710, 10);
        a.namespace = "search".into();
        b.namespace = "ml".into();
        b.activity_metric = Some(ActivityMetric::GpuUtil);
        b.gpu_model = "T4".into();
        let sum = a.merge(b);
        assert_eq!((&*sum.namespace, &*sum.gpu_model), ("ml", "T4"));
        assert_eq!(sum.activity_metric, Some(ActivityMetric::GpuUtil));
        assert_eq!(sum.idle_seconds(), 0);
    }
}
