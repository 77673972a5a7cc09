use std::{
    fmt::Display,
    sync::{Arc, OnceLock},
};

use super::{Counted, Counts as _, KeySettings, KeyedMetrics, Tally, map::Map};
use crate::{Clock, aftermath::Aftermath, counter::ThreadCounter, registry::Managed};

/// An instance that can be one of many under a name.
pub(crate) trait Member: Managed + Counted {
    /// The key, if this is the instance of one.
    fn own_key(&self) -> Option<&str>;

    fn config(&self) -> Arc<Self::Config>;
    fn clock(&self) -> &Clock;
    fn keys(&self) -> &Keys<Self>;
    fn key_settings(config: &Self::Config) -> &KeySettings;

    /// A fresh instance under the same name; without a key, the one that the keys beyond the cap
    /// share.
    fn member(&self, config: Arc<Self::Config>, key: Option<Arc<str>>) -> Self;

    /// Goes on with other settings.
    fn adopt(&self, config: Arc<Self::Config>);

    /// How many handles there are to the instance, this one included.
    fn handles(&self) -> usize;

    /// Whether the instance holds nothing at `now` that a fresh one of the same settings would not.
    fn is_at_rest(&self, now: u64) -> bool;
}

/// What an instance has to do with keys.
pub(crate) enum Keys<T: Member> {
    /// It has others under it, once they are asked for.
    Parent(OnceLock<Box<Map<T>>>),
    /// It is one of those.
    Member,
}

impl<T: Member> Keys<T> {
    /// Of an instance that is known by its name alone.
    pub(crate) fn none_yet() -> Self {
        Keys::Parent(OnceLock::new())
    }

    /// A counter for what comes with every call of the instance. Of those under a name there may be very
    /// many, so theirs are small.
    pub(crate) fn counter(&self) -> ThreadCounter {
        match self {
            Keys::Parent(_) => ThreadCounter::new(),
            Keys::Member => ThreadCounter::small(),
        }
    }

    /// Brings what `parent` is configured by now to the instances under it, after what its own change
    /// has left to be done: it runs code of others for every one of them.
    #[must_use]
    pub(crate) fn follow_after(&self, parent: &T, own: Aftermath) -> Aftermath {
        if self.map().is_none() {
            return own;
        }
        let parent = parent.clone();
        Aftermath::new(move || {
            drop(own);
            parent.keys().follow(&parent);
        })
    }

    /// Brings what `parent` is configured by to the instances under it.
    pub(crate) fn follow(&self, parent: &T) {
        if let Some(map) = self.map() {
            map.follow(parent);
        }
    }

    /// Those that have a key of their own, sorted by it.
    pub(crate) fn all(&self) -> Vec<T> {
        self.map().map(Map::all).unwrap_or_default()
    }

    pub(crate) fn metrics(&self) -> KeyedMetrics {
        self.map().map(Map::metrics).unwrap_or_default()
    }

    /// What the instances of all keys have counted so far.
    pub(crate) fn tally(&self) -> Tally<T, T::Counts> {
        let none = || Tally { others: T::Counts::NONE, apart: Vec::new() };
        self.map().map_or_else(none, Map::tally)
    }

    fn map(&self) -> Option<&Map<T>> {
        match self {
            Keys::Parent(map) => map.get().map(Box::as_ref),
            Keys::Member => None,
        }
    }
}

/// Lets go of the instances under `parent`, which was removed.
pub(crate) fn clear<T: Member>(parent: &T) {
    if let Some(map) = parent.keys().map() {
        map.clear();
    }
}

/// The instance for a key under `parent`.
#[track_caller]
pub(crate) fn instance_of<T: Member>(parent: &T, key: &dyn Display) -> T {
    let Keys::Parent(map) = parent.keys() else { return parent.clone() };
    let map = map.get().unwrap_or_else(|| {
        let mut is_new = false;
        let map = map.get_or_init(|| {
            is_new = true;
            Box::new(Map::new(parent.config()))
        });
        if is_new {
            // Who changed the settings meanwhile may have found no map to bring them to.
            map.follow(parent);
        }
        map
    });
    map.get_or_create(parent, key)
}
