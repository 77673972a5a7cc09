//! The calls that are counted, each around a body that is ready at once.

use std::{
    fmt::Debug,
    future::Future,
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use resilience::{
    Bulkhead, BulkheadConfig, CircuitBreaker, CircuitBreakerConfig, RateLimiter, RateLimiterConfig,
    Retry, RetryConfig, Stack, TimeLimiter, TimeLimiterConfig,
};

/// One call. What it needs was made before.
pub(crate) type Call = Box<dyn FnMut()>;

/// A name for the command line and the records, and what prepares the call.
pub(crate) type Path = (&'static str, fn() -> Call);

pub(crate) const PATHS: &[Path] = &[
    ("bare-body", bare_body),
    ("retry-first-success", retry_first_success),
    ("breaker-closed", breaker_closed),
    ("breaker-untimed", breaker_untimed),
    ("breaker-with-failures", breaker_with_failures),
    ("breaker-open", breaker_open),
    ("limiter-permitted", limiter_permitted),
    ("limiter-refused", limiter_refused),
    ("time-limiter", time_limiter),
    ("bulkhead", bulkhead),
    ("stack-of-five", stack_of_five),
    ("stack-disabled", stack_disabled),
    ("attributes-of-five", attributes_of_five),
    ("attributes-with-fallback", attributes_with_fallback),
    ("keyed-hit", keyed_hit),
];

type Answer = Result<u64, resilience::Error>;

fn body(n: u64) -> impl Future<Output = Answer> {
    std::future::ready(Ok(black_box(n)))
}

/// Polls once; a runtime would count as well.
fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("the body is ready at once"),
    }
}

fn succeeds<T, E: Debug>(call: impl Future<Output = Result<T, E>>) {
    black_box(now(call)).expect("every layer lets it through");
}

fn fails<T: Debug, E>(call: impl Future<Output = Result<T, E>>) {
    black_box(now(call)).expect_err("the layer refuses");
}

/// The period does not end while calls are counted: valgrind's time is not the machine's.
fn limiter(limit: u32) -> RateLimiter {
    let config = RateLimiterConfig::builder()
        .limit_for_period(limit)
        .limit_refresh_period(Duration::from_hours(1))
        .timeout_duration(Duration::ZERO)
        .build()
        .expect("in range");
    RateLimiter::new("counted", config)
}

fn breaker() -> CircuitBreaker {
    CircuitBreaker::new("counted", CircuitBreakerConfig::default())
}

fn stack(enabled: bool) -> Stack {
    let retry = Retry::new("counted", RetryConfig::default());
    let breaker = breaker();
    let limiter = limiter(u32::MAX);
    let time_limiter = TimeLimiter::new("counted", TimeLimiterConfig::default());
    let bulkhead = Bulkhead::new("counted", BulkheadConfig::default());
    if !enabled {
        retry.set_enabled(false);
        breaker.set_enabled(false);
        limiter.set_enabled(false);
        time_limiter.set_enabled(false);
        bulkhead.set_enabled(false);
    }
    Stack::builder()
        .retry(retry)
        .circuit_breaker(breaker)
        .rate_limiter(limiter)
        .time_limiter(time_limiter)
        .bulkhead(bulkhead)
        .build()
}

#[resilience::retry(name = "counted")]
#[resilience::circuit_breaker(name = "counted")]
#[resilience::rate_limiter(
    name = "counted",
    limit_for_period = 4_000_000_000,
    limit_refresh_period = "1h"
)]
#[resilience::time_limiter(name = "counted")]
#[resilience::bulkhead(name = "counted")]
async fn annotated(n: u64) -> Answer {
    body(n).await
}

#[resilience::retry(name = "counted")]
#[resilience::circuit_breaker(name = "counted", fallback = instead)]
async fn with_fallback(n: u64, m: u64) -> Answer {
    body(n + m).await
}

async fn instead(_n: u64, m: u64, _error: resilience::Error) -> Answer {
    body(m).await
}

/// What the others are counted beside.
fn bare_body() -> Call {
    Box::new(|| succeeds(body(1)))
}

fn retry_first_success() -> Call {
    let retry = Retry::new("counted", RetryConfig::default());
    Box::new(move || succeeds(retry.call(|| body(1))))
}

fn breaker_closed() -> Call {
    let breaker = breaker();
    Box::new(move || succeeds(breaker.call(body(1))))
}

fn breaker_untimed() -> Call {
    let config = CircuitBreakerConfig::builder().slow_call_rate_enabled(false).build();
    let breaker = CircuitBreaker::new("counted", config.expect("in range"));
    Box::new(move || succeeds(breaker.call(body(1))))
}

/// Successes where a failure is in the window, as it mostly is. The window holds a few more than the calls
/// that are made; what fills it looks at the clock as well, which is recorded with the rest.
fn breaker_with_failures() -> Call {
    const WINDOW: u32 = 1_250;
    let config =
        CircuitBreakerConfig::builder().sliding_window_size(WINDOW).minimum_number_of_calls(WINDOW);
    let breaker = CircuitBreaker::new("counted", config.build().expect("in range"));
    (1..WINDOW).for_each(|_| succeeds(breaker.call(body(1))));
    fails(breaker.call(std::future::ready(Err::<u64, _>("on purpose"))));
    Box::new(move || succeeds(breaker.call(body(1))))
}

fn breaker_open() -> Call {
    let breaker = breaker();
    breaker.transition_to_open_for(Duration::from_hours(24)).expect("from closed");
    Box::new(move || fails(breaker.call(body(1))))
}

fn limiter_permitted() -> Call {
    let limiter = limiter(u32::MAX);
    Box::new(move || succeeds(limiter.call(body(1))))
}

fn limiter_refused() -> Call {
    let limiter = limiter(1);
    succeeds(limiter.call(body(1)));
    Box::new(move || fails(limiter.call(body(1))))
}

fn time_limiter() -> Call {
    let limiter = TimeLimiter::new("counted", TimeLimiterConfig::default());
    Box::new(move || succeeds(limiter.call(body(1))))
}

fn bulkhead() -> Call {
    let bulkhead = Bulkhead::new("counted", BulkheadConfig::default());
    Box::new(move || succeeds(bulkhead.call(body(1))))
}

fn stack_of_five() -> Call {
    let stack = stack(true);
    Box::new(move || succeeds(stack.call(|| body(1))))
}

fn stack_disabled() -> Call {
    let stack = stack(false);
    Box::new(move || succeeds(stack.call(|| body(1))))
}

fn attributes_of_five() -> Call {
    Box::new(|| succeeds(annotated(1)))
}

fn attributes_with_fallback() -> Call {
    Box::new(|| succeeds(with_fallback(1, 2)))
}

/// The look-up alone.
fn keyed_hit() -> Call {
    let shards = breaker();
    Box::new(move || drop(black_box(shards.keyed(black_box("eu-1")))))
}
