//! Layers that are switched off while the program runs: one instance, or all of a pattern.

use std::time::Duration;

use resilience::{
    CallError, Config, Error, Resilience,
    circuit_breaker::State,
    config::{Format, Origin, Pattern},
};

fn config(yaml: &str) -> Config {
    Config::builder().env(false).text(yaml, Format::Yaml).load().expect("a valid configuration")
}

fn registry(yaml: &str) -> Resilience {
    Resilience::from_config(config(yaml)).expect("a valid configuration")
}

fn reload(registry: &Resilience, yaml: &str) {
    registry.reload(config(yaml)).expect("a valid configuration");
}

#[tokio::test(start_paused = true)]
async fn a_pattern_is_switched_off_and_on_at_run_time() {
    let yaml = "bulkhead: { configs: { default: { max_concurrent_calls: 0 } }, \
                instances: { own: { enabled: false }, full: {} } }";
    let registry = registry(yaml);
    let enabled = |name: &str| registry.bulkhead(name).config().is_enabled();
    let (full, undeclared) = (registry.bulkhead("full"), registry.bulkhead("undeclared"));
    registry.set_enabled(Pattern::Bulkhead, false);
    assert!(full.try_acquire().is_ok() && undeclared.try_acquire().is_ok());
    assert!(registry.bulkhead("made later").try_acquire().is_ok());
    let effective = registry.effective_config();
    let (_, value, origin) =
        effective.iter().find(|(p, ..)| p == "bulkhead.instances.full.enabled").unwrap();
    assert_eq!(format!("{value} from {origin}"), "false from code");
    // Across reloads, whatever these change.
    reload(&registry, &yaml.replace("full: {}", "full: { max_wait_duration: 1s }"));
    assert!(full.try_acquire().is_ok());
    registry.set_enabled(Pattern::Bulkhead, true);
    assert!(full.try_acquire().is_err() && undeclared.try_acquire().is_err());
    assert!(!enabled("own"), "an instance's own `enabled` stands");
    // In the place of the file's switch of the pattern.
    reload(&registry, &yaml.replace("bulkhead: {", "bulkhead: { enabled: false,"));
    assert!(enabled("full") && !enabled("own"));
}

#[test]
fn a_switch_that_goes_before_the_file_is_told_and_can_be_given_back() {
    let off = "{ retry: { enabled: false, instances: { x: {}, own: { enabled: false } } } }";
    let registry = registry(off);
    let retry = registry.retry("x");
    let enabled = |name: &str| {
        let effective = registry.effective_config();
        let path = format!("retry.instances.{name}.enabled");
        let (_, value, origin) = effective.iter().find(|(p, ..)| *p == path).unwrap();
        format!("{value} from {origin}")
    };
    assert_eq!(enabled("x"), "false from <text>:1 (retry)");
    registry.set_enabled(Pattern::Retry, true);
    assert_eq!((enabled("x"), retry.config().is_enabled()), ("true from code".into(), true));
    assert!(enabled("own").starts_with("false from <text>:1"), "{}", enabled("own"));
    assert!(registry.warnings().is_empty(), "it was meant");

    reload(&registry, off);
    let told = "retry.enabled: false (<text>:1) has no effect, because the program has said \
                `set_enabled(Pattern::Retry, true)`; `clear_enabled` gives it back to the \
                configuration";
    assert_eq!(registry.warnings(), [told]);
    retry.set_enabled(true);
    registry.clear_enabled(Pattern::Retry);
    assert!(!retry.config().is_enabled(), "what was said of the instance is forgotten");
    assert_eq!(enabled("x"), "false from <text>:1 (retry)");
    assert!(registry.warnings().is_empty(), "it is settled");
    reload(&registry, &off.replace("enabled: false, instances", "enabled: true, instances"));
    assert!(retry.config().is_enabled(), "the file's word counts again");

    registry.set_enabled(Pattern::Retry, false);
    reload(&registry, &off.replace("enabled: false, instances", "instances"));
    assert!(registry.warnings().is_empty(), "the file does not say the opposite");
}

#[test]
fn what_was_set_by_hand_on_an_instance_is_told_as_in_force() {
    let yaml = "ratelimiter.instances.x: { limit_for_period: 5 }\n\
                bulkhead.instances.x: { max_concurrent_calls: 5 }\n\
                retry.instances.x: {}";
    let registry = registry(yaml);
    let told = || {
        let by_hand = registry.effective_config().into_iter();
        let by_hand = by_hand.filter(|(.., origin)| *origin == Origin::Code);
        by_hand.map(|(path, value, _)| format!("{path}: {value}")).collect::<Vec<_>>()
    };
    assert_eq!(told(), [""; 0]);
    let (limiter, bulkhead) = (registry.rate_limiter("x"), registry.bulkhead("x"));
    limiter.change_limit_for_period(7).unwrap();
    limiter.change_timeout_duration(Duration::from_secs(1)).unwrap();
    bulkhead.change_max_concurrent_calls(9);
    registry.retry("x").set_enabled(false);
    assert_eq!(
        told(),
        [
            "retry.instances.x.enabled: false",
            "ratelimiter.instances.x.limit_for_period: 7",
            "ratelimiter.instances.x.timeout_duration: 1s",
            "bulkhead.instances.x.max_concurrent_calls: 9",
        ]
    );
    let config = registry.config().effective();
    assert!(config.iter().all(|(.., origin)| *origin != Origin::Code), "it is no configuration");
    bulkhead.change_max_concurrent_calls(5);
    reload(&registry, &yaml.replace("limit_for_period: 5", "limit_for_period: 6"));
    assert_eq!(told(), ["retry.instances.x.enabled: false"]);
}

#[tokio::test]
async fn every_instance_can_be_disabled_by_itself() {
    let registry = registry(
        "retry.instances.x: { wait_duration: 0 }\n\
         ratelimiter.instances.x: { limit_for_period: 1, limit_refresh_period: 1h }\n\
         timelimiter.instances.x: { timeout_duration: 1ms }\n\
         bulkhead.instances.x: { max_concurrent_calls: 0 }\n\
         thread-pool-bulkhead.instances.x: { max_thread_pool_size: 1, core_thread_pool_size: 1 }\n\
         circuitbreaker.instances.x: {}",
    );
    let fails = || async { Err::<(), _>("down") };

    let retry = registry.retry("x");
    retry.set_enabled(false);
    assert_eq!(retry.call(fails).await, Err(CallError::Inner("down")));
    assert_eq!(retry.metrics().total_calls, 0);
    retry.set_enabled(true);
    assert!(retry.call(fails).await.is_err());
    assert_eq!(retry.metrics().total_calls, 3);

    let limiter = registry.rate_limiter("x");
    limiter.set_enabled(false);
    assert!((0..5).all(|_| limiter.try_acquire(1).is_ok()));
    limiter.set_enabled(true);
    assert!(limiter.try_acquire(1).is_ok() && limiter.try_acquire(1).is_err());

    let time_limiter = registry.time_limiter("x");
    let slow = || async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok::<_, Error>(())
    };
    time_limiter.set_enabled(false);
    assert!(time_limiter.call(slow()).await.is_ok());
    time_limiter.set_enabled(true);
    assert!(time_limiter.call(slow()).await.is_err());

    let bulkhead = registry.bulkhead("x");
    bulkhead.set_enabled(false);
    assert!(bulkhead.try_acquire().is_ok());
    bulkhead.set_enabled(true);
    assert!(bulkhead.try_acquire().is_err());

    let pool = registry.thread_pool_bulkhead("x");
    pool.set_enabled(false);
    assert_eq!(pool.call(|| Ok::<_, ()>(1)).await, Ok(1));
    assert_eq!(pool.metrics().permitted, 0);
    pool.set_enabled(true);
    assert_eq!(pool.call(|| Ok::<_, ()>(1)).await, Ok(1));
    assert_eq!(pool.metrics().permitted, 1);

    let breaker = registry.circuit_breaker("x");
    breaker.transition_to(State::ForcedOpen).unwrap();
    breaker.set_enabled(false);
    assert!(breaker.try_acquire().is_ok());
    breaker.set_enabled(true);
    assert!(breaker.try_acquire().is_err());
}

#[tokio::test(start_paused = true)]
async fn disabling_lets_in_who_waits() {
    let registry = registry(
        "ratelimiter.instances.x: { limit_for_period: 1, limit_refresh_period: 1h, \
         timeout_duration: 1h }\n\
         bulkhead.instances.x: { max_concurrent_calls: 1, max_wait_duration: 1h }",
    );
    let (limiter, bulkhead) = (registry.rate_limiter("x"), registry.bulkhead("x"));
    limiter.try_acquire(1).unwrap();
    let held = bulkhead.try_acquire().unwrap();
    let turn = tokio::spawn({
        let l = limiter.clone();
        async move { l.acquire(1).await }
    });
    let slot = tokio::spawn({
        let b = bulkhead.clone();
        async move { b.acquire().await }
    });
    while limiter.waiting() + bulkhead.waiting() < 2 {
        tokio::task::yield_now().await;
    }
    let start = tokio::time::Instant::now();
    limiter.set_enabled(false);
    registry.set_enabled(Pattern::Bulkhead, false);
    turn.await.unwrap().unwrap();
    drop(slot.await.unwrap().unwrap());
    assert_eq!(start.elapsed(), Duration::ZERO);
    drop(held);
    assert_eq!((limiter.waiting(), bulkhead.waiting()), (0, 0));
    assert_eq!(bulkhead.available_concurrent_calls(), 1);
}
