use crate::counter::Counter;

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

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) successful: Counter,
    pub(super) failed: Counter,
    pub(super) timeout: Counter,
}

impl Counters {
    pub(super) fn snapshot(&self) -> TimeLimiterMetrics {
        TimeLimiterMetrics {
            successful: self.successful.get(),
            failed: self.failed.get(),
            timeout: self.timeout.get(),
        }
    }
}
