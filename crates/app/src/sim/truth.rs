//! What is true of an organisation: whose each machine is, when it was really used, what may be done to it, what each owner paid.

use std::collections::BTreeMap;

use lowwater_model::money::Money;
use lowwater_store::export::Charge;
use serde::{Deserialize, Serialize};

use super::cases::Planted;
use crate::demo::bill::Owned;
use crate::demo::clock::HOURS;

/// Team, project and workload.
type Owner = (Option<String>, Option<String>, Option<String>);

/// The hidden file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Truth {
    /// Machines with GPUs; one that changed its owner stands once for each.
    pub machines: Vec<TrueMachine>,
    /// What each owner paid.
    pub paid: Vec<Paid>,
    /// Workloads of machines by what a bill calls them: name and id.
    #[serde(skip)]
    workloads: BTreeMap<(String, String), Owner>,
}

/// A machine.
#[derive(Debug, Serialize, Deserialize)]
pub struct TrueMachine {
    /// The case that it is of.
    pub case: String,
    /// The lever that should find it.
    pub wanted: Option<String>,
    /// ResourceId.
    pub resource: String,
    /// GPUs.
    pub gpus: f64,
    /// Seconds billed in each hour of the sample.
    pub billed_seconds: Vec<i64>,
    /// A character an hour of the sample: `1` where somebody used it.
    pub used: String,
    /// Must it run in every hour that it is billed?
    pub must_run: bool,
    /// May its work be interrupted?
    pub may_spot: bool,
}

/// What an owner paid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Paid {
    /// Team, in lower case; none = nobody's.
    pub team: Option<String>,
    /// Project.
    pub project: Option<String>,
    /// Workload.
    pub workload: Option<String>,
    /// Fees, tax, credits, commitments: of the cloud's account, not of an owner.
    pub is_of_cloud: bool,
    /// BilledCost.
    pub billed: Money,
    /// EffectiveCost.
    pub effective: Money,
}

impl TrueMachine {
    fn of(planted: &Planted) -> Self {
        let used = |hour: usize| planted.used.get(hour).copied().unwrap_or(false);
        Self {
            case: planted.case.name.to_owned(),
            wanted: planted.case.wanted.map(str::to_owned),
            resource: planted.machine.id.clone(),
            gpus: f64::from(planted.machine.gpus()),
            billed_seconds: (0..HOURS).map(|hour| planted.machine.seconds(hour)).collect(),
            used: (0..HOURS).map(|hour| if used(hour) { '1' } else { '0' }).collect(),
            must_run: planted.must_run,
            may_spot: planted.may_spot,
        }
    }

    /// Is it a false stop to stop it in this hour?
    pub fn is_needed(&self, hour: usize) -> bool {
        self.must_run || self.used.as_bytes().get(hour) == Some(&b'1')
    }
}

impl Truth {
    /// Of what was planted; nothing is paid yet.
    pub fn of(planted: &[Planted]) -> Self {
        let text = |name: Option<&str>| name.map(str::to_owned);
        let key = |p: &Planted| (p.machine.id.clone(), tag_of(&p.machine.tags));
        let owner = |p: &Planted| (text(p.team), text(p.project), text(p.workload));
        Self {
            machines: planted
                .iter()
                .filter(|p| p.machine.gpus() > 0)
                .map(TrueMachine::of)
                .collect(),
            workloads: planted.iter().map(|p| (key(p), owner(p))).collect(),
            paid: Vec::new(),
        }
    }

    /// One charge of the bill.
    pub fn paid(&mut self, charge: &Charge, of: &Owned<'_>) {
        let (team, project, workload) = self.owner(of);
        let is_of_cloud = matches!(of, Owned::Cloud);
        let same = |p: &&mut Paid| {
            (&p.team, &p.project, &p.workload, p.is_of_cloud) == (&team, &project, &workload, is_of_cloud)
        };
        if let Some(paid) = self.paid.iter_mut().find(same) {
            paid.billed += charge.costs.billed;
            paid.effective += charge.costs.effective;
            return;
        }
        self.paid.push(Paid {
            team,
            project,
            workload,
            is_of_cloud,
            billed: charge.costs.billed,
            effective: charge.costs.effective,
        });
    }

    fn owner(&self, of: &Owned<'_>) -> Owner {
        let (id, tags) = match of {
            Owned::Machine(machine) => (&machine.id, &machine.tags),
            Owned::Meter(meter) => (&meter.id, &meter.tags),
            Owned::Cloud => return (None, None, None),
        };
        let project = tags.get("project");
        let known = self.workloads.get(&(id.clone(), tag_of(tags)));
        // A disk belongs to the machines whose team and project it carries.
        let lower = |key: &str| tags.get(key).map(|value| value.to_lowercase());
        let team = lower("team");
        let of_project = || {
            let mut owners = self.workloads.values();
            owners.find(|owner| owner.0 == team && owner.1.as_ref() == project && project.is_some())
        };
        known
            .or_else(of_project)
            .cloned()
            .unwrap_or_else(|| (team.clone(), lower("project"), None))
    }
}

/// Tells stretches of one machine under several owners apart.
fn tag_of(tags: &BTreeMap<&'static str, String>) -> String {
    format!("{:?}", tags.get("team"))
}
