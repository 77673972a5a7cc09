//! tower-resilience's layers around the body as a service.

use std::time::Duration;

use tower::{Service, ServiceBuilder};
use tower_resilience::{
    bulkhead::BulkheadLayer,
    circuitbreaker::{CircuitBreakerLayer, SlidingWindowType},
    ratelimiter::RateLimiterLayer,
    retry::RetryLayer,
    timelimiter::TimeLimiterLayer,
};

use crate::{body::service, settings};

macro_rules! protected {
    () => { impl Service<u64, Response = u64, Error: Send, Future: Send> + Clone + Send + 'static };
}

macro_rules! breaker_settings {
    () => {
        CircuitBreakerLayer::builder()
            .failure_rate_threshold(f64::from(settings::FAILURE_RATE) / 100.0)
            .minimum_number_of_calls(settings::WINDOW as usize)
            .slow_call_duration_threshold(settings::SLOW)
            .slow_call_rate_threshold(1.0)
            .wait_duration_in_open(settings::OPEN)
            .permitted_calls_in_half_open(settings::PROBES as usize)
    };
}

macro_rules! retry_layer {
    () => {
        RetryLayer::builder()
            .max_attempts(settings::ATTEMPTS as usize)
            .fixed_backoff(settings::WAIT)
            .build()
    };
}

/// A breaker over the last calls, as a layer.
///
/// # Panics
///
/// When the size is out of range.
pub fn breaker_layer(size: u32) -> CircuitBreakerLayer {
    breaker_settings!().sliding_window_size(size as usize).build().expect("in range")
}

/// The body behind a breaker over the last calls.
pub fn breaker(size: u32) -> protected!() {
    breaker_layer(size).layer_fn(service())
}

/// The body behind a breaker over the last time.
///
/// # Panics
///
/// Never: the settings are in range.
pub fn breaker_over_time(window: Duration) -> protected!() {
    let layer = breaker_settings!()
        .sliding_window_type(SlidingWindowType::TimeBased)
        .sliding_window_duration(window)
        .build();
    layer.expect("in range").layer_fn(service())
}

fn limiter_layer(limit: u32, period: Duration) -> RateLimiterLayer {
    let layer = RateLimiterLayer::builder()
        .limit_for_period(limit as usize)
        .refresh_period(period)
        .timeout_duration(Duration::ZERO)
        .build();
    layer.expect("in range")
}

/// The body behind a limiter of this many calls in a period.
pub fn limiter(limit: u32, period: Duration) -> protected!() {
    ServiceBuilder::new().layer(limiter_layer(limit, period)).service(service())
}

fn bulkhead_layer(concurrent: u32) -> BulkheadLayer {
    let layer = BulkheadLayer::builder()
        .max_concurrent_calls(concurrent as usize)
        .reject_when_full()
        .build();
    layer.expect("in range")
}

/// The body behind a bulkhead of this many calls at once.
pub fn bulkhead(concurrent: u32) -> protected!() {
    ServiceBuilder::new().layer(bulkhead_layer(concurrent)).service(service())
}

/// The body behind a retry.
pub fn retry() -> protected!() {
    ServiceBuilder::new().layer(retry_layer!()).service(service())
}

/// The body behind a time limiter.
pub fn time_limiter() -> protected!() {
    let layer = TimeLimiterLayer::builder().timeout_duration(settings::TIMEOUT).build();
    ServiceBuilder::new().layer(layer).service(service())
}

/// The body behind all five, in our order.
pub fn stack() -> protected!() {
    ServiceBuilder::new()
        .layer(retry_layer!())
        .layer(breaker_layer(settings::WINDOW))
        .layer(limiter_layer(settings::LIMIT, Duration::from_secs(1)))
        .layer(TimeLimiterLayer::builder().timeout_duration(settings::TIMEOUT).build())
        .layer(bulkhead_layer(settings::CONCURRENT))
        .service(service())
}
