//! Std's locks, without their poison.
//!
//! Std remembers that a thread has panicked while it held a lock, and has everybody after it say what
//! to do. Here they all go on with what is there: a panic in what somebody hands in must not close an
//! instance for the rest of the program.
//!
//! Std's suffice, because what every call changes is behind a [`ShortMutex`](super::ShortMutex). What
//! is behind these, calls read. It changes when instances come and go or get another configuration, and
//! by calls that do more anyway: that have a new key, draw on a retry budget, run on the thread of a
//! pool, or are told to somebody as an event.

use std::{
    sync::{self, PoisonError},
    time::Duration,
};

pub(crate) use std::sync::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

/// A mutex that can also be a static.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lock for what is read much more often than written.
#[derive(Debug, Default)]
pub(crate) struct RwLock<T>(sync::RwLock<T>);

impl<T> RwLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(sync::RwLock::new(value))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where threads wait for a change of what one [`Mutex`] guards. They may also wake without one.
#[derive(Debug, Default)]
pub(crate) struct Condvar(sync::Condvar);

impl Condvar {
    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits no longer than `time`.
    pub(crate) fn wait_for<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> MutexGuard<'a, T> {
        self.0.wait_timeout(guard, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits until `condition` no longer holds, and no longer than `time`.
    #[cfg(feature = "watch")]
    pub(crate) fn wait_while_for<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
        condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        self.0.wait_timeout_while(guard, time, condition).unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
mod tests {
    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::Arc,
        thread,
    };

    use super::*;

    fn panics(f: impl FnOnce()) {
        catch_unwind(AssertUnwindSafe(f)).unwrap_err();
    }

    #[test]
    fn a_panic_leaves_a_lock_as_usable_as_before() {
        let mutex = Mutex::new(1);
        panics(|| {
            let mut value = mutex.lock();
            *value = 2;
            panic!("while it is held");
        });
        assert_eq!(*mutex.lock(), 2);

        let lock = RwLock::new(1);
        panics(|| {
            let mut value = lock.write();
            *value = 2;
            panic!("while it is held");
        });
        assert_eq!(*lock.read(), 2);
        *lock.write() = 3;
        assert_eq!(*lock.read(), 3);
    }

    #[test]
    fn who_waits_is_woken_after_a_panic_too() {
        let shared = Arc::new((Mutex::new(false), Condvar::default()));
        panics(|| {
            let _held = shared.0.lock();
            panic!("while it is held");
        });
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                *shared.0.lock() = true;
                shared.1.notify_all();
            }
        });
        let mut changed = shared.0.lock();
        while !*changed {
            changed = shared.1.wait(changed);
        }
        drop(changed);
        other.join().unwrap();
        let unchanged = shared.1.wait_for(shared.0.lock(), Duration::from_millis(1));
        assert!(*unchanged);
    }
}
