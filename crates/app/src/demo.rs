//! A seeded sample organisation, written as the files that a real one would have.
//!
//! Fernhollow Robotics is invented. The generator is pure: the same seed gives the same bytes on every machine.

pub mod bill;
pub mod clock;
pub mod commitments;
pub mod dice;
mod fees;
mod files;
mod lines;
pub mod machine;
pub mod meters;
pub mod metrics;
pub mod notebooks;
pub mod places;
pub mod prices;
mod rest;
mod serving;
mod training;

use std::path::Path;

use lowwater_store::error::StoreError;
use lowwater_store::export::{Charge, Written};

use bill::{Bill, Owned};
use clock::MONTHS;
use commitments::Commitment;
use machine::Machine;
use meters::Meter;
use metrics::Measured;
use places::{CLOUDS, Cloud};

use crate::whole_file;

/// A file that only a sample organisation has. It is the first, so that a demo that was cut short can be repeated.
pub const MARK: &str = ".lowwater-demo";

/// Everything that the sample has, before it is written.
pub struct Organisation {
    /// Everything random comes of it.
    pub seed: u64,
    /// Billed machines.
    pub machines: Vec<Machine>,
    /// Measured, and on nobody's bill.
    pub unbilled: Vec<Machine>,
    /// Storage, network, disks.
    pub meters: Vec<Meter>,
    /// Commitments of all clouds.
    pub commitments: Vec<Commitment>,
    /// Requests a minute of the chat service, by hour.
    pub chat_requests: Vec<i64>,
}

/// One bill as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BillFile {
    /// Cloud id.
    pub cloud: &'static str,
    /// Billing month.
    pub month: &'static str,
    /// Its rows and their sums.
    pub written: Written,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoSummary {
    /// One a cloud and month, in order.
    pub bills: Vec<BillFile>,
    /// Size of the metrics.
    pub measured: Measured,
}

impl DemoSummary {
    /// Rows of all bills.
    pub fn rows(&self) -> u64 {
        self.bills.iter().map(|b| b.written.rows).sum()
    }
}

impl Organisation {
    /// The organisation of that seed.
    pub fn new(seed: u64) -> Self {
        let mut machines = training::machines(seed);
        machines.extend(notebooks::machines(seed));
        machines.extend(serving::machines(seed));
        machines.extend(rest::machines(seed));
        Self {
            seed,
            meters: meters::meters(seed, &machines),
            machines,
            commitments: CLOUDS.iter().flat_map(|c| commitments::commitments(c)).collect(),
            unbilled: rest::unbilled(seed),
            chat_requests: serving::chat_requests(seed),
        }
    }

    /// Writes the bills of a cloud below a directory, one a month; `see` is shown every charge with its line.
    pub fn write_bills(
        &self,
        cloud: &'static Cloud,
        dir: &Path,
        mut see: impl FnMut(&Charge, &Owned<'_>),
    ) -> Result<Vec<BillFile>, StoreError> {
        let dir = dir.join("bills").join(cloud.id);
        std::fs::create_dir_all(&dir).map_err(StoreError::io(&dir))?;
        let bill = Bill::new(self, cloud);
        let mut write = |month: clock::Month| {
            Ok(BillFile {
                cloud: cloud.id,
                month: month.name,
                written: whole_file::fill(&dir.join(format!("{}.parquet", month.name)), |new| {
                    bill.write(month, new, &mut see)
                })?,
            })
        };
        MONTHS.into_iter().map(&mut write).collect()
    }
}

/// Writes the sample organisation of that seed into a directory: `bills`, `metrics` and the small files of a user.
pub fn write(dir: &Path, seed: u64) -> Result<DemoSummary, StoreError> {
    let organisation = Organisation::new(seed);
    std::fs::create_dir_all(dir).map_err(StoreError::io(dir))?;
    whole_file::write(&dir.join(MARK), "")?;
    files::write(&organisation, dir)?;
    // The largest bill and everything else take about the same time.
    let (largest, others) = (CLOUDS[0], &CLOUDS[1..]);
    let (bills, measured) = std::thread::scope(|scope| {
        let first = scope.spawn(|| organisation.write_bills(largest, dir, |_, _| {}));
        let measured = metrics::write(&organisation, &dir.join("metrics"));
        let mut bills = vec![];
        for cloud in others {
            bills.push(organisation.write_bills(cloud, dir, |_, _| {}));
        }
        let first = first.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        bills.insert(0, first);
        (bills, measured)
    });
    let bills: Vec<Vec<BillFile>> = bills.into_iter().collect::<Result<_, _>>()?;
    Ok(DemoSummary {
        bills: bills.into_iter().flatten().collect(),
        measured: measured?,
    })
}

#[cfg(test)]
mod tests;
