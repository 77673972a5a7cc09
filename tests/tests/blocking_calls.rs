//! Callers that block their thread: they wait in the same queues as tasks, without a runtime.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, Waker},
    thread::{self, JoinHandle},
    time::Duration,
};

use resilience::{
    Bulkhead, BulkheadConfig, CallError, CircuitBreaker, CircuitBreakerConfig, Clock, Error,
    ManualClock, RateLimiter, RateLimiterConfig, Retry, RetryConfig, Rules, Stack, TimeLimiter,
    TimeLimiterConfig,
    circuit_breaker::State,
    events::{Event, Events, Subscription},
};

const SECOND: Duration = Duration::from_secs(1);

type Outcome = Result<u32, CallError<Failed>>;

#[derive(Debug, Clone, PartialEq)]
struct Failed;

fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Lets other threads run until something holds.
fn until(holds: impl Fn() -> bool) {
    while !holds() {
        thread::yield_now();
    }
}

/// Moves the clock second by second until a thread is done.
fn join_by_hand<R: fmt::Debug>(hand: &ManualClock, thread: JoinHandle<R>) -> R {
    while !thread.is_finished() {
        hand.advance(SECOND);
        thread::yield_now();
    }
    thread.join().expect("no panic")
}

fn listen<E: Event>(events: &Events<E>) -> (Arc<Mutex<Vec<&'static str>>>, Subscription) {
    let types = Arc::<Mutex<Vec<_>>>::default();
    let subscription = events.subscribe({
        let types = Arc::clone(&types);
        move |event| types.lock().expect("no panic within").push(event.type_name())
    });
    (types, subscription)
}

fn bulkhead(slots: u32, max_wait: Duration) -> (Bulkhead, ManualClock) {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let config =
        BulkheadConfig::builder().max_concurrent_calls(slots).max_wait_duration(max_wait).build();
    (Bulkhead::with_clock("b", config.expect("in range"), clock), hand)
}

fn limiter(limit: u32, timeout: Duration) -> (RateLimiter, ManualClock) {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    (limiter_on(clock, limit, timeout), hand)
}

fn limiter_on(clock: Clock, limit: u32, timeout: Duration) -> RateLimiter {
    let config = RateLimiterConfig::builder()
        .limit_for_period(limit)
        .limit_refresh_period(SECOND)
        .timeout_duration(timeout)
        .build();
    RateLimiter::with_clock("l", config.expect("in range"), clock)
}

fn breaker(clock: Clock) -> CircuitBreaker {
    let config = CircuitBreakerConfig::builder()
        .sliding_window_size(2)
        .permitted_number_of_calls_in_half_open_state(1)
        .build();
    CircuitBreaker::with_clock("c", config.expect("in range"), clock)
}

#[test]
fn threads_and_tasks_wait_for_a_slot_in_one_queue() {
    let (bulkhead, _hand) = bulkhead(1, SECOND);
    let first = bulkhead.acquire_blocking().unwrap();
    let mut task = pin!(bulkhead.acquire());
    assert!(poll_once(task.as_mut()).is_pending());
    let thread = thread::spawn({
        let bulkhead = bulkhead.clone();
        move || bulkhead.acquire_blocking()
    });
    until(|| bulkhead.waiting() == 2);
    drop(first);
    let Poll::Ready(Ok(second)) = poll_once(task.as_mut()) else { panic!("the task came first") };
    assert_eq!(bulkhead.waiting(), 1);
    drop(second);
    let third = thread.join().unwrap().unwrap();
    assert_eq!(bulkhead.available_concurrent_calls(), 0);
    drop(third);
    assert_eq!(bulkhead.metrics().permitted, 3);
}

#[test]
fn a_thread_waits_for_a_slot_no_longer_than_it_may() {
    let (bulkhead, hand) = bulkhead(1, 5 * SECOND);
    let _held = bulkhead.try_acquire().unwrap();
    let (types, _subscription) = listen(&bulkhead.events());
    let thread = thread::spawn({
        let bulkhead = bulkhead.clone();
        move || -> Outcome { bulkhead.call_blocking(|| Ok(1)) }
    });
    until(|| bulkhead.waiting() == 1);
    let outcome = join_by_hand(&hand, thread);
    assert!(matches!(outcome, Err(CallError::Resilience(Error::BulkheadFull(_)))));
    assert_eq!(*types.lock().unwrap(), ["CALL_REJECTED"]);
    assert_eq!((bulkhead.waiting(), bulkhead.metrics().rejected), (0, 1));
}

#[test]
fn without_a_wait_a_thread_does_not_stop_at_a_full_bulkhead() {
    let (bulkhead, _hand) = bulkhead(1, Duration::ZERO);
    let _held = bulkhead.try_acquire().unwrap();
    assert!(bulkhead.acquire_blocking().is_err());
}

#[test]
fn a_panic_of_a_blocking_call_frees_its_slot_and_is_one_failure() {
    let (bulkhead, _hand) = bulkhead(1, Duration::ZERO);
    let breaker = breaker(Clock::system());
    let panics = || -> Result<u32, Failed> { panic!("at work") };
    for call in [&(|| bulkhead.call_blocking(panics)) as &dyn Fn() -> Outcome, &|| {
        breaker.call_blocking(panics)
    }] {
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
    }
    assert_eq!(bulkhead.available_concurrent_calls(), 1);
    assert_eq!((breaker.metrics().failed_calls, breaker.metrics().buffered_calls), (1, 1));
}

#[test]
fn a_thread_waits_for_its_turn_of_a_limiter_behind_a_task() {
    let (limiter, hand) = limiter(1, 9 * SECOND);
    limiter.acquire_blocking(1).unwrap();
    let mut task = pin!(limiter.acquire(1));
    assert!(poll_once(task.as_mut()).is_pending());
    let (types, _subscription) = listen(&limiter.events());
    let thread = thread::spawn({
        let limiter = limiter.clone();
        move || -> Outcome { limiter.call_blocking(|| Ok(7)) }
    });
    until(|| limiter.waiting() == 2);
    hand.advance(SECOND);
    assert_eq!(poll_once(task), Poll::Ready(Ok(())));
    assert_eq!(limiter.waiting(), 1, "the thread's turn is a period later");
    hand.advance(SECOND);
    assert_eq!(thread.join().unwrap(), Ok(7));
    assert_eq!(*types.lock().unwrap(), ["SUCCESSFUL_ACQUIRE"; 2]);
    assert_eq!((limiter.waiting(), limiter.metrics().permitted), (0, 3));
}

#[test]
fn a_thread_is_refused_at_once_when_its_turn_would_come_too_late() {
    let (limiter, _hand) = limiter(1, Duration::ZERO);
    limiter.acquire_blocking(1).unwrap();
    let refused: Outcome = limiter.call_blocking(|| Ok(7));
    assert!(matches!(refused, Err(CallError::Resilience(Error::RequestNotPermitted(_)))));
    assert_eq!(limiter.metrics().refused, 1);
}

#[test]
fn a_breaker_counts_blocking_calls_and_refuses_them() {
    let breaker = breaker(Clock::system());
    let ignored = Rules::new().ignore(|_: &Failed| true);
    assert!(breaker.call_blocking_by(&ignored, || Err::<u32, _>(Failed)).is_err());
    assert_eq!(breaker.metrics().buffered_calls, 0);
    for _ in 0..2 {
        assert_eq!(breaker.call_blocking(|| Err::<u32, _>(Failed)), Err(CallError::Inner(Failed)));
    }
    let refused: Outcome = breaker.call_blocking(|| Ok(7));
    assert!(matches!(refused, Err(CallError::Resilience(Error::CallNotPermitted(_)))));
}

#[test]
fn a_rule_that_panics_about_a_blocking_call_gives_the_probe_back() {
    let breaker = breaker(Clock::system());
    breaker.transition_to(State::Open).unwrap();
    breaker.transition_to(State::HalfOpen).unwrap();
    let rules = Rules::<u32, Failed>::new().ignore(|_| panic!("the rule panics"));
    let stack = Stack::builder().circuit_breaker(breaker.clone()).build();
    for call in
        [&(|| breaker.call_blocking_by(&rules, || Err(Failed))) as &dyn Fn() -> Outcome, &|| {
            stack.call_blocking_by(&rules, || Err(Failed))
        }]
    {
        assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
        assert_eq!(breaker.metrics().buffered_calls, 0);
        assert!(breaker.try_acquire().is_ok());
    }
}

#[test]
fn a_thread_waits_between_attempts_as_long_as_the_clock_says() {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let config = RetryConfig::builder().max_attempts(3).wait_duration(5 * SECOND).build().unwrap();
    let retry = Retry::with_clock("r", config, clock.clone());
    let (types, _subscription) = listen(&retry.events());
    let thread = thread::spawn({
        let retry = retry.clone();
        move || {
            let mut attempts = 0;
            let outcome: Outcome = retry.call_blocking(|| {
                attempts += 1;
                if attempts == 3 { Ok(attempts) } else { Err(Failed) }
            });
            (outcome, clock.now())
        }
    });
    let (outcome, now) = join_by_hand(&hand, thread);
    assert_eq!(outcome, Ok(3));
    assert!(now >= 10_000_000_000, "{now}");
    assert_eq!(*types.lock().unwrap(), ["RETRY", "RETRY", "SUCCESS"]);
    assert_eq!(retry.metrics().successful_with_retry, 1);
}

#[test]
fn a_blocking_retry_follows_its_rules() {
    let retry = Retry::new("r", RetryConfig::default());
    let rules = Rules::new().retry_ignore(|_: &Failed| true);
    let calls = AtomicU32::new(0);
    let outcome = retry.call_blocking_by(&rules, || {
        calls.fetch_add(1, Ordering::Relaxed);
        Err::<u32, _>(Failed)
    });
    assert_eq!(outcome, Err(CallError::Inner(Failed)));
    assert_eq!(calls.into_inner(), 1);
}

#[test]
fn a_blocking_stack_waits_at_every_layer() {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let limiter = limiter_on(clock.clone(), 1, SECOND);
    let config = RetryConfig::builder().max_attempts(4).wait_duration(SECOND).build().unwrap();
    let retry = Retry::with_clock("r", config, clock);
    let stack = Stack::builder().retry(retry).rate_limiter(limiter.clone()).build();
    let thread = thread::spawn(move || -> Outcome { stack.call_blocking(|| Err(Failed)) });
    assert_eq!(join_by_hand(&hand, thread), Err(CallError::Inner(Failed)));
    assert_eq!(limiter.metrics().permitted, 4);
}

#[test]
#[should_panic(
    expected = "the time limiter 't' cannot cut a blocking call short: run the call on a \
                           ThreadPoolBulkhead within an async one"
)]
fn a_blocking_stack_with_a_time_limiter_says_what_to_do_instead() {
    let limit = TimeLimiter::new("t", TimeLimiterConfig::default());
    let stack = Stack::builder().time_limiter(limit).build();
    let _: Outcome = stack.call_blocking(|| Ok(1));
}

#[tokio::test]
async fn a_blocking_stack_keeps_to_a_deadline() {
    let retry = RetryConfig::builder().wait_duration(60 * SECOND).build().unwrap();
    let retry = Retry::new("r", retry);
    let bulkhead = BulkheadConfig::builder()
        .max_concurrent_calls(1)
        .max_wait_duration(60 * SECOND)
        .build()
        .unwrap();
    let bulkhead = Bulkhead::new("b", bulkhead);
    let stack = Stack::builder().retry(retry.clone()).bulkhead(bulkhead.clone()).build();
    let call = |left, fails: fn() -> Result<u32, Failed>| {
        let stack = stack.clone();
        resilience::with_deadline(left, async move { stack.call_blocking(fails) })
    };

    let too_late = call(Duration::ZERO, || panic!("nobody is asked")).await;
    assert!(matches!(too_late, Err(CallError::Resilience(Error::TimedOut(_)))));
    assert_eq!((retry.metrics().total_calls, bulkhead.metrics().permitted), (0, 0));

    let no_time_for_another = call(SECOND, || Err(Failed)).await;
    assert_eq!(no_time_for_another, Err(CallError::Inner(Failed)));
    assert_eq!(bulkhead.metrics().permitted, 1);

    let _held = bulkhead.acquire_blocking().unwrap();
    let cut = call(Duration::from_millis(1), || panic!("nobody is asked")).await;
    assert!(matches!(cut, Err(CallError::Resilience(Error::TimedOut(_)))));
    assert_eq!((bulkhead.waiting(), bulkhead.metrics().cancelled), (0, 1));
}
