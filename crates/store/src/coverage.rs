//! How much of the GPU money has activity beside it, and what could be measured, declared or tagged better.

use std::collections::{BTreeMap, BTreeSet};

use lowwater_model::charge::CostMetric;
use lowwater_model::facts::Owner;
use lowwater_model::money::Money;
use lowwater_model::workload::Traits;

use crate::error::StoreError;
use crate::join::{Match, Observed};
use crate::owner::Owners;
use crate::session::Row;
use crate::store::{Store, traits};

/// The join of bill and metrics, over everything that is loaded.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// Cost column of the amounts.
    pub metric: CostMetric,
    /// Compute cost of resources with a GPU.
    pub gpu_cost: Money,
    /// The part of it on resources with joined metrics.
    pub joined_cost: Money,
    /// Day by day (UTC).
    pub days: Vec<CoverageDay>,
    /// GPUs that were observed and match no billed resource.
    pub unmatched_gpus: Vec<Observed>,
    /// Hosts that could be several resources, which counts as none.
    pub ambiguous_hosts: BTreeMap<String, Vec<String>>,
    /// GPU resources that were billed and match no metrics, the most expensive first.
    pub unmatched_resources: Vec<GpuResource>,
    /// GPU resources that no workload selects, the most expensive first.
    pub undeclared_resources: Vec<GpuResource>,
    /// Joined resources whose memory, or power, was never measured.
    pub without_memory: BTreeSet<String>,
    /// See `without_memory`.
    pub without_power: BTreeSet<String>,
}

/// GPU-hours of a day.
#[derive(Clone, Debug, PartialEq)]
pub struct CoverageDay {
    /// The day.
    pub day: String,
    /// GPU-hours billed.
    pub billed_gpu_hours: Money,
    /// GPU-hours observed on billed resources.
    pub observed_gpu_hours: f64,
}

/// A billed GPU resource.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuResource {
    /// FOCUS ResourceId.
    pub resource_id: String,
    /// FOCUS ResourceName or Name tag.
    pub name: String,
    /// Instance type.
    pub sku: String,
    /// Compute cost.
    pub cost: Money,
}

/// Everything that is known of one resource, for `explain`.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// What a selector may look at.
    pub traits: Traits,
    /// Who owns it, and which rule said so.
    pub owner: Owner,
    /// How its GPUs were joined.
    pub matches: Vec<Match>,
    /// Cost of everything billed on it.
    pub cost: Money,
    /// Cost column of it.
    pub metric: CostMetric,
}

impl Coverage {
    /// Share of GPU money that is joined to activity, 0 to 1; none without GPU money.
    pub fn join_share(&self) -> Option<f64> {
        let whole = self.gpu_cost.estimate().amount();
        (whole != 0.0).then(|| self.joined_cost.estimate().amount() / whole)
    }
}

impl Store {
    /// The join of bill and metrics.
    pub fn coverage(&self) -> Result<Coverage, StoreError> {
        let metric = self.basis().metric;
        let joined = self.joined()?;
        let matched: BTreeSet<&str> = joined.matched().iter().map(|m| m.resource_id.as_str()).collect();
        let owners = Owners::new(&self.config().workloads, &self.config().policy);
        let mut coverage = Coverage {
            metric,
            gpu_cost: Money::ZERO,
            joined_cost: Money::ZERO,
            days: self.coverage_days()?,
            unmatched_gpus: joined.unmatched.clone(),
            ambiguous_hosts: joined.ambiguous.clone(),
            unmatched_resources: Vec::new(),
            undeclared_resources: Vec::new(),
            without_memory: self.never_measured("x_MemoryMaxBin")?,
            without_power: self.never_measured("x_PowerMaxMilliWatt")?,
        };
        for row in self
            .session()?
            .query("SELECT * FROM gpu_resource_traits ORDER BY ResourceId")?
            .iter()
        {
            let traits = traits(row, joined);
            let resource = gpu_resource(row, &traits, metric);
            coverage.gpu_cost += resource.cost;
            if owners.of(&traits).workload.is_none() {
                coverage.undeclared_resources.push(resource.clone());
            }
            if matched.contains(traits.resource_id.as_str()) {
                coverage.joined_cost += resource.cost;
            } else {
                coverage.unmatched_resources.push(resource);
            }
        }
        for list in [&mut coverage.unmatched_resources, &mut coverage.undeclared_resources] {
            list.sort_by(|a, b| b.cost.cmp(&a.cost).then_with(|| a.resource_id.cmp(&b.resource_id)));
        }
        Ok(coverage)
    }

    fn coverage_days(&self) -> Result<Vec<CoverageDay>, StoreError> {
        let sql = "SELECT to_char(x_Day, '%Y-%m-%d') AS day, x_BilledGpuHours, x_ObservedGpuSeconds FROM coverage_days ORDER BY 1";
        let read = |row: Row<'_>| CoverageDay {
            day: row.text_or_empty("day").to_owned(),
            billed_gpu_hours: row.money_or_zero("x_BilledGpuHours"),
            observed_gpu_hours: row.int("x_ObservedGpuSeconds").unwrap_or(0) as f64 / 3600.0,
        };
        Ok(self.session()?.query(sql)?.iter().map(read).collect())
    }

    /// Joined resources for which a column of `resource_hours` is null in every hour.
    fn never_measured(&self, column: &str) -> Result<BTreeSet<String>, StoreError> {
        let sql = format!("SELECT ResourceId FROM resource_hours GROUP BY ResourceId HAVING count({column}) = 0");
        let rows = self.session()?.query(&sql)?;
        Ok(rows
            .iter()
            .filter_map(|r| r.text("ResourceId").map(Into::into))
            .collect())
    }

    /// What is known of a resource, by its id or name.
    pub fn explain(&self, resource: &str) -> Result<Option<Explanation>, StoreError> {
        let metric = self.basis().metric;
        let quoted = resource.replace('\'', "''");
        let sql = format!(
            "SELECT ResourceId, ResourceName, x_AccountId, SubAccountName, RegionId, x_Sku, Tags, sum({}) AS cost
             FROM bill WHERE ResourceId = '{quoted}' OR ResourceName = '{quoted}'
             GROUP BY ResourceId, ResourceName, x_AccountId, SubAccountName, RegionId, x_Sku, Tags
             ORDER BY x_Sku IS NULL, cost DESC, ResourceId",
            metric.column()
        );
        let rows = self.session()?.query(&sql)?;
        let Some(first) = rows.iter().next() else {
            return Ok(None);
        };
        let joined = self.joined()?;
        let traits = traits(first, joined);
        let same = |row: &Row<'_>| row.text_or_empty("ResourceId") == traits.resource_id;
        let owner = Owners::new(&self.config().workloads, &self.config().policy).of(&traits);
        let matches = joined
            .matched()
            .iter()
            .filter(|m| m.resource_id == traits.resource_id)
            .cloned()
            .collect();
        let cost = rows.iter().filter(same).map(|r| r.money_or_zero("cost")).sum();
        Ok(Some(Explanation {
            traits,
            owner,
            matches,
            cost,
            metric,
        }))
    }
}

fn gpu_resource(row: Row<'_>, traits: &Traits, metric: CostMetric) -> GpuResource {
    GpuResource {
        resource_id: traits.resource_id.clone(),
        name: traits.resource_name.clone(),
        sku: traits.sku.clone(),
        cost: row.money_or_zero(metric.column()),
    }
}
