//! How a stack is put together: order, names, permissions, and what is refused.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use resilience::{
    Bulkhead, BulkheadConfig, CallError, CircuitBreaker, CircuitBreakerConfig, Config, Error,
    RateLimiter, RateLimiterConfig, Resilience, Retry, RetryConfig, Rules, Stack, TimeLimiter,
    TimeLimiterConfig, circuit_breaker::State, config::Format,
};

type Outcome = Result<u32, CallError<&'static str>>;

const SECOND: Duration = Duration::from_secs(1);

fn retry(attempts: u32) -> Retry {
    let config = RetryConfig::builder().max_attempts(attempts).wait_duration(SECOND).build();
    Retry::new("r", config.expect("in range"))
}

fn time_limiter(limit: Duration) -> TimeLimiter {
    let config = TimeLimiterConfig::builder().timeout_duration(limit).build();
    TimeLimiter::new("t", config.expect("in range"))
}

fn bulkhead() -> Bulkhead {
    let config = BulkheadConfig::builder().max_concurrent_calls(1).build();
    Bulkhead::new("b", config.expect("in range"))
}

fn registry() -> Resilience {
    let text = "
        retry.instances.quote: { max_attempts: 2, wait_duration: 1s }
        circuitbreaker.instances.quote: { sliding_window_size: 7 }
        ratelimiter.instances.quote: { limit_for_period: 10, limit_refresh_period: 1h }";
    let config = Config::builder().env(false).text(text, Format::Yaml).load();
    Resilience::from_config(config.expect("in order")).expect("in order")
}

#[tokio::test(start_paused = true)]
async fn the_first_layer_is_the_outermost() {
    let breaker = CircuitBreaker::new("c", CircuitBreakerConfig::default());
    let fails = || async { Err("down") };
    let stack = Stack::builder().circuit_breaker(breaker.clone()).retry(retry(3)).build();
    let _: Outcome = stack.call(fails).await;
    assert_eq!(breaker.metrics().failed_calls, 1, "all attempts are one call");
    let stack = Stack::builder().retry(retry(3)).circuit_breaker(breaker.clone()).build();
    let _: Outcome = stack.call(fails).await;
    assert_eq!(breaker.metrics().failed_calls, 1 + 3, "every attempt is a call");
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_outside_of_the_retry_cuts_the_retries_short() {
    let (whole, attempt) = (time_limiter(4 * SECOND), time_limiter(2 * SECOND));
    let stack = Stack::builder()
        .time_limiter(whole.clone())
        .retry(retry(9))
        .time_limiter(attempt.clone())
        .build();
    let started = tokio::time::Instant::now();
    let outcome: Outcome = stack.call(std::future::pending).await;
    let Err(CallError::Resilience(Error::TimedOut(timed_out))) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(timed_out.limit(), 4 * SECOND);
    assert_eq!(started.elapsed(), 4 * SECOND);
    assert_eq!((whole.metrics().timeout, attempt.metrics().timeout), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_bulkhead_around_a_retry_holds_its_slot_while_the_retry_waits() {
    let bulkhead = bulkhead();
    let stack = Stack::builder().bulkhead(bulkhead.clone()).retry(retry(2)).build();
    let call = tokio::spawn(async move { stack.call(|| async { Err::<u32, _>("down") }).await });
    tokio::time::sleep(SECOND / 2).await;
    assert_eq!(bulkhead.available_concurrent_calls(), 0);
    assert_eq!(call.await.unwrap(), Err(CallError::Inner("down")));
    assert_eq!(bulkhead.available_concurrent_calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_further_out_is_a_cancellation_further_in() {
    let breaker = CircuitBreaker::new("c", CircuitBreakerConfig::default());
    let outer = CircuitBreaker::new("o", CircuitBreakerConfig::default());
    let bulkhead = bulkhead();
    let stack = Stack::builder()
        .circuit_breaker(outer.clone())
        .time_limiter(time_limiter(SECOND))
        .bulkhead(bulkhead.clone())
        .circuit_breaker(breaker.clone())
        .build();
    let outcome: Outcome = stack.call(std::future::pending).await;
    assert!(matches!(outcome, Err(CallError::Resilience(Error::TimedOut(_)))));
    assert_eq!(outer.metrics().failed_calls, 1);
    assert_eq!(breaker.metrics().buffered_calls, 0);
    assert_eq!(breaker.metrics().totals.cancelled, 1);
    assert_eq!(bulkhead.available_concurrent_calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_off_the_fast_path_leaves_no_reservation() {
    let limits = RateLimiterConfig::builder()
        .limit_for_period(1)
        .limit_refresh_period(SECOND)
        .build()
        .unwrap();
    let limiter = RateLimiter::new("l", limits);
    let stack = Stack::builder().rate_limiter(limiter.clone()).retry(retry(2)).build();
    assert_eq!(stack.call(|| async { Ok::<_, &str>(1) }).await, Ok(1));
    let second = tokio::time::timeout(SECOND / 2, stack.call(|| async { Ok::<_, &str>(2) })).await;
    assert!(second.is_err());
    assert_eq!((limiter.waiting(), limiter.available_permissions()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn layers_are_found_by_name_in_the_builders_registry() {
    let registry = registry();
    let stack = registry.stack().retry("quote").circuit_breaker("quote").build();
    let _: Outcome = stack.call(|| async { Err("down") }).await;
    assert_eq!(registry.retry("quote").metrics().failed_with_retry, 1);
    assert_eq!(registry.circuit_breaker("quote").metrics().failed_calls, 2);
}

#[tokio::test(start_paused = true)]
async fn names_are_looked_up_in_the_scope_that_the_builder_is_in() {
    let registry = registry();
    let stack = registry.scope(async { Stack::builder().circuit_breaker("quote").build() }).await;
    let _: Outcome = stack.call(|| async { Ok(1) }).await;
    assert_eq!(registry.circuit_breaker("quote").metrics().buffered_calls, 1);

    let stack = Stack::builder().circuit_breaker("of the process").build();
    let _: Outcome = stack.call(|| async { Ok(1) }).await;
    let breaker = resilience::global().find_circuit_breaker("of the process").unwrap();
    assert_eq!(breaker.metrics().buffered_calls, 1);
}

#[tokio::test]
async fn a_stack_keeps_its_instances_when_their_names_are_removed() {
    let registry = registry();
    let stack = registry.stack().circuit_breaker("quote").build();
    let breaker = registry.circuit_breaker("quote");
    registry.remove("quote");
    let _: Outcome = stack.call(|| async { Ok(1) }).await;
    assert_eq!(breaker.metrics().buffered_calls, 1);
    assert_eq!(registry.circuit_breaker("quote").metrics().buffered_calls, 0);
}

#[tokio::test(start_paused = true)]
async fn permits_are_those_of_one_limiter() {
    let registry = registry();
    let limiter = registry.rate_limiter("quote");
    let other = RateLimiter::new("other", (*limiter.config()).clone());
    let stack =
        registry.stack().rate_limiter_permits("quote", 3).rate_limiter(other.clone()).build();
    let _: Outcome = stack.call(|| async { Ok(1) }).await;
    assert_eq!((limiter.available_permissions(), other.available_permissions()), (10 - 3, 10 - 1));
    let fixed = registry.stack().rate_limiter_permits("quote", 2).build();
    let _: Outcome = fixed.call(|| async { Ok(1) }).await;
    assert_eq!(limiter.available_permissions(), 7 - 2);
}

#[tokio::test(start_paused = true)]
async fn rules_act_in_any_order() {
    let breaker = CircuitBreaker::new("c", CircuitBreakerConfig::default());
    let stack = Stack::builder().circuit_breaker(breaker.clone()).retry(retry(5)).build();
    let rules = Rules::new().retry_if(|_: &&str| false).ignore(|_| true);
    let started = tokio::time::Instant::now();
    let outcome: Outcome = stack.call_by(&rules, || async { Err("down") }).await;
    assert_eq!(outcome, Err(CallError::Inner("down")));
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert_eq!(breaker.metrics().totals.ignored, 1);
}

#[tokio::test]
async fn disabled_layers_let_calls_through_in_any_order() {
    let text = "
        retry.instances.x: { enabled: false }
        circuitbreaker.instances.x: { enabled: false }
        ratelimiter.instances.x: { enabled: false }
        timelimiter.instances.x: { enabled: false }
        bulkhead.instances.x: { enabled: false, max_concurrent_calls: 0 }";
    let config = Config::builder().env(false).text(text, Format::Yaml).load().unwrap();
    let registry = Resilience::from_config(config).unwrap();
    registry.circuit_breaker("x").transition_to(State::ForcedOpen).unwrap();
    let builder =
        || registry.stack().bulkhead("x").rate_limiter("x").circuit_breaker("x").retry("x");
    let outcome: Outcome = builder().time_limiter("x").build().call(|| async { Err("down") }).await;
    assert_eq!(outcome, Err(CallError::Inner("down")));
    let outcome: Outcome = builder().build().call_blocking(|| Err("down"));
    assert_eq!(outcome, Err(CallError::Inner("down")));
    assert_eq!(registry.retry("x").metrics().total_calls, 0);
}

#[tokio::test]
async fn a_stack_without_layers_is_the_call() {
    let stack = Stack::builder().build();
    assert_eq!(stack.call(|| async { Ok::<_, &str>(7) }).await, Ok(7));
    assert_eq!(stack.call_blocking(|| Ok::<_, &str>(7)), Ok(7));
}

#[test]
#[should_panic(expected = "a stack has 8 layers at most, this one 9")]
fn a_ninth_layer_is_refused() {
    let nine = (0..9).fold(Stack::builder(), |builder, _| builder.retry(retry(1)));
    nine.build();
}

#[test]
#[should_panic(expected = "`bulkhead` 'b' comes twice in this stack")]
fn an_instance_that_comes_twice_is_refused() {
    let bulkhead = bulkhead();
    Stack::builder().bulkhead(bulkhead.clone()).retry(retry(1)).bulkhead(bulkhead).build();
}

#[test]
fn every_pattern_may_come_but_once_by_the_same_instance_and_often_by_others() {
    let registry = registry();
    let name = |builder: resilience::StackBuilder, n: &'static str| {
        builder.retry(n).circuit_breaker(n).rate_limiter(n).time_limiter(n)
    };
    name(name(registry.stack(), "one"), "other").build();
    let twice = [
        registry.stack().retry("x").retry("x"),
        registry.stack().circuit_breaker("x").circuit_breaker("x"),
        registry.stack().rate_limiter("x").rate_limiter("x"),
        registry.stack().time_limiter("x").time_limiter("x"),
        registry.stack().bulkhead("x").bulkhead("x"),
    ];
    for builder in twice {
        assert!(catch_unwind(AssertUnwindSafe(|| builder.build())).is_err());
    }
}

#[test]
#[should_panic(expected = "from 1")]
fn a_call_takes_at_least_one_permission() {
    let _ = Stack::builder()
        .rate_limiter_permits(RateLimiter::new("l", RateLimiterConfig::default()), 0);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_cuts_a_call_in_any_order_and_every_breaker_around_counts_it() {
    let breakers =
        ["outer", "inner"].map(|name| CircuitBreaker::new(name, CircuitBreakerConfig::default()));
    let (limit, bulkhead) = (time_limiter(9 * SECOND), bulkhead());
    let [outer, inner] = breakers.clone();
    let stack = Stack::builder()
        .time_limiter(limit.clone())
        .circuit_breaker(outer)
        .retry(retry(3))
        .bulkhead(bulkhead.clone())
        .circuit_breaker(inner)
        .build();
    let started = tokio::time::Instant::now();
    let call = stack.call(std::future::pending);
    let outcome: Outcome = resilience::with_deadline(2 * SECOND, call).await;
    let Err(CallError::Resilience(Error::TimedOut(timed_out))) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(timed_out.is_deadline());
    assert_eq!(started.elapsed(), 2 * SECOND);
    for breaker in breakers {
        assert_eq!(breaker.metrics().totals.failed, 1, "{breaker:?}");
    }
    assert_eq!(limit.metrics(), resilience::time_limiter::TimeLimiterMetrics::default());
    assert_eq!(bulkhead.available_concurrent_calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn calls_further_down_learn_of_the_first_end_in_any_order() {
    let stack = Stack::builder()
        .time_limiter(time_limiter(5 * SECOND))
        .retry(retry(3))
        .time_limiter(time_limiter(2 * SECOND))
        .deadline()
        .build();
    let mut told = Vec::new();
    let outcome: Outcome = stack
        .call(|| {
            told.push(resilience::deadline());
            std::future::pending()
        })
        .await;
    assert!(outcome.is_err());
    assert_eq!(told, [Some(2 * SECOND), Some(2 * SECOND)], "5 s are over in the second attempt");
}
