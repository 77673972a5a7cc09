//! Annotated functions with keys.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    task::{Context, Poll, Waker},
    time::Duration,
};

use async_trait::async_trait;
use resilience::{
    CallError, Config, Error, Resilience, bulkhead, circuit_breaker, circuit_breaker::State,
    config::Format, rate_limiter, retry, time_limiter,
};

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum Failure {
    #[error("down")]
    Down,
    #[error(transparent)]
    Refused(#[from] Error),
}

type Outcome<T = u32> = Result<T, Failure>;

fn registry(yaml: &str) -> Resilience {
    let config = Config::builder().env(false).text(yaml, Format::Yaml).load().unwrap();
    Resilience::from_config(config).unwrap()
}

const SMALL: &str = "circuitbreaker.configs.default: { sliding_window_size: 2 }";

#[circuit_breaker(name = "shard", key = shard)]
async fn read(shard: u32, fails: bool) -> Outcome {
    if fails { Err(Failure::Down) } else { Ok(shard) }
}

#[tokio::test]
async fn a_failing_shard_is_cut_off_and_the_others_are_not() {
    let registry = registry(SMALL);
    registry
        .scope(async {
            for _ in 0..2 {
                assert_eq!(read(1, true).await, Err(Failure::Down));
            }
            assert!(matches!(read(1, false).await, Err(Failure::Refused(_))));
            assert_eq!(read(2, false).await, Ok(2));
        })
        .await;
    let shards = registry.circuit_breaker("shard");
    assert_eq!(shards.keyed(&1).state(), State::Open);
    assert_eq!((shards.state(), shards.keyed_metrics().live), (State::Closed, 2));
    assert_eq!(read(1, false).await, Ok(1), "the process registry has its own");

    registry.remove("shard");
    assert_eq!(registry.scope(read(1, false)).await, Ok(1), "made anew with the name");
}

struct Client {
    host: String,
    looked_up: AtomicU32,
}

impl Client {
    fn host(&self) -> &str {
        self.looked_up.fetch_add(1, Relaxed);
        &self.host
    }

    #[retry(name = "host", key = self.host(), wait_duration = "0ms")]
    #[circuit_breaker(name = "host", key = self.host)]
    async fn fetch(&self) -> Outcome {
        Err(Failure::Down)
    }

    #[bulkhead(name = "owner", key = self.host, fallback = Self::describe)]
    async fn consume(self, order: String) -> Outcome<String> {
        if order.is_empty() { Err(Failure::Down) } else { Ok(self.host) }
    }

    #[expect(clippy::unused_async, reason = "a fallback may be async")]
    async fn describe(self, order: String, error: CallError<Failure>) -> Outcome<String> {
        Ok(format!("{} {order:?}: {error}", self.host))
    }
}

impl Clone for Client {
    fn clone(&self) -> Self {
        Self { host: self.host.clone(), looked_up: AtomicU32::new(0) }
    }
}

fn client() -> Client {
    Client { host: "a.example".into(), looked_up: AtomicU32::new(0) }
}

#[tokio::test]
async fn all_attempts_of_a_retry_have_the_key_that_was_evaluated_once() {
    let (registry, client) = (registry(""), client());
    assert_eq!(registry.scope(client.fetch()).await, Err(Failure::Down));
    assert_eq!(client.looked_up.load(Relaxed), 1);
    let host = registry.circuit_breaker("host").keyed("a.example");
    assert_eq!(host.metrics().failed_calls, 3);
    assert_eq!(registry.retry("host").keyed("a.example").metrics().failed_with_retry, 1);
}

#[tokio::test]
async fn a_key_borrows_what_the_body_and_a_fallback_take() {
    let registry = registry("");
    let consumed = |order: &str| registry.scope(client().consume(order.to_owned()));
    assert_eq!(consumed("1").await, Ok("a.example".into()));
    assert_eq!(consumed("").await, Ok("a.example \"\": down".into()));
    assert_eq!(registry.bulkhead("owner").keyed("a.example").metrics().finished, 2);
}

struct Order {
    id: u64,
    tenant: String,
}

#[bulkhead(name = "order", key = order.id)]
#[rate_limiter(name = "tenant", key = order.tenant, limit_for_period = 10)]
async fn pay(order: &mut Order) -> Outcome {
    order.id += 1;
    Ok(0)
}

#[circuit_breaker(name = "parts", key = format_args!("{tenant}/{id}"))]
async fn by_parts<T: std::fmt::Display + Clone>(
    Order { mut id, ref tenant }: Order,
    (part, _): (T, u8),
) -> Outcome<String> {
    id += 1;
    Ok(format!("{tenant} {id} {part}"))
}

#[circuit_breaker(name = "sum", key = a + *b)]
async fn sum(a: u32, b: &u32) -> Outcome {
    Ok(a + b)
}

#[bulkhead(name = "prefix", key = name[..2])]
fn by_prefix(name: String) -> impl Future<Output = Outcome<String>> {
    async move { Ok(name) }
}

#[bulkhead(name = "boxed", key = shard)]
fn boxed(shard: u8) -> Pin<Box<dyn Future<Output = Outcome<u8>> + Send>> {
    Box::pin(async move { Ok(shard) })
}

#[tokio::test]
async fn a_key_can_be_made_of_every_form_of_argument() {
    let order = || Order { id: 7, tenant: "acme".into() };
    let registry = registry("");
    registry
        .scope(async {
            let mut paid = order();
            assert_eq!(pay(&mut paid).await, Ok(0));
            assert_eq!(paid.id, 8);
            assert_eq!(by_parts(order(), ("x", 0)).await, Ok("acme 8 x".into()));
            assert_eq!(sum(1, &2).await, Ok(3));
            assert_eq!(by_prefix("eu-1".into()).await, Ok("eu-1".into()));
            assert_eq!(boxed(3).await, Ok(3));
        })
        .await;
    assert_eq!(registry.bulkhead("order").keyed(&7).metrics().finished, 1);
    assert_eq!(registry.rate_limiter("tenant").keyed("acme").metrics().permitted, 1);
    assert_eq!(registry.circuit_breaker("parts").keyed("acme/7").metrics().buffered_calls, 1);
    assert_eq!(registry.circuit_breaker("sum").keyed(&3).metrics().buffered_calls, 1);
    assert_eq!(registry.bulkhead("prefix").keyed("eu").metrics().finished, 1);
    assert_eq!(registry.bulkhead("boxed").keyed(&3).metrics().finished, 1);
}

#[async_trait]
trait Gateway {
    async fn send(&mut self, shard: u32) -> Outcome;
}

struct Shard {
    region: String,
}

#[async_trait]
impl Gateway for Shard {
    #[retry(name = "region", key = self.region, mut_ok)]
    #[bulkhead(name = "sharded", key = shard)]
    async fn send(&mut self, shard: u32) -> Outcome {
        self.region.push('!');
        Ok(shard)
    }
}

#[tokio::test]
async fn a_key_works_under_async_trait() {
    let registry = registry("");
    let mut shard = Shard { region: "eu".into() };
    assert_eq!(registry.scope(shard.send(7)).await, Ok(7));
    assert_eq!(registry.bulkhead("sharded").keyed(&7).metrics().finished, 1);
    assert_eq!(registry.retry("region").keyed("eu").metrics().successful_without_retry, 1);
}

#[time_limiter(name = "detached", key = tenant, timeout_duration = "1s", detach)]
#[bulkhead(name = "detached", key = tenant)]
async fn slow(tenant: String) -> Outcome<usize> {
    tokio::time::sleep(Duration::from_secs(5)).await;
    Ok(tenant.len())
}

#[tokio::test(start_paused = true)]
async fn a_detached_body_keeps_the_slot_of_its_key() {
    let registry = registry("bulkhead.instances.detached: { max_keys: 1, key_idle_timeout: 1ms }");
    assert!(registry.scope(slow("acme".into())).await.is_err());
    let tenants = registry.bulkhead("detached");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(tenants.keyed("other").key(), None, "the slot keeps its instance");
    assert_eq!(tenants.keyed("acme").metrics().permitted, 1);
    assert_eq!(tenants.keyed("acme").available_concurrent_calls(), 24);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(tenants.keyed("acme").available_concurrent_calls(), 25);
}

const ALL: &str = "
    retry.instances.all: { max_attempts: 2, wait_duration: 1s }
    circuitbreaker.instances.all: { initial_state: HALF_OPEN }
    ratelimiter.instances.all: { limit_for_period: 1, limit_refresh_period: 1s }
    timelimiter.instances.all: { timeout_duration: 1m }
    bulkhead.instances.all: { max_concurrent_calls: 1 }";

#[retry(name = "all", key = key)]
#[circuit_breaker(name = "all", key = key)]
#[rate_limiter(name = "all", key = key)]
#[time_limiter(name = "all", key = key)]
#[bulkhead(name = "all", key = key)]
async fn all(key: &str, panics_at: u32) -> Outcome {
    for poll in 0..3 {
        assert!(poll != panics_at, "as asked for");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Err(Failure::Down)
}

/// Polls a call this many times and drops it; tells whether it ended before.
async fn poll_a_few_times(polls: u32, panics_at: u32) -> bool {
    let mut call = pin!(all("k", panics_at));
    for _ in 0..polls {
        let polled = std::future::poll_fn(|cx| {
            Poll::Ready(catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(cx))))
        });
        match polled.await {
            Ok(Poll::Pending) => tokio::time::sleep(Duration::from_secs(1)).await,
            Ok(Poll::Ready(_)) => return true,
            Err(_) => return false,
        }
    }
    false
}

const NEVER: u32 = 9;

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_or_panics_at_any_poll_leaves_its_instances_idle() {
    for panics_at in [NEVER, 0, 1, 2] {
        let mut has_ended = false;
        for polls in 0..20 {
            let registry = registry(ALL);
            registry.rate_limiter("all").keyed("k").try_acquire(1).unwrap();
            has_ended = registry.scope(poll_a_few_times(polls, panics_at)).await;
            let bulkhead = registry.bulkhead("all").keyed("k");
            assert_eq!(bulkhead.available_concurrent_calls(), 1, "{polls} {panics_at}");
            let limiter = registry.rate_limiter("all").keyed("k");
            assert!(limiter.waiting() == 0 && limiter.available_permissions() >= 0);
            let breaker = registry.circuit_breaker("all").keyed("k");
            let unused: Vec<_> = std::iter::from_fn(|| breaker.try_acquire().ok()).collect();
            assert_eq!(unused.len() as u64 + breaker.metrics().buffered_calls, 10, "probes");
        }
        assert_eq!(has_ended, panics_at == NEVER);
    }
}

#[circuit_breaker(name = "panics", key = shown(fails))]
#[bulkhead(name = "panics", key = 1, max_concurrent_calls = 1)]
async fn with_a_key_that_panics(fails: bool) -> Outcome<bool> {
    Ok(fails)
}

fn shown(fails: bool) -> &'static str {
    assert!(!fails, "no key");
    "fine"
}

#[test]
fn a_key_that_panics_takes_nothing() {
    let registry = registry("");
    let call = |fails| {
        registry.scope_sync(|| {
            pin!(with_a_key_that_panics(fails)).poll(&mut Context::from_waker(Waker::noop()))
        })
    };
    assert!(catch_unwind(AssertUnwindSafe(|| call(true))).is_err());
    assert_eq!(registry.bulkhead("panics").keyed(&1).metrics().permitted, 0);
    assert_eq!(registry.circuit_breaker("panics").keyed_metrics().created, 0);
    assert_eq!(call(false), Poll::Ready(Ok(false)));
}
