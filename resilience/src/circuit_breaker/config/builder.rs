use std::time::Duration;

use resilience_settings::Value;

use super::{CircuitBreakerConfig, FailureCounting, HalfOpenEvaluation, SlidingWindowType};
use crate::{
    circuit_breaker::State,
    config::{kind_list, typed_config},
    scope::Scope,
};

typed_config! {
    CircuitBreakerConfig, CircuitBreakerConfigBuilder, CircuitBreaker, keyed;
    /// Sets the percentage of failed calls from which the breaker opens: above 0, up to 100; 50 by
    /// default.
    failure_rate_threshold(percent: f64) = Value::Float(percent);
    /// Sets the percentage of slow calls from which the breaker opens: above 0, up to 100; 100 by
    /// default.
    slow_call_rate_threshold(percent: f64) = Value::Float(percent);
    /// Sets the duration beyond which a call is slow; 60 s by default.
    slow_call_duration_threshold(duration: Duration) = Value::Duration(duration);
    /// Sets whether calls are timed, so that slow ones count; on by default. Without, no
    /// call is slow, and a call by [`CircuitBreaker::call`](crate::CircuitBreaker::call) reads no clock while the last
    /// calls all succeeded and nobody listens. In a stack the breaker spares the second of two looks.
    slow_call_rate_enabled(on: bool) = Value::Bool(on);
    /// Sets whether the window holds calls or seconds; calls by default.
    sliding_window_type(kind: SlidingWindowType) = Value::Word(kind.as_str().to_owned());
    /// Sets how many calls or seconds the window holds: 1 to 1,000,000; 100 by default.
    sliding_window_size(size: u32) = Value::Integer(size.into());
    /// Sets how many calls the window must hold before it has rates; 100 by default.
    minimum_number_of_calls(calls: u32) = Value::Integer(calls.into());
    /// Sets how many calls a second are expected, above 0 and up to 1,000,000,000; unset by default.
    ///
    /// It changes nothing but the [report](crate::Resilience::report), which tells where so few calls
    /// can never open the breaker.
    expected_rate(calls_per_second: f64) = Value::Float(calls_per_second);
    /// Sets how many probes a half-open breaker lets through: 1 to 1,000,000; 10 by default.
    permitted_number_of_calls_in_half_open_state(calls: u32) = Value::Integer(calls.into());
    /// Sets how long the breaker stays open, in whole milliseconds; 60 s by default.
    wait_duration_in_open_state(wait: Duration) = Value::Duration(wait);
    /// Sets how long the breaker may stay half-open; below 1 ms, as by default, is without limit.
    max_wait_duration_in_half_open_state(wait: Duration) = Value::Duration(wait);
    /// Sets where a half-open breaker goes when its longest wait is over: OPEN, the default, or
    /// CLOSED.
    transition_to_state_after_wait_duration(state: State) = Value::Word(state.to_string());
    /// Sets the state that the breaker is created in; CLOSED by default.
    initial_state(state: State) = Value::Word(state.to_string());
    /// Sets whether the breaker becomes half-open as soon as the wait is over; by default it does
    /// with the first call after it.
    ///
    /// Listeners hear of it in time where there is a tokio runtime with time enabled; see the
    /// [module](mod@crate::circuit_breaker#changes-that-come-by-themselves).
    automatic_transition_from_open_to_half_open_enabled(on: bool) = Value::Bool(on);
    /// Sets whether the open time grows with every failed recovery; off by default.
    enable_exponential_backoff(on: bool) = Value::Bool(on);
    /// Sets the factor by which the open time grows: above 0; 1.5 by default.
    exponential_backoff_multiplier(multiplier: f64) = Value::Float(multiplier);
    /// Sets what the open time grows to at most, from 1 ms; without limit by default.
    exponential_max_wait_duration_in_open_state(wait: Duration) = Value::Duration(wait);
    /// Sets whether the open time is spread at random; off by default.
    enable_randomized_wait(on: bool) = Value::Bool(on);
    /// Sets by what fraction, up and down, the open time is spread: from 0, below 1; 0.5 by default.
    randomized_wait_factor(factor: f64) = Value::Float(factor);
    /// Sets the error kinds that count as failures; an empty list, the default, is all of them.
    ///
    /// With a list, errors that are not on it count as successes, also those of no known kind.
    record_errors(kinds: impl IntoIterator<Item = impl Into<String>>) = kind_list(kinds);
    /// Sets the error kinds that count neither as failure nor as success; none by default.
    ignore_errors(kinds: impl IntoIterator<Item = impl Into<String>>) = kind_list(kinds);
    /// Sets when a half-open breaker decides; eagerly by default.
    half_open_evaluation(evaluation: HalfOpenEvaluation) =
        Value::Word(evaluation.as_str().to_owned());
    /// Sets the percentage of failed probes from which a half-open breaker reopens: above 0, up to
    /// 100; the failure rate threshold by default.
    half_open_failure_rate_threshold(percent: f64) = Value::Float(percent);
    /// Sets how many successes in a row close a half-open breaker: 1 to the number of permitted
    /// probes; by default there is no such rule.
    half_open_success_threshold(successes: u32) = Value::Integer(successes.into());
    /// Sets whether rates or failures in a row open the breaker; rates by default.
    failure_counting(counting: FailureCounting) = Value::Word(counting.as_str().to_owned());
    /// Sets how many failures in a row open the breaker, whatever their kind; 5 by default.
    consecutive_failures(failures: u32) = Value::Integer(failures.into());
    /// Sets after what time a half-open probe that has not returned loses its slot, from 1 ms; 60 s
    /// by default. Its result still counts.
    probe_lease(lease: Duration) = Value::Duration(lease);
    /// Sets the longest time for which an error may ask the breaker to open, from 1 ms; 10 min by
    /// default.
    open_for_max(max: Duration) = Value::Duration(max);
    /// Sets whose the state is; [`Scope::Local`] by default. See
    /// [the module](mod@crate::circuit_breaker#one-state-in-many-processes) for what a global one costs.
    scope(scope: Scope) = Value::Word(scope.as_str().to_owned());
    /// Sets how many processes must see too many failures, or slow calls, before a global breaker
    /// opens in all: 1 to 100,000; 2 by default.
    min_nodes(nodes: u32) = Value::Integer(nodes.into());
    /// Sets how often a process speaks with the store about a global breaker: 50 ms to 1 min; 1 s by
    /// default.
    sync_interval(interval: Duration) = Value::Duration(interval);
    /// Sets whether the health of the process shows the instance; it does not by default.
    register_health_indicator(on: bool) = Value::Bool(on);
    /// Sets whether the instance may turn the health of the process to DOWN; it may not by default.
    allow_health_indicator_to_fail(on: bool) = Value::Bool(on);
}

impl CircuitBreakerConfigBuilder {
    /// Sets how many failures in a row open the breaker for each error kind.
    ///
    /// The entry `default` is for all kinds that are not listed; without it they share 5.
    pub fn consecutive_failures_by_kind<K: Into<String>>(
        mut self,
        limits: impl IntoIterator<Item = (K, u32)>,
    ) -> Self {
        let limits = limits.into_iter().map(|(kind, limit)| (kind.into(), limit)).collect();
        self.draft.set("consecutive_failures", Value::Counts(limits));
        self
    }
}
