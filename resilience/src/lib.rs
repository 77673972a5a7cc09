//! Retry
pub mod bulkhead;
pub mod circuit_breaker;
mod clock;
pub mod config;
mod error;
pub mod events;
mod kind;
#[doc(hidden)]
#[path = "private/mod.rs"]
pub mod __private;
pub mod rate_limiter;
mod registry;
pub mod retry;
mod rules;
mod stack;
pub mod thread_pool_bulkhead;
pub mod time_limiter;

pub use bulkhead::{Bulkhead, BulkheadConfig};
pub use circuit_breaker::{CircuitBreaker, CircuitBreakerConfig};
pub use rate_limiter::{RateLimiter, RateLimiterConfig};
pub use thread_pool_bulkhead::{ThreadPoolBulkhead, ThreadPoolBulkheadConfig};
pub use retry::{Retry, RetryConfig};
pub use time_limiter::{TimeLimiter, TimeLimiterConfig};
pub use clock::{Clock, ManualClock, Sleep};
pub use config::{Config, ConfigError};
pub use error::{
    BulkheadFull, CallError, CallNotPermitted, Error, MaxRetriesExceeded, RequestNotPermitted,
    TimedOut,
};
pub use kind::ErrorKind;
pub use registry::{Resilience, global, init, init_for};
pub use rules::{Facts, Rules};
pub use stack::{Stack, StackBuilder};
