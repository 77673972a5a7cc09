//! The cost of a protected call around a body that is ready at once, beside the bare body and
//! tokio's own timeout and semaphore.

use std::{
    future::Future,
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use criterion::{Criterion, criterion_group, criterion_main};
use resilience::{
    Bulkhead, BulkheadConfig, CircuitBreaker, CircuitBreakerConfig, RateLimiter, RateLimiterConfig,
    Retry, RetryConfig, Stack, TimeLimiter, TimeLimiterConfig, circuit_breaker::State,
};

type Answer = Result<u64, resilience::Error>;

fn body(n: u64) -> impl Future<Output = Answer> {
    std::future::ready(Ok(black_box(n)))
}

/// Drives a future that is ready at its first poll, without a runtime's own cost.
fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("the body is ready at once"),
    }
}

fn breaker() -> CircuitBreaker {
    CircuitBreaker::new("bench", CircuitBreakerConfig::default())
}

fn limiter() -> RateLimiter {
    let config = RateLimiterConfig::builder()
        .limit_for_period(u32::MAX)
        .limit_refresh_period(Duration::from_secs(1))
        .build()
        .expect("in range");
    RateLimiter::new("bench", config)
}

fn success(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime");
    let _entered = runtime.enter();
    let mut group = c.benchmark_group("success");
    group.bench_function("bare body", |b| b.iter(|| now(body(1))));

    let retry = Retry::new("bench", RetryConfig::default());
    group.bench_function("retry", |b| b.iter(|| now(retry.call(|| body(1)))));
    let breaker = breaker();
    group.bench_function("circuit breaker", |b| b.iter(|| now(breaker.call(body(1)))));
    let limiter = limiter();
    group.bench_function("rate limiter", |b| b.iter(|| now(limiter.call(body(1)))));
    let time_limiter = TimeLimiter::new("bench", TimeLimiterConfig::default());
    group.bench_function("time limiter", |b| b.iter(|| now(time_limiter.call(body(1)))));
    let bulkhead = Bulkhead::new("bench", BulkheadConfig::default());
    group.bench_function("bulkhead", |b| b.iter(|| now(bulkhead.call(body(1)))));

    let stack = Stack::builder()
        .retry(retry)
        .circuit_breaker(breaker)
        .rate_limiter(limiter)
        .time_limiter(time_limiter)
        .bulkhead(bulkhead)
        .build();
    group.bench_function("stack of five", |b| b.iter(|| now(stack.call(|| body(1)))));
    group.bench_function("attributes, all five", |b| b.iter(|| now(annotated(1))));

    group.bench_function("tokio timeout", |b| {
        b.iter(|| now(tokio::time::timeout(Duration::from_secs(1), body(1))));
    });
    let semaphore = tokio::sync::Semaphore::new(25);
    group.bench_function("tokio semaphore", |b| {
        b.iter(|| {
            let _permit = semaphore.try_acquire();
            now(body(1))
        });
    });
    group.finish();
}

#[resilience::retry(name = "bench")]
#[resilience::circuit_breaker(name = "bench")]
#[resilience::rate_limiter(
    name = "bench",
    limit_for_period = 4_000_000_000,
    limit_refresh_period = "1s"
)]
#[resilience::time_limiter(name = "bench")]
#[resilience::bulkhead(name = "bench")]
async fn annotated(n: u64) -> Answer {
    body(n).await
}

fn refused(c: &mut Criterion) {
    let mut group = c.benchmark_group("refused");
    let breaker = breaker();
    breaker.transition_to(State::ForcedOpen).expect("always allowed");
    group.bench_function("circuit breaker open", |b| b.iter(|| now(breaker.call(body(1)))));
    let config = BulkheadConfig::builder().max_concurrent_calls(0).build().expect("in range");
    let bulkhead = Bulkhead::new("bench", config);
    group.bench_function("bulkhead full", |b| b.iter(|| now(bulkhead.call(body(1)))));
    group.finish();
}

criterion_group!(benches, success, refused);
criterion_main!(benches);
