//! Limits that a configuration makes global, against a real server.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use std::time::Duration;

use redis::Commands as _;
use resilience::{
    Config, Error, RateLimiter, RequestNotPermitted, Resilience, config::Format, rate_limiter,
    store::StoreFailure,
};
use resilience_redis_tests::server::Server;
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

/// What the guide says that a user needs.
const RIGHTS: [&str; 8] = ["+eval", "+evalsha", "+time", "+get", "+set", "+del", "+pttl", "+ping"];

fn with_user(server: &Server, rights: &[&str]) -> String {
    let mut command = redis::cmd("ACL");
    command.arg("SETUSER").arg("shop").arg("on").arg(">se/same").arg("~shop:test*").arg(rights);
    let () = command.query(&mut server.connect()).unwrap();
    server.url().replace("redis://", "redis://shop:se%2Fsame@")
}

#[test]
fn the_rights_of_the_guide_are_enough() {
    let guide = include_str!("../../../docs/redis.md");
    assert!(guide.contains(&format!("~shop:* {}", RIGHTS.join(" "))));
    let server = Server::start();
    let url = with_user(&server, &RIGHTS);
    for algorithm in ["fixed_window", "gcra"] {
        let global = text(&url, &format!("scope: global, algorithm: {algorithm}"));
        let registry = process(&global);
        assert_eq!(admitted(&registry.rate_limiter("orders")), 3, "{algorithm}");
        assert_eq!(registry.store().unwrap().metrics().all_failed(), 0, "{algorithm}");
    }
}

#[test]
fn a_user_who_may_not_is_a_failure_of_its_own() {
    let server = Server::start();
    let registry = process(&text(&with_user(&server, &["+get"]), "scope: global"));
    assert_eq!(admitted(&registry.rate_limiter("orders")), 0);
    assert!(registry.store().unwrap().metrics().failed(StoreFailure::Auth) > 0);
    assert!(!registry.prometheus().contains("se/same"));
}
