//! Names of things as string newtypes: a resource can't be passed where a team is wanted.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// As text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: AsRef<str>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(Arc::from(text.as_ref()))
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }
    )*};
}

ids! {
    /// FOCUS ResourceId.
    ResourceId;
    /// FOCUS SubAccountId where there is one, else BillingAccountId.
    AccountId;
    /// FOCUS ServiceProviderName or ProviderName, as the bill writes it.
    ProviderName;
    /// FOCUS RegionId.
    RegionId;
    /// The provider's name of what was bought: an instance type.
    Sku;
    /// Name of a GPU model in the table of facts, such as `A100-40`.
    Accelerator;
    /// ISO 4217 code.
    Currency;
    /// FOCUS CommitmentDiscountId.
    CommitmentId;
    /// Name of a workload in workloads.toml.
    WorkloadName;
    /// Who pays.
    Team;
    /// Name of a holiday calendar, such as `DE-SN`.
    CalendarName;
    /// Hash of all that a plan was made from.
    FactsId;
    /// Hash of a policy.
    PolicyId;
    /// Hash of a plan.
    PlanId;
    /// Hash of a step; stable between plans that hold the same step.
    StepId;
}
