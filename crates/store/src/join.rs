//! Which observed GPU belongs to which billed resource: `hosts.csv`, then names, then the private-DNS form.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A row of `hosts.csv`: a host name, node name or GPU UUID, and the resource it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRow {
    /// Host, node or GPU UUID.
    pub host: String,
    /// FOCUS ResourceId.
    pub resource_id: String,
}

/// Ids that the cloud gave to hosts, as the metrics say, by host.
pub type ProviderIds = BTreeMap<String, BTreeSet<String>>;

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
///
/// A host of a Prometheus server is `CLUSTER/HOST`: it is looked for as it is, then without its cluster.
pub fn join(rows: &[HostRow], provider_ids: &ProviderIds, billed: &[Billed], observed: &[Observed]) -> Joined {
    let resources = Resources::new(rows, provider_ids, billed);
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
    by_provider_id: Index<'a>,
    by_name: Index<'a>,
    /// By the first label of names that are private DNS names.
    by_label: Index<'a>,
    by_id: Index<'a>,
    by_scale_set: Index<'a>,
    gpus: BTreeMap<&'a str, i64>,
}

impl<'a> Resources<'a> {
    fn new(rows: &[HostRow], provider_ids: &ProviderIds, billed: &'a [Billed]) -> Self {
        let mut all = Self {
            by_hosts_csv: Index::new(),
            by_provider_id: Index::new(),
            by_name: Index::new(),
            by_label: Index::new(),
            by_id: Index::new(),
            by_scale_set: Index::new(),
            gpus: billed.iter().map(|b| (b.resource_id.as_str(), b.gpus)).collect(),
        };
        for resource in billed {
            all.add(resource);
        }
        for row in rows {
            // The short form of an id (`i-0abc`) is what people write down; bills may hold the ARN.
            let full = all
                .gpus
                .get_key_value(row.resource_id.as_str())
                .map(|(id, _)| BTreeSet::from([*id]));
            let ids = full.or_else(|| all.by_id.get(&row.resource_id.to_lowercase()).cloned());
            let known = all.by_hosts_csv.entry(row.host.trim().to_lowercase()).or_default();
            known.extend(ids.unwrap_or_default());
        }
        // A row for a resource that is not billed says nothing.
        all.by_hosts_csv.retain(|_, ids| !ids.is_empty());
        for (host, ids) in provider_ids {
            let found: BTreeSet<&str> = ids.iter().flat_map(|id| all.of_provider_id(id)).collect();
            if !found.is_empty() {
                all.by_provider_id.insert(host.to_lowercase(), found);
            }
        }
        all
    }

    /// Resources that a provider id such as `aws:///us-east-1a/i-0abc` or `gce://project/zone/name` can mean.
    fn of_provider_id(&self, id: &str) -> BTreeSet<&'a str> {
        let id = id.to_lowercase();
        let path = id.split_once("://").map_or(id.as_str(), |(_, path)| path);
        let in_set = scale_set_part(path);
        let set = in_set
            .as_deref()
            .and_then(|part| part.split_once('/'))
            .map(|(set, _)| set);
        let found = match &in_set {
            Some(part) => self.by_scale_set.get(part).or_else(|| self.by_scale_set.get(set?)),
            None => self.by_id.get(last_part(path)),
        };
        let said: BTreeSet<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let found = found
            .into_iter()
            .flatten()
            .copied()
            .filter(|resource| is_within(&resource.to_lowercase(), &said));
        // Of two of one name the one with more of the path: the same project, zone, subscription, group.
        let mut best: (usize, BTreeSet<&'a str>) = (0, BTreeSet::new());
        for resource in found {
            let shared = resource
                .to_lowercase()
                .split('/')
                .filter(|part| said.contains(part))
                .count();
            match shared.cmp(&best.0) {
                Ordering::Greater => best = (shared, BTreeSet::from([resource])),
                Ordering::Equal => drop(best.1.insert(resource)),
                Ordering::Less => {}
            }
        }
        best.1
    }

    fn add(&mut self, resource: &'a Billed) {
        let id = resource.resource_id.as_str();
        let mut note = |index: fn(&mut Self) -> &mut Index<'a>, name: &str| {
            index(self).entry(name.to_owned()).or_default().insert(id);
        };
        for name in [&resource.resource_name, &resource.name_tag].into_iter().flatten() {
            let name = name.trim().to_lowercase();
            note(|all| &mut all.by_name, &name);
            if let Some((label, _)) = name.split_once('.') {
                note(|all| &mut all.by_label, label);
            }
        }
        let id = id.to_lowercase();
        note(|all| &mut all.by_id, last_part(&id));
        if let Some(node) = scale_set_part(&id) {
            note(|all| &mut all.by_scale_set, &node);
        }
    }

    fn find(&self, gpu: &Observed) -> Outcome<'a> {
        let full = gpu.host.trim().to_lowercase();
        // Without its cluster.
        let host = full.rsplit_once('/').map_or(full.as_str(), |(_, host)| host);
        // An index such as `0` names no GPU outside its host.
        let is_index = gpu.gpu.bytes().all(|b| b.is_ascii_digit());
        let uuid = if is_index {
            String::new()
        } else {
            gpu.gpu.trim().to_lowercase()
        };
        let (label, is_long) = host.split_once('.').map_or((host, false), |(label, _)| (label, true));
        // Only one side may be cut to its first label: `web.prod` is not `web.dev`.
        let cut = if is_long { "" } else { label };
        let (scale_set, instance) = scale_set_node(label).unwrap_or_default();
        let rules: [(&Index<'a>, &str, &'static str); 13] = [
            (&self.by_hosts_csv, &uuid, "hosts.csv by GPU"),
            (&self.by_hosts_csv, &full, "hosts.csv"),
            (&self.by_hosts_csv, host, "hosts.csv"),
            (
                &self.by_hosts_csv,
                label,
                "hosts.csv by the first label of the private DNS name",
            ),
            (&self.by_provider_id, &full, "provider id of the node"),
            (&self.by_name, &full, "ResourceName or Name tag"),
            (&self.by_name, host, "ResourceName or Name tag"),
            (&self.by_id, host, "ResourceId"),
            (&self.by_name, label, "first label of the private DNS name"),
            (&self.by_label, cut, "first label of the private DNS name"),
            (&self.by_id, label, "ResourceId in the private DNS name"),
            (
                &self.by_scale_set,
                &instance,
                "instance of a scale set in the node name",
            ),
            (&self.by_scale_set, &scale_set, "scale set in the node name"),
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

/// Azure names the nodes of a scale set after it: `aks-gpu-12345678-vmss00000a` is instance 10 of `aks-gpu-12345678-vmss`.
/// Gives the names under which [`scale_set_part`] knows the set and the instance.
fn scale_set_node(label: &str) -> Option<(String, String)> {
    const DIGITS: usize = 6;
    let at = label.len().checked_sub(DIGITS)?;
    let (set, number) = label.split_at_checked(at)?;
    let number = u32::from_str_radix(number, 36).ok().filter(|_| set.ends_with("vmss"))?;
    Some((set.to_owned(), format!("{set}/{number}")))
}

/// `SET` of a scale set's id and `SET/INSTANCE` of an instance's id, in lower case.
fn scale_set_part(id: &str) -> Option<String> {
    let (_, rest) = id.split_once("/virtualmachinescalesets/")?;
    match rest.split_once("/virtualmachines/") {
        Some((set, instance)) => Some(format!("{set}/{instance}")),
        None => Some(rest.to_owned()),
    }
}

/// An id that names its project, zone, subscription or group must name the ones that the provider id has.
fn is_within(resource: &str, said: &BTreeSet<&str>) -> bool {
    let parts: Vec<&str> = resource.split('/').collect();
    let is_place = |part: &str| ["projects", "zones", "subscriptions", "resourcegroups"].contains(&part);
    parts
        .windows(2)
        .all(|pair| !is_place(pair[0]) || said.contains(pair[1]))
}

/// The part of an id after the last slash: `i-0abc` of an ARN, the name of an Azure or GCP resource.
fn last_part(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            &ProviderIds::new(),
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

    #[test]
    fn nodes_of_a_scale_set() {
        let set = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu-12345678-vmss";
        let one = |host: &str, billed: &[Billed]| {
            let gpu = Observed {
                host: host.into(),
                gpu: "0".into(),
            };
            join(&[], &ProviderIds::new(), billed, &[gpu])
                .matched()
                .first()
                .map(|m| (m.resource_id.clone(), m.evidence))
        };
        let whole = [billed(set, None, None)];
        let found = one("aks-gpu-12345678-vmss00000a", &whole);
        assert_eq!(found, Some((set.to_owned(), "scale set in the node name")));
        let instances = [0, 10].map(|n| billed(&format!("{set}/virtualMachines/{n}"), None, None));
        let id = |host: &str| one(host, &instances).map(|(id, _)| id);
        assert_eq!(
            id("aks-gpu-12345678-vmss00000a"),
            Some(instances[1].resource_id.clone())
        );
        assert_eq!(
            id("aks-gpu-12345678-vmss000000.internal"),
            Some(instances[0].resource_id.clone())
        );
        assert_eq!(id("aks-gpu-12345678-vmss000003"), None);
        assert_eq!(id("aks-cpu-12345678-vmss000000"), None);
        assert_eq!(scale_set_node("vmss"), None);
        assert_eq!(scale_set_node("übergrößévmss"), None);
    }

    #[test]
    fn only_one_side_is_cut_to_its_first_label() {
        let resources = [
            billed("i-1", Some("ip-10-0-0-1.ec2.internal"), None),
            billed("i-2", Some("web.prod"), None),
        ];
        let id = |host: &str| {
            let gpu = Observed {
                host: host.into(),
                gpu: "GPU-1".into(),
            };
            join(&[], &ProviderIds::new(), &resources, &[gpu])
                .matched()
                .first()
                .map(|m| m.resource_id.clone())
        };
        assert_eq!(id("ip-10-0-0-1"), Some("i-1".into()));
        assert_eq!(id("ip-10-0-0-1.ec2.internal"), Some("i-1".into()));
        assert_eq!(id("web.dev"), None);
        assert_eq!(id("WEB.PROD"), Some("i-2".into()));
    }

    #[test]
    fn hosts_csv_knows_short_names_and_no_bare_index() {
        assert_eq!(
            find(&[("node7", "i-0def")], "node7.cluster.internal", "0").map(|r| r.0),
            Ok("i-0def".into())
        );
        assert_eq!(find(&[("0", "i-0def")], "elsewhere", "0"), Err(1));
        assert_eq!(
            find(&[("gpu-1", "I-0DEF")], "elsewhere", "GPU-1").map(|r| r.0),
            Ok("i-0def".into())
        );
    }

    fn by_provider_id(
        resources: &[&str],
        rows: &[(&str, &str)],
        ids: &[&str],
    ) -> Result<(String, &'static str), usize> {
        let resources: Vec<Billed> = resources.iter().map(|id| billed(id, None, None)).collect();
        let row = |(host, id): &(&str, &str)| HostRow {
            host: (*host).into(),
            resource_id: (*id).into(),
        };
        let rows: Vec<HostRow> = rows.iter().map(row).collect();
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        let gpu = Observed {
            host: "eu/node-1".into(),
            gpu: "GPU-1".into(),
        };
        let joined = join(
            &rows,
            &ProviderIds::from([("eu/Node-1".into(), ids)]),
            &resources,
            &[gpu],
        );
        match joined.matched() {
            [one] => Ok((one.resource_id.clone(), one.evidence)),
            _ => Err(joined.ambiguous.values().map(Vec::len).sum()),
        }
    }

    #[test]
    fn provider_ids_of_each_cloud() {
        let gcp = |project: &str, zone: &str| {
            format!("//compute.googleapis.com/projects/{project}/zones/{zone}/instances/gke-1")
        };
        let set =
            "/subscriptions/S1/resourceGroups/mc_g/providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu-vmss";
        let other = set.replace("S1", "S2");
        let (in_set, in_other) = (format!("{set}/virtualMachines/3"), format!("{other}/virtualMachines/3"));
        let (here, there, away) = (gcp("p", "z1"), gcp("p", "z2"), gcp("q", "z1"));
        let arn = "arn:aws:ec2:us-east-1:1:instance/i-0abc";
        let cases: [(&str, &[&str], Result<&str, usize>); 9] = [
            ("aws:///us-east-1a/i-0abc", &[arn, "i-0def"], Ok(arn)),
            ("aws:///us-east-1a/i-0abc", &["i-0ABC"], Ok("i-0ABC")),
            ("aws:///us-east-1a/i-0abc", &["i-0def"], Err(0)),
            ("gce://p/z1/gke-1", &[&here, &there, &away], Ok(&here)),
            ("gce://p/z1/gke-1", &[&there, &away], Err(0)),
            ("gce://p/z1/gke-1", &["gke-1"], Ok("gke-1")),
            (&format!("azure://{in_set}"), &[&in_set, &in_other], Ok(&in_set)),
            (&format!("azure://{}", in_set.to_lowercase()), &[set, &other], Ok(set)),
            (&format!("azure://{in_set}"), &[&other], Err(0)),
        ];
        for (id, resources, want) in cases {
            let got = by_provider_id(resources, &[], &[id]);
            assert_eq!(
                got,
                want.map(|id| (id.to_owned(), "provider id of the node")),
                "{id} {resources:?}"
            );
        }
    }

    #[test]
    fn hosts_csv_goes_before_provider_ids_and_two_ids_are_no_match() {
        let resources = ["i-0abc", "i-0def"];
        let ids = ["aws:///z/i-0abc"];
        let id = |rows: &[(&str, &str)], ids: &[&str]| by_provider_id(&resources, rows, ids).map(|(id, _)| id);
        assert_eq!(id(&[], &ids), Ok("i-0abc".into()));
        assert_eq!(id(&[("eu/node-1", "i-0def")], &ids), Ok("i-0def".into()));
        assert_eq!(
            id(&[("node-1", "i-0def")], &ids),
            Ok("i-0def".into()),
            "a row without the cluster too"
        );
        assert_eq!(id(&[("eu/node-1", "i-gone")], &ids), Ok("i-0abc".into()));
        assert_eq!(
            id(&[], &["aws:///z/i-0abc", "aws:///z/i-0def"]),
            Err(2),
            "a name that two machines had"
        );
    }

    #[test]
    fn a_host_of_a_cluster_is_found_without_its_cluster_too() {
        assert_eq!(
            find(&[], "eu/train-1", "0"),
            Ok(("i-0def".into(), "ResourceName or Name tag"))
        );
        assert_eq!(
            find(&[("train-1", "i-0abc")], "eu/TRAIN-1", "0").map(|r| r.1),
            Ok("hosts.csv")
        );
        assert_eq!(
            find(&[("us/train-1", "i-0abc")], "eu/train-1", "0").map(|r| r.0),
            Ok("i-0def".into())
        );
        assert_eq!(find(&[], "eu/twin", "0"), Err(0));
        assert_eq!(find(&[], "eu/", "0"), Err(1));
    }

    proptest! {
        /// Every GPU is matched, unmatched or ambiguous, once; a match is a billed resource; the order of input does not matter.
        #[test]
        fn each_gpu_has_one_outcome(
            names in prop::collection::vec(("[ab]{1,2}(\\.x)?", "[ab]{1,2}"), 0..8),
            hosts in prop::collection::btree_set(("[abAB]{1,2}(\\.x)?", "[01]"), 0..8),
            rows in prop::collection::vec(("[ab]{1,2}", 0..8_usize), 0..3),
        ) {
            let resources: Vec<Billed> = names.iter().enumerate().map(|(i, (name, tag))| billed(&format!("r/{i}"), Some(name), Some(tag))).collect();
            let rows: Vec<HostRow> = rows.into_iter().map(|(host, i)| HostRow { host, resource_id: format!("r/{i}") }).collect();
            let observed: Vec<Observed> = hosts.into_iter().map(|(host, gpu)| Observed { host, gpu }).collect();
            let joined = join(&rows, &ProviderIds::new(), &resources, &observed);
            for gpu in &observed {
                let matches = joined.matched().iter().filter(|m| m.host == gpu.host && m.gpu == gpu.gpu).collect::<Vec<_>>();
                let unmatched = joined.unmatched.iter().filter(|u| *u == gpu).count();
                let ambiguous = usize::from(joined.ambiguous.contains_key(&gpu.host));
                prop_assert_eq!(matches.len() + unmatched + ambiguous, 1);
                for found in &matches {
                    prop_assert!(resources.iter().any(|r| r.resource_id == found.resource_id));
                }
                // By brute force: a full name that one resource has, and no row of hosts.csv, is that resource.
                let host = gpu.host.to_lowercase();
                let is_named = |r: &&Billed| [&r.resource_name, &r.name_tag].iter().any(|n| n.as_deref() == Some(&host));
                let named: Vec<_> = resources.iter().filter(is_named).collect();
                let label = host.split('.').next().unwrap_or_default();
                if !rows.iter().any(|r| r.host == host || r.host == label) && !named.is_empty() {
                    let want = if named.len() == 1 { Some(&named[0].resource_id) } else { None };
                    prop_assert_eq!(matches.first().map(|m| &m.resource_id), want);
                }
            }
            let mut backwards = (rows, resources, observed);
            backwards.0.reverse();
            backwards.1.reverse();
            backwards.2.reverse();
            prop_assert_eq!(join(&backwards.0, &ProviderIds::new(), &backwards.1, &backwards.2), joined);
        }
    }
}
