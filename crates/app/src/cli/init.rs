//! `lowwater init`

use std::path::Path;

use lowwater_store::layout::check_data_dir;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::view::init::{Created, CreatedFile};
use crate::view::policy::commented_policy;
use crate::{output, registry, whole_file};

/// Set up a folder for your own data: policy, workloads, and templates of the other files; overwrites nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lowwater init --data ./finops")]
pub struct Args {}

/// The small files of a data directory: name, content, purpose.
fn files() -> Vec<(&'static str, String, &'static str)> {
    vec![
        (
            "policy.toml",
            commented_policy(&registry::lever_sections()),
            "your limits; every key with its default and reason",
        ),
        (
            "workloads.toml",
            include_str!("init/workloads.toml").to_owned(),
            "what the money is for, and what must never be touched",
        ),
        (
            "contract.toml",
            include_str!("init/contract.toml").to_owned(),
            "discounts on list prices, and spend that you promised to a provider",
        ),
        ("hosts.csv", "host,resource_id\n".to_owned(), "which host name of the metrics is which billed resource"),
        ("holidays.csv", "calendar,date,name\n".to_owned(), "days on which nobody works"),
        (
            "offers.csv",
            "provider,region,zone,sku,accelerator,count,market,payment,price_per_hour,price_basis,currency,as_of,source\n"
                .to_owned(),
            "prices you were offered, for what the bill does not show",
        ),
        (
            "spot.csv",
            "provider,region,zone,sku,interruptions_per_hour,low,high,wait_hours,as_of,source\n".to_owned(),
            "how often spot capacity is taken back, and for how long",
        ),
        (
            "usage.csv",
            "time,host,gpu,activity,activity_metric,memory_used_mib,memory_total_mib,power_w\n".to_owned(),
            "form of GPU activity by hand; fill in a copy and load it",
        ),
        (
            "jobs.csv",
            "job,workload,start,end,sku,count,region,market,exit_state,checkpoints,last_checkpoint,nodes\n".to_owned(),
            "form of runs of jobs by hand; fill in a copy and load it",
        ),
    ]
}

/// Writes a file only where there is none; true where it did.
fn create(path: &Path, content: &str) -> Result<bool, AppError> {
    // A link that leads nowhere is somebody's as well.
    if path.symlink_metadata().is_ok() {
        return Ok(false);
    }
    whole_file::write(path, content)?;
    Ok(true)
}

impl Args {
    #[expect(clippy::unused_self, reason = "every command has the same form")]
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        check_data_dir(&settings.data)?;
        std::fs::create_dir_all(&settings.data).map_err(AppError::at(&settings.data))?;
        let mut created = Created::new(settings);
        for (name, content, purpose) in files() {
            let written = create(&settings.data.join(name), &content)?;
            created.files.push(CreatedFile { name, written, purpose });
        }
        output::show(settings, &created)?;
        Ok(Outcome::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lowwater_model::contract::{CONTRACT_FILE, Contract};
    use lowwater_model::workload::Workloads;

    #[test]
    fn the_workloads_template_declares_nothing_and_its_example_is_valid() {
        let template = include_str!("init/workloads.toml");
        assert_eq!(Workloads::parse(template, "workloads.toml").unwrap(), Workloads::default());
        let example: Vec<&str> = template.lines().filter_map(|l| l.strip_prefix("#| ")).collect();
        let parsed = Workloads::parse(&example.join("\n"), "workloads.toml").unwrap();
        assert_eq!(parsed.workload.len(), 3);
        assert!(parsed.workload.iter().all(|w| !w.select.is_empty()));
    }

    #[test]
    fn every_file_that_is_read_is_written_and_says_nothing_yet() {
        let dir = tempfile::tempdir().unwrap();
        for (name, content, _) in files() {
            assert!(create(&dir.path().join(name), &content).unwrap());
        }
        for file in lowwater_store::config::FILES {
            assert!(files().iter().any(|(name, _, _)| *name == file), "{file}");
        }
        let config = lowwater_store::config::Config::read(dir.path(), &registry::lever_sections()).unwrap();
        assert_eq!(config.warnings, Vec::<String>::new());
    }

    #[test]
    fn the_contract_template_agrees_on_nothing_and_its_example_is_valid() {
        let template = include_str!("init/contract.toml");
        assert_eq!(Contract::parse(template, CONTRACT_FILE).unwrap(), Contract::default());
        let example: Vec<&str> = template.lines().filter_map(|l| l.strip_prefix("#| ")).collect();
        let parsed = Contract::parse(&example.join("\n"), CONTRACT_FILE).unwrap();
        assert_eq!((parsed.discounts.len(), parsed.minimums.len()), (2, 1));
    }

    #[test]
    fn never_overwrites() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy.toml");
        assert!(create(&path, "mine").unwrap());
        assert!(!create(&path, "theirs").unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        assert!(create(&dir.path().join("missing/policy.toml"), "x").is_err());
    }
}
