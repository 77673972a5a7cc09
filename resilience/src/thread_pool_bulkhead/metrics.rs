/// Tells what a [`ThreadPoolBulkhead`](super::ThreadPoolBulkhead) looks like at one moment, in numbers
/// of threads and of calls.
///
/// Those since the instance was made only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadPoolBulkheadMetrics {
    /// How many threads are started before calls queue.
    pub core_thread_pool_size: u64,
    /// How many threads run at most.
    pub max_thread_pool_size: u64,
    /// How many threads there are.
    pub thread_pool_size: u64,
    /// How many calls wait for a thread.
    pub queue_depth: u64,
    /// How many more calls may wait.
    pub remaining_queue_capacity: u64,
    /// How many calls may wait at most.
    pub queue_capacity: u64,
    /// How many threads run a call.
    pub active_thread_count: u64,
    /// How many more calls could run at once.
    pub available_thread_count: u64,
    /// Calls that a thread has begun since the instance was made.
    pub permitted: u64,
    /// Calls refused since the instance was made.
    pub rejected: u64,
    /// Calls that have ended since the instance was made.
    pub finished: u64,
    /// Calls that were dropped while they waited in the queue, since the instance was made.
    pub cancelled: u64,
}
