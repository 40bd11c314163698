//! `lowwater explain`

use lowwater_model::facts::Resource;
use lowwater_store::store::Store;

use super::Outcome;
use crate::config::Settings;
use crate::error::AppError;
use crate::view::explain::{Explained, Host, find};
use crate::{output, plan_file, registry};

/// Explain one GPU resource: its owner and who said so, cost, activity, and what the plan makes of it
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lowwater explain i-0123456789abcdef0")]
pub struct Args {
    /// ResourceId, its end, or the resource's name
    #[arg(value_name = "RESOURCE")]
    resource: String,
}

/// Hosts that the join found for a resource, each once.
pub fn hosts(store: &Store, resource: &Resource) -> Result<Vec<Host>, AppError> {
    let matched = store.joined()?.matched().iter().filter(|m| m.resource_id == resource.id.as_str());
    let mut hosts: Vec<Host> = matched.map(|m| Host { host: m.host.clone(), evidence: m.evidence.to_string() }).collect();
    hosts.sort();
    hosts.dedup();
    Ok(hosts)
}

impl Args {
    pub(super) fn run(&self, settings: &Settings) -> Result<Outcome, AppError> {
        let store = Store::open(&settings.data, &registry::lever_sections())?;
        let facts = store.facts(None)?;
        let resource = find(&facts, &self.resource).map_err(AppError::Usage)?;
        // A plan is no condition: without one the page says nothing of it.
        let plan = plan_file::read(settings, None).ok();
        let mut explained = Explained::new(&facts, resource, plan.as_ref(), hosts(&store, resource)?);
        explained.plan_stale = plan.and_then(|plan| plan_file::stale(&store, &plan, settings));
        output::show(settings, &explained)?;
        Ok(Outcome::Done)
    }
}
