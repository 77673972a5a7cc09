use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use futures_core::Stream;

use super::{Event, Events, Subscription};
use crate::sync::Mutex;

/// How many events an [`EventStream`] holds for a slow reader before it loses the oldest.
const STREAM_CAPACITY: usize = 1024;

/// Events that a slow reader of an [`EventStream`] has lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lagged(pub u64);

/// The stream of [`Events::stream`]. It ends when the instance is gone: when it was removed from
/// its registry and the last handle to it was dropped.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use resilience::{Bulkhead, BulkheadConfig, events::Event};
///
/// let bulkhead = Bulkhead::new("inventory", BulkheadConfig::default());
/// let mut stream = bulkhead.events().stream();
/// drop(bulkhead.try_acquire());
/// drop(bulkhead);
/// let mut types = Vec::new();
/// while let Some(Ok(event)) = stream.next().await {
///     types.push(event.type_name());
/// }
/// assert_eq!(types, ["CALL_PERMITTED", "CALL_FINISHED"]);
/// # }
/// ```
#[derive(Debug)]
pub struct EventStream<E> {
    buffer: Arc<Mutex<Buffer<E>>>,
    _subscription: Subscription,
}

#[derive(Debug)]
struct Buffer<E> {
    events: VecDeque<E>,
    lost: u64,
    closed: bool,
    waker: Option<Waker>,
}

/// The listener's end of a stream; it goes with the instance.
struct Sender<E>(Arc<Mutex<Buffer<E>>>);

impl<E: Clone> Sender<E> {
    fn send(&self, event: &E) {
        let waker = {
            let mut buffer = self.0.lock();
            if buffer.events.len() == STREAM_CAPACITY {
                buffer.events.pop_front();
                buffer.lost += 1;
            }
            buffer.events.push_back(event.clone());
            buffer.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<E> Drop for Sender<E> {
    fn drop(&mut self) {
        let waker = {
            let mut buffer = self.0.lock();
            buffer.closed = true;
            buffer.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<E: Event> EventStream<E> {
    pub(super) fn of(events: &Events<E>) -> Self {
        let buffer = Arc::new(Mutex::new(Buffer {
            events: VecDeque::new(),
            lost: 0,
            closed: false,
            waker: None,
        }));
        let sender = Sender(Arc::clone(&buffer));
        let subscription = events.subscribe(move |event: &E| sender.send(event));
        Self { buffer, _subscription: subscription }
    }
}

impl<E> EventStream<E> {
    /// Waits for the next event; `None` when the instance is gone.
    ///
    /// # Errors
    ///
    /// [`Lagged`] once after events were lost, with their number.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no event is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Result<E, Lagged>> {
        std::future::poll_fn(|cx| self.poll_event(cx)).await
    }

    fn poll_event(&mut self, cx: &Context<'_>) -> Poll<Option<Result<E, Lagged>>> {
        let waker = cx.waker().clone();
        let mut buffer = self.buffer.lock();
        if buffer.lost > 0 {
            return Poll::Ready(Some(Err(Lagged(std::mem::take(&mut buffer.lost)))));
        }
        if let Some(event) = buffer.events.pop_front() {
            return Poll::Ready(Some(Ok(event)));
        }
        if buffer.closed {
            return Poll::Ready(None);
        }
        // The last waker goes after the lock: dropping it may drop a task whose call has events.
        let last = buffer.waker.replace(waker);
        drop(buffer);
        drop(last);
        Poll::Pending
    }
}

impl<E> Stream for EventStream<E> {
    type Item = Result<E, Lagged>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_event(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::tick::{Tick, publish},
        *,
    };
    use crate::test_support::owning_waker;

    #[test]
    fn the_last_waker_of_a_stream_may_own_who_publishes() {
        struct Publishes(Events<Tick>);

        impl Drop for Publishes {
            fn drop(&mut self) {
                publish(&self.0, 1);
            }
        }

        let events = Events::new(10);
        let mut stream = events.stream();
        let waker = owning_waker(Publishes(events));
        assert!(stream.poll_event(&Context::from_waker(&waker)).is_pending());
        drop(waker);
        assert!(stream.poll_event(&Context::from_waker(Waker::noop())).is_pending());
        let told = stream.poll_event(&Context::from_waker(Waker::noop()));
        assert!(matches!(told, Poll::Ready(Some(Ok(Tick(1))))));
    }

    #[tokio::test]
    async fn a_stream_ends_with_its_instance() {
        let events = Events::new(1);
        let mut stream = events.stream();
        publish(&events, 1);
        drop(events);
        assert_eq!(stream.next().await.unwrap().map(|t| t.0), Ok(1));
        assert!(stream.next().await.is_none());
    }

    #[tokio::test]
    async fn a_slow_stream_loses_the_oldest_and_is_told_how_many() {
        let events = Events::new(1);
        let mut stream = events.stream();
        for n in 0..STREAM_CAPACITY as u64 + 3 {
            publish(&events, n);
        }
        assert_eq!(stream.next().await.unwrap().map(|t| t.0), Err(Lagged(3)));
        assert_eq!(stream.next().await.unwrap().map(|t| t.0), Ok(3));
    }
}
