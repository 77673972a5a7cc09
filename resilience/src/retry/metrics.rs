use crate::counter::{Counter, ThreadCounter};

/// Tells how calls through a [`Retry`](super::Retry) ended since the instance was made.
///
/// Numbers that only grow: of calls, and of attempts in `total_calls`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryMetrics {
    /// Calls that succeeded at the first attempt.
    pub successful_without_retry: u64,
    /// Calls that succeeded after at least one retry.
    pub successful_with_retry: u64,
    /// Calls that failed with an error that is not retried.
    pub failed_without_retry: u64,
    /// Calls that failed for good although their error is retried: after all attempts, or because the
    /// time, the budget or the interval allowed no further one.
    pub failed_with_retry: u64,
    /// Calls among those that the [budget](super::RetryBudget) had no retry for.
    pub stopped_by_budget: u64,
    /// Resilience4j's "total calls": every attempt, and one more for a call whose attempts ran out
    /// on results.
    pub total_calls: u64,
}

#[derive(Debug)]
pub(super) struct Counters {
    pub(super) successful_without_retry: ThreadCounter,
    pub(super) successful_with_retry: Counter,
    pub(super) failed_without_retry: Counter,
    pub(super) failed_with_retry: Counter,
    pub(super) stopped_by_budget: Counter,
    /// What `total_calls` has beside the calls that succeeded at once, whose counter is enough.
    pub(super) further_attempts: Counter,
}

impl Counters {
    /// `at_once` is the counter of what comes with every call.
    pub(super) fn new(at_once: ThreadCounter) -> Self {
        Self {
            successful_without_retry: at_once,
            successful_with_retry: Counter::default(),
            failed_without_retry: Counter::default(),
            failed_with_retry: Counter::default(),
            stopped_by_budget: Counter::default(),
            further_attempts: Counter::default(),
        }
    }

    pub(super) fn snapshot(&self) -> RetryMetrics {
        let successful_without_retry = self.successful_without_retry.get();
        RetryMetrics {
            successful_without_retry,
            successful_with_retry: self.successful_with_retry.get(),
            failed_without_retry: self.failed_without_retry.get(),
            failed_with_retry: self.failed_with_retry.get(),
            stopped_by_budget: self.stopped_by_budget.get(),
            total_calls: successful_without_retry + self.further_attempts.get(),
        }
    }
}
