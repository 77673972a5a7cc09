use std::sync::atomic::{AtomicU64, Ordering};

/// How calls through a [`TimeLimiter`](super::TimeLimiter) ended so far. All numbers only grow.
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
    pub(super) successful: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) timeout: AtomicU64,
}

impl Counters {
    pub(super) fn snapshot(&self) -> TimeLimiterMetrics {
        TimeLimiterMetrics {
            successful: self.successful.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            timeout: self.timeout.load(Ordering::Relaxed),
        }
    }
}
