use std::{fmt, future::Future, sync::Arc, time::Duration};

use tokio::sync::{Notify, futures::OwnedNotified};

use super::{
    config::{RateLimiterConfig, RateLimiterConfigBuilder},
    engine::{Decision, Engine},
    event::{RateLimiterEvent, RateLimiterEventKind},
    global::{Global, Limited},
    line::Line,
    metrics::RateLimiterMetrics,
    quota::Quota,
    wait::{self, Wait, WaitInTime},
};
use crate::{
    CallError, Clock, Error, RequestNotPermitted,
    aftermath::Aftermath,
    backing::Backing,
    clock::saturating_nanos,
    config::ConfigError,
    context::{self, Due, longest_wait},
    entrance::{Entered, Entrance, Inside},
    error::TimedOut,
    events::Events,
    keyed::{KeySettings, Keys, Member},
    name::Name,
    scope::Scope,
    sync::{
        Apart, ShortMutex, ShortMutexGuard,
        atomic::{AtomicU8, Ordering},
    },
    trace::{InSpan, RefusalLog, blocking_call},
};

/// Limits how many calls a period lets through.
///
/// A cheap handle: clones are the same instance.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use resilience::{RateLimiter, RateLimiterConfig};
///
/// let config = RateLimiterConfig::builder()
///     .limit_for_period(10)
///     .limit_refresh_period(Duration::from_secs(1))
///     .build()?;
/// let limiter = RateLimiter::new("orders", config);
/// let order = limiter.call(async { Ok::<_, std::io::Error>(7) }).await?;
/// assert_eq!(order, 7);
/// assert_eq!(limiter.available_permissions(), 9);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RateLimiter {
    shared: Arc<Shared>,
}

/// What clones share.
struct Shared {
    name: Arc<str>,
    /// The same for errors.
    label: Name,
    clock: Clock,
    events: Events<RateLimiterEvent>,
    refusal_log: RefusalLog,
    keys: Keys<RateLimiter>,
    /// How calls are let in: see [`Mode`].
    mode: AtomicU8,
    /// Tells those that wait to look up their turns: they were moved, or the limiter acts no more.
    moved: Arc<Notify>,
    state: Apart<ShortMutex<State>>,
}

/// What the lock guards, while it is held.
type Locked<'s> = ShortMutexGuard<'s, State>;

/// What the lock guards.
struct State {
    engine: Engine,
    quota: Quota,
    line: Line,
    config: Arc<RateLimiterConfig>,
    backing: Backing,
    /// Where the limit is counted, if not here.
    global: Option<Arc<Global>>,
    /// The timeout in nanoseconds, kept apart for the path of every call.
    timeout: u64,
    permitted: u64,
    refused: u64,
    cancelled: u64,
}

/// How calls are let in, in one word for the path of every call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Mode {
    /// All of them.
    Off,
    /// By the engine in this process.
    Local,
    /// By the store.
    Global,
}

impl Mode {
    fn of(config: &RateLimiterConfig) -> Self {
        match config.scope() {
            _ if !config.is_enabled() => Self::Off,
            Scope::Local => Self::Local,
            Scope::Global => Self::Global,
        }
    }
}

/// What a call waits with. It must be waited with, or the permissions are lost.
#[derive(Debug)]
#[must_use = "who is not waited for keeps its place in the line"]
pub(crate) enum Ticket {
    /// Its number in the line of this process.
    Turn(u64),
    /// Its request to the store, and when it stops waiting.
    Store { permits: u32, due: u64 },
}

/// A request that was not refused.
enum Taken {
    Now,
    /// The ticket is that of a claim that is tied.
    Later {
        ticket: Option<u64>,
        wait: Duration,
    },
}

/// What a request means for the counters once it is granted for later.
#[derive(Clone, Copy, PartialEq)]
enum Claim {
    /// A future waits and may be dropped.
    Tied,
    /// The caller waits by itself.
    Untied,
}

impl RateLimiter {
    /// Makes an instance on the system clock.
    pub fn new(name: impl Into<Arc<str>>, config: RateLimiterConfig) -> Self {
        Self::with_clock(name, config, Clock::system())
    }

    /// Makes an instance that takes its time from `clock`.
    ///
    /// A [global](Scope::Global) limit goes as if its store were away: see
    /// [`with_store`](Self::with_store).
    pub fn with_clock(name: impl Into<Arc<str>>, config: RateLimiterConfig, clock: Clock) -> Self {
        Self::backed(name.into(), config, clock, Backing::default())
    }

    /// Makes an instance whose limit is counted in a store if the settings say so, with all other
    /// processes that have the same namespace, name and settings.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use resilience::{
    ///     RateLimiter, RateLimiterConfig,
    ///     rate_limiter::{OnStoreFailure, Scope},
    ///     store::{Store, StoreConfig},
    /// };
    ///
    /// let store = Store::open(StoreConfig::builder(["redis://127.0.0.1:1"], "shop").build()?)?;
    /// let config = RateLimiterConfig::builder()
    ///     .limit_for_period(10)
    ///     .limit_refresh_period(Duration::from_secs(1))
    ///     .scope(Scope::Global)
    ///     .on_store_failure(OnStoreFailure::Local)
    ///     .build()?;
    /// let orders = RateLimiter::with_store("orders", config, &store);
    /// // Nobody is there: this process counts by itself meanwhile.
    /// assert!(orders.acquire_blocking(1).is_ok());
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    #[cfg(feature = "redis")]
    pub fn with_store(
        name: impl Into<Arc<str>>,
        config: RateLimiterConfig,
        store: &crate::store::Store,
    ) -> Self {
        Self::backed(name.into(), config, Clock::system(), Backing::by(store.clone()))
    }

    /// Makes an instance of a registry that has something behind it.
    pub(crate) fn backed(
        name: Arc<str>,
        config: RateLimiterConfig,
        clock: Clock,
        backing: Backing,
    ) -> Self {
        let events = Events::new(config.event_consumer_buffer_size());
        let log = RefusalLog::default();
        Self::make(name, Arc::new(config), clock, events, log, backing, Keys::none_yet())
    }

    fn make(
        name: Arc<str>,
        config: Arc<RateLimiterConfig>,
        clock: Clock,
        events: Events<RateLimiterEvent>,
        refusal_log: RefusalLog,
        backing: Backing,
        keys: Keys<Self>,
    ) -> Self {
        let quota = Quota::of(&config, backing.nodes());
        let global = global_of(&config, &backing, Limited::new(&name, events.key(), &keys), None);
        let state = State {
            engine: Engine::new(quota, clock.now()),
            quota,
            line: Line::default(),
            backing,
            global,
            timeout: saturating_nanos(config.timeout_duration()),
            permitted: 0,
            refused: 0,
            cancelled: 0,
            config,
        };
        Self {
            shared: Arc::new(Shared {
                label: Name::kept(&name),
                name,
                clock,
                events,
                refusal_log,
                keys,
                mode: AtomicU8::new(Mode::of(&state.config) as u8),
                moved: Arc::default(),
                state: Apart(ShortMutex::new(state)),
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
    pub fn config(&self) -> Arc<RateLimiterConfig> {
        Arc::clone(&self.shared.state.lock().config)
    }

    /// Returns the events of the instance: `SUCCESSFUL_ACQUIRE`, `FAILED_ACQUIRE`, `DRAINED`.
    pub fn events(&self) -> Events<RateLimiterEvent> {
        self.shared.events.clone()
    }

    /// Tells what the limiter looks like now. Looking changes nothing.
    pub fn metrics(&self) -> RateLimiterMetrics {
        let now = self.shared.clock.now();
        let state = self.shared.state.lock();
        RateLimiterMetrics {
            available_permissions: state.available(now),
            waiting: state.waiting(),
            cycle: state.engine.cycle(now),
            time_to_wait: Duration::from_nanos(state.engine.wait_for_one(now)),
            permitted: state.permitted,
            refused: state.refused,
            cancelled: state.cancelled,
        }
    }

    /// Returns how many permissions there are; below zero when calls wait for permissions of later periods.
    ///
    /// Of a global limit that is what the store had left when it was last asked, and what was fetched from
    /// it and not used.
    pub fn available_permissions(&self) -> i64 {
        let now = self.shared.clock.now();
        self.shared.state.lock().available(now)
    }

    /// Returns how many calls wait for their turn.
    pub fn waiting(&self) -> u64 {
        self.shared.state.lock().waiting()
    }

    /// Takes permissions that are there now; never waits and never overtakes those that do.
    ///
    /// A global limit blocks the thread while the store decides, up to the store's `decision_timeout`:
    /// in async code [`acquire`](Self::acquire) is better.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use resilience::{RateLimiter, RateLimiterConfig};
    ///
    /// let config = RateLimiterConfig::builder()
    ///     .limit_for_period(1)
    ///     .limit_refresh_period(Duration::from_secs(60))
    ///     .build()?;
    /// let limiter = RateLimiter::new("orders", config);
    /// assert!(limiter.try_acquire(1).is_ok());
    /// let refused = limiter.try_acquire(1).unwrap_err();
    /// assert!(refused.retry_after().is_some_and(|wait| wait <= Duration::from_secs(60)));
    /// # Ok::<(), resilience::config::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RequestNotPermitted`] with the time until the permissions would be there.
    pub fn try_acquire(&self, permits: u32) -> Result<(), RequestNotPermitted> {
        let now = self.shared.clock.now();
        match self.mode() {
            Mode::Off => return Ok(()),
            Mode::Global => return self.acquire_blocking_for(permits, 0, now),
            Mode::Local => {}
        }
        // Untied: a greedy turn behind others may be due this very nanosecond, and nobody waits for it.
        self.request(permits, 0, Claim::Untied, now).map(|_| ())
    }

    /// Takes permissions, waiting for them up to `timeout_duration`.
    ///
    /// `permits` may exceed the limit where the refill is by interval: several periods pay for it.
    ///
    /// # Errors
    ///
    /// [`RequestNotPermitted`], at once, when the permissions will not be there in time, or not
    /// before the [`deadline`](crate::deadline) around the call.
    ///
    /// # Panics
    ///
    /// When it has to wait outside of a tokio runtime with time enabled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future while it waits gives the reservation back.
    pub async fn acquire(&self, permits: u32) -> Result<(), RequestNotPermitted> {
        let now = self.shared.clock.now();
        let longest = longest_wait(context::due(&self.shared.clock).as_ref(), now);
        match self.begin(permits, longest, now)?.map(|ticket| self.wait(ticket)) {
            None => Ok(()),
            Some(wait) => wait.await,
        }
    }

    /// Takes permissions, blocking the thread for up to `timeout_duration` until they are there; no
    /// runtime is needed. Threads and tasks have their turns in one line. On tokio's paused clock it waits until
    /// a test moves it.
    ///
    /// Never call it in async code: use [`acquire`](RateLimiter::acquire) there.
    ///
    /// # Errors
    ///
    /// As [`acquire`](RateLimiter::acquire).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use resilience::{RateLimiter, RateLimiterConfig};
    ///
    /// let config = RateLimiterConfig::builder()
    ///     .limit_for_period(1)
    ///     .limit_refresh_period(Duration::from_millis(1))
    ///     .build()?;
    /// let limiter = RateLimiter::new("reports", config);
    /// limiter.acquire_blocking(1)?;
    /// limiter.acquire_blocking(1)?; // a millisecond later
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn acquire_blocking(&self, permits: u32) -> Result<(), RequestNotPermitted> {
        self.acquire_blocking_before(permits, context::due(&self.shared.clock).as_ref())
    }

    /// A wait that would not end before the deadline is refused.
    pub(crate) fn acquire_blocking_before(
        &self,
        permits: u32,
        due: Option<&Due>,
    ) -> Result<(), RequestNotPermitted> {
        let now = self.shared.clock.now();
        self.acquire_blocking_for(permits, longest_wait(due, now), now)
    }

    fn acquire_blocking_for(
        &self,
        permits: u32,
        longest: u64,
        now: u64,
    ) -> Result<(), RequestNotPermitted> {
        match self.begin(permits, longest, now)? {
            Some(ticket) => wait::park(self, ticket),
            None => Ok(()),
        }
    }

    /// Runs `operation` once a permission has been taken for it; blocks the thread as
    /// [`acquire_blocking`](RateLimiter::acquire_blocking) does.
    ///
    /// # Errors
    ///
    /// [`CallError::Resilience`] when the limiter refuses or the [`deadline`](crate::deadline) around
    /// the call is over, [`CallError::Inner`] when the operation fails.
    ///
    /// # Panics
    ///
    /// When the operation panics; the permission is spent.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{RateLimiter, RateLimiterConfig};
    ///
    /// let limiter = RateLimiter::new("reports", RateLimiterConfig::default());
    /// assert_eq!(limiter.call_blocking(|| "7".parse::<u32>()), Ok(7));
    /// ```
    pub fn call_blocking<T, E>(
        &self,
        operation: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        blocking_call(self, |_| {
            self.acquire_for_call().map_err(CallError::Resilience)?;
            operation().map_err(CallError::Inner)
        })
    }

    /// Takes permissions and tells how long to wait before they may be used; the caller waits.
    ///
    /// `None` is a refusal: the wait would be longer than `timeout_duration`, and nothing was taken.
    /// The permissions are spent at once and cannot be given back. A global limit reserves nothing: it
    /// grants at once or refuses, as [`try_acquire`](Self::try_acquire) does.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use resilience::{Clock, RateLimiter, RateLimiterConfig};
    ///
    /// let config = RateLimiterConfig::builder()
    ///     .limit_for_period(1)
    ///     .limit_refresh_period(Duration::from_secs(1))
    ///     .timeout_duration(Duration::from_secs(1))
    ///     .build()?;
    /// let (clock, _hand) = Clock::manual(Duration::ZERO);
    /// let limiter = RateLimiter::with_clock("orders", config, clock);
    /// assert_eq!(limiter.reserve(1), Some(Duration::ZERO));
    /// assert_eq!(limiter.reserve(1), Some(Duration::from_secs(1)));
    /// assert_eq!(limiter.reserve(1), None);
    /// # Ok::<(), resilience::config::ConfigError>(())
    /// ```
    pub fn reserve(&self, permits: u32) -> Option<Duration> {
        match self.mode() {
            Mode::Off => return Some(Duration::ZERO),
            Mode::Global => return self.try_acquire(permits).ok().map(|()| Duration::ZERO),
            Mode::Local => {}
        }
        let now = self.shared.clock.now();
        match self.request(permits, u64::MAX, Claim::Untied, now) {
            Ok(Taken::Now) => Some(Duration::ZERO),
            Ok(Taken::Later { wait, .. }) => Some(wait),
            Err(_) => None,
        }
    }

    /// Takes all permissions that are available now. Reservations of waiting calls stay.
    ///
    /// Of a global limit it takes what this process has: its share for when the store is away, and
    /// permissions that it fetched. What is in the store stays.
    pub fn drain(&self) {
        let now = self.shared.clock.now();
        {
            let mut state = self.shared.state.lock();
            let leased = state.global.as_ref().map_or(0, |global| global.drop_lease(now));
            let available = state.engine.drain(now).saturating_add(leased.into());
            let kind = RateLimiterEventKind::Drained { available };
            // Kept also when nobody listens. Under the lock, which orders the events.
            let events = &self.shared.events;
            events.push(events.event(&self.shared.name, now, kind));
        }
        self.shared.events.deliver();
    }

    /// Changes the limit. What is available now stays, the new limit acts with the next refill.
    /// The [keyed](crate::keyed) instances of the name follow.
    ///
    /// Under a higher limit, calls that wait go on as early as it allows, in their order; under a
    /// lower one they keep the turns they have. The times that [`reserve`](RateLimiter::reserve)
    /// told stay as they are.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] when the limit is 0; nothing is changed then.
    pub fn change_limit_for_period(&self, permissions: u32) -> Result<(), ConfigError> {
        self.change(|config| config.limit_for_period(permissions))
    }

    /// Changes how long calls may wait. Calls that wait already keep their time. The
    /// [keyed](crate::keyed) instances of the name follow.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] when the timeout is longer than 292 years; nothing is changed then.
    pub fn change_timeout_duration(&self, timeout: Duration) -> Result<(), ConfigError> {
        self.change(|config| config.timeout_duration(timeout))
    }

    /// Says whether the instance acts, until it is said again or a reload changes the instance.
    ///
    /// A disabled limiter lets every call through, counts none and lets those that wait go on at
    /// once; what was reserved for them is given back.
    ///
    /// [`Resilience::set_enabled`](crate::Resilience::set_enabled) does it for a whole pattern; there
    /// it says how this goes together with `enabled` in files and the environment.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use resilience::{RateLimiter, RateLimiterConfig};
    ///
    /// let config = RateLimiterConfig::builder()
    ///     .limit_for_period(1)
    ///     .limit_refresh_period(Duration::from_secs(60))
    ///     .build()?;
    /// let limiter = RateLimiter::new("orders", config);
    /// limiter.set_enabled(false);
    /// assert!((0..10).all(|_| limiter.try_acquire(1).is_ok()));
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    pub fn set_enabled(&self, on: bool) {
        drop(self.enable(on));
    }

    pub(crate) fn enable(&self, on: bool) -> Aftermath {
        self.replace_config(|config| config.with_enabled(on))
    }

    /// Runs `future` once a permission has been taken for it.
    ///
    /// # Errors
    ///
    /// [`CallError::Resilience`] when the limiter refuses or the [`deadline`](crate::deadline) around
    /// the call is over, [`CallError::Inner`] when the future fails.
    ///
    /// # Panics
    ///
    /// As [`acquire`](RateLimiter::acquire), and when the future panics.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future while it waits gives the reservation back; after that the permission is
    /// spent.
    pub fn call<T, E>(
        &self,
        future: impl Future<Output = Result<T, E>>,
    ) -> impl Future<Output = Result<T, CallError<E>>> {
        InSpan::new(Inside::new(self, future))
    }

    fn acquire_for_call(&self) -> Result<(), Error> {
        let due = self.due()?;
        self.acquire_blocking_before(1, due.as_ref())?;
        // The turn was in time; the thread may have been woken late.
        due.map_or(Ok(()), |due| due.in_time(&self.shared.clock))?;
        Ok(())
    }

    /// The deadline around a call that starts now, where the limiter acts: one that is over ends it.
    #[cold]
    pub(crate) fn due(&self) -> Result<Option<Due>, TimedOut> {
        if self.is_enabled() { context::due_in_time(&self.shared.clock) } else { Ok(None) }
    }

    /// Lets a call in, or has it wait, that may be under a deadline.
    #[cold]
    fn enter_under_deadline(&self) -> Result<Entered<(), WaitInTime>, Error> {
        let due = self.due()?;
        let now = self.shared.clock.now();
        match self.begin(1, longest_wait(due.as_ref(), now), now)? {
            None => Ok(Entered::In(())),
            Some(ticket) => Ok(Entered::waits(|| self.wait(ticket).before(due))),
        }
    }

    /// Asks for permissions: `None` when they are taken, or the ticket to [wait](Self::wait) with. A
    /// wait of more than `longest` nanoseconds is refused, whatever the configured timeout.
    #[inline]
    pub(crate) fn begin(
        &self,
        permits: u32,
        longest: u64,
        now: u64,
    ) -> Result<Option<Ticket>, RequestNotPermitted> {
        if self.mode() != Mode::Local {
            return Ok(self.begin_otherwise(permits, longest, now));
        }
        self.begin_locally(permits, longest, now)
    }

    /// The same by the engine in this process, whoever decides otherwise.
    #[inline]
    fn begin_locally(
        &self,
        permits: u32,
        longest: u64,
        now: u64,
    ) -> Result<Option<Ticket>, RequestNotPermitted> {
        match self.take_now(permits, now) {
            None => Ok(None),
            Some(state) => self.begin_later(state, permits, longest, now),
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_later(
        &self,
        state: Locked<'_>,
        permits: u32,
        longest: u64,
        now: u64,
    ) -> Result<Option<Ticket>, RequestNotPermitted> {
        Ok(match self.reserve_or_refuse(state, permits, longest, Claim::Tied, now)? {
            Taken::Later { ticket, .. } => ticket.map(Ticket::Turn),
            Taken::Now => None,
        })
    }

    /// The same for a limiter that is disabled, or whose limit is counted in a store.
    #[cold]
    fn begin_otherwise(&self, permits: u32, longest: u64, now: u64) -> Option<Ticket> {
        let mut state = self.shared.state.lock();
        let global = state.global.clone().filter(|_| self.mode() == Mode::Global)?;
        let due = now.saturating_add(state.timeout.min(longest));
        // None are always there.
        if permits > 0 && !global.take_at_once(permits, now) {
            return Some(Ticket::Store { permits, due });
        }
        let noted = self.grant(&mut state, permits, now);
        drop(state);
        self.shared.events.deliver_if(noted);
        None
    }

    /// Counts a call that the store has let in. The engine here is charged with it, so that it knows how
    /// much this process has used when it has to decide in the store's place.
    fn grant(&self, state: &mut State, permits: u32, now: u64) -> bool {
        if !state.engine.take(permits, now) {
            state.engine.drain(now);
        }
        state.permitted += 1;
        let kind = RateLimiterEventKind::SuccessfulAcquire { permits };
        self.shared.events.note(&self.shared.name, || now, kind)
    }

    pub(super) fn note_granted(&self, permits: u32) {
        let now = self.shared.clock.now();
        let mut state = self.shared.state.lock();
        let noted = self.grant(&mut state, permits, now);
        drop(state);
        self.shared.events.deliver_if(noted);
    }

    pub(super) fn note_refused(&self, permits: u32, wait: Option<Duration>) -> RequestNotPermitted {
        let now = self.shared.clock.now();
        let events = &self.shared.events;
        let mut state = self.shared.state.lock();
        state.refused += 1;
        let kind = RateLimiterEventKind::FailedAcquire { permits };
        let noted = events.note(&self.shared.name, || now, kind);
        drop(state);
        events.deliver_if(noted);
        self.refusal(wait, now)
    }

    pub(super) fn note_cancelled(&self) {
        self.shared.state.lock().cancelled += 1;
    }

    /// Has the engine here decide in the store's place.
    pub(super) fn begin_here(
        &self,
        permits: u32,
        due: u64,
    ) -> Result<Option<Ticket>, RequestNotPermitted> {
        let now = self.shared.clock.now();
        self.begin_locally(permits, due.saturating_sub(now), now)
    }

    /// Where the limit is counted, if not here.
    pub(super) fn global(&self) -> Option<Arc<Global>> {
        let state = self.shared.state.lock();
        state.global.clone().filter(|_| self.mode() == Mode::Global)
    }

    /// Waits for what a ticket is for.
    pub(crate) fn wait(&self, ticket: Ticket) -> Wait {
        Wait::new(self.clone(), ticket)
    }

    #[inline]
    fn mode(&self) -> Mode {
        match self.shared.mode.load(Ordering::Relaxed) {
            0 => Mode::Off,
            1 => Mode::Local,
            _ => Mode::Global,
        }
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// Tells whether the limiter acts; a disabled one lets every call through, and counts none.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.mode() != Mode::Off
    }

    /// Puts other settings in force. A new period or refill starts with no more permissions than
    /// are left. Calls that wait go on as early as a higher limit, a shorter period or another refill
    /// allows, never later than before, and at once when the limiter is disabled.
    pub(crate) fn reconfigure(&self, config: RateLimiterConfig) -> Aftermath {
        self.replace_config(|_| config)
    }

    /// Looks again for the store that counts a global limit.
    pub(crate) fn look_behind(&self) -> Aftermath {
        self.replace_config(RateLimiterConfig::clone)
    }

    fn replace_config(
        &self,
        edit: impl FnOnce(&RateLimiterConfig) -> RateLimiterConfig,
    ) -> Aftermath {
        let own = self.put_config(|config| Arc::new(edit(config)));
        self.shared.keys.follow_after(self, own)
    }

    fn put_config(
        &self,
        edit: impl FnOnce(&RateLimiterConfig) -> Arc<RateLimiterConfig>,
    ) -> Aftermath {
        let now = self.shared.clock.now();
        let mut state = self.shared.state.lock();
        let config = edit(&state.config);
        self.shared.events.set_capacity(config.event_consumer_buffer_size());
        self.shared.mode.store(Mode::of(&config) as u8, Ordering::Relaxed);
        let told = self.apply(&mut state, config, now);
        drop(state);
        if !told {
            return Aftermath::default();
        }
        let moved = Arc::clone(&self.shared.moved);
        Aftermath::new(move || moved.notify_waiters())
    }

    /// Builds and checks the changed settings outside of the lock, which calls wait for; anew when
    /// somebody else changed them meanwhile, so that no change undoes another.
    fn change(
        &self,
        edit: impl Fn(RateLimiterConfigBuilder) -> RateLimiterConfigBuilder,
    ) -> Result<(), ConfigError> {
        loop {
            let before = self.config();
            let config = Arc::new(edit(before.to_builder()).build()?);
            let now = self.shared.clock.now();
            let mut state = self.shared.state.lock();
            if Arc::ptr_eq(&state.config, &before) {
                let moves = self.apply(&mut state, config, now);
                drop(state);
                if moves {
                    self.shared.moved.notify_waiters();
                }
                self.shared.keys.follow(self);
                return Ok(());
            }
        }
    }

    /// Says whether those that wait have to be told.
    fn apply(&self, state: &mut State, config: Arc<RateLimiterConfig>, now: u64) -> bool {
        let waits_elsewhere = state.global.as_ref().is_some_and(|global| global.waiting() > 0);
        let Shared { name, events, keys, .. } = &*self.shared;
        let limited = Limited::new(name, events.key(), keys);
        state.global = global_of(&config, &state.backing, limited, state.global.as_deref());
        state.apply(config, now) || waits_elsewhere
    }

    /// Ends when turns are moved after this call.
    pub(super) fn moved(&self) -> OwnedNotified {
        Arc::clone(&self.shared.moved).notified_owned()
    }

    /// When the turn of a ticket comes; `None` when it need not wait any more.
    pub(super) fn turn_of(&self, ticket: u64) -> Option<u64> {
        self.shared.state.lock().line.due(ticket)
    }

    /// A wait of more than `longest`, or of more than the configured timeout, is refused.
    fn request(
        &self,
        permits: u32,
        longest: u64,
        claim: Claim,
        now: u64,
    ) -> Result<Taken, RequestNotPermitted> {
        match self.take_now(permits, now) {
            None => Ok(Taken::Now),
            Some(state) => self.reserve_or_refuse(state, permits, longest, claim, now),
        }
    }

    /// Takes permissions that are there: nothing is to be done any more. Else the lock, to go on under.
    #[inline]
    fn take_now(&self, permits: u32, now: u64) -> Option<Locked<'_>> {
        let events = &self.shared.events;
        let mut state = self.shared.state.lock();
        // If it was disabled since the caller looked, nobody would call it out of the line.
        if !self.is_enabled() {
            return None;
        }
        if !state.engine.take(permits, now) {
            return Some(state);
        }
        state.permitted += 1;
        let kind = RateLimiterEventKind::SuccessfulAcquire { permits };
        let noted = events.note(&self.shared.name, || now, kind);
        drop(state);
        events.deliver_if(noted);
        None
    }

    #[inline]
    fn reserve_or_refuse(
        &self,
        mut state: Locked<'_>,
        permits: u32,
        longest: u64,
        claim: Claim,
        now: u64,
    ) -> Result<Taken, RequestNotPermitted> {
        let events = &self.shared.events;
        let timeout = state.timeout.min(longest);
        let decision = state.engine.reserve(permits, timeout);
        let ticket = match decision {
            Decision::Later(reservation) if claim == Claim::Tied => {
                Some(state.line.join(reservation))
            }
            _ => None,
        };
        let kind = match decision {
            Decision::Refused { .. } => {
                state.refused += 1;
                RateLimiterEventKind::FailedAcquire { permits }
            }
            Decision::Now | Decision::Later(_) => {
                if ticket.is_none() {
                    state.permitted += 1;
                }
                RateLimiterEventKind::SuccessfulAcquire { permits }
            }
        };
        let noted = ticket.is_none() && events.note(&self.shared.name, || now, kind);
        drop(state);
        events.deliver_if(noted);
        match decision {
            Decision::Now => Ok(Taken::Now),
            Decision::Later(reservation) => {
                let wait = Duration::from_nanos(reservation.due.saturating_sub(now));
                Ok(Taken::Later { ticket, wait })
            }
            Decision::Refused { wait } => Err(self.refusal(wait.map(Duration::from_nanos), now)),
        }
    }

    fn refusal(&self, retry_after: Option<Duration>, now: u64) -> RequestNotPermitted {
        if RefusalLog::is_wanted() {
            self.log_refusal(now);
        }
        RequestNotPermitted::new(self.shared.label.clone(), retry_after)
    }

    #[cold]
    #[inline(never)]
    fn log_refusal(&self, now: u64) {
        self.shared.refusal_log.refused("rate_limiter", &self.shared.name, now);
    }

    pub(super) fn take_turn(&self, ticket: u64) {
        let Shared { name, clock, events, .. } = &*self.shared;
        let mut state = self.shared.state.lock();
        // Nobody counts whom disabling let through.
        let Some(waiter) = state.line.leave(ticket) else { return };
        state.permitted += 1;
        let kind = RateLimiterEventKind::SuccessfulAcquire { permits: waiter.permits };
        let noted = events.note(name, || clock.now(), kind);
        drop(state);
        events.deliver_if(noted);
    }

    pub(super) fn give_up_turn(&self, ticket: u64) {
        let now = self.shared.clock.now();
        let mut state = self.shared.state.lock();
        let Some(mut waiter) = state.line.leave(ticket) else { return };
        state.cancelled += 1;
        waiter.give_back(&mut state.engine, now);
    }
}

impl Entrance for RateLimiter {
    type Held<'l> = ();
    type Wait = WaitInTime;
    type Turn = ();

    #[inline]
    fn enter(&self) -> Result<Entered<(), WaitInTime>, Error> {
        if context::is_used() {
            return self.enter_under_deadline();
        }
        match self.begin(1, u64::MAX, self.shared.clock.now())? {
            None => Ok(Entered::In(())),
            Some(ticket) => Ok(Entered::waits(|| self.wait(ticket).before(None))),
        }
    }

    fn hold(&self, (): ()) {}
}

impl Member for RateLimiter {
    fn own_key(&self) -> Option<&str> {
        self.shared.events.key()
    }

    fn config(&self) -> Arc<RateLimiterConfig> {
        self.config()
    }

    fn clock(&self) -> &Clock {
        self.clock()
    }

    fn keys(&self) -> &Keys<Self> {
        &self.shared.keys
    }

    fn key_settings(config: &RateLimiterConfig) -> &KeySettings {
        &config.keyed
    }

    fn member(&self, config: Arc<RateLimiterConfig>, key: Option<Arc<str>>) -> Self {
        let Shared { name, clock, events, refusal_log, .. } = &*self.shared;
        let (name, clock, log) = (Arc::clone(name), clock.clone(), refusal_log.clone());
        let backing = self.shared.state.lock().backing.clone();
        Self::make(name, config, clock, events.of_key(key), log, backing, Keys::Member)
    }

    fn adopt(&self, config: Arc<RateLimiterConfig>) {
        drop(self.put_config(|_| config));
    }

    fn handles(&self) -> usize {
        Arc::strong_count(&self.shared)
    }

    fn is_at_rest(&self, now: u64) -> bool {
        let state = self.shared.state.lock();
        state.engine.available(now) >= state.quota.limit.into()
            && state.global.as_ref().is_none_or(|global| global.is_at_rest(now))
    }
}

/// Where the limit is counted, if not in this process.
fn global_of(
    config: &RateLimiterConfig,
    backing: &Backing,
    limited: Limited<'_>,
    before: Option<&Global>,
) -> Option<Arc<Global>> {
    (config.scope() == Scope::Global)
        .then(|| Arc::new(Global::new(config, backing, limited, before)))
}

impl State {
    fn available(&self, now: u64) -> i64 {
        match &self.global {
            Some(global) => global.available(now),
            None => self.engine.available(now),
        }
    }

    fn waiting(&self) -> u64 {
        self.line.len() + self.global.as_ref().map_or(0, |global| global.waiting())
    }

    /// Says whether those that wait have to be told.
    fn apply(&mut self, config: Arc<RateLimiterConfig>, now: u64) -> bool {
        let (before, quota) = (self.quota, Quota::of(&config, self.backing.nodes()));
        let same_refill = quota.refill == before.refill;
        let same_period = quota.period == before.period;
        let faster = !same_refill || quota.limit > before.limit || quota.period < before.period;
        let moves = !self.line.is_empty() && (faster || !config.is_enabled());
        if moves {
            self.line.release(&mut self.engine, now);
        }
        if !config.is_enabled() {
            self.line.dissolve();
        }
        if let (true, true, Engine::Interval(engine)) = (same_refill, same_period, &mut self.engine)
        {
            if moves {
                // The turns that have come did so under the old limit.
                engine.refresh(now);
            }
            engine.set_limit(quota.limit);
        } else if quota != before {
            self.engine = self.engine.successor(quota, now);
            self.line.forget_bookings();
        }
        if moves {
            self.line.book(&mut self.engine, now);
        }
        self.timeout = saturating_nanos(config.timeout_duration());
        self.quota = quota;
        self.config = config;
        moves
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiter")
            .field("name", &self.shared.name)
            .field("available_permissions", &self.available_permissions())
            .field("waiting", &self.waiting())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
