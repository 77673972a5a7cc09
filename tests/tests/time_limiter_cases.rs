//! Public bug reports about time limits, as behaviour; the names start with the case's id.

use std::{
    future::{Future, pending},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Waker},
    time::Duration,
};

use resilience::{
    CallError, CircuitBreaker, CircuitBreakerConfig, Error, Stack, TimeLimiter, TimeLimiterConfig,
    circuit_breaker::State,
};

type Outcome = Result<u32, CallError<std::io::Error>>;

fn limiter(name: &str, limit: Duration) -> TimeLimiter {
    let config = TimeLimiterConfig::builder().timeout_duration(limit).build().expect("in range");
    TimeLimiter::new(name, config)
}

struct OnDrop(Arc<AtomicU32>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn g01_a_body_that_timed_out_is_really_stopped() {
    let (dropped, ran_on) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let body = {
        let (guard, ran_on) = (OnDrop(Arc::clone(&dropped)), Arc::clone(&ran_on));
        async move {
            let _guard = guard;
            tokio::time::sleep(Duration::from_secs(30)).await;
            ran_on.fetch_add(1, Ordering::Relaxed);
            Ok(1)
        }
    };
    let started = tokio::time::Instant::now();
    let result: Outcome = limiter("t", Duration::from_secs(5)).call(body).await;
    assert!(matches!(result, Err(CallError::Resilience(Error::TimedOut(_)))));
    assert_eq!(started.elapsed(), Duration::from_secs(5));
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(ran_on.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn g03_a_timeout_tells_whose_limit_it_was_and_a_drop_is_none() {
    let inner = limiter("inner", Duration::from_secs(1));
    let outer = limiter("outer", Duration::from_secs(2));
    let nested = outer.call(async {
        inner.call(pending::<Result<u32, std::io::Error>>()).await.map_err(|error| match error {
            CallError::Resilience(error) => error,
            CallError::Inner(_) => unreachable!("the body never ends"),
        })
    });
    let Err(CallError::Inner(Error::TimedOut(timed_out))) = nested.await else {
        panic!("the inner limit is the shorter one")
    };
    assert_eq!((timed_out.instance(), timed_out.limit()), ("inner", Duration::from_secs(1)));
    assert_eq!(outer.metrics().timeout, 0);

    {
        let mut call = pin!(inner.call(pending::<Result<u32, std::io::Error>>()));
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(inner.metrics().timeout, 1, "only the first call timed out");
}

#[tokio::test(start_paused = true)]
async fn g05_the_breaker_sees_every_timeout() {
    let config = CircuitBreakerConfig::builder()
        .sliding_window_size(2)
        .minimum_number_of_calls(2)
        .build()
        .unwrap();
    let breaker = CircuitBreaker::new("b", config);
    let stack = Stack::builder()
        .circuit_breaker(breaker.clone())
        .time_limiter(limiter("t", Duration::from_secs(1)))
        .build();
    for _ in 0..2 {
        let result: Outcome = stack.call(pending).await;
        assert!(result.is_err());
    }
    assert_eq!(breaker.state(), State::Open);
    assert!((breaker.metrics().failure_rate - 100.0).abs() < f32::EPSILON);
}

#[tokio::test(start_paused = true)]
async fn g06_a_limit_of_zero_is_refused_and_the_longest_does_not_overflow() {
    let zero = TimeLimiterConfig::builder().timeout_duration(Duration::ZERO).build();
    assert_eq!(
        zero.unwrap_err().to_string(),
        "timeout_duration = 0ms: expected a duration of at least 1ns, such as 500ms, 2s or 1m30s"
    );
    let longest = limiter("t", Duration::MAX);
    let sleep = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(1)
    };
    let result: Outcome = longest.call(sleep).await;
    assert_eq!(result.unwrap(), 1);
}
