//! Deadlines: what a call publishes, and how the calls below keep to it.

use std::{
    pin::pin,
    sync::atomic::{AtomicU32, Ordering},
    task::{Context, Poll, Waker},
    time::Duration,
};

use resilience::{
    Bulkhead, BulkheadConfig, CallError, CircuitBreaker, CircuitBreakerConfig, Clock, Config,
    Error, RateLimiter, RateLimiterConfig, Resilience, Retry, RetryConfig, Stack, TimeLimiter,
    TimeLimiterConfig, TimedOut, bulkhead, circuit_breaker, config::Pattern, deadline, retry,
    time_limiter, with_deadline,
};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);
const MILLISECOND: Duration = Duration::from_millis(1);

fn registry() -> Resilience {
    Resilience::from_config(Config::default()).expect("nothing to be wrong")
}

fn breaker() -> CircuitBreaker {
    CircuitBreaker::new("breaker", CircuitBreakerConfig::default())
}

fn limiter(name: &str, limit: Duration) -> TimeLimiter {
    let config = TimeLimiterConfig::builder().timeout_duration(limit).build().expect("in range");
    TimeLimiter::new(name, config)
}

fn timed_out<T: std::fmt::Debug>(outcome: Result<T, CallError<Error>>) -> TimedOut {
    match outcome {
        Err(CallError::Resilience(Error::TimedOut(error))) => error,
        other => panic!("{other:?}"),
    }
}

async fn hang() -> Result<u32, Error> {
    std::future::pending().await
}

// What is published.

#[time_limiter(name = "published", timeout_duration = "3s", deadline)]
async fn limited() -> Result<Option<Duration>, Error> {
    tokio::time::sleep(SECOND).await;
    Ok(deadline())
}

#[retry(name = "publishedTotal", total_timeout = "2s", deadline)]
#[time_limiter(name = "publishedTotal", timeout_duration = "3s")]
async fn limited_in_total() -> Result<Option<Duration>, Error> {
    Ok(deadline())
}

#[time_limiter(name = "silent", timeout_duration = "3s")]
async fn silent() -> Result<Option<Duration>, Error> {
    Ok(deadline())
}

#[tokio::test(start_paused = true)]
async fn a_function_that_asks_for_it_publishes_the_end_of_its_time() {
    let registry = registry();
    assert_eq!(registry.scope(limited()).await, Ok(Some(SECOND * 2)), "a second has passed");
    assert_eq!(registry.scope(limited_in_total()).await, Ok(Some(SECOND * 2)), "the earlier one");
    assert_eq!(registry.scope(silent()).await, Ok(None), "nobody asked");
    assert_eq!(deadline(), None);
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_is_switched_off_publishes_nothing() {
    let registry = registry();
    registry.set_enabled(Pattern::TimeLimiter, false);
    assert_eq!(registry.scope(limited()).await, Ok(None));
    registry.set_enabled(Pattern::Retry, false);
    assert_eq!(registry.scope(limited_in_total()).await, Ok(None));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_is_never_later_than_the_one_around_it() {
    let registry = registry();
    let inside = with_deadline(SECOND, async {
        let further_in = with_deadline(SECOND * 9, async { deadline() }).await;
        (registry.scope(limited_in_total()).await, registry.scope(silent()).await, further_in)
    });
    let one = Some(SECOND);
    assert_eq!(inside.await, (Ok(one), Ok(one), one), "and it is there without any flag too");
}

#[tokio::test(start_paused = true)]
async fn every_attempt_publishes_the_end_of_its_own_limit() {
    let retry = Retry::new("r", RetryConfig::builder().wait_duration(SECOND).build().unwrap());
    let stack =
        Stack::builder().retry(retry).time_limiter(limiter("t", SECOND * 3)).deadline().build();
    let mut seen = Vec::new();
    let outcome = stack
        .call(|| {
            seen.push(());
            async { Err::<(), _>(deadline()) }
        })
        .await;
    assert_eq!(outcome, Err(CallError::Inner(Some(SECOND * 3))));
    assert_eq!(seen.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn time_left_is_zero_once_it_is_over() {
    let left = with_deadline(SECOND, async {
        tokio::time::sleep(SECOND * 5).await;
        deadline()
    });
    assert_eq!(left.await, Some(Duration::ZERO), "and the future itself was not cut short");
}

// How nested calls keep to it.

#[circuit_breaker(name = "inner")]
async fn inner(runs: &AtomicU32) -> Result<u32, Error> {
    runs.fetch_add(1, Ordering::Relaxed);
    hang().await
}

#[time_limiter(name = "outer", timeout_duration = "1s", deadline)]
async fn outer(runs: &AtomicU32) -> Result<u32, Error> {
    inner(runs).await
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_is_cut_and_both_breaker_and_limiter_count_a_timeout() {
    let (registry, runs, start) = (registry(), AtomicU32::new(0), Instant::now());
    let Err(Error::TimedOut(error)) = registry.scope(outer(&runs)).await else { panic!() };
    assert_eq!(start.elapsed().as_secs(), 1);
    assert_eq!((error.instance(), error.is_deadline()), ("outer", false), "its own limit");
    assert_eq!(registry.circuit_breaker("inner").metrics().failed_calls, 1);
    let metrics = registry.time_limiter("outer").metrics();
    assert_eq!((metrics.timeout, metrics.failed), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_says_that_it_is_one_and_whose() {
    let stack = Stack::builder().circuit_breaker(breaker()).build();
    let error = timed_out(with_deadline(SECOND * 2, stack.call(hang)).await);
    assert!(error.is_deadline());
    assert_eq!((error.instance(), error.limit()), ("caller", SECOND * 2));
    assert_eq!(error.to_string(), "Deadline of 'caller' was exceeded");
    assert_eq!(Error::from(error).kind(), "timeout");

    let retry = RetryConfig::builder().total_timeout(SECOND).build().unwrap();
    let outer = Stack::builder().retry(Retry::new("total", retry)).deadline().build();
    let start = Instant::now();
    let outcome = outer.call(|| stack.call(hang)).await;
    let Err(CallError::Inner(nested)) = outcome else { panic!("the last error: {outcome:?}") };
    assert_eq!(timed_out(Err::<(), _>(nested)).instance(), "total");
    assert_eq!(start.elapsed(), SECOND, "and no attempt after it");
}

#[tokio::test(start_paused = true)]
async fn the_shorter_of_limit_and_deadline_cuts_and_only_its_own_is_the_limiters() {
    let own = limiter("own", SECOND * 2);
    let stack = Stack::builder().time_limiter(own.clone()).build();
    let error = timed_out(with_deadline(SECOND, stack.call(hang)).await);
    assert!(error.is_deadline());
    assert_eq!(own.metrics(), limiter("fresh", SECOND).metrics(), "nothing is counted");
    let error = timed_out(with_deadline(SECOND * 3, stack.call(hang)).await);
    assert!(!error.is_deadline());
    assert_eq!(own.metrics().timeout, 1);
    let _: Result<u32, CallError<Error>> =
        with_deadline(SECOND, stack.call(|| async { Ok(1) })).await;
    assert_eq!(own.metrics().successful, 1, "what ends in time is counted as ever");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_comes_too_late_reaches_no_layer() {
    let (breaker, runs) = (breaker(), AtomicU32::new(0));
    let retry = Retry::new("r", RetryConfig::default());
    let stack = Stack::builder().retry(retry.clone()).circuit_breaker(breaker.clone()).build();
    let outcome = with_deadline(Duration::ZERO, async {
        stack
            .call(|| async {
                runs.fetch_add(1, Ordering::Relaxed);
                Ok::<_, Error>(1)
            })
            .await
    });
    let error = timed_out(outcome.await);
    assert_eq!((error.is_deadline(), error.limit()), (true, Duration::ZERO));
    assert_eq!(runs.into_inner(), 0);
    assert_eq!(breaker.metrics(), self::breaker().metrics());
    assert_eq!(retry.metrics(), Retry::new("r", RetryConfig::default()).metrics());
}

#[tokio::test(start_paused = true)]
async fn an_error_at_the_deadline_is_the_deadline_and_a_success_wins() {
    let stack = Stack::builder().circuit_breaker(breaker()).build();
    let late = |outcome: Result<u32, &'static str>| async move {
        tokio::time::sleep(SECOND).await;
        outcome
    };
    let failed = with_deadline(SECOND, stack.call(|| late(Err("late")))).await;
    assert!(matches!(failed, Err(CallError::Resilience(Error::TimedOut(_)))));
    assert_eq!(with_deadline(SECOND, stack.call(|| late(Ok(3)))).await, Ok(3));
    let just_in_time = with_deadline(SECOND + MILLISECOND, stack.call(|| late(Err("early")))).await;
    assert_eq!(just_in_time, Err(CallError::Inner("early")));
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_slot_is_cut_at_the_deadline() {
    let config = BulkheadConfig::builder()
        .max_concurrent_calls(1)
        .max_wait_duration(SECOND * 60)
        .build()
        .unwrap();
    let bulkhead = Bulkhead::new("b", config);
    let (held, breaker, start) = (bulkhead.try_acquire().unwrap(), breaker(), Instant::now());
    let stack =
        Stack::builder().circuit_breaker(breaker.clone()).bulkhead(bulkhead.clone()).build();
    assert!(timed_out(with_deadline(SECOND, stack.call(hang)).await).is_deadline());
    assert_eq!(start.elapsed(), SECOND);
    assert_eq!((bulkhead.waiting(), breaker.metrics().failed_calls), (0, 1));
    drop(held);
    assert_eq!(bulkhead.available_concurrent_calls(), 1);
}

fn once_in(period: Duration) -> RateLimiter {
    let config = RateLimiterConfig::builder()
        .limit_for_period(1)
        .limit_refresh_period(period)
        .timeout_duration(SECOND * 60)
        .build()
        .expect("in range");
    RateLimiter::new("rate", config)
}

#[tokio::test(start_paused = true)]
async fn a_rate_limiters_wait_that_cannot_end_in_time_is_refused_at_once() {
    let rate = once_in(SECOND * 10);
    let stack = Stack::builder().rate_limiter(rate.clone()).build();
    rate.try_acquire(1).unwrap();
    let start = Instant::now();
    let outcome = with_deadline(SECOND, stack.call(|| async { Ok::<_, Error>(1) })).await;
    assert!(matches!(outcome, Err(CallError::Resilience(Error::RequestNotPermitted(_)))));
    assert_eq!((start.elapsed(), rate.waiting()), (Duration::ZERO, 0));
    let outcome = with_deadline(SECOND * 11, stack.call(|| async { Ok::<_, Error>(1) })).await;
    assert_eq!(outcome, Ok(1), "it waits where there is time");
}

#[test]
fn a_turn_that_comes_too_late_is_not_held_against_the_callee() {
    let (clock, hand) = Clock::manual(SECOND);
    let config = RateLimiterConfig::builder()
        .limit_for_period(1)
        .limit_refresh_period(SECOND)
        .build()
        .unwrap();
    let rate = RateLimiter::with_clock("rate", config, clock.clone());
    let breaker = CircuitBreaker::with_clock("b", CircuitBreakerConfig::default(), clock.clone());
    let outer = TimeLimiterConfig::builder().timeout_duration(SECOND * 2).build().unwrap();
    let outer = TimeLimiter::with_clock("outer", outer, clock);
    let outer = Stack::builder().time_limiter(outer).deadline().build();
    let stack =
        Stack::builder().circuit_breaker(breaker.clone()).rate_limiter(rate.clone()).build();
    rate.try_acquire(1).unwrap();
    let runs = AtomicU32::new(0);
    let mut call = pin!(outer.call(|| stack.call(|| async {
        runs.fetch_add(1, Ordering::Relaxed);
        Ok::<_, Error>(1)
    })));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(call.as_mut().poll(&mut cx).is_pending());
    hand.advance(SECOND * 5);
    let Poll::Ready(outcome) = call.poll(&mut cx) else { panic!() };
    assert!(matches!(outcome, Err(CallError::Resilience(Error::TimedOut(_)))));
    assert_eq!((runs.load(Ordering::Relaxed), breaker.metrics().failed_calls), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn no_attempt_starts_whose_wait_would_end_after_the_deadline() {
    let config = RetryConfig::builder().max_attempts(9).wait_duration(SECOND).build().unwrap();
    let retry = Retry::new("r", config);
    let stack = Stack::builder().retry(retry.clone()).build();
    for alone in [false, true] {
        let (made, start) = (AtomicU32::new(0), Instant::now());
        let operation = || async {
            made.fetch_add(1, Ordering::Relaxed);
            Err::<(), _>("down")
        };
        let outcome = with_deadline(SECOND * 2, async {
            if alone { retry.call(operation).await } else { stack.call(operation).await }
        });
        assert_eq!(outcome.await, Err(CallError::Inner("down")), "the last error");
        assert_eq!((made.into_inner(), start.elapsed()), (2, SECOND), "at 0 and 1 s");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_of_another_clock_is_converted_by_what_is_left() {
    let (clock, hand) = Clock::manual(SECOND * 7);
    let registry = Resilience::with_clock(Config::default(), clock).unwrap();
    let call = with_deadline(SECOND, registry.scope(limited()));
    let mut call = pin!(call);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(call.as_mut().poll(&mut cx).is_pending());
    hand.advance(MILLISECOND * 999);
    assert!(call.as_mut().poll(&mut cx).is_pending());
    hand.advance(MILLISECOND);
    let Poll::Ready(Err(Error::TimedOut(error))) = call.poll(&mut cx) else { panic!() };
    assert_eq!((error.instance(), error.is_deadline()), ("caller", true));
}

// Where it goes.

#[time_limiter(name = "detached", timeout_duration = "3s", detach, deadline)]
async fn detached() -> Result<Option<Duration>, Error> {
    tokio::task::yield_now().await;
    Ok(deadline())
}

#[bulkhead(name = "pool", type = "thread_pool")]
#[time_limiter(name = "pool", timeout_duration = "3s", deadline)]
fn on_a_thread() -> Result<Option<Duration>, Error> {
    Ok(deadline())
}

#[tokio::test(start_paused = true)]
async fn it_follows_into_spawn_detached_bodies_and_threads_but_not_into_a_bare_spawn() {
    let registry = registry();
    assert_eq!(registry.scope(detached()).await, Ok(Some(SECOND * 3)));
    let left = with_deadline(SECOND, async {
        (
            registry.spawn(async { deadline() }).await.unwrap(),
            tokio::spawn(async { deadline() }).await.unwrap(),
            registry.scope(detached()).await.unwrap(),
        )
    });
    assert_eq!(left.await, (Some(SECOND), None, Some(SECOND)));
}

#[tokio::test]
async fn it_follows_to_a_thread_of_a_pool() {
    let left = registry().scope(on_a_thread()).await.unwrap().expect("a deadline");
    assert!(left <= SECOND * 3 && left > SECOND, "{left:?}");
}

// What is left behind.

#[derive(Clone)]
struct Layers {
    outer: Stack,
    inner: Stack,
    breaker: CircuitBreaker,
    rate: RateLimiter,
    bulkhead: Bulkhead,
}

impl Layers {
    fn new() -> Self {
        let (breaker, rate) = (breaker(), once_in(MILLISECOND));
        let bulkhead = Bulkhead::new("b", BulkheadConfig::default());
        let retry = RetryConfig::builder().wait_duration(MILLISECOND).build().expect("in range");
        let outer = Stack::builder()
            .retry(Retry::new("outer", retry.clone()))
            .time_limiter(limiter("outer", SECOND))
            .bulkhead(bulkhead.clone())
            .deadline();
        let inner = Stack::builder()
            .retry(Retry::new("inner", retry))
            .circuit_breaker(breaker.clone())
            .rate_limiter(rate.clone())
            .bulkhead(bulkhead.clone());
        Self { outer: outer.build(), inner: inner.build(), breaker, rate, bulkhead }
    }

    /// Fails after a few polls, in every one of three attempts of each retry; may panic once.
    async fn call(&self, panic_at: Option<u32>) -> Result<u32, CallError<CallError<&'static str>>> {
        let polls = AtomicU32::new(0);
        let body = || async {
            for _ in 0..3 {
                let poll = polls.fetch_add(1, Ordering::Relaxed);
                assert_ne!(Some(poll), panic_at, "as the test wants it");
                tokio::task::yield_now().await;
            }
            Err("down")
        };
        self.outer.call(|| self.inner.call(body)).await
    }

    fn assert_idle(&self, when: &str) {
        assert_eq!(self.bulkhead.available_concurrent_calls(), 25, "{when}");
        assert_eq!((self.bulkhead.waiting(), self.rate.waiting()), (0, 0), "{when}");
        assert_eq!(deadline(), None, "{when}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_drop_or_panic_at_any_poll_leaves_every_gauge_idle_and_no_deadline_behind() {
    let mut longest = 0;
    for drop_at in 0.. {
        let layers = Layers::new();
        let mut call = Box::pin(layers.call(None));
        let mut polls = 0;
        let finished = std::future::poll_fn(|cx| {
            if polls == drop_at {
                return Poll::Ready(false);
            }
            polls += 1;
            call.as_mut().poll(cx).map(|_| true)
        })
        .await;
        drop(call);
        layers.assert_idle(&format!("dropped after {drop_at} polls"));
        if finished {
            longest = drop_at;
            break;
        }
    }
    assert!(longest > 20, "there were attempts, waits and turns: {longest}");
    for panic_at in 0..27 {
        let layers = Layers::new();
        let caught = tokio::spawn({
            let layers = layers.clone();
            async move {
                let _ = layers.call(Some(panic_at)).await;
            }
        });
        assert!(caught.await.unwrap_err().is_panic());
        layers.assert_idle(&format!("a panic in poll {panic_at}"));
        let failed = layers.breaker.metrics().failed_calls;
        assert_eq!(failed, u64::from(panic_at / 3 + 1), "one failure for the panic");
    }
}

/// Runs a call under a deadline of a second; tells the milliseconds too.
async fn within_a_second<F: Future>(call: F) -> (F::Output, u128) {
    let start = tokio::time::Instant::now();
    let answer = with_deadline(SECOND, call).await;
    (answer, start.elapsed().as_millis())
}

fn busy(wait: Duration) -> (Bulkhead, bulkhead::Permit) {
    let config = BulkheadConfig::builder().max_concurrent_calls(1).max_wait_duration(wait);
    let bulkhead = Bulkhead::new("b", config.build().expect("in range"));
    let permit = bulkhead.try_acquire().expect("nobody else takes it");
    (bulkhead, permit)
}

#[tokio::test(start_paused = true)]
async fn a_lone_bulkhead_waits_no_longer_than_the_deadline() {
    let (bulkhead, permit) = busy(SECOND * 100);
    let (answer, took) = within_a_second(bulkhead.call(async { Ok(1) })).await;
    assert!(timed_out(answer).is_deadline());
    assert_eq!((took, bulkhead.metrics().cancelled, bulkhead.waiting()), (1_000, 1, 0));
    let (answer, took) = within_a_second(bulkhead.acquire()).await;
    assert!(answer.is_err());
    assert_eq!((took, bulkhead.metrics().rejected, bulkhead.waiting()), (1_000, 1, 0));
    drop(permit);
    let late = with_deadline(Duration::ZERO, bulkhead.call(async { Ok(1) }));
    assert!(timed_out(late.await).is_deadline());
    assert!(within_a_second(bulkhead.call(async { Ok::<_, Error>(1) })).await.0.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_wait_is_over_keeps_no_place_though_its_future_is_kept() {
    let (bulkhead, permit) = busy(SECOND * 100);
    let mut call = std::pin::pin!(bulkhead.call(async { Ok(1) }));
    assert!(timed_out(with_deadline(SECOND, call.as_mut()).await).is_deadline());
    assert_eq!(bulkhead.waiting(), 0);
    drop(permit);
    assert!(bulkhead.try_acquire().is_ok(), "the slot was given to a call that is over");
}

#[tokio::test(start_paused = true)]
async fn a_lone_rate_limiter_refuses_what_cannot_start_before_the_deadline() {
    let limiter = once_in(SECOND * 2);
    let (answer, took) = within_a_second(limiter.call(async { Ok::<_, Error>(1) })).await;
    assert!(answer.is_ok() && took == 0);
    let (answer, took) = within_a_second(limiter.call(async { Ok::<_, Error>(1) })).await;
    assert!(matches!(answer, Err(CallError::Resilience(Error::RequestNotPermitted(_)))));
    assert_eq!(took, 0);
    assert!(within_a_second(limiter.acquire(1)).await.0.is_err());
    let late = with_deadline(Duration::ZERO, limiter.call(async { Ok(1) }));
    assert!(timed_out(late.await).is_deadline());
    assert_eq!(limiter.metrics().refused, 2);
}

#[tokio::test(start_paused = true)]
async fn a_lone_time_limiter_is_bounded_by_the_deadline_and_counts_only_its_own() {
    let limiter = limiter("lone", SECOND * 100);
    let (answer, took) = within_a_second(limiter.call(hang())).await;
    assert!(timed_out(answer).is_deadline());
    assert_eq!((took, limiter.metrics().timeout), (1_000, 0));
    let short = self::limiter("short", SECOND / 2);
    let (answer, took) = within_a_second(short.call(hang())).await;
    assert!(!timed_out(answer).is_deadline());
    assert_eq!((took, short.metrics().timeout), (500, 1));
    let late = with_deadline(Duration::ZERO, limiter.call(async { Ok(1) }));
    assert!(timed_out(late.await).is_deadline());
    limiter.set_enabled(false);
    assert!(within_a_second(limiter.call(async { Ok::<_, Error>(1) })).await.0.is_ok());
}

#[tokio::test]
async fn lone_blocking_calls_keep_to_the_deadline() {
    let (bulkhead, _permit) = busy(SECOND * 100);
    let soon = Duration::from_millis(20);
    let call = async { bulkhead.call_blocking(|| Ok::<_, Error>(1)) };
    assert!(timed_out(with_deadline(soon, call).await).is_deadline());
    let call = async { bulkhead.acquire_blocking().is_err() };
    assert!(with_deadline(soon, call).await);
    let limiter = once_in(SECOND * 100);
    limiter.try_acquire(1).unwrap();
    let call = async { limiter.call_blocking(|| Ok::<_, Error>(1)).is_err() };
    assert!(with_deadline(soon, call).await);
    let late = async { limiter.call_blocking(|| Ok(1)) };
    assert!(timed_out(with_deadline(Duration::ZERO, late).await).is_deadline());
}
