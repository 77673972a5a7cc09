//! A part of the keys under one lock.

use std::sync::Arc;

use hashbrown::HashTable;

use crate::sync::atomic::{AtomicU64, Ordering};

/// The instance of a key.
pub(super) struct Slot<T> {
    pub(super) hash: u64,
    pub(super) key: Arc<str>,
    pub(super) instance: T,
    /// On the instance's clock.
    pub(super) last_used: AtomicU64,
}

impl<T: Clone> Slot<T> {
    /// A handle for a caller at `now`.
    pub(super) fn hand_out(&self, now: u64) -> T {
        self.last_used.store(now, Ordering::Relaxed);
        self.instance.clone()
    }
}

/// Slots, found by key or looked through in their order, a few at a time.
pub(super) struct Shard<T, C, L> {
    /// What every instance here is configured by.
    pub(super) config: Arc<C>,
    /// What those have counted that are gone.
    pub(super) ledger: L,
    slots: Vec<Slot<T>>,
    /// Where each key's slot is.
    index: HashTable<usize>,
    /// The slot that is looked at next.
    cursor: usize,
}

/// What a look at some slots came to.
pub(super) struct Swept<T> {
    pub(super) looked_at: usize,
    /// What went; it is dropped by whoever looked, once the lock is gone.
    pub(super) gone: Vec<Slot<T>>,
}

impl<T, C, L> Shard<T, C, L> {
    pub(super) fn new(config: Arc<C>, ledger: L) -> Self {
        Self { config, ledger, slots: Vec::new(), index: HashTable::new(), cursor: 0 }
    }

    pub(super) fn find(&self, hash: u64, key: &[u8]) -> Option<&Slot<T>> {
        let is_it = |&at: &usize| {
            let slot = &self.slots[at];
            slot.hash == hash && slot.key.as_bytes() == key
        };
        self.index.find(hash, is_it).map(|&at| &self.slots[at])
    }

    /// Puts in a key that is not there.
    pub(super) fn insert(&mut self, slot: Slot<T>) {
        let (hash, at) = (slot.hash, self.slots.len());
        self.slots.push(slot);
        self.index.insert_unique(hash, at, |&at| self.slots[at].hash);
    }

    fn remove(&mut self, at: usize) -> Slot<T> {
        let last = self.slots.len() - 1;
        if let Ok(entry) = self.index.find_entry(self.slots[at].hash, |&other| other == at) {
            entry.remove();
        }
        let slot = self.slots.swap_remove(at);
        if at != last
            && let Some(moved) = self.index.find_mut(self.slots[at].hash, |&other| other == last)
        {
            *moved = at;
        }
        slot
    }

    /// Looks at up to `most` slots behind those that were looked at last, and takes out what may go.
    pub(super) fn sweep(&mut self, most: usize, may_go: impl Fn(&Slot<T>) -> bool) -> Swept<T> {
        let looked_at = most.min(self.slots.len());
        let mut gone = Vec::new();
        for _ in 0..looked_at {
            if self.cursor >= self.slots.len() {
                self.cursor = 0;
            }
            if may_go(&self.slots[self.cursor]) {
                // The slot that takes its place is the next to be looked at.
                gone.push(self.remove(self.cursor));
            } else {
                self.cursor += 1;
            }
        }
        Swept { looked_at, gone }
    }

    pub(super) fn slots(&self) -> &[Slot<T>] {
        &self.slots
    }

    /// Takes everything out.
    pub(super) fn drain(&mut self) -> Vec<Slot<T>> {
        self.index.clear();
        self.cursor = 0;
        std::mem::take(&mut self.slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(keys: &[&str]) -> Shard<usize, (), ()> {
        let mut shard = Shard::new(Arc::new(()), ());
        for (instance, key) in keys.iter().enumerate() {
            // All of one hash: only the keys tell them apart.
            let slot = Slot { hash: 1, key: (*key).into(), instance, last_used: AtomicU64::new(0) };
            shard.insert(slot);
        }
        shard
    }

    fn found(shard: &Shard<usize, (), ()>, key: &str) -> Option<usize> {
        shard.find(1, key.as_bytes()).map(|slot| slot.instance)
    }

    #[test]
    fn keys_of_one_hash_stay_apart_also_when_others_go() {
        let mut shard = shard(&["a", "b", "c", "d"]);
        let swept = shard.sweep(4, |slot| [0, 2].contains(&slot.instance));
        assert_eq!(swept.gone.iter().map(|slot| slot.instance).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(
            ["a", "b", "c", "d"].map(|key| found(&shard, key)),
            [None, Some(1), None, Some(3)]
        );
    }

    #[test]
    fn every_slot_gets_its_turn_a_few_at_a_time() {
        let mut shard = shard(&["a", "b", "c", "d", "e"]);
        let seen = std::cell::RefCell::new(Vec::new());
        for _ in 0..3 {
            let swept = shard.sweep(2, |slot| {
                seen.borrow_mut().push(slot.instance);
                false
            });
            assert_eq!(swept.looked_at, 2);
        }
        assert_eq!(*seen.borrow(), [0, 1, 2, 3, 4, 0]);
    }

    #[test]
    fn what_was_drained_is_found_no_more() {
        let mut shard = shard(&["a", "b"]);
        assert_eq!(shard.drain().len(), 2);
        assert_eq!(found(&shard, "a"), None);
        assert_eq!(shard.sweep(8, |_| true).looked_at, 0);
    }
}
