//! Thread-pool bulkhead: blocking functions on a bounded pool of threads of their own.
//!
//! A blocking function cannot be cancelled by dropping it. On a pool of its own, with a bounded queue,
//! it can block no more than that pool, and its caller can stop waiting: a time limiter around the call
//! works as for async code. A call that nobody waits for any more is taken out of the queue; one that
//! runs already runs on, and keeps its thread until it ends.
//!
//! # When a thread is started
//!
//! As in Resilience4j, and Java's executor below it: a call starts a thread while there are fewer than
//! `core_thread_pool_size`. After that it goes to an idle thread or into the queue; if the queue is
//! full it starts a thread, up to `max_thread_pool_size`; then it is refused. A `queue_capacity` of 0
//! hands over directly. A thread above the core size ends when it has been idle for
//! `keep_alive_duration`.
//!
//! A disabled bulkhead gives every call a thread of its own, those that are queued included.
//!
//! The threads end once the last handle of the instance is gone. Dropping it never blocks.

mod config;
// Decides whether a call gets a thread, a place in the queue or neither.
mod engine;
mod instance;
mod job;
mod metrics;
mod worker;

pub use config::{ThreadPoolBulkheadConfig, ThreadPoolBulkheadConfigBuilder};
pub use instance::ThreadPoolBulkhead;
pub use metrics::ThreadPoolBulkheadMetrics;

pub(crate) use job::Job;
