//! A program that has made calls of every pattern, for the tests of what can be seen of it.

use std::{convert::Infallible, future, time::Duration};

use resilience::{
    CircuitBreaker, Clock, Config, ManualClock, Resilience, circuit_breaker::State, config::Format,
};

/// How the program is configured: an instance called `payment` of every pattern, and keyed breakers.
pub const CONFIG: &str = "
circuitbreaker.instances:
  payment:
    sliding_window_size: 4
    minimum_number_of_calls: 4
    slow_call_duration_threshold: 50ms
    wait_duration_in_open_state: 10s
    ignore_errors: [not_found]
  shard: { sliding_window_size: 2, minimum_number_of_calls: 2, metric_keys: [eu] }
retry:
  budgets: { backend: { ratio: 0.2, min_per_second: 1 } }
  instances.payment: { max_attempts: 3, wait_duration: 0, budget: backend }
ratelimiter.instances.payment: { limit_for_period: 1, limit_refresh_period: 1h, timeout_duration: 0 }
timelimiter.instances.payment: { timeout_duration: 1s }
bulkhead.instances.payment: { max_concurrent_calls: 1, max_wait_duration: 0 }
thread-pool-bulkhead.instances.payment: { core_thread_pool_size: 1, max_thread_pool_size: 2, queue_capacity: 3 }
";

/// The configuration of a text, as the program `orders` has it.
///
/// # Panics
///
/// When something is wrong with it.
pub fn config(yaml: &str) -> Config {
    let builder = Config::builder().env(false).text(yaml, Format::Yaml).application("orders");
    builder.load().unwrap_or_else(|error| panic!("{error}"))
}

/// A registry on a clock of its own.
///
/// # Panics
///
/// When something is wrong with the configuration.
pub fn registry(yaml: &str) -> (Resilience, ManualClock) {
    let (clock, hand) = Clock::manual(Duration::from_hours(1));
    let registry = Resilience::with_clock(config(yaml), clock);
    (registry.unwrap_or_else(|error| panic!("{error}")), hand)
}

/// A program that has made its calls.
pub async fn program() -> (Resilience, ManualClock) {
    let (registry, hand) = registry(CONFIG);
    breaker(&registry.circuit_breaker("payment"), &hand);
    for key in ["eu", "us", "us"] {
        succeed(&registry.circuit_breaker("shard").keyed(key));
    }
    retries(&registry).await;
    limits(&registry, &hand).await;
    bulkheads(&registry).await;
    (registry, hand)
}

/// Lets a call succeed.
///
/// # Panics
///
/// When the breaker refuses it.
pub fn succeed(breaker: &CircuitBreaker) {
    breaker.try_acquire().unwrap_or_else(|refused| panic!("{refused}")).success();
}

/// Two successes, one of them slow, an ignored error, a call that is dropped, two failures that open it,
/// and a refused call.
fn breaker(breaker: &CircuitBreaker, hand: &ManualClock) {
    let permit = || breaker.try_acquire().unwrap_or_else(|refused| panic!("{refused}"));
    for millis in [7, 70] {
        let permit = permit();
        hand.advance(Duration::from_millis(millis));
        permit.success();
    }
    breaker.on_error(Duration::from_millis(3), &["not_found"]);
    drop(permit());
    permit().failure();
    permit().failure();
    assert_eq!(breaker.state(), State::Open);
    assert!(breaker.try_acquire().is_err());
}

/// One call of each way to end.
async fn retries(registry: &Resilience) {
    let retry = registry.retry("payment");
    let _ = retry.call(|| future::ready(Ok::<_, &str>("at once"))).await;
    let mut attempts = 0;
    let second = || {
        attempts += 1;
        future::ready(if attempts == 2 { Ok("later") } else { Err("down") })
    };
    let _ = retry.call(second).await;
    let _ = retry.call(|| future::ready(Err::<(), _>("down"))).await;
}

async fn limits(registry: &Resilience, hand: &ManualClock) {
    let limiter = registry.rate_limiter("payment");
    assert_eq!([limiter.try_acquire(1).is_ok(), limiter.try_acquire(1).is_ok()], [true, false]);

    let limiter = registry.time_limiter("payment");
    let _ = limiter.call(async { Ok::<_, &str>("in time") }).await;
    let _ = limiter.call(async { Err::<(), _>("down") }).await;
    let too_long = limiter.call(future::pending::<Result<(), Infallible>>());
    let (timed_out, ()) = tokio::join!(too_long, async { hand.advance(Duration::from_secs(2)) });
    assert!(timed_out.is_err());
}

async fn bulkheads(registry: &Resilience) {
    let bulkhead = registry.bulkhead("payment");
    let permit = bulkhead.try_acquire();
    assert!(permit.is_ok() && bulkhead.try_acquire().is_err());
    drop(permit);
    let _ = registry.thread_pool_bulkhead("payment").call(|| Ok::<_, Infallible>("done")).await;
}
