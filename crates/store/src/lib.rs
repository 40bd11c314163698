//! Bills, metrics and prices: load, keep, query. The only crate that knows Arrow, Parquet and DataFusion.

mod believed;
pub mod charges;
mod clues;
pub mod config;
mod contract;
pub mod coverage;
pub mod csv;
pub mod error;
pub mod export;
pub mod facts;
pub mod format;
mod hostlist;
pub mod input;
pub mod jobs;
pub mod join;
pub mod layout;
mod lines;
pub mod load;
mod metrics;
pub mod owner;
pub mod prices;
pub mod prometheus;
mod python;
pub mod report;
pub mod schema;
pub mod session;
pub mod sku;
pub mod spelling;
pub mod spot;
pub mod state;
pub mod store;
pub mod tagging;
pub mod tags;
pub mod unload;
pub mod usage;
pub mod views;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod shared;
