//! Charges for a whole month: support, tax, credits.

use lowwater_model::charge::ChargeCategory;
use lowwater_model::money::Money;

use super::places::{AWS, Cloud, GCP, NEBIUS};

/// A charge for a whole month that belongs to no resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monthly {
    /// Which cloud's bill.
    pub cloud: &'static Cloud,
    /// ChargeCategory.
    pub category: ChargeCategory,
    /// ServiceName.
    pub service: &'static str,
    /// ChargeDescription.
    pub description: &'static str,
    /// Thousandths of all that is billed before it.
    pub permille: i64,
    /// And this amount.
    pub fixed: Money,
    /// Only in this month; none = in each.
    pub month: Option<&'static str>,
}

impl Monthly {
    /// What it comes to, after so much was billed in the month.
    pub fn amount(&self, billed: Money) -> Money {
        billed.times(self.permille).split(1000).0 + self.fixed
    }
}

/// In the order in which they are charged: support before tax.
pub const MONTHLY: [Monthly; 6] = [
    Monthly {
        cloud: &AWS,
        category: ChargeCategory::Usage,
        service: "AWS Support (Business)",
        description: "Business support, three percent of the month",
        permille: 30,
        fixed: Money::ZERO,
        month: None,
    },
    Monthly {
        cloud: &AWS,
        category: ChargeCategory::Credit,
        service: "Amazon Elastic Compute Cloud",
        description: "Research credit",
        permille: 0,
        fixed: Money::whole(-7_500),
        month: Some("2026-09"),
    },
    tax(&AWS, 12),
    tax(&GCP, 10),
    tax(&NEBIUS, 25),
    Monthly {
        cloud: &GCP,
        category: ChargeCategory::Credit,
        service: "Compute Engine",
        description: "Promotional credit",
        permille: 0,
        fixed: Money::whole(-1_200),
        month: Some("2026-08"),
    },
];

const fn tax(cloud: &'static Cloud, permille: i64) -> Monthly {
    Monthly {
        cloud,
        category: ChargeCategory::Tax,
        service: "Tax",
        description: "Sales tax",
        permille,
        fixed: Money::ZERO,
        month: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monthly_amounts_are_exact() {
        let support = &MONTHLY[0];
        assert_eq!(support.amount(Money::whole(1000)), Money::whole(30));
        let credit = &MONTHLY[1];
        assert_eq!(credit.amount(Money::whole(1000)), Money::whole(-7_500));
    }
}
