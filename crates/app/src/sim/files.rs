//! The small files that the users of a generated organisation would write.

use std::fmt::Write as _;
use std::path::Path;

use lowwater_store::error::StoreError;

use super::cases::Planted;
use super::development::{shutdown, zone};
use crate::demo::clock::{HOURS, stamps};
use crate::demo::dice::Dice;
use crate::whole_file;

/// What owners declare: name, class, and more lines. Each is selected by its project.
const WORKLOADS: &[(&str, &str, &str)] = &[
    ("lens-lab", "development", "name = \"lab\"\nzone = \"{zone}\""),
    ("desks", "development", "name = \"desks\""),
    ("benches", "development", "name = \"benches\"\nholidays = \"WORKS\""),
    ("open-day", "development", "name = \"open-day\""),
    ("campaigns", "development", "name = \"campaigns\""),
    ("kiln", "development", "name = \"kiln\""),
    ("reference", "development", "name = \"reference\""),
    ("twins", "experiment", "name = \"twins\""),
    ("probes", "experiment", "name = \"probes\""),
    (
        "search-serving",
        "realtime-inference",
        "name = \"search-serving\"\ncriticality = \"high\"",
    ),
    ("warm", "realtime-inference", "name = \"warm\""),
    ("sermons", "realtime-inference", "name = \"sermons\""),
    ("legacy", "realtime-inference", "name = \"legacy\""),
    ("slices", "experiment", "name = \"slices\""),
    ("nightly", "batch-inference", "name = \"nightly\""),
    ("checkout", "realtime-inference", "name = \"checkout\""),
    (
        "epochs",
        "training",
        "name = \"epochs\"\ncheckpoint = { every = \"30m\", gb = 40, resumable = true }",
    ),
    ("monolith", "training", "name = \"monolith\""),
];

const POLICY: &str = "\
[plan]
instance_store_acknowledged = [\"lab\", \"desks\", \"benches\", \"campaigns\", \"kiln\", \"probes\", \"twins\"]
";

const OFFERS: &str = "\
provider,region,zone,sku,accelerator,count,market,payment,price_per_hour,price_basis,currency,as_of,source
nebius,eu-north1,,gpu-h100-sxm_8gpu-128vcpu-1600gb,H100,8,on_demand,,23.60,list,USD,2026-08-01,stated for the organisation
aws,us-east-1,us-east-1b,g5.12xlarge,A10G,4,spot,,1.90,net,USD,2026-09-25,quote
aws,us-east-1,us-east-1b,g5.12xlarge,A10G,4,spot,,1.95,net,USD,2026-10-25,quote
aws,us-west-2,us-west-2a,p4d.24xlarge,A100-40,8,spot,,8.10,net,USD,2026-10-25,quote
aws,us-east-1,,g6e.xlarge,L40S,1,1y,no_upfront,1.12,net,USD,2026-09-20,quote
gcp,us-central1,,g4-standard-48,RTX-PRO-6000,1,1y,no_upfront,2.85,net,USD,2026-09-20,quote
";

const SPOT: &str = "\
provider,region,zone,sku,interruptions_per_hour,low,high,wait_hours,as_of,source
aws,us-east-1,,g5.12xlarge,0.01,0.005,0.02,0.2,2026-09-25,trace
aws,us-west-2,,p4d.24xlarge,0.01,0.005,0.02,0.2,2026-09-25,trace
";

/// Writes them all.
pub fn write(data: &Path, seed: u64, planted: &[Planted]) -> Result<(), StoreError> {
    let files = [
        ("workloads.toml", workloads(seed)),
        ("policy.toml", POLICY.to_owned()),
        ("holidays.csv", holidays(seed)),
        ("offers.csv", OFFERS.to_owned()),
        ("spot.csv", SPOT.to_owned()),
        ("jobs.csv", jobs(seed, planted)),
    ];
    for (name, text) in files {
        whole_file::write(&data.join(name), &text)?;
    }
    Ok(())
}

fn workloads(seed: u64) -> String {
    let mut text = String::new();
    for (project, class, more) in WORKLOADS {
        let more = more.replace("{zone}", zone(seed));
        let _ = writeln!(
            text,
            "[[workload]]\n{more}\nclass = \"{class}\"\n[[workload.select]]\ntag.project = \"{project}\"\n"
        );
    }
    text
}

/// The days on which the company was shut.
fn holidays(seed: u64) -> String {
    let (first, last) = shutdown(seed);
    let stamps = stamps();
    let mut text = String::from("calendar,date,name\n");
    for day in first..=last {
        let _ = writeln!(text, "WORKS,{},kilns are cleaned", &stamps[day as usize * 24][..10]);
    }
    text
}

/// A run a few days long after the other, on the machines that train.
fn jobs(seed: u64, planted: &[Planted]) -> String {
    let stamps = stamps();
    let mut text =
        String::from("job,workload,start,end,sku,count,region,market,exit_state,checkpoints,last_checkpoint\n");
    let training = planted.iter().filter(|p| p.may_spot);
    for planted in training {
        let machine = &planted.machine;
        let mut dice = Dice::new(seed, &format!("jobs/{}", machine.name));
        let (mut start, mut number) = (0, 0);
        while start < HOURS - 100 {
            let end = start + dice.between(40, 90) as usize;
            let checkpoints = (end - start) * 2;
            let _ = writeln!(
                text,
                "{}-{number},epochs,{},{},{},1,{},on_demand,completed,{checkpoints},{}",
                machine.name, stamps[start], stamps[end], machine.sku, machine.place.region, stamps[end]
            );
            (start, number) = (end, number + 1);
        }
    }
    text
}
