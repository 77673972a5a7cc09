use super::StoreFailure;

/// What a [`Store`](super::Store) has counted, and whether it decides now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreMetrics {
    /// Whether decisions are made without the store.
    pub degraded: bool,
    /// Decisions that the store made.
    pub decided: u64,
    pub(super) failures: [u64; StoreFailure::ALL.len()],
}

impl StoreMetrics {
    /// Decisions that the store did not make for this reason.
    pub fn failed(&self, reason: StoreFailure) -> u64 {
        self.failures[reason as usize]
    }

    /// Decisions that the store did not make, for whatever reason.
    pub fn all_failed(&self) -> u64 {
        self.failures.iter().sum()
    }
}
