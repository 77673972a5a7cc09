//! Calls again what failed, after a wait.
//!
//! `max_attempts` counts the first call. By default every error is retried, as in Resilience4j,
//! except a refusal by an open circuit breaker: repeating what has just been cut off helps nobody.
//! When the attempts run out the caller gets the last error.
//!
//! It gets it early where another attempt would do harm or come too late: when a [`RetryBudget`] has
//! nothing left, when the wait would end after `total_timeout`, counted from the start of the call,
//! or when it would end after the [`deadline`](crate::deadline) that the call runs under. An attempt
//! under way is cut short by none of the first two.
//!
//! Inside a [`Stack`](crate::Stack), and under the attributes, retry is the outermost layer: one
//! attempt is one full pass through the others, and none of their permits is held during a wait.

mod budget;
mod config;
// Decides after each attempt whether its outcome stands, or after what wait another one comes.
mod engine;
mod event;
mod instance;
mod interval;
#[cfg(feature = "tracing")]
mod log;
mod metrics;

pub use budget::{RetryBudget, RetryBudgetConfig, RetryBudgetConfigBuilder, RetryBudgetMetrics};
pub use config::{RetryConfig, RetryConfigBuilder};
pub use event::{RetryEvent, RetryEventKind};
pub use instance::Retry;
pub use interval::Interval;
pub use metrics::RetryMetrics;

pub(crate) use engine::{Failure, Progress, Step};
