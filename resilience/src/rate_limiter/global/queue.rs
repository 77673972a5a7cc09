use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Those who wait for permissions to come back, in the order in which they came: only the first one
/// asks the store, however many there are.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    front: Arc<Semaphore>,
    length: Arc<AtomicU64>,
    /// Until when the first one sleeps, in nanoseconds on the limiter's clock.
    until: Arc<AtomicU64>,
}

/// The first place, which goes on to the next one when it is dropped.
#[derive(Debug)]
pub(super) struct Front {
    _turn: OwnedSemaphorePermit,
    _place: Place,
    until: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Place(Arc<AtomicU64>);

impl Queue {
    pub(super) fn new() -> Self {
        Self { front: Arc::new(Semaphore::new(1)), length: Arc::default(), until: Arc::default() }
    }

    pub(super) fn is_taken(&self) -> bool {
        self.len() > 0
    }

    pub(super) fn len(&self) -> u64 {
        self.length.load(Ordering::Relaxed)
    }

    /// The first place, if nobody waits.
    pub(super) fn enter(&self) -> Option<Front> {
        let place = self.place();
        let turn = Arc::clone(&self.front).try_acquire_owned().ok()?;
        Some(self.front(turn, place))
    }

    /// Waits to become the first, until `end`.
    pub(super) async fn wait(&self, end: impl Future<Output = ()>) -> Option<Front> {
        let place = self.place();
        let mut turn = pin!(Arc::clone(&self.front).acquire_owned());
        let mut end = pin!(end);
        let first = poll_fn(|cx| match turn.as_mut().poll(cx) {
            Poll::Ready(turn) => Poll::Ready(turn.ok()),
            Poll::Pending => end.as_mut().poll(cx).map(|()| None),
        });
        first.await.map(|turn| self.front(turn, place))
    }

    /// For how long the first one has still to wait: nobody behind is let in earlier.
    pub(super) fn front_sleeps_for(&self, now: u64) -> Option<Duration> {
        match self.front_sleeps_until().saturating_sub(now) {
            0 => None,
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }

    pub(super) fn front_sleeps_until(&self) -> u64 {
        self.until.load(Ordering::Relaxed)
    }

    fn front(&self, turn: OwnedSemaphorePermit, place: Place) -> Front {
        Front { _turn: turn, _place: place, until: Arc::clone(&self.until) }
    }

    fn place(&self) -> Place {
        self.length.fetch_add(1, Ordering::Relaxed);
        Place(Arc::clone(&self.length))
    }
}

impl Front {
    pub(super) fn sleeps_until(&self, until: u64) {
        self.until.store(until, Ordering::Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;
    use crate::test_support::poll;

    #[test]
    fn whoever_came_first_is_the_first() {
        let queue = Queue::new();
        let front = queue.enter().expect("nobody waits");
        assert!(queue.enter().is_none());
        let mut second = Box::pin(queue.wait(pending()));
        let mut third = Box::pin(queue.wait(pending()));
        assert!(poll(second.as_mut()).is_pending());
        assert!(poll(third.as_mut()).is_pending());
        assert_eq!(queue.len(), 3);
        drop(front);
        assert!(poll(third.as_mut()).is_pending());
        assert!(poll(second.as_mut()).is_ready());
        drop(third);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn who_waits_too_long_leaves_the_queue() {
        let queue = Queue::new();
        let _front = queue.enter();
        let mut late = Box::pin(queue.wait(ready(())));
        assert!(matches!(poll(late.as_mut()), Poll::Ready(None)));
        assert_eq!(queue.len(), 1);
    }
}
