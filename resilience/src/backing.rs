use std::sync::{Arc, OnceLock};

use crate::store::Store;

/// What stands behind the instances of a registry: what they share with other processes.
///
/// Clones are one: a store that comes later comes for all of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backing {
    store: Arc<OnceLock<Store>>,
}

impl Backing {
    #[cfg(feature = "redis")]
    pub(crate) fn by(store: Store) -> Self {
        let backing = Self::default();
        backing.put(store);
        backing
    }

    /// Takes a store, unless there is one. Instances know of it once they are told to look again.
    pub(crate) fn put(&self, store: Store) {
        // There is one, and it stays.
        let _ = self.store.set(store);
    }

    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.get()
    }

    /// How many processes share a limit.
    pub(crate) fn nodes(&self) -> u32 {
        self.store().map_or(1, Store::nodes)
    }
}
