use std::{fmt, future::Future, sync::Arc, time::Duration};

use fastrand::Rng;

use super::{
    Admission, Answers, CircuitBreakerConfig, CircuitBreakerEvent, CircuitBreakerEventKind,
    CircuitBreakerMetrics, IllegalTransition, Observation, Outcome, Permit, Report, State, Totals,
    admission::Grant,
    call::Call,
    durations::{Durations, Timings},
    engine::{Effects, Ending, Engine, Refusal},
    in_flight::InFlight,
    left::Left,
    refusals::Refusals,
    section::Section,
    shared::{Exchange, Sharing},
    timer::Timer,
    word::Word,
};
use crate::{
    CallError, CallNotPermitted, Clock, Facts, Rules,
    aftermath::Aftermath,
    backing::Backing,
    clock::saturating_nanos,
    events::Events,
    keyed::{KeySettings, Keys, Member},
    name::Name,
    scope::Scope,
    sync::{
        Apart, ShortMutex,
        atomic::{AtomicU64, Ordering},
    },
    trace::{InSpan, RefusalLog, blocking_call},
};
#[cfg(feature = "tracing")]
use crate::{harmless::harmless, sync::atomic::AtomicBool};

/// Stops calling what keeps failing, and finds out by itself when to go on; the [module](super) tells
/// how.
///
/// A cheap handle: clones are the same instance.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use resilience::{CallError, CircuitBreaker, CircuitBreakerConfig, circuit_breaker::State};
///
/// let config = CircuitBreakerConfig::builder()
///     .sliding_window_size(2)
///     .failure_rate_threshold(100.0)
///     .build()
///     .unwrap();
/// let breaker = CircuitBreaker::new("payment", config);
/// for _ in 0..2 {
///     let result = breaker.call(async { Err::<(), _>("no answer") }).await;
///     assert_eq!(result, Err(CallError::Inner("no answer")));
/// }
/// assert_eq!(breaker.state(), State::Open);
/// let refused = breaker.call(async { Ok::<_, &str>("never asked") }).await.unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "CircuitBreaker 'payment' is OPEN and does not permit further calls"
/// );
/// # }
/// ```
#[derive(Clone)]
pub struct CircuitBreaker {
    shared: Arc<Shared>,
}

/// What clones share.
pub(super) struct Shared {
    pub(super) name: Arc<str>,
    /// The same for errors.
    label: Name,
    pub(super) clock: Clock,
    pub(super) events: Events<CircuitBreakerEvent>,
    refusal_log: RefusalLog,
    keys: Keys<CircuitBreaker>,
    /// What an entering call needs to know, kept equal to the engine's under the lock.
    pub(super) word: AtomicU64,
    /// A call that takes longer is slow; the end of time where none is. Of the settings that the word
    /// is of.
    pub(super) slow_beyond: AtomicU64,
    /// Until when OPEN refuses every call, whatever else happens.
    pub(super) open_until: AtomicU64,
    /// What it has refused without the lock.
    pub(super) refusals: Refusals,
    /// Of these, the successful calls count towards the totals.
    pub(super) durations: Durations,
    pub(super) guarded: Apart<ShortMutex<Guarded>>,
    #[cfg(feature = "tracing")]
    told_of_unnamed: AtomicBool,
}

/// What the lock guards.
pub(super) struct Guarded {
    pub(super) engine: Engine,
    pub(super) timer: Timer,
    pub(super) totals: Totals,
    backing: Backing,
    /// With whom the state is shared, if it is.
    pub(super) sharing: Option<Box<Sharing>>,
}

impl Guarded {
    /// Counts what was refused without the lock.
    pub(super) fn collect(&mut self, refusals: &Refusals) {
        if let State::Open | State::ForcedOpen = self.engine.state() {
            let refused = refusals.take(self.engine.generation());
            self.engine.add_refused(refused);
            self.totals.not_permitted += refused;
        }
    }
}

impl Shared {
    #[inline]
    pub(super) fn word(&self) -> Word {
        Word(self.word.load(Ordering::Acquire))
    }
}

impl CircuitBreaker {
    /// Makes an instance on the system clock.
    pub fn new(name: impl Into<Arc<str>>, config: CircuitBreakerConfig) -> Self {
        Self::with_clock(name, config, Clock::system())
    }

    /// Makes an instance that takes its time from `clock`.
    ///
    /// A [global](Scope::Global) breaker goes as if its store were away: see
    /// [`with_store`](Self::with_store).
    pub fn with_clock(
        name: impl Into<Arc<str>>,
        config: CircuitBreakerConfig,
        clock: Clock,
    ) -> Self {
        Self::backed(name.into(), config, clock, Backing::default())
    }

    /// Makes an instance that shares its state if the settings say so, with all other processes that
    /// have the same store, namespace and name. The [module](super#one-state-in-many-processes) tells
    /// what is shared.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{
    ///     CircuitBreaker, CircuitBreakerConfig,
    ///     circuit_breaker::Scope,
    ///     store::{Store, StoreConfig},
    /// };
    ///
    /// let store = Store::open(StoreConfig::builder(["redis://127.0.0.1:1"], "shop").build()?)?;
    /// let config = CircuitBreakerConfig::builder().scope(Scope::Global).build()?;
    /// let payment = CircuitBreaker::with_store("payment", config, &store);
    /// // Nobody is there: this process decides by itself meanwhile.
    /// assert!(payment.try_acquire().is_ok());
    /// assert!(!payment.metrics().shared);
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    #[cfg(feature = "redis")]
    pub fn with_store(
        name: impl Into<Arc<str>>,
        config: CircuitBreakerConfig,
        store: &crate::store::Store,
    ) -> Self {
        Self::backed(name.into(), config, Clock::system(), Backing::by(store.clone()))
    }

    /// Makes an instance of a registry that has something behind it.
    pub(crate) fn backed(
        name: Arc<str>,
        config: CircuitBreakerConfig,
        clock: Clock,
        backing: Backing,
    ) -> Self {
        let events = Events::new(config.event_consumer_buffer_size());
        let (config, log) = (Arc::new(config), RefusalLog::default());
        Self::make(name, config, clock, events, log, backing, Keys::none_yet(), Durations::new())
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "each is made in another way for the instance of a key"
    )]
    fn make(
        name: Arc<str>,
        config: Arc<CircuitBreakerConfig>,
        clock: Clock,
        events: Events<CircuitBreakerEvent>,
        refusal_log: RefusalLog,
        backing: Backing,
        keys: Keys<Self>,
        durations: Durations,
    ) -> Self {
        let now = clock.now();
        let engine = Engine::new(config, now, Rng::new());
        let shared = Shared {
            label: Name::kept(&name),
            name,
            clock,
            events,
            refusal_log,
            keys,
            // Of no generation that an engine has: the first section publishes the real word.
            word: AtomicU64::new(Word::new(State::Closed, 0, true, false).0),
            slow_beyond: AtomicU64::new(0),
            open_until: AtomicU64::new(0),
            refusals: Refusals::new(),
            durations,
            guarded: Apart(ShortMutex::new(Guarded {
                engine,
                timer: Timer::default(),
                totals: Totals::default(),
                backing,
                sharing: None,
            })),
            #[cfg(feature = "tracing")]
            told_of_unnamed: AtomicBool::new(false),
        };
        let breaker = Self { shared: Arc::new(shared) };
        let mut section = breaker.section(now);
        let exchange = breaker.share(&mut section);
        section.finish();
        drop(exchange);
        breaker
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
    pub fn config(&self) -> Arc<CircuitBreakerConfig> {
        Arc::clone(self.shared.guarded.lock().engine.config())
    }

    /// Returns the events of the instance.
    pub fn events(&self) -> Events<CircuitBreakerEvent> {
        self.shared.events.clone()
    }

    /// Returns the state that a call would meet.
    ///
    /// An OPEN breaker whose wait is over is still OPEN until a call comes, unless it has automatic
    /// transition: then it is `HALF_OPEN` from the moment the wait is over.
    pub fn state(&self) -> State {
        match self.shared.word().state() {
            State::Open | State::HalfOpen => {
                let now = self.shared.clock.now();
                self.shared.guarded.lock().engine.view(now).state
            }
            state => state,
        }
    }

    /// Tells what the breaker has counted.
    pub fn metrics(&self) -> CircuitBreakerMetrics {
        self.observe().metrics
    }

    /// Looks at all there is to see at one moment. Looking changes nothing.
    pub(crate) fn observe(&self) -> Observation {
        let now = self.shared.clock.now();
        let mut guarded = self.shared.guarded.lock();
        guarded.collect(&self.shared.refusals);
        let totals = Totals { successful: self.shared.durations.successful(), ..guarded.totals };
        let view = guarded.engine.view(now);
        Observation {
            state: view.state,
            #[cfg(feature = "actuator")]
            since: view.entered_at,
            #[cfg(feature = "actuator")]
            open_until: view.ends_at.filter(|_| view.state == State::Open),
            config: Arc::clone(guarded.engine.config()),
            metrics: CircuitBreakerMetrics {
                shared: guarded
                    .sharing
                    .as_ref()
                    .is_some_and(|with| with.is_common(&guarded.engine)),
                ..CircuitBreakerMetrics::new(&view, totals, now)
            },
        }
    }

    /// Tells how long calls took, those included of all instances that are this name by a key.
    pub(crate) fn timings(&self) -> Timings {
        self.shared.durations.timings(self.shared.clock.now())
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// Tells whether the breaker acts; one that does not lets every call pass uncounted.
    pub fn is_enabled(&self) -> bool {
        self.shared.word().is_enabled()
    }

    fn section(&self, now: u64) -> Section<'_> {
        Section::begin(&self.shared, now)
    }
}

/// Calls.
impl CircuitBreaker {
    /// Makes a call if the breaker permits it, and counts its outcome.
    ///
    /// An `Err` is a failure unless `record_errors` or `ignore_errors` say otherwise. The lists go
    /// by error kinds, which only [`call_by`](Self::call_by) knows: to them, every error of this
    /// method is of no kind, so that with a record list none is a failure.
    ///
    /// # Errors
    ///
    /// [`CallError::Resilience`] with [`CallNotPermitted`] when the call was not made, otherwise
    /// the future's own error.
    ///
    /// # Panics
    ///
    /// A panic of the future counts as a failure and goes on to the caller.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the call; nothing is counted, and a probe's place is free again.
    pub fn call<T, E>(
        &self,
        future: impl Future<Output = Result<T, E>>,
    ) -> impl Future<Output = Result<T, CallError<E>>> {
        InSpan::new(Call::new(self, Rules::new(), future))
    }

    /// Like [`call`](Self::call), with rules that say which outcomes count as failures.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    ///
    /// # Panics
    ///
    /// As [`call`](Self::call). A panic of a rule goes on to the caller, and nothing is counted.
    ///
    /// # Cancel safety
    ///
    /// As [`call`](Self::call).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// use resilience::{CircuitBreaker, CircuitBreakerConfig, Rules};
    ///
    /// let config = CircuitBreakerConfig::builder().ignore_errors(["io"]).build().unwrap();
    /// let breaker = CircuitBreaker::new("disk", config);
    /// let read = async { std::fs::read("/no/such/file") };
    /// assert!(breaker.call_by(&Rules::new().kinds(), read).await.is_err());
    /// assert_eq!(breaker.metrics().failed_calls, 0);
    /// # }
    /// ```
    pub fn call_by<T, E>(
        &self,
        rules: &Rules<T, E>,
        future: impl Future<Output = Result<T, E>>,
    ) -> impl Future<Output = Result<T, CallError<E>>> {
        InSpan::new(Call::new(self, rules, future))
    }

    /// Makes a blocking call if the breaker permits it, and counts its outcome as
    /// [`call`](Self::call) does. The breaker itself never waits.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    ///
    /// # Panics
    ///
    /// A panic of the operation counts as a failure and goes on to the caller.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{CircuitBreaker, CircuitBreakerConfig};
    ///
    /// let breaker = CircuitBreaker::new("disk", CircuitBreakerConfig::default());
    /// assert!(breaker.call_blocking(|| std::fs::read("/no/such/file")).is_err());
    /// assert_eq!(breaker.metrics().failed_calls, 1);
    /// ```
    pub fn call_blocking<T, E>(
        &self,
        operation: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        self.call_blocking_by(&Rules::new(), operation)
    }

    /// Like [`call_blocking`](Self::call_blocking), with rules that say which outcomes count as
    /// failures.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    ///
    /// # Panics
    ///
    /// As [`call_blocking`](Self::call_blocking). A panic of a rule goes on to the caller, and nothing
    /// is counted.
    pub fn call_blocking_by<T, E>(
        &self,
        rules: &Rules<T, E>,
        operation: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        blocking_call(self, |_| {
            let admission =
                self.begin_now().map_err(|refusal| CallError::Resilience(refusal.into()))?;
            let mut call = InFlight::new(self, admission);
            let outcome = call.run(|| operation().map_err(CallError::Inner));
            call.end(&outcome, rules);
            outcome
        })
    }

    /// Asks for permission to make one call.
    ///
    /// # Errors
    ///
    /// When the breaker is OPEN or `FORCED_OPEN`, or `HALF_OPEN` with all probes on their way.
    pub fn try_acquire(&self) -> Result<Permit, CallNotPermitted> {
        let admission = self.begin(self.shared.clock.now())?;
        Ok(Permit::new(self.clone(), admission))
    }

    /// Lets a call in now, with a look at the clock where that plays a part.
    pub(super) fn begin_now(&self) -> Result<Admission, CallNotPermitted> {
        match self.admit_freely_now() {
            Ok(admission) => Ok(admission),
            Err(now) => self.begin_elsewise(now),
        }
    }

    /// Lets a call in that has nothing to bring back: the usual case. Else it gives the time, to
    /// [go on](Self::begin_elsewise) with.
    #[inline]
    pub(super) fn admit_freely_now(&self) -> Result<Admission, u64> {
        let Shared { slow_beyond, events, clock, .. } = &*self.shared;
        let word = self.shared.word();
        let is_timed = slow_beyond.load(Ordering::Relaxed) != u64::MAX;
        if is_timed || !word.is_calm() || !word.admits_freely() || events.is_observed() {
            let now = clock.now();
            return self.admit_freely(now).ok_or(now);
        }
        // Should somebody ask for its duration after all, that is zero.
        let (started, generation) = (u64::MAX, word.generation());
        Ok(Admission { started, generation, grant: Grant::Free })
    }

    /// The same at `now`, on this breaker's clock.
    #[inline]
    pub(crate) fn admit_freely(&self, now: u64) -> Option<Admission> {
        let word = self.shared.word();
        let (started, generation) = (now, word.generation());
        word.admits_freely().then_some(Admission { started, generation, grant: Grant::Free })
    }

    /// Lets a call in at `now`, on this breaker's clock.
    #[inline]
    pub(crate) fn begin(&self, now: u64) -> Result<Admission, CallNotPermitted> {
        self.admit_freely(now).map_or_else(|| self.begin_elsewise(now), Ok)
    }

    /// The same for a call that is not admitted freely.
    #[inline]
    pub(crate) fn begin_elsewise(&self, now: u64) -> Result<Admission, CallNotPermitted> {
        self.refuse_freely(now).map_or_else(|| self.begin_by_word_or_lock(now), Err)
    }

    /// Refuses a call where nothing but to count it is to be done.
    #[inline]
    pub(super) fn refuse_freely(&self, now: u64) -> Option<CallNotPermitted> {
        let word = self.shared.word();
        let left = self.count_refusal(word, now)?;
        Some(self.refusal(word.state(), left.get()))
    }

    #[inline]
    fn refusal(&self, state: State, wait: Option<Duration>) -> CallNotPermitted {
        CallNotPermitted::new(self.shared.label.clone(), state, wait)
    }

    #[cold]
    #[inline(never)]
    fn log_refusal(&self, now: u64) {
        self.shared.refusal_log.refused("circuit_breaker", &self.shared.name, now);
    }

    /// Counts a refusal without the lock, where nothing else is to be done, and tells how long the breaker
    /// is open yet.
    #[inline(never)]
    fn count_refusal(&self, word: Word, now: u64) -> Option<Left> {
        let Shared { open_until, refusals, events, .. } = &*self.shared;
        let left = match word.state() {
            _ if !word.is_enabled() => return None,
            State::Open => {
                let left = open_until.load(Ordering::Relaxed).saturating_sub(now);
                if left == 0 {
                    // The wait is over, or about to be.
                    return None;
                }
                Left::Nanos(left)
            }
            State::ForcedOpen => Left::Unknown,
            _ => return None,
        };
        let counted = !events.is_observed() && refusals.count(word.generation());
        if !counted {
            return None;
        }
        if RefusalLog::is_wanted() {
            self.log_refusal(now);
        }
        Some(left)
    }

    /// Lets a call in, or refuses it, where the word does not say at once which.
    #[inline(never)]
    pub(super) fn begin_by_word_or_lock(&self, now: u64) -> Result<Admission, CallNotPermitted> {
        let word = self.shared.word();
        if !word.is_enabled() || word.state() == State::Disabled {
            let generation = word.generation();
            return Ok(Admission { started: now, generation, grant: Grant::Uncounted });
        }
        self.begin_by_lock(now)
    }

    fn begin_by_lock(&self, now: u64) -> Result<Admission, CallNotPermitted> {
        let mut section = self.section(now);
        let entered = section.guarded.engine.enter(&mut section.effects);
        let engine = &section.guarded.engine;
        let generation = engine.generation();
        let is_counted = engine.state() != State::Disabled;
        let result = match entered {
            Ok(Some(slot)) => Ok(Grant::Probe(slot)),
            Ok(None) if is_counted => Ok(Grant::Free),
            Ok(None) => Ok(Grant::Uncounted),
            Err(refusal) => Err(self.refused(&mut section, refusal)),
        };
        section.finish();
        if result.is_err() && RefusalLog::is_wanted() {
            self.log_refusal(now);
        }
        result.map(|grant| Admission { started: now, generation, grant })
    }

    /// Takes note of the end of a call.
    pub(crate) fn end(&self, admission: Admission, report: Report, now: u64) {
        if report.outcome == Outcome::Success && report.open_for.is_none() && !report.unnamed {
            return self.succeed(&admission, || now);
        }
        self.end_by_lock(admission, report, now);
    }

    /// Takes note of a success.
    #[inline]
    pub(crate) fn succeed(&self, admission: &Admission, now: impl Fn() -> u64) {
        let mut read = None;
        if !self.count_in_calm(admission, || *read.insert(now())) {
            self.succeed_by_lock(admission, read.unwrap_or_else(now));
        }
    }

    #[cold]
    #[inline(never)]
    fn succeed_by_lock(&self, admission: &Admission, now: u64) {
        if let Grant::Free = admission.grant
            && !self.shared.events.is_observed()
        {
            let mut guarded = self.shared.guarded.lock();
            let engine = &mut guarded.engine;
            let elapsed = now.saturating_sub(admission.started);
            if engine.succeed_quietly(admission.generation, elapsed, now) {
                let durations = &self.shared.durations;
                if engine.config().is_timed() {
                    durations.succeed(elapsed, now);
                } else {
                    durations.succeed_untimed();
                }
                let changed = engine.has_changed();
                drop(guarded);
                if changed {
                    self.section(now).finish();
                }
                return;
            }
        }
        self.end_by_lock(*admission, Report::new(Outcome::Success), now);
    }

    fn end_by_lock(&self, admission: Admission, report: Report, now: u64) {
        if let Grant::Uncounted = admission.grant {
            return;
        }
        let Report { outcome, kinds, open_for, .. } = report;
        #[cfg(feature = "tracing")]
        if report.unnamed && !self.shared.told_of_unnamed.swap(true, Ordering::Relaxed) {
            harmless(|| super::log::unnamed(&self.shared.name));
        }
        let elapsed = now.saturating_sub(admission.started);
        let open_for = open_for.map_or(0, saturating_nanos);
        let ending = Ending { outcome, elapsed, kinds, open_for };
        let mut section = self.section(now);
        self.count(&mut section, outcome, ending.elapsed, kinds);
        let Guarded { engine, .. } = &mut *section.guarded;
        let (generation, slot) = (admission.generation, admission.grant.slot());
        engine.exit(generation, slot, ending, &mut section.effects);
        section.finish();
    }

    /// Counts a success without the lock if it changes nothing but the totals.
    ///
    /// It counts at the moment at which the word is read: a failure that comes between that and the
    /// counting comes after it.
    #[inline]
    fn count_in_calm(&self, admission: &Admission, now: impl FnOnce() -> u64) -> bool {
        let Shared { slow_beyond, durations, events, .. } = &*self.shared;
        let word = self.shared.word();
        let is_calm = word.is_calm()
            && !matches!(admission.grant, Grant::Uncounted)
            && word.generation() == admission.generation
            && !events.is_observed();
        if !is_calm {
            return false;
        }
        match slow_beyond.load(Ordering::Relaxed) {
            u64::MAX => durations.succeed_untimed(),
            limit => {
                let now = now();
                let elapsed = now.saturating_sub(admission.started);
                if elapsed > limit {
                    return false;
                }
                durations.succeed(elapsed, now);
            }
        }
        true
    }

    /// Takes note of a call that was dropped before it ended.
    pub(crate) fn cancel(&self, admission: Admission, now: u64) {
        if let Grant::Uncounted = admission.grant {
            return;
        }
        let mut section = self.section(now);
        section.guarded.totals.cancelled += 1;
        let (generation, slot) = (admission.generation, admission.grant.slot());
        section.guarded.engine.cancel(generation, slot);
        section.finish();
    }

    /// Takes note of a call that nobody told the end of: of its panic if its own code was running, else
    /// of its drop.
    pub(crate) fn abandon(&self, admission: Admission, in_body: bool, now: u64) {
        if in_body {
            self.end(admission, Report::panic(), now);
        } else {
            self.cancel(admission, now);
        }
    }

    /// Adds the end of a call to the totals and tells listeners of it.
    fn count(
        &self,
        section: &mut Section<'_>,
        outcome: Outcome,
        elapsed: u64,
        kinds: &'static [&'static str],
    ) {
        let Guarded { engine, totals, .. } = &mut *section.guarded;
        let measured = engine.config().is_timed().then_some(elapsed);
        self.shared.durations.end(outcome, measured, section.now);
        totals.failed += u64::from(outcome == Outcome::Failure);
        totals.ignored += u64::from(outcome == Outcome::Ignored);
        let is_slow = elapsed > engine.config().slow_beyond();
        totals.slow += u64::from(is_slow && outcome != Outcome::Ignored);
        section.tell(|| {
            let elapsed = Duration::from_nanos(elapsed);
            match outcome {
                Outcome::Success => CircuitBreakerEventKind::Success { elapsed },
                Outcome::Failure => CircuitBreakerEventKind::Error { elapsed, kinds },
                Outcome::Ignored => CircuitBreakerEventKind::IgnoredError { elapsed, kinds },
            }
        });
    }

    fn refused(&self, section: &mut Section<'_>, refusal: Refusal) -> CallNotPermitted {
        section.guarded.totals.not_permitted += 1;
        section.tell(|| CircuitBreakerEventKind::NotPermitted);
        self.refusal(refusal.state, refusal.wait.map(Duration::from_nanos))
    }
}

/// Calls whose beginning and end are reported apart; see the [module](super#by-hand).
impl CircuitBreaker {
    /// Takes a permission if there is one.
    ///
    /// Every permission must be answered with [`on_success`](Self::on_success),
    /// [`on_error`](Self::on_error), [`on_result_failure`](Self::on_result_failure) or
    /// [`release_permission`](Self::release_permission).
    pub fn try_acquire_permission(&self) -> bool {
        let word = self.shared.word();
        if !word.is_enabled()
            || matches!(word.state(), State::Closed | State::Disabled | State::MetricsOnly)
        {
            return true;
        }
        let now = self.shared.clock.now();
        let mut section = self.section(now);
        let result = section.guarded.engine.try_acquire_permission(&mut section.effects);
        if let Err(refusal) = result {
            self.refused(&mut section, refusal);
        }
        section.finish();
        if result.is_err() && RefusalLog::is_wanted() {
            self.log_refusal(now);
        }
        result.is_ok()
    }

    /// Gives a permission back without saying anything of the call.
    pub fn release_permission(&self) {
        if !self.is_enabled() {
            return;
        }
        let now = self.shared.clock.now();
        let mut section = self.section(now);
        section.guarded.engine.release_permission();
        section.finish();
    }

    /// Counts a successful call that took `elapsed`.
    pub fn on_success(&self, elapsed: Duration) {
        self.on_ending(|_| Outcome::Success, elapsed, &[]);
    }

    /// Counts a call that took `elapsed` and ended in an error of these kinds.
    ///
    /// `record_errors` and `ignore_errors` of the configuration decide how it counts.
    pub fn on_error(&self, elapsed: Duration, kinds: &'static [&'static str]) {
        let facts = Facts { kinds, refusal: None };
        self.on_ending(|config| config.classify(&facts, Answers::default()), elapsed, kinds);
    }

    /// Counts a call that took `elapsed` and returned a result that is to be taken for a failure.
    pub fn on_result_failure(&self, elapsed: Duration) {
        self.on_ending(|_| Outcome::Failure, elapsed, &[]);
    }

    fn on_ending(
        &self,
        classify: impl FnOnce(&CircuitBreakerConfig) -> Outcome,
        elapsed: Duration,
        kinds: &'static [&'static str],
    ) {
        if !self.is_enabled() {
            return;
        }
        let now = self.shared.clock.now();
        let elapsed = saturating_nanos(elapsed);
        let mut section = self.section(now);
        let outcome = classify(section.guarded.engine.config());
        if section.guarded.engine.state().tells_calls() {
            self.count(&mut section, outcome, elapsed, kinds);
        }
        let ending = Ending { outcome, elapsed, kinds, open_for: 0 };
        let Section { guarded, effects, .. } = &mut section;
        guarded.engine.on_ending(ending, effects);
        section.finish();
    }
}

/// Changes by hand.
impl CircuitBreaker {
    /// Changes the state, whatever the calls say.
    ///
    /// Entering a state starts it anew, also when the breaker is in it already.
    ///
    /// # Errors
    ///
    /// When there is no way to that state from the present one (see [`State::can_become`]).
    pub fn transition_to(&self, state: State) -> Result<(), IllegalTransition> {
        self.transition(state, None)
    }

    /// Opens the breaker for that long, whatever the configuration says.
    ///
    /// It does not count as an attempt of an exponentially growing open time.
    ///
    /// # Errors
    ///
    /// When the breaker is `METRICS_ONLY`.
    pub fn transition_to_open_for(&self, wait: Duration) -> Result<(), IllegalTransition> {
        self.transition(State::Open, Some(saturating_nanos(wait)))
    }

    /// Closes the breaker and forgets all calls but the [`Totals`], from any state.
    pub fn reset(&self) {
        self.change(Engine::reset);
    }

    /// Says whether the instance acts, until it is said again or a reload changes the instance.
    ///
    /// A disabled breaker keeps its state and lets every call through uncounted, whatever that state is.
    /// Calls on their way still count.
    ///
    /// [`Resilience::set_enabled`](crate::Resilience::set_enabled) does it for a whole pattern; there
    /// it says how this goes together with `enabled` in files and the environment.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{CircuitBreaker, CircuitBreakerConfig, circuit_breaker::State};
    ///
    /// let breaker = CircuitBreaker::new("payment", CircuitBreakerConfig::default());
    /// breaker.transition_to(State::ForcedOpen).unwrap();
    /// assert!(breaker.try_acquire().is_err());
    /// breaker.set_enabled(false);
    /// assert!(breaker.try_acquire().is_ok());
    /// assert_eq!(breaker.state(), State::ForcedOpen);
    /// ```
    pub fn set_enabled(&self, on: bool) {
        drop(self.enable(on));
    }

    pub(crate) fn enable(&self, on: bool) -> Aftermath {
        self.replace_config(|config| config.with_enabled(on))
    }

    /// Goes on with other settings.
    ///
    /// State, time left, calls on their way and, if its type and size stay, the window are kept.
    pub(crate) fn reconfigure(&self, config: CircuitBreakerConfig) -> Aftermath {
        self.replace_config(|_| config)
    }

    /// Looks again at what stands behind the instance: a store has come.
    pub(crate) fn look_behind(&self) -> Aftermath {
        self.replace_config(CircuitBreakerConfig::clone)
    }

    fn replace_config(
        &self,
        edit: impl FnOnce(&CircuitBreakerConfig) -> CircuitBreakerConfig,
    ) -> Aftermath {
        let own = self.put_config(|config| Arc::new(edit(config)));
        self.shared.keys.follow_after(self, own)
    }

    fn put_config(
        &self,
        edit: impl FnOnce(&CircuitBreakerConfig) -> Arc<CircuitBreakerConfig>,
    ) -> Aftermath {
        let mut section = self.section(self.shared.clock.now());
        let engine = &mut section.guarded.engine;
        let config = edit(engine.config());
        self.shared.events.set_capacity(config.event_consumer_buffer_size());
        engine.reconfigure(config);
        let exchange = self.share(&mut section);
        section.release().later().and(exchange)
    }

    /// Shares the state, or stops to, as the settings say. The rest speaks with the store.
    fn share(&self, section: &mut Section<'_>) -> Aftermath {
        let Section { guarded, effects, .. } = section;
        let Guarded { engine, backing, sharing, .. } = &mut **guarded;
        let wants = engine.config().scope() == Scope::Global && self.has_name_of_its_own();
        if !wants {
            engine.go_alone(effects);
            *sharing = None;
        } else if sharing.is_none() {
            *sharing = Sharing::new(backing, &self.shared.name, self.shared.events.key());
            if let Some(sharing) = sharing {
                let exchange = Exchange::new(&self.shared, sharing.node());
                let store = sharing.store().clone();
                return Aftermath::new(move || store.every(exchange));
            }
        }
        Aftermath::default()
    }

    /// Whether others can know it: not the instance that serves keys which have none.
    fn has_name_of_its_own(&self) -> bool {
        !matches!(self.shared.keys, Keys::Member) || self.shared.events.key().is_some()
    }

    fn transition(&self, to: State, open_for: Option<u64>) -> Result<(), IllegalTransition> {
        self.change(|engine, effects| engine.transition_to(to, open_for, effects))
            .map_err(|from| IllegalTransition { instance: self.shared.name.clone(), from, to })
    }

    fn change<R>(&self, change: impl FnOnce(&mut Engine, &mut Effects) -> R) -> R {
        let now = self.shared.clock.now();
        let mut section = self.section(now);
        let result = change(&mut section.guarded.engine, &mut section.effects);
        section.finish();
        result
    }
}

impl Member for CircuitBreaker {
    fn own_key(&self) -> Option<&str> {
        self.shared.events.key()
    }

    fn config(&self) -> Arc<CircuitBreakerConfig> {
        self.config()
    }

    fn clock(&self) -> &Clock {
        self.clock()
    }

    fn keys(&self) -> &Keys<Self> {
        &self.shared.keys
    }

    fn key_settings(config: &CircuitBreakerConfig) -> &KeySettings {
        &config.keyed
    }

    fn member(&self, config: Arc<CircuitBreakerConfig>, key: Option<Arc<str>>) -> Self {
        let Shared { name, clock, events, refusal_log, durations, .. } = &*self.shared;
        let (name, clock, log) = (Arc::clone(name), clock.clone(), refusal_log.clone());
        let (events, durations) = (events.of_key(key), durations.of_key());
        let backing = self.shared.guarded.lock().backing.clone();
        Self::make(name, config, clock, events, log, backing, Keys::Member, durations)
    }

    fn adopt(&self, config: Arc<CircuitBreakerConfig>) {
        drop(self.put_config(|_| config));
    }

    fn handles(&self) -> usize {
        Arc::strong_count(&self.shared)
    }

    fn is_at_rest(&self, now: u64) -> bool {
        self.shared.guarded.lock().engine.is_at_rest(now)
    }
}

impl fmt::Debug for CircuitBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CircuitBreaker")
            .field("name", &self.shared.name)
            .field("state", &self.shared.word().state())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
