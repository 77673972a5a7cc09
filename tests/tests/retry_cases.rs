//! Public bug reports about retries, as behaviour; the names start with the case's id.

use std::{
    collections::HashSet,
    future::Future,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Waker},
    time::Duration,
};

use resilience::{
    CallError, CircuitBreaker, CircuitBreakerConfig, Error, Retry, RetryConfig, Rules, Stack,
    events::Event,
    retry::{Interval, RetryEvent, RetryEventKind},
};

#[derive(Debug, Clone, PartialEq)]
struct Failed;

const SECOND: Duration = Duration::from_secs(1);

fn retry(attempts: u32, interval: Interval) -> Retry {
    let config =
        RetryConfig::builder().max_attempts(attempts).interval(interval).build().expect("in range");
    Retry::new("r", config)
}

#[test]
fn d01_d02_d03_exponential_waits_grow_up_to_the_cap_and_stay_there() {
    let cap = Duration::from_mins(5);
    let interval = Interval::exponential(Duration::from_secs(2), 2.0).max(cap);
    let mut last = Duration::ZERO;
    for attempt in (1..=5_000).chain([u32::MAX]) {
        let wait = interval.wait(attempt, 0.0).unwrap();
        assert!(wait >= last && wait <= cap, "attempt {attempt}: {wait:?} after {last:?}");
        last = wait;
    }
    assert_eq!(last, cap);
}

#[test]
fn d06_d07_d09_jitter_stays_within_the_cap_and_goes_on_varying_there() {
    let cap = Duration::from_secs(10);
    let interval = Interval::exponential(SECOND, 2.0).max(cap).jitter(0.5);
    let waits: Vec<_> = (0..100_000).map(|_| interval.wait(40, fastrand::f64()).unwrap()).collect();
    assert!(waits.iter().all(|wait| *wait <= cap && *wait >= cap / 2));
    assert!(waits.iter().collect::<HashSet<_>>().len() > 1_000);
    let bin =
        |wait: &Duration| wait.saturating_sub(cap / 2).as_nanos() * 100 / (cap / 2).as_nanos();
    let mut bins = [0_u32; 101];
    for wait in &waits {
        bins[usize::try_from(bin(wait)).unwrap()] += 1;
    }
    assert!(bins.iter().all(|n| *n < 5_000), "no hundredth of the range holds a twentieth of all");
}

#[test]
fn every_wait_of_five_thousand_attempts_lies_within_the_cap_and_varies_there() {
    let cap = Duration::from_secs(10);
    for interval in [
        Interval::exponential(SECOND, 2.0).max(cap).jitter(0.5),
        Interval::fixed(20 * SECOND).max(cap).jitter(0.5),
        Interval::exponential(Duration::MAX, 1e300).max(cap).jitter(0.5),
    ] {
        for attempt in 0..5_000 {
            let waits: HashSet<_> =
                (0..20).map(|n| interval.wait(attempt, f64::from(n) / 20.0).unwrap()).collect();
            assert!(waits.iter().all(|wait| *wait <= cap), "{attempt}: {waits:?}");
            assert!(waits.len() > 10, "{attempt}: {waits:?}");
        }
    }
}

#[test]
fn d08_jitter_beyond_the_wait_itself_is_refused() {
    let interval = Interval::fixed(SECOND).jitter(1.5);
    let error = RetryConfig::builder().interval(interval).build().unwrap_err();
    assert_eq!(error.to_string(), "jitter = 1.5: expected a number from 0 to 1");
    assert!(RetryConfig::builder().randomized_wait_factor(1.0).build().is_err());
}

#[tokio::test(start_paused = true)]
async fn d10_d11_attempts_start_when_the_waits_are_over_counted_from_the_first_poll() {
    let retry = retry(3, Interval::exponential(SECOND, 2.0));
    let starts = Mutex::new(Vec::new());
    let call = retry.call(|| {
        starts.lock().unwrap().push(tokio::time::Instant::now());
        async { Err::<(), _>(Failed) }
    });
    tokio::time::sleep(Duration::from_mins(1)).await;
    let polled = tokio::time::Instant::now();
    assert!(call.await.is_err());
    let offsets: Vec<_> = starts.lock().unwrap().iter().map(|s| s.duration_since(polled)).collect();
    assert_eq!(offsets, [Duration::ZERO, SECOND, SECOND * 3]);
}

#[tokio::test(start_paused = true)]
async fn d14_a_call_dropped_while_it_waits_makes_no_attempt_and_no_event() {
    let retry = retry(3, Interval::fixed(SECOND));
    let attempts = AtomicU32::new(0);
    let events = Arc::new(AtomicU32::new(0));
    let _subscription = retry.events().subscribe({
        let events = Arc::clone(&events);
        move |_| {
            events.fetch_add(1, Ordering::Relaxed);
        }
    });
    {
        let mut call = pin!(retry.call(|| {
            attempts.fetch_add(1, Ordering::Relaxed);
            async { Err::<(), _>(Failed) }
        }));
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    tokio::time::sleep(SECOND * 10).await;
    assert_eq!(attempts.load(Ordering::Relaxed), 1);
    assert_eq!(events.load(Ordering::Relaxed), 1, "only the event of the wait that was begun");
}

#[tokio::test(start_paused = true)]
async fn d15_an_open_breaker_ends_the_retry_at_once_unless_the_configuration_says_otherwise() {
    let breaker = || {
        let config = CircuitBreakerConfig::builder()
            .sliding_window_size(2)
            .minimum_number_of_calls(2)
            .build()
            .unwrap();
        CircuitBreaker::new("b", config)
    };
    let backend = AtomicU32::new(0);
    let fails = || {
        backend.fetch_add(1, Ordering::Relaxed);
        async { Err::<(), _>(Failed) }
    };
    let stack = Stack::builder()
        .retry(retry(5, Interval::fixed(SECOND)))
        .circuit_breaker(breaker())
        .build();
    let result = stack.call(fails).await;
    assert!(matches!(result, Err(CallError::Resilience(Error::CallNotPermitted(_)))));
    assert_eq!(backend.swap(0, Ordering::Relaxed), 2);

    let config = RetryConfig::builder()
        .max_attempts(5)
        .retry_errors(["call_not_permitted", "error"])
        .build()
        .unwrap();
    let retry = Retry::new("r", config);
    let rules = Rules::new().retry_if(|_: &Failed| true);
    let stack = Stack::builder().retry(retry.clone()).circuit_breaker(breaker()).build();
    assert!(stack.call_by(&rules, fails).await.is_err());
    assert_eq!(backend.load(Ordering::Relaxed), 2);
    assert_eq!(retry.metrics().total_calls, 5);
}

#[tokio::test(start_paused = true)]
async fn d20_a_hint_of_an_hour_waits_no_longer_than_the_bound() {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    let retry = retry(2, Interval::fixed(SECOND));
    for (asked, waited) in [(3_600, 30), (5, 5), (0, 1)] {
        let started = tokio::time::Instant::now();
        ASKED.store(asked, Ordering::Relaxed);
        let rules = Rules::new().retry_after(|_: &Failed| {
            Some(Duration::from_secs(ASKED.load(Ordering::Relaxed).into()))
        });
        assert!(retry.call_by(&rules, || async { Err::<(), _>(Failed) }).await.is_err());
        assert_eq!(started.elapsed(), Duration::from_secs(waited));
    }
}

#[tokio::test]
async fn d23_a_wait_of_zero_is_zero() {
    let config = RetryConfig::builder().wait_duration(Duration::ZERO).build().unwrap();
    let retry = Retry::new("r", config);
    let mut call = pin!(retry.call(|| async { Err::<(), _>(Failed) }));
    assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
}

#[tokio::test]
async fn a_retry_that_never_waits_still_lets_others_run() {
    let config = RetryConfig::builder()
        .max_attempts(u32::MAX)
        .wait_duration(Duration::ZERO)
        .build()
        .unwrap();
    let retry = Retry::new("r", config);
    let call = retry.call(|| async { Err::<(), _>(Failed) });
    assert!(tokio::time::timeout(Duration::from_millis(5), call).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn d27_three_attempts_are_three_calls() {
    let retry = retry(3, Interval::fixed(SECOND));
    let calls = AtomicU32::new(0);
    let call = retry.call(|| {
        calls.fetch_add(1, Ordering::Relaxed);
        async { Err::<(), _>(Failed) }
    });
    assert_eq!(call.await, Err(CallError::Inner(Failed)));
    assert_eq!(calls.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn d24_an_interval_of_ones_own_can_say_stop() {
    let retry = retry(9, Interval::custom(|attempt| (attempt < 3).then_some(SECOND)));
    let attempts = AtomicU32::new(0);
    let result = retry
        .call(|| {
            attempts.fetch_add(1, Ordering::Relaxed);
            async { Err::<(), _>(Failed) }
        })
        .await;
    assert_eq!(result, Err(CallError::Inner(Failed)));
    assert_eq!(attempts.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn d25_d26_running_out_on_results_is_told_as_an_error_and_returns_the_last_result() {
    for fail in [false, true] {
        let config = RetryConfig::builder().fail_after_max_attempts(fail).build().unwrap();
        let retry = Retry::new("r", config);
        let types = Arc::new(Mutex::new(Vec::new()));
        let _subscription = retry.events().subscribe({
            let types = Arc::clone(&types);
            move |event: &RetryEvent| {
                let (RetryEventKind::Retry { attempts, .. }
                | RetryEventKind::Error { attempts, .. }) = event.kind
                else {
                    panic!("{event}")
                };
                types.lock().unwrap().push((event.type_name(), attempts));
            }
        });
        let rules = Rules::new().retry_result(|n: &u32| *n == 0);
        let result: Result<u32, CallError<Failed>> =
            retry.call_by(&rules, || async { Ok(0) }).await;
        if fail {
            let Err(CallError::Resilience(error)) = result else { panic!("{result:?}") };
            assert_eq!(error.to_string(), "Retry 'r' has exhausted all attempts (3)");
        } else {
            assert_eq!(result, Ok(0));
        }
        assert_eq!(*types.lock().unwrap(), [("RETRY", 1), ("RETRY", 2), ("ERROR", 3)]);
    }
}
