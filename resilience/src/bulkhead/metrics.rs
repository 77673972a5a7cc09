/// Tells what a [`Bulkhead`](super::Bulkhead) looks like at one moment, in numbers of calls.
///
/// Those since the instance was made only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BulkheadMetrics {
    /// How many calls could start now.
    pub available_concurrent_calls: u64,
    /// How many calls run at once at most.
    pub max_concurrent_calls: u64,
    /// How many calls wait for a slot.
    pub waiting: u64,
    /// Calls let through since the instance was made.
    pub permitted: u64,
    /// Calls refused since the instance was made.
    pub rejected: u64,
    /// Calls that were let through and have ended, since the instance was made.
    pub finished: u64,
    /// Calls that were dropped while they waited, since the instance was made.
    pub cancelled: u64,
}
