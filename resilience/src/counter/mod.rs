//! Numbers that only grow, for what is counted without a lock.

mod blocks;
mod by_thread;

pub(crate) use blocks::{Place, add_alone};
pub(crate) use by_thread::ThreadCounter;

use crate::sync::atomic::{AtomicU64, Ordering};

/// One that is counted up now and then.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn increment(&self) {
        self.add(1);
    }

    pub(crate) fn add(&self, n: u64) {
        // Nobody reads it to learn of something else, so no order is needed.
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
