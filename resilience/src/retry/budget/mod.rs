//! A budget for retries, shared by name: however many calls fail, and however many instances retry
//! them, what comes on top stays a fraction of the calls.

mod config;
// Decides whether one more retry is within the budget.
mod engine;
mod instance;
mod metrics;

pub use config::{RetryBudgetConfig, RetryBudgetConfigBuilder};
pub use instance::RetryBudget;
pub use metrics::RetryBudgetMetrics;
