use std::time::Duration;

/// Tells what a [`RateLimiter`](super::RateLimiter) looks like at one moment, in numbers of permissions,
/// of calls and of periods.
///
/// Those since the instance was made only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimiterMetrics {
    /// The permissions there are; below zero when calls wait for permissions of later periods.
    pub available_permissions: i64,
    /// How many calls wait for their turn.
    pub waiting: u64,
    /// How many periods have passed since the limiter was made, or its period was changed.
    pub cycle: u64,
    /// How long a call for one permission would have to wait now.
    pub time_to_wait: Duration,
    /// Calls let through since the instance was made.
    pub permitted: u64,
    /// Calls refused since the instance was made.
    pub refused: u64,
    /// Calls that were dropped while they waited, since the instance was made.
    pub cancelled: u64,
}
