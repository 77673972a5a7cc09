/// What a bulkhead looks like at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BulkheadMetrics {
    /// How many calls could start now.
    pub available_concurrent_calls: u64,
    /// How many calls run at once at most.
    pub max_concurrent_calls: u64,
    /// How many calls wait for a slot.
    pub waiting: u64,
    /// Calls let through since the bulkhead was made.
    pub permitted: u64,
    /// Calls refused since the bulkhead was made.
    pub rejected: u64,
    /// Calls that were let through and have ended, since the bulkhead was made.
    pub finished: u64,
    /// Calls that were dropped while they waited, since the bulkhead was made.
    pub cancelled: u64,
}
