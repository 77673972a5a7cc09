//! Many instances under one name: who shares what, how many there are, and which may go.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::{
    collections::HashSet,
    fmt,
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use resilience::{
    Bulkhead, BulkheadConfig, CircuitBreaker, CircuitBreakerConfig, Clock, Config, ManualClock,
    RateLimiter, RateLimiterConfig, Resilience, Retry, RetryConfig, TimeLimiter, TimeLimiterConfig,
    circuit_breaker::State,
    config::{Format, Pattern},
};

const IDLE: Duration = Duration::from_mins(1);
const LATER: Duration = Duration::from_secs(61);
const SECOND: Duration = Duration::from_secs(1);

/// Opens with the second failure of two, for ten seconds.
fn breaker(max_keys: u32) -> (CircuitBreaker, ManualClock) {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let config = CircuitBreakerConfig::builder()
        .sliding_window_size(2)
        .wait_duration_in_open_state(10 * SECOND)
        .max_keys(max_keys)
        .key_idle_timeout(IDLE)
        .build();
    (CircuitBreaker::with_clock("shard", config.unwrap(), clock), hand)
}

fn bulkhead(max_keys: u32) -> (Bulkhead, ManualClock) {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let config = BulkheadConfig::builder()
        .max_concurrent_calls(100)
        .max_wait_duration(10 * IDLE)
        .max_keys(max_keys)
        .key_idle_timeout(IDLE)
        .build();
    (Bulkhead::with_clock("tenant", config.unwrap(), clock), hand)
}

fn limiter(max_keys: u32) -> (RateLimiter, ManualClock) {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let config = RateLimiterConfig::builder()
        .limit_for_period(2)
        .limit_refresh_period(2 * IDLE)
        .timeout_duration(Duration::ZERO)
        .max_keys(max_keys)
        .key_idle_timeout(IDLE)
        .build();
    (RateLimiter::with_clock("tenant", config.unwrap(), clock), hand)
}

fn fail_twice(breaker: &CircuitBreaker) {
    for _ in 0..2 {
        breaker.try_acquire().unwrap().failure();
    }
}

#[test]
fn a_shard_that_fails_opens_its_own_breaker_alone() {
    let (shards, _hand) = breaker(10);
    fail_twice(&shards.keyed(&7));
    assert_eq!(shards.keyed(&7).state(), State::Open);
    assert_eq!(shards.keyed(&8).state(), State::Closed);
    assert_eq!((shards.state(), shards.metrics().buffered_calls), (State::Closed, 0));
    assert!(shards.keyed(&8).try_acquire().is_ok());
}

#[tokio::test]
async fn every_pattern_has_an_instance_for_each_key() {
    let (limiter, _hand) = limiter(10);
    limiter.keyed("a").try_acquire(2).unwrap();
    assert!(limiter.keyed("a").try_acquire(1).is_err());
    assert!(limiter.keyed("b").try_acquire(2).is_ok());

    let (bulkhead, _hand) = bulkhead(10);
    let _permit = bulkhead.keyed("a").try_acquire().unwrap();
    assert_eq!(bulkhead.keyed("a").available_concurrent_calls(), 99);
    assert_eq!(bulkhead.keyed("b").available_concurrent_calls(), 100);

    let retry = Retry::new("order", RetryConfig::default());
    retry.keyed("a").call(|| async { Ok::<_, ()>(()) }).await.unwrap();
    assert_eq!(retry.keyed("a").metrics().successful_without_retry, 1);
    assert_eq!(retry.keyed("b").metrics().successful_without_retry, 0);

    let time = TimeLimiter::new("host", TimeLimiterConfig::default());
    time.keyed("a").call(async { Ok::<_, ()>(()) }).await.unwrap();
    assert_eq!(time.keyed("a").metrics().successful, 1);
    assert_eq!(time.keyed("b").metrics().successful, 0);
}

/// Shows itself like a UUID, in several portions.
struct Id(u128);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}-", self.0 >> 96)?;
        write!(f, "{:04x}", self.0 & 0xffff)
    }
}

#[test]
fn keys_of_one_text_are_one_key_whatever_their_type() {
    let (shards, _hand) = breaker(10);
    shards.keyed(&7_u8).try_acquire().unwrap().success();
    shards.keyed("7").try_acquire().unwrap().success();
    assert_eq!(shards.keyed(&String::from("7")).metrics().buffered_calls, 2);
    assert_eq!(shards.keyed(&format_args!("{}", 7_i64)).metrics().buffered_calls, 2);

    shards.keyed(&Id(0x11)).try_acquire().unwrap().success();
    assert_eq!(shards.keyed("00000000-0011").metrics().buffered_calls, 1);
    assert_eq!(shards.keyed_metrics().live, 2);
    assert_eq!(shards.keyed("").key(), Some(""));
}

#[test]
fn long_keys_stay_apart_and_take_little_memory() {
    let (shards, _hand) = breaker(10);
    let long = "k".repeat(10_000);
    let (one, other) = (format!("{long}1"), format!("{long}2"));
    shards.keyed(&one).try_acquire().unwrap().success();
    assert_eq!(shards.keyed(&one).metrics().buffered_calls, 1);
    assert_eq!(shards.keyed(&other).metrics().buffered_calls, 0);
    assert!(shards.keyed(&one).key().unwrap().len() < 300);
    assert_eq!(shards.keyed(&"k".repeat(256)).key(), Some("k".repeat(256).as_str()));
}

/// Looks keys up while it is shown.
struct Busy<'a>(&'a CircuitBreaker);

impl fmt::Display for Busy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        drop(self.0.keyed("busy"));
        f.write_str("busy")
    }
}

#[test]
fn a_key_may_use_the_instances_while_it_is_shown() {
    let (shards, _hand) = breaker(1);
    assert_eq!(shards.keyed(&Busy(&shards)).key(), Some("busy"));
    assert_eq!(shards.keyed_metrics().created, 1);
}

#[test]
fn an_instance_of_a_key_is_not_divided_further() {
    let (tenants, _hand) = bulkhead(10);
    let tenant = tenants.keyed("a");
    let _permit = tenant.keyed("b").try_acquire().unwrap();
    assert_eq!((tenant.keyed("b").key(), tenant.available_concurrent_calls()), (Some("a"), 99));
    assert_eq!((tenants.key(), tenants.keyed_metrics().live), (None, 1));
}

#[test]
fn one_listener_hears_of_all_keys_and_no_text_tells_one() {
    let (shards, _hand) = breaker(10);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listen = Arc::clone(&heard);
    let listener = shards.events().subscribe(move |event| {
        let text = format!("{event} {event:?}");
        listen.lock().unwrap().push((event.key().map(str::to_owned), text));
    });
    let shard = shards.keyed("user-42");
    fail_twice(&shard);
    shards.try_acquire().unwrap().success();
    drop(listener);

    let heard = heard.lock().unwrap();
    let keys: Vec<_> = heard.iter().map(|(key, _)| key.as_deref()).collect();
    assert_eq!(keys.iter().flatten().collect::<HashSet<_>>(), HashSet::from([&"user-42"]));
    assert_eq!(keys.last(), Some(&None), "the name's own event has no key");
    let recent = shards.keyed("other").events().recent();
    assert!(!recent.is_empty(), "the events kept are the name's");
    let refusal = shard.try_acquire().unwrap_err().to_string();
    let shown = format!("{refusal} {shard:?} {recent:?}");
    let texts = heard.iter().map(|(_, text)| text.as_str()).chain([shown.as_str()]);
    assert!(texts.clone().all(|text| text.contains("'shard'") && !text.contains("user-42")));
    assert_eq!(refusal, "CircuitBreaker 'shard' is OPEN and does not permit further calls");
}

#[test]
fn whoever_looks_a_key_up_at_once_gets_the_same_instance() {
    for round in 0..50 {
        let (tenants, _hand) = bulkhead(1);
        let start = Barrier::new(64);
        let permits: Vec<_> = thread::scope(|scope| {
            let look_up = || {
                start.wait();
                tenants.keyed(&round).try_acquire().unwrap()
            };
            let threads: Vec<_> = (0..64).map(|_| scope.spawn(look_up)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(tenants.keyed(&round).available_concurrent_calls(), 36);
        let metrics = tenants.keyed_metrics();
        assert_eq!((metrics.live, metrics.created, metrics.overflowed), (1, 1, 0));
        drop(permits);
    }
}

#[test]
fn j04_the_number_of_instances_is_bounded_exactly_and_further_keys_share_one() {
    let (tenants, _hand) = bulkhead(100);
    let start = Barrier::new(64);
    let most = AtomicU64::new(0);
    thread::scope(|scope| {
        for n in 0..64 {
            let (tenants, start, most) = (&tenants, &start, &most);
            scope.spawn(move || {
                start.wait();
                for key in 0..50 {
                    drop(tenants.keyed(&(n * 50 + key)));
                    most.fetch_max(tenants.keyed_metrics().live, Relaxed);
                }
            });
        }
    });
    let metrics = tenants.keyed_metrics();
    assert_eq!((metrics.live, metrics.created, most.into_inner()), (100, 100, 100));
    assert_eq!(metrics.overflowed, 64 * 50 - 100);

    let (one, other) = (tenants.keyed("one too many"), tenants.keyed("and another"));
    let _permit = one.try_acquire().unwrap();
    assert_eq!((other.available_concurrent_calls(), other.key()), (99, None));
    assert_eq!(tenants.available_concurrent_calls(), 100, "it is not the parent");
}

#[test]
fn j04_a_hundred_thousand_live_breakers_serve_eight_threads() {
    const KEYS: u64 = 100_000;
    let (shards, _hand) = breaker(u32::try_from(KEYS).unwrap());
    let begun = Instant::now();
    thread::scope(|scope| {
        for n in 0..8 {
            let shards = &shards;
            scope.spawn(move || {
                // Each makes some and looks up what the others make at the same time.
                for key in 0..KEYS / 4 {
                    let key = (key + n * KEYS / 8) % KEYS;
                    shards.keyed(&key).try_acquire().unwrap().success();
                }
            });
        }
    });
    let metrics = shards.keyed_metrics();
    assert_eq!((metrics.live, metrics.created), (KEYS, KEYS));
    assert_eq!((metrics.evicted, metrics.overflowed), (0, 0));
    assert!((0..KEYS).all(|key| shards.keyed(&key).metrics().buffered_calls == 2));
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
}

#[test]
fn an_idle_instance_makes_room_and_its_key_starts_afresh() {
    let (shards, hand) = breaker(2);
    shards.keyed("a").try_acquire().unwrap().failure();
    drop(shards.keyed("b"));
    hand.advance(IDLE);
    assert_eq!(shards.keyed("c").key(), None, "none has been idle for longer than allowed");
    // Nobody looks again at once: a later key does.
    hand.advance(LATER);
    assert_eq!(shards.keyed("c").key(), Some("c"));
    assert_eq!(shards.keyed_metrics().evicted, 2);
    assert_eq!(shards.keyed("a").metrics().buffered_calls, 0);
    assert_eq!(shards.keyed_metrics().live, 2);
}

#[test]
fn a_key_that_is_used_stays_while_idle_ones_go_without_the_cap_being_reached() {
    let (shards, hand) = breaker(1_000);
    for key in 0..100 {
        drop(shards.keyed(&key));
    }
    shards.keyed("used").try_acquire().unwrap().success();
    for key in 0..200 {
        hand.advance(IDLE / 2);
        assert_eq!(shards.keyed("used").metrics().buffered_calls, 1);
        drop(shards.keyed(&format_args!("new {key}")));
    }
    let metrics = shards.keyed_metrics();
    assert_eq!(metrics.live + metrics.evicted, metrics.created);
    assert!(metrics.live < 100, "{metrics:?}");
}

/// Whether the instance of `a` is still there after it was idle for long and others want its place.
fn breaker_stays(prepare: impl FnOnce(&CircuitBreaker), wait: Duration) -> bool {
    let (shards, hand) = breaker(1);
    prepare(&shards.keyed("a"));
    hand.advance(wait);
    drop(shards.keyed("b"));
    shards.keyed_metrics().evicted == 0
}

#[test]
fn a_breaker_stays_while_its_state_matters() {
    let set = |state| move |a: &CircuitBreaker| a.transition_to(state).unwrap();
    let half_open = |a: &CircuitBreaker| {
        a.transition_to(State::Open).unwrap();
        a.transition_to(State::HalfOpen).unwrap();
    };
    let open_for = |wait| move |a: &CircuitBreaker| a.transition_to_open_for(wait).unwrap();
    assert!(!breaker_stays(|_| (), LATER), "CLOSED");
    assert!(!breaker_stays(fail_twice, LATER), "OPEN, and its wait of ten seconds is over");
    assert!(breaker_stays(open_for(2 * IDLE), LATER), "OPEN within its wait");
    assert!(!breaker_stays(open_for(2 * IDLE), 2 * LATER));
    assert!(!breaker_stays(half_open, LATER), "its wait is over");
    for by_hand in [State::ForcedOpen, State::Disabled, State::MetricsOnly] {
        assert!(breaker_stays(set(by_hand), 100 * LATER), "{by_hand}");
    }
}

#[test]
fn a_half_open_breaker_stays_for_its_longest_stay_and_the_wait_that_follows() {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let config = breaker(1).0.config().to_builder();
    let config = config
        .max_wait_duration_in_half_open_state(2 * IDLE)
        .wait_duration_in_open_state(2 * IDLE)
        .build();
    let shards = CircuitBreaker::with_clock("shard", config.unwrap(), clock);
    shards.keyed("a").transition_to(State::Open).unwrap();
    shards.keyed("a").transition_to(State::HalfOpen).unwrap();
    for _ in 0..3 {
        hand.advance(LATER);
        assert_eq!(shards.keyed("b").key(), None);
    }
    hand.advance(LATER);
    assert_eq!(shards.keyed("b").key(), Some("b"));
}

#[test]
fn a_state_that_every_instance_starts_in_keeps_none() {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let config = CircuitBreakerConfig::builder()
        .initial_state(State::MetricsOnly)
        .max_keys(1)
        .key_idle_timeout(IDLE)
        .build();
    let shards = CircuitBreaker::with_clock("shard", config.unwrap(), clock);
    drop(shards.keyed("a"));
    hand.advance(LATER);
    assert_eq!(shards.keyed("b").key(), Some("b"));
}

#[test]
fn an_instance_with_a_call_in_flight_stays() {
    let (shards, hand) = breaker(1);
    let permit = shards.keyed("a").try_acquire().unwrap();
    hand.advance(100 * LATER);
    assert_eq!(shards.keyed("b").key(), None);
    permit.failure();
    assert_eq!(shards.keyed("a").metrics().buffered_calls, 1);

    let handle = shards.keyed("a");
    hand.advance(100 * LATER);
    assert_eq!(shards.keyed("b").key(), None, "a handle that is kept keeps the instance");
    drop(handle);
    hand.advance(LATER);
    assert_eq!(shards.keyed("b").key(), Some("b"));
}

#[test]
fn a_bulkhead_stays_while_a_slot_is_taken_without_a_guard() {
    let (tenants, hand) = bulkhead(1);
    assert!(tenants.keyed("a").try_acquire_permission());
    hand.advance(100 * LATER);
    assert_eq!(tenants.keyed("b").key(), None);
    tenants.keyed("a").on_complete();
    hand.advance(LATER);
    assert_eq!(tenants.keyed("b").key(), Some("b"));
}

#[test]
fn a_limiter_stays_until_all_its_permissions_are_back() {
    let (tenants, hand) = limiter(1);
    tenants.keyed("a").try_acquire(1).unwrap();
    hand.advance(LATER);
    assert_eq!(tenants.keyed("b").key(), None);
    assert_eq!(tenants.keyed("a").available_permissions(), 1);
    hand.advance(LATER);
    assert_eq!(tenants.keyed("b").key(), Some("b"));
}

#[test]
fn a_limit_that_one_key_was_given_by_hand_is_not_forgotten() {
    let (tenants, hand) = limiter(1);
    tenants.keyed("premium").change_limit_for_period(1_000).unwrap();
    hand.advance(100 * LATER);
    assert_eq!(tenants.keyed("b").key(), None);
    assert_eq!(tenants.keyed("premium").config().limit_for_period(), 1_000);
}

#[test]
fn other_limits_of_the_name_reach_its_keys_and_the_shared_instance() {
    let (tenants, _hand) = bulkhead(1);
    let (own, shared) = (tenants.keyed("a"), tenants.keyed("b"));
    tenants.change_max_concurrent_calls(7);
    assert_eq!((own.max_concurrent_calls(), shared.max_concurrent_calls()), (7, 7));
    own.change_max_concurrent_calls(3);
    assert_eq!((tenants.max_concurrent_calls(), shared.max_concurrent_calls()), (7, 7));

    let (tenants, _hand) = limiter(10);
    let own = tenants.keyed("a");
    tenants.change_limit_for_period(9).unwrap();
    assert_eq!(own.config().limit_for_period(), 9);
    assert_eq!(tenants.keyed("later").available_permissions(), 9);
}

#[test]
fn a_reload_and_a_switch_reach_the_keys() {
    let load = |limit: u32| {
        let yaml = format!("bulkhead.instances.tenant: {{ max_concurrent_calls: {limit} }}");
        Config::from_str(&yaml, Format::Yaml).unwrap()
    };
    let registry = Resilience::from_config(load(1)).unwrap();
    let own = registry.bulkhead("tenant").keyed("a");
    let permit = own.try_acquire().unwrap();
    registry.reload(load(3)).unwrap();
    assert_eq!((own.max_concurrent_calls(), own.available_concurrent_calls()), (3, 2));
    assert_eq!(registry.bulkhead("tenant").keyed("b").max_concurrent_calls(), 3);

    registry.bulkhead("tenant").set_enabled(false);
    assert!(!own.config().is_enabled());
    registry.bulkhead("tenant").set_enabled(true);
    registry.set_enabled(Pattern::Bulkhead, false);
    assert!(!own.config().is_enabled());
    assert!((0..9).all(|_| own.try_acquire().is_ok()));
    drop(permit);
}

#[test]
fn removing_the_name_drops_the_instances_of_its_keys() {
    let yaml = "
        circuitbreaker.instances.shard: { sliding_window_size: 2, max_keys: 1 }
        bulkhead.instances.shard: { max_concurrent_calls: 3 }";
    let config = Config::from_str(yaml, Format::Yaml).unwrap();
    let registry = Resilience::from_config(config).unwrap();
    let removed = registry.circuit_breaker("shard");
    fail_twice(&removed.keyed("a"));
    let shared = removed.keyed("shared");
    let permit = shared.try_acquire().unwrap();
    drop(registry.bulkhead("shard").keyed("a"));
    assert_eq!(registry.circuit_breakers().len(), 1, "keys are no names");

    assert!(registry.remove("shard"));
    assert_eq!(removed.keyed_metrics().live, 0);
    permit.success();
    assert_eq!(shared.metrics().buffered_calls, 1, "calls end where they began");
    let made_anew = registry.circuit_breaker("shard");
    assert_eq!(made_anew.keyed_metrics().created, 0);
    assert_eq!(made_anew.keyed("a").state(), State::Closed);
    assert_eq!(registry.bulkhead("shard").keyed_metrics().live, 0);
}

#[test]
fn the_settings_about_keys_are_read_from_files() {
    let yaml = "
        circuitbreaker:
          configs: { default: { maxKeys: 3, key-idle-timeout: 2s } }
          instances: { shard: { metric_keys: [eu, us] } }
        ratelimiter.instances.tenant.metric_keys: a, b";
    let registry = Resilience::from_config(Config::from_str(yaml, Format::Yaml).unwrap()).unwrap();
    let config = registry.circuit_breaker("shard").config();
    assert_eq!((config.max_keys(), config.key_idle_timeout()), (3, 2 * SECOND));
    assert_eq!(config.metric_keys(), ["eu", "us"]);
    assert_eq!(registry.rate_limiter("tenant").config().metric_keys(), ["a", "b"]);
    for (setting, allowed) in [
        ("max_keys: 0", "expected a whole number from 1 to 1000000"),
        ("key_idle_timeout: 0ms", "expected a duration of at least 1ms"),
        ("metric_keys: { a: b }", "expected a list of at most 100 texts"),
    ] {
        let yaml = format!("bulkhead.instances.tenant: {{ {setting} }}");
        let error = Config::from_str(&yaml, Format::Yaml).unwrap_err().to_string();
        assert!(error.contains(allowed), "{error}");
    }
    let many: Vec<_> = (0..101).map(|n| format!("k{n}")).collect();
    let yaml = format!("bulkhead.instances.tenant.metric_keys: [{}]", many.join(", "));
    let error = Config::from_str(&yaml, Format::Yaml).unwrap_err().to_string();
    assert!(error.contains("expected a list of at most 100 texts"), "{error}");
    let pool = "thread-pool-bulkhead.instances.pool.max_keys: 3";
    assert!(Config::from_str(pool, Format::Yaml).is_err(), "a thread pool has no keys");
}

#[test]
fn the_instances_of_all_keys_can_be_looked_through() {
    let (shards, _) = breaker(100);
    assert!(shards.keyed_instances().is_empty());
    let keys: Vec<String> = (100..200).map(|key| key.to_string()).collect();
    for key in keys.iter().rev() {
        drop(shards.keyed(key));
    }
    assert_eq!(shards.keyed("beyond").key(), None);
    shards.keyed("150").transition_to(State::Open).unwrap();
    let live = shards.keyed_instances();
    assert!(live.iter().filter_map(CircuitBreaker::key).eq(&keys), "sorted, each one once");
    assert_eq!(live.len(), 100, "the one that further keys share has no key");
    let open: Vec<_> = live.iter().filter(|shard| shard.state() == State::Open).collect();
    assert!(open.len() == 1 && open[0].key() == Some("150"));
    assert!(live[0].keyed_instances().is_empty());
}

/// Breaks the contract of `Display`.
struct Failing;

impl fmt::Display for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("half")?;
        Err(fmt::Error)
    }
}

#[test]
fn a_key_that_fails_to_show_itself_is_a_panic_that_names_the_instance() {
    let (shards, _) = breaker(8);
    let look_up = std::panic::AssertUnwindSafe(|| shards.keyed(&Failing));
    let payload = std::panic::catch_unwind(look_up).unwrap_err();
    let message = payload.downcast_ref::<String>().unwrap();
    assert!(message.contains("a key for circuitbreaker 'shard' has failed"), "{message}");
    assert_eq!(shards.keyed_metrics().created, 0);
}
