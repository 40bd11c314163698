//! The small files that a user would write: workloads, policy, holidays, offers, spot capacity, hosts, a request curve, and the answers.

use std::fmt::Write as _;
use std::path::Path;

use lowwater_store::error::StoreError;

use super::Organisation;
use super::clock::stamps;
use super::metrics::gpu_name;
use crate::whole_file;

const WORKLOADS: &str = include_str!("workloads.toml");
const POLICY: &str = include_str!("policy.toml");
const HOLIDAYS: &str = include_str!("holidays.csv");
const OFFERS: &str = include_str!("offers.csv");
const SPOT: &str = include_str!("spot.csv");
const README: &str = include_str!("README.md");

/// Writes them all.
pub fn write(organisation: &Organisation, dir: &Path) -> Result<(), StoreError> {
    let curves = dir.join("curves");
    std::fs::create_dir_all(&curves).map_err(StoreError::io(&curves))?;
    let files = [
        ("README.md", README),
        ("workloads.toml", WORKLOADS),
        ("policy.toml", POLICY),
        ("holidays.csv", HOLIDAYS),
        ("offers.csv", OFFERS),
        ("spot.csv", SPOT),
        ("hosts.csv", &hosts(organisation)),
        ("curves/chat.csv", &chat_curve(organisation)),
        ("answers.csv", &answers(organisation)),
    ];
    for (name, text) in files {
        whole_file::write(&dir.join(name), text)?;
    }
    Ok(())
}

/// Hosts whose names say nothing of the billed resource, and GPUs that only their UUID names.
fn hosts(organisation: &Organisation) -> String {
    let mut text = String::from("host,resource_id\n");
    for machine in &organisation.machines {
        let Some(host) = &machine.host else {
            continue;
        };
        let first_label = host.split('.').next().unwrap_or_default();
        if first_label == machine.name || *host == machine.id {
            continue;
        }
        let named: Vec<String> = if machine.names_gpus_by_uuid {
            (0..machine.gpus())
                .map(|gpu| gpu_name(organisation.seed, machine, gpu))
                .collect()
        } else {
            vec![host.clone()]
        };
        for name in named {
            let _ = writeln!(text, "{name},{}", machine.id);
        }
    }
    text
}

fn chat_curve(organisation: &Organisation) -> String {
    let mut text = String::from("time,requests_per_minute,input_tokens_mean,output_tokens_mean\n");
    for (stamp, requests) in stamps().iter().zip(&organisation.chat_requests) {
        let _ = writeln!(text, "{stamp},{requests},410,265");
    }
    text
}

/// What is really the matter with each GPU machine: what a good tool finds without being told.
fn answers(organisation: &Organisation) -> String {
    let stamps = stamps();
    let mut text = String::from("resource_id,name,sku,class,state,since\n");
    for machine in organisation.machines.iter().filter(|m| m.gpus() > 0) {
        let (state, since) = machine.truth.state.words();
        let since = since.map_or("", |hour| stamps[hour].as_str());
        let class = machine.truth.class;
        let _ = writeln!(
            text,
            "{},{},{},{class},\"{state}\",{since}",
            machine.id, machine.name, machine.sku
        );
    }
    text
}
