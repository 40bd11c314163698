//! Hardware facts: which accelerator, and how many, an instance type has. Tables with source and date.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::id::{Accelerator, Sku};

/// One instance type.
#[derive(Clone, Debug, PartialEq)]
pub struct SkuFact {
    /// Cloud id: `aws`, `gcp`, `azure`, `lambda`, `nebius`.
    pub cloud: &'static str,
    /// The provider's name.
    pub sku: Sku,
    /// Accelerator model.
    pub accelerator: Accelerator,
    /// Accelerators; a fraction where one is shared.
    pub count: f64,
    /// Does it have disks that lose their data on a stop? None = not known.
    pub instance_store: Option<bool>,
    /// Where the fact is from.
    pub source: &'static str,
    /// When it was true.
    pub as_of: &'static str,
}

/// One accelerator model.
#[derive(Clone, Debug, PartialEq)]
pub struct AcceleratorFact {
    /// Name here.
    pub accelerator: Accelerator,
    /// Memory in GB (10^9 bytes), as sold.
    pub memory_gb: f64,
    /// Thermal design power in watts; none = not known.
    pub tdp_w: Option<f64>,
    /// Compute slices under MIG; 0 = no MIG.
    pub mig_slices: u8,
    /// Names that drivers report.
    pub driver_names: Vec<&'static str>,
}

/// Rows of an embedded table without its header; fields hold no commas.
fn rows(csv: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    csv.lines()
        .skip(1)
        .filter(|l| !l.is_empty())
        .map(|l| l.split(',').collect())
}

static SKUS: LazyLock<Vec<SkuFact>> = LazyLock::new(|| {
    rows(include_str!("sku/skus.csv"))
        .filter_map(|f| {
            let [cloud, sku, accelerator, count, _vcpus, _memory, store, source, as_of] = f[..] else {
                return None;
            };
            Some(SkuFact {
                cloud,
                sku: sku.into(),
                accelerator: accelerator.into(),
                count: count.parse().ok()?,
                instance_store: match store {
                    "yes" => Some(true),
                    "no" => Some(false),
                    _ => None,
                },
                source,
                as_of,
            })
        })
        .collect()
});

static BY_NAME: LazyLock<HashMap<String, usize>> = LazyLock::new(|| {
    SKUS.iter()
        .enumerate()
        .map(|(i, s)| (s.sku.as_str().to_lowercase(), i))
        .collect()
});

static ACCELERATORS: LazyLock<Vec<AcceleratorFact>> = LazyLock::new(|| {
    rows(include_str!("sku/accelerators.csv"))
        .filter_map(|f| {
            let [name, _vendor, memory, tdp, slices, names, _source, _as_of] = f[..] else {
                return None;
            };
            Some(AcceleratorFact {
                accelerator: name.into(),
                memory_gb: memory.parse().ok()?,
                tdp_w: tdp.parse().ok(),
                mig_slices: slices.parse().ok()?,
                driver_names: names.split('|').filter(|n| !n.is_empty()).collect(),
            })
        })
        .collect()
});

/// Every instance type that the table knows.
pub fn skus() -> &'static [SkuFact] {
    &SKUS
}

/// Every accelerator that the table knows.
pub fn accelerators() -> &'static [AcceleratorFact] {
    &ACCELERATORS
}

/// Looks an instance type up by its name, in any case. SageMaker's `ml.` prefix is not part of the name.
pub fn find_sku(name: &str) -> Option<&'static SkuFact> {
    let name = name.trim().to_lowercase();
    let name = name.strip_prefix("ml.").unwrap_or(&name);
    BY_NAME.get(name).map(|i| &SKUS[*i])
}

/// Looks an accelerator up by its name here or by the name that its driver reports.
pub fn find_accelerator(name: &str) -> Option<&'static AcceleratorFact> {
    let name = name.trim();
    ACCELERATORS
        .iter()
        .find(|a| a.accelerator.as_str() == name || a.driver_names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_every_accelerator_is_known() {
        assert_eq!(skus().len(), include_str!("sku/skus.csv").lines().count() - 1);
        assert_eq!(
            accelerators().len(),
            include_str!("sku/accelerators.csv").lines().count() - 1
        );
        assert_eq!(BY_NAME.len(), skus().len(), "an instance type stands twice");
        for sku in skus() {
            assert!(
                find_accelerator(sku.accelerator.as_str()).is_some(),
                "{} of {}",
                sku.accelerator,
                sku.sku
            );
            assert!(sku.count > 0.0 && sku.count <= 16.0);
        }
    }

    #[test]
    fn known_types() {
        let of = |name: &str| find_sku(name).map(|s| (s.accelerator.as_str(), s.count, s.instance_store));
        assert_eq!(of("p4d.24xlarge"), Some(("A100-40", 8.0, Some(true))));
        assert_eq!(of("g5.2xlarge"), Some(("A10G", 1.0, Some(true))));
        assert_eq!(of("standard_nd96isr_h100_v5"), Some(("H100", 8.0, Some(true))));
        assert_eq!(of("a2-highgpu-1g"), Some(("A100-40", 1.0, Some(false))));
        assert_eq!(of("ml.g5.xlarge"), Some(("A10G", 1.0, Some(true))));
        assert_eq!(of("m6i.large"), None);
        assert_eq!(find_accelerator("NVIDIA A100-SXM4-40GB").unwrap().mig_slices, 7);
    }
}
