use crate::counter::{Counter, ThreadCounter};

/// Tells how calls through a [`TimeLimiter`](super::TimeLimiter) ended since the instance was made.
///
/// Numbers of calls that only grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeLimiterMetrics {
    /// Calls that succeeded in time.
    pub successful: u64,
    /// Calls that failed in time.
    pub failed: u64,
    /// Calls that were cut short.
    pub timeout: u64,
}

#[derive(Debug)]
pub(super) struct Counters {
    pub(super) successful: ThreadCounter,
    pub(super) failed: Counter,
    pub(super) timeout: Counter,
}

impl Counters {
    /// `successful` is the counter of what comes with every call.
    pub(super) fn new(successful: ThreadCounter) -> Self {
        Self { successful, failed: Counter::default(), timeout: Counter::default() }
    }

    pub(super) fn snapshot(&self) -> TimeLimiterMetrics {
        TimeLimiterMetrics {
            successful: self.successful.get(),
            failed: self.failed.get(),
            timeout: self.timeout.get(),
        }
    }
}
