//! Whether what the process depends on is well.
//!
//! [`Resilience::health`](crate::Resilience::health) shows the circuit breakers and rate limiters whose
//! configuration has `register_health_indicator`, as Resilience4j shows them to Spring Boot:
//!
//! | instance | status |
//! |---|---|
//! | breaker CLOSED | `UP` |
//! | breaker OPEN | `CIRCUIT_OPEN`, or `DOWN` with `allow_health_indicator_to_fail` |
//! | breaker `HALF_OPEN` | `CIRCUIT_HALF_OPEN` |
//! | breaker in another state | `UNKNOWN` |
//! | limiter with permissions, or for which nobody waits | `UP` |
//! | limiter for which a new call would wait longer than `timeout_duration` | `RATE_LIMITED`, or `DOWN` with `allow_health_indicator_to_fail` |
//! | any other limiter | `UNKNOWN` |
//! | shared store that decides | `UP` |
//! | shared store that is away | `UNKNOWN` |
//!
//! Several together are `DOWN` if one is, else `UP` if one is, else `UNKNOWN`. The process itself, which
//! is there to answer, is one that is `UP`. A shared store has no say in it.
//!
//! A sick dependency is no reason to restart a process: ask this for readiness, never for liveness.

mod circuit_breaker;
mod rate_limiter;
mod report;
mod status;
#[cfg(feature = "redis")]
mod store;
#[cfg(not(feature = "redis"))]
#[path = "store_off.rs"]
mod store;

pub use report::{Component, Detail, Health, Indicator};
pub use status::Status;

use crate::Resilience;

impl Resilience {
    /// Tells how the instances are that the configuration has registered for it.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Config, Resilience, circuit_breaker::State, health::Status};
    ///
    /// let config = Config::builder()
    ///     .set("circuitbreaker.instances.payment.register_health_indicator", "true")
    ///     .set("circuitbreaker.instances.payment.allow_health_indicator_to_fail", "true")
    ///     .load()?;
    /// let registry = Resilience::from_config(config)?;
    /// assert_eq!(registry.health().status, Status::Up);
    /// registry.circuit_breaker("payment").transition_to(State::Open)?;
    /// assert_eq!(registry.health().status, Status::Down);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn health(&self) -> Health {
        Health::of(
            Component::of(self.circuit_breakers().iter().filter_map(circuit_breaker::indicator)),
            Component::of(self.rate_limiters().iter().filter_map(rate_limiter::indicator)),
            store::indicator(self),
        )
    }
}
