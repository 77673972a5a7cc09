#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use std::{pin::pin, time::Duration};

use super::super::check::Strict;
use crate::{
    Clock, Config, ConfigError, RateLimiter, RequestNotPermitted, Resilience,
    config::Format,
    rate_limiter::{Algorithm, OnStoreFailure, Scope},
    test_support::poll,
};

/// Nobody listens on this port.
const NOBODY: &str = "redis: { url: redis://127.0.0.1:1, namespace: shop, decision_timeout: 10s }";

/// A limiter of one call an hour, for whoever waits no longer than that.
fn orders(settings: &str) -> String {
    format!(
        "ratelimiter.instances.orders: {{ limit_for_period: 1, limit_refresh_period: 1h, \
         timeout_duration: 1h, {settings} }}\n"
    )
}

fn global(policy: &str) -> String {
    format!("{NOBODY}\n{}", orders(&format!("scope: global, on_store_failure: {policy}")))
}

fn load(text: &str) -> Config {
    Config::builder().env(false).text(text, Format::Yaml).load().unwrap()
}

fn registry(text: &str) -> Resilience {
    Resilience::from_config(load(text)).unwrap()
}

fn reload(registry: &Resilience, text: &str) -> Result<usize, ConfigError> {
    registry.reload(load(text)).map(|reload| reload.changes.len())
}

fn failures(registry: &Resilience) -> u64 {
    registry.store().unwrap().metrics().all_failed()
}

/// Two calls, of which the limit of this process lets one through.
fn two_calls(limiter: &RateLimiter) -> [Result<(), RequestNotPermitted>; 2] {
    [limiter.try_acquire(1), limiter.try_acquire(1)]
}

#[test]
fn instances_ask_the_store_of_their_registry() {
    let registry = registry(&global("open"));
    let limiter = registry.rate_limiter("orders");
    assert!(two_calls(&limiter).iter().all(Result::is_ok));
    assert_eq!(failures(&registry), 2);
    assert_eq!(registry.store().unwrap().config().namespace(), "shop");
}

#[test]
fn without_a_section_there_is_no_store() {
    assert!(registry("").store().is_none());
}

#[test]
fn a_store_that_comes_at_the_start_comes_for_instances_that_were_used_before() {
    let registry = Resilience::of_process();
    let limiter = registry.rate_limiter("orders");
    let of_key = limiter.keyed("a");
    registry.inner.start(load(&global("open")), Strict::Crates(Vec::new())).unwrap();
    assert!(two_calls(&limiter).iter().chain(&two_calls(&of_key)).all(Result::is_ok));
    assert_eq!(failures(&registry), 4);
}

#[test]
fn a_reload_opens_a_store_where_there_was_none() {
    let registry = registry(&orders(""));
    let limiter = registry.rate_limiter("orders");
    let of_key = limiter.keyed("a");
    reload(&registry, &global("closed")).unwrap();
    assert!(two_calls(&limiter).iter().chain(&two_calls(&of_key)).all(Result::is_err));
    assert_eq!(failures(&registry), 4);
}

#[test]
fn the_store_that_is_open_cannot_be_changed_by_a_reload() {
    let registry = registry(&global("open"));
    assert_eq!(reload(&registry, &global("open")).unwrap(), 0);
    let other = global("open").replace("10s", "20ms").replace("shop", "mall");
    let error = reload(&registry, &other).unwrap_err();
    let paths: Vec<_> = error.problems().iter().filter_map(|p| p.path.as_deref()).collect();
    assert_eq!(paths, ["redis.namespace", "redis.decision_timeout"]);
    assert!(error.problems()[0].to_string().starts_with("<text>:1: redis.namespace: cannot"));
    assert_eq!(registry.store().unwrap().config().namespace(), "shop");

    let error = reload(&registry, &orders("")).unwrap_err();
    assert!(error.to_string().starts_with("redis: the section is gone"), "{error}");
}

#[test]
fn a_registry_that_is_refused_opens_no_store() {
    let registry = Resilience::of_process();
    let start = |text: &str| registry.inner.start(load(text), Strict::Crates(Vec::new()));
    start("").unwrap();
    assert!(start(NOBODY).unwrap_err().to_string().contains("called twice"));
    assert!(registry.store().is_none());
}

#[test]
fn an_address_that_the_client_cannot_read_is_refused_at_its_place() {
    let text = "redis:\n  namespace: shop\n  urls: ['redis://a', 'redis://:sesame@']";
    let error = Resilience::from_config(load(text)).unwrap_err().to_string();
    assert!(error.starts_with("<text>:3: redis.urls[1]: expected redis://["), "{error}");
    assert!(!error.contains("sesame"), "{error}");
}

#[test]
fn another_policy_holds_from_the_reload_on() {
    let registry = registry(&global("closed"));
    let limiter = registry.rate_limiter("orders");
    assert!(two_calls(&limiter).iter().all(Result::is_err));
    assert_eq!(reload(&registry, &global("open")).unwrap(), 1);
    assert!(two_calls(&limiter).iter().all(Result::is_ok));
}

#[test]
fn another_algorithm_and_lease_hold_from_the_reload_on() {
    let registry = registry(&global("closed"));
    let gcra = global("closed, algorithm: gcra, limit_for_period: 9, lease: 3").replacen(
        "limit_for_period: 1, ",
        "",
        1,
    );
    assert_eq!(reload(&registry, &gcra).unwrap(), 3);
    let config = registry.rate_limiter("orders").config();
    assert_eq!((config.algorithm(), config.lease()), (Algorithm::Gcra, 3));
    assert_eq!(config.on_store_failure(), Some(OnStoreFailure::Closed));
}

#[test]
fn a_limit_can_become_global_and_local_again() {
    let registry = registry(&format!("{NOBODY}\n{}", orders("")));
    let limiter = registry.rate_limiter("orders");
    assert_eq!(two_calls(&limiter).map(|call| call.is_ok()), [true, false]);
    reload(&registry, &global("open")).unwrap();
    assert_eq!(limiter.config().scope(), Scope::Global);
    assert!(two_calls(&limiter).iter().all(Result::is_ok));
    reload(&registry, &format!("{NOBODY}\n{}", orders(""))).unwrap();
    assert!(two_calls(&limiter).iter().all(Result::is_err), "the limit here was used up before");
}

#[test]
fn the_effective_configuration_has_the_store_and_not_its_password() {
    let registry = registry("redis: { url: 'redis://:sesame@127.0.0.1:1', namespace: shop }");
    let effective = registry.effective_config();
    let value = |path: &str| {
        let found = effective.iter().find(|(known, ..)| known == path);
        found.map(|(_, value, _)| value.to_string())
    };
    assert_eq!(value("redis.urls").as_deref(), Some("redis://***@127.0.0.1:1"));
    assert_eq!(value("redis.nodes").as_deref(), Some("1"));
    assert!(!format!("{effective:?} {registry:?} {:?}", registry.store()).contains("sesame"));
}

#[tokio::test]
async fn who_waits_keeps_its_turn_when_the_limit_becomes_global() {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let config = load(&format!("{NOBODY}\n{}", orders("")));
    let registry = Resilience::with_clock(config, clock).unwrap();
    let limiter = registry.rate_limiter("orders");
    limiter.acquire(1).await.unwrap();
    let mut waiting = pin!(limiter.acquire(1));
    assert!(poll(waiting.as_mut()).is_pending());
    reload(&registry, &global("closed")).unwrap();
    assert!(poll(waiting.as_mut()).is_pending());
    hand.advance(Duration::from_hours(1));
    waiting.await.unwrap();
    assert_eq!(failures(&registry), 0, "it was let in before");
}

#[cfg(feature = "tracing")]
#[test]
fn the_bound_of_a_lease_is_logged_once_at_the_start_and_when_it_changes() {
    use crate::test_support::capture::Capture;

    let leased = |n: u32| {
        let limit = format!("limit_for_period: 9, lease: {n}");
        global(&format!("open, {limit}")).replacen("limit_for_period: 1, ", "", 1)
    };
    let (capture, _guard) = Capture::start();
    let registry = registry(&leased(3));
    reload(&registry, &leased(3)).unwrap();
    reload(&registry, &leased(5)).unwrap();
    let logs = capture.logs();
    let lines = logs.iter().map(|log| log.fields.get("message"));
    let lines: Vec<_> = lines.filter(|line| line.contains("all processes together")).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("orders.lease = 3: all processes together may let up to 2 calls"));
    assert!(lines[1].contains("orders.lease = 5: all processes together may let up to 4 calls"));
}

#[test]
fn every_example_of_the_guides_can_be_started_with() {
    let limits = include_str!("../../../../docs/redis.md");
    let breakers = include_str!("../../../../docs/shared_breaker.md");
    for (guide, number) in [(limits, 3), (breakers, 1)] {
        let blocks = guide.split("\n```yaml\n").skip(1);
        let examples: Vec<_> = blocks.filter_map(|text| text.split("\n```").next()).collect();
        assert_eq!(examples.len(), number);
        for example in examples {
            // One needs another feature.
            let registry = registry(&example.replace("rediss://", "redis://"));
            assert!(registry.store().is_some(), "{example}");
        }
    }
}
