//! What keeps a program from asking a sick store: a circuit breaker of ours.

use std::time::Duration;

use crate::{
    CircuitBreaker, CircuitBreakerConfig,
    circuit_breaker::{FailureCounting, Permit},
};

/// This many failures in a row open the guard.
const FAILURES: u32 = 5;
/// For how long at first, and by how much up or down at random.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const SPREAD: f64 = 0.2;
/// What the pause doubles to while the store stays sick.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Lets decisions through to the store, or one at a time to see whether it is well again.
#[derive(Debug)]
pub(super) struct Guard(CircuitBreaker);

impl Guard {
    pub(super) fn new() -> Self {
        let config = CircuitBreakerConfig::builder()
            .failure_counting(FailureCounting::Consecutive)
            .consecutive_failures(FAILURES)
            .slow_call_rate_enabled(false)
            .wait_duration_in_open_state(FIRST_PAUSE)
            .enable_exponential_backoff(true)
            .exponential_backoff_multiplier(2.0)
            .exponential_max_wait_duration_in_open_state(LONGEST_PAUSE)
            .enable_randomized_wait(true)
            .randomized_wait_factor(SPREAD)
            .permitted_number_of_calls_in_half_open_state(1)
            .half_open_success_threshold(1)
            .build()
            .expect("settings within their ranges");
        Self(CircuitBreaker::new("store", config))
    }

    /// The right to ask the store once, or for how long it is left alone.
    pub(super) fn enter(&self) -> Result<Permit, Option<Duration>> {
        self.0.try_acquire().map_err(|refused| refused.retry_after())
    }

    /// Whether decisions go to the store as if nothing had happened.
    pub(super) fn is_closed(&self) -> bool {
        self.0.state() == crate::circuit_breaker::State::Closed
    }
}
