//! Futures of protected calls go to other threads, whatever value or error they end in: neither is kept
//! while a call waits.

use std::rc::Rc;

use resilience::{
    Bulkhead, BulkheadConfig, CallError, CircuitBreaker, CircuitBreakerConfig, RateLimiter,
    RateLimiterConfig, Retry, RetryConfig, Rules, Stack, TimeLimiter, TimeLimiterConfig, TimedOut,
    bulkhead, circuit_breaker, rate_limiter, retry, time_limiter,
};

type Local = Rc<str>;

fn sent<F: Send>(future: F) -> F {
    future
}

async fn fails() -> Result<Local, Local> {
    Err("down".into())
}

#[retry(name = "send", max_attempts = 2, wait_duration = "1ms")]
#[circuit_breaker(name = "send")]
#[rate_limiter(name = "send")]
#[time_limiter(name = "send")]
#[bulkhead(name = "send")]
async fn five() -> Result<Local, Failed> {
    Err(Failed("down".into()))
}

#[circuit_breaker(name = "send")]
async fn one() -> Result<Local, Failed> {
    Err(Failed("down".into()))
}

#[circuit_breaker(name = "send", fallback = [soon, at_once])]
async fn with_fallback(fails: bool) -> Result<Local, Failed> {
    if fails { Err(Failed("down".into())) } else { Ok("up".into()) }
}

async fn soon(_fails: bool, _late: TimedOut) -> Result<Local, Failed> {
    tokio::task::yield_now().await;
    Ok("soon".into())
}

#[allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps)] // as a fallback has to be
fn at_once(_fails: bool, error: Failed) -> Result<Local, Failed> {
    Ok(format!("instead of {}", error.0).into())
}

#[circuit_breaker(name = "send", key = shard)]
async fn of_a_key(shard: u32) -> Result<Local, Failed> {
    Err(Failed(shard.to_string().into()))
}

#[derive(Debug, PartialEq)]
struct Failed(Local);

impl From<resilience::Error> for Failed {
    fn from(refusal: resilience::Error) -> Self {
        Self(refusal.to_string().into())
    }
}

#[tokio::test(start_paused = true)]
async fn attributes_keep_no_outcome_while_they_wait() {
    assert_eq!(sent(five()).await, Err(Failed("down".into())));
    assert_eq!(sent(one()).await, Err(Failed("down".into())));
    assert_eq!(sent(of_a_key(7)).await, Err(Failed("7".into())));
    assert_eq!(sent(with_fallback(true)).await, Ok("instead of down".into()));
    assert_eq!(sent(with_fallback(false)).await, Ok("up".into()));
}

#[tokio::test(start_paused = true)]
async fn stacks_and_lone_instances_keep_none_either() {
    let retry = Retry::new("send", RetryConfig::builder().max_attempts(1).build().unwrap());
    let breaker = CircuitBreaker::new("send", CircuitBreakerConfig::default());
    let limiter = RateLimiter::new("send", RateLimiterConfig::default());
    let time_limiter = TimeLimiter::new("send", TimeLimiterConfig::default());
    let bulkhead = Bulkhead::new("send", BulkheadConfig::default());
    let down = Err(CallError::Inner(Local::from("down")));
    assert_eq!(sent(retry.call(fails)).await, down);
    assert_eq!(sent(breaker.call(fails())).await, down);
    assert_eq!(sent(limiter.call(fails())).await, down);
    assert_eq!(sent(time_limiter.call(fails())).await, down);
    assert_eq!(sent(bulkhead.call(fails())).await, down);
    let (layers, other) = (Stack::builder().retry(retry.clone()), Stack::builder());
    let stack = layers.circuit_breaker(breaker.clone()).bulkhead(bulkhead).build();
    assert_eq!(sent(stack.call(fails)).await, down);
    let unwanted = Rules::new().retry_result(|_: &Local| true);
    assert_eq!(sent(stack.protect::<Local, Local>().rules(unwanted).call(fails)).await, down);
    let in_another_order = other.circuit_breaker(breaker).retry(retry).build();
    assert_eq!(sent(in_another_order.call(fails)).await, down);
}
