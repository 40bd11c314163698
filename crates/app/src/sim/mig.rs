//! Metrics of divided GPUs, as DCGM exporter writes them: one line an instance.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use lowwater_store::error::StoreError;

use super::cases::Planted;
use crate::demo::clock::{HOURS, second};

/// The first hour of which there are metrics.
pub const FIRST_HOUR: usize = HOURS - 35 * 24;
/// Seconds between two scrapes.
const SCRAPE_SECONDS: usize = 600;

/// The second of two instances works, the first never does.
pub fn write(planted: &[Planted], path: &Path) -> Result<(), StoreError> {
    let fault = StoreError::io(path);
    write_all(planted, path).map_err(fault)
}

fn write_all(planted: &[Planted], path: &Path) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let divided: Vec<&Planted> = planted.iter().filter(|p| p.is_divided).collect();
    for at in (second(FIRST_HOUR)..second(HOURS)).step_by(SCRAPE_SECONDS) {
        let hour = ((at - second(0)) / 3600) as usize;
        for planted in &divided {
            let host = &planted.machine.name;
            let active = f64::from(planted.machine.work[hour].activity) / 1000.0;
            for (instance, activity, used) in [(1, 0.0, 30), (2, active, 4_000)] {
                let labels = format!(
                    "gpu=\"0\",UUID=\"GPU-5c8e2d1a-0000-4000-8000-00000000{:04}\",device=\"nvidia0\",modelName=\"NVIDIA A100-SXM4-40GB\",\
                     GPU_I_PROFILE=\"3g.20gb\",GPU_I_ID=\"{instance}\",Hostname=\"{host}\"",
                    host.len()
                );
                let stamp = at * 1000;
                writeln!(out, "DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{labels}}} {activity} {stamp}")?;
                writeln!(out, "DCGM_FI_DEV_FB_USED{{{labels}}} {used} {stamp}")?;
                writeln!(out, "DCGM_FI_DEV_FB_FREE{{{labels}}} {} {stamp}", 19_968 - used)?;
                writeln!(out, "DCGM_FI_DEV_POWER_USAGE{{{labels}}} 90 {stamp}")?;
            }
        }
    }
    out.flush()
}
