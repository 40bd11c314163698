//! Interruptible capacity: what it costs where, and how often it is taken back.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::facts::Resource;
use crate::id::{Currency, RegionId, Sku};
use crate::known::Known;

/// A number with the ends between which it was seen or is believed to lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Likely {
    /// One in ten lies below.
    pub low: f64,
    /// The middle.
    pub middle: f64,
    /// One in ten lies above.
    pub high: f64,
}

impl Likely {
    /// Numbers, none of them negative, in order.
    pub fn is_sound(&self) -> bool {
        self.high.is_finite() && 0.0 <= self.low && self.low <= self.middle && self.middle <= self.high
    }
}

/// Spot capacity of one instance type in one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpotMarket {
    /// Where and what.
    pub place: SpotPlace,
    /// Price of an hour of the whole instance.
    pub rate: Likely,
    /// How often one running instance is taken back, an hour.
    pub interruptions_per_hour: Known<Likely>,
    /// Hours until capacity is back after that, which are not billed.
    pub wait_hours: f64,
    /// Of the price.
    pub currency: Currency,
    /// Last day on which it was seen.
    pub as_of: Date,
    /// Trace, price file or feed.
    pub source: String,
}

/// Where an instance is bought.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SpotPlace {
    /// Cloud id.
    pub cloud: String,
    /// FOCUS RegionId.
    pub region: RegionId,
    /// Zone of it; none = any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Instance type.
    pub sku: Sku,
}

impl SpotPlace {
    /// Could the resource run there as it is?
    pub fn fits(&self, resource: &Resource) -> bool {
        let sku = resource.sku.value();
        self.cloud == resource.cloud
            && self.region == resource.region
            && sku.is_some_and(|sku| sku.as_str().eq_ignore_ascii_case(self.sku.as_str()))
    }
}

impl std::fmt::Display for SpotPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = self.zone.as_deref().unwrap_or_else(|| self.region.as_str());
        write!(f, "{} in {place}", self.sku)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_in_order_and_a_number() {
        let sound = |low, middle, high| Likely { low, middle, high }.is_sound();
        assert!(sound(0.0, 0.0, 0.0) && sound(1.0, 2.0, 3.0));
        assert!(!sound(2.0, 1.0, 3.0) && !sound(1.0, 4.0, 3.0) && !sound(-1.0, 2.0, 3.0));
        assert!(!sound(1.0, f64::NAN, 3.0) && !sound(1.0, 2.0, f64::INFINITY) && !sound(f64::NAN, 1.0, 2.0));
    }

    #[test]
    fn a_place_names_its_zone_else_its_region() {
        let mut place = SpotPlace {
            cloud: "aws".into(),
            region: "us-east-1".into(),
            zone: None,
            sku: "p4d.24xlarge".into(),
        };
        assert_eq!(place.to_string(), "p4d.24xlarge in us-east-1");
        place.zone = Some("us-east-1b".into());
        assert_eq!(place.to_string(), "p4d.24xlarge in us-east-1b");
    }
}
