//! Events of an instance: who listens, what was last, and in which order they arrive.

use std::{
    collections::VecDeque,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll, Waker},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use futures_core::Stream;

use crate::{
    sealed::SealedEvent,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

/// The longest text that [`Events::recent`] keeps of one event, in bytes.
pub const MAX_EVENT_TEXT: usize = 1024;

/// How many events a [`EventStream`] holds for a slow reader before it loses the oldest.
const STREAM_CAPACITY: usize = 1024;

/// How many events wait for slow listeners before the oldest is lost.
const PENDING_CAPACITY: usize = 4096;

/// What every event of every pattern tells; sealed.
pub trait Event: SealedEvent + Clone + fmt::Display + Send + Sync + 'static {
    /// Resilience4j's name of the event type, such as `STATE_TRANSITION`.
    fn type_name(&self) -> &'static str;

    /// Nanoseconds since the Unix epoch on the instance's clock.
    fn created_at_nanos(&self) -> u64;

    /// The name of the instance.
    fn instance(&self) -> &str;

    /// The time of the event.
    fn created_at(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(self.created_at_nanos())
    }

    /// Whether there is one for every call, so that one more or less tells little; a state change,
    /// say, is not of that sort.
    fn comes_with_calls(&self) -> bool {
        true
    }
}

/// What kinds of events a pattern has; sealed.
pub trait EventKind: SealedEvent + Clone + Send + Sync + 'static {
    /// The name of the pattern, as Resilience4j's texts have it.
    const PATTERN: &'static str;

    /// Resilience4j's name of the event type, such as `STATE_TRANSITION`.
    fn type_name(&self) -> &'static str;

    /// Says in words what the instance did.
    ///
    /// # Errors
    ///
    /// That of the formatter.
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// See [`Event::comes_with_calls`].
    fn comes_with_calls(&self) -> bool {
        true
    }
}

/// Something that happened at an instance.
///
/// Each pattern has a name of its own for it: [`RetryEvent`](crate::retry::RetryEvent) and so on.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstanceEvent<K> {
    /// The name of the instance.
    pub instance: Arc<str>,
    /// When it happened: nanoseconds since the Unix epoch on the instance's clock.
    pub at: u64,
    /// What happened.
    pub kind: K,
    key: Option<Arc<str>>,
}

impl<K> InstanceEvent<K> {
    /// Returns the key that the instance is for, if it is a [keyed](crate::keyed) one.
    ///
    /// The event's text does not have it: keys may be user ids.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use resilience::{Bulkhead, BulkheadConfig};
    ///
    /// let bulkhead = Bulkhead::new("shard", BulkheadConfig::default());
    /// let (sender, events) = mpsc::channel();
    /// bulkhead.events().subscribe(move |event| drop(sender.send(event.clone()))).forever();
    /// drop(bulkhead.keyed("eu-1").try_acquire());
    /// assert_eq!(events.recv()?.key(), Some("eu-1"));
    /// # Ok::<(), mpsc::RecvError>(())
    /// ```
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

/// Without the key, which may be a user id.
impl<K: fmt::Debug> fmt::Debug for InstanceEvent<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InstanceEvent")
            .field("instance", &self.instance)
            .field("at", &self.at)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl<K: EventKind> SealedEvent for InstanceEvent<K> {}

impl<K: EventKind> Event for InstanceEvent<K> {
    fn type_name(&self) -> &'static str {
        self.kind.type_name()
    }

    fn created_at_nanos(&self) -> u64 {
        self.at
    }

    fn instance(&self) -> &str {
        &self.instance
    }

    fn comes_with_calls(&self) -> bool {
        self.kind.comes_with_calls()
    }
}

impl<K: EventKind> fmt::Display for InstanceEvent<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} '{}' ", K::PATTERN, self.instance)?;
        self.kind.describe(f)
    }
}

/// An event as [`Events::recent`] keeps it: strings only, so that it holds nothing alive.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecentEvent {
    /// Resilience4j's name of the event type.
    pub type_name: &'static str,
    /// When it happened.
    pub created_at: SystemTime,
    /// The event in words, at most [`MAX_EVENT_TEXT`] bytes.
    pub text: String,
}

/// The events of one instance.
///
/// Events arrive in the order in which they happened. A listener that panics harms nobody: the
/// panic is swallowed. A listener may use the instance; events that this causes arrive after the
/// present one.
///
/// Listeners run one at a time, on the thread of a call that caused an event, which then may deliver
/// other calls' events too: a listener must be quick and must not block. Up to 4096 events wait for
/// slow ones; then the oldest that comes with a call is [`lost`](Events::lost).
///
/// Only state changes, resets and exceeded rates are kept for [`recent`](Events::recent) from the
/// start. The rest, which comes with every call, is built once somebody subscribes or
/// [`capture`](Events::capture) is on: without either it costs one atomic load.
///
/// # Examples
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
/// use resilience::{Bulkhead, BulkheadConfig};
///
/// let bulkhead = Bulkhead::new("inventory", BulkheadConfig::default());
/// let heard = Arc::new(AtomicU32::new(0));
/// let subscription = bulkhead.events().subscribe({
///     let heard = Arc::clone(&heard);
///     move |event| {
///         println!("{event}");
///         heard.fetch_add(1, Ordering::Relaxed);
///     }
/// });
/// drop(bulkhead.try_acquire()); // permitted, then finished
/// drop(subscription); // hears nothing more
/// drop(bulkhead.try_acquire());
/// assert_eq!(heard.load(Ordering::Relaxed), 2);
/// ```
///
/// All instances that are one name by different [keys](crate::keyed) have the same events.
pub struct Events<E> {
    shared: Arc<Shared<E>>,
    /// What the instance's events tell as their key.
    key: Option<Arc<str>>,
}

type Listener<E> = Arc<dyn Fn(&E) + Send + Sync>;

struct Shared<E> {
    observed: AtomicBool,
    state: Mutex<State<E>>,
}

struct State<E> {
    listeners: Arc<[(u64, Listener<E>)]>,
    next_id: u64,
    capture: bool,
    capacity: usize,
    recent: VecDeque<RecentEvent>,
    pending: VecDeque<E>,
    lost: u64,
    delivering: bool,
}

impl<E: Event> Events<E> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                observed: AtomicBool::new(false),
                state: Mutex::new(State {
                    listeners: Arc::new([]),
                    next_id: 0,
                    capture: false,
                    capacity,
                    recent: VecDeque::new(),
                    pending: VecDeque::new(),
                    lost: 0,
                    delivering: false,
                }),
            }),
            key: None,
        }
    }

    /// Calls `listener` with every event from now on, until the subscription is dropped.
    ///
    /// It must be quick and must not block: see [`Events`].
    pub fn subscribe(&self, listener: impl Fn(&E) + Send + Sync + 'static) -> Subscription {
        let mut state = self.shared.state.lock();
        state.next_id += 1;
        let id = state.next_id;
        let listener: Listener<E> = Arc::new(listener);
        state.listeners = state.listeners.iter().cloned().chain([(id, listener)]).collect();
        self.shared.update_observed(&state);
        let shared = Arc::downgrade(&self.shared);
        Subscription { cancel: Some(Box::new(move || unsubscribe(&shared, id))) }
    }

    /// A stream of every event from now on.
    ///
    /// It holds up to 1024 events for a slow reader; then it loses the oldest and says how many.
    pub fn stream(&self) -> EventStream<E> {
        let buffer = Arc::new(Mutex::new(Buffer {
            events: VecDeque::new(),
            lost: 0,
            closed: false,
            waker: None,
        }));
        let subscription = self.subscribe({
            let sender = Sender(Arc::clone(&buffer));
            move |event: &E| {
                let waker = {
                    let mut buffer = sender.0.lock();
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
        });
        EventStream { buffer, _subscription: subscription }
    }

    /// The last events, oldest first.
    pub fn recent(&self) -> Vec<RecentEvent> {
        self.shared.state.lock().recent.iter().cloned().collect()
    }

    /// Turns on or off that every event is kept for [`recent`](Events::recent), not only state
    /// changes, resets and exceeded rates.
    pub fn capture(&self, all: bool) {
        let mut state = self.shared.state.lock();
        state.capture = all;
        self.shared.update_observed(&state);
    }

    /// How many listeners and streams there are.
    pub fn subscribers(&self) -> usize {
        self.shared.state.lock().listeners.len()
    }

    /// Lets go of every listener, stream and kept event: the instance was removed.
    pub(crate) fn close(&self) {
        let mut state = self.shared.state.lock();
        let listeners = std::mem::replace(&mut state.listeners, Arc::new([]));
        let pending = std::mem::take(&mut state.pending);
        state.recent = VecDeque::new();
        state.capture = false;
        self.shared.update_observed(&state);
        drop(state);
        harmless(|| drop((listeners, pending)));
    }

    /// How many events were lost because listeners were too slow.
    pub fn lost(&self) -> u64 {
        self.shared.state.lock().lost
    }

    /// Keeps this many events for [`recent`](Events::recent) from now on.
    pub(crate) fn set_capacity(&self, capacity: usize) {
        let mut state = self.shared.state.lock();
        let surplus = state.recent.len().saturating_sub(capacity);
        state.recent.drain(..surplus);
        state.capacity = capacity;
    }

    /// Whether events that come with every call need to be built.
    #[inline]
    pub(crate) fn is_observed(&self) -> bool {
        self.shared.observed.load(Ordering::Relaxed)
    }

    /// Queues an event. Call it while holding the lock that ordered the event, then
    /// [`deliver`](Events::deliver) after that lock is released.
    pub(crate) fn push(&self, event: E) {
        let mut state = self.shared.state.lock();
        if state.recent.len() >= state.capacity {
            state.recent.pop_front();
        }
        state.recent.push_back(RecentEvent {
            type_name: event.type_name(),
            created_at: event.created_at(),
            text: bounded(event.to_string(), MAX_EVENT_TEXT),
        });
        if !state.listeners.is_empty() {
            if state.pending.len() >= PENDING_CAPACITY {
                // What comes with every call gives way first: nobody must miss a state change.
                let first = state.pending.iter().position(Event::comes_with_calls).unwrap_or(0);
                state.pending.remove(first);
                state.lost += 1;
            }
            state.pending.push_back(event);
        }
    }

    /// Hands queued events to the listeners, unless another call is already at it.
    #[cold]
    pub(crate) fn deliver(&self) {
        loop {
            let (event, listeners) = {
                let mut state = self.shared.state.lock();
                if state.delivering {
                    return;
                }
                let Some(event) = state.pending.pop_front() else { return };
                state.delivering = true;
                (event, Arc::clone(&state.listeners))
            };
            for (_, listener) in listeners.iter() {
                harmless(|| listener(&event));
            }
            // A listener may have unsubscribed itself: then this is its last owner.
            harmless(|| drop((event, listeners)));
            self.shared.state.lock().delivering = false;
        }
    }
}

impl<E> Events<E> {
    /// The same events, for the instance of a key; without one, for the one that several share.
    pub(crate) fn of_key(&self, key: Option<Arc<str>>) -> Self {
        Self { shared: Arc::clone(&self.shared), key }
    }

    /// The key of the instance whose events these are.
    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

impl<K: EventKind> Events<InstanceEvent<K>> {
    /// An event of the instance.
    pub(crate) fn event(&self, instance: &Arc<str>, at: u64, kind: K) -> InstanceEvent<K> {
        InstanceEvent { instance: Arc::clone(instance), at, kind, key: self.key.clone() }
    }

    /// Queues an event that comes with a call if somebody listens, and tells so.
    ///
    /// As for [`push`](Events::push), the lock that orders the event is held;
    /// [`deliver_if`](Events::deliver_if) takes the answer once it is released.
    #[inline]
    pub(crate) fn note(&self, instance: &Arc<str>, at: impl FnOnce() -> u64, kind: K) -> bool {
        let noted = self.is_observed();
        if noted {
            self.note_observed(instance, at(), kind);
        }
        noted
    }

    #[cold]
    fn note_observed(&self, instance: &Arc<str>, at: u64, kind: K) {
        self.push(self.event(instance, at, kind));
    }

    #[inline]
    pub(crate) fn deliver_if(&self, noted: bool) {
        if noted {
            self.deliver();
        }
    }
}

impl<E> Shared<E> {
    fn update_observed(&self, state: &State<E>) {
        self.observed.store(state.capture || !state.listeners.is_empty(), Ordering::Relaxed);
    }
}

/// Runs a listener's code: its panic, even one of the panic's own payload, harms nobody.
fn harmless(code: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(code)) {
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        // A payload that panics when it is dropped twice over is left alone.
        std::mem::forget(dropped);
    }
}

fn unsubscribe<E>(shared: &Weak<Shared<E>>, id: u64) {
    if let Some(shared) = shared.upgrade() {
        let mut state = shared.state.lock();
        let remaining = state.listeners.iter().filter(|(other, _)| *other != id).cloned().collect();
        // A listener may own what it observes: drop it after the lock.
        let removed = std::mem::replace(&mut state.listeners, remaining);
        shared.update_observed(&state);
        drop(state);
        harmless(|| drop(removed));
    }
}

/// Cuts a text to at most that many bytes.
pub(crate) fn bounded(mut text: String, max: usize) -> String {
    if text.len() > max {
        let end = (0..=max).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

impl<E> Clone for Events<E> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), key: self.key.clone() }
    }
}

impl<E> fmt::Debug for Events<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.state.lock();
        f.debug_struct("Events")
            .field("subscribers", &state.listeners.len())
            .field("recent", &state.recent.len())
            .finish_non_exhaustive()
    }
}

/// Keeps a listener subscribed; dropping it unsubscribes.
#[must_use = "dropping the subscription unsubscribes at once"]
pub struct Subscription {
    cancel: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Subscription {
    /// Stays subscribed for as long as the instance lives.
    pub fn forever(mut self) {
        self.cancel = None;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(cancel) = self.cancel.take() {
            cancel();
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

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
    use super::*;
    use crate::test_support::owning_waker;

    #[derive(Clone)]
    struct Tick(u64);

    impl fmt::Display for Tick {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "tick {}", self.0)
        }
    }

    impl SealedEvent for Tick {}

    impl Event for Tick {
        fn type_name(&self) -> &'static str {
            "TICK"
        }
        fn comes_with_calls(&self) -> bool {
            self.0 != 0
        }
        fn created_at_nanos(&self) -> u64 {
            self.0
        }
        fn instance(&self) -> &'static str {
            "clock"
        }
    }

    fn publish(events: &Events<Tick>, n: u64) {
        events.push(Tick(n));
        events.deliver();
    }

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

    #[test]
    fn a_dropped_subscription_hears_nothing_more() {
        let events = Events::new(10);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let subscription = events.subscribe({
            let heard = Arc::clone(&heard);
            move |tick: &Tick| heard.lock().push(tick.0)
        });
        publish(&events, 1);
        assert!(events.is_observed());
        drop(subscription);
        publish(&events, 2);
        assert_eq!(*heard.lock(), [1]);
        assert!(!events.is_observed());
        assert_eq!(events.subscribers(), 0);
    }

    #[test]
    fn the_ring_keeps_the_last_events_as_bounded_text() {
        let events = Events::new(2);
        for n in 1..=3 {
            publish(&events, n);
        }
        let texts: Vec<_> = events.recent().into_iter().map(|e| e.text).collect();
        assert_eq!(texts, ["tick 2", "tick 3"]);
        assert_eq!(bounded("ü".repeat(2000), MAX_EVENT_TEXT).len(), MAX_EVENT_TEXT);
    }

    #[test]
    fn a_panicking_listener_harms_neither_the_caller_nor_the_others() {
        let events = Events::new(10);
        let heard = Arc::new(Mutex::new(0));
        let _bad = events.subscribe(|_: &Tick| panic!("listener"));
        let _good = events.subscribe({
            let heard = Arc::clone(&heard);
            move |_: &Tick| *heard.lock() += 1
        });
        publish(&events, 1);
        publish(&events, 2);
        assert_eq!(*heard.lock(), 2);
    }

    #[test]
    fn a_panic_whose_payload_panics_when_dropped_harms_nobody() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        let events = Events::new(10);
        let heard = Arc::new(Mutex::new(0));
        let _bad = events.subscribe(|_: &Tick| std::panic::panic_any(Bomb));
        let _good = events.subscribe({
            let heard = Arc::clone(&heard);
            move |_: &Tick| *heard.lock() += 1
        });
        publish(&events, 1);
        publish(&events, 2);
        assert_eq!(*heard.lock(), 2);
    }

    #[tokio::test]
    async fn closing_lets_go_of_listeners_streams_and_kept_events() {
        let events = Events::new(10);
        let owned = Arc::new(());
        events
            .subscribe({
                let owned = Arc::clone(&owned);
                move |_: &Tick| drop(Arc::clone(&owned))
            })
            .forever();
        let mut stream = events.stream();
        publish(&events, 1);
        events.close();
        assert_eq!(Arc::strong_count(&owned), 1);
        assert!(events.recent().is_empty());
        assert_eq!(stream.next().await.unwrap().map(|t| t.0), Ok(1));
        assert!(stream.next().await.is_none());
    }

    #[test]
    fn events_caused_by_a_listener_arrive_after_the_present_one() {
        let events = Events::new(10);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let _s = events.subscribe({
            let (heard, events) = (Arc::clone(&heard), events.clone());
            move |tick: &Tick| {
                if tick.0 == 1 {
                    publish(&events, 2);
                }
                heard.lock().push(tick.0);
            }
        });
        publish(&events, 1);
        assert_eq!(*heard.lock(), [1, 2]);
    }

    #[test]
    fn a_slow_listener_loses_the_oldest_events_of_calls_and_they_are_counted() {
        let events = Events::new(1);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let _s = events.subscribe({
            let heard = Arc::clone(&heard);
            move |tick: &Tick| heard.lock().push(tick.0)
        });
        for n in 0..PENDING_CAPACITY as u64 + 2 {
            events.push(Tick(n));
        }
        events.deliver();
        assert_eq!(events.lost(), 2);
        assert_eq!(heard.lock()[..2], [0, 3], "tick 0 is rare and stays");
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

    #[test]
    fn a_smaller_ring_keeps_the_newest() {
        let events = Events::new(3);
        (1..=3).for_each(|n| publish(&events, n));
        events.set_capacity(1);
        assert_eq!(events.recent().len(), 1);
        publish(&events, 4);
        assert_eq!(events.recent()[0].text, "tick 4");
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
