//! How the rows of a FOCUS file call things: the texts that charges share.

use std::collections::BTreeMap;

use lowwater_model::charge::{ChargeCategory, ChargeFrequency, CommitmentStatus, PricingCategory};
use lowwater_model::money::Money;
use lowwater_model::sku::find_sku;
use lowwater_store::export::Line;

use super::commitments::Commitment;
use super::dice::fingerprint;
use super::fees::Monthly;
use super::machine::Machine;
use super::meters::Meter;
use super::places::{Cloud, Place};
use super::prices::Price;

/// What every row of a place says.
fn place_line(place: &Place) -> Line {
    let cloud = place.cloud;
    cloud_line(cloud)
        .with("SubAccountId", place.account)
        .with("SubAccountName", place.account_name)
        .with("SubAccountType", cloud.sub_account_type)
        .with("RegionId", place.region)
        .with("RegionName", place.region_name)
}

/// What every row of a cloud says.
fn cloud_line(cloud: &Cloud) -> Line {
    Line::default()
        .with("ProviderName", cloud.provider)
        .with("PublisherName", cloud.publisher)
        .with("InvoiceIssuerName", cloud.issuer)
        .with("BillingAccountId", cloud.billing_account)
        .with("BillingAccountName", cloud.billing_account_name)
        .with("BillingAccountType", cloud.billing_account_type)
        .with("BillingCurrency", "USD")
        .with("PricingCurrency", "USD")
}

/// Category, frequency and pricing of a row.
fn terms(line: Line, category: ChargeCategory, frequency: ChargeFrequency, pricing: Option<PricingCategory>) -> Line {
    let line = line
        .with("ChargeCategory", category.as_str())
        .with("ChargeFrequency", frequency.as_str());
    match pricing {
        Some(pricing) => line.with("PricingCategory", pricing.as_str()),
        None => line,
    }
}

/// SkuId and SkuPriceId in a form of their own: clouds number their SKUs.
fn numbered(line: Line, what: &str) -> Line {
    let number = format!("{:016X}", fingerprint(what));
    line.with("SkuPriceId", format!("{number}.JRTC")).with("SkuId", number)
}

fn tags(line: Line, tags: &BTreeMap<&'static str, String>, name: &str) -> Line {
    let mut all: BTreeMap<&str, &str> = tags.iter().map(|(key, value)| (*key, value.as_str())).collect();
    if !name.is_empty() {
        all.insert("Name", name);
    }
    if all.is_empty() {
        return line;
    }
    // A map of texts always has a JSON form.
    let text = serde_json::to_string(&all).unwrap_or_default();
    line.with("Tags", text)
}

/// A machine's hours at any terms. One cloud gives a Name tag and no ResourceName, the others the reverse.
fn instance_line(machine: &Machine) -> Line {
    let place = machine.place;
    let line = place_line(place)
        .with("AvailabilityZone", place.zone)
        .with("ResourceId", machine.id.as_str())
        .with("ResourceType", place.cloud.instance)
        .with("ServiceName", place.cloud.compute)
        .with("ServiceCategory", "Compute")
        .with("ServiceSubcategory", "Virtual Machines")
        .with("PricingUnit", "Hours")
        .with("ConsumedUnit", "Hours");
    let line = sku_line(line, machine);
    if place.cloud.id == "aws" {
        return tags(line, &machine.tags, &machine.name);
    }
    tags(line.with("ResourceName", machine.name.as_str()), &machine.tags, "")
}

/// The instance type: two clouds say it in SkuPriceDetails, the GPU cloud has it as its SKU.
fn sku_line(line: Line, machine: &Machine) -> Line {
    let line = line.with("SkuMeter", "Compute");
    if machine.place.cloud.id == "nebius" {
        return line
            .with("SkuId", machine.sku)
            .with("SkuPriceId", format!("{}/hour", machine.sku));
    }
    let details = match find_sku(machine.sku) {
        Some(fact) => format!(
            r#"{{"InstanceType":"{}","GpuCount":{},"OperatingSystem":"Linux"}}"#,
            machine.sku, fact.count
        ),
        None => format!(r#"{{"InstanceType":"{}","OperatingSystem":"Linux"}}"#, machine.sku),
    };
    numbered(line, machine.sku).with("SkuPriceDetails", details)
}

/// Hours of a machine that no commitment covers.
pub fn machine_line(machine: &Machine, price: Price) -> Line {
    let (pricing, words) = if machine.is_spot {
        (PricingCategory::Dynamic, "spot")
    } else {
        (PricingCategory::Standard, "on-demand")
    };
    let line = instance_line(machine).with(
        "ChargeDescription",
        format!("${} per {words} Linux {} instance hour", price.contracted, machine.sku),
    );
    priced(
        terms(line, ChargeCategory::Usage, ChargeFrequency::UsageBased, Some(pricing)),
        price,
    )
}

fn priced(mut line: Line, price: Price) -> Line {
    line.list_unit_price = Some(price.list);
    line.contracted_unit_price = Some(price.contracted);
    line
}

/// Hours of a machine that a commitment covers.
pub fn covered_line(machine: &Machine, price: Price, commitment: &Commitment) -> Line {
    let line = instance_line(machine)
        .with(
            "ChargeDescription",
            format!("{} hours covered by {}", machine.sku, commitment.name),
        )
        .with("CommitmentDiscountStatus", CommitmentStatus::Used.as_str());
    let pricing = Some(PricingCategory::Committed);
    let line = terms(line, ChargeCategory::Usage, ChargeFrequency::UsageBased, pricing);
    priced(commitment_texts(line, commitment), price)
}

fn commitment_texts(line: Line, commitment: &Commitment) -> Line {
    line.with("CommitmentDiscountId", commitment.id)
        .with("CommitmentDiscountName", commitment.name)
        .with("CommitmentDiscountType", commitment.kind)
        .with("CommitmentDiscountCategory", commitment.category)
        .with("CommitmentDiscountUnit", commitment.unit)
}

/// The commitment as a resource of its own.
fn commitment_line(commitment: &Commitment) -> Line {
    let place = commitment.place;
    let line = place_line(place)
        .with("ResourceId", commitment.id)
        .with("ResourceName", commitment.name)
        .with("ResourceType", commitment.kind)
        .with("ServiceName", place.cloud.compute)
        .with("ServiceCategory", "Compute")
        .with("ServiceSubcategory", "Virtual Machines")
        .with("SkuMeter", "Commitment")
        .with(
            "SkuPriceDetails",
            r#"{"x_PurchaseTerm":"1yr","x_PaymentOption":"NoUpfront"}"#,
        )
        .with("PricingUnit", "Hours");
    numbered(commitment_texts(line, commitment), commitment.name)
}

/// What a commitment costs.
pub fn purchase_line(commitment: &Commitment) -> Line {
    let line = commitment_line(commitment).with(
        "ChargeDescription",
        format!("{}, one year, nothing upfront", commitment.kind),
    );
    let pricing = Some(PricingCategory::Standard);
    let line = terms(line, ChargeCategory::Purchase, ChargeFrequency::Recurring, pricing);
    let rate = commitment.rate;
    priced(
        line,
        Price {
            list: rate,
            contracted: rate,
        },
    )
}

/// What of a commitment nothing used.
pub fn unused_line(commitment: &Commitment, price: Price) -> Line {
    let line = commitment_line(commitment)
        .with("ChargeDescription", format!("{} unused", commitment.name))
        .with("CommitmentDiscountStatus", CommitmentStatus::Unused.as_str());
    let pricing = Some(PricingCategory::Committed);
    priced(
        terms(line, ChargeCategory::Usage, ChargeFrequency::UsageBased, pricing),
        price,
    )
}

/// What a meter counts.
pub fn meter_line(meter: &Meter) -> Line {
    let product = meter.product;
    let line = place_line(meter.place)
        .with("ResourceId", meter.id.as_str())
        .with("ResourceType", product.resource_type)
        .with("ServiceName", product.service)
        .with("ServiceCategory", product.category)
        .with("ServiceSubcategory", product.subcategory)
        .with("ChargeDescription", product.description)
        .with("SkuMeter", product.meter)
        .with("PricingUnit", product.unit)
        .with("ConsumedUnit", product.unit);
    let line = numbered(line, product.meter);
    let line = if meter.place.cloud.id == "aws" {
        tags(line, &meter.tags, &meter.name)
    } else {
        tags(line.with("ResourceName", meter.name.as_str()), &meter.tags, "")
    };
    let pricing = Some(PricingCategory::Standard);
    let line = terms(line, ChargeCategory::Usage, ChargeFrequency::UsageBased, pricing);
    let list = Money::parse(product.price).unwrap_or_default();
    priced(line, Price { list, contracted: list })
}

/// A fee, a tax or a credit.
pub fn monthly_line(monthly: &Monthly) -> Line {
    let is_support = monthly.category == ChargeCategory::Usage;
    // FOCUS: tax has no pricing category.
    let pricing = (monthly.category != ChargeCategory::Tax).then_some(PricingCategory::Other);
    let (category, subcategory) = if is_support {
        ("Management and Governance", "Support")
    } else {
        ("Other", "Other (Other)")
    };
    let line = cloud_line(monthly.cloud)
        .with("ServiceName", monthly.service)
        .with("ServiceCategory", category)
        .with("ServiceSubcategory", subcategory)
        .with("ChargeDescription", monthly.description);
    let frequency = if is_support {
        ChargeFrequency::Recurring
    } else {
        ChargeFrequency::OneTime
    };
    let line = terms(line, monthly.category, frequency, pricing);
    if is_support {
        numbered(line, monthly.service)
            .with("PricingUnit", "Months")
            .with("ConsumedUnit", "Months")
    } else {
        line
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::HOURS;
    use super::super::dice::Dice;
    use super::super::places::{CHAT, DEVELOPMENT_EAST, FOUNDATION};
    use super::super::prices::price;
    use super::*;

    fn line(place: &'static Place, sku: &'static str) -> Line {
        let machine = Machine::new(place, sku, "m-1", &mut Dice::new(1, "x")).tagged(&[("team", "a")]);
        assert_eq!(machine.runs.hours(), HOURS as f64);
        machine_line(&machine, price(place, sku).unwrap())
    }

    fn text<'a>(line: &'a Line, column: &str) -> Option<&'a str> {
        line.texts.get(column).map(String::as_str)
    }

    #[test]
    fn each_cloud_names_machines_and_types_in_its_own_way() {
        let aws = line(DEVELOPMENT_EAST, "g5.2xlarge");
        assert_eq!(text(&aws, "ResourceName"), None);
        assert_eq!(text(&aws, "Tags"), Some(r#"{"Name":"m-1","team":"a"}"#));
        let details = r#"{"InstanceType":"g5.2xlarge","GpuCount":1,"OperatingSystem":"Linux"}"#;
        assert_eq!(text(&aws, "SkuPriceDetails"), Some(details));
        let description = "$1.13928 per on-demand Linux g5.2xlarge instance hour";
        assert_eq!(text(&aws, "ChargeDescription"), Some(description));

        let gcp = line(CHAT, "a2-highgpu-1g");
        assert_eq!(text(&gcp, "ResourceName"), Some("m-1"));
        assert_eq!(text(&gcp, "Tags"), Some(r#"{"team":"a"}"#));

        let nebius = line(FOUNDATION, "gpu-h100-sxm_8gpu-128vcpu-1600gb");
        assert_eq!(text(&nebius, "SkuId"), Some("gpu-h100-sxm_8gpu-128vcpu-1600gb"));
        assert_eq!(text(&nebius, "SkuPriceDetails"), None);
    }

    #[test]
    fn a_machine_without_name_and_tags_has_no_tags() {
        let machine = Machine::new(DEVELOPMENT_EAST, "g5.2xlarge", "", &mut Dice::new(1, "x"));
        let line = machine_line(&machine, price(DEVELOPMENT_EAST, "g5.2xlarge").unwrap());
        assert_eq!(text(&line, "Tags"), None);
    }

    #[test]
    fn fees_have_no_resource_and_tax_has_no_pricing_category() {
        for monthly in super::super::fees::MONTHLY {
            let line = monthly_line(&monthly);
            assert_eq!(text(&line, "ResourceId"), None);
            let is_support = monthly.service.contains("Support");
            let is_tax = monthly.category == ChargeCategory::Tax;
            assert_eq!(text(&line, "PricingCategory").is_none(), is_tax);
            assert_eq!(text(&line, "ConsumedUnit"), is_support.then_some("Months"));
        }
    }
}
