//! From machines, commitments and meters to the rows of FOCUS files, hour by hour.

use std::collections::BTreeMap;
use std::path::Path;

use lowwater_model::charge::{ChargeCategory, ChargeFrequency, CommitmentStatus, PricingCategory};
use lowwater_model::money::Money;
use lowwater_model::period::Period;
use lowwater_model::sku::find_sku;
use lowwater_store::error::StoreError;
use lowwater_store::export::{Charge, Costs, FocusFile, Invoice, Line, Quantity, Written};

use super::Organisation;
use super::clock::{Month, second};
use super::commitments::{Commitment, commitments};
use super::dice::fingerprint;
use super::machine::Machine;
use super::places::{Cloud, Place};
use super::prices::{Price, percent, price};
use super::rest::{MONTHLY, Meter, Monthly};

/// What spot costs, in percent of the list price.
const SPOT_PERCENT: i64 = 38;

/// The bill of one cloud: the lines of its rows, and whose they are.
pub struct Bill<'a> {
    cloud: &'static Cloud,
    lines: Vec<Line>,
    machines: Vec<Billed<'a>>,
    commitments: Vec<Bought>,
    meters: Vec<(&'a Meter, usize)>,
    monthly: Vec<(Monthly, usize)>,
}

/// A machine with its lines.
struct Billed<'a> {
    machine: &'a Machine,
    line: usize,
    price: Price,
    /// The commitment that covers it, and the line of what it covers.
    covered: Option<(usize, usize)>,
}

/// A commitment with its lines.
struct Bought {
    commitment: Commitment,
    purchase: usize,
    unused: usize,
    price: Price,
}

impl<'a> Bill<'a> {
    /// Lines of everything that the organisation has on a cloud.
    pub fn new(organisation: &'a Organisation, cloud: &'static Cloud) -> Self {
        let mut bill = Self {
            cloud,
            lines: Vec::new(),
            machines: Vec::new(),
            commitments: Vec::new(),
            meters: Vec::new(),
            monthly: Vec::new(),
        };
        for commitment in commitments(cloud) {
            bill.add_commitment(commitment);
        }
        for machine in organisation.machines.iter().filter(|m| m.place.cloud == cloud) {
            bill.add_machine(machine);
        }
        for meter in organisation.meters.iter().filter(|m| m.place.cloud == cloud) {
            let line = bill.add(meter_line(meter));
            bill.meters.push((meter, line));
        }
        for monthly in MONTHLY.iter().filter(|m| m.cloud == cloud) {
            let line = bill.add(monthly_line(monthly));
            bill.monthly.push((*monthly, line));
        }
        bill
    }

    fn add(&mut self, line: Line) -> usize {
        self.lines.push(line);
        self.lines.len() - 1
    }

    fn add_commitment(&mut self, commitment: Commitment) {
        // A commitment whose type has no price is never bought.
        let Some(price) = price(commitment.place, commitment.sku) else {
            return;
        };
        let purchase = self.add(purchase_line(&commitment));
        let unused = self.add(unused_line(&commitment, price));
        self.commitments.push(Bought {
            commitment,
            purchase,
            unused,
            price,
        });
    }

    fn add_machine(&mut self, machine: &'a Machine) {
        let Some(mut price) = price(machine.place, machine.sku) else {
            return;
        };
        if machine.is_spot {
            price.contracted = percent(price.list, SPOT_PERCENT);
        }
        let line = self.add(machine_line(machine, price));
        let covering = self.commitments.iter().position(|b| b.commitment.covers(machine));
        let covered = covering.map(|at| {
            let line = covered_line(machine, price, &self.commitments[at].commitment);
            (at, self.add(line))
        });
        self.machines.push(Billed {
            machine,
            line,
            price,
            covered,
        });
    }

    /// Writes one month as a FOCUS 1.2 Parquet file.
    pub fn write(&self, month: Month, path: &Path) -> Result<Written, StoreError> {
        let invoice = Invoice {
            id: format!("{}-{}", self.cloud.id.to_uppercase(), month.name),
            period: month.period(),
        };
        let mut file = FocusFile::create(path, invoice, &self.lines)?;
        for hour in month.hours() {
            for charge in self.hour(hour) {
                file.push(charge)?;
            }
        }
        for (monthly, line) in self
            .monthly
            .iter()
            .filter(|(m, _)| m.month.is_none_or(|only| only == month.name))
        {
            let amount = monthly.amount(file.written().costs.billed);
            file.push(Charge {
                line: *line,
                period: month.period(),
                quantity: (monthly.category == ChargeCategory::Usage).then(|| Quantity::millionths(1_000_000)),
                commitment_quantity: None,
                costs: Costs::flat(amount),
            })?;
        }
        file.finish()
    }

    /// Every row of one hour.
    fn hour(&self, hour: usize) -> Vec<Charge> {
        let period = Period::from_seconds(second(hour), second(hour + 1));
        let mut left: Vec<i64> = self.commitments.iter().map(|b| b.commitment.seconds()).collect();
        let mut charges = Vec::with_capacity(self.machines.len() + self.meters.len() + 8);
        for billed in &self.machines {
            let mut seconds = billed.machine.seconds(hour);
            if let Some((at, line)) = billed.covered {
                let covered = seconds.min(left[at]);
                left[at] -= covered;
                seconds -= covered;
                if covered > 0 {
                    charges.push(self.commitments[at].used(line, period, covered, billed.price));
                }
            }
            if seconds > 0 {
                charges.push(billed.on_demand(period, seconds));
            }
        }
        for (bought, left) in self.commitments.iter().zip(left) {
            charges.extend(bought.own_charges(period, left));
        }
        let due = self.meters.iter().filter(|(meter, _)| hour.is_multiple_of(meter.step));
        charges.extend(due.map(|(meter, line)| self.metered(meter, *line, hour)));
        charges
    }

    fn metered(&self, meter: &Meter, line: usize, hour: usize) -> Charge {
        let quantity = Quantity::millionths(meter.quantities[hour / meter.step]);
        let cost = quantity.at(self.lines[line].list_unit_price.unwrap_or_default());
        Charge {
            line,
            period: Period::from_seconds(second(hour), second(hour + meter.step)),
            quantity: Some(quantity),
            commitment_quantity: None,
            costs: Costs::flat(cost),
        }
    }
}

impl Billed<'_> {
    fn on_demand(&self, period: Period, seconds: i64) -> Charge {
        let quantity = Quantity::hours_of_seconds(seconds);
        let cost = quantity.at(self.price.contracted);
        Charge {
            line: self.line,
            period,
            quantity: Some(quantity),
            commitment_quantity: None,
            costs: Costs {
                list: quantity.at(self.price.list),
                ..Costs::flat(cost)
            },
        }
    }
}

impl Bought {
    /// A charge that the commitment paid for: nothing is billed, its share of the commitment is its effective cost.
    fn used(&self, line: usize, period: Period, seconds: i64, price: Price) -> Charge {
        let quantity = Quantity::hours_of_seconds(seconds);
        let effective = quantity.at(self.commitment.rate);
        Charge {
            line,
            period,
            quantity: Some(quantity),
            commitment_quantity: Some(self.quantity(quantity, effective)),
            costs: Costs {
                billed: Money::ZERO,
                effective,
                contracted: quantity.at(price.contracted),
                list: quantity.at(price.list),
            },
        }
    }

    /// The purchase of the hour, and what of it nothing used.
    fn own_charges(&self, period: Period, unused_seconds: i64) -> impl Iterator<Item = Charge> {
        let hours = Quantity::hours_of_seconds(self.commitment.seconds());
        let hourly = self.commitment.hourly();
        let purchase = Charge {
            line: self.purchase,
            period,
            quantity: Some(hours),
            commitment_quantity: Some(self.quantity(hours, hourly)),
            costs: Costs {
                effective: Money::ZERO,
                ..Costs::flat(hourly)
            },
        };
        let unused = (unused_seconds > 0).then(|| self.used(self.unused, period, unused_seconds, self.price));
        [Some(purchase), unused].into_iter().flatten()
    }

    /// CommitmentDiscountQuantity is in its unit: money of a plan, hours of instances of a reservation.
    fn quantity(&self, hours: Quantity, cost: Money) -> Quantity {
        if self.commitment.category == "Spend" {
            Quantity::from_units(cost.units())
        } else {
            hours
        }
    }
}

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

fn machine_line(machine: &Machine, price: Price) -> Line {
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

fn covered_line(machine: &Machine, price: Price, commitment: &Commitment) -> Line {
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

fn purchase_line(commitment: &Commitment) -> Line {
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

fn unused_line(commitment: &Commitment, price: Price) -> Line {
    let line = commitment_line(commitment)
        .with("ChargeDescription", format!("{} unused", commitment.name))
        .with("CommitmentDiscountStatus", CommitmentStatus::Unused.as_str());
    let pricing = Some(PricingCategory::Committed);
    priced(
        terms(line, ChargeCategory::Usage, ChargeFrequency::UsageBased, pricing),
        price,
    )
}

fn meter_line(meter: &Meter) -> Line {
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

fn monthly_line(monthly: &Monthly) -> Line {
    let is_support = monthly.category == ChargeCategory::Usage;
    let (category, subcategory, pricing) = if is_support {
        ("Management and Governance", "Support", Some(PricingCategory::Other))
    } else {
        ("Other", "Other (Other)", None)
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
    use super::super::clock::{HOURS, MONTHS};
    use super::super::places::{AWS, CLOUDS, GCP};
    use super::*;

    /// Every row of every hour of a cloud, with its line.
    fn each(cloud: &'static Cloud, mut see: impl FnMut(usize, &Charge, &Line)) {
        let organisation = Organisation::new(21);
        let bill = Bill::new(&organisation, cloud);
        for hour in 0..HOURS {
            for charge in bill.hour(hour) {
                see(hour, &charge, &bill.lines[charge.line]);
            }
        }
    }

    fn text<'a>(line: &'a Line, column: &str) -> &'a str {
        line.texts.get(column).map_or("", String::as_str)
    }

    #[test]
    fn each_hour_of_a_commitment_is_used_or_unused_to_the_last_digit() {
        for cloud in CLOUDS {
            let mut open: BTreeMap<(String, usize), Money> = BTreeMap::new();
            let mut unused: BTreeMap<String, Money> = BTreeMap::new();
            each(cloud, |hour, charge, line| {
                let id = text(line, "CommitmentDiscountId");
                if id.is_empty() {
                    return;
                }
                let left = open.entry((id.to_owned(), hour)).or_default();
                if text(line, "ChargeCategory") == "Purchase" {
                    assert_eq!(charge.costs.effective, Money::ZERO);
                    *left += charge.costs.billed;
                } else {
                    assert_eq!(charge.costs.billed, Money::ZERO);
                    *left -= charge.costs.effective;
                    if text(line, "CommitmentDiscountStatus") == "Unused" {
                        *unused.entry(id.to_owned()).or_default() += charge.costs.effective;
                    }
                }
            });
            assert!(open.values().all(|left| left.is_zero()));
            assert_eq!(open.len(), commitments(cloud).len() * HOURS);
            // Only the plan for the training nodes is bought for more than is run.
            let names: Vec<&str> = unused.keys().map(String::as_str).collect();
            let expected: Vec<&str> = commitments(cloud)
                .iter()
                .map(|c| c.id)
                .filter(|id| id.contains("p4d"))
                .collect();
            assert_eq!(names, expected);
        }
    }

    #[test]
    fn costs_are_price_times_quantity_to_the_last_digit() {
        for cloud in CLOUDS {
            each(cloud, |_, charge, line| {
                let quantity = charge.quantity.unwrap();
                for (cost, price) in [
                    (charge.costs.list, line.list_unit_price),
                    (charge.costs.contracted, line.contracted_unit_price),
                ] {
                    let price = price.unwrap();
                    assert_eq!(cost, quantity.at(price));
                    assert_eq!(quantity.units() * price.units() % 10_i128.pow(12), 0, "{line:?}");
                }
            });
        }
    }

    #[test]
    fn every_second_of_a_machine_is_billed_once() {
        let organisation = Organisation::new(21);
        for cloud in CLOUDS {
            let bill = Bill::new(&organisation, cloud);
            for hour in (0..HOURS).step_by(7) {
                let mut billed: BTreeMap<&str, i128> = BTreeMap::new();
                let charges = bill.hour(hour);
                for charge in &charges {
                    let line = &bill.lines[charge.line];
                    if text(line, "SkuMeter") == "Compute" {
                        *billed.entry(text(line, "ResourceId")).or_default() += charge.quantity.unwrap().units();
                    }
                }
                for machine in organisation.machines.iter().filter(|m| m.place.cloud == cloud) {
                    let hours = billed.get(machine.id.as_str()).copied().unwrap_or(0);
                    assert_eq!(hours, Quantity::hours_of_seconds(machine.seconds(hour)).units());
                }
            }
        }
    }

    #[test]
    fn every_machine_and_meter_has_a_line() {
        let organisation = Organisation::new(21);
        let bills: Vec<Bill<'_>> = CLOUDS.iter().map(|c| Bill::new(&organisation, c)).collect();
        assert_eq!(
            bills.iter().map(|b| b.machines.len()).sum::<usize>(),
            organisation.machines.len()
        );
        assert_eq!(
            bills.iter().map(|b| b.meters.len()).sum::<usize>(),
            organisation.meters.len()
        );
        assert_eq!(bills.iter().map(|b| b.commitments.len()).sum::<usize>(), 3);
    }

    #[test]
    fn negotiated_is_below_list_on_one_cloud_only() {
        let mut cheaper = 0_u64;
        each(&AWS, |_, charge, _| {
            cheaper += u64::from(charge.costs.contracted < charge.costs.list);
        });
        assert!(cheaper > 100_000);
        each(&GCP, |_, charge, _| {
            assert_eq!(charge.costs.contracted, charge.costs.list);
        });
    }

    #[test]
    fn rows_have_what_focus_wants_of_them() {
        for cloud in CLOUDS {
            each(cloud, |_, _, line| {
                for column in [
                    "ProviderName",
                    "BillingAccountId",
                    "BillingCurrency",
                    "ChargeDescription",
                    "ServiceName",
                ] {
                    assert!(!text(line, column).is_empty(), "{column} of {line:?}");
                }
                assert!(ChargeCategory::parse(text(line, "ChargeCategory")).is_some());
                assert!(ChargeFrequency::parse(text(line, "ChargeFrequency")).is_some());
                assert!(PricingCategory::parse(text(line, "PricingCategory")).is_some());
                let is_used = text(line, "ChargeCategory") == "Usage" && !text(line, "CommitmentDiscountId").is_empty();
                assert_eq!(is_used, !text(line, "CommitmentDiscountStatus").is_empty());
            });
        }
    }

    #[test]
    fn a_month_states_the_sum_of_its_rows() {
        let organisation = Organisation::new(21);
        let bill = Bill::new(&organisation, CLOUDS[2]);
        let dir = tempfile::tempdir().unwrap();
        let month = MONTHS[1];
        let written = bill.write(month, &dir.path().join("a.parquet")).unwrap();
        let mut rows = 0;
        let mut costs = Costs::default();
        for charge in month.hours().flat_map(|hour| bill.hour(hour)) {
            rows += 1;
            costs += charge.costs;
        }
        let tax = MONTHLY
            .iter()
            .find(|m| m.cloud == CLOUDS[2])
            .unwrap()
            .amount(costs.billed);
        costs += Costs::flat(tax);
        assert_eq!((written.rows, written.costs), (rows + 1, costs));
    }
}
