//! Retry, circuit breaker, rate limiter, time limiter and bulkhead as attributes on async functions.

pub mod circuit_breaker;
mod clock;
pub mod config;
mod error;
pub mod events;
mod kind;

pub use circuit_breaker::{CircuitBreaker, CircuitBreakerConfig};
pub use clock::{Clock, ManualClock, Sleep};
pub use error::{
    BulkheadFull, CallError, CallNotPermitted, Error, MaxRetriesExceeded, RequestNotPermitted,
    TimedOut,
};
pub use kind::ErrorKind;
