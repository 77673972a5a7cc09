//! Retry, circuit breaker, rate limiter, time limiter and bulkhead as attributes on async functions.

pub mod bulkhead;
mod clock;
pub mod config;
mod error;
pub mod events;
mod kind;
pub mod rate_limiter;
pub mod thread_pool_bulkhead;

pub use bulkhead::{Bulkhead, BulkheadConfig};
pub use clock::{Clock, ManualClock, Sleep};
pub use error::{
    BulkheadFull, CallError, CallNotPermitted, Error, MaxRetriesExceeded, RequestNotPermitted,
    TimedOut,
};
pub use kind::ErrorKind;
pub use rate_limiter::{RateLimiter, RateLimiterConfig};
pub use thread_pool_bulkhead::{ThreadPoolBulkhead, ThreadPoolBulkheadConfig};
