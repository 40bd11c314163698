//! Commitment discounts: two that are used and one that is bought for more than is run.

use lowwater_model::money::Money;

use super::machine::Machine;
use super::places::{AWS, CHAT, Cloud, DEVELOPMENT_EAST, GCP, Place, RESEARCH_WEST};
use super::prices::{percent, price};

/// So many instances of one type in one region, paid for whether they run or not.
#[derive(Clone, Debug)]
pub struct Commitment {
    /// CommitmentDiscountId.
    pub id: &'static str,
    /// CommitmentDiscountName.
    pub name: &'static str,
    /// CommitmentDiscountType.
    pub kind: &'static str,
    /// CommitmentDiscountCategory: `Spend` or `Usage`.
    pub category: &'static str,
    /// CommitmentDiscountUnit.
    pub unit: &'static str,
    /// Where it was bought; it covers its region in all accounts of the cloud.
    pub place: &'static Place,
    /// What it covers.
    pub sku: &'static str,
    /// Instances.
    pub instances: i64,
    /// What one hour of one instance costs under it.
    pub rate: Money,
}

impl Commitment {
    /// Does it cover this machine?
    pub fn covers(&self, machine: &Machine) -> bool {
        machine.place.cloud == self.place.cloud
            && machine.place.region == self.place.region
            && machine.sku == self.sku
            && !machine.is_spot
    }

    /// Seconds of one instance that it pays for in an hour.
    pub const fn seconds(&self) -> i64 {
        self.instances * 3600
    }

    /// What it costs an hour.
    pub const fn hourly(&self) -> Money {
        self.rate.times(self.instances)
    }
}

/// Every commitment of a cloud.
pub fn commitments(cloud: &Cloud) -> Vec<Commitment> {
    let all = [
        // Bought for three of four nodes, which stand still between runs: the under-used one.
        commitment(
            &AWS,
            (
                "arn:aws:savingsplans::100200300400:savingsplan/5b6f0c2e-p4d",
                "sp-p4d-us-west-2",
            ),
            (RESEARCH_WEST, "p4d.24xlarge", 3),
            62,
        ),
        // Covers eight of the notebooks that are left on: what it covers saves no cash when it stops.
        commitment(
            &AWS,
            (
                "arn:aws:savingsplans::100200300400:savingsplan/91d2a7c4-g5",
                "sp-g5-us-east-1",
            ),
            (DEVELOPMENT_EAST, "g5.2xlarge", 8),
            66,
        ),
        commitment(
            &GCP,
            (
                "projects/fernhollow-chat/regions/us-central1/commitments/chat-base",
                "cud-chat-base",
            ),
            (CHAT, "a2-highgpu-1g", 8),
            63,
        ),
    ];
    let all = all.into_iter().flatten();
    all.filter(|(of, _)| of.id == cloud.id)
        .map(|(_, commitment)| commitment)
        .collect()
}

fn commitment(
    cloud: &'static Cloud,
    (id, name): (&'static str, &'static str),
    (place, sku, instances): (&'static Place, &'static str, i64),
    percent_of_list: i64,
) -> Option<(&'static Cloud, Commitment)> {
    let is_spend = cloud.id == "aws";
    let commitment = Commitment {
        id,
        name,
        kind: if is_spend { "Savings Plan" } else { "Resource-based CUD" },
        category: if is_spend { "Spend" } else { "Usage" },
        unit: if is_spend { "USD" } else { "Hours" },
        place,
        sku,
        instances,
        rate: percent(price(place, sku)?.list, percent_of_list),
    };
    Some((cloud, commitment))
}

#[cfg(test)]
mod tests {
    use super::super::places::CLOUDS;
    use super::*;

    #[test]
    fn three_commitments_cheaper_than_what_they_replace() {
        let all: Vec<Commitment> = CLOUDS.iter().flat_map(|c| commitments(c)).collect();
        assert_eq!(all.len(), 3);
        for commitment in &all {
            let price = price(commitment.place, commitment.sku).unwrap();
            assert!(commitment.rate < price.contracted && commitment.rate.units() > 0);
            // Nine seconds of it are exact money.
            assert_eq!(commitment.rate.units() % 400, 0, "{}", commitment.name);
        }
        assert_eq!(all[0].hourly().to_string(), "40.8412104");
    }
}
