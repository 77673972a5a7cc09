use std::time::Duration;

use super::engine::View;

/// Tells what a [`CircuitBreaker`](super::CircuitBreaker) has counted, in numbers of calls and in percent
/// of them.
///
/// Everything but [`totals`](CircuitBreakerMetrics::totals) is of the present state: entering a state
/// starts anew, except that OPEN goes on with the counts of the state before it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CircuitBreakerMetrics {
    /// Failed calls in percent of those in the window; -1 while there are too few.
    pub failure_rate: f32,
    /// Slow calls in percent of those in the window; -1 while there are too few.
    pub slow_call_rate: f32,
    /// Calls in the window.
    pub buffered_calls: u64,
    /// Failed calls in the window.
    pub failed_calls: u64,
    /// Successful calls in the window.
    pub successful_calls: u64,
    /// Slow calls in the window.
    pub slow_calls: u64,
    /// Slow calls in the window that succeeded.
    pub slow_successful_calls: u64,
    /// Slow calls in the window that failed.
    pub slow_failed_calls: u64,
    /// Calls that the present state refused.
    pub not_permitted_calls: u64,
    /// How long the breaker has been in its present state.
    pub time_in_state: Duration,
    /// Whether the state is the one that the processes of a global breaker share: the store answers, and
    /// this breaker is not stricter than the others and in no state that was chosen by hand.
    pub shared: bool,
    /// Counts that never start anew.
    pub totals: Totals,
}

/// Tells what a circuit breaker has counted since it was made, in numbers of calls that only grow.
///
/// Calls that DISABLED let in are not counted. Calls that end after the state has changed are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Totals {
    /// Calls that succeeded.
    pub successful: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls that ended in an ignored error.
    pub ignored: u64,
    /// Calls that were refused, by `FORCED_OPEN` too.
    pub not_permitted: u64,
    /// Calls that were dropped before they ended.
    pub cancelled: u64,
    /// Calls, of those that succeeded or failed, that were slow.
    pub slow: u64,
    /// Changes of state.
    pub transitions: u64,
}

impl CircuitBreakerMetrics {
    pub(super) fn new(view: &View, totals: Totals, now: u64) -> Self {
        let View { snapshot, entered_at, transitions, .. } = view;
        let sums = &snapshot.sums;
        Self {
            failure_rate: snapshot.rates.failure,
            slow_call_rate: snapshot.rates.slow,
            buffered_calls: sums.calls,
            failed_calls: sums.failed,
            successful_calls: sums.calls - sums.failed,
            slow_calls: sums.slow,
            slow_successful_calls: sums.slow - sums.slow_failed,
            slow_failed_calls: sums.slow_failed,
            not_permitted_calls: snapshot.not_permitted,
            time_in_state: Duration::from_nanos(now.saturating_sub(*entered_at)),
            shared: false,
            totals: Totals { transitions: *transitions, ..totals },
        }
    }
}
