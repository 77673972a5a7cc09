use serde::Serialize;

use crate::{
    Bulkhead, CircuitBreaker, RateLimiter, Resilience, Retry, ThreadPoolBulkhead, TimeLimiter,
    actuator::time::{millis, rfc3339_of_nanos},
    circuit_breaker::{
        CircuitBreakerConfig, CircuitBreakerEvent, CircuitBreakerEventKind, Observation,
        SlidingWindowType,
    },
    rate_limiter::Scope,
};

/// What is shown of an instance: nothing that changes with time alone, so that nothing is sent of one
/// that is idle.
pub(super) trait View: PartialEq {
    fn name(&self) -> &str;
}

macro_rules! views {
    ($($view:ident { $($field:ident: $type:ty,)* })*) => {
        $(
            #[derive(Debug, PartialEq, Serialize)]
            #[serde(rename_all = "camelCase")]
            pub(super) struct $view {
                name: String,
                enabled: bool,
                $($field: $type,)*
            }

            impl View for $view {
                fn name(&self) -> &str {
                    &self.name
                }
            }
        )*
    };
}

views! {
    CircuitBreakerView {
        state: &'static str,
        failure_rate: f32,
        slow_call_rate: f32,
        failure_rate_threshold: f32,
        slow_call_rate_threshold: f32,
        buffered_calls: u64,
        max_buffered_calls: u32,
        minimum_number_of_calls: u32,
        failed_calls: u64,
        slow_calls: u64,
        slow_failed_calls: u64,
        not_permitted_calls: u64,
        window_type: &'static str,
        permitted_calls_in_half_open: u32,
        since: String,
        open_until: Option<String>,
        shared: bool,
        totals: Totals,
    }
    RetryView {
        max_attempts: u32,
        successful_without_retry: u64,
        successful_with_retry: u64,
        failed_without_retry: u64,
        failed_with_retry: u64,
        total_calls: u64,
    }
    RateLimiterView {
        scope: &'static str,
        available_permissions: i64,
        limit_for_period: u32,
        limit_refresh_period_ms: f64,
        waiting: u64,
        permitted: u64,
        refused: u64,
    }
    TimeLimiterView {
        timeout_ms: f64,
        successful: u64,
        failed: u64,
        timeout: u64,
    }
    BulkheadView {
        available_concurrent_calls: u64,
        max_concurrent_calls: u64,
        waiting: u64,
        permitted: u64,
        rejected: u64,
    }
    ThreadPoolBulkheadView {
        thread_pool_size: u64,
        max_thread_pool_size: u64,
        queue_depth: u64,
        queue_capacity: u64,
        active_threads: u64,
        permitted: u64,
        rejected: u64,
    }
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Totals {
    successful: u64,
    failed: u64,
    ignored: u64,
    not_permitted: u64,
    cancelled: u64,
    transitions: u64,
}

/// The store that instances share something by.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct StoreView {
    /// Whether it is away, so that limits follow their `on_store_failure`.
    degraded: bool,
}

impl StoreView {
    #[cfg(feature = "redis")]
    pub(super) fn of(registry: &Resilience) -> Option<Self> {
        Some(Self { degraded: registry.store()?.metrics().degraded })
    }

    #[cfg(not(feature = "redis"))]
    pub(super) fn of(_: &Resilience) -> Option<Self> {
        None
    }
}

/// A change of state, at once.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::actuator) struct Transition {
    name: String,
    /// Whether it is the instance of one of the name's keys that has changed, and not the name's own.
    keyed: bool,
    from: &'static str,
    to: &'static str,
    at: String,
    failure_rate: f32,
    slow_call_rate: f32,
}

impl Transition {
    pub(in crate::actuator) fn of(event: &CircuitBreakerEvent) -> Option<Self> {
        let CircuitBreakerEventKind::StateTransition {
            from, to, failure_rate, slow_call_rate, ..
        } = event.kind
        else {
            return None;
        };
        Some(Self {
            name: event.instance.to_string(),
            keyed: event.key().is_some(),
            from: from.as_str(),
            to: to.as_str(),
            at: rfc3339_of_nanos(event.at),
            failure_rate,
            slow_call_rate,
        })
    }
}

impl CircuitBreakerView {
    pub(super) fn of(breaker: &CircuitBreaker) -> Self {
        let Observation { state, since, open_until, config, metrics } = breaker.observe();
        let totals = metrics.totals;
        Self {
            name: breaker.name().to_owned(),
            enabled: config.is_enabled(),
            state: state.as_str(),
            failure_rate: metrics.failure_rate,
            slow_call_rate: metrics.slow_call_rate,
            failure_rate_threshold: config.failure_rate_threshold(),
            slow_call_rate_threshold: config.slow_call_rate_threshold(),
            buffered_calls: metrics.buffered_calls,
            max_buffered_calls: config.sliding_window_size(),
            minimum_number_of_calls: needed_calls(&config),
            failed_calls: metrics.failed_calls,
            slow_calls: metrics.slow_calls,
            slow_failed_calls: metrics.slow_failed_calls,
            not_permitted_calls: metrics.not_permitted_calls,
            window_type: config.sliding_window_type().as_str(),
            permitted_calls_in_half_open: config.permitted_number_of_calls_in_half_open_state(),
            since: rfc3339_of_nanos(since),
            open_until: open_until.map(rfc3339_of_nanos),
            shared: metrics.shared,
            totals: Totals {
                successful: totals.successful,
                failed: totals.failed,
                ignored: totals.ignored,
                not_permitted: totals.not_permitted,
                cancelled: totals.cancelled,
                transitions: totals.transitions,
            },
        }
    }
}

/// How many calls the window has before it has rates: never more than it can hold.
fn needed_calls(config: &CircuitBreakerConfig) -> u32 {
    let minimum = config.minimum_number_of_calls();
    match config.sliding_window_type() {
        SlidingWindowType::CountBased => minimum.min(config.sliding_window_size()),
        SlidingWindowType::TimeBased => minimum,
    }
}

impl RetryView {
    pub(super) fn of(retry: &Retry) -> Self {
        let (config, metrics) = (retry.config(), retry.metrics());
        Self {
            name: retry.name().to_owned(),
            enabled: config.is_enabled(),
            max_attempts: config.max_attempts(),
            successful_without_retry: metrics.successful_without_retry,
            successful_with_retry: metrics.successful_with_retry,
            failed_without_retry: metrics.failed_without_retry,
            failed_with_retry: metrics.failed_with_retry,
            total_calls: metrics.total_calls,
        }
    }
}

impl RateLimiterView {
    pub(super) fn of(limiter: &RateLimiter) -> Self {
        let (config, metrics) = (limiter.config(), limiter.metrics());
        Self {
            name: limiter.name().to_owned(),
            enabled: config.is_enabled(),
            scope: match config.scope() {
                Scope::Local => "local",
                Scope::Global => "global",
            },
            available_permissions: metrics.available_permissions,
            limit_for_period: config.limit_for_period(),
            limit_refresh_period_ms: millis(config.limit_refresh_period()),
            waiting: metrics.waiting,
            permitted: metrics.permitted,
            refused: metrics.refused,
        }
    }
}

impl TimeLimiterView {
    pub(super) fn of(limiter: &TimeLimiter) -> Self {
        let (config, metrics) = (limiter.config(), limiter.metrics());
        Self {
            name: limiter.name().to_owned(),
            enabled: config.is_enabled(),
            timeout_ms: millis(config.timeout_duration()),
            successful: metrics.successful,
            failed: metrics.failed,
            timeout: metrics.timeout,
        }
    }
}

impl BulkheadView {
    pub(super) fn of(bulkhead: &Bulkhead) -> Self {
        let metrics = bulkhead.metrics();
        Self {
            name: bulkhead.name().to_owned(),
            enabled: bulkhead.is_enabled(),
            available_concurrent_calls: metrics.available_concurrent_calls,
            max_concurrent_calls: metrics.max_concurrent_calls,
            waiting: metrics.waiting,
            permitted: metrics.permitted,
            rejected: metrics.rejected,
        }
    }
}

impl ThreadPoolBulkheadView {
    pub(super) fn of(bulkhead: &ThreadPoolBulkhead) -> Self {
        let metrics = bulkhead.metrics();
        Self {
            name: bulkhead.name().to_owned(),
            enabled: bulkhead.is_enabled(),
            thread_pool_size: metrics.thread_pool_size,
            max_thread_pool_size: metrics.max_thread_pool_size,
            queue_depth: metrics.queue_depth,
            queue_capacity: metrics.queue_capacity,
            active_threads: metrics.active_thread_count,
            permitted: metrics.permitted,
            rejected: metrics.rejected,
        }
    }
}
