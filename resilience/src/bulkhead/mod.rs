//! Bulkhead: how many calls run at once.
//!
//! A call takes a slot and holds it until it ends, however it ends: by returning, by being dropped,
//! by a panic. When all slots are taken, a call waits for one for at most `max_wait_duration`; those
//! that wait are served in order, and nobody overtakes them.
//!
//! A slot that becomes free is handed to the first in the queue before its task is even woken. If
//! that task goes away just then, the slot passes on to the next.
//!
//! Disabling a bulkhead lets in all that wait.
//!
//! # Where this differs from Resilience4j
//!
//! - Giving back more often than taking never raises the number of slots above the maximum.
//! - Lowering the maximum does not block until enough calls have ended: it takes effect as they do.
//! - [`Bulkhead::try_acquire`] never waits; [`Bulkhead::acquire`] does.

mod config;
// Decides which calls have a slot and which gets the next one.
mod engine;
mod event;
mod instance;
mod metrics;
mod permit;
mod slot;
mod slots;
mod wait;

pub use config::{BulkheadConfig, BulkheadConfigBuilder};
pub use event::{BulkheadEvent, BulkheadEventKind};
pub use instance::Bulkhead;
pub use metrics::BulkheadMetrics;
pub use permit::Permit;

pub(crate) use instance::Entry;
pub(crate) use slot::Slot;
pub(crate) use wait::Wait;
#[cfg(feature = "tower")]
pub(crate) use wait::WaitInTime;
