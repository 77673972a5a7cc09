//! Layers that are switched off while the program runs: one instance, or all of a pattern.

use std::time::Duration;

use resilience::{
    CallError, Config, Error, Resilience,
    circuit_breaker::State,
    config::{Format, Pattern},
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
