//! The checked settings of a circuit breaker.

mod builder;
mod words;

use std::{sync::Arc, time::Duration};

use resilience_settings::Value;

pub use builder::CircuitBreakerConfigBuilder;
pub use words::{FailureCounting, HalfOpenEvaluation, SlidingWindowType};

use super::{Answers, Outcome, State, open_wait::OpenWait, window::Shape};
use crate::{
    Error, Facts,
    clock::saturating_nanos,
    config::{Problem, Settings, contradictions},
    keyed::KeySettings,
    kind::is_listed,
    scope::Scope,
};

/// The checked settings of a [`CircuitBreaker`](super::CircuitBreaker).
///
/// | setting | default | range |
/// |---|---|---|
/// | `failure_rate_threshold` | 50 % | above 0, up to 100 |
/// | `slow_call_rate_threshold` | 100 % | above 0, up to 100 |
/// | `slow_call_duration_threshold` | 60 s | from 1 ns |
/// | `slow_call_rate_enabled` | true | |
/// | `sliding_window_type` | `COUNT_BASED` | or `TIME_BASED` |
/// | `sliding_window_size` | 100 calls or seconds | 1 to 1,000,000 |
/// | `minimum_number_of_calls` | 100 | from 1; at most the size of a count window counts |
/// | `expected_rate` | unset | above 0, up to 1,000,000,000 calls a second |
/// | `permitted_number_of_calls_in_half_open_state` | 10 | 1 to 1,000,000 |
/// | `wait_duration_in_open_state` | 60 s | from 1 ms, whole milliseconds count |
/// | `max_wait_duration_in_half_open_state` | 0: no limit | below 1 ms is no limit |
/// | `transition_to_state_after_wait_duration` | `OPEN` | or `CLOSED` |
/// | `initial_state` | `CLOSED` | any |
/// | `automatic_transition_from_open_to_half_open_enabled` | false | |
/// | `enable_exponential_backoff` | false | not together with a random wait |
/// | `exponential_backoff_multiplier` | 1.5 | above 0 |
/// | `exponential_max_wait_duration_in_open_state` | no cap | from 1 ms |
/// | `enable_randomized_wait` | false | not together with an exponential wait |
/// | `randomized_wait_factor` | 0.5 | from 0, below 1 |
/// | `record_errors` | all | error kinds |
/// | `ignore_errors` | none | error kinds |
/// | `half_open_evaluation` | `eager` | or `conclusive` |
/// | `half_open_failure_rate_threshold` | `failure_rate_threshold` | above 0, up to 100 |
/// | `half_open_success_threshold` | unset | 1 to the number of permitted probes |
/// | `failure_counting` | `rate` | or `consecutive` |
/// | `consecutive_failures` | 5 | from 1, also per error kind |
/// | `probe_lease` | 60 s | from 1 ms |
/// | `open_for_max` | 10 min | from 1 ms |
/// | `scope` | `local` | or `global`, with rates only |
/// | `min_nodes` | 2 | 1 to 100,000 |
/// | `sync_interval` | 1 s | 50 ms to 1 min; at most the window |
/// | `register_health_indicator` | false | |
/// | `allow_health_indicator_to_fail` | false | |
/// | `max_keys` | 10,000 | 1 to 1,000,000 |
/// | `key_idle_timeout` | 10 min | from 1 ms |
/// | `metric_keys` | none | at most 100 |
/// | `event_consumer_buffer_size` | 100 | 1 to 100,000 |
/// | `enabled` | true | |
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use resilience::CircuitBreakerConfig;
///
/// let config = CircuitBreakerConfig::builder()
///     .failure_rate_threshold(25.0)
///     .sliding_window_size(20)
///     .wait_duration_in_open_state(Duration::from_secs(5))
///     .build()?;
/// assert_eq!(config.sliding_window_size(), 20);
/// # Ok::<(), resilience::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own")]
pub struct CircuitBreakerConfig {
    failure_rate_threshold: f32,
    slow_call_rate_threshold: f32,
    slow_call_nanos: u64,
    slow_call_rate_enabled: bool,
    sliding_window_type: SlidingWindowType,
    sliding_window_size: u32,
    minimum_number_of_calls: u32,
    expected_rate: Option<f64>,
    permitted_number_of_calls_in_half_open_state: u32,
    wait_duration_in_open_state: Duration,
    max_wait_duration_in_half_open_state: Duration,
    transition_to_state_after_wait_duration: State,
    initial_state: State,
    automatic_transition_from_open_to_half_open_enabled: bool,
    enable_exponential_backoff: bool,
    exponential_backoff_multiplier: f64,
    exponential_max_wait_duration_in_open_state: Option<Duration>,
    enable_randomized_wait: bool,
    randomized_wait_factor: f64,
    /// What the settings of the wait come to.
    pub(super) open_wait: OpenWait,
    record_errors: Arc<[String]>,
    ignore_errors: Arc<[String]>,
    half_open_evaluation: HalfOpenEvaluation,
    half_open_failure_rate_threshold: Option<f32>,
    half_open_success_threshold: Option<u32>,
    failure_counting: FailureCounting,
    pub(super) failure_streaks: FailureStreaks,
    probe_lease: Duration,
    open_for_max: Duration,
    scope: Scope,
    min_nodes: u32,
    sync_interval: Duration,
    register_health_indicator: bool,
    allow_health_indicator_to_fail: bool,
    pub(crate) keyed: KeySettings,
    event_consumer_buffer_size: u32,
    enabled: bool,
}

/// How many failures in a row open the breaker.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FailureStreaks {
    pub(super) of_kinds: Arc<[(Box<str>, u32)]>,
    /// For failures of no listed kind.
    pub(super) others: u32,
}

/// The entry of `consecutive_failures` that stands for every kind without one.
const OTHER_KINDS: &str = "default";

/// What a mapping of `consecutive_failures` without [`OTHER_KINDS`] leaves those at.
const DEFAULT_CONSECUTIVE_FAILURES: u32 = 5;

impl CircuitBreakerConfig {
    /// Starts from these settings.
    pub fn to_builder(&self) -> CircuitBreakerConfigBuilder {
        let mut builder = Self::builder()
            .failure_rate_threshold(self.failure_rate_threshold.into())
            .slow_call_rate_threshold(self.slow_call_rate_threshold.into())
            .slow_call_duration_threshold(self.slow_call_duration_threshold())
            .slow_call_rate_enabled(self.slow_call_rate_enabled)
            .sliding_window_type(self.sliding_window_type)
            .sliding_window_size(self.sliding_window_size)
            .minimum_number_of_calls(self.minimum_number_of_calls)
            .permitted_number_of_calls_in_half_open_state(
                self.permitted_number_of_calls_in_half_open_state,
            )
            .wait_duration_in_open_state(self.wait_duration_in_open_state)
            .max_wait_duration_in_half_open_state(self.max_wait_duration_in_half_open_state)
            .transition_to_state_after_wait_duration(self.transition_to_state_after_wait_duration)
            .initial_state(self.initial_state)
            .automatic_transition_from_open_to_half_open_enabled(
                self.automatic_transition_from_open_to_half_open_enabled,
            )
            .enable_exponential_backoff(self.enable_exponential_backoff)
            .exponential_backoff_multiplier(self.exponential_backoff_multiplier)
            .enable_randomized_wait(self.enable_randomized_wait)
            .randomized_wait_factor(self.randomized_wait_factor)
            .record_errors(&*self.record_errors)
            .ignore_errors(&*self.ignore_errors)
            .half_open_evaluation(self.half_open_evaluation)
            .failure_counting(self.failure_counting)
            .probe_lease(self.probe_lease)
            .open_for_max(self.open_for_max)
            .scope(self.scope)
            .min_nodes(self.min_nodes)
            .sync_interval(self.sync_interval)
            .register_health_indicator(self.register_health_indicator)
            .allow_health_indicator_to_fail(self.allow_health_indicator_to_fail)
            .keyed(&self.keyed)
            .event_consumer_buffer_size(self.event_consumer_buffer_size)
            .enabled(self.enabled);
        if let Some(max) = self.exponential_max_wait_duration_in_open_state {
            builder = builder.exponential_max_wait_duration_in_open_state(max);
        }
        if let Some(rate) = self.expected_rate {
            builder = builder.expected_rate(rate);
        }
        if let Some(percent) = self.half_open_failure_rate_threshold {
            builder = builder.half_open_failure_rate_threshold(percent.into());
        }
        if let Some(successes) = self.half_open_success_threshold {
            builder = builder.half_open_success_threshold(successes);
        }
        let FailureStreaks { of_kinds, others } = &self.failure_streaks;
        if of_kinds.is_empty() {
            return builder.consecutive_failures(*others);
        }
        let of_kinds = of_kinds.iter().map(|(kind, limit)| (&**kind, *limit));
        builder.consecutive_failures_by_kind(of_kinds.chain([(OTHER_KINDS, *others)]))
    }

    /// Checks what no single key can: that the values fit together.
    pub(crate) fn from_settings(settings: &Settings) -> Result<Self, Vec<Problem>> {
        let problems = contradictions(settings);
        if !problems.is_empty() {
            return Err(problems);
        }
        let threshold = |key| percent(settings, key).expect("the key table gives it a default");
        let exponential = settings.bool("enable_exponential_backoff");
        let randomized = settings.bool("enable_randomized_wait");
        let sliding_window_type = SlidingWindowType::of(settings.word("sliding_window_type"));
        let sliding_window_size = settings.u32("sliding_window_size");
        let wait_duration_in_open_state = settings.duration("wait_duration_in_open_state");
        let exponential_backoff_multiplier = float(settings, "exponential_backoff_multiplier");
        let exponential_max_wait_duration_in_open_state =
            settings.optional_duration("exponential_max_wait_duration_in_open_state");
        let randomized_wait_factor = float(settings, "randomized_wait_factor");
        let wait = millis(wait_duration_in_open_state);
        let open_wait = if exponential {
            OpenWait::Exponential {
                initial: wait,
                multiplier: exponential_backoff_multiplier,
                max: exponential_max_wait_duration_in_open_state.map_or(u64::MAX, millis),
            }
        } else if randomized {
            OpenWait::Randomized { wait, factor: randomized_wait_factor }
        } else {
            OpenWait::Fixed { wait }
        };
        Ok(Self {
            failure_rate_threshold: threshold("failure_rate_threshold"),
            slow_call_rate_threshold: threshold("slow_call_rate_threshold"),
            slow_call_nanos: saturating_nanos(settings.duration("slow_call_duration_threshold")),
            slow_call_rate_enabled: settings.bool("slow_call_rate_enabled"),
            sliding_window_type,
            sliding_window_size,
            minimum_number_of_calls: settings.u32("minimum_number_of_calls"),
            expected_rate: settings.float("expected_rate"),
            permitted_number_of_calls_in_half_open_state: settings
                .u32("permitted_number_of_calls_in_half_open_state"),
            wait_duration_in_open_state,
            max_wait_duration_in_half_open_state: settings
                .duration("max_wait_duration_in_half_open_state"),
            transition_to_state_after_wait_duration: state(
                settings,
                "transition_to_state_after_wait_duration",
            ),
            initial_state: state(settings, "initial_state"),
            automatic_transition_from_open_to_half_open_enabled: settings
                .bool("automatic_transition_from_open_to_half_open_enabled"),
            enable_exponential_backoff: exponential,
            exponential_backoff_multiplier,
            exponential_max_wait_duration_in_open_state,
            enable_randomized_wait: randomized,
            randomized_wait_factor,
            open_wait,
            record_errors: Arc::clone(settings.kinds("record_errors")),
            ignore_errors: Arc::clone(settings.kinds("ignore_errors")),
            half_open_evaluation: HalfOpenEvaluation::of(settings.word("half_open_evaluation")),
            half_open_failure_rate_threshold: percent(settings, "half_open_failure_rate_threshold"),
            half_open_success_threshold: optional_u32(settings, "half_open_success_threshold"),
            failure_counting: FailureCounting::of(settings.word("failure_counting")),
            failure_streaks: failure_streaks(settings),
            probe_lease: settings.duration("probe_lease"),
            open_for_max: settings.duration("open_for_max"),
            scope: Scope::of(settings.word("scope")),
            min_nodes: settings.u32("min_nodes"),
            sync_interval: settings.duration("sync_interval"),
            register_health_indicator: settings.bool("register_health_indicator"),
            allow_health_indicator_to_fail: settings.bool("allow_health_indicator_to_fail"),
            keyed: KeySettings::from_settings(settings),
            event_consumer_buffer_size: settings.u32("event_consumer_buffer_size"),
            enabled: settings.bool("enabled"),
        })
    }
}

/// What each setting is.
impl CircuitBreakerConfig {
    /// Returns the percentage of failed calls from which the breaker opens.
    pub fn failure_rate_threshold(&self) -> f32 {
        self.failure_rate_threshold
    }

    /// Returns the percentage of slow calls from which the breaker opens.
    pub fn slow_call_rate_threshold(&self) -> f32 {
        self.slow_call_rate_threshold
    }

    /// Returns the duration beyond which a call is slow.
    pub fn slow_call_duration_threshold(&self) -> Duration {
        Duration::from_nanos(self.slow_call_nanos)
    }

    /// Returns whether calls are timed, so that slow ones count.
    pub fn slow_call_rate_enabled(&self) -> bool {
        self.slow_call_rate_enabled
    }

    /// Whether anybody asks how long calls take.
    pub(super) fn is_timed(&self) -> bool {
        self.slow_beyond() != u64::MAX
    }

    /// Beyond how many nanoseconds a call counts as slow; never without the rule.
    pub(super) fn slow_beyond(&self) -> u64 {
        if self.slow_call_rate_enabled { self.slow_call_nanos } else { u64::MAX }
    }

    /// Returns whether the window holds calls or seconds.
    pub fn sliding_window_type(&self) -> SlidingWindowType {
        self.sliding_window_type
    }

    /// Returns how many calls or seconds the window holds.
    pub fn sliding_window_size(&self) -> u32 {
        self.sliding_window_size
    }

    /// Returns how many calls the window must hold before it has rates.
    ///
    /// A count window never needs more than it can hold, and probes never more than are permitted.
    pub fn minimum_number_of_calls(&self) -> u32 {
        self.minimum_number_of_calls
    }

    /// Returns how many calls a second are expected, if somebody said so.
    pub fn expected_rate(&self) -> Option<f64> {
        self.expected_rate
    }

    /// Returns how many probes a half-open breaker lets through.
    pub fn permitted_number_of_calls_in_half_open_state(&self) -> u32 {
        self.permitted_number_of_calls_in_half_open_state
    }

    /// Returns how long the breaker stays open, before growth or jitter.
    pub fn wait_duration_in_open_state(&self) -> Duration {
        self.wait_duration_in_open_state
    }

    /// Returns how long the breaker may stay half-open; below a millisecond is without limit.
    pub fn max_wait_duration_in_half_open_state(&self) -> Duration {
        self.max_wait_duration_in_half_open_state
    }

    /// Returns where a half-open breaker goes when its longest wait is over.
    pub fn transition_to_state_after_wait_duration(&self) -> State {
        self.transition_to_state_after_wait_duration
    }

    /// Returns the state that the breaker is created in.
    pub fn initial_state(&self) -> State {
        self.initial_state
    }

    /// Returns whether the breaker becomes half-open as soon as the wait is over.
    pub fn automatic_transition_from_open_to_half_open_enabled(&self) -> bool {
        self.automatic_transition_from_open_to_half_open_enabled
    }

    /// Returns whether the open time grows with every failed recovery.
    pub fn enable_exponential_backoff(&self) -> bool {
        self.enable_exponential_backoff
    }

    /// Returns the factor by which the open time grows.
    pub fn exponential_backoff_multiplier(&self) -> f64 {
        self.exponential_backoff_multiplier
    }

    /// Returns what the open time grows to at most; `None` is without limit.
    pub fn exponential_max_wait_duration_in_open_state(&self) -> Option<Duration> {
        self.exponential_max_wait_duration_in_open_state
    }

    /// Returns whether the open time is spread at random.
    pub fn enable_randomized_wait(&self) -> bool {
        self.enable_randomized_wait
    }

    /// Returns by what fraction, up and down, the open time is spread.
    pub fn randomized_wait_factor(&self) -> f64 {
        self.randomized_wait_factor
    }

    /// Returns the error kinds that count as failures; none listed is all of them.
    pub fn record_errors(&self) -> &[String] {
        &self.record_errors
    }

    /// Returns the error kinds that count neither as failure nor as success.
    pub fn ignore_errors(&self) -> &[String] {
        &self.ignore_errors
    }

    /// Returns when a half-open breaker decides.
    pub fn half_open_evaluation(&self) -> HalfOpenEvaluation {
        self.half_open_evaluation
    }

    /// Returns the percentage of failed probes from which a half-open breaker reopens.
    pub fn half_open_failure_rate_threshold(&self) -> f32 {
        self.half_open_failure_rate_threshold.unwrap_or(self.failure_rate_threshold)
    }

    /// Returns how many successes in a row close a half-open breaker, if that rule is set.
    ///
    /// Under [`FailureCounting::Consecutive`] without half-open rules of its own it is 1.
    pub fn half_open_success_threshold(&self) -> Option<u32> {
        self.half_open_success_threshold.or(self.half_open_counts_in_a_row().then_some(1))
    }

    /// Returns whether rates or failures in a row open the breaker.
    pub fn failure_counting(&self) -> FailureCounting {
        self.failure_counting
    }

    /// Returns how many failures in a row open the breaker, for kinds without a number of their
    /// own.
    pub fn consecutive_failures(&self) -> u32 {
        self.failure_streaks.others
    }

    /// Returns how many failures of this kind in a row open the breaker.
    pub fn consecutive_failures_of(&self, kind: &str) -> u32 {
        let listed = self.failure_streaks.of_kinds.iter().find(|(name, _)| **name == *kind);
        listed.map_or(self.failure_streaks.others, |(_, limit)| *limit)
    }

    /// Returns after what time a half-open probe that has not returned loses its slot.
    pub fn probe_lease(&self) -> Duration {
        self.probe_lease
    }

    /// Returns the longest time for which an error may ask the breaker to open.
    pub fn open_for_max(&self) -> Duration {
        self.open_for_max
    }

    /// Returns whose the state is.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns how many processes must see too many failures before a global breaker opens in all.
    pub fn min_nodes(&self) -> u32 {
        self.min_nodes
    }

    /// Returns how often a process speaks with the store about a global breaker.
    pub fn sync_interval(&self) -> Duration {
        self.sync_interval
    }

    /// Returns whether the health of the process shows the instance.
    pub fn register_health_indicator(&self) -> bool {
        self.register_health_indicator
    }

    /// Returns whether the instance may turn the health of the process to DOWN.
    pub fn allow_health_indicator_to_fail(&self) -> bool {
        self.allow_health_indicator_to_fail
    }
}

/// What follows from the settings.
impl CircuitBreakerConfig {
    /// How an error counts, by Resilience4j's rule: ignored wins; then what a list or a rule
    /// records is a failure, which is everything where there is neither, and the rest a success.
    ///
    /// A timeout of ours, also of a nested call, is a failure always.
    pub(crate) fn classify(&self, facts: &Facts<'_>, rules: Answers) -> Outcome {
        let listed = |list: &[String]| is_listed(list, facts.kinds, facts.refusal.as_deref());
        let all = self.record_errors.is_empty() && rules.recorded.is_none();
        if let Some(Error::TimedOut(_)) = facts.refusal.as_deref() {
            Outcome::Failure
        } else if rules.ignored || listed(&self.ignore_errors) {
            Outcome::Ignored
        } else if all || rules.recorded == Some(true) || listed(&self.record_errors) {
            Outcome::Failure
        } else {
            Outcome::Success
        }
    }

    /// The window of every state but `HALF_OPEN`.
    pub(super) fn window(&self) -> Shape {
        match self.sliding_window_type {
            SlidingWindowType::CountBased => Shape::Calls(self.sliding_window_size),
            SlidingWindowType::TimeBased => Shape::Seconds(self.sliding_window_size),
        }
    }

    /// The kinds that open the breaker after numbers of failures of their own.
    #[cfg(feature = "cli")]
    pub(crate) fn consecutive_failures_by_kind(&self) -> impl Iterator<Item = (&str, u32)> {
        self.failure_streaks.of_kinds.iter().map(|(kind, limit)| (&**kind, *limit))
    }

    /// How long the given opening in a row, counted from 1, lasts at a place in its range.
    #[cfg(feature = "cli")]
    pub(crate) fn open_time(&self, opening: u32, random: f64) -> Duration {
        Duration::from_nanos(self.open_wait.nanos_at(opening, || random))
    }

    /// From how many calls on the window of every state but `HALF_OPEN` has rates.
    pub(crate) fn window_minimum(&self) -> u32 {
        match self.sliding_window_type {
            SlidingWindowType::CountBased => {
                self.minimum_number_of_calls.min(self.sliding_window_size)
            }
            SlidingWindowType::TimeBased => self.minimum_number_of_calls,
        }
    }

    /// From how many probes on a half-open breaker has rates.
    pub(crate) fn half_open_minimum(&self) -> u32 {
        match self.half_open_evaluation {
            HalfOpenEvaluation::Eager => {
                self.minimum_number_of_calls.min(self.permitted_number_of_calls_in_half_open_state)
            }
            HalfOpenEvaluation::Conclusive => 1,
        }
    }

    /// Whether a half-open breaker goes by the last probes in a row instead of rates: it does if
    /// the closed one does, unless it was given a rate of its own.
    pub(crate) fn half_open_counts_in_a_row(&self) -> bool {
        self.failure_counting == FailureCounting::Consecutive
            && self.half_open_failure_rate_threshold.is_none()
    }

    /// Resilience4j counts whole milliseconds of this wait, so less than one is none.
    pub(super) fn max_half_open_nanos(&self) -> Option<u64> {
        let wait = self.max_wait_duration_in_half_open_state;
        (wait >= Duration::from_millis(1)).then(|| saturating_nanos(wait))
    }
}

fn optional_u32(settings: &Settings, key: &str) -> Option<u32> {
    settings.integer(key).map(|n| u32::try_from(n).unwrap_or(u32::MAX))
}

/// A threshold in the precision that rates are computed in.
#[allow(clippy::cast_possible_truncation)] // from 0 to 100: only precision is lost
fn percent(settings: &Settings, key: &str) -> Option<f32> {
    settings.float(key).map(|threshold| threshold as f32)
}

fn state(settings: &Settings, key: &str) -> State {
    settings.word(key).parse().expect("the key table lists names of states only")
}

fn float(settings: &Settings, key: &str) -> f64 {
    settings.float(key).expect("the key table gives it a default")
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn failure_streaks(settings: &Settings) -> FailureStreaks {
    match settings.get("consecutive_failures") {
        Some(Value::Counts(counts)) => FailureStreaks {
            of_kinds: counts
                .iter()
                .filter(|(kind, _)| kind != OTHER_KINDS)
                .map(|(kind, limit)| (kind.as_str().into(), *limit))
                .collect(),
            others: counts
                .iter()
                .find(|(kind, _)| kind == OTHER_KINDS)
                .map_or(DEFAULT_CONSECUTIVE_FAILURES, |(_, limit)| *limit),
        },
        _ => FailureStreaks {
            of_kinds: Arc::new([]),
            others: optional_u32(settings, "consecutive_failures")
                .unwrap_or(DEFAULT_CONSECUTIVE_FAILURES),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(builder: CircuitBreakerConfigBuilder) -> String {
        builder.build().unwrap_err().to_string()
    }

    #[test]
    fn the_defaults_are_those_of_resilience4j() {
        let config = CircuitBreakerConfig::default();
        assert_eq!(config, CircuitBreakerConfig::builder().build().unwrap());
        assert!((config.failure_rate_threshold() - 50.0).abs() < f32::EPSILON);
        assert_eq!(config.window(), Shape::Calls(100));
        assert_eq!(config.minimum_number_of_calls(), 100);
        assert_eq!(config.permitted_number_of_calls_in_half_open_state(), 10);
        assert_eq!(config.open_wait, OpenWait::Fixed { wait: 60_000 });
        assert_eq!(config.max_half_open_nanos(), None);
    }

    /// Every setting is another than its default.
    fn unusual() -> CircuitBreakerConfigBuilder {
        CircuitBreakerConfig::builder()
            .failure_rate_threshold(33.3)
            .slow_call_rate_threshold(66.6)
            .slow_call_duration_threshold(Duration::from_millis(2))
            .slow_call_rate_enabled(false)
            .sliding_window_type(SlidingWindowType::TimeBased)
            .sliding_window_size(3)
            .minimum_number_of_calls(4)
            .expected_rate(0.5)
            .permitted_number_of_calls_in_half_open_state(5)
            .wait_duration_in_open_state(Duration::from_millis(6))
            .max_wait_duration_in_half_open_state(Duration::from_millis(7))
            .transition_to_state_after_wait_duration(State::Closed)
            .initial_state(State::MetricsOnly)
            .automatic_transition_from_open_to_half_open_enabled(true)
            .exponential_backoff_multiplier(3.0)
            .exponential_max_wait_duration_in_open_state(Duration::from_secs(8))
            .enable_randomized_wait(true)
            .randomized_wait_factor(0.25)
            .record_errors(["io"])
            .ignore_errors(["timeout"])
            .half_open_evaluation(HalfOpenEvaluation::Conclusive)
            .half_open_failure_rate_threshold(12.5)
            .half_open_success_threshold(2)
            .failure_counting(FailureCounting::Consecutive)
            .consecutive_failures_by_kind([("io", 2), ("default", 7)])
            .probe_lease(Duration::from_secs(9))
            .open_for_max(Duration::from_secs(10))
            .register_health_indicator(true)
            .allow_health_indicator_to_fail(true)
            .max_keys(12)
            .key_idle_timeout(Duration::from_secs(13))
            .metric_keys(["a", "b"])
            .event_consumer_buffer_size(11)
            .enabled(false)
    }

    #[test]
    fn a_configuration_survives_the_way_through_its_builder() {
        for builder in [CircuitBreakerConfig::builder(), unusual()] {
            let config = builder.build().unwrap();
            assert_eq!(config.to_builder().build().unwrap(), config);
        }
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "nothing is computed")]
    fn every_setting_is_read_as_it_was_set() {
        let config = unusual().build().unwrap();
        let percents = [
            config.failure_rate_threshold(),
            config.slow_call_rate_threshold(),
            config.half_open_failure_rate_threshold(),
        ];
        assert_eq!(percents, [33.3, 66.6, 12.5]);
        assert_eq!(config.slow_call_duration_threshold(), Duration::from_millis(2));
        assert!(!config.slow_call_rate_enabled());
        assert_eq!(config.sliding_window_type(), SlidingWindowType::TimeBased);
        assert_eq!(config.sliding_window_size(), 3);
        assert_eq!(config.minimum_number_of_calls(), 4);
        assert_eq!(config.expected_rate(), Some(0.5));
        assert_eq!(config.permitted_number_of_calls_in_half_open_state(), 5);
        assert_eq!(config.wait_duration_in_open_state(), Duration::from_millis(6));
        assert_eq!(config.max_wait_duration_in_half_open_state(), Duration::from_millis(7));
        assert_eq!(config.transition_to_state_after_wait_duration(), State::Closed);
        assert_eq!(config.initial_state(), State::MetricsOnly);
        assert!(config.automatic_transition_from_open_to_half_open_enabled());
        assert!(!config.enable_exponential_backoff());
        let factors = [config.exponential_backoff_multiplier(), config.randomized_wait_factor()];
        assert_eq!(factors, [3.0, 0.25]);
        let max = config.exponential_max_wait_duration_in_open_state();
        assert_eq!(max, Some(Duration::from_secs(8)));
        assert!(config.enable_randomized_wait());
        assert_eq!(config.record_errors(), ["io"]);
        assert_eq!(config.ignore_errors(), ["timeout"]);
        assert_eq!(config.half_open_evaluation(), HalfOpenEvaluation::Conclusive);
        assert_eq!(config.half_open_success_threshold(), Some(2));
        assert_eq!(config.failure_counting(), FailureCounting::Consecutive);
        assert_eq!(config.consecutive_failures(), 7);
        assert_eq!(config.consecutive_failures_of("io"), 2);
        assert_eq!(config.probe_lease(), Duration::from_secs(9));
        assert_eq!(config.open_for_max(), Duration::from_secs(10));
        assert_eq!(config.event_consumer_buffer_size(), 11);
        assert!(config.register_health_indicator());
        assert!(config.allow_health_indicator_to_fail());
        assert!(!config.is_enabled());
        let growing = CircuitBreakerConfig::builder().enable_exponential_backoff(true);
        let growing = growing.build().unwrap();
        assert!(growing.enable_exponential_backoff() && !growing.enable_randomized_wait());
    }

    #[test]
    fn c06_a_count_window_caps_the_minimum_and_a_time_window_does_not() {
        let builder = CircuitBreakerConfig::builder().sliding_window_size(5);
        let time = builder.clone().sliding_window_type(SlidingWindowType::TimeBased);
        let builder = builder.minimum_number_of_calls(10);
        assert_eq!(builder.build().unwrap().window_minimum(), 5);
        let time = time.minimum_number_of_calls(10);
        assert_eq!(time.build().unwrap().window_minimum(), 10);
    }

    #[test]
    fn a_value_out_of_range_is_refused_with_key_value_and_range() {
        assert_eq!(
            refusal(CircuitBreakerConfig::builder().failure_rate_threshold(101.0)),
            "failure_rate_threshold = 101: expected a number above 0 and up to 100"
        );
        assert_eq!(
            refusal(
                CircuitBreakerConfig::builder()
                    .transition_to_state_after_wait_duration(State::Disabled)
            ),
            "transition_to_state_after_wait_duration = DISABLED: expected one of OPEN, CLOSED"
        );
    }

    #[test]
    fn a_threshold_that_is_zero_in_single_precision_is_refused() {
        let refusal = refusal(CircuitBreakerConfig::builder().failure_rate_threshold(1e-60));
        assert!(refusal.contains("too close to 0"), "{refusal}");
    }

    #[test]
    fn exponential_and_random_waits_together_are_refused() {
        let builder = CircuitBreakerConfig::builder()
            .enable_exponential_backoff(true)
            .enable_randomized_wait(true);
        assert_eq!(
            refusal(builder),
            "enable_randomized_wait = true: \
             cannot be combined with enable_exponential_backoff; keep one of the two"
        );
    }

    #[test]
    fn more_successes_than_probes_are_refused() {
        let builder = CircuitBreakerConfig::builder()
            .permitted_number_of_calls_in_half_open_state(2)
            .half_open_success_threshold(3);
        assert!(refusal(builder).starts_with("half_open_success_threshold = 3: expected at most"));
    }

    #[test]
    fn a_global_breaker_goes_by_rates_only() {
        let builder = CircuitBreakerConfig::builder()
            .failure_counting(FailureCounting::Consecutive)
            .half_open_success_threshold(1);
        assert!(builder.clone().build().is_ok());
        let refusal = refusal(builder.scope(Scope::Global));
        for wrong in ["failure_counting = consecutive", "half_open_success_threshold = 1"] {
            assert!(refusal.contains(wrong), "{refusal}");
        }
    }

    #[test]
    fn a_global_breaker_speaks_with_the_store_at_least_once_in_its_window() {
        let global = CircuitBreakerConfig::builder().scope(Scope::Global);
        for millis in [49, 60_001] {
            let interval = Duration::from_millis(millis);
            let refusal = refusal(global.clone().sync_interval(interval));
            assert!(refusal.contains("expected 50ms to 1m"), "{refusal}");
            assert!(CircuitBreakerConfig::builder().sync_interval(interval).build().is_ok());
        }
        let seconds = global.sliding_window_type(SlidingWindowType::TimeBased);
        let seconds = seconds.sliding_window_size(5);
        assert!(seconds.clone().sync_interval(Duration::from_secs(5)).build().is_ok());
        let refusal = refusal(seconds.sync_interval(Duration::from_secs(6)));
        assert!(refusal.contains("sync_interval = 6s: expected at most the sliding window"));
    }

    #[test]
    fn the_ignore_list_wins_and_a_record_list_makes_the_rest_a_success() {
        let config = CircuitBreakerConfig::builder()
            .record_errors(["io", "both"])
            .ignore_errors(["both"])
            .build()
            .unwrap();
        let outcome = |config: &CircuitBreakerConfig, kinds| {
            config.classify(&Facts { kinds, refusal: None }, Answers::default())
        };
        assert_eq!(outcome(&config, &["connect", "io"]), Outcome::Failure);
        assert_eq!(outcome(&config, &["both"]), Outcome::Ignored);
        assert_eq!(outcome(&config, &["other"]), Outcome::Success);
        assert_eq!(outcome(&CircuitBreakerConfig::default(), &[]), Outcome::Failure);
    }

    #[test]
    fn kinds_without_a_number_of_their_own_share_the_default_entry() {
        let config = CircuitBreakerConfig::builder()
            .consecutive_failures_by_kind([("timeout", 2), ("default", 7)])
            .build()
            .unwrap();
        assert_eq!(config.consecutive_failures_of("timeout"), 2);
        assert_eq!(config.consecutive_failures_of("io"), 7);
    }
}
