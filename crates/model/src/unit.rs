//! Units whose mix-up would cost money. Only meaningful products exist.

use std::ops::{Add, AddAssign, Mul, Sub};

use serde::{Deserialize, Serialize};

use crate::money::Estimate;

macro_rules! units {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
    )*};
}

units! {
    /// Hours of one resource.
    Hours;
    /// Hours of one GPU.
    GpuHours;
    /// Money for an hour of one resource, in the dataset's currency.
    HourlyRate;
}

impl Mul<Hours> for HourlyRate {
    type Output = Estimate;
    fn mul(self, hours: Hours) -> Estimate {
        Estimate::new(self.0 * hours.0)
    }
}

impl Hours {
    /// GPU-hours of a resource with so many GPUs.
    pub fn of_gpus(self, gpus: f64) -> GpuHours {
        GpuHours(self.0 * gpus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_times_hours_is_an_estimate() {
        assert_eq!(HourlyRate(1.21) * Hours(63.0), Estimate::new(1.21 * 63.0));
        assert_eq!(Hours(2.0).of_gpus(8.0), GpuHours(16.0));
    }
}
