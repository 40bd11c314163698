//! From machines, commitments and meters to the rows of FOCUS files, hour by hour.

use std::path::Path;

use lowwater_model::charge::ChargeCategory;
use lowwater_model::money::Money;
use lowwater_model::period::Period;
use lowwater_store::error::StoreError;
use lowwater_store::export::{Charge, Costs, FocusFile, Invoice, Line, Quantity, Written};

use super::Organisation;
use super::clock::{Month, second};
use super::commitments::Commitment;
use super::fees::{MONTHLY, Monthly};
use super::lines::{covered_line, machine_line, meter_line, monthly_line, purchase_line, unused_line};
use super::machine::Machine;
use super::meters::Meter;
use super::places::Cloud;
use super::prices::{Price, percent, price};

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

/// What a charge is for.
#[derive(Clone, Copy, Debug)]
pub enum Owned<'a> {
    /// Hours of a machine.
    Machine(&'a Machine),
    /// Storage, traffic, a disk.
    Meter(&'a Meter),
    /// A commitment, a fee, tax, a credit.
    Cloud,
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
        for commitment in organisation.commitments.iter().filter(|c| c.place.cloud == cloud) {
            bill.add_commitment(commitment.clone());
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

    /// Whose each line is.
    fn owners(&self) -> Vec<Owned<'a>> {
        let mut owners = vec![Owned::Cloud; self.lines.len()];
        for billed in &self.machines {
            let lines = [Some(billed.line), billed.covered.map(|(_, line)| line)];
            lines
                .into_iter()
                .flatten()
                .for_each(|line| owners[line] = Owned::Machine(billed.machine));
        }
        for (meter, line) in &self.meters {
            owners[*line] = Owned::Meter(meter);
        }
        owners
    }

    /// Writes one month as a FOCUS 1.2 Parquet file; `see` is shown every charge.
    pub fn write(
        &self,
        month: Month,
        path: &Path,
        see: &mut impl FnMut(&Charge, &Owned<'_>),
    ) -> Result<Written, StoreError> {
        let owners = self.owners();
        let invoice = Invoice {
            id: format!("{}-{}", self.cloud.id.to_uppercase(), month.name),
            period: month.period(),
        };
        let mut file = FocusFile::create(path, invoice, &self.lines)?;
        for hour in month.hours() {
            for charge in self.hour(hour) {
                see(&charge, &owners[charge.line]);
                file.push(charge)?;
            }
        }
        for (monthly, line) in self
            .monthly
            .iter()
            .filter(|(m, _)| m.month.is_none_or(|only| only == month.name))
        {
            let amount = monthly.amount(file.written().costs.billed);
            let charge = Charge {
                line: *line,
                period: month.period(),
                quantity: (monthly.category == ChargeCategory::Usage).then(|| Quantity::millionths(1_000_000)),
                commitment_quantity: None,
                costs: Costs::flat(amount),
            };
            see(&charge, &owners[charge.line]);
            file.push(charge)?;
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use lowwater_model::charge::{ChargeFrequency, PricingCategory};

    use super::super::clock::{HOURS, MONTHS};
    use super::super::commitments::commitments;
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
        let written = bill
            .write(month, &dir.path().join("a.parquet"), &mut |_, _| {})
            .unwrap();
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
