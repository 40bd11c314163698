//! Every decision of Lowwater. Sees the vocabulary only: no files, no clock, no async; randomness by seed.
//!
//! [`plan()`] turns facts and limits into a plan, [`audit()`] checks any plan without the planner's code, and
//! [`replay::Replay`] is the one cost model behind every saving.

pub mod audit;
pub mod backtest;
pub mod class;
pub mod forecast;
pub mod lever;
pub mod mistake;
pub mod movement;
pub mod replay;
pub mod solve;

mod identity;
mod order;
mod portfolio;

pub use audit::{Violation, audit};
pub use backtest::{Backtest, backtest};
pub use identity::{plan_id, policy_id, step_id};
pub use portfolio::plan;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod published;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod shared;
