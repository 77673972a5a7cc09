//! A lock for what takes a few nanoseconds and runs nobody else's code.
//!
//! Every call through a layer takes such a lock once or twice, and a lock that can put a thread to
//! sleep pays for that twice each time: it has to look, when it is let go, whether somebody sleeps.
//! This one is let go by a plain store. Who finds it taken looks again a few times, then gives its
//! turn of the processor away, then sleeps for moments that get longer: the holder may have been
//! stopped in the middle, and what it waits for is the processor.

use std::{hint, thread, time::Duration};

use super::atomic::{AtomicBool, Ordering};

/// What is behind the lock, and the lock.
pub(crate) type Mutex<T> = lock_api::Mutex<Lock, T>;

/// Keeps the lock until it is dropped.
pub(crate) type MutexGuard<'a, T> = lock_api::MutexGuard<'a, Lock, T>;

/// How often who waits looks again at first.
const LOOKS: u32 = 60;

/// How often it gives its turn away after that, before it sleeps.
const TURNS: u32 = 16;

const SHORTEST_SLEEP: Duration = Duration::from_micros(50);
const LONGEST_SLEEP: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(crate) struct Lock {
    taken: AtomicBool,
}

impl Lock {
    #[inline]
    fn take(&self) -> bool {
        !self.taken.swap(true, Ordering::Acquire)
    }

    #[cold]
    fn wait(&self) {
        for round in 0_u32.. {
            // Only read while it is taken: a write would take the line away from the holder.
            if !self.taken.load(Ordering::Relaxed) && self.take() {
                return;
            }
            pause(round);
        }
    }
}

fn pause(round: u32) {
    if round < LOOKS {
        hint::spin_loop();
    } else if round < LOOKS + TURNS {
        thread::yield_now();
    } else {
        let doublings = (round - LOOKS - TURNS).min(16);
        thread::sleep(SHORTEST_SLEEP.saturating_mul(1 << doublings).min(LONGEST_SLEEP));
    }
}

// SAFETY: `take` says yes only to who has changed `taken` from false to true, and nobody else can
// until `unlock`, which only the one who holds the lock may call, has changed it back. What the holder
// wrote before `unlock` is seen by who takes the lock next: a release store and an acquire swap of the
// same atomic.
#[allow(unsafe_code)]
unsafe impl lock_api::RawMutex for Lock {
    #[allow(clippy::declare_interior_mutable_const)] // what the trait wants of its implementations
    const INIT: Self = Self { taken: AtomicBool::new(false) };

    type GuardMarker = lock_api::GuardNoSend;

    #[inline]
    fn lock(&self) {
        if !self.take() {
            self.wait();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.take()
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn what_many_threads_add_up_under_the_lock_is_all_there() {
        const THREADS: u64 = 8;
        const STEPS: u64 = if cfg!(miri) { 50 } else { 20_000 };
        let sum = Arc::new(Mutex::new((0, 0)));
        let add = |sum: &Mutex<(u64, u64)>| {
            for _ in 0..STEPS {
                let mut sum = sum.lock();
                sum.0 += 1;
                // Two numbers that only the lock keeps together.
                assert_eq!(sum.0, sum.1 + 1);
                sum.1 += 1;
            }
        };
        let threads: Vec<_> = (0..THREADS)
            .map(|_| Arc::clone(&sum))
            .map(|sum| thread::spawn(move || add(&sum)))
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(*sum.lock(), (THREADS * STEPS, THREADS * STEPS));
    }

    #[test]
    fn who_waits_for_a_holder_that_is_stopped_gets_the_lock_when_it_goes_on() {
        let value = Arc::new(Mutex::new(0));
        let held = value.lock();
        let waiting = thread::spawn({
            let value = Arc::clone(&value);
            move || *value.lock()
        });
        // Far beyond looking and giving turns away.
        thread::sleep(Duration::from_millis(20));
        assert!(!waiting.is_finished());
        assert!(value.try_lock().is_none());
        drop(held);
        assert_eq!(waiting.join().unwrap(), 0);
    }

    #[test]
    fn a_panic_lets_the_lock_go() {
        let value = Arc::new(Mutex::new(1));
        let panics = thread::spawn({
            let value = Arc::clone(&value);
            move || {
                let _held = value.lock();
                panic!("while it is held");
            }
        });
        assert!(panics.join().is_err());
        assert_eq!(*value.lock(), 1);
    }
}
