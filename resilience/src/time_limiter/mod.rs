//! Cuts a call short that takes too long.
//!
//! Dropping the future is the cancellation: a body that timed out does not run on, unless the
//! function is annotated with `detach`. The limit covers the future alone; what the future returned
//! (a streaming body, say) needs a limit of its own. A body that blocks its thread cannot be cut
//! short by anybody: run it in a [`ThreadPoolBulkhead`](crate::ThreadPoolBulkhead).
//!
//! The time counts from when the layers outside let the call in. Where none of them looks at the clock (it
//! is the circuit breaker and the rate limiter that do) it counts from when the call first has to wait,
//! for a slot or in its body: a call that is ready at once costs no look at the clock then.
//!
//! With `deadline` at the attribute, calls further down learn of the limit: see
//! [`deadline`](crate::deadline). What a deadline from further up cuts short is no timeout of this
//! limiter's: it counts nothing.

mod config;
mod countdown;
// Decides how much time a call has left.
mod engine;
mod event;
mod instance;
mod limited;
mod metrics;

pub use config::{TimeLimiterConfig, TimeLimiterConfigBuilder};
pub use event::{TimeLimiterEvent, TimeLimiterEventKind};
pub use instance::TimeLimiter;
pub use metrics::TimeLimiterMetrics;

pub(crate) use countdown::Countdown;
pub(crate) use engine::TimeLimit;
#[cfg(feature = "tower")]
pub(crate) use limited::Limited;
