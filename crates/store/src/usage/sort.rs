//! Samples in order of GPU and time, whatever order the files have, in bounded memory: sorted runs go to disk and are merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use lowwater_model::usage::ActivityMetric;

use super::names::{Names, Ranks};
use super::reading::{Activity, Reading};
use crate::error::StoreError;
use crate::format::Sample;

/// Samples kept in memory: 32 MiB.
const RUN_POINTS: usize = 1 << 19;

/// A sample with numbers instead of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub gpu: u32,
    /// Epoch milliseconds.
    pub at: i64,
    pub instance: u32,
    pub labels: u32,
    /// Seconds that it stands for; 0 = until the next one.
    pub seconds: u32,
    pub reading: Reading,
}

/// Collects samples, gives them back in order.
pub(crate) struct Sorter {
    pub(crate) names: Names,
    points: Vec<Point>,
    runs: Vec<File>,
    directory: PathBuf,
    run_points: usize,
}

impl Sorter {
    /// Spills into that directory.
    pub(crate) fn new(directory: &Path) -> Self {
        Self {
            names: Names::default(),
            points: Vec::new(),
            runs: Vec::new(),
            directory: directory.to_owned(),
            run_points: RUN_POINTS,
        }
    }

    /// Takes a sample.
    pub(crate) fn push(&mut self, sample: &Sample<'_>) -> Result<(), StoreError> {
        let ids = self.names.ids(sample);
        self.points.push(Point {
            gpu: ids.gpu,
            at: sample.at.as_millisecond(),
            instance: ids.instance,
            labels: ids.labels,
            seconds: sample.seconds.unwrap_or(0),
            reading: Reading::of(sample),
        });
        if self.points.len() >= self.run_points {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<(), StoreError> {
        let ranks = self.names.ranks();
        self.points.sort_unstable_by_key(|p| key(p, &ranks));
        let path = self.directory.join(format!("samples-{}", self.runs.len()));
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path);
        let file = file.map_err(StoreError::io(&path))?;
        self.runs
            .push(write_run(file, &self.points).map_err(StoreError::io(&path))?);
        self.points.clear();
        Ok(())
    }

    /// All samples, in order of host, GPU, time and instance, with the names that their numbers stand for.
    pub(crate) fn finish(mut self) -> (Names, Sorted) {
        let ranks = self.names.ranks();
        self.points.sort_unstable_by_key(|p| key(p, &ranks));
        let mut runs: Vec<Run> = self
            .runs
            .into_iter()
            .map(|f| Run::Disk(BufReader::with_capacity(1 << 16, f)))
            .collect();
        runs.push(Run::Memory(self.points.into_iter()));
        let sorted = Sorted {
            ranks,
            heads: BinaryHeap::new(),
            started: false,
            runs,
            directory: self.directory,
        };
        (self.names, sorted)
    }
}

type Key = (u32, i64, u32);

fn key(point: &Point, ranks: &Ranks) -> Key {
    let rank = |all: &[u32], id: u32| all[id as usize];
    (rank(&ranks.gpu, point.gpu), point.at, rank(&ranks.text, point.instance))
}

/// A sorted run.
enum Run {
    Memory(std::vec::IntoIter<Point>),
    Disk(BufReader<File>),
}

impl Run {
    fn next(&mut self) -> std::io::Result<Option<Point>> {
        match self {
            Self::Memory(points) => Ok(points.next()),
            Self::Disk(file) => read_point(file),
        }
    }
}

/// The head of a run in the heap of heads; the smallest key is on top.
struct Headed {
    key: Key,
    run: usize,
    point: Point,
}

impl PartialEq for Headed {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Headed {}

impl PartialOrd for Headed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Headed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.key, self.run).cmp(&(other.key, other.run))
    }
}

/// Merges the runs.
pub(crate) struct Sorted {
    ranks: Ranks,
    heads: BinaryHeap<Reverse<Headed>>,
    started: bool,
    runs: Vec<Run>,
    directory: PathBuf,
}

impl Sorted {
    fn pull(&mut self, run: usize) -> Result<(), StoreError> {
        let point = self.runs[run].next().map_err(StoreError::io(&self.directory))?;
        if let Some(point) = point {
            let key = key(&point, &self.ranks);
            self.heads.push(Reverse(Headed { key, run, point }));
        }
        Ok(())
    }

    /// The next sample.
    pub(crate) fn next(&mut self) -> Result<Option<Point>, StoreError> {
        if !self.started {
            self.started = true;
            (0..self.runs.len()).try_for_each(|run| self.pull(run))?;
        }
        let Some(Reverse(head)) = self.heads.pop() else {
            return Ok(None);
        };
        self.pull(head.run)?;
        Ok(Some(head.point))
    }
}

/// Bytes of a point on disk.
const WORDS: usize = 9;
const METRIC_AT: usize = 8 + WORDS * 4;
const POINT_BYTES: usize = METRIC_AT + 1;
/// Stands for unknown; no reading reaches it.
const UNKNOWN: u32 = u32::MAX;

fn write_run(file: File, points: &[Point]) -> std::io::Result<File> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    for point in points {
        out.write_all(&encode(point))?;
    }
    let mut file = out.into_inner()?;
    file.rewind()?;
    Ok(file)
}

fn encode(point: &Point) -> [u8; POINT_BYTES] {
    let Reading {
        activity,
        memory_used_mib,
        memory_total_mib,
        memory_free_mib,
        power_milliwatts,
    } = point.reading;
    let words: [u32; WORDS] = [
        point.gpu,
        point.instance,
        point.labels,
        point.seconds,
        activity.map_or(UNKNOWN, |a| a.millionths),
        memory_used_mib.unwrap_or(UNKNOWN),
        memory_total_mib.unwrap_or(UNKNOWN),
        memory_free_mib.unwrap_or(UNKNOWN),
        power_milliwatts.unwrap_or(UNKNOWN),
    ];
    let mut bytes = [0; POINT_BYTES];
    bytes[..8].copy_from_slice(&point.at.to_le_bytes());
    for (chunk, word) in bytes[8..METRIC_AT].chunks_exact_mut(4).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes[METRIC_AT] = activity.map_or(0, |a| a.metric as u8);
    bytes
}

fn read_point(file: &mut impl Read) -> std::io::Result<Option<Point>> {
    let mut bytes = [0; POINT_BYTES];
    match file.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(decode(&bytes))),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn decode(bytes: &[u8; POINT_BYTES]) -> Point {
    let word = |index: usize| {
        let mut word = [0; 4];
        word.copy_from_slice(&bytes[8 + index * 4..12 + index * 4]);
        u32::from_le_bytes(word)
    };
    let known = |index: usize| Some(word(index)).filter(|w| *w != UNKNOWN);
    let mut at = [0; 8];
    at.copy_from_slice(&bytes[..8]);
    let metric = ActivityMetric::ALL[usize::from(bytes[METRIC_AT])];
    Point {
        at: i64::from_le_bytes(at),
        gpu: word(0),
        instance: word(1),
        labels: word(2),
        seconds: word(3),
        reading: Reading {
            activity: known(4).map(|millionths| Activity { metric, millionths }),
            memory_used_mib: known(5),
            memory_total_mib: known(6),
            memory_free_mib: known(7),
            power_milliwatts: known(8),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::reading::tests::readings;
    use crate::usage::tests::sample;
    use proptest::prelude::*;

    #[test]
    fn a_run_is_as_large_as_it_says() {
        assert!(RUN_POINTS * size_of::<Point>() <= 32 << 20, "{}", size_of::<Point>());
    }

    #[test]
    fn metrics_are_numbered_in_their_order() {
        for (index, metric) in ActivityMetric::ALL.iter().enumerate() {
            assert_eq!(*metric as usize, index);
        }
    }

    fn all(mut sorter: Sorter, samples: &[(u8, i64)], run_points: usize) -> Vec<(String, i64)> {
        sorter.run_points = run_points;
        for (host, second) in samples {
            sorter.push(&sample(&format!("host{host}"), "0", *second)).unwrap();
        }
        let (names, mut sorted) = sorter.finish();
        let mut out = Vec::new();
        while let Some(point) = sorted.next().unwrap() {
            out.push((names.gpu(point.gpu)[0].to_string(), point.at));
        }
        out
    }

    proptest! {
        #[test]
        fn disk_form_is_lossless(reading in readings(), gpu in any::<u32>(), at in any::<i64>(), seconds in 0..7200_u32) {
            let point = Point { gpu, at, instance: gpu ^ 5, labels: gpu / 3, seconds, reading };
            prop_assert_eq!(read_point(&mut encode(&point).as_slice()).unwrap(), Some(point));
        }

        /// The same order as one sort of everything, however many runs went to disk.
        #[test]
        fn runs_do_not_matter(samples in prop::collection::vec((0..12_u8, 0..50_i64), 0..60), run_points in 1..70_usize) {
            let directory = tempfile::tempdir().unwrap();
            let mut want: Vec<_> = samples.iter().map(|(h, s)| (format!("host{h}"), s * 1000)).collect();
            want.sort();
            prop_assert_eq!(all(Sorter::new(directory.path()), &samples, run_points), want);
        }
    }
}
