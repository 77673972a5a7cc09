use super::super::instance::RateLimiter;
use crate::{
    keyed::Keys,
    store::{Key, Store},
};

/// What a limit is for.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Limited<'l> {
    name: &'l str,
    key: Option<&'l str>,
    /// Whether it is for those keys under the name that have no room for an instance of their own.
    is_rest: bool,
}

impl<'l> Limited<'l> {
    pub(in super::super) fn new(
        name: &'l str,
        key: Option<&'l str>,
        keys: &Keys<RateLimiter>,
    ) -> Self {
        Self { name, key, is_rest: key.is_none() && matches!(keys, Keys::Member) }
    }

    /// Where it is counted.
    pub(super) fn place(self, store: &Store) -> Key {
        store.key(if self.is_rest { "rest" } else { "rl" }, self.name, self.key)
    }
}
