use crate::store::Store;

/// What stands behind the instances of a registry: what they share with other processes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backing {
    store: Option<Store>,
}

impl Backing {
    #[cfg(feature = "redis")]
    pub(crate) fn by(store: Store) -> Self {
        Self { store: Some(store) }
    }

    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// How many processes share a limit.
    pub(crate) fn nodes(&self) -> u32 {
        self.store.as_ref().map_or(1, Store::nodes)
    }
}
