//! Other settings on their way to the instances of a name, and what runs outside of the locks.

mod races;

use std::{
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use crate::{
    Bulkhead, BulkheadConfig, CircuitBreaker, CircuitBreakerConfig, Clock, RateLimiter,
    RateLimiterConfig, Retry, RetryConfig, TimeLimiter, TimeLimiterConfig, retry::Interval,
};

#[test]
fn other_settings_of_the_name_reach_every_key_of_every_pattern() {
    let breaker = CircuitBreaker::new("x", CircuitBreakerConfig::default());
    let own = breaker.keyed("a");
    own.try_acquire().unwrap().failure();
    let config = CircuitBreakerConfig::builder().failure_rate_threshold(12.5);
    drop(breaker.reconfigure(config.build().unwrap()));
    assert!(Arc::ptr_eq(&own.config(), &breaker.config()));
    assert_eq!(own.metrics().failed_calls, 1, "the window stays");

    let retry = Retry::new("x", RetryConfig::default());
    let own = retry.keyed("a");
    drop(retry.reconfigure(RetryConfig::builder().max_attempts(9).build().unwrap()));
    assert!(Arc::ptr_eq(&own.config(), &retry.config()));

    let limiter = RateLimiter::new("x", RateLimiterConfig::default());
    let own = limiter.keyed("a");
    drop(limiter.reconfigure(RateLimiterConfig::builder().enabled(false).build().unwrap()));
    assert!(Arc::ptr_eq(&own.config(), &limiter.config()) && !own.is_enabled());

    let time = TimeLimiter::new("x", TimeLimiterConfig::default());
    let own = time.keyed("a");
    let config = TimeLimiterConfig::builder().timeout_duration(Duration::from_secs(9));
    drop(time.reconfigure(config.build().unwrap()));
    assert!(Arc::ptr_eq(&own.config(), &time.config()));

    let bulkhead = Bulkhead::new("x", BulkheadConfig::default());
    let own = bulkhead.keyed("a");
    drop(bulkhead.reconfigure(BulkheadConfig::builder().max_concurrent_calls(1).build().unwrap()));
    assert_eq!(own.max_concurrent_calls(), 1);
}

fn keys(max_keys: u32, idle: Duration) -> BulkheadConfig {
    BulkheadConfig::builder().max_keys(max_keys).key_idle_timeout(idle).build().unwrap()
}

#[test]
fn a_changed_cap_and_idle_time_take_effect() {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let hour = Duration::from_hours(1);
    let bulkhead = Bulkhead::with_clock("x", keys(1, hour), clock);
    assert_eq!(["a", "b"].map(|key| bulkhead.keyed(key).key().is_some()), [true, false]);
    drop(bulkhead.reconfigure(keys(2, hour)));
    assert_eq!(["b", "c"].map(|key| bulkhead.keyed(key).key().is_some()), [true, false]);

    hand.advance(Duration::from_mins(1));
    drop(bulkhead.reconfigure(keys(1, hour)));
    assert_eq!(bulkhead.keyed_metrics().live, 2, "a lowered cap takes nothing away");
    assert!(bulkhead.keyed("c").key().is_none());
    drop(bulkhead.reconfigure(keys(1, Duration::from_secs(1))));
    assert!(bulkhead.keyed("c").key().is_some(), "both others were idle");
    assert_eq!(bulkhead.keyed_metrics().live, 1);
}

/// Uses the instances of its name when it goes.
struct UsesKeys(Retry, mpsc::Sender<()>);

impl Drop for UsesKeys {
    fn drop(&mut self) {
        (0..200).for_each(|key| drop(self.0.keyed(&key)));
        let _ = self.1.send(());
    }
}

#[test]
fn settings_that_own_code_go_outside_of_every_lock() {
    let (sender, receiver) = mpsc::channel();
    let one_key = || RetryConfig::builder().max_keys(1);
    let retry = Retry::new("x", one_key().build().unwrap());
    drop(retry.keyed("a"));
    let last = UsesKeys(retry.clone(), sender);
    let interval = Interval::custom(move |_| {
        let _ = &last;
        None
    });
    drop(retry.reconfigure(one_key().interval(interval).build().unwrap()));
    let last = one_key().build().unwrap();
    thread::spawn(move || drop(retry.reconfigure(last)));
    receiver.recv_timeout(Duration::from_secs(20)).expect("no lock was held");
}

#[cfg(feature = "tracing")]
mod warnings {
    use super::*;
    use crate::test_support::capture::Capture;

    #[test]
    fn too_many_keys_are_warned_of_once_without_naming_one() {
        let (capture, _guard) = Capture::start();
        let bulkhead = Bulkhead::new("tenant", keys(1, Duration::from_secs(1)));
        (0..100).for_each(|key| drop(bulkhead.keyed(&format_args!("user {key}"))));
        assert_eq!(bulkhead.keyed_metrics().overflowed, 99);
        let logs = capture.logs();
        assert_eq!(logs.len(), 1, "{logs:?}");
        let text = logs[0].fields.get("message");
        assert!(text.starts_with("bulkhead 'tenant' has as many keys as `max_keys` = 1 allows"));
        assert!(text.contains("`max_keys`") && !text.contains("user"));
    }
}
