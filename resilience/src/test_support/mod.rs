//! What the unit tests of several modules poll and wake with.

#[cfg(feature = "tracing")]
pub(crate) mod capture;

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

/// Polls a future once; nobody is woken.
pub(crate) fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A waker that is the last owner of something, as that of a task is of its future.
pub(crate) fn owning_waker<T: Send + 'static>(owned: T) -> Waker {
    /// The lock makes it shareable.
    struct Owner<T>(std::sync::Mutex<Option<T>>);

    impl<T: Send> Wake for Owner<T> {
        fn wake(self: Arc<Self>) {
            drop(self.0.lock().ok().and_then(|mut owned| owned.take()));
        }
    }

    Waker::from(Arc::new(Owner(std::sync::Mutex::new(Some(owned)))))
}

/// Counts how often it was woken.
#[derive(Default)]
pub(crate) struct Wakes(pub(crate) AtomicU32);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
