//! What the sample measures: hourly `usage.csv`, and the last week of the notebooks as DCGM text every five minutes.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use lowwater_store::error::StoreError;

use super::Organisation;
use super::clock::{DAYS, HOURS, LAST_WEEK, second, stamps};
use super::dice::Dice;
use super::machine::{Machine, Work};
use crate::whole_file;

/// Bytes held before they are written.
const CHUNK: usize = 1 << 20;
/// Seconds between two scrapes.
const SCRAPE_SECONDS: i64 = 300;
/// Lowest activity, in thousandths, at which an hour counts as worked.
const WORKED: i64 = 50;

/// How much of it there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Rows of usage.csv.
    pub usage_rows: u64,
    /// Scrapes of one GPU in the DCGM files.
    pub dcgm_samples: u64,
}

/// What is known of a kind of GPU.
#[derive(Clone, Copy)]
struct Card {
    power_limit_w: i64,
    memory_mib: i64,
    model: &'static str,
}

impl Card {
    fn of(machine: &Machine) -> Option<Self> {
        let fact = machine.accelerator()?;
        // What drivers report: a little less than what is sold.
        let memory_mib = match fact.accelerator.as_str() {
            "A100-40" => 40_960,
            "H100" => 81_559,
            "T4" => 15_360,
            _ => 23_028,
        };
        Some(Self {
            power_limit_w: fact.tdp_w? as i64,
            memory_mib,
            model: fact.driver_names.first()?,
        })
    }
}

/// One GPU at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reading {
    /// Millionths.
    activity: i64,
    memory_mib: i64,
    milliwatts: i64,
}

/// An idle GPU draws a tenth of its limit, somewhat more with memory held, and most of it when it is busy.
fn reading(work: Work, gpu: u8, card: Card, dice: &mut Dice) -> Reading {
    let is_busy = gpu < work.gpus;
    let activity = if is_busy && work.activity > 0 {
        (dice.around(i64::from(work.activity), 40) * 1000 + dice.between(0, 999)).clamp(0, 1_000_000)
    } else {
        dice.between(0, 2_000)
    };
    let held = if is_busy { i64::from(work.memory_mib) } else { 0 };
    let resting = card.power_limit_w * if held > 0 { 150 } else { 95 };
    let milliwatts = resting + (card.power_limit_w * 860 - resting) * activity / 1_000_000;
    Reading {
        activity,
        memory_mib: (held + dice.between(2, 5)).min(card.memory_mib),
        milliwatts: dice.around(milliwatts, 30),
    }
}

/// Are its last seven days in the DCGM files instead of usage.csv?
fn is_scraped(machine: &Machine) -> bool {
    machine.tags.get("purpose").is_some_and(|purpose| purpose == "notebook")
}

/// The name of a GPU in metrics: its UUID or its index.
pub fn gpu_name(seed: u64, machine: &Machine, gpu: u8) -> String {
    if !machine.names_gpus_by_uuid {
        return gpu.to_string();
    }
    let mut dice = Dice::new(seed, &format!("uuid/{}/{gpu}", machine.name));
    let parts: Vec<String> = [8, 4, 4, 4, 12].iter().map(|n| dice.word(*n, 16)).collect();
    format!("GPU-{}", parts.join("-"))
}

/// Writes `usage.csv` and `dcgm/YYYY-MM-DD.prom`.
pub fn write(organisation: &Organisation, dir: &Path) -> Result<Measured, StoreError> {
    std::fs::create_dir_all(dir.join("dcgm")).map_err(StoreError::io(dir))?;
    let usage_rows = whole_file::fill(&dir.join("usage.csv"), |new| write_usage(organisation, new))?;
    let mut dcgm_samples = 0;
    let scraped: Vec<Scraped> = organisation
        .machines
        .iter()
        .filter(|m| is_scraped(m))
        .filter_map(|m| Scraped::new(organisation.seed, m))
        .collect();
    for day in DAYS - 7..DAYS {
        let name = &stamps()[day * 24][..10];
        let path = dir.join("dcgm").join(format!("{name}.prom"));
        dcgm_samples += whole_file::fill(&path, |new| write_day(organisation.seed, &scraped, day, new))?;
    }
    Ok(Measured {
        usage_rows,
        dcgm_samples,
    })
}

/// A text file that is written in large pieces.
struct Text<'a> {
    path: &'a Path,
    file: File,
    bytes: Vec<u8>,
}

impl<'a> Text<'a> {
    fn create(path: &'a Path) -> Result<Self, StoreError> {
        Ok(Self {
            path,
            file: File::create(path).map_err(StoreError::io(path))?,
            bytes: Vec::with_capacity(CHUNK + 1024),
        })
    }

    fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// A whole number that is not negative.
    fn number(&mut self, number: i64) {
        let mut digits = [0_u8; 20];
        let mut rest = number.unsigned_abs();
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.bytes.extend_from_slice(&digits[at..]);
    }

    /// A number in 10^-`digits`, with all its digits.
    fn decimal(&mut self, scaled: i64, digits: u32) {
        let unit = 10_i64.pow(digits);
        self.number(scaled / unit);
        self.bytes.push(b'.');
        let mut place = unit / 10;
        while place > 0 {
            self.bytes.push(b'0' + (scaled / place % 10) as u8);
            place /= 10;
        }
    }

    fn end_line(&mut self) -> Result<(), StoreError> {
        self.bytes.push(b'\n');
        if self.bytes.len() >= CHUNK {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.file.write_all(&self.bytes).map_err(StoreError::io(self.path))?;
        self.bytes.clear();
        Ok(())
    }
}

/// Writes `usage.csv`: every machine, hour by hour.
pub fn write_usage(organisation: &Organisation, path: &Path) -> Result<u64, StoreError> {
    let mut out = Text::create(path)?;
    let stamps = stamps();
    let mut rows = 0;
    out.text("time,host,gpu,activity,activity_metric,memory_used_mib,memory_total_mib,power_w");
    out.end_line()?;
    for machine in organisation.machines.iter().chain(&organisation.unbilled) {
        rows += write_usage_of(organisation.seed, machine, &stamps, &mut out)?;
    }
    out.flush()?;
    Ok(rows)
}

fn write_usage_of(seed: u64, machine: &Machine, stamps: &[String], out: &mut Text<'_>) -> Result<u64, StoreError> {
    let (Some(host), Some(card)) = (&machine.host, Card::of(machine)) else {
        return Ok(0);
    };
    let mut dice = Dice::new(seed, &format!("usage/{host}"));
    let metric = activity_metric(machine);
    let names: Vec<String> = (0..machine.gpus()).map(|gpu| gpu_name(seed, machine, gpu)).collect();
    let until = if is_scraped(machine) { LAST_WEEK } else { HOURS };
    let mut rows = 0;
    for (hour, stamp) in stamps.iter().enumerate().take(until) {
        // A row stands for a whole hour: less than half of one is left out.
        if machine.seconds(hour) < 1800 || machine.unmeasured.get(hour).copied().unwrap_or(false) {
            continue;
        }
        for (gpu, name) in names.iter().enumerate() {
            let reading = reading(machine.work[hour], gpu as u8, card, &mut dice);
            out.text(stamp);
            for text in [host, name] {
                out.bytes.push(b',');
                out.text(text);
            }
            out.bytes.push(b',');
            out.decimal(reading.activity, 6);
            out.text(metric);
            out.number(reading.memory_mib);
            out.bytes.push(b',');
            out.number(card.memory_mib);
            out.bytes.push(b',');
            if machine.measures_power {
                out.decimal(reading.milliwatts / 100, 1);
            }
            out.end_line()?;
            rows += 1;
        }
    }
    Ok(rows)
}

/// Each cloud's agent measures activity in its own way.
fn activity_metric(machine: &Machine) -> &'static str {
    match machine.place.cloud.id {
        "aws" => ",SM_ACTIVE,",
        "gcp" => ",GR_ENGINE,",
        _ => ",GPU_UTIL,",
    }
}

const ACTIVITY: usize = 0;
const POWER: usize = 1;
const USED: usize = 2;
const FREE: usize = 3;

/// Metrics of the exporter in the order of its text: name, help.
const METRICS: [(&str, &str); 4] = [
    (
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        "Ratio of time the graphics engine is active.",
    ),
    ("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W)."),
    ("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB)."),
    ("DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB)."),
];

/// A machine with one GPU, as the exporter on it sees it.
struct Scraped<'a> {
    machine: &'a Machine,
    card: Card,
    /// Metric and labels, ready to be written.
    series: [String; 4],
}

impl<'a> Scraped<'a> {
    fn new(seed: u64, machine: &'a Machine) -> Option<Self> {
        let card = Card::of(machine)?;
        let host = machine.host.as_ref()?;
        let uuid = gpu_name(seed, machine, 0);
        let series = METRICS.map(|(metric, _)| {
            format!(
                "{metric}{{gpu=\"0\",UUID=\"{uuid}\",device=\"nvidia0\",modelName=\"{}\",Hostname=\"{host}\"}} ",
                card.model
            )
        });
        Some(Self { machine, card, series })
    }

    /// What a scrape sees: in a worked hour, work and pauses; in another one, nothing.
    fn scrape(&self, hour: usize, scrape: i64, dice: &mut Dice) -> Reading {
        let mut work = self.machine.work[hour];
        if i64::from(work.activity) >= WORKED {
            let pauses = scrape % 12 != 0 && dice.chance(250);
            let level = i64::from(work.activity) * dice.between(700, 1_250) / 1000;
            work.activity = if pauses { 0 } else { level.clamp(WORKED, 1000) as u16 };
        }
        reading(work, 0, self.card, dice)
    }
}

fn write_day(seed: u64, scraped: &[Scraped<'_>], day: usize, path: &Path) -> Result<u64, StoreError> {
    let mut out = Text::create(path)?;
    let mut dice = Dice::new(seed, &format!("dcgm/{day}"));
    for (metric, help) in METRICS {
        out.text(&format!("# HELP {metric} {help}\n# TYPE {metric} gauge"));
        out.end_line()?;
    }
    let scrapes = 86_400 / SCRAPE_SECONDS;
    for scrape in 0..scrapes {
        let at = second(day * 24) + scrape * SCRAPE_SECONDS;
        let hour = day * 24 + (scrape * SCRAPE_SECONDS / 3600) as usize;
        let readings: Vec<Reading> = scraped.iter().map(|s| s.scrape(hour, scrape, &mut dice)).collect();
        for metric in 0..METRICS.len() {
            for (of, reading) in scraped.iter().zip(&readings) {
                if metric == POWER && !of.machine.measures_power {
                    continue;
                }
                out.text(&of.series[metric]);
                match metric {
                    ACTIVITY => out.decimal(reading.activity, 6),
                    POWER => out.decimal(reading.milliwatts, 3),
                    USED => out.number(reading.memory_mib),
                    FREE => out.number(of.card.memory_mib - reading.memory_mib),
                    _ => unreachable!("METRICS has four"),
                }
                out.bytes.push(b' ');
                out.number(at * 1000);
                out.end_line()?;
            }
        }
    }
    out.flush()?;
    Ok(scrapes as u64 * scraped.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::super::clock::SEPTEMBER;
    use super::super::machine::State;
    use super::*;

    fn text_of(write: impl Fn(&mut Text<'_>)) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let mut out = Text::create(&path).unwrap();
        write(&mut out);
        out.flush().unwrap();
        std::fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn numbers_are_written_like_everybody_does() {
        for value in [0_i64, 7, 10, 999, 1_000_000, 123_456_789] {
            assert_eq!(text_of(|out| out.number(value)), value.to_string());
            assert_eq!(
                text_of(|out| out.decimal(value, 3)),
                format!("{}.{:03}", value / 1000, value % 1000)
            );
            assert_eq!(
                text_of(|out| out.decimal(value, 6)),
                format!("{}.{:06}", value / 1_000_000, value % 1_000_000)
            );
        }
    }

    #[test]
    fn every_gpu_of_the_sample_is_a_known_card() {
        let organisation = Organisation::new(3);
        for machine in &organisation.machines {
            assert_eq!(machine.gpus() > 0, !machine.work.is_empty(), "{}", machine.name);
            if machine.gpus() > 0 {
                let card = Card::of(machine).unwrap();
                let sold = machine.accelerator().unwrap().memory_gb;
                assert!(
                    (0.9..1.1).contains(&(card.memory_mib as f64 / 1024.0 / sold)),
                    "{}",
                    machine.sku
                );
                assert!(machine.work.iter().all(|w| i64::from(w.memory_mib) < card.memory_mib));
            }
        }
    }

    #[test]
    fn an_idle_gpu_is_idle_in_all_three_ways_and_a_held_one_in_two() {
        let organisation = Organisation::new(3);
        let card = Card::of(&organisation.unbilled[0]).unwrap();
        let mut dice = Dice::new(3, "reading");
        for _ in 0..2_000 {
            let idle = reading(Work::NONE, 0, card, &mut dice);
            assert!(idle.activity < 50_000 && idle.memory_mib < 100 && idle.milliwatts < card.power_limit_w * 250);
            let held = reading(Work::held(1, 18_432), 0, card, &mut dice);
            assert!(held.activity < 50_000 && held.memory_mib > card.memory_mib / 2);
            let work = Work::one_gpu(900, 9_000);
            let busy = reading(work, 0, card, &mut dice);
            assert!(busy.activity > 800_000 && busy.milliwatts > card.power_limit_w * 600);
            assert!(busy.activity <= 1_000_000 && busy.milliwatts <= card.power_limit_w * 1000);
            // The second GPU of a machine that uses one.
            assert!(reading(work, 1, card, &mut dice).activity < 50_000);
        }
    }

    #[test]
    fn a_worked_hour_shows_work_and_an_idle_one_none() {
        let organisation = Organisation::new(3);
        let machine = organisation.machines.iter().find(|m| is_scraped(m)).unwrap();
        let scraped = Scraped::new(3, machine).unwrap();
        let mut dice = Dice::new(3, "scrape");
        for hour in SEPTEMBER.hours() {
            let seen: Vec<i64> = (0..12).map(|s| scraped.scrape(hour, s, &mut dice).activity).collect();
            let worked = i64::from(machine.work[hour].activity) >= WORKED;
            assert_eq!(seen.iter().any(|a| *a >= 45_000), worked, "hour {hour}: {seen:?}");
        }
    }

    #[test]
    fn names_of_gpus_are_stable_and_different() {
        let organisation = Organisation::new(3);
        let notebooks: Vec<&Machine> = organisation.machines.iter().filter(|m| is_scraped(m)).collect();
        assert_eq!(notebooks.len(), 50);
        let names: std::collections::BTreeSet<String> = notebooks.iter().map(|m| gpu_name(3, m, 0)).collect();
        assert_eq!(names.len(), 50);
        assert!(names.iter().all(|n| n.len() == 40 && n.starts_with("GPU-")));
        assert_eq!(gpu_name(3, notebooks[0], 0), gpu_name(3, notebooks[0], 0));
        let without_power = notebooks.iter().filter(|m| !m.measures_power).count();
        assert_eq!(without_power, 1);
        let unknown = notebooks
            .iter()
            .filter(|m| matches!(m.truth.state, State::IdlePowerUnknown { .. }));
        assert!(unknown.into_iter().all(|m| !m.measures_power));
    }
}
