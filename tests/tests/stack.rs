//! The composition: what each layer sees of a call, and what it gives back when the call is dropped
//! or panics.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use resilience::{
    Bulkhead, BulkheadConfig, CallError, CircuitBreaker, CircuitBreakerConfig, Error, RateLimiter,
    RateLimiterConfig, Retry, RetryConfig, Rules, Stack, TimeLimiter, TimeLimiterConfig,
    circuit_breaker::State,
};

#[derive(Debug, Clone, PartialEq)]
struct Failed;

type Outcome = Result<u32, CallError<Failed>>;

const SECOND: Duration = Duration::from_secs(1);

/// One instance of each pattern, with room for every call of a test.
struct Five {
    retry: Retry,
    breaker: CircuitBreaker,
    limiter: RateLimiter,
    time_limiter: TimeLimiter,
    bulkhead: Bulkhead,
}

impl Five {
    fn new() -> Self {
        let retry =
            RetryConfig::builder().max_attempts(3).wait_duration(SECOND).build().expect("in range");
        let breaker = CircuitBreakerConfig::builder()
            .sliding_window_size(10)
            .minimum_number_of_calls(10)
            .build()
            .expect("in range");
        let limiter = RateLimiterConfig::builder()
            .limit_for_period(100)
            .limit_refresh_period(Duration::from_hours(1))
            .build()
            .expect("in range");
        let time_limiter =
            TimeLimiterConfig::builder().timeout_duration(SECOND).build().expect("in range");
        let bulkhead = BulkheadConfig::builder().max_concurrent_calls(2).build().expect("in range");
        Self {
            retry: Retry::new("retry", retry),
            breaker: CircuitBreaker::new("breaker", breaker),
            limiter: RateLimiter::new("limiter", limiter),
            time_limiter: TimeLimiter::new("time", time_limiter),
            bulkhead: Bulkhead::new("bulkhead", bulkhead),
        }
    }

    fn stack(&self) -> Stack {
        Stack::builder()
            .retry(self.retry.clone())
            .circuit_breaker(self.breaker.clone())
            .rate_limiter(self.limiter.clone())
            .time_limiter(self.time_limiter.clone())
            .bulkhead(self.bulkhead.clone())
            .build()
    }

    fn assert_idle(&self) {
        assert_eq!(self.bulkhead.available_concurrent_calls(), 2, "bulkhead");
        assert_eq!(self.bulkhead.waiting(), 0, "bulkhead queue");
        assert_eq!(self.limiter.waiting(), 0, "limiter queue");
        assert_eq!(self.breaker.state(), State::Closed, "breaker");
    }
}

#[tokio::test(start_paused = true)]
async fn l03_every_attempt_passes_all_inner_layers_again() {
    let five = Five::new();
    let result: Outcome = five.stack().call(|| async { Err(Failed) }).await;
    assert_eq!(result, Err(CallError::Inner(Failed)));
    assert_eq!(five.breaker.metrics().failed_calls, 3);
    assert_eq!(five.limiter.available_permissions(), 97);
    assert_eq!(five.time_limiter.metrics().failed, 3);
    assert_eq!(five.retry.metrics().failed_with_retry, 1);
    five.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn l03_no_permit_is_held_while_a_retry_waits() {
    let five = Five::new();
    let stack = five.stack();
    let mut call = pin!(stack.call(|| async { Err::<u32, _>(Failed) }));
    assert!(poll_once(call.as_mut()).is_pending());
    five.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_counted_by_the_breaker_and_retried() {
    let five = Five::new();
    let result: Outcome = five.stack().call(std::future::pending).await;
    assert!(matches!(result, Err(CallError::Resilience(Error::TimedOut(_)))));
    assert_eq!(five.time_limiter.metrics().timeout, 3);
    assert_eq!(five.breaker.metrics().failed_calls, 3);
    five.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_ends_the_retries_at_once() {
    let five = Five::new();
    five.breaker.transition_to(State::Open).unwrap();
    let calls = AtomicU32::new(0);
    let result: Outcome = five
        .stack()
        .call(|| async {
            calls.fetch_add(1, Ordering::Relaxed);
            Ok(1)
        })
        .await;
    assert!(matches!(result, Err(CallError::Resilience(Error::CallNotPermitted(_)))));
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    assert_eq!(five.breaker.metrics().not_permitted_calls, 1);
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_includes_the_wait_for_a_slot() {
    let bulkhead = BulkheadConfig::builder()
        .max_concurrent_calls(1)
        .max_wait_duration(Duration::from_mins(1))
        .build()
        .unwrap();
    let bulkhead = Bulkhead::new("b", bulkhead);
    let _held = bulkhead.try_acquire().unwrap();
    let limit = TimeLimiterConfig::builder().timeout_duration(SECOND).build().unwrap();
    let stack = Stack::builder()
        .time_limiter(TimeLimiter::new("t", limit))
        .bulkhead(bulkhead.clone())
        .build();
    let started = tokio::time::Instant::now();
    let result: Outcome = stack.call(|| async { Ok(1) }).await;
    assert!(matches!(result, Err(CallError::Resilience(Error::TimedOut(_)))));
    assert_eq!(started.elapsed(), SECOND);
    assert_eq!(bulkhead.waiting(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_body_ready_in_the_poll_in_which_the_time_is_over_wins() {
    let limit = TimeLimiterConfig::builder().timeout_duration(SECOND).build().unwrap();
    let stack = Stack::builder().time_limiter(TimeLimiter::new("t", limit)).build();
    let result: Outcome = stack
        .call(|| async {
            tokio::time::sleep(SECOND).await;
            Ok(7)
        })
        .await;
    assert_eq!(result, Ok(7));
}

#[tokio::test(start_paused = true)]
async fn results_can_be_failures_and_be_retried() {
    let five = Five::new();
    let rules = Rules::new().record_result(|n| *n == 0).retry_result(|n| *n == 0);
    let result: Outcome = five.stack().call_by(&rules, || async { Ok(0) }).await;
    assert_eq!(result, Ok(0));
    assert_eq!(five.breaker.metrics().failed_calls, 3);
    assert_eq!(five.retry.metrics().failed_with_retry, 1);
}

/// A body that is pending `pending` times and then succeeds, or panics at poll `panic_at`.
struct Body {
    polls: u32,
    pending: u32,
    panic_at: Option<u32>,
}

impl Future for Body {
    type Output = Result<u32, Failed>;

    fn poll(mut self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        assert_ne!(Some(self.polls), self.panic_at, "the body panics");
        self.polls += 1;
        if self.polls > self.pending {
            return Poll::Ready(Err(Failed));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test(start_paused = true)]
async fn l05_a_call_dropped_at_any_poll_leaves_every_gauge_idle() {
    for polls in 0..20 {
        let five = Five::new();
        {
            let stack = five.stack();
            let mut call = pin!(stack.call(|| Body { polls: 0, pending: 4, panic_at: None }));
            for _ in 0..polls {
                if poll_once(call.as_mut()).is_ready() {
                    break;
                }
                tokio::time::advance(Duration::from_millis(250)).await;
            }
        }
        five.assert_idle();
        let dropped_in_flight = five.breaker.metrics().buffered_calls;
        assert!(dropped_in_flight <= 3, "a drop records nothing");
    }
}

#[tokio::test(start_paused = true)]
async fn l06_a_panic_at_any_poll_leaves_every_gauge_idle_and_records_one_failure() {
    for panic_at in 0..6 {
        let five = Five::new();
        let stack = five.stack();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut call =
                pin!(stack.call(|| Body { polls: 0, pending: 9, panic_at: Some(panic_at) }));
            while poll_once(call.as_mut()).is_pending() {}
        }));
        assert!(panicked.is_err());
        five.assert_idle();
        assert_eq!(five.breaker.metrics().failed_calls, 1);
        assert_eq!(five.retry.metrics().total_calls, 0, "a panic is not retried");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_before_the_future_is_made_is_one_of_the_body() {
    let five = Five::new();
    let stack = five.stack();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let call = stack.call(|| -> std::future::Ready<Result<u32, Failed>> { panic!("early") });
        let _ = poll_once(pin!(call));
    }));
    assert!(panicked.is_err());
    five.assert_idle();
    assert_eq!(five.breaker.metrics().failed_calls, 1);
}

#[tokio::test(start_paused = true)]
async fn a_full_bulkhead_is_a_failure_in_time_for_the_limit_around_it() {
    let full = BulkheadConfig::builder().max_concurrent_calls(0).build().unwrap();
    let time_limiter = Five::new().time_limiter;
    let stack = Stack::builder()
        .time_limiter(time_limiter.clone())
        .bulkhead(Bulkhead::new("full", full))
        .build();
    let result: Outcome = stack.call(|| async { Ok(1) }).await;
    assert!(matches!(result, Err(CallError::Resilience(Error::BulkheadFull(_)))));
    assert_eq!(time_limiter.metrics().failed, 1);
}

#[test]
fn the_clock_moves_in_every_runtime_also_when_another_was_far_ahead() {
    let clock = resilience::Clock::system();
    for ahead in [Duration::from_hours(1), Duration::from_mins(1)] {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let before = clock.now();
            tokio::time::advance(ahead).await;
            assert_eq!(u128::from(clock.now() - before), ahead.as_nanos());
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_healthy_call_beside_a_panicking_one_is_a_cancellation() {
    let five = Five::new();
    let stack = five.stack();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut healthy = pin!(stack.call(std::future::pending::<Result<u32, Failed>>));
        assert!(poll_once(healthy.as_mut()).is_pending());
        panic!("the sibling panics");
    }));
    assert!(panicked.is_err());
    five.assert_idle();
    assert_eq!(five.breaker.metrics().buffered_calls, 0);
}

#[tokio::test(start_paused = true)]
async fn a_panicking_rule_gives_the_probe_back() {
    let config = CircuitBreakerConfig::builder()
        .permitted_number_of_calls_in_half_open_state(1)
        .build()
        .unwrap();
    let breaker = CircuitBreaker::new("b", config);
    breaker.transition_to(State::Open).unwrap();
    breaker.transition_to(State::HalfOpen).unwrap();
    let stack = Stack::builder().circuit_breaker(breaker.clone()).build();
    let rules = Rules::<u32, Failed>::new().ignore(|_| panic!("the rule panics"));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut call = pin!(stack.call_by(&rules, || async { Err(Failed) }));
        let _ = poll_once(call.as_mut());
    }));
    assert!(panicked.is_err());
    assert!(breaker.try_acquire().is_ok(), "the probe's slot is free again");
}

#[tokio::test(start_paused = true)]
async fn d13_concurrent_calls_have_attempts_of_their_own() {
    let retry = RetryConfig::builder().max_attempts(3).wait_duration(SECOND).build().unwrap();
    let stack = Stack::builder().retry(Retry::new("r", retry)).build();
    let calls = Arc::new(AtomicU32::new(0));
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let (stack, calls) = (stack.clone(), Arc::clone(&calls));
            tokio::spawn(async move {
                let _: Outcome = stack
                    .call(|| {
                        calls.fetch_add(1, Ordering::Relaxed);
                        async { Err(Failed) }
                    })
                    .await;
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(calls.load(Ordering::Relaxed), 300);
}

#[test]
fn a_stack_takes_its_time_from_the_clock_of_its_instances() {
    let (clock, hand) = resilience::Clock::manual(Duration::ZERO);
    let config =
        CircuitBreakerConfig::builder().slow_call_duration_threshold(SECOND).build().unwrap();
    let breaker = CircuitBreaker::with_clock("b", config, clock);
    let stack = Stack::builder().circuit_breaker(breaker.clone()).build();
    let call = stack.call(|| async {
        hand.advance(SECOND * 2);
        Ok::<_, Failed>(1)
    });
    assert!(poll_once(pin!(call)).is_ready());
    assert_eq!(breaker.metrics().slow_calls, 1);
}

#[test]
fn five_instances_of_one_clock_make_a_stack() {
    let (clock, _hand) = resilience::Clock::manual(Duration::ZERO);
    let clock = || clock.clone();
    let all = Stack::builder()
        .retry(Retry::with_clock("r", RetryConfig::default(), clock()))
        .circuit_breaker(CircuitBreaker::with_clock("b", CircuitBreakerConfig::default(), clock()))
        .rate_limiter(RateLimiter::with_clock("l", RateLimiterConfig::default(), clock()))
        .time_limiter(TimeLimiter::with_clock("t", TimeLimiterConfig::default(), clock()))
        .bulkhead(Bulkhead::with_clock("k", BulkheadConfig::default(), clock()))
        .build();
    assert_eq!(poll_once(pin!(all.call(|| async { Ok::<_, Failed>(1) }))), Poll::Ready(Ok(1)));
}

#[test]
#[should_panic(expected = "one clock")]
fn instances_of_different_clocks_make_no_stack() {
    let (clock, _hand) = resilience::Clock::manual(Duration::ZERO);
    let breaker = CircuitBreaker::with_clock("b", CircuitBreakerConfig::default(), clock);
    Stack::builder().circuit_breaker(breaker).retry(Five::new().retry).build();
}
