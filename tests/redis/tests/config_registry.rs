//! What a configuration makes global, against a real server.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use std::time::Duration;

use redis::Commands as _;
use resilience::{
    Config, Error, RateLimiter, RequestNotPermitted, Resilience, SingleFlight,
    circuit_breaker::{Permit, State},
    config::Format,
    rate_limiter,
    rate_limiter::OnStoreFailure,
    single_flight::SingleFlightConfig,
    store::StoreFailure,
};
use resilience_redis_tests::server::{Server, wait_until};
use tokio::task::JoinHandle;

/// A limiter `orders` of three calls a day with a store of much patience.
fn text(url: &str, settings: &str) -> String {
    format!(
        "redis: {{ url: '{url}', namespace: 'shop:test', decision_timeout: 10s, nodes: 2 }}\n\
         ratelimiter.instances.orders: {{ limit_for_period: 3, limit_refresh_period: 365d, \
         timeout_duration: 365d, on_store_failure: closed, {settings} }}\n"
    )
}

fn load(text: &str) -> Config {
    Config::builder().env(false).text(text, Format::Yaml).load().unwrap()
}

fn process(text: &str) -> Resilience {
    Resilience::from_config(load(text)).unwrap()
}

/// How many of ten calls are let in at once.
fn admitted(limiter: &RateLimiter) -> usize {
    (0..10).filter(|_| limiter.try_acquire(1).is_ok()).count()
}

#[test]
fn a_declared_limit_is_that_of_all_processes() {
    let server = Server::start();
    for algorithm in ["fixed_window", "gcra"] {
        let global = text(&server.url(), &format!("scope: global, algorithm: {algorithm}"));
        let processes = [process(&global), process(&global)];
        let both = processes.each_ref().map(|one| admitted(&one.rate_limiter("orders")));
        assert_eq!(both, [3, 0], "{algorithm}");
        assert_eq!(processes[1].store().unwrap().metrics().decided, 10);
    }
}

#[rate_limiter(name = "orders", key = tenant)]
async fn order(tenant: &str) -> Result<(), Error> {
    let _ = tenant;
    Ok(())
}

#[tokio::test]
async fn each_key_of_a_function_has_its_own_limit_in_all_processes() {
    let server = Server::start();
    let global = text(&server.url(), "scope: global")
        .replace("timeout_duration: 365d", "timeout_duration: 0");
    let mut admitted = Vec::new();
    for registry in [process(&global), process(&global)] {
        for tenant in ["a", "b"] {
            for _ in 0..2 {
                let call = registry.scope(async { order(tenant).await }).await;
                admitted.push((tenant, call.is_ok()));
            }
        }
    }
    let of = |wanted| admitted.iter().filter(|(tenant, ok)| *tenant == wanted && *ok).count();
    assert_eq!((of("a"), of("b")), (3, 3), "{admitted:?}");
    let keys: Vec<String> = server.connect().keys("shop:test:rl:{orders/*}*").unwrap();
    assert_eq!(keys.len(), 2, "{keys:?}");
}

/// Takes all there is, and has one more call wait for what comes back.
async fn one_waits(limiter: &RateLimiter) -> JoinHandle<Result<(), RequestNotPermitted>> {
    for _ in 0..3 {
        limiter.acquire(1).await.unwrap();
    }
    let one_more = limiter.clone();
    let waiting = tokio::spawn(async move { one_more.acquire(1).await });
    while limiter.waiting() == 0 {
        assert!(!waiting.is_finished());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    waiting
}

#[tokio::test]
async fn who_waits_for_a_global_limit_moves_on_when_it_becomes_local() {
    let server = Server::start();
    let registry = process(&text(&server.url(), "scope: global"));
    let limiter = registry.rate_limiter("orders");
    let waiting = one_waits(&limiter).await;
    // What is used up here comes back with the next period.
    let local = text(&server.url(), "").replace("refresh_period: 365d", "refresh_period: 10ms");
    registry.reload(load(&local)).unwrap();
    tokio::time::timeout(Duration::from_secs(10), waiting)
        .await
        .expect("it moves on")
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn who_waits_for_a_global_limit_asks_for_the_one_that_a_reload_has_made_of_it() {
    let server = Server::start();
    let registry = process(&text(&server.url(), "scope: global"));
    let limiter = registry.rate_limiter("orders");
    let waiting = one_waits(&limiter).await;
    let higher =
        text(&server.url(), "scope: global").replace("limit_for_period: 3", "limit_for_period: 4");
    registry.reload(load(&higher)).unwrap();
    tokio::time::timeout(Duration::from_secs(10), waiting)
        .await
        .expect("it moves on")
        .unwrap()
        .unwrap();
}

#[test]
fn a_lease_holds_from_the_reload_on() {
    let server = Server::start();
    let of = |lease: u32| text(&server.url(), &format!("scope: global, lease: {lease}"));
    let registry = process(&of(1));
    let limiter = registry.rate_limiter("orders");
    limiter.try_acquire(1).unwrap();
    registry.reload(load(&of(2))).unwrap();
    limiter.try_acquire(1).unwrap();
    limiter.try_acquire(1).unwrap();
    assert_eq!(registry.store().unwrap().metrics().decided, 2, "the last one was fetched before");
}

/// What the guide says that a user needs: for limits and calls of one key, and for breakers as well.
fn rights() -> [Vec<&'static str>; 2] {
    let guide = include_str!("../../../docs/redis.md");
    let mut lines = guide.lines().filter(|line| line.starts_with("ACL SETUSER shop "));
    let mut next = || {
        let words = lines.next().expect("a line of rights").split(' ');
        words.filter(|word| word.starts_with('+')).collect::<Vec<_>>()
    };
    let (limits, breakers) = (next(), next());
    [limits.clone(), [limits, breakers].concat()]
}

fn with_user(server: &Server, rights: &[&str]) -> String {
    let mut command = redis::cmd("ACL");
    command.arg("SETUSER").arg("shop").arg("on").arg(">se/same").arg("~shop:test*").arg(rights);
    let () = command.query(&mut server.connect()).unwrap();
    server.url().replace("redis://", "redis://shop:se%2Fsame@")
}

#[test]
fn the_rights_of_the_guide_are_enough_for_limits() {
    let server = Server::start();
    let url = with_user(&server, &[&rights()[0][..], &["+select"]].concat());
    for (database, algorithm) in [("", "fixed_window"), ("", "gcra"), ("/1", "gcra")] {
        let url = format!("{url}{database}");
        let global = text(&url, &format!("scope: global, algorithm: {algorithm}"));
        let registry = process(&global);
        assert_eq!(admitted(&registry.rate_limiter("orders")), 3, "{algorithm}");
        assert_eq!(registry.store().unwrap().metrics().all_failed(), 0, "{algorithm}");
    }
}

#[tokio::test]
async fn the_rights_of_the_guide_are_enough_for_calls_of_one_key() {
    let server = Server::start();
    let registry = process(&text(&with_user(&server, &rights()[0]), ""));
    let store = registry.store().unwrap();
    let config = SingleFlightConfig::builder().on_store_failure(OnStoreFailure::Closed);
    let config = config.build().unwrap();
    let one = SingleFlight::with_store("submits", config.clone(), &store);
    let other = SingleFlight::with_store("submits", config, &store);
    let inner = one.try_call("order", other.try_call("order", async {})).await;
    assert!(inner.unwrap().unwrap_err().is_in_progress());
    wait_until("the key is free", || server.keys().is_empty());
    assert_eq!(store.metrics().all_failed(), 0);
}

#[test]
fn the_rights_of_the_guide_are_enough_for_breakers() {
    let server = Server::start();
    let breaker = "circuitbreaker.instances.pay: { scope: global, sync_interval: 50ms, min_nodes: 1, \
                   minimum_number_of_calls: 2, wait_duration_in_open_state: 100ms, \
                   permitted_number_of_calls_in_half_open_state: 2 }\n";
    let registry = process(&(text(&with_user(&server, &rights()[1]), "") + breaker));
    let breaker = registry.circuit_breaker("pay");
    wait_until("it hears of the store", || breaker.metrics().shared);
    (0..2).for_each(|_| breaker.try_acquire().unwrap().failure());
    wait_until("it opens with all", || breaker.metrics().shared && breaker.state() == State::Open);
    wait_until("it closes with all", || {
        drop(breaker.try_acquire().map(Permit::success));
        breaker.metrics().shared && breaker.state() == State::Closed
    });
    assert_eq!(registry.store().unwrap().metrics().all_failed(), 0);
}

#[test]
fn a_user_who_may_not_is_a_failure_of_its_own() {
    let server = Server::start();
    let registry = process(&text(&with_user(&server, &["+get"]), "scope: global"));
    assert_eq!(admitted(&registry.rate_limiter("orders")), 0);
    assert!(registry.store().unwrap().metrics().failed(StoreFailure::Auth) > 0);
    assert!(!registry.prometheus().contains("se/same"));
}

const ONCE: &str = "redis: { url: 'URL', namespace: 'shop:test', decision_timeout: 10s }
ratelimiter.instances.payment-once: { SCOPE, limit_for_period: 1, limit_refresh_period: 365d, \
timeout_duration: 0s }
";

#[rate_limiter(name = "payment-once", key = order_id)]
async fn pay(order_id: u64) -> Result<u64, Error> {
    Ok(order_id)
}

#[tokio::test]
async fn of_two_submits_of_one_order_one_is_made_wherever_they_arrive() {
    let server = Server::start();
    let text = ONCE.replace("URL", &server.url());
    let local = text.replace("SCOPE", "refill: greedy");
    let global = text.replace("SCOPE", "scope: global, algorithm: gcra, on_store_failure: closed");
    let (one, other, alone) = (process(&global), process(&global), process(&local));
    for order in [7, 8] {
        for (process, is_made) in [(&one, true), (&other, false), (&one, false)] {
            let submit = process.scope(async { pay(order).await }).await;
            assert_eq!(submit.is_ok(), is_made, "{order}");
        }
        for is_made in [true, false] {
            let submit = alone.scope(async { pay(order).await }).await;
            assert_eq!(submit.is_ok(), is_made, "{order}, in one process");
        }
    }
    assert_eq!(server.keys().len(), 2, "one for each order");
}
