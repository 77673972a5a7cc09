use std::time::Instant;

use crate::clock::saturating_nanos;

/// What somebody wants of a store, and since when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    pub(super) permits: u32,
    /// Until when the decision may take.
    pub(super) due: Instant,
    /// Nanoseconds on the limiter's clock.
    began: u64,
    since: Instant,
}

impl Wish {
    pub(super) fn new(permits: u32, now: u64, due: Instant) -> Self {
        Self { permits, due, began: now, since: Instant::now() }
    }

    /// The limiter's clock, which is not to be asked on the store's thread: where a test has paused
    /// tokio's, that is the one of the runtime that asks.
    pub(super) fn now(&self) -> u64 {
        self.began.saturating_add(saturating_nanos(self.since.elapsed()))
    }
}
