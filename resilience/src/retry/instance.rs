use std::{fmt, ops::ControlFlow, sync::Arc, time::Duration};

use super::{
    Failure, Progress, RetryBudget, RetryConfig, RetryEvent, RetryEventKind, RetryMetrics, Step,
    metrics::Counters,
};
use crate::{
    aftermath::Aftermath,
    blocking,
    clock::{Clock, saturating_nanos},
    context,
    error::{CallError, MaxRetriesExceeded},
    events::Events,
    keyed::{KeySettings, Keys, Member},
    rules::Rules,
    sync::{
        RwLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    trace::{CallSpan, Named, blocking_call},
};

/// Calls again what failed, after a wait.
///
/// A cheap handle: clones are the same instance. The instance only holds settings, counters and
/// events; every call counts its own attempts.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::{CallError, Retry, RetryConfig};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = RetryConfig::builder().wait_duration(Duration::from_millis(1)).build()?;
/// let retry = Retry::new("payment", config);
/// let mut attempts = 0;
/// let result: Result<&str, CallError<&str>> = retry
///     .call(|| {
///         attempts += 1;
///         let outcome = if attempts < 3 { Err("refused") } else { Ok("paid") };
///         async move { outcome }
///     })
///     .await;
/// assert_eq!(result, Ok("paid"));
/// assert_eq!(retry.metrics().successful_with_retry, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Retry {
    shared: Arc<Shared>,
}

/// What clones share.
struct Shared {
    name: Arc<str>,
    clock: Clock,
    /// Beside the lock, because the first success needs nothing else; 0 stands for a disabled layer.
    max_attempts: AtomicU32,
    /// Beside the lock for the same reason: nanoseconds, 0 is without limit.
    total_timeout: AtomicU64,
    /// Whether the settings hold a budget.
    on_budget: AtomicBool,
    config: RwLock<Arc<RetryConfig>>,
    counters: Counters,
    events: Events<RetryEvent>,
    keys: Keys<Retry>,
}

fn effective_attempts(config: &RetryConfig) -> u32 {
    if config.is_enabled() { config.max_attempts() } else { 0 }
}

fn total_timeout(config: &RetryConfig) -> u64 {
    config.total_timeout().map_or(0, saturating_nanos)
}

impl Retry {
    /// Makes an instance on the system clock.
    pub fn new(name: impl Into<Arc<str>>, config: RetryConfig) -> Self {
        Self::with_clock(name, config, Clock::system())
    }

    /// Makes an instance that takes its time from `clock`.
    pub fn with_clock(name: impl Into<Arc<str>>, config: RetryConfig, clock: Clock) -> Self {
        let events = Events::new(config.event_consumer_buffer_size());
        Self::make(name.into(), Arc::new(config), clock, events, Keys::none_yet())
    }

    fn make(
        name: Arc<str>,
        config: Arc<RetryConfig>,
        clock: Clock,
        events: Events<RetryEvent>,
        keys: Keys<Self>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                name,
                clock,
                max_attempts: AtomicU32::new(effective_attempts(&config)),
                total_timeout: AtomicU64::new(total_timeout(&config)),
                on_budget: AtomicBool::new(config.found_budget().is_some()),
                counters: Counters::new(keys.counter()),
                events,
                keys,
                config: RwLock::new(config),
            }),
        }
    }

    /// Puts the instance, for all its handles, on a budget: from now on retries are taken from it.
    ///
    /// A registry that loads another configuration puts its instances on the budgets which that one
    /// names.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Retry, RetryConfig, retry::{RetryBudget, RetryBudgetConfig}};
    ///
    /// let budget = RetryBudget::new("backend", RetryBudgetConfig::default());
    /// let read = Retry::new("read", RetryConfig::default()).with_budget(&budget);
    /// let write = Retry::new("write", RetryConfig::default()).with_budget(&budget);
    /// assert_eq!(read.call_blocking(|| "7".parse::<u32>()), Ok(7));
    /// assert_eq!(write.call_blocking(|| "8".parse::<u32>()), Ok(8));
    /// assert_eq!(budget.metrics().calls, 2);
    /// ```
    #[must_use]
    pub fn with_budget(self, budget: &RetryBudget) -> Self {
        drop(self.replace_config(|config| config.clone().on_budget(budget)));
        self
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
    pub fn config(&self) -> Arc<RetryConfig> {
        Arc::clone(&self.shared.config.read())
    }

    /// Tells how calls ended so far.
    pub fn metrics(&self) -> RetryMetrics {
        self.shared.counters.snapshot()
    }

    /// Returns the events of the instance.
    pub fn events(&self) -> Events<RetryEvent> {
        self.shared.events.clone()
    }

    /// Calls `operation` until it succeeds or the attempts run out: those that `max_attempts`,
    /// `total_timeout`, a budget and the [`deadline`](crate::deadline) around the call allow.
    ///
    /// # Errors
    ///
    /// The last error of `operation`.
    ///
    /// # Panics
    ///
    /// A panic of `operation` is not retried. On the system clock a wait needs a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the call: no attempt follows and no event is published.
    pub async fn call<T, E, F>(&self, operation: impl FnMut() -> F) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        self.call_by(const { &Rules::new() }, operation).await
    }

    /// Like [`call`](Retry::call), with rules that say which outcomes are retried.
    ///
    /// # Errors
    ///
    /// The last error of `operation`, or
    /// [`MaxRetriesExceeded`](crate::MaxRetriesExceeded) when attempts, time or budget ran out on
    /// results and `fail_after_max_attempts` is set.
    ///
    /// # Panics
    ///
    /// As [`call`](Retry::call).
    ///
    /// # Cancel safety
    ///
    /// As [`call`](Retry::call).
    pub async fn call_by<T, E, F>(
        &self,
        rules: &Rules<T, E>,
        mut operation: impl FnMut() -> F,
    ) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        if CallSpan::is_wanted() {
            // Boxed, so that the future of a call without a span is no longer for it.
            return Box::pin(self.call_in_span(rules, operation)).await;
        }
        let mut progress = None;
        self.begin(&mut progress, context::due(self.clock()).map(|due| due.at()));
        let Some(progress) = &mut progress else {
            return operation().await.map_err(CallError::Inner);
        };
        loop {
            // In a block of its own: the outcome would be kept while the call waits.
            let wait = {
                let outcome = match operation().await {
                    // By itself, so that the value is not moved from one kind of result to the next.
                    Ok(value) => {
                        if rules.accept_all_results() {
                            self.after_success(progress);
                            return Ok(value);
                        }
                        Ok(value)
                    }
                    Err(error) => Err(CallError::Inner(error)),
                };
                match self.settle_by_rules(progress, outcome, rules) {
                    ControlFlow::Break(result) => return result,
                    ControlFlow::Continue(wait) => wait,
                }
            };
            self.back_off(wait).await;
        }
    }

    async fn call_in_span<T, E, F>(
        &self,
        rules: &Rules<T, E>,
        mut operation: impl FnMut() -> F,
    ) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        let mut span = CallSpan::start(|| self.names());
        let mut progress = None;
        self.begin(&mut progress, context::due(self.clock()).map(|due| due.at()));
        loop {
            let wait = {
                let body = span.run_body(&mut operation);
                let outcome = span.around(body).await.map_err(CallError::Inner);
                let step = match &mut progress {
                    Some(progress) => span.run(|| self.settle(progress, outcome, rules)),
                    None => ControlFlow::Break(outcome),
                };
                match step {
                    ControlFlow::Break(result) => {
                        span.end(&result);
                        return result;
                    }
                    ControlFlow::Continue(wait) => wait,
                }
            };
            self.back_off(wait).await;
            span.again();
        }
    }

    /// Calls `operation` until it succeeds or the attempts run out, and blocks the thread while it
    /// waits between them; no runtime is needed. On tokio's paused clock it waits until a test moves
    /// it.
    ///
    /// Never call it in async code: use [`call`](Retry::call) there.
    ///
    /// # Errors
    ///
    /// The last error of `operation`.
    ///
    /// # Panics
    ///
    /// A panic of `operation` is not retried.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use resilience::{Retry, RetryConfig};
    ///
    /// let config = RetryConfig::builder().wait_duration(Duration::from_millis(1)).build()?;
    /// let retry = Retry::new("disk", config);
    /// assert!(retry.call_blocking(|| std::fs::read("/no/such/file")).is_err());
    /// assert_eq!(retry.metrics().failed_with_retry, 1);
    /// # Ok::<(), resilience::ConfigError>(())
    /// ```
    pub fn call_blocking<T, E>(
        &self,
        operation: impl FnMut() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        self.call_blocking_by(&Rules::new(), operation)
    }

    /// Like [`call_blocking`](Retry::call_blocking), with rules that say which outcomes are retried.
    ///
    /// # Errors
    ///
    /// As [`call_by`](Retry::call_by).
    ///
    /// # Panics
    ///
    /// As [`call_blocking`](Retry::call_blocking).
    pub fn call_blocking_by<T, E>(
        &self,
        rules: &Rules<T, E>,
        mut operation: impl FnMut() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        let deadline = context::due(self.clock()).map(|due| due.at());
        blocking_call(self, |span| {
            let mut progress = None;
            self.begin(&mut progress, deadline);
            let Some(progress) = &mut progress else {
                return operation().map_err(CallError::Inner);
            };
            loop {
                let outcome = operation().map_err(CallError::Inner);
                match self.settle(progress, outcome, rules) {
                    ControlFlow::Break(result) => return result,
                    ControlFlow::Continue(wait) => self.back_off_blocking(wait),
                }
                span.again();
            }
        })
    }

    /// Says whether the instance acts, until it is said again or a reload changes the instance.
    ///
    /// A disabled retry makes one attempt of each call that begins from then on, and counts none.
    ///
    /// [`Resilience::set_enabled`](crate::Resilience::set_enabled) does it for a whole pattern; there
    /// it says how this goes together with `enabled` in files and the environment.
    ///
    /// # Examples
    ///
    /// ```
    /// use resilience::{Retry, RetryConfig};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let retry = Retry::new("payment", RetryConfig::default());
    /// retry.set_enabled(false);
    /// assert!(!retry.is_enabled());
    /// let mut attempts = 0;
    /// let result = retry
    ///     .call(|| {
    ///         attempts += 1;
    ///         async { Err::<(), _>("refused") }
    ///     })
    ///     .await;
    /// assert!(result.is_err());
    /// assert_eq!(attempts, 1);
    /// # }
    /// ```
    pub fn set_enabled(&self, on: bool) {
        drop(self.enable(on));
    }

    /// Tells whether the retry acts; a disabled one makes one attempt and counts none.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.shared.max_attempts.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn enable(&self, on: bool) -> Aftermath {
        self.replace_config(|config| config.with_enabled(on))
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    pub(crate) fn shared_name(&self) -> &Arc<str> {
        &self.shared.name
    }

    /// Starts a call that runs under this deadline, if it is under one; `progress` stays as it is when
    /// the layer is disabled.
    #[inline]
    pub(crate) fn begin(&self, progress: &mut Option<Progress>, deadline: Option<u64>) {
        let max_attempts = self.shared.max_attempts.load(Ordering::Relaxed);
        if max_attempts == 0 {
            return;
        }
        // In its place at once: what is put together elsewhere and moved there costs more than all else.
        let progress = progress.insert(Progress::new(max_attempts, deadline));
        if self.is_bounded() {
            self.bound(progress);
        }
    }

    /// How many attempts a call has, 0 for a disabled layer; `None` where not only their number bounds them.
    #[inline]
    pub(crate) fn attempts_alone(&self) -> Option<u32> {
        (!self.is_bounded()).then(|| self.shared.max_attempts.load(Ordering::Relaxed))
    }

    /// Whether something else than their number bounds the attempts.
    #[inline]
    fn is_bounded(&self) -> bool {
        let Shared { total_timeout, on_budget, .. } = &*self.shared;
        total_timeout.load(Ordering::Relaxed) > 0 || on_budget.load(Ordering::Relaxed)
    }

    /// Adds what else bounds the attempts: a time for all of them, a budget.
    #[cold]
    fn bound(&self, progress: &mut Progress) {
        let total = self.shared.total_timeout.load(Ordering::Relaxed);
        if total > 0 {
            progress.end_at(self.shared.clock.now().saturating_add(total));
        }
        if !self.shared.on_budget.load(Ordering::Relaxed) {
            return;
        }
        if let Some(budget) = self.config().found_budget() {
            budget.deposit();
            progress.take_from(budget);
        }
    }

    /// Takes the outcome of an attempt: it stands, or another attempt comes after a wait.
    #[inline]
    pub(crate) fn settle<T, E>(
        &self,
        progress: &mut Progress,
        outcome: Result<T, CallError<E>>,
        rules: &Rules<T, E>,
    ) -> ControlFlow<Result<T, CallError<E>>, Duration> {
        if outcome.is_ok() && rules.accept_all_results() {
            self.after_success(progress);
            return ControlFlow::Break(outcome);
        }
        self.settle_by_rules(progress, outcome, rules)
    }

    fn settle_by_rules<T, E>(
        &self,
        progress: &mut Progress,
        outcome: Result<T, CallError<E>>,
        rules: &Rules<T, E>,
    ) -> ControlFlow<Result<T, CallError<E>>, Duration> {
        match outcome {
            Ok(value) if rules.retries_result(&value) => match self.after_result(progress) {
                Step::Again(wait) => ControlFlow::Continue(wait),
                Step::Exhausted | Step::OutOfTime | Step::OverBudget
                    if self.config().fail_after_max_attempts() =>
                {
                    let attempts = progress.failed();
                    let error =
                        MaxRetriesExceeded::new(Arc::clone(&self.shared.name).into(), attempts);
                    ControlFlow::Break(Err(CallError::Resilience(error.into())))
                }
                _ => ControlFlow::Break(Ok(value)),
            },
            Ok(value) => {
                self.after_success(progress);
                ControlFlow::Break(Ok(value))
            }
            Err(error) => match self.after_error(progress, &rules.failure(&error)) {
                Step::Again(wait) => ControlFlow::Continue(wait),
                _ => ControlFlow::Break(Err(error)),
            },
        }
    }

    pub(crate) async fn back_off(&self, wait: Duration) {
        if wait.is_zero() {
            // Without a wait nothing else would let other tasks, a time limit among them, run.
            tokio::task::coop::consume_budget().await;
        } else {
            self.shared.clock.sleep(wait).await;
        }
    }

    pub(crate) fn back_off_blocking(&self, wait: Duration) {
        blocking::sleep(&self.shared.clock, wait);
    }

    pub(crate) fn reconfigure(&self, config: RetryConfig) -> Aftermath {
        self.replace_config(|_| config)
    }

    fn replace_config(&self, edit: impl FnOnce(&RetryConfig) -> RetryConfig) -> Aftermath {
        let own = self.put_config(|config| Arc::new(edit(config)));
        self.shared.keys.follow_after(self, own)
    }

    fn put_config(&self, edit: impl FnOnce(&RetryConfig) -> Arc<RetryConfig>) -> Aftermath {
        let mut current = self.shared.config.write();
        let config = edit(&current);
        self.shared.max_attempts.store(effective_attempts(&config), Ordering::Relaxed);
        self.shared.total_timeout.store(total_timeout(&config), Ordering::Relaxed);
        self.shared.on_budget.store(config.found_budget().is_some(), Ordering::Relaxed);
        self.shared.events.set_capacity(config.event_consumer_buffer_size());
        let last = std::mem::replace(&mut *current, config);
        // It may own an interval of the user's.
        Aftermath::new(move || drop(last))
    }

    /// Takes note of a call that succeeded.
    #[inline]
    pub(crate) fn after_success(&self, progress: &Progress) {
        if progress.failed() == 0 {
            self.shared.counters.successful_without_retry.increment();
        } else {
            self.after_late_success(progress);
        }
    }

    #[cold]
    fn after_late_success(&self, progress: &Progress) {
        self.shared.counters.further_attempts.increment();
        self.shared.counters.successful_with_retry.increment();
        let (attempts, error) = (progress.failed(), progress.last_error());
        self.publish(RetryEventKind::Success { attempts, error });
    }

    fn after_error(&self, progress: &mut Progress, failure: &Failure<'_>) -> Step {
        self.shared.counters.further_attempts.increment();
        let step = progress.on_error(&self.config(), failure, fastrand::f64());
        let step = self.grant(progress, step);
        let (attempts, error) = (progress.failed(), progress.last_error());
        match step {
            Step::Again(wait) => self.publish(RetryEventKind::Retry { attempts, wait, error }),
            Step::Stop => {
                self.shared.counters.failed_without_retry.increment();
                self.publish(RetryEventKind::IgnoredError { error });
            }
            Step::Exhausted | Step::Ended | Step::OutOfTime | Step::OverBudget => {
                self.shared.counters.failed_with_retry.increment();
                self.publish(RetryEventKind::Error { attempts, error });
            }
        }
        step
    }

    /// Whether the next attempt may be, and counts where the budget says no.
    fn grant(&self, progress: &Progress, step: Step) -> Step {
        let step = progress.grant(step, || self.shared.clock.now());
        if step == Step::OverBudget {
            self.shared.counters.stopped_by_budget.increment();
        }
        step
    }

    fn after_result(&self, progress: &mut Progress) -> Step {
        self.shared.counters.further_attempts.increment();
        let config = self.config();
        let step = progress.on_unwanted_result(&config, fastrand::f64());
        let step = self.grant(progress, step);
        let attempts = progress.failed();
        if let Step::Again(wait) = step {
            self.publish(RetryEventKind::Retry { attempts, wait, error: None });
        } else {
            self.shared.counters.further_attempts.increment();
            self.shared.counters.failed_with_retry.increment();
            let error = progress.last_error().filter(|_| !config.fail_after_max_attempts());
            self.publish(RetryEventKind::Error { attempts, error });
        }
        step
    }

    fn publish(&self, kind: RetryEventKind) {
        #[cfg(feature = "tracing")]
        super::log::retries(&self.shared.name, &kind);
        let Shared { name, clock, events, .. } = &*self.shared;
        events.deliver_if(events.note(name, || clock.now(), kind));
    }
}

impl Member for Retry {
    fn own_key(&self) -> Option<&str> {
        self.shared.events.key()
    }

    fn config(&self) -> Arc<RetryConfig> {
        self.config()
    }

    fn clock(&self) -> &Clock {
        self.clock()
    }

    fn keys(&self) -> &Keys<Self> {
        &self.shared.keys
    }

    fn key_settings(config: &RetryConfig) -> &KeySettings {
        &config.keyed
    }

    fn member(&self, config: Arc<RetryConfig>, key: Option<Arc<str>>) -> Self {
        let Shared { name, clock, events, .. } = &*self.shared;
        Self::make(Arc::clone(name), config, clock.clone(), events.of_key(key), Keys::Member)
    }

    fn adopt(&self, config: Arc<RetryConfig>) {
        drop(self.put_config(|_| config));
    }

    fn handles(&self) -> usize {
        Arc::strong_count(&self.shared)
    }

    fn is_at_rest(&self, _: u64) -> bool {
        true
    }
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        task::Poll::{self, Ready},
    };

    use super::*;
    use crate::test_support::poll;

    fn retry() -> Retry {
        let config = RetryConfig::builder().wait_duration(Duration::ZERO).build().unwrap();
        Retry::new("payment", config)
    }

    fn fail(retry: &Retry) -> Poll<Result<(), CallError<()>>> {
        poll(pin!(retry.call(|| async { Err(()) })))
    }

    #[test]
    fn an_instance_tells_its_name() {
        assert_eq!(retry().name(), "payment");
    }

    #[test]
    fn a_reload_changes_how_often_calls_are_made_and_how_many_events_are_kept() {
        let retry = retry();
        retry.events().capture(true);
        let config = retry.config().to_builder().max_attempts(5).event_consumer_buffer_size(2);
        retry.reconfigure(config.build().unwrap());
        assert_eq!(fail(&retry), Ready(Err(CallError::Inner(()))));
        assert_eq!(retry.metrics().total_calls, 5);
        assert_eq!(retry.events().recent().len(), 2);
    }

    #[test]
    fn a_blocking_wait_lasts_as_long_as_it_was_told() {
        let (wait, started) = (Duration::from_millis(2), std::time::Instant::now());
        retry().back_off_blocking(wait);
        assert!(started.elapsed() >= wait);
    }

    #[test]
    fn a_reload_can_switch_the_layer_off() {
        let retry = retry();
        retry.reconfigure(retry.config().to_builder().enabled(false).build().unwrap());
        assert_eq!(fail(&retry), Ready(Err(CallError::Inner(()))));
        assert_eq!(retry.metrics().total_calls, 0);
    }
}
