//! What is metered: storage, network, clusters, and the disks and the traffic of machines.

use std::collections::BTreeMap;

use super::clock::{HOURS, month_of};
use super::dice::Dice;
use super::machine::Machine;
use super::places::{
    CHAT, CODE, DEVELOPMENT_EAST, FOUNDATION, MODELS, Place, RESEARCH_EAST, RESEARCH_WEST, SERVING_EAST, SHARED_EAST,
};

/// What is metered, and how the bill calls it.
#[derive(Debug, PartialEq, Eq)]
pub struct Product {
    /// ServiceName.
    pub service: &'static str,
    /// ServiceCategory.
    pub category: &'static str,
    /// ServiceSubcategory.
    pub subcategory: &'static str,
    /// ResourceType.
    pub resource_type: &'static str,
    /// ChargeDescription.
    pub description: &'static str,
    /// SkuMeter.
    pub meter: &'static str,
    /// PricingUnit and ConsumedUnit.
    pub unit: &'static str,
    /// List price of a unit, as text.
    pub price: &'static str,
}

macro_rules! products {
    ($($name:ident = $service:literal, $category:literal, $subcategory:literal, $kind:literal, $description:literal, $meter:literal, $unit:literal, $price:literal;)*) => {
        $(
            #[doc = $description]
            pub const $name: &Product = &Product {
                service: $service,
                category: $category,
                subcategory: $subcategory,
                resource_type: $kind,
                description: $description,
                meter: $meter,
                unit: $unit,
                price: $price,
            };
        )*
    };
}

// Prices are stated for the sample, at the level of public lists.
products! {
    EBS = "Amazon Elastic Block Store", "Storage", "Block Storage", "Volume", "General purpose SSD storage", "VolumeUsage.gp3", "GB-Mo", "0.08";
    EC2_OUT = "Amazon Elastic Compute Cloud", "Networking", "Network Connectivity", "EC2 Instance", "Data transfer between zones", "DataTransfer-Regional-Bytes", "GB", "0.01";
    S3 = "Amazon Simple Storage Service", "Storage", "Object Storage", "Bucket", "Standard storage", "TimedStorage-ByteHrs", "GB-Mo", "0.023";
    S3_REQUESTS = "Amazon Simple Storage Service", "Storage", "Object Storage", "Bucket", "GET and other requests", "Requests-Tier2", "10K Requests", "0.004";
    AWS_OUT = "Amazon Virtual Private Cloud", "Networking", "Network Connectivity", "Internet Gateway", "Data transfer out to the internet", "DataTransfer-Out-Bytes", "GB", "0.09";
    NAT = "Amazon Virtual Private Cloud", "Networking", "Network Connectivity", "NAT Gateway", "NAT gateway hours", "NatGateway-Hours", "Hours", "0.045";
    NAT_BYTES = "Amazon Virtual Private Cloud", "Networking", "Network Connectivity", "NAT Gateway", "NAT gateway data processed", "NatGateway-Bytes", "GB", "0.045";
    BALANCER = "Elastic Load Balancing", "Networking", "Application Networking", "Load Balancer", "Load balancer hours", "LoadBalancerUsage", "Hours", "0.0225";
    EKS = "Amazon Elastic Kubernetes Service", "Compute", "Containers", "Cluster", "Kubernetes control plane", "AmazonEKS-Hours:perCluster", "Hours", "0.10";
    LOGS = "Amazon CloudWatch", "Management and Governance", "Observability", "Log Group", "Log data ingested", "DataProcessing-Bytes", "GB", "0.50";
    GCP_DISK = "Compute Engine", "Storage", "Block Storage", "Disk", "Balanced persistent disk", "Storage PD Capacity", "GB-Mo", "0.10";
    GCP_OUT = "Compute Engine", "Networking", "Network Connectivity", "Compute Instance", "Network transfer between zones", "Network Inter Zone", "GB", "0.01";
    GCS = "Cloud Storage", "Storage", "Object Storage", "Storage Bucket", "Standard storage", "Standard Storage US", "GB-Mo", "0.020";
    GCP_INTERNET = "Networking", "Networking", "Network Connectivity", "Network", "Internet data transfer out", "Network Internet Egress", "GB", "0.12";
    GKE = "Kubernetes Engine", "Compute", "Containers", "Cluster", "Cluster management fee", "Regional Kubernetes Clusters", "Hours", "0.10";
    GCP_LOGS = "Cloud Logging", "Management and Governance", "Observability", "Log Bucket", "Log storage cost", "Log Storage", "GB", "0.50";
    NEBIUS_DISK = "Compute Cloud", "Storage", "Block Storage", "Disk", "Network SSD disk", "network-ssd", "GB-Mo", "0.071";
    NEBIUS_OUT = "Compute Cloud", "Networking", "Network Connectivity", "Virtual Machine", "Traffic between networks", "traffic-internal", "GB", "0.01";
    NEBIUS_STORE = "Object Storage", "Storage", "Object Storage", "Bucket", "Standard object storage", "object-storage-standard", "GB-Mo", "0.0147";
    NEBIUS_FILES = "Compute Cloud", "Storage", "File Storage", "Filesystem", "Shared filesystem", "shared-filesystem-ssd", "GB-Mo", "0.08";
}

/// A metered resource.
#[derive(Clone, Debug)]
pub struct Meter {
    /// Where.
    pub place: &'static Place,
    /// ResourceId.
    pub id: String,
    /// ResourceName.
    pub name: String,
    /// What is metered.
    pub product: &'static Product,
    /// Tags.
    pub tags: BTreeMap<&'static str, String>,
    /// Hours between two charges: 1 or 24.
    pub step: usize,
    /// Millionths of the unit, one a step.
    pub quantities: Vec<i64>,
}

/// How much is metered.
#[derive(Clone, Copy)]
enum Amount {
    /// One unit an hour.
    Always,
    /// About so many thousandths of a unit an hour, more by day than by night.
    Hourly(i64),
    /// About so many thousandths of a unit a day.
    Daily(i64),
    /// So many GB kept, and how many thousandths more at the end: charged daily in GB-months.
    Kept(i64, i64),
}

struct Tap(
    &'static Place,
    &'static str,
    &'static Product,
    Amount,
    Option<(&'static str, &'static str)>,
);

const TAPS: [Tap; 26] = [
    Tap(
        RESEARCH_EAST,
        "fernhollow-datasets",
        S3,
        Amount::Kept(186_000, 240),
        Some(("perception", "data-prep")),
    ),
    Tap(
        RESEARCH_WEST,
        "fernhollow-checkpoints",
        S3,
        Amount::Kept(92_000, 900),
        Some(("language", "pretrain-vla")),
    ),
    Tap(
        RESEARCH_EAST,
        "fernhollow-sim-runs",
        S3,
        Amount::Kept(61_000, 400),
        Some(("simulation", "pretrain-sim")),
    ),
    Tap(
        SERVING_EAST,
        "fernhollow-index",
        S3,
        Amount::Kept(9_400, 120),
        Some(("platform", "search")),
    ),
    Tap(
        DEVELOPMENT_EAST,
        "fernhollow-scratch",
        S3,
        Amount::Kept(44_000, 300),
        None,
    ),
    Tap(
        RESEARCH_EAST,
        "fernhollow-datasets",
        S3_REQUESTS,
        Amount::Daily(5_400_000),
        Some(("perception", "data-prep")),
    ),
    Tap(
        RESEARCH_WEST,
        "fernhollow-checkpoints",
        S3_REQUESTS,
        Amount::Daily(320_000),
        Some(("language", "pretrain-vla")),
    ),
    Tap(
        RESEARCH_EAST,
        "igw-research-east",
        AWS_OUT,
        Amount::Hourly(6_500),
        Some(("perception", "data-prep")),
    ),
    Tap(
        RESEARCH_WEST,
        "igw-research-west",
        AWS_OUT,
        Amount::Hourly(3_200),
        Some(("language", "pretrain-vla")),
    ),
    Tap(
        SERVING_EAST,
        "igw-serving",
        AWS_OUT,
        Amount::Hourly(14_000),
        Some(("platform", "search")),
    ),
    Tap(
        SHARED_EAST,
        "nat-shared",
        NAT,
        Amount::Always,
        Some(("platform", "kubernetes")),
    ),
    Tap(
        SHARED_EAST,
        "nat-shared",
        NAT_BYTES,
        Amount::Hourly(38_000),
        Some(("platform", "kubernetes")),
    ),
    Tap(DEVELOPMENT_EAST, "nat-development", NAT, Amount::Always, None),
    Tap(
        DEVELOPMENT_EAST,
        "nat-development",
        NAT_BYTES,
        Amount::Hourly(11_000),
        None,
    ),
    Tap(
        SERVING_EAST,
        "lb-search",
        BALANCER,
        Amount::Always,
        Some(("platform", "search")),
    ),
    Tap(
        SHARED_EAST,
        "eks-main",
        EKS,
        Amount::Always,
        Some(("platform", "kubernetes")),
    ),
    Tap(
        SHARED_EAST,
        "logs-main",
        LOGS,
        Amount::Hourly(2_300),
        Some(("platform", "kubernetes")),
    ),
    Tap(
        CHAT,
        "fernhollow-conversations",
        GCS,
        Amount::Kept(18_500, 350),
        Some(("assistant", "chat")),
    ),
    Tap(
        MODELS,
        "fernhollow-models",
        GCS,
        Amount::Kept(26_000, 150),
        Some(("platform", "small-models")),
    ),
    Tap(
        CHAT,
        "net-chat",
        GCP_INTERNET,
        Amount::Hourly(21_000),
        Some(("assistant", "chat")),
    ),
    Tap(
        CODE,
        "net-code",
        GCP_INTERNET,
        Amount::Hourly(5_200),
        Some(("platform", "code")),
    ),
    Tap(CHAT, "gke-chat", GKE, Amount::Always, Some(("assistant", "chat"))),
    Tap(CODE, "gke-code", GKE, Amount::Always, Some(("platform", "code"))),
    Tap(
        CHAT,
        "logs-chat",
        GCP_LOGS,
        Amount::Hourly(1_700),
        Some(("assistant", "chat")),
    ),
    Tap(
        FOUNDATION,
        "foundation-shards",
        NEBIUS_STORE,
        Amount::Kept(310_000, 100),
        Some(("perception", "foundation")),
    ),
    Tap(
        FOUNDATION,
        "foundation-scratch",
        NEBIUS_FILES,
        Amount::Kept(48_000, 0),
        Some(("perception", "foundation")),
    ),
];

/// Every meter, the disks and the traffic of machines included.
pub fn meters(seed: u64, machines: &[Machine]) -> Vec<Meter> {
    let taps = TAPS.iter().map(|tap| tap.meter(seed));
    let with_disk = machines.iter().filter(|m| m.disk_gb > 0);
    taps.chain(with_disk.flat_map(|m| attached(seed, m))).collect()
}

impl Tap {
    fn meter(&self, seed: u64) -> Meter {
        let Self(place, name, product, amount, owner) = *self;
        let mut dice = Dice::new(seed, &format!("{name}/{}", product.meter));
        let tags = owner.map(|(team, project)| [("team", team.to_owned()), ("project", project.to_owned())]);
        Meter {
            place,
            id: name.to_owned(),
            name: name.to_owned(),
            product,
            tags: tags.into_iter().flatten().collect(),
            step: amount.step(),
            quantities: amount.quantities(&mut dice),
        }
    }
}

impl Amount {
    const fn step(self) -> usize {
        match self {
            Self::Always | Self::Hourly(_) => 1,
            Self::Daily(_) | Self::Kept(..) => 24,
        }
    }

    fn quantities(self, dice: &mut Dice) -> Vec<i64> {
        let hours = (0..HOURS).step_by(self.step());
        hours
            .map(|hour| match self {
                Self::Always => 1_000_000,
                Self::Hourly(thousandths) => {
                    let of_day = if (8..22).contains(&(hour % 24)) { 1_250 } else { 650 };
                    dice.around(thousandths * of_day, 200)
                }
                Self::Daily(thousandths) => dice.around(thousandths * 1000, 200),
                Self::Kept(gb, growth) => {
                    let grown = gb * (1000 + growth * hour as i64 / HOURS as i64) / 1000;
                    grown * 1_000_000 / month_of(hour).days
                }
            })
            .collect()
    }
}

/// The disk of a machine, which is paid for whether it runs or not, and the traffic that has its id.
fn attached(seed: u64, machine: &Machine) -> [Meter; 2] {
    let mut dice = Dice::new(seed, &format!("disk/{}", machine.name));
    let (disk, traffic) = match machine.place.cloud.id {
        "aws" => (EBS, EC2_OUT),
        "gcp" => (GCP_DISK, GCP_OUT),
        _ => (NEBIUS_DISK, NEBIUS_OUT),
    };
    let meter = |id: String, product, amount: Amount, dice: &mut Dice| Meter {
        place: machine.place,
        id,
        name: machine.name.clone(),
        product,
        tags: machine.tags.clone(),
        step: amount.step(),
        quantities: amount.quantities(dice),
    };
    let volume = format!("vol-0{}", dice.word(16, 16));
    let per_gpu = i64::from(machine.gpus()) * 4_000;
    [
        meter(volume, disk, Amount::Kept(machine.disk_gb, 0), &mut dice),
        meter(machine.id.clone(), traffic, Amount::Daily(per_gpu), &mut dice),
    ]
}

#[cfg(test)]
mod tests {
    use lowwater_model::money::Money;

    use super::*;

    #[test]
    fn meters_have_a_quantity_for_each_step() {
        let machines = super::super::rest::machines(4);
        for meter in meters(4, &machines) {
            assert_eq!(meter.quantities.len(), HOURS / meter.step, "{}", meter.name);
            assert!(meter.quantities.iter().all(|q| *q > 0));
            assert!(Money::parse(meter.product.price).is_ok());
        }
    }

    #[test]
    fn what_is_kept_is_charged_in_gb_months() {
        let gb = 30_000;
        let quantities = Amount::Kept(gb, 0).quantities(&mut Dice::new(1, "x"));
        // September whole: 30 days make a month, to a millionth a day.
        let september: i64 = quantities[29..59].iter().sum();
        assert!((gb * 1_000_000 - september) < 30);
    }
}
