//! The vocabulary of Lowwater: pure data and total functions.
//!
//! Nothing here reads a file, a clock or a random number, and nothing here decides.

pub mod change;
pub mod charge;
pub mod cloud;
pub mod clue;
pub mod contract;
pub mod deadline;
pub mod error;
pub mod facts;
pub mod id;
pub mod job;
pub mod known;
pub mod money;
pub mod offer;
pub mod order;
pub mod period;
pub mod place;
pub mod plan;
pub mod policy;
pub mod schedule;
pub mod sku;
pub mod spot;
pub mod unit;
pub mod usage;
pub mod workload;
