//! Which observed GPU belongs to which billed resource: `hosts.csv`, then names, then the private-DNS form.

use std::collections::{BTreeMap, BTreeSet};

/// A row of `hosts.csv`: a host name, node name or GPU UUID, and the resource it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRow {
    /// Host, node or GPU UUID.
    pub host: String,
    /// FOCUS ResourceId.
    pub resource_id: String,
}

/// A billed resource with a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Billed {
    /// FOCUS ResourceId.
    pub resource_id: String,
    /// FOCUS ResourceName.
    pub resource_name: Option<String>,
    /// Tag `Name`.
    pub name_tag: Option<String>,
    /// GPUs, a shared one counted whole.
    pub gpus: i64,
}

/// A GPU that was observed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Observed {
    /// Host; empty where the metrics name none.
    pub host: String,
    /// UUID, else index on the host.
    pub gpu: String,
}

/// An observed GPU with its resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// Host.
    pub host: String,
    /// GPU.
    pub gpu: String,
    /// FOCUS ResourceId.
    pub resource_id: String,
    /// GPUs of that resource.
    pub resource_gpus: i64,
    /// Which rule matched.
    pub evidence: &'static str,
}

/// Everything that the join found, and did not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    matches: Vec<Match>,
    /// GPUs that match no resource.
    pub unmatched: Vec<Observed>,
    /// Hosts that match several resources, which is no match.
    pub ambiguous: BTreeMap<String, Vec<String>>,
    hosts: BTreeMap<String, BTreeSet<String>>,
}

impl Joined {
    /// Every matched GPU, sorted.
    pub fn matched(&self) -> &[Match] {
        &self.matches
    }

    /// Hosts of a resource.
    pub fn hosts_of(&self, resource_id: &str) -> Vec<String> {
        self.hosts
            .get(resource_id)
            .map(|h| h.iter().cloned().collect())
            .unwrap_or_default()
    }
}

/// Resources by one way of naming them, in lower case.
type Index<'a> = BTreeMap<String, BTreeSet<&'a str>>;

/// What a host name finds.
enum Outcome<'a> {
    One(&'a str, &'static str),
    Several(Vec<String>),
    None,
}

/// Joins. A host that two resources could be is none: a wrong join would stop the wrong machine.
pub fn join(rows: &[HostRow], billed: &[Billed], observed: &[Observed]) -> Joined {
    let resources = Resources::new(rows, billed);
    let mut out = Joined::default();
    for gpu in observed {
        match resources.find(gpu) {
            Outcome::One(id, evidence) => {
                out.hosts.entry(id.to_owned()).or_default().insert(gpu.host.clone());
                out.matches.push(Match {
                    host: gpu.host.clone(),
                    gpu: gpu.gpu.clone(),
                    resource_id: id.to_owned(),
                    resource_gpus: resources.gpus.get(id).copied().unwrap_or(1),
                    evidence,
                });
            }
            Outcome::Several(ids) => {
                out.ambiguous.insert(gpu.host.clone(), ids);
            }
            Outcome::None => out.unmatched.push(gpu.clone()),
        }
    }
    out.matches.sort();
    out.unmatched.sort();
    out
}

struct Resources<'a> {
    by_hosts_csv: Index<'a>,
    by_name: Index<'a>,
    by_id: Index<'a>,
    gpus: BTreeMap<&'a str, i64>,
}

impl<'a> Resources<'a> {
    fn new(rows: &'a [HostRow], billed: &'a [Billed]) -> Self {
        let known: BTreeMap<&str, &str> = billed
            .iter()
            .map(|b| (b.resource_id.as_str(), b.resource_id.as_str()))
            .collect();
        let mut by_hosts_csv = Index::new();
        for row in rows {
            // The short form of an id (`i-0abc`) is what people write down; bills may hold the ARN.
            let full = known.get(row.resource_id.as_str()).copied();
            let id = full.or_else(|| {
                billed
                    .iter()
                    .map(|b| b.resource_id.as_str())
                    .find(|id| last_part(id) == row.resource_id)
            });
            if let Some(id) = id {
                by_hosts_csv.entry(row.host.to_lowercase()).or_default().insert(id);
            }
        }
        let (mut by_name, mut by_id) = (Index::new(), Index::new());
        for resource in billed {
            let id = resource.resource_id.as_str();
            for name in [&resource.resource_name, &resource.name_tag].into_iter().flatten() {
                by_name.entry(name.trim().to_lowercase()).or_default().insert(id);
            }
            by_id.entry(last_part(id).to_lowercase()).or_default().insert(id);
        }
        let gpus = billed.iter().map(|b| (b.resource_id.as_str(), b.gpus.max(1))).collect();
        Self {
            by_hosts_csv,
            by_name,
            by_id,
            gpus,
        }
    }

    fn find(&self, gpu: &Observed) -> Outcome<'a> {
        let host = gpu.host.trim().to_lowercase();
        let label = host.split('.').next().unwrap_or_default().to_owned();
        let uuid = gpu.gpu.to_lowercase();
        let rules: [(&Index<'a>, &str, &'static str); 6] = [
            (&self.by_hosts_csv, &uuid, "hosts.csv by GPU"),
            (&self.by_hosts_csv, &host, "hosts.csv"),
            (&self.by_name, &host, "ResourceName or Name tag"),
            (&self.by_id, &host, "ResourceId"),
            (&self.by_name, &label, "first label of the private DNS name"),
            (&self.by_id, &label, "ResourceId in the private DNS name"),
        ];
        let hit = rules.iter().find_map(|(index, name, evidence)| {
            let ids = if name.is_empty() { None } else { index.get(*name) }?;
            Some((ids, *evidence))
        });
        match hit {
            None => Outcome::None,
            Some((ids, evidence)) if ids.len() == 1 => {
                ids.first().map_or(Outcome::None, |id| Outcome::One(id, evidence))
            }
            Some((ids, _)) => Outcome::Several(ids.iter().map(|id| (*id).to_owned()).collect()),
        }
    }
}

/// The part of an id after the last slash: `i-0abc` of an ARN, the name of an Azure or GCP resource.
fn last_part(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn billed(id: &str, name: Option<&str>, tag: Option<&str>) -> Billed {
        Billed {
            resource_id: id.into(),
            resource_name: name.map(Into::into),
            name_tag: tag.map(Into::into),
            gpus: 8,
        }
    }

    fn find(rows: &[(&str, &str)], host: &str, gpu: &str) -> Result<(String, &'static str), usize> {
        let rows: Vec<HostRow> = rows
            .iter()
            .map(|(h, r)| HostRow {
                host: (*h).into(),
                resource_id: (*r).into(),
            })
            .collect();
        let resources = [
            billed("arn:aws:ec2:us-east-1:1:instance/i-0abc", None, Some("ip-10-0-1-2")),
            billed("i-0def", Some("train-1"), None),
            billed(
                "//compute.googleapis.com/projects/p/zones/z/instances/gke-a-b-1",
                Some("gke-a-b-1"),
                None,
            ),
            billed("r4", Some("twin"), None),
            billed("r5", Some("Twin"), None),
        ];
        let joined = join(
            &rows,
            &resources,
            &[Observed {
                host: host.into(),
                gpu: gpu.into(),
            }],
        );
        match joined.matched() {
            [one] => Ok((one.resource_id.clone(), one.evidence)),
            _ => Err(joined.unmatched.len()),
        }
    }

    #[test]
    fn rules_go_in_order() {
        let id = |r: Result<(String, &'static str), usize>| r.map(|(id, _)| id);
        assert_eq!(id(find(&[], "train-1", "0")), Ok("i-0def".into()));
        assert_eq!(
            id(find(&[("train-1", "i-0abc")], "TRAIN-1", "0")),
            Ok("arn:aws:ec2:us-east-1:1:instance/i-0abc".into())
        );
        assert_eq!(
            id(find(&[("GPU-1", "r4"), ("train-1", "i-0abc")], "train-1", "GPU-1")),
            Ok("r4".into())
        );
        assert_eq!(
            find(&[], "ip-10-0-1-2.us-west-2.compute.internal", "0"),
            Ok((
                "arn:aws:ec2:us-east-1:1:instance/i-0abc".into(),
                "first label of the private DNS name"
            ))
        );
        assert_eq!(
            find(&[], "i-0def.us-west-2.compute.internal", "0"),
            Ok(("i-0def".into(), "ResourceId in the private DNS name"))
        );
        assert_eq!(
            find(&[], "gke-a-b-1.c.p.internal", "0").map(|r| r.1),
            Ok("first label of the private DNS name")
        );
    }

    #[test]
    fn two_candidates_are_no_match_and_nothing_matches_nothing() {
        assert_eq!(find(&[], "twin", "0"), Err(0));
        assert_eq!(find(&[], "elsewhere", "0"), Err(1));
        assert_eq!(find(&[], "", ""), Err(1));
        assert_eq!(
            find(&[("h", "gone")], "h", "0"),
            Err(1),
            "a row of hosts.csv for a resource that is not billed"
        );
    }
}
