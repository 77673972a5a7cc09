use std::{
    fmt,
    future::Future,
    sync::Arc,
    task::{Poll, Waker},
};

use super::{
    config::BulkheadConfig,
    engine::{Engine, Withdrawn},
    event::{BulkheadEvent, BulkheadEventKind},
    metrics::BulkheadMetrics,
    permit::Permit,
    slot::Slot,
    slots::{Answer, Slots},
    wait::{Place, Wait, WaitInTime},
};
use crate::{
    BulkheadFull, CallError, Clock, Error,
    aftermath::Aftermath,
    clock::saturating_nanos,
    context::{self, Due},
    entrance::{Entered, Entrance, Inside},
    error::TimedOut,
    events::Events,
    keyed::{KeySettings, Keys, Member},
    name::Name,
    sync::atomic::{AtomicBool, Ordering},
    trace::{InSpan, RefusalLog, blocking_call},
};

/// Limits how many calls run at once.
///
/// A cheap handle: clones are the same instance.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use resilience::{Bulkhead, BulkheadConfig};
///
/// let config = BulkheadConfig::builder().max_concurrent_calls(1).build()?;
/// let bulkhead = Bulkhead::new("inventory", config);
///
/// let permit = bulkhead.try_acquire()?;
/// assert!(bulkhead.call(async { Ok::<_, std::io::Error>(7) }).await.is_err());
/// drop(permit);
/// assert_eq!(bulkhead.call(async { Ok::<_, std::io::Error>(7) }).await?, 7);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Bulkhead {
    shared: Arc<Shared>,
}

/// What clones share.
struct Shared {
    name: Arc<str>,
    /// The same for errors.
    label: Name,
    clock: Clock,
    events: Events<BulkheadEvent>,
    refusal_log: RefusalLog,
    keys: Keys<Bulkhead>,
    enabled: AtomicBool,
    slots: Slots,
}

/// What became of a call that asked for a slot.
#[derive(Debug)]
pub(crate) enum Entry<'b> {
    /// It has one.
    Admitted(Slot<'b>),
    /// It waits for one.
    Queued(Queued),
}

/// A place in the queue.
#[derive(Debug)]
pub(crate) struct Queued {
    place: Place,
    /// The time until which the call may keep it.
    end: u64,
}

impl Queued {
    pub(crate) fn wait(self) -> Wait {
        Wait::new(self.place, self.end)
    }
}

impl Bulkhead {
    /// Makes an instance on the system clock.
    pub fn new(name: impl Into<Arc<str>>, config: BulkheadConfig) -> Self {
        Self::with_clock(name, config, Clock::system())
    }

    /// Makes an instance that takes its time from `clock`.
    pub fn with_clock(name: impl Into<Arc<str>>, config: BulkheadConfig, clock: Clock) -> Self {
        let events = Events::new(config.event_consumer_buffer_size());
        Self::make(
            name.into(),
            Arc::new(config),
            clock,
            events,
            RefusalLog::default(),
            Keys::none_yet(),
        )
    }

    fn make(
        name: Arc<str>,
        config: Arc<BulkheadConfig>,
        clock: Clock,
        events: Events<BulkheadEvent>,
        refusal_log: RefusalLog,
        keys: Keys<Self>,
    ) -> Self {
        let by_word = matches!(keys, Keys::Parent(_));
        Self {
            shared: Arc::new(Shared {
                label: Name::kept(&name),
                name,
                clock,
                events,
                refusal_log,
                keys,
                enabled: AtomicBool::new(config.is_enabled()),
                slots: Slots::new(config, by_word),
            }),
        }
    }

    /// Returns the name of the instance.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Whether both are handles of one instance.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns the settings in force.
    pub fn config(&self) -> Arc<BulkheadConfig> {
        Arc::clone(&self.shared.slots.lock().config)
    }

    /// Returns the events of the instance: `CALL_PERMITTED`, `CALL_REJECTED`, `CALL_FINISHED`.
    pub fn events(&self) -> Events<BulkheadEvent> {
        self.shared.events.clone()
    }

    /// Tells what the bulkhead looks like now.
    pub fn metrics(&self) -> BulkheadMetrics {
        let state = self.shared.slots.lock();
        BulkheadMetrics {
            available_concurrent_calls: state.engine.available().into(),
            max_concurrent_calls: state.engine.max().into(),
            waiting: state.engine.waiting(),
            permitted: state.permitted(),
            rejected: state.rejected(),
            finished: state.finished(),
            cancelled: state.cancelled,
        }
    }

    /// Returns how many calls could start now.
    pub fn available_concurrent_calls(&self) -> u32 {
        self.shared.slots.lock().engine.available()
    }

    /// Returns how many calls run at once at most.
    pub fn max_concurrent_calls(&self) -> u32 {
        self.shared.slots.lock().engine.max()
    }

    /// Returns how many calls wait for a slot.
    pub fn waiting(&self) -> u64 {
        self.shared.slots.lock().engine.waiting()
    }

    /// Takes a slot that is free now; never waits and never overtakes those that do.
    ///
    /// # Errors
    ///
    /// [`BulkheadFull`] when no slot is free.
    pub fn try_acquire(&self) -> Result<Permit, BulkheadFull> {
        let is_taken = match self.ask_quickly() {
            Answer::Unknown if !self.is_enabled() => return Ok(Permit::unlimited()),
            Answer::Unknown => self.take(Engine::enter),
            answer => answer == Answer::Taken,
        };
        if is_taken { Ok(Permit::held(self.clone())) } else { Err(self.refuse()) }
    }

    /// Takes a slot, waiting for one up to `max_wait_duration`.
    ///
    /// # Errors
    ///
    /// [`BulkheadFull`] when no slot became free in time, the time up to the
    /// [`deadline`](crate::deadline) around the call included; at once when `max_wait_duration` is 0
    /// or `max_concurrent_calls` is.
    ///
    /// # Panics
    ///
    /// When it has to wait outside of a tokio runtime with time enabled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the queue; a slot that had just been granted goes to the next.
    pub async fn acquire(&self) -> Result<Permit, BulkheadFull> {
        match self.begin(|| self.shared.clock.now())? {
            Entry::Admitted(slot) => Ok(slot.into_permit()),
            Entry::Queued(Queued { place, end }) => Wait::new(place, self.earlier(end)).await,
        }
    }

    /// Takes a slot, blocking the thread for up to `max_wait_duration` until there is one; no runtime
    /// is needed. Threads and tasks wait in the same queue. On tokio's paused clock it waits until
    /// a test moves it.
    ///
    /// Never call it in async code: use [`acquire`](Bulkhead::acquire) there.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Bulkhead::acquire).
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Bulkhead, BulkheadConfig};
    ///
    /// let config = BulkheadConfig::builder().max_concurrent_calls(1).build()?;
    /// let bulkhead = Bulkhead::new("reports", config);
    /// let permit = bulkhead.acquire_blocking()?;
    /// assert!(bulkhead.acquire_blocking().is_err(), "a wait is not configured");
    /// drop(permit);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn acquire_blocking(&self) -> Result<Permit, BulkheadFull> {
        match self.begin(|| self.shared.clock.now())? {
            Entry::Admitted(slot) => Ok(slot.into_permit()),
            Entry::Queued(Queued { mut place, end }) => {
                place.park(self.earlier(end)).map_or_else(|| place.time_out(), Ok)
            }
        }
    }

    /// The end of a wait, or the deadline around the call, which may come first.
    fn earlier(&self, end: u64) -> u64 {
        context::due(&self.shared.clock).map_or(end, |due| end.min(due.at()))
    }

    /// Like [`acquire_blocking`](Self::acquire_blocking); `None` when the wait is given up at
    /// `deadline`.
    pub(crate) fn acquire_blocking_before(
        &self,
        deadline: Option<u64>,
    ) -> Result<Option<Slot<'_>>, BulkheadFull> {
        let Queued { mut place, end } = match self.begin(|| self.shared.clock.now())? {
            Entry::Admitted(slot) => return Ok(Some(slot)),
            Entry::Queued(queued) => queued,
        };
        let permit = match deadline {
            Some(deadline) if deadline < end => place.park(deadline),
            _ => Some(place.park(end).map_or_else(|| place.time_out(), Ok)?),
        };
        Ok(permit.map(|permit| Slot::of(self, permit)))
    }

    /// Runs `operation` while holding a slot; blocks the thread as
    /// [`acquire_blocking`](Bulkhead::acquire_blocking) does.
    ///
    /// # Errors
    ///
    /// [`CallError::Resilience`] when the bulkhead is full or the [`deadline`](crate::deadline) around
    /// the call comes before the slot, [`CallError::Inner`] when the operation fails.
    ///
    /// # Panics
    ///
    /// When the operation panics; the slot is freed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Bulkhead, BulkheadConfig};
    ///
    /// let bulkhead = Bulkhead::new("reports", BulkheadConfig::default());
    /// assert_eq!(bulkhead.call_blocking(|| "7".parse::<u32>()), Ok(7));
    /// ```
    pub fn call_blocking<T, E>(
        &self,
        operation: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        blocking_call(self, |_| {
            let due = self.due().map_err(|over| CallError::Resilience(over.into()))?;
            let permit = self.acquire_blocking_before(due.as_ref().map(Due::at));
            let permit = permit.map_err(|error| CallError::Resilience(error.into()))?;
            if let (None, Some(due)) = (&permit, due) {
                return Err(CallError::Resilience(due.exceeded().into()));
            }
            operation().map_err(CallError::Inner)
        })
    }

    /// Runs `future` while holding a slot.
    ///
    /// # Errors
    ///
    /// [`CallError::Resilience`] when the bulkhead is full or the [`deadline`](crate::deadline) around
    /// the call comes before the slot, [`CallError::Inner`] when the future fails.
    ///
    /// # Panics
    ///
    /// As [`acquire`](Bulkhead::acquire), and when the future panics; the slot is freed then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the running call and frees its slot.
    pub fn call<T, E>(
        &self,
        future: impl Future<Output = Result<T, E>>,
    ) -> impl Future<Output = Result<T, CallError<E>>> {
        InSpan::new(Inside::new(self, future))
    }

    /// The deadline around a call that starts now, where the bulkhead acts: one that is over ends it.
    #[cold]
    pub(crate) fn due(&self) -> Result<Option<Due>, TimedOut> {
        if self.is_enabled() { context::due_in_time(&self.shared.clock) } else { Ok(None) }
    }

    /// Takes a slot that [`on_complete`](Bulkhead::on_complete) or
    /// [`release_permission`](Bulkhead::release_permission) must give back; never waits.
    ///
    /// Prefer [`try_acquire`](Bulkhead::try_acquire), whose guard cannot be forgotten.
    pub fn try_acquire_permission(&self) -> bool {
        let is_permitted = !self.is_enabled() || self.take(Engine::enter_untied);
        if !is_permitted && RefusalLog::is_wanted() {
            self.log_refusal();
        }
        is_permitted
    }

    /// Gives back a slot of [`try_acquire_permission`](Bulkhead::try_acquire_permission) after the
    /// call has ended. Nothing happens when no such slot is taken.
    pub fn on_complete(&self) {
        self.leave_untied(true);
    }

    /// Gives back a slot of [`try_acquire_permission`](Bulkhead::try_acquire_permission) without an
    /// event: the call never ran. Nothing happens when no such slot is taken.
    pub fn release_permission(&self) {
        self.leave_untied(false);
    }

    /// Changes how many calls run at once; 0 refuses every call.
    ///
    /// A raised maximum lets waiting calls in. A lowered one takes nothing back: it takes effect as
    /// running calls end. The [keyed](crate::keyed) instances of the name follow.
    pub fn change_max_concurrent_calls(&self, max_concurrent_calls: u32) {
        let granted = {
            let mut state = self.shared.slots.lock();
            state.config = Arc::new(state.config.with_max_concurrent_calls(max_concurrent_calls));
            state.engine.set_max(max_concurrent_calls)
        };
        wake(granted);
        self.shared.keys.follow(self);
    }

    /// Says whether the instance acts, until it is said again or a reload changes the instance.
    ///
    /// A disabled bulkhead lets every call through, counts none and lets in those that wait. Slots that
    /// were taken before come back to it.
    ///
    /// [`Resilience::set_enabled`](crate::Resilience::set_enabled) does it for a whole pattern; there
    /// it says how this goes together with `enabled` in files and the environment.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Bulkhead, BulkheadConfig};
    ///
    /// let config = BulkheadConfig::builder().max_concurrent_calls(0).build()?;
    /// let bulkhead = Bulkhead::new("inventory", config);
    /// assert!(bulkhead.try_acquire().is_err());
    /// bulkhead.set_enabled(false);
    /// assert!(bulkhead.try_acquire().is_ok());
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    pub fn set_enabled(&self, on: bool) {
        drop(self.enable(on));
    }

    pub(crate) fn enable(&self, on: bool) -> Aftermath {
        self.replace_config(|config| config.with_enabled(on))
    }

    /// Takes a slot for a call if one is free, and if the bulkhead acts; nothing is said where it is not.
    /// Whoever takes one calls [`leave`](Self::leave).
    #[inline]
    pub(crate) fn take_free(&self, now: impl FnOnce() -> u64) -> bool {
        if !self.shared.events.is_observed() && self.shared.slots.take_quickly() {
            return true;
        }
        self.take_free_by_lock(now)
    }

    #[cold]
    #[inline(never)]
    fn take_free_by_lock(&self, now: impl FnOnce() -> u64) -> bool {
        let mut state = self.shared.slots.lock();
        let taken = self.is_enabled() && state.engine.enter();
        if taken {
            state.permitted += 1;
            let kind = BulkheadEventKind::CallPermitted;
            let noted = self.shared.events.note(&self.shared.name, now, kind);
            drop(state);
            self.shared.events.deliver_if(noted);
        }
        taken
    }

    /// Asks for a slot. The time is asked for where a wait or an event needs it.
    #[inline]
    pub(crate) fn begin(&self, now: impl FnOnce() -> u64) -> Result<Entry<'_>, BulkheadFull> {
        match self.ask_quickly() {
            Answer::Taken => Ok(Entry::Admitted(Slot::held(self))),
            Answer::Refused => Err(self.refuse()),
            Answer::Unknown => self.begin_by_lock(now),
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_by_lock(&self, now: impl FnOnce() -> u64) -> Result<Entry<'_>, BulkheadFull> {
        let mut state = self.shared.slots.lock();
        if !self.is_enabled() {
            // Looked at under the lock: nobody would let it out of the queue.
            return Ok(Entry::Admitted(Slot::unlimited()));
        }
        let admitted = state.engine.enter();
        if !admitted {
            let max_wait = state.config.max_wait_duration();
            if !max_wait.is_zero() && state.engine.max() > 0 {
                let id = state.engine.enqueue(None);
                drop(state);
                let place = Place::new(self.clone(), id);
                let end = now().saturating_add(saturating_nanos(max_wait));
                return Ok(Entry::Queued(Queued { place, end }));
            }
        }
        state.count_entry(admitted);
        let events = &self.shared.events;
        let noted = events.note(&self.shared.name, now, entry_event(admitted));
        drop(state);
        events.deliver_if(noted);
        if admitted { Ok(Entry::Admitted(Slot::held(self))) } else { Err(self.refuse()) }
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// Tells whether the bulkhead acts; a disabled one lets every call through, and counts none.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.shared.enabled.load(Ordering::Relaxed)
    }

    /// Puts other settings in force. Calls that wait already wait as long as they would have, or are
    /// all let in where the bulkhead is disabled.
    pub(crate) fn reconfigure(&self, config: BulkheadConfig) -> Aftermath {
        self.replace_config(|_| config)
    }

    fn replace_config(&self, edit: impl FnOnce(&BulkheadConfig) -> BulkheadConfig) -> Aftermath {
        let own = self.put_config(|config| Arc::new(edit(config)));
        self.shared.keys.follow_after(self, own)
    }

    fn put_config(&self, edit: impl FnOnce(&BulkheadConfig) -> Arc<BulkheadConfig>) -> Aftermath {
        let granted = {
            let mut state = self.shared.slots.lock();
            let config = edit(&state.config);
            self.shared.events.set_capacity(config.event_consumer_buffer_size());
            self.shared.enabled.store(config.is_enabled(), Ordering::Relaxed);
            let mut granted = state.engine.set_max(config.max_concurrent_calls());
            if !config.is_enabled() {
                granted.extend(state.engine.admit_all());
            }
            state.config = config;
            granted
        };
        Aftermath::new(move || wake(granted))
    }

    /// Asks for a slot where that needs neither the lock nor to be told.
    #[inline]
    fn ask_quickly(&self) -> Answer {
        if self.shared.events.is_observed() {
            Answer::Unknown
        } else {
            self.shared.slots.ask_quickly()
        }
    }

    fn take(&self, enter: fn(&mut Engine<Option<Waker>>) -> bool) -> bool {
        let mut state = self.shared.slots.lock();
        let admitted = enter(&mut state.engine);
        state.count_entry(admitted);
        let noted = self.shared.note(entry_event(admitted));
        drop(state);
        self.shared.events.deliver_if(noted);
        admitted
    }

    /// Frees the slot of a call that has ended.
    #[inline]
    pub(crate) fn leave(&self) {
        if self.shared.events.is_observed() || !self.shared.slots.free_quickly() {
            self.leave_by_lock();
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_by_lock(&self) {
        let (noted, next) = {
            let mut state = self.shared.slots.lock();
            state.finished += 1;
            (self.shared.note(BulkheadEventKind::CallFinished), state.engine.leave())
        };
        wake(next);
        self.shared.events.deliver_if(noted);
    }

    fn leave_untied(&self, finished: bool) {
        let (noted, next) = {
            let mut state = self.shared.slots.lock();
            if !state.engine.leave_untied() {
                return;
            }
            state.finished += u64::from(finished);
            let noted = finished && self.shared.note(BulkheadEventKind::CallFinished);
            (noted, state.engine.hand_over())
        };
        wake(next);
        self.shared.events.deliver_if(noted);
    }

    /// Looks whether a waiting call has its slot; else `waker` is woken when it does.
    pub(super) fn poll_place(&self, id: u64, waker: Waker) -> Poll<Permit> {
        let mut state = self.shared.slots.lock();
        if let Some(slot) = state.engine.waiter(id) {
            // The last waker goes after the lock: dropping it may drop a task that holds a permit.
            let last = slot.replace(waker);
            drop(state);
            drop(last);
            return Poll::Pending;
        }
        state.count_entry(true);
        let noted = self.shared.note(BulkheadEventKind::CallPermitted);
        drop(state);
        self.shared.events.deliver_if(noted);
        Poll::Ready(Permit::held(self.clone()))
    }

    /// Ends a wait that took too long, unless the slot came at the last moment.
    pub(super) fn time_out(&self, id: u64) -> Result<Permit, BulkheadFull> {
        let mut state = self.shared.slots.lock();
        let in_time = state.engine.waiter(id).is_none();
        let withdrawn = (!in_time).then(|| state.engine.withdraw(id));
        state.count_entry(in_time);
        let noted = self.shared.note(entry_event(in_time));
        drop(state);
        // As in `poll_place`: the waker goes after the lock.
        drop(withdrawn);
        self.shared.events.deliver_if(noted);
        if in_time { Ok(Permit::held(self.clone())) } else { Err(self.refuse()) }
    }

    /// Ends a wait that was dropped.
    pub(super) fn give_up(&self, id: u64) {
        let withdrawn = {
            let mut state = self.shared.slots.lock();
            state.cancelled += 1;
            state.engine.withdraw(id)
        };
        if let Withdrawn::Granted(next) = withdrawn {
            wake(next);
        }
    }

    /// Refuses a call. The lock is released.
    fn refuse(&self) -> BulkheadFull {
        if RefusalLog::is_wanted() {
            self.log_refusal();
        }
        BulkheadFull::new(self.shared.label.clone())
    }

    #[cold]
    #[inline(never)]
    fn log_refusal(&self) {
        let Shared { name, clock, refusal_log, .. } = &*self.shared;
        refusal_log.refused("bulkhead", name, clock.now());
    }
}

impl Entrance for Bulkhead {
    type Held<'b> = Slot<'b>;
    type Wait = WaitInTime;
    type Turn = Permit;

    #[inline]
    fn enter(&self) -> Result<Entered<Slot<'_>, WaitInTime>, Error> {
        let due = if context::is_used() { self.due()? } else { None };
        match self.begin(|| self.shared.clock.now())? {
            Entry::Admitted(slot) => Ok(Entered::In(slot)),
            Entry::Queued(queued) => Ok(Entered::waits(|| queued.wait().before(due))),
        }
    }

    fn hold(&self, permit: Permit) -> Slot<'_> {
        Slot::of(self, permit)
    }
}

impl Member for Bulkhead {
    fn own_key(&self) -> Option<&str> {
        self.shared.events.key()
    }

    fn config(&self) -> Arc<BulkheadConfig> {
        self.config()
    }

    fn clock(&self) -> &Clock {
        self.clock()
    }

    fn keys(&self) -> &Keys<Self> {
        &self.shared.keys
    }

    fn key_settings(config: &BulkheadConfig) -> &KeySettings {
        &config.keyed
    }

    fn member(&self, config: Arc<BulkheadConfig>, key: Option<Arc<str>>) -> Self {
        let Shared { name, clock, events, refusal_log, .. } = &*self.shared;
        let (name, clock, log) = (Arc::clone(name), clock.clone(), refusal_log.clone());
        Self::make(name, config, clock, events.of_key(key), log, Keys::Member)
    }

    fn adopt(&self, config: Arc<BulkheadConfig>) {
        drop(self.put_config(|_| config));
    }

    fn handles(&self) -> usize {
        Arc::strong_count(&self.shared)
    }

    fn is_at_rest(&self, _: u64) -> bool {
        self.shared.slots.lock().engine.is_idle()
    }
}

impl Shared {
    /// Queues an event if somebody listens, and tells so. Call it with the state locked: the lock
    /// orders the events.
    #[inline]
    fn note(&self, kind: BulkheadEventKind) -> bool {
        self.events.note(&self.name, || self.clock.now(), kind)
    }
}

fn entry_event(admitted: bool) -> BulkheadEventKind {
    if admitted { BulkheadEventKind::CallPermitted } else { BulkheadEventKind::CallRejected }
}

/// Wakes calls that have been given a slot. One that was never polled sees its slot when it is.
fn wake(granted: impl IntoIterator<Item = Option<Waker>>) {
    granted.into_iter().flatten().for_each(Waker::wake);
}

impl fmt::Debug for Bulkhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.slots.lock();
        f.debug_struct("Bulkhead")
            .field("name", &self.shared.name)
            .field("available_concurrent_calls", &state.engine.available())
            .field("max_concurrent_calls", &state.engine.max())
            .field("waiting", &state.engine.waiting())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, task::Context, time::Duration};

    use super::*;
    use crate::{
        ManualClock,
        sync::Mutex,
        test_support::{Wakes, poll},
    };

    const WAIT: Duration = Duration::from_millis(50);

    fn bulkhead(max: u32, max_wait: Duration) -> (Bulkhead, ManualClock) {
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let config = BulkheadConfig::builder()
            .max_concurrent_calls(max)
            .max_wait_duration(max_wait)
            .build()
            .unwrap();
        (Bulkhead::with_clock("inventory", config, clock), hand)
    }

    #[test]
    fn a_full_bulkhead_without_wait_refuses_at_the_first_poll() {
        let (bulkhead, _hand) = bulkhead(1, Duration::ZERO);
        let _permit = bulkhead.try_acquire().unwrap();
        let Poll::Ready(Err(error)) = poll(pin!(bulkhead.acquire())) else { panic!() };
        assert_eq!(
            error.to_string(),
            "Bulkhead 'inventory' is full and does not permit further calls"
        );
        assert_eq!(bulkhead.metrics().rejected, 1);
    }

    #[test]
    fn a_freed_slot_wakes_and_admits_the_first_that_waits() {
        let (bulkhead, _hand) = bulkhead(1, WAIT);
        let permit = bulkhead.try_acquire().unwrap();
        let count = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut first = pin!(bulkhead.acquire());
        let mut second = pin!(bulkhead.acquire());
        assert!(first.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert!(poll(second.as_mut()).is_pending());
        drop(permit);
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        assert!(poll(second.as_mut()).is_pending());
        assert!(bulkhead.try_acquire().is_err(), "nobody overtakes");
        assert!(poll(first).is_ready());
    }

    #[test]
    fn a_wait_ends_with_a_refusal_when_its_time_is_over() {
        let (bulkhead, hand) = bulkhead(1, WAIT);
        let _permit = bulkhead.try_acquire().unwrap();
        let mut wait = pin!(bulkhead.acquire());
        assert!(poll(wait.as_mut()).is_pending());
        hand.advance(WAIT.mul_f64(0.99));
        assert!(poll(wait.as_mut()).is_pending());
        hand.advance(WAIT.mul_f64(0.01));
        assert!(matches!(poll(wait), Poll::Ready(Err(_))));
        assert_eq!(bulkhead.waiting(), 0);
    }

    #[test]
    fn a_slot_that_comes_at_the_last_moment_is_taken() {
        let (bulkhead, hand) = bulkhead(1, WAIT);
        let permit = bulkhead.try_acquire().unwrap();
        let mut wait = pin!(bulkhead.acquire());
        assert!(poll(wait.as_mut()).is_pending());
        hand.advance(WAIT);
        drop(permit);
        assert!(matches!(poll(wait), Poll::Ready(Ok(_))));
    }

    #[test]
    fn a_waiting_call_that_is_dropped_when_granted_passes_the_slot_on() {
        let (bulkhead, _hand) = bulkhead(1, WAIT);
        let permit = bulkhead.try_acquire().unwrap();
        let mut first = Box::pin(bulkhead.acquire());
        let mut second = pin!(bulkhead.acquire());
        assert!(poll(first.as_mut()).is_pending());
        assert!(poll(second.as_mut()).is_pending());
        drop(permit);
        drop(first);
        assert!(matches!(poll(second), Poll::Ready(Ok(_))));
        assert_eq!(bulkhead.available_concurrent_calls(), 1);
        assert_eq!(bulkhead.metrics().cancelled, 1);
    }

    #[test]
    fn zero_refuses_every_call_at_once_even_with_a_wait() {
        let (bulkhead, _hand) = bulkhead(0, WAIT);
        assert!(matches!(poll(pin!(bulkhead.acquire())), Poll::Ready(Err(_))));
        assert_eq!(bulkhead.available_concurrent_calls(), 0);
    }

    #[test]
    fn a_panic_in_the_body_frees_the_slot() {
        let (bulkhead, _hand) = bulkhead(1, Duration::ZERO);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _ = poll(pin!(bulkhead.call(async { panic!("body") as Result<(), ()> })));
        }));
        assert!(outcome.is_err());
        assert_eq!(bulkhead.available_concurrent_calls(), 1);
        assert_eq!(bulkhead.metrics().finished, 1);
    }

    #[test]
    fn a_call_returns_what_its_body_returns() {
        let (bulkhead, _hand) = bulkhead(1, Duration::ZERO);
        assert_eq!(poll(pin!(bulkhead.call(async { Ok::<_, ()>(1) }))), Poll::Ready(Ok(1)));
        let failed = poll(pin!(bulkhead.call(async { Err::<(), _>(2) })));
        assert_eq!(failed, Poll::Ready(Err(CallError::Inner(2))));
    }

    #[test]
    fn events_tell_of_entry_refusal_and_end() {
        let (bulkhead, _hand) = bulkhead(1, Duration::ZERO);
        bulkhead.events().capture(true);
        let permit = bulkhead.try_acquire().unwrap();
        assert!(bulkhead.try_acquire().is_err());
        drop(permit);
        let types: Vec<_> = bulkhead.events().recent().iter().map(|e| e.type_name).collect();
        assert_eq!(types, ["CALL_PERMITTED", "CALL_REJECTED", "CALL_FINISHED"]);
    }

    #[test]
    fn a_waiting_call_is_permitted_when_it_gets_its_slot() {
        let (bulkhead, _hand) = bulkhead(1, WAIT);
        bulkhead.events().capture(true);
        let permit = bulkhead.try_acquire().unwrap();
        let mut wait = pin!(bulkhead.acquire());
        assert!(poll(wait.as_mut()).is_pending());
        drop(permit);
        assert!(poll(wait).is_ready());
        let types: Vec<_> = bulkhead.events().recent().iter().map(|e| e.type_name).collect();
        assert_eq!(types, ["CALL_PERMITTED", "CALL_FINISHED", "CALL_PERMITTED", "CALL_FINISHED"]);
    }

    #[test]
    fn a_listener_may_use_the_bulkhead() {
        let (bulkhead, _hand) = bulkhead(2, Duration::ZERO);
        let (inner, seen) = (bulkhead.clone(), Arc::new(Mutex::new(Vec::new())));
        // Told outside: what a listener panics with is swallowed.
        let _subscription = bulkhead.events().subscribe({
            let seen = Arc::clone(&seen);
            move |_: &BulkheadEvent| seen.lock().push(inner.available_concurrent_calls())
        });
        drop(bulkhead.try_acquire().unwrap());
        assert_eq!(*seen.lock(), [1, 2]);
    }

    #[test]
    fn raising_the_maximum_wakes_who_waits() {
        let (bulkhead, _hand) = bulkhead(1, WAIT);
        let _permit = bulkhead.try_acquire().unwrap();
        let mut wait = pin!(bulkhead.acquire());
        assert!(poll(wait.as_mut()).is_pending());
        bulkhead.change_max_concurrent_calls(2);
        assert!(matches!(poll(wait), Poll::Ready(Ok(_))));
        assert_eq!(bulkhead.config().max_concurrent_calls(), 2);
    }

    #[test]
    fn untied_permissions_never_exceed_the_maximum() {
        let (bulkhead, _hand) = bulkhead(1, Duration::ZERO);
        bulkhead.release_permission();
        bulkhead.on_complete();
        assert_eq!(bulkhead.available_concurrent_calls(), 1);
        assert!(bulkhead.try_acquire_permission());
        assert!(!bulkhead.try_acquire_permission());
        bulkhead.on_complete();
        assert_eq!(bulkhead.available_concurrent_calls(), 1);
        assert_eq!(bulkhead.metrics().finished, 1);
    }

    #[test]
    fn a_disabled_bulkhead_lets_everything_through_and_counts_nothing() {
        let (bulkhead, _hand) = bulkhead(1, Duration::ZERO);
        let before = bulkhead.try_acquire().unwrap();
        bulkhead.reconfigure(bulkhead.config().to_builder().enabled(false).build().unwrap());
        let _permits: Vec<_> = (0..5).map(|_| bulkhead.try_acquire().unwrap()).collect();
        assert!(matches!(poll(pin!(bulkhead.acquire())), Poll::Ready(Ok(_))));
        assert!(bulkhead.try_acquire_permission());
        drop(before);
        assert_eq!(bulkhead.available_concurrent_calls(), 1);
    }

    #[test]
    fn disabling_a_bulkhead_lets_in_who_waits() {
        let (bulkhead, _hand) = bulkhead(1, WAIT);
        let _permit = bulkhead.try_acquire().unwrap();
        let count = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut waits: Vec<_> = (0..2).map(|_| Box::pin(bulkhead.acquire())).collect();
        for wait in &mut waits {
            assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        bulkhead.reconfigure(bulkhead.config().to_builder().enabled(false).build().unwrap());
        assert_eq!(count.0.load(Ordering::Relaxed), 2);
        assert!(waits.iter_mut().all(|wait| matches!(poll(wait.as_mut()), Poll::Ready(Ok(_)))));
        assert_eq!(bulkhead.waiting(), 0);
    }

    #[test]
    fn a_reload_changes_how_many_events_are_kept() {
        let (bulkhead, _hand) = bulkhead(1, WAIT);
        bulkhead.events().capture(true);
        bulkhead.reconfigure(
            bulkhead.config().to_builder().event_consumer_buffer_size(1).build().unwrap(),
        );
        drop(bulkhead.try_acquire().unwrap());
        assert_eq!(bulkhead.events().recent().len(), 1);
    }

    #[test]
    fn a_permit_may_outlive_the_bulkhead_handle() {
        let (bulkhead, _hand) = bulkhead(1, Duration::ZERO);
        let permit = bulkhead.try_acquire().unwrap();
        let events = bulkhead.events();
        events.capture(true);
        drop(bulkhead);
        std::thread::spawn(move || drop(permit)).join().unwrap();
        assert_eq!(events.recent().len(), 1);
    }
}
