//! What instances count, as numbers that can be added up when an instance goes.

use crate::{Bulkhead, CircuitBreaker, RateLimiter, Retry, TimeLimiter};

/// An instance that counts.
pub(crate) trait Counted {
    /// Numbers that only grow as long as the instance lives.
    type Counts: Counts;

    fn counts(&self) -> Self::Counts;
}

/// Several numbers of one meaning each.
pub(crate) trait Counts: Copy + Send + Sync + 'static {
    const NONE: Self;

    fn add(&mut self, others: &Self);

    /// Takes off what was counted before.
    fn since(&self, before: &Self) -> Self;
}

impl<const N: usize> Counts for [u64; N] {
    const NONE: Self = [0; N];

    fn add(&mut self, others: &Self) {
        for (mine, other) in self.iter_mut().zip(others) {
            *mine += other;
        }
    }

    fn since(&self, before: &Self) -> Self {
        std::array::from_fn(|i| self[i].saturating_sub(before[i]))
    }
}

impl Counted for CircuitBreaker {
    /// Successful, failed, ignored, cancelled and refused calls, changes of state.
    type Counts = [u64; 6];

    fn counts(&self) -> [u64; 6] {
        let totals = self.metrics().totals;
        [
            totals.successful,
            totals.failed,
            totals.ignored,
            totals.cancelled,
            totals.not_permitted,
            totals.transitions,
        ]
    }
}

impl Counted for Retry {
    /// Calls that succeeded without and with a retry, that failed without and with one, that a budget
    /// stopped, and attempts.
    type Counts = [u64; 6];

    fn counts(&self) -> [u64; 6] {
        let metrics = self.metrics();
        [
            metrics.successful_without_retry,
            metrics.successful_with_retry,
            metrics.failed_without_retry,
            metrics.failed_with_retry,
            metrics.stopped_by_budget,
            metrics.total_calls,
        ]
    }
}

impl Counted for RateLimiter {
    /// Permitted, refused and cancelled calls.
    type Counts = [u64; 3];

    fn counts(&self) -> [u64; 3] {
        let metrics = self.metrics();
        [metrics.permitted, metrics.refused, metrics.cancelled]
    }
}

impl Counted for TimeLimiter {
    /// Successful and failed calls, and those that were cut short.
    type Counts = [u64; 3];

    fn counts(&self) -> [u64; 3] {
        let metrics = self.metrics();
        [metrics.successful, metrics.failed, metrics.timeout]
    }
}

impl Counted for Bulkhead {
    /// Permitted, rejected, finished and cancelled calls.
    type Counts = [u64; 4];

    fn counts(&self) -> [u64; 4] {
        let metrics = self.metrics();
        [metrics.permitted, metrics.rejected, metrics.finished, metrics.cancelled]
    }
}
