use std::{fmt, sync::Arc, time::Duration};

use super::{
    TimeLimiterConfig, TimeLimiterEvent, TimeLimiterEventKind, TimeLimiterMetrics,
    engine::TimeLimit, limited::Limited, metrics::Counters,
};
use crate::{
    aftermath::Aftermath,
    clock::{Clock, saturating_nanos},
    error::{CallError, TimedOut},
    events::Events,
    keyed::{KeySettings, Keys, Member},
    sync::{
        RwLock,
        atomic::{AtomicU64, Ordering},
    },
    trace::{InSpan, RefusalLog},
};

/// Cuts a call short that takes too long.
///
/// A cheap handle: clones are the same instance.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::{CallError, Error, TimeLimiter, TimeLimiterConfig};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), resilience::ConfigError> {
/// let config = TimeLimiterConfig::builder().timeout_duration(Duration::from_millis(5)).build()?;
/// let limiter = TimeLimiter::new("payment", config);
/// let never = std::future::pending::<Result<(), std::io::Error>>();
/// let error = limiter.call(never).await.unwrap_err();
/// assert!(matches!(error, CallError::Resilience(Error::TimedOut(_))));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TimeLimiter {
    shared: Arc<Shared>,
}

/// What clones share.
struct Shared {
    name: Arc<str>,
    clock: Clock,
    /// Nanoseconds, beside the lock, because a call needs nothing else; 0 is a disabled layer.
    limit: AtomicU64,
    config: RwLock<Arc<TimeLimiterConfig>>,
    counters: Counters,
    events: Events<TimeLimiterEvent>,
    refusal_log: RefusalLog,
    keys: Keys<TimeLimiter>,
}

fn effective_limit(config: &TimeLimiterConfig) -> u64 {
    if config.is_enabled() { saturating_nanos(config.timeout_duration()) } else { 0 }
}

impl TimeLimiter {
    /// Makes an instance on the system clock.
    pub fn new(name: impl Into<Arc<str>>, config: TimeLimiterConfig) -> Self {
        Self::with_clock(name, config, Clock::system())
    }

    /// Makes an instance that takes its time from `clock`.
    pub fn with_clock(name: impl Into<Arc<str>>, config: TimeLimiterConfig, clock: Clock) -> Self {
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
        config: Arc<TimeLimiterConfig>,
        clock: Clock,
        events: Events<TimeLimiterEvent>,
        refusal_log: RefusalLog,
        keys: Keys<Self>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                name,
                clock,
                limit: AtomicU64::new(effective_limit(&config)),
                counters: Counters::new(keys.counter()),
                events,
                refusal_log,
                keys,
                config: RwLock::new(config),
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
    pub fn config(&self) -> Arc<TimeLimiterConfig> {
        Arc::clone(&self.shared.config.read())
    }

    /// Tells how calls ended so far.
    pub fn metrics(&self) -> TimeLimiterMetrics {
        self.shared.counters.snapshot()
    }

    /// Returns the events of the instance.
    pub fn events(&self) -> Events<TimeLimiterEvent> {
        self.shared.events.clone()
    }

    /// Runs `future` for as long as the limit allows. A future that is ready in the same poll in
    /// which the limit is reached wins.
    ///
    /// The time counts from when `future` first has to wait: nobody could cut it short before.
    ///
    /// # Errors
    ///
    /// The error of `future`, or [`TimedOut`] when it was dropped because of the limit or of the
    /// [`deadline`](crate::deadline) around the call.
    ///
    /// # Panics
    ///
    /// On the system clock, outside of a tokio runtime, when `future` is not ready at once.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops `future`; nothing is counted.
    pub fn call<T, E>(
        &self,
        future: impl Future<Output = Result<T, E>>,
    ) -> impl Future<Output = Result<T, CallError<E>>> {
        InSpan::new(Limited::new(self, future))
    }

    pub(crate) fn shared_name(&self) -> &Arc<str> {
        &self.shared.name
    }

    /// Says whether the instance acts, until it is said again or a reload changes the instance.
    ///
    /// A disabled time limiter bounds no call that begins from then on, and counts none.
    ///
    /// [`Resilience::set_enabled`](crate::Resilience::set_enabled) does it for a whole pattern; there
    /// it says how this goes together with `enabled` in files and the environment.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{TimeLimiter, TimeLimiterConfig};
    ///
    /// let limiter = TimeLimiter::new("payment", TimeLimiterConfig::default());
    /// limiter.set_enabled(false);
    /// assert!(!limiter.is_enabled());
    /// ```
    pub fn set_enabled(&self, on: bool) {
        drop(self.enable(on));
    }

    /// Tells whether the limiter acts; a disabled one bounds no call and counts none.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.shared.limit.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn enable(&self, on: bool) -> Aftermath {
        self.replace_config(|config| config.with_enabled(on))
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// The time of a call that starts now; `None` when the layer is disabled. Whoever has not looked
    /// at the clock need not: the time then counts from the first wait.
    #[inline]
    pub(crate) fn begin(&self, now: Option<u64>) -> Option<TimeLimit> {
        match self.shared.limit.load(Ordering::Relaxed) {
            0 => None,
            limit => Some(TimeLimit::new(now, limit)),
        }
    }

    /// Counts a call that ended within its time.
    #[inline]
    pub(crate) fn end(&self, success: bool) {
        let Counters { successful, failed, .. } = &self.shared.counters;
        if success {
            successful.increment();
            self.publish(TimeLimiterEventKind::Success);
        } else {
            failed.increment();
            self.publish(TimeLimiterEventKind::Error);
        }
    }

    /// Counts a call that was cut short.
    pub(crate) fn expire(&self, limit: TimeLimit) -> TimedOut {
        let limit = Duration::from_nanos(limit.limit());
        self.shared.counters.timeout.increment();
        self.publish(TimeLimiterEventKind::Timeout);
        let Shared { name, clock, refusal_log, .. } = &*self.shared;
        if RefusalLog::is_wanted() {
            refusal_log.timed_out(name, clock.now());
        }
        TimedOut::new(Arc::clone(&self.shared.name).into(), limit)
    }

    pub(crate) fn reconfigure(&self, config: TimeLimiterConfig) -> Aftermath {
        self.replace_config(|_| config)
    }

    fn replace_config(
        &self,
        edit: impl FnOnce(&TimeLimiterConfig) -> TimeLimiterConfig,
    ) -> Aftermath {
        self.put_config(|config| Arc::new(edit(config)));
        self.shared.keys.follow_after(self, Aftermath::default())
    }

    fn put_config(&self, edit: impl FnOnce(&TimeLimiterConfig) -> Arc<TimeLimiterConfig>) {
        let mut current = self.shared.config.write();
        let config = edit(&current);
        self.shared.limit.store(effective_limit(&config), Ordering::Relaxed);
        self.shared.events.set_capacity(config.event_consumer_buffer_size());
        *current = config;
    }

    #[inline]
    fn publish(&self, kind: TimeLimiterEventKind) {
        if self.shared.events.is_observed() {
            self.publish_observed(kind);
        }
    }

    #[cold]
    fn publish_observed(&self, kind: TimeLimiterEventKind) {
        let Shared { name, clock, events, .. } = &*self.shared;
        events.deliver_if(events.note(name, || clock.now(), kind));
    }
}

impl Member for TimeLimiter {
    fn own_key(&self) -> Option<&str> {
        self.shared.events.key()
    }

    fn config(&self) -> Arc<TimeLimiterConfig> {
        self.config()
    }

    fn clock(&self) -> &Clock {
        self.clock()
    }

    fn keys(&self) -> &Keys<Self> {
        &self.shared.keys
    }

    fn key_settings(config: &TimeLimiterConfig) -> &KeySettings {
        &config.keyed
    }

    fn member(&self, config: Arc<TimeLimiterConfig>, key: Option<Arc<str>>) -> Self {
        let Shared { name, clock, events, refusal_log, .. } = &*self.shared;
        let (name, clock, log) = (Arc::clone(name), clock.clone(), refusal_log.clone());
        Self::make(name, config, clock, events.of_key(key), log, Keys::Member)
    }

    fn adopt(&self, config: Arc<TimeLimiterConfig>) {
        self.put_config(|_| config);
    }

    fn handles(&self) -> usize {
        Arc::strong_count(&self.shared)
    }

    fn is_at_rest(&self, _: u64) -> bool {
        true
    }
}

impl fmt::Debug for TimeLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeLimiter").field("name", &self.shared.name).finish_non_exhaustive()
    }
}
