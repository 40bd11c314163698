//! What bill and metrics say of resources that nobody declared, for the guess of their class.

use std::collections::{BTreeMap, BTreeSet};

use lowwater_model::clue::Clues;
use lowwater_model::facts::Resource;
use lowwater_model::id::ResourceId;
use lowwater_model::job::JobRun;
use lowwater_model::period::Period;
use lowwater_model::workload::{Class, Traits};

use crate::error::StoreError;
use crate::join::Observed;
use crate::store::Store;
use crate::views::instant;

/// Distinct descriptions of one resource that are kept: bills that write a new one each hour say nothing with it.
const MAX_USAGE_TYPES: usize = 16;

impl Store {
    /// The clues of each GPU resource in the bill of a period, by id.
    pub(crate) fn clues(&self, history: Period) -> Result<BTreeMap<ResourceId, Clues>, StoreError> {
        let (start, end) = (instant(history.start.as_second()), instant(history.end.as_second()));
        let sql = format!(
            "SELECT ResourceId, ServiceName, coalesce(ServiceSubcategory, ServiceCategory) AS x_Category, ResourceType,
                    SkuMeter, ChargeDescription, max(ChargePeriodStart) AS newest
             FROM charges
             WHERE x_LineKind = 'compute' AND x_GpuType IS NOT NULL AND ResourceId IS NOT NULL
               AND ChargePeriodStart >= {start} AND ChargePeriodStart < {end}
             GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY ResourceId, newest, ServiceName, SkuMeter, ChargeDescription"
        );
        let mut out: BTreeMap<ResourceId, Clues> = BTreeMap::new();
        for row in self.session()?.query(&sql)?.iter() {
            let clues = out.entry(row.text_or_empty("ResourceId").into()).or_default();
            let newest = |slot: &mut Option<String>, column: &str| {
                if let Some(text) = row.text(column) {
                    *slot = Some(text.to_owned());
                }
            };
            newest(&mut clues.service, "ServiceName");
            newest(&mut clues.service_category, "x_Category");
            newest(&mut clues.resource_type, "ResourceType");
            let said = ["SkuMeter", "ChargeDescription"]
                .into_iter()
                .filter_map(|column| row.text(column));
            for text in said {
                if clues.usage_types.len() < MAX_USAGE_TYPES {
                    clues.usage_types.insert(text.to_owned());
                }
            }
        }
        Ok(out)
    }

    /// Writes into undeclared resources which jobs ran on them: their nodes are found like the hosts of metrics.
    pub(crate) fn place_jobs(&self, jobs: &[JobRun], resources: &mut [Resource]) -> Result<(), StoreError> {
        let mut jobs_of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for run in jobs {
            for node in &run.nodes {
                jobs_of.entry(node).or_default().insert(&run.job);
            }
        }
        let observed: Vec<Observed> = jobs_of
            .keys()
            .map(|node| Observed {
                host: (*node).to_owned(),
                gpu: String::new(),
            })
            .collect();
        if observed.is_empty() {
            return Ok(());
        }
        let joined = self.join_hosts(self.session()?, &observed)?;
        for resource in resources
            .iter_mut()
            .filter(|resource| resource.owner.class == Class::Unknown)
        {
            let nodes = joined.hosts_of(resource.id.as_str());
            let jobs = nodes.iter().filter_map(|node| jobs_of.get(node.as_str())).flatten();
            resource.clues.jobs = jobs.map(|job| (*job).to_owned()).collect();
        }
        Ok(())
    }
}

/// The clues of a resource: none where its class is declared, because then nobody guesses.
pub(crate) fn of(class: Class, traits: &Traits, billed: Option<Clues>) -> Clues {
    if class != Class::Unknown {
        return Clues::default();
    }
    Clues {
        tags: traits.tags.clone(),
        namespaces: traits.namespaces.iter().cloned().collect::<BTreeSet<_>>(),
        ..billed.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use crate::sample::{Line, focus_csv, load_text, open};

    #[test]
    fn undeclared_machines_carry_what_the_bill_says_of_them() {
        let line = |resource: &str, tags: &str| Line {
            tags: tags.into(),
            ..Line::hour(resource, "p4d.24xlarge", "2026-10-01T00:00:00Z".parse().unwrap(), "3")
        };
        let dir = tempfile::tempdir().unwrap();
        let lines = [
            line("i-1", r#"{"App":"jupyter"}"#),
            line("i-2", r#"{"workload-class":"training"}"#),
        ];
        load_text(dir.path(), "bill.csv", &focus_csv(&lines));
        let facts = open(dir.path()).facts(None).unwrap();
        let [undeclared, declared] = &facts.resources[..] else {
            panic!("{:?}", facts.resources)
        };
        assert_eq!(undeclared.clues.tags.get("app").map(String::as_str), Some("jupyter"));
        assert_eq!(undeclared.clues.service.as_deref(), Some("EC2"));
        assert_eq!(undeclared.clues.service_category.as_deref(), Some("Compute"));
        assert!(declared.clues.is_empty(), "a declared class is not guessed");
    }

    #[test]
    fn jobs_stand_on_the_machines_of_their_nodes() {
        let line = |resource: &str| Line::hour(resource, "p4d.24xlarge", "2026-10-01T00:00:00Z".parse().unwrap(), "3");
        let dir = tempfile::tempdir().unwrap();
        load_text(
            dir.path(),
            "bill.csv",
            &focus_csv(&[line("i-1"), line("i-2"), line("i-3")]),
        );
        let jobs = "job,start,end,nodes\n7,2026-10-01T00:00:00Z,2026-10-01T01:00:00Z,i-[1-2]\n\
                    8,2026-10-01T00:00:00Z,2026-10-01T01:00:00Z,i-2 elsewhere\n";
        load_text(dir.path(), "jobs.csv", jobs);
        let facts = open(dir.path()).facts(None).unwrap();
        let on = |id: &str| {
            let resource = facts.resources.iter().find(|r| r.id.as_str() == id).unwrap();
            resource
                .clues
                .jobs
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(
            (on("i-1"), on("i-2"), on("i-3")),
            ("7".into(), "7 8".into(), String::new())
        );
    }
}
