//! Samples in order of time become hourly rows: each sample stands until the next one, but not for long.

use std::collections::BTreeMap;
use std::sync::Arc;

use lowwater_model::period::HOUR_SECONDS;
use lowwater_model::sku::find_accelerator;

use super::mig;
use super::names::{NAMELESS, Names};
use super::reading::Reading;
use super::row::{HourRow, Key};
use super::sort::Point;

/// What a lone sample stands for.
const LONE_SECONDS: i64 = 60;

/// One GPU: its samples in order of time, instant by instant.
pub(crate) struct GpuHours<'a> {
    names: &'a Names,
    gpu: u32,
    /// Longest time that a sample stands for.
    max_gap_seconds: i64,
    /// Samples of the current instant, joined by instance.
    instant: Vec<Point>,
    /// By number of the instance's name.
    timelines: BTreeMap<u32, Timeline>,
}

impl<'a> GpuHours<'a> {
    pub(crate) fn new(names: &'a Names, gpu: u32, max_gap_seconds: i64) -> Self {
        Self {
            names,
            gpu,
            max_gap_seconds,
            instant: Vec::new(),
            timelines: BTreeMap::new(),
        }
    }

    /// Its number.
    pub(crate) fn gpu(&self) -> u32 {
        self.gpu
    }

    /// Takes the next sample of this GPU.
    pub(crate) fn push(&mut self, point: Point) {
        if self.instant.first().is_some_and(|first| first.at != point.at) {
            self.close_instant();
        }
        match self.instant.iter_mut().find(|p| p.instance == point.instance) {
            Some(known) => {
                known.reading = known.reading.join(point.reading);
                known.labels = self.names.better_labels(known.labels, point.labels);
                known.seconds = known.seconds.max(point.seconds);
            }
            None => self.instant.push(point),
        }
    }

    fn close_instant(&mut self) {
        let mut points = std::mem::take(&mut self.instant);
        for point in &mut points {
            point.reading = point.reading.settled();
        }
        self.add_whole(&mut points);
        for point in points.drain(..) {
            let timeline = self.timelines.entry(point.instance).or_default();
            timeline.push(&point, self.max_gap_seconds);
        }
        self.instant = points;
    }

    /// What the instances say of the whole GPU fills in what the GPU does not say itself.
    fn add_whole(&self, points: &mut Vec<Point>) {
        let instances = || points.iter().filter(|p| p.instance != NAMELESS);
        let Some(whole) = instances().copied().reduce(|a, b| Point {
            labels: self.names.better_labels(a.labels, b.labels),
            ..a
        }) else {
            return;
        };
        let parts: Vec<_> = instances()
            .map(|p| (mig::slices(self.names.labels(p.labels)[0]), p.reading))
            .collect();
        let model = self.names.labels(whole.labels)[1];
        let slices = find_accelerator(model).map_or(mig::DEFAULT_SLICES, |a| a.mig_slices);
        let said = mig::whole_gpu(&parts, slices);
        match points.iter_mut().find(|p| p.instance == NAMELESS) {
            Some(own) => own.reading = complete(own.reading, said),
            None => points.push(Point {
                instance: NAMELESS,
                reading: said,
                ..whole
            }),
        }
    }

    /// Its hourly rows, in order of instance and hour.
    pub(crate) fn finish(mut self) -> Vec<HourRow> {
        self.close_instant();
        let [host, gpu] = self.names.gpu(self.gpu);
        let mut timelines: Vec<_> = std::mem::take(&mut self.timelines).into_iter().collect();
        timelines.sort_unstable_by_key(|(instance, _)| self.names.text(*instance));
        let mut rows = Vec::new();
        for (instance, timeline) in timelines {
            let key = |hour| Key {
                host: Arc::clone(host),
                gpu: Arc::clone(gpu),
                mig_instance: Arc::clone(self.names.text(instance)),
                hour,
            };
            let drafts = timeline.finish(self.max_gap_seconds);
            rows.extend(drafts.into_iter().map(|draft| draft.row(key, self.names)));
        }
        rows
    }
}

/// What a GPU says of itself, and where it does not, what its instances say.
fn complete(own: Reading, said: Reading) -> Reading {
    let memory = |r: Reading| Some((r.memory_used_mib?, r.memory_total_mib?));
    let both = memory(own).or(memory(said));
    Reading {
        activity: own.activity.or(said.activity),
        memory_used_mib: both.map(|m| m.0).or(own.memory_used_mib),
        memory_total_mib: both.map(|m| m.1).or(own.memory_total_mib),
        memory_free_mib: None,
        power_milliwatts: own.power_milliwatts,
    }
}

/// A sample that waits for the next one, to know how long it stands.
#[derive(Clone, Copy, Debug)]
struct Pending {
    second: i64,
    labels: u32,
    /// Fixed length; 0 = until the next one.
    seconds: i64,
    reading: Reading,
}

/// The samples of one GPU or instance.
#[derive(Debug, Default)]
struct Timeline {
    pending: Option<Pending>,
    /// How often samples were so many seconds apart, as far as the limit.
    intervals: BTreeMap<i64, u64>,
    drafts: Vec<Draft>,
}

impl Timeline {
    fn push(&mut self, point: &Point, max_gap_seconds: i64) {
        let next = Pending {
            second: point.at.div_euclid(1000),
            labels: point.labels,
            seconds: i64::from(point.seconds),
            reading: point.reading,
        };
        // Of several samples in one second the last one is the state at its end: a fair sample, where the largest would not be.
        if let Some(last) = self.pending.replace(next).filter(|p| p.second < next.second) {
            let apart = next.second - last.second;
            *self.intervals.entry(apart.min(max_gap_seconds)).or_default() += 1;
            let longest = if last.seconds > 0 {
                last.seconds
            } else {
                max_gap_seconds
            };
            self.cover(&last, apart.min(longest));
        }
    }

    fn finish(mut self, max_gap_seconds: i64) -> Vec<Draft> {
        if let Some(last) = self.pending.take() {
            let typical = self.typical_interval().unwrap_or(LONE_SECONDS).min(max_gap_seconds);
            let seconds = if last.seconds > 0 { last.seconds } else { typical };
            self.cover(&last, seconds);
        }
        self.drafts
    }

    /// The median time between samples; of two middle ones the shorter.
    fn typical_interval(&self) -> Option<i64> {
        let total: u64 = self.intervals.values().sum();
        let mut sum = 0;
        self.intervals.iter().find_map(|(interval, count)| {
            sum += count;
            (sum * 2 >= total).then_some(*interval)
        })
    }

    /// Lets a sample stand for some seconds, hour by hour.
    fn cover(&mut self, sample: &Pending, seconds: i64) {
        let end = sample.second + seconds;
        let mut start = sample.second;
        while start < end {
            let hour = start.div_euclid(HOUR_SECONDS);
            let stop = end.min((hour + 1) * HOUR_SECONDS);
            if self.drafts.last().is_none_or(|d| d.row.key.hour != hour) {
                self.drafts.push(Draft::new(hour));
            }
            if let Some(draft) = self.drafts.last_mut() {
                draft.cover(sample, start, stop);
            }
            start = stop;
        }
    }
}

/// An hourly row in the making.
#[derive(Debug)]
struct Draft {
    row: HourRow,
    /// Seconds under each set of labels.
    labels: Vec<(u32, i64)>,
    /// The latest run of idleness, epoch seconds.
    idle_run: (i64, i64),
}

impl Draft {
    fn new(hour: i64) -> Self {
        let nameless: Arc<str> = Arc::from("");
        let key = Key {
            host: Arc::clone(&nameless),
            gpu: Arc::clone(&nameless),
            mig_instance: nameless,
            hour,
        };
        Self {
            row: HourRow::unknown(key),
            labels: Vec::new(),
            idle_run: (i64::MIN, i64::MIN),
        }
    }

    /// A sample stands from `start` to `stop`, both within the hour.
    fn cover(&mut self, sample: &Pending, start: i64, stop: i64) {
        let seconds = (stop - start) as u32;
        // A sample of fixed length speaks for all its minutes, any other for the one it was taken in.
        let last = if sample.seconds > 0 { stop - 1 } else { start };
        self.row.mark(start, last);
        self.cover_activity(sample.reading, start, stop);
        self.cover_memory(sample.reading, seconds);
        if let Some(milliwatts) = sample.reading.power_milliwatts {
            self.row.power_milliwatt_seconds += u64::from(milliwatts) * u64::from(seconds);
            self.row.power_seconds += seconds;
            self.row.power_max_milliwatts = self.row.power_max_milliwatts.max(Some(milliwatts));
        }
        match self.labels.iter_mut().find(|(labels, _)| *labels == sample.labels) {
            Some((_, sum)) => *sum += stop - start,
            None => self.labels.push((sample.labels, stop - start)),
        }
    }

    fn cover_activity(&mut self, reading: Reading, start: i64, stop: i64) {
        let Some(activity) = reading.activity else {
            return;
        };
        let row = &mut self.row;
        let seconds = (stop - start) as u32;
        let bin = activity.bin();
        row.activity_metric = row.activity_metric.max(Some(activity.metric));
        row.activity.0[bin] += seconds;
        row.activity_micro_seconds += u64::from(activity.millionths) * u64::from(seconds);
        if bin == 0 {
            // A run goes on only where nothing unknown lies between.
            let begin = if self.idle_run.1 == start {
                self.idle_run.0
            } else {
                start
            };
            self.idle_run = (begin, stop);
            row.longest_idle_seconds = row.longest_idle_seconds.max((stop - begin) as u32);
        }
    }

    fn cover_memory(&mut self, reading: Reading, seconds: u32) {
        let row = &mut self.row;
        if let Some(bin) = reading.memory_bin() {
            row.memory.0[bin] += seconds;
        }
        row.memory_total_mib = row.memory_total_mib.max(reading.memory_total_mib);
        row.memory_used_max_mib = row.memory_used_max_mib.max(reading.memory_used_mib);
    }

    /// Under its names; the labels are those of most of the hour.
    fn row(self, key: impl Fn(i64) -> Key, names: &Names) -> HourRow {
        let longest = self.labels.iter().map(|(_, seconds)| *seconds).max();
        let most = self.labels.iter().filter(|(_, seconds)| Some(*seconds) == longest);
        let labels = most.map(|(labels, _)| *labels).reduce(|a, b| names.better_labels(a, b));
        let mut row = self.row;
        row.key = key(row.key.hour);
        if let Some(labels) = labels {
            let [profile, model, namespace] = names.labels(labels);
            if !row.key.mig_instance.is_empty() {
                row.mig_profile = Arc::clone(profile);
            }
            row.gpu_model = Arc::clone(model);
            row.namespace = Arc::clone(namespace);
        }
        row
    }
}

#[cfg(test)]
mod tests;
