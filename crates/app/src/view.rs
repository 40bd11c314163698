//! What is shown: one file a topic. Each makes a struct from the model; text and JSON come from that struct.

pub mod backtest;
pub mod check;
mod contract;
pub mod demo;
pub mod doctor;
pub mod explain;
pub mod fleet;
pub mod hours;
pub mod idle;
pub mod init;
pub mod jobs;
pub mod load;
pub mod log;
pub mod next;
pub mod offers;
mod orders;
pub mod people;
pub mod plan;
pub mod policy;
pub mod prices;
pub mod refusals;
pub mod rejects;
pub mod report;
pub mod resource;
#[cfg(test)]
pub mod sample;
pub mod sim;
pub mod step;
pub mod tags;
pub mod unload;
pub mod week;
pub mod workloads;
