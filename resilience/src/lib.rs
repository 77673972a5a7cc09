//! Retry, circuit breaker, rate limiter, time limiter and bulkhead as attributes on async functions.
//!
//! They compose in one fixed order, retry( circuit breaker( rate limiter( time limiter( bulkhead(
//! body ))))), with one outermost fallback; instances are declared in a configuration file and live
//! in a [registry](Resilience). The README has the quick start, [`config`] every setting, [`Rules`] what
//! counts as a failure.
//!
//! Each pattern works without attributes too, alone ([`CircuitBreaker::call`]) or together in a
//! [`Stack`], which keeps any order; blocking callers have both.

#[doc(hidden)]
#[path = "private/mod.rs"]
pub mod __private;
#[cfg(feature = "actuator")]
pub mod actuator;
mod aftermath;
mod backing;
mod blocking;
pub mod bulkhead;
mod chain;
pub mod circuit_breaker;
#[cfg(feature = "cli")]
pub mod cli;
mod clock;
pub mod config;
mod context;
mod counter;
mod entrance;
mod error;
pub mod events;
mod harmless;
pub mod health;
#[cfg(any(feature = "axum", feature = "tower"))]
mod http_response;
mod idempotency_key;
#[cfg(feature = "axum")]
mod into_response;
pub mod keyed;
mod kind;
pub mod metrics;
mod name;
pub mod rate_limiter;
pub mod registry;
pub mod retry;
mod rules;
mod scope;
mod sealed;
pub mod single_flight;
pub mod stack;
#[cfg(feature = "redis")]
pub mod store;
#[cfg(not(feature = "redis"))]
#[path = "store/off.rs"]
mod store;
mod sync;
#[cfg(test)]
mod test_support;
pub mod thread_pool_bulkhead;
pub mod time_limiter;
mod timing;
#[cfg(feature = "tower")]
pub mod tower;
mod trace;

pub use bulkhead::{Bulkhead, BulkheadConfig};
pub use circuit_breaker::{CircuitBreaker, CircuitBreakerConfig, Outcome};
pub use clock::{Clock, ManualClock, Sleep};
pub use config::{Config, ConfigError};
pub use context::{deadline, with_deadline};
pub use error::{
    BulkheadFull, CallError, CallNotPermitted, Error, MaxRetriesExceeded, RequestNotPermitted,
    TimedOut,
};
pub use idempotency_key::{
    IdempotencyKey, InvalidIdempotencyKey, idempotency_key, with_idempotency_key,
};
pub use kind::ErrorKind;
pub use rate_limiter::{RateLimiter, RateLimiterConfig};
pub use registry::{Resilience, global, init, init_for};
#[cfg(feature = "macros")]
pub use resilience_macros::{
    ErrorKind, bulkhead, circuit_breaker, rate_limiter, retry, time_limiter,
};
pub use retry::{Retry, RetryConfig};
pub use rules::{Facts, Rules};
pub use single_flight::SingleFlight;
pub use stack::{Stack, StackBuilder};
pub use thread_pool_bulkhead::{ThreadPoolBulkhead, ThreadPoolBulkheadConfig};
pub use time_limiter::{TimeLimiter, TimeLimiterConfig};

/// Runs the examples of the README and its companions with the documentation tests, if all that they
/// show is there.
#[cfg(all(
    doctest,
    feature = "actuator",
    feature = "macros",
    feature = "tower",
    feature = "watch"
))]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../docs/attributes.md")]
struct Readme;

/// Runs the examples of the guide to limits that processes share.
#[cfg(all(doctest, feature = "redis", feature = "macros", feature = "config"))]
#[doc = include_str!("../../docs/redis.md")]
struct Redis;

/// Runs the examples of the guide to what can be seen of a program.
#[cfg(all(doctest, feature = "actuator", feature = "metrics"))]
#[doc = include_str!("../../docs/observability.md")]
struct Observability;
