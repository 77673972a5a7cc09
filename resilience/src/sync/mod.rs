//! The locks and atomics that instances share between threads.
//!
//! They are std's and our own. Under `--cfg resilience_model` they are loom's, which runs a model in
//! every order that its threads could take (the package `tests/models`). So whatever two threads may
//! touch in an instance goes through here: loom cannot see another lock, and stands still when a
//! thread is stopped while it holds one.
//!
//! Two locks are here. [`ShortMutex`] guards what every call changes; nobody else's code may run while
//! it is held. What is told to listeners is made under it, for the sake of its order: only then does it
//! take long. [`Mutex`] guards the rest.
//!
//! The flag is our own and not `loom`, because that one changes tokio too. Statics take the locks of
//! [`plain`] also then: they outlive the run of a model. So do registry and thread pool, which no model
//! has.

#[cfg(resilience_model)]
mod model;
pub(crate) mod plain;
#[cfg(not(resilience_model))]
mod short;

#[cfg(resilience_model)]
pub(crate) use self::model::{Mutex, Mutex as ShortMutex, MutexGuard as ShortMutexGuard, RwLock};
#[cfg(not(resilience_model))]
pub(crate) use self::{
    plain::{Mutex, RwLock},
    short::{Mutex as ShortMutex, MutexGuard as ShortMutexGuard},
};

/// Numbers and flags that are read without a lock.
pub(crate) mod atomic {
    #[cfg(resilience_model)]
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
    #[cfg(not(resilience_model))]
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
}

/// Keeps what every call writes out of the cache lines of what every call only reads: another core would
/// have to fetch both again.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Apart<T>(pub(crate) T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
