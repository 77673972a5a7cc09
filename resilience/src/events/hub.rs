use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Weak},
};

use super::{Event, EventKind, EventStream, InstanceEvent, RecentEvent, recent::Ring};
use crate::{
    harmless::harmless,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

/// How many events wait for slow listeners before the oldest is lost.
const PENDING_CAPACITY: usize = 4096;

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

/// Whom an event is told.
struct Listener<E> {
    id: u64,
    /// Whether it hears of what comes with calls, too.
    hears_calls: bool,
    hear: Arc<dyn Fn(&E) + Send + Sync>,
}

// By hand: a derive would ask for `E: Clone`.
impl<E> Clone for Listener<E> {
    fn clone(&self) -> Self {
        Self { id: self.id, hears_calls: self.hears_calls, hear: Arc::clone(&self.hear) }
    }
}

struct Shared<E> {
    observed: AtomicBool,
    state: Mutex<State<E>>,
}

struct State<E> {
    listeners: Arc<[Listener<E>]>,
    next_id: u64,
    capture: bool,
    recent: Ring<E>,
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
                    recent: Ring::new(capacity),
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
        self.add(true, listener)
    }

    /// Calls `listener` with every event from now on that does not come with calls, such as a change of
    /// state, until the subscription is dropped.
    ///
    /// Calls pay nothing for it. It must be quick and must not block: see [`Events`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use resilience::{CircuitBreaker, CircuitBreakerConfig, events::Event};
    ///
    /// let breaker = CircuitBreaker::new("payment", CircuitBreakerConfig::default());
    /// let (sender, changes) = mpsc::channel();
    /// let tell = move |event: &resilience::circuit_breaker::CircuitBreakerEvent| {
    ///     drop(sender.send(event.type_name()));
    /// };
    /// breaker.events().subscribe_to_changes(tell).forever();
    /// breaker.try_acquire()?.success();
    /// breaker.reset();
    /// assert_eq!(changes.recv()?, "RESET");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn subscribe_to_changes(
        &self,
        listener: impl Fn(&E) + Send + Sync + 'static,
    ) -> Subscription {
        self.add(false, listener)
    }

    fn add(
        &self,
        hears_calls: bool,
        listener: impl Fn(&E) + Send + Sync + 'static,
    ) -> Subscription {
        let mut state = self.shared.state.lock();
        state.next_id += 1;
        let id = state.next_id;
        let listener = Listener { id, hears_calls, hear: Arc::new(listener) };
        state.listeners = state.listeners.iter().cloned().chain([listener]).collect();
        self.shared.update_observed(&state);
        let shared = Arc::downgrade(&self.shared);
        Subscription { cancel: Some(Box::new(move || unsubscribe(&shared, id))) }
    }

    /// A stream of every event from now on.
    ///
    /// It holds up to 1024 events for a slow reader; then it loses the oldest and says how many.
    pub fn stream(&self) -> EventStream<E> {
        EventStream::of(self)
    }

    /// The last events, oldest first. Where calls fill the room, up to half of it is kept for state
    /// changes and the like.
    pub fn recent(&self) -> Vec<RecentEvent> {
        let kept = self.shared.state.lock().recent.all();
        kept.iter().map(RecentEvent::of).collect()
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
        state.recent.clear();
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
        self.shared.state.lock().recent.set_capacity(capacity);
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
        let with_call = event.comes_with_calls();
        let is_kept = state.capture || !with_call;
        if !state.listeners.iter().any(|listener| listener.hears(with_call)) {
            if is_kept {
                state.recent.push(event);
            }
            return;
        }
        if is_kept {
            state.recent.push(event.clone());
        }
        if state.pending.len() >= PENDING_CAPACITY {
            // What comes with every call gives way first: nobody must miss a state change.
            let first = state.pending.iter().position(Event::comes_with_calls).unwrap_or(0);
            state.pending.remove(first);
            state.lost += 1;
        }
        state.pending.push_back(event);
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
            let with_call = event.comes_with_calls();
            for listener in listeners.iter().filter(|listener| listener.hears(with_call)) {
                harmless(|| (listener.hear)(&event));
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

impl<E> Listener<E> {
    fn hears(&self, with_call: bool) -> bool {
        self.hears_calls || !with_call
    }
}

impl<E> Shared<E> {
    fn update_observed(&self, state: &State<E>) {
        let hears_calls = state.listeners.iter().any(|listener| listener.hears_calls);
        self.observed.store(state.capture || hears_calls, Ordering::Relaxed);
    }
}

fn unsubscribe<E>(shared: &Weak<Shared<E>>, id: u64) {
    if let Some(shared) = shared.upgrade() {
        let mut state = shared.state.lock();
        let remaining = state.listeners.iter().filter(|other| other.id != id).cloned().collect();
        // A listener may own what it observes: drop it after the lock.
        let removed = std::mem::replace(&mut state.listeners, remaining);
        shared.update_observed(&state);
        drop(state);
        harmless(|| drop(removed));
    }
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

#[cfg(test)]
mod tests {
    use super::{
        super::tick::{Tick, publish},
        *,
    };

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
    fn what_comes_with_calls_is_kept_only_where_it_was_asked_for_whoever_listens() {
        let events = Events::new(10);
        let _s = events.subscribe(|_: &Tick| {});
        publish(&events, 0);
        publish(&events, 1);
        assert_eq!(events.recent().len(), 1, "tick 0 is rare");
        events.capture(true);
        publish(&events, 2);
        assert_eq!(events.recent().len(), 2);
    }

    #[test]
    fn a_listener_for_changes_hears_nothing_of_calls_and_costs_them_nothing() {
        let events = Events::new(10);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let _s = events.subscribe_to_changes({
            let heard = Arc::clone(&heard);
            move |tick: &Tick| heard.lock().push(tick.0)
        });
        assert!(!events.is_observed());
        events.capture(true);
        publish(&events, 0);
        publish(&events, 1);
        let _all = events.subscribe(|_: &Tick| {});
        publish(&events, 2);
        publish(&events, 0);
        assert_eq!(*heard.lock(), [0, 0], "tick 0 is rare");
        assert_eq!(events.subscribers(), 2);
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
}
