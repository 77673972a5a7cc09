//! A call that succeeds allocates nothing. A binary of its own: the allocator counts for all of it, by
//! thread.

use std::{
    future::{Future, Ready, ready},
    io,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use resilience::{
    Bulkhead, BulkheadConfig, CircuitBreaker, CircuitBreakerConfig, Error, RateLimiter,
    RateLimiterConfig, Resilience, Retry, RetryConfig, Stack, TimeLimiter, TimeLimiterConfig,
    bulkhead, circuit_breaker,
    circuit_breaker::{Permit, SlidingWindowType},
    rate_limiter,
    rate_limiter::Refill,
    retry, time_limiter, tower as layers,
};
use resilience_tests::allocations::{Counting, allocations};
use tower::{Layer, Service};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Fails on the first allocation of any of a few calls. Those before may make what is made once: the
/// buckets of a window, the cells of a thread.
#[track_caller]
fn allocates_nothing<T, E>(mut call: impl FnMut() -> Result<T, E>) {
    for _ in 0..3 {
        assert!(call().is_ok());
    }
    for time in 1..=300 {
        let mut succeeded = false;
        let many = allocations(|| succeeded = call().is_ok());
        assert!(succeeded);
        assert_eq!(many, 0, "in call {time}");
    }
}

fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("nothing waits here"),
    }
}

fn body() -> Ready<Result<u32, io::Error>> {
    ready(Ok(7))
}

fn breaker(window: SlidingWindowType) -> CircuitBreaker {
    let config = CircuitBreakerConfig::builder().sliding_window_type(window);
    CircuitBreaker::new("x", config.build().expect("in range"))
}

fn limiter(refill: Refill) -> RateLimiter {
    let config = RateLimiterConfig::builder()
        .limit_for_period(1_000_000)
        .limit_refresh_period(Duration::from_secs(1))
        .refill(refill);
    RateLimiter::new("x", config.build().expect("in range"))
}

fn retrying() -> Retry {
    Retry::new("x", RetryConfig::default())
}

fn time_limited() -> TimeLimiter {
    TimeLimiter::new("x", TimeLimiterConfig::default())
}

fn slots() -> Bulkhead {
    Bulkhead::new("x", BulkheadConfig::default())
}

fn stack() -> Stack {
    Stack::builder()
        .retry(retrying())
        .circuit_breaker(breaker(SlidingWindowType::CountBased))
        .rate_limiter(limiter(Refill::Interval))
        .time_limiter(time_limited())
        .bulkhead(slots())
        .build()
}

#[test]
fn the_first_attempt_of_a_retry_that_succeeds_allocates_nothing() {
    let retry = retrying();
    allocates_nothing(|| now(retry.call(body)));
    allocates_nothing(|| retry.call_blocking(|| Ok::<_, io::Error>(7)));
}

#[test]
fn a_closed_circuit_breaker_allocates_nothing() {
    for window in [SlidingWindowType::CountBased, SlidingWindowType::TimeBased] {
        let breaker = breaker(window);
        allocates_nothing(|| now(breaker.call(body())));
        allocates_nothing(|| breaker.try_acquire().map(Permit::success));
    }
}

#[test]
fn a_rate_limiter_with_permissions_left_allocates_nothing() {
    for refill in [Refill::Interval, Refill::Greedy] {
        let limiter = limiter(refill);
        allocates_nothing(|| now(limiter.call(body())));
    }
}

#[test]
fn a_time_limiter_around_what_is_ready_allocates_nothing() {
    let limiter = time_limited();
    allocates_nothing(|| now(limiter.call(body())));
}

#[test]
fn a_bulkhead_with_a_free_slot_allocates_nothing() {
    let bulkhead = slots();
    allocates_nothing(|| now(bulkhead.call(body())));
}

#[test]
fn a_stack_of_five_allocates_nothing() {
    let stack = stack();
    allocates_nothing(|| now(stack.call(body)));
    let protected = stack.protect::<u32, io::Error>();
    allocates_nothing(|| now(protected.call(body)));
    let with_a_fallback = protected.fallback(|_: resilience::CallNotPermitted| Ok(0));
    allocates_nothing(|| now(with_a_fallback.call(body)));
}

#[test]
fn l04_layers_that_are_switched_off_allocate_nothing() {
    let (retry, breaker) = (retrying(), breaker(SlidingWindowType::CountBased));
    let (limiter, time_limiter, slots) = (limiter(Refill::Interval), time_limited(), slots());
    retry.set_enabled(false);
    breaker.set_enabled(false);
    limiter.set_enabled(false);
    time_limiter.set_enabled(false);
    slots.set_enabled(false);
    allocates_nothing(|| now(retry.call(body)));
    allocates_nothing(|| now(breaker.call(body())));
    allocates_nothing(|| now(limiter.call(body())));
    allocates_nothing(|| now(time_limiter.call(body())));
    allocates_nothing(|| now(slots.call(body())));
    let stack = Stack::builder()
        .retry(retry)
        .circuit_breaker(breaker)
        .rate_limiter(limiter)
        .time_limiter(time_limiter)
        .bulkhead(slots)
        .build();
    allocates_nothing(|| now(stack.call(body)));
}

/// A time limiter cannot cut a blocking call short: the other four.
#[test]
fn a_blocking_stack_allocates_nothing() {
    let stack = Stack::builder()
        .retry(retrying())
        .circuit_breaker(breaker(SlidingWindowType::CountBased))
        .rate_limiter(limiter(Refill::Interval))
        .bulkhead(slots())
        .build();
    allocates_nothing(|| stack.call_blocking(|| Ok::<_, io::Error>(7)));
}

#[retry(name = "allocates")]
#[circuit_breaker(name = "allocates", fallback = nothing)]
#[rate_limiter(name = "allocates", limit_for_period = 1_000_000, limit_refresh_period = "1s")]
#[time_limiter(name = "allocates")]
#[bulkhead(name = "allocates")]
async fn annotated(text: &str) -> Result<usize, Error> {
    Ok(text.len())
}

async fn nothing(_: Error) -> Result<usize, Error> {
    Ok(0)
}

#[test]
fn five_attributes_and_a_fallback_allocate_nothing() {
    allocates_nothing(|| now(annotated("seven")));
}

#[test]
fn an_annotated_function_in_a_scope_allocates_nothing() {
    let registry = Resilience::from_config(resilience::Config::default()).unwrap();
    registry.scope_sync(|| allocates_nothing(|| now(annotated("seven"))));
}

#[test]
fn a_look_up_by_key_that_finds_its_instance_and_the_call_allocate_nothing() {
    let shards = breaker(SlidingWindowType::CountBased);
    allocates_nothing(|| now(shards.keyed("eu-1").call(body())));
}

/// Allocations of a call through the layer, the first of which may make what is made once.
macro_rules! allocated_through {
    ($layer:expr) => {{
        let mut service = $layer.layer(tower::service_fn(|_: u32| body()));
        let mut call = || {
            let ready = service.poll_ready(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(ready, Poll::Ready(Ok(()))));
            assert!(now(service.call(7)).is_ok());
        };
        call();
        allocations(call)
    }};
}

#[test]
fn a_layer_of_tower_that_calls_once_allocates_nothing() {
    let closed = breaker(SlidingWindowType::CountBased);
    assert_eq!(allocated_through!(layers::CircuitBreakerLayer::new(closed)), 0);
    assert_eq!(allocated_through!(layers::RateLimiterLayer::new(limiter(Refill::Interval))), 0);
    assert_eq!(allocated_through!(layers::TimeLimiterLayer::new(time_limited())), 0);
    assert_eq!(allocated_through!(layers::BulkheadLayer::new(slots())), 0);
}

/// The future of such a service has to have a type that can be named, and that of an async block has none.
#[test]
fn a_layer_of_tower_that_may_call_again_allocates_no_more_than_the_box_of_its_future() {
    assert!(allocated_through!(layers::RetryLayer::new(retrying())) <= 1);
    assert!(allocated_through!(layers::StackLayer::new(stack())) <= 1);
}

#[test]
fn a_deadline_around_a_stack_is_all_that_allocates() {
    let stack = stack();
    let under_a_deadline = || {
        let call = stack.call(body);
        assert!(now(resilience::with_deadline(Duration::from_secs(1), call)).is_ok());
    };
    under_a_deadline();
    let with = allocations(under_a_deadline);
    let alone = allocations(|| now(resilience::with_deadline(Duration::from_secs(1), async {})));
    assert_eq!(with, alone);
}
