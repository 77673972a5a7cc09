//! The locks and atomics that instances share between threads.
//!
//! They are `parking_lot`'s and std's. Under `--cfg resilience_model` they are loom's, which runs a
//! model in every order that its threads could take (the package `tests/models`). So whatever two
//! threads may touch in an instance goes through here: loom cannot see another lock, and stands
//! still when a thread is stopped while it holds one.
//!
//! Two locks are here. [`ShortMutex`] guards what every call changes; nobody else's code may run while
//! it is held, no allocation but a rare one, no other lock but that of the events. [`Mutex`] guards the
//! rest.
//!
//! The flag is our own and not `loom`, because that one changes tokio too. Statics stay std's: they
//! outlive the run of a model. So do registry and thread pool, which no model has.

#[cfg(not(resilience_model))]
mod short;

#[cfg(not(resilience_model))]
pub(crate) use parking_lot::{Mutex, RwLock};

#[cfg(not(resilience_model))]
pub(crate) use self::short::{Mutex as ShortMutex, MutexGuard as ShortMutexGuard};

#[cfg(resilience_model)]
pub(crate) use self::model::{Mutex, Mutex as ShortMutex, MutexGuard as ShortMutexGuard, RwLock};

/// Numbers and flags that are read without a lock.
pub(crate) mod atomic {
    #[cfg(resilience_model)]
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
    #[cfg(not(resilience_model))]
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
}

/// Loom's locks with `parking_lot`'s interface, which knows no poison.
#[cfg(resilience_model)]
mod model {
    use std::sync::PoisonError;

    pub(crate) use loom::sync::MutexGuard;
    use loom::sync::{RwLockReadGuard, RwLockWriteGuard};

    #[derive(Debug, Default)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        #[track_caller]
        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    #[derive(Debug, Default)]
    pub(crate) struct RwLock<T>(loom::sync::RwLock<T>);

    impl<T> RwLock<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::RwLock::new(value))
        }

        #[track_caller]
        pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
            self.0.read().unwrap_or_else(PoisonError::into_inner)
        }

        #[track_caller]
        pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
            self.0.write().unwrap_or_else(PoisonError::into_inner)
        }
    }
}
