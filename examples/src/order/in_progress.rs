use std::{collections::HashSet, hash::Hash, sync::Arc};

use parking_lot::Mutex;

/// What is being worked on, so that a double click is worked on once; clones share it.
#[derive(Debug, Clone)]
pub(crate) struct InProgress<K> {
    keys: Arc<Mutex<HashSet<K>>>,
}

/// Holds a key until the work is over, whether it ends, fails, panics or is dropped.
#[derive(Debug)]
pub(crate) struct Turn<K: Hash + Eq> {
    keys: Arc<Mutex<HashSet<K>>>,
    key: K,
}

impl<K: Hash + Eq + Clone> InProgress<K> {
    pub(crate) fn new() -> Self {
        Self { keys: Arc::default() }
    }

    /// Takes the key, or returns `None` if somebody else has it.
    pub(crate) fn begin(&self, key: K) -> Option<Turn<K>> {
        let fresh = self.keys.lock().insert(key.clone());
        fresh.then(|| Turn { keys: Arc::clone(&self.keys), key })
    }
}

impl<K: Hash + Eq> Drop for Turn<K> {
    fn drop(&mut self) {
        self.keys.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_held_by_one_at_a_time_and_is_free_again_afterwards() {
        let clicks = InProgress::new();
        let turn = clicks.begin("a").expect("nobody has it");
        assert!(clicks.begin("a").is_none());
        assert!(clicks.begin("b").is_some());
        drop(turn);
        assert!(clicks.begin("a").is_some());
    }
}
