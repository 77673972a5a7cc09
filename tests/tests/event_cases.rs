//! Public bug reports about events and metrics, as behaviour; the names start with the case's id.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use resilience::{
    Bulkhead, BulkheadConfig, CallError, CircuitBreaker, CircuitBreakerConfig, Clock, Config,
    Error, RateLimiter, RateLimiterConfig, Resilience, Retry, RetryConfig, Stack,
    circuit_breaker::{CircuitBreakerConfigBuilder, State},
    config::Format,
    events::{Event, MAX_EVENT_TEXT},
};

const SECOND: Duration = Duration::from_secs(1);

type Outcome = Result<u32, CallError<std::io::Error>>;

#[test]
fn j01_the_ring_keeps_the_last_events_as_short_text_and_nothing_after_removal() {
    let yaml = "circuitbreaker.instances.x: { event_consumer_buffer_size: 7 }";
    let config = Config::from_str(yaml, Format::Yaml).unwrap();
    let registry = Resilience::from_config(config).unwrap();
    let breaker = registry.circuit_breaker("x");
    breaker.events().capture(true);
    for _ in 0..100_000 {
        breaker.try_acquire().unwrap().success();
    }
    assert_eq!(breaker.events().recent().len(), 7);
    assert!(registry.remove("x"));
    assert!(breaker.events().recent().is_empty(), "also for a handle that was kept");
}

#[test]
fn j01_a_long_text_is_cut() {
    let breaker = CircuitBreaker::new("ü".repeat(2_000), CircuitBreakerConfig::default());
    breaker.transition_to(State::Open).unwrap();
    let recent = breaker.events().recent();
    assert_eq!(recent.len(), 1);
    assert!(recent[0].text.len() <= MAX_EVENT_TEXT, "{} bytes", recent[0].text.len());
}

#[test]
fn j02_listeners_and_streams_that_were_dropped_are_gone() {
    let breaker = CircuitBreaker::new("x", CircuitBreakerConfig::default());
    let heard = Arc::new(AtomicU32::new(0));
    for _ in 0..100_000 {
        let heard = Arc::clone(&heard);
        drop(breaker.events().subscribe(move |_| {
            heard.fetch_add(1, Ordering::Relaxed);
        }));
        drop(breaker.events().stream());
    }
    assert_eq!(breaker.events().subscribers(), 0);
    breaker.try_acquire().unwrap().success();
    assert_eq!(heard.load(Ordering::Relaxed), 0);
    assert_eq!(Arc::strong_count(&heard), 1, "what the listeners held is let go");
}

fn builder() -> CircuitBreakerConfigBuilder {
    CircuitBreakerConfig::builder().minimum_number_of_calls(3).wait_duration_in_open_state(SECOND)
}

/// Whether both rates are `expected`; NaN is never.
fn rates_are(breaker: &CircuitBreaker, expected: f32) -> bool {
    let metrics = breaker.metrics();
    let is = |rate: f32| (rate - expected).abs() < f32::EPSILON;
    is(metrics.failure_rate) && is(metrics.slow_call_rate)
}

#[test]
fn j08_rates_are_minus_one_while_undefined_and_never_nan() {
    for state in State::ALL {
        let breaker = CircuitBreaker::new("x", builder().build().unwrap());
        if state == State::HalfOpen {
            breaker.transition_to(State::Open).unwrap();
        }
        breaker.transition_to(state).unwrap();
        assert!(rates_are(&breaker, -1.0), "{state}");
        for _ in 0..2 {
            breaker.on_success(Duration::ZERO);
            assert!(rates_are(&breaker, -1.0), "{state}");
        }
        breaker.on_success(Duration::ZERO);
        let records = matches!(state, State::Closed | State::Open | State::MetricsOnly);
        assert!(rates_are(&breaker, if records { 0.0 } else { -1.0 }), "{state}");
    }
}

#[tokio::test(start_paused = true)]
async fn j12_a_refused_call_is_counted_once_whoever_stands_around_the_breaker() {
    let breaker = CircuitBreaker::new("b", builder().build().unwrap());
    breaker.transition_to(State::Open).unwrap();
    let retry = Retry::new("r", RetryConfig::default());
    let types = Arc::new(Mutex::new(Vec::new()));
    let _subscription = breaker.events().subscribe({
        let types = Arc::clone(&types);
        move |event| types.lock().unwrap().push(event.type_name())
    });
    let stack = Stack::builder().retry(retry.clone()).circuit_breaker(breaker.clone()).build();
    let refused: Outcome = stack.call(|| async { Ok(1) }).await;
    assert!(matches!(refused, Err(CallError::Resilience(Error::CallNotPermitted(_)))));
    let metrics = breaker.metrics();
    assert_eq!((metrics.not_permitted_calls, metrics.totals.not_permitted), (1, 1));
    assert_eq!(*types.lock().unwrap(), ["NOT_PERMITTED"]);
    assert_eq!(retry.metrics().total_calls, 1);
}

#[test]
fn j14_an_idle_breaker_shows_open_until_a_call_or_half_open_where_it_changes_by_itself() {
    for (automatic, idle) in [(false, State::Open), (true, State::HalfOpen)] {
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let config =
            builder().automatic_transition_from_open_to_half_open_enabled(automatic).build();
        let breaker = CircuitBreaker::with_clock("x", config.unwrap(), clock);
        breaker.transition_to(State::Open).unwrap();
        hand.advance(2 * SECOND);
        assert_eq!(breaker.state(), idle);
        let _probe = breaker.try_acquire().unwrap();
        assert_eq!(breaker.state(), State::HalfOpen);
    }
}

/// Makes 100 calls through breaker, rate limiter and bulkhead, which all end at a full bulkhead.
async fn run_into_a_full_bulkhead(config: CircuitBreakerConfigBuilder) -> CircuitBreaker {
    let config = config.sliding_window_size(100).minimum_number_of_calls(100).build().unwrap();
    let breaker = CircuitBreaker::new("b", config);
    let limits = RateLimiterConfig::builder().limit_for_period(100).build().unwrap();
    let full = BulkheadConfig::builder().max_concurrent_calls(0).build().unwrap();
    let stack = Stack::builder()
        .circuit_breaker(breaker.clone())
        .rate_limiter(RateLimiter::new("l", limits))
        .bulkhead(Bulkhead::new("full", full))
        .build();
    for _ in 0..100 {
        let full: Outcome = stack.call(|| async { Ok(1) }).await;
        assert!(matches!(full, Err(CallError::Resilience(Error::BulkheadFull(_)))), "{full:?}");
    }
    breaker
}

#[tokio::test(start_paused = true)]
async fn j15_a_full_bulkhead_is_a_failure_for_the_breaker_unless_it_is_ignored() {
    let opened = run_into_a_full_bulkhead(builder()).await;
    assert_eq!((opened.state(), opened.metrics().failed_calls), (State::Open, 100));
    let refusals = ["bulkhead_full", "request_not_permitted"];
    let closed = run_into_a_full_bulkhead(builder().ignore_errors(refusals)).await;
    assert_eq!((closed.state(), closed.metrics().buffered_calls), (State::Closed, 0));
    assert_eq!(closed.metrics().totals.ignored, 100);
}
