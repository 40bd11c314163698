//! A small organisation on disk, for tests that ask questions of a loaded store.

use std::fmt::Write as _;
use std::path::Path;

use lowwater_model::policy::Policy;

use crate::load::{LoadReport, LoadRequest, Quiet, load};
use crate::store::Store;

/// One charge of the sample; everything else is the same for all.
#[derive(Clone, Debug)]
pub struct Line {
    pub start: String,
    pub end: String,
    pub resource: String,
    pub sku: &'static str,
    pub category: &'static str,
    pub pricing: &'static str,
    pub commitment: &'static str,
    pub status: &'static str,
    pub hours: &'static str,
    pub billed: String,
    pub effective: String,
    pub tags: String,
}

impl Line {
    /// An hour of use on demand at one price.
    pub fn hour(resource: &str, sku: &'static str, at: jiff::Timestamp, price: &str) -> Self {
        let end = jiff::Timestamp::from_second(at.as_second() + 3600).unwrap();
        Self {
            start: at.to_string(),
            end: end.to_string(),
            resource: resource.into(),
            sku,
            category: "Usage",
            pricing: "Standard",
            commitment: "",
            status: "",
            hours: "1",
            billed: price.into(),
            effective: price.into(),
            tags: String::new(),
        }
    }
}

const HEADER: &str = "BillingAccountId,BillingCurrency,ProviderName,ServiceCategory,ServiceName,RegionId,PricingUnit,ConsumedUnit,\
ChargePeriodStart,ChargePeriodEnd,ResourceId,SkuPriceDetails,ChargeCategory,PricingCategory,CommitmentDiscountId,\
CommitmentDiscountStatus,ConsumedQuantity,PricingQuantity,BilledCost,EffectiveCost,ListCost,ContractedCost,Tags\n";

/// The lines as a FOCUS CSV.
pub fn focus_csv(lines: &[Line]) -> String {
    let mut out = HEADER.to_owned();
    for l in lines {
        let details = if l.sku.is_empty() {
            String::new()
        } else {
            format!("\"{{\"\"InstanceType\"\":\"\"{}\"\"}}\"", l.sku)
        };
        let tags = if l.tags.is_empty() {
            String::new()
        } else {
            format!("\"{}\"", l.tags.replace('"', "\"\""))
        };
        let _ = writeln!(
            out,
            "acct,USD,AWS,Compute,EC2,us-east-1,Hours,Hours,{},{},{},{details},{},{},{},{},{},{},{},{},{},{},{tags}",
            l.start,
            l.end,
            l.resource,
            l.category,
            l.pricing,
            l.commitment,
            l.status,
            l.hours,
            l.hours,
            l.billed,
            l.effective,
            l.effective,
            l.effective
        );
    }
    out
}

/// Loads a file of this text.
pub fn load_text(dir: &Path, name: &str, text: &str) -> LoadReport {
    let files = tempfile::tempdir().unwrap();
    let path = files.path().join(name);
    std::fs::write(&path, text).unwrap();
    let request = LoadRequest {
        paths: vec![path],
        ..LoadRequest::default()
    };
    load(dir, &request, &Policy::defaults(&[]), &Quiet).unwrap()
}

/// Opens the directory.
pub fn open(dir: &Path) -> Store {
    Store::open(dir, &[]).unwrap()
}
