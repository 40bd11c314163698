//! FOCUS charges: the closed vocabularies, as the specification names them.

use serde::{Deserialize, Serialize};

macro_rules! focus_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every allowed value, in the order of the specification.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// As FOCUS writes it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// Reads it; case does not matter, because real files differ (`Usage-based`).
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.as_str().eq_ignore_ascii_case(text))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub(crate) use focus_enum;

focus_enum! {
    /// FOCUS ChargeCategory.
    ChargeCategory {
        /// Metered use.
        Usage = "Usage",
        /// A commitment or subscription bought.
        Purchase = "Purchase",
        /// Tax.
        Tax = "Tax",
        /// Money back.
        Credit = "Credit",
        /// A correction that is none of the others.
        Adjustment = "Adjustment",
    }
}

focus_enum! {
    /// FOCUS PricingCategory. Spot is `Dynamic`.
    PricingCategory {
        /// On demand.
        Standard = "Standard",
        /// Spot.
        Dynamic = "Dynamic",
        /// Covered by a commitment discount.
        Committed = "Committed",
        /// Anything else.
        Other = "Other",
    }
}

focus_enum! {
    /// FOCUS ChargeFrequency.
    ChargeFrequency {
        /// Once.
        OneTime = "One-Time",
        /// On a schedule.
        Recurring = "Recurring",
        /// By use.
        UsageBased = "Usage-Based",
    }
}

focus_enum! {
    /// FOCUS CommitmentDiscountStatus.
    CommitmentStatus {
        /// The commitment paid for this use.
        Used = "Used",
        /// Paid and not used: waste.
        Unused = "Unused",
    }
}

focus_enum! {
    /// The four cost columns of FOCUS. A number without its metric is not a number.
    CostMetric {
        /// As invoiced.
        Billed = "billed",
        /// Amortised: purchases spread over what they cover.
        Effective = "effective",
        /// At the contracted price, before commitment discounts.
        Contracted = "contracted",
        /// At the public price.
        List = "list",
    }
}

impl CostMetric {
    /// The FOCUS column of the metric.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Billed => "BilledCost",
            Self::Effective => "EffectiveCost",
            Self::Contracted => "ContractedCost",
            Self::List => "ListCost",
        }
    }
}

/// How a charge over more than an hour came to its hours (`x_Spread`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// The bill itself is hourly or finer.
    Hourly,
    /// Spread by measured activity.
    Activity,
    /// Spread evenly: says nothing about when. A lever that needs hours refuses it.
    Even,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_any_case_and_nothing_else() {
        assert_eq!(ChargeFrequency::parse("Usage-based"), Some(ChargeFrequency::UsageBased));
        assert_eq!(PricingCategory::parse("spot"), None);
        for metric in CostMetric::ALL {
            assert_eq!(CostMetric::parse(metric.as_str()), Some(*metric));
            assert!(metric.column().ends_with("Cost"));
        }
    }
}
