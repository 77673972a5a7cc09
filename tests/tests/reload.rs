//! Another configuration for a registry in use: what survives, what takes effect, and that it is all
//! or nothing.

use std::{
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use resilience::{
    Clock, Config, Error, ManualClock, Resilience, bulkhead,
    circuit_breaker::State,
    config::{Format, Pattern},
    events::Event,
    retry,
};

const SECOND: Duration = Duration::from_secs(1);

fn config(yaml: &str) -> Config {
    Config::builder().env(false).text(yaml, Format::Yaml).load().expect("a valid configuration")
}

fn registry(yaml: &str) -> Resilience {
    Resilience::from_config(config(yaml)).expect("a valid configuration")
}

fn on_a_clock(yaml: &str) -> (Resilience, ManualClock) {
    let (clock, hand) = Clock::manual(Duration::ZERO);
    (Resilience::with_clock(config(yaml), clock).expect("a valid configuration"), hand)
}

fn reload(registry: &Resilience, yaml: &str) -> Vec<String> {
    let reload = registry.reload(config(yaml)).expect("a valid configuration");
    reload.changes.iter().map(ToString::to_string).collect()
}

async fn fail(registry: &Resilience, times: usize) {
    for _ in 0..times {
        let _ = registry.circuit_breaker("x").call(async { Err::<(), _>("down") }).await;
    }
}

const BREAKER: &str = "circuitbreaker.instances.x: { sliding_window_size: 4, \
                       minimum_number_of_calls: 4, wait_duration_in_open_state: 10s }";

#[tokio::test]
async fn b09_a_reload_leaves_an_open_breaker_open_for_the_rest_of_its_time() {
    let (registry, hand) = on_a_clock(BREAKER);
    fail(&registry, 4).await;
    hand.advance(4 * SECOND);
    let changes = reload(
        &registry,
        "circuitbreaker.instances.x: { sliding_window_size: 4, minimum_number_of_calls: 4, \
         wait_duration_in_open_state: 60s, failure_rate_threshold: 20 }",
    );
    assert_eq!(changes.len(), 2, "{changes:?}");
    let breaker = registry.circuit_breaker("x");
    assert_eq!(breaker.state(), State::Open);
    hand.advance(6 * SECOND);
    assert!(breaker.try_acquire().is_err(), "at the very end of the wait it is still open");
    hand.advance(Duration::from_nanos(1));
    assert!(breaker.try_acquire().is_ok());
    assert_eq!(breaker.state(), State::HalfOpen);
}

#[tokio::test]
async fn b09_a_reload_of_a_threshold_leaves_the_window_and_one_of_its_shape_starts_it_anew() {
    let registry = registry(BREAKER);
    fail(&registry, 3).await;
    reload(&registry, &BREAKER.replace("{ ", "{ failure_rate_threshold: 90, "));
    let breaker = registry.circuit_breaker("x");
    assert_eq!(breaker.metrics().failed_calls, 3);
    reload(&registry, &BREAKER.replace("{ ", "{ sliding_window_type: TIME_BASED, "));
    assert_eq!((breaker.metrics().failed_calls, breaker.state()), (0, State::Closed));
    fail(&registry, 4).await;
    assert_eq!(breaker.state(), State::Open);
    reload(&registry, BREAKER);
    assert_eq!(breaker.state(), State::Open, "another shape is no other state");
}

#[tokio::test]
async fn b10_calls_on_their_way_through_a_reload_end_and_give_their_permits_back() {
    let yaml = |permitted: u32, slots: u32| {
        format!(
            "circuitbreaker.instances.x.permitted_number_of_calls_in_half_open_state: {permitted}\n\
             bulkhead.instances.x.max_concurrent_calls: {slots}"
        )
    };
    let registry = registry(&yaml(2, 2));
    let (breaker, bulkhead) = (registry.circuit_breaker("x"), registry.bulkhead("x"));
    breaker.transition_to(State::Open).unwrap();
    breaker.transition_to(State::HalfOpen).unwrap();
    let probe = breaker.try_acquire().unwrap();
    let slots = [bulkhead.try_acquire().unwrap(), bulkhead.try_acquire().unwrap()];
    reload(&registry, &yaml(3, 5));
    assert_eq!(bulkhead.available_concurrent_calls(), 3);
    drop(slots);
    assert_eq!(bulkhead.available_concurrent_calls(), 5);
    drop(probe);
    let probes: Vec<_> = (0..3).map(|_| breaker.try_acquire().unwrap()).collect();
    assert!(breaker.try_acquire().is_err(), "the dropped probe gave back one place, not two");
    drop(probes);
}

#[tokio::test]
async fn a_smaller_bulkhead_takes_nothing_back_and_a_larger_one_lets_in_who_waits() {
    let slots = |n: u32| {
        format!("bulkhead.instances.x: {{ max_concurrent_calls: {n}, max_wait_duration: 1h }}")
    };
    let registry = registry(&slots(3));
    let bulkhead = registry.bulkhead("x");
    let mut held: Vec<_> = (0..3).map(|_| bulkhead.try_acquire().unwrap()).collect();
    reload(&registry, &slots(1));
    held.truncate(1);
    assert_eq!(bulkhead.available_concurrent_calls(), 0);
    let waiting: Vec<_> = (0..2)
        .map(|_| {
            tokio::spawn({
                let b = bulkhead.clone();
                async move { b.acquire().await }
            })
        })
        .collect();
    while bulkhead.waiting() < 2 {
        tokio::task::yield_now().await;
    }
    reload(&registry, &slots(3));
    for wait in waiting {
        assert!(wait.await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn a_higher_limit_or_a_shorter_period_lets_in_who_waits() {
    let limit = |refill: &str, n: u32, period: &str| {
        format!(
            "ratelimiter.instances.x: {{ limit_for_period: {n}, limit_refresh_period: {period}, \
             timeout_duration: 48h, refill: {refill} }}"
        )
    };
    for (n, period, wait) in [(1000, "1h", 3600), (1, "1s", 5)] {
        for refill in ["interval", "greedy"] {
            let (registry, hand) = on_a_clock(&limit(refill, 1, "1h"));
            let limiter = registry.rate_limiter("x");
            limiter.try_acquire(1).unwrap();
            let waiting: Vec<_> = (0..5)
                .map(|_| {
                    let limiter = limiter.clone();
                    tokio::spawn(async move { limiter.acquire(1).await })
                })
                .collect();
            while limiter.waiting() < 5 {
                tokio::task::yield_now().await;
            }
            reload(&registry, &limit(refill, n, period));
            for _ in 0..wait {
                tokio::task::yield_now().await;
                hand.advance(SECOND);
            }
            for call in waiting {
                assert!(call.await.unwrap().is_ok(), "{refill}, {n} in {period}");
            }
        }
    }
}

#[test]
fn another_limit_takes_effect_with_the_next_period_or_refill() {
    for refill in ["interval", "greedy"] {
        let limit = |n: u32| {
            format!(
                "ratelimiter.instances.x: {{ limit_for_period: {n}, limit_refresh_period: 1s, \
                 timeout_duration: 0, refill: {refill} }}"
            )
        };
        let (registry, hand) = on_a_clock(&limit(4));
        let limiter = registry.rate_limiter("x");
        let burst = || (0..20).take_while(|_| limiter.try_acquire(1).is_ok()).count();
        assert_eq!(burst(), 4);
        reload(&registry, &limit(10));
        assert_eq!(burst(), 0, "{refill}: a higher limit grants no burst at once");
        hand.advance(SECOND);
        assert_eq!(burst(), 10, "{refill}");
        reload(&registry, &limit(2));
        hand.advance(SECOND);
        assert_eq!(burst(), 2, "{refill}");
    }
}

#[test]
fn the_refill_can_be_changed() {
    let yaml = |refill: &str| {
        format!(
            "ratelimiter.instances.x: {{ limit_for_period: 5, limit_refresh_period: 1s, \
             timeout_duration: 0, refill: {refill} }}"
        )
    };
    let (registry, hand) = on_a_clock(&yaml("interval"));
    let limiter = registry.rate_limiter("x");
    limiter.try_acquire(5).unwrap();
    reload(&registry, &yaml("greedy"));
    assert!(limiter.try_acquire(1).is_err());
    hand.advance(SECOND / 5);
    assert!(limiter.try_acquire(1).is_ok(), "one came back in a fifth of the period");
    assert!(limiter.try_acquire(1).is_err());
}

#[tokio::test]
async fn a_thread_pool_grows_and_shrinks() {
    let pool = |n: u32, queue: u32| {
        format!(
            "thread-pool-bulkhead.instances.x: {{ core_thread_pool_size: {n}, \
             max_thread_pool_size: {n}, queue_capacity: {queue} }}"
        )
    };
    let registry = registry(&pool(1, 1));
    let bulkhead = registry.thread_pool_bulkhead("x");
    let (release, held) = mpsc::channel::<()>();
    let held = Arc::new(Mutex::new(held));
    let call = |begun: mpsc::Sender<()>| {
        let (bulkhead, held) = (bulkhead.clone(), Arc::clone(&held));
        tokio::spawn(async move {
            let body = move || {
                begun.send(()).map_err(drop)?;
                held.lock().map_err(drop)?.recv().map_err(drop)
            };
            bulkhead.call(body).await
        })
    };
    let (begun, begins) = mpsc::channel();
    let calls = [call(begun.clone()), call(begun)];
    while bulkhead.metrics().queue_depth < 1 {
        tokio::task::yield_now().await;
    }
    begins.recv().unwrap();
    reload(&registry, &pool(2, 0));
    begins.recv().expect("the queued call got the new thread");
    assert_eq!(bulkhead.metrics().max_thread_pool_size, 2);
    release.send(()).unwrap();
    release.send(()).unwrap();
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok(()));
    }
    reload(&registry, &pool(1, 0));
    assert_eq!(bulkhead.metrics().max_thread_pool_size, 1);
}

#[test]
fn retry_and_time_limiter_follow_and_so_does_the_size_of_the_ring() {
    let registry = registry("retry.instances.x: {}\ntimelimiter.instances.x: {}");
    let changes = reload(
        &registry,
        "retry.instances.x: { max_attempts: 5 }\n\
         timelimiter.instances.x: { timeout_duration: 3s, event_consumer_buffer_size: 2 }",
    );
    assert_eq!(
        changes,
        [
            "retry.instances.x.max_attempts: 3 (default) -> 5 (<text>:1)",
            "timelimiter.instances.x.timeout_duration: 1s (default) -> 3s (<text>:2)",
            "timelimiter.instances.x.event_consumer_buffer_size: 100 (default) -> 2 (<text>:2)",
        ]
    );
    assert_eq!(registry.retry("x").config().max_attempts(), 5);
    let limiter = registry.time_limiter("x").config();
    assert_eq!((limiter.timeout_duration(), limiter.event_consumer_buffer_size()), (3 * SECOND, 2));
}

#[test]
fn what_has_only_moved_is_no_change() {
    let registry = registry("retry.instances.x.max_attempts: 4");
    let moved = "\n\nretry.configs.default.max_attempts: 4\nretry.instances.x: {}";
    assert!(reload(&registry, moved).is_empty());
    let origin = registry.effective_config().into_iter().find(|(p, ..)| p.ends_with("attempts"));
    assert_eq!(origin.unwrap().2.to_string(), "<text>:3 (retry.configs.default)");
}

#[test]
fn i09_a_bad_file_changes_nothing_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("resilience.yaml");
    let loader = Config::builder().env(false).file(&file);
    let write = |text: &str| std::fs::write(&file, text).unwrap();
    write("retry.instances: { a: { max_attempts: 2 }, b: { max_attempts: 2 } }");
    let registry = Resilience::from_config(loader.clone().load().unwrap()).unwrap();
    assert!(registry.metrics().config_last_reload_successful);

    write("retry.instances: { a: { max_attempts: 4 }, b: { max_attempts: 0 } }");
    let error = registry.reload_from(&loader).unwrap_err();
    assert!(error.to_string().contains("retry.instances.b.max_attempts = 0"), "{error}");
    assert_eq!(registry.retry("a").config().max_attempts(), 2);

    // The same for what only the check of the registry finds.
    write(
        "retry.instances: { a: { max_attempts: 4 }, b: {} }\n\
         circuitbreaker.instances.c.record_errors: [typo]",
    );
    assert!(registry.reload_from(&loader).is_err());
    std::fs::remove_file(&file).unwrap();
    assert!(registry.reload_from(&loader).unwrap_err().to_string().contains("cannot read"));
    assert_eq!(registry.retry("a").config().max_attempts(), 2);
    assert!(registry.find_circuit_breaker("c").is_none());
    let metrics = registry.metrics();
    assert!(!metrics.config_last_reload_successful && metrics.last_reload.is_none());
    assert_eq!((metrics.reloads, metrics.failed_reloads), (0, 3));
    let recent = registry.events().recent();
    let failures: Vec<_> = recent.iter().filter(|e| e.type_name == "RELOAD_FAILED").collect();
    assert_eq!(failures.len(), 3);
    assert!(failures[0].text.contains("b.max_attempts = 0"), "{}", failures[0].text);

    write("retry.instances: { a: { max_attempts: 4 }, b: { max_attempts: 1 } }");
    assert_eq!(registry.reload_from(&loader).unwrap().changes.len(), 2);
    assert_eq!(registry.retry("a").config().max_attempts(), 4);
    let metrics = registry.metrics();
    assert!(metrics.config_last_reload_successful && metrics.last_reload.is_some());
    assert_eq!(metrics.reloads, 1);
    assert_eq!(registry.events().recent().last().unwrap().type_name, "RELOADED");
}

#[test]
fn a_change_by_the_environment_names_the_variable() {
    let load = |attempts: &str| {
        let variable = ("RESILIENCE_RETRY_INSTANCES_X_MAXATTEMPTS", attempts);
        let text = Config::builder().text("retry.instances.x: {}", Format::Yaml);
        text.vars([variable]).load().unwrap()
    };
    let registry = Resilience::from_config(load("2")).unwrap();
    let reload = registry.reload(load("6")).unwrap();
    let variable = "environment RESILIENCE_RETRY_INSTANCES_X_MAXATTEMPTS";
    assert_eq!(
        reload.changes[0].to_string(),
        format!("retry.instances.x.max_attempts: 2 ({variable}) -> 6 ({variable})")
    );
}

#[test]
fn calls_and_reloads_from_many_threads_end_in_the_last_configuration() {
    let yaml = |n: u32| format!("bulkhead.instances.x.max_concurrent_calls: {n}");
    let registry = registry(&yaml(4));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    drop(registry.bulkhead("x").try_acquire());
                }
            });
        }
        let reloads: Vec<_> = (0..2)
            .map(|thread| {
                let registry = &registry;
                scope.spawn(move || {
                    for n in 1..100 {
                        reload(registry, &yaml(n + thread));
                    }
                })
            })
            .collect();
        for thread in reloads {
            thread.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    let bulkhead = registry.bulkhead("x");
    let declared = registry.effective_config();
    let (_, value, _) =
        declared.iter().find(|(p, ..)| p.ends_with("max_concurrent_calls")).unwrap();
    assert_eq!(value.to_string(), bulkhead.max_concurrent_calls().to_string());
    assert_eq!(bulkhead.available_concurrent_calls(), bulkhead.max_concurrent_calls());
    assert_eq!(registry.metrics().reloads, 198);
    reload(&registry, &yaml(7));
    assert_eq!(bulkhead.available_concurrent_calls(), 7);
}

#[test]
fn an_instance_that_is_made_during_a_reload_does_not_stay_on_the_old_configuration() {
    let registry = registry("");
    for n in 1..=100 {
        // Undeclared so far, and known to be the one by what is taken of it.
        let known = registry.bulkhead(&format!("known-{n}"));
        let _permit = known.try_acquire().unwrap();
        let yaml = format!(
            "retry.configs.default.max_attempts: {n}\n\
             bulkhead.instances.known-{n}.max_concurrent_calls: {n}"
        );
        let config = config(&yaml);
        let start = Barrier::new(3);
        thread::scope(|scope| {
            scope.spawn(|| {
                start.wait();
                (0..20).for_each(|i| drop(registry.retry(&format!("{n}-{i}"))));
            });
            scope.spawn(|| {
                start.wait();
                (0..20).for_each(|_| drop(registry.bulkhead(&format!("known-{n}"))));
            });
            start.wait();
            registry.reload(config).unwrap();
        });
        for retry in registry.retries() {
            assert_eq!(retry.config().max_attempts(), n, "{}", retry.name());
            assert!(registry.remove(retry.name()));
        }
        let found = registry.bulkhead(&format!("KNOWN_{n}"));
        assert_eq!((found.max_concurrent_calls(), found.available_concurrent_calls()), (n, n - 1));
    }
}

#[test]
fn instances_keep_their_identity_whether_they_are_declared_or_not() {
    let registry = registry("bulkhead.configs.default.max_concurrent_calls: 2");
    let bulkhead = registry.bulkhead("pay-bh");
    let _permit = bulkhead.try_acquire().unwrap();
    let declared = "bulkhead.instances.payBh.max_concurrent_calls: 4";
    assert_eq!(
        reload(&registry, declared),
        ["bulkhead.instances.payBh.max_concurrent_calls: 2 (<text>:1) -> 4 (<text>:1)"]
    );
    assert_eq!(bulkhead.max_concurrent_calls(), 4);
    assert_eq!(registry.bulkhead("PAY_BH").available_concurrent_calls(), 3, "in any spelling");
    // Declared no more: on defaults, and still found in any spelling.
    reload(&registry, "bulkhead: {}");
    assert_eq!(bulkhead.max_concurrent_calls(), 25);
    assert_eq!(registry.bulkhead("payBh").available_concurrent_calls(), 24);
    assert_eq!(registry.bulkheads().len(), 1);
    assert!(registry.remove("payBh"));
    reload(&registry, "bulkhead.instances.other: {}");
    assert!(registry.find_bulkhead("other").is_some(), "what is declared is made");
}

#[test]
fn what_is_removed_by_hand_is_not_made_again_by_a_reload() {
    let yaml = "retry.instances.x: {}";
    let registry = registry(yaml);
    registry.remove("x");
    reload(&registry, &format!("{yaml}\nretry.instances.y: {{}}"));
    assert!(registry.find_retry("x").is_none() && registry.find_retry("y").is_some());
    let types: Vec<_> = registry.events().recent().iter().map(|e| e.text.clone()).collect();
    assert_eq!(
        types,
        [
            "Registry added retry 'x'",
            "Registry removed retry 'x'",
            "Registry added retry 'y'",
            "Registry reloaded its configuration; settings that changed: 0",
        ]
    );
}

#[test]
fn of_two_spellings_that_become_one_name_the_declared_one_stays() {
    let registry = registry("");
    let (other, declared) = (registry.bulkhead("v-11"), registry.bulkhead("v1-1"));
    let _permit = declared.try_acquire().unwrap();
    reload(&registry, "bulkhead.instances.v1-1.max_concurrent_calls: 3");
    assert_eq!(registry.bulkheads().len(), 1);
    assert_eq!(registry.bulkhead("v11").available_concurrent_calls(), 2);
    assert_eq!(other.max_concurrent_calls(), 25, "it lives on in its handles");
}

#[test]
fn what_was_changed_by_hand_stays_unless_the_reload_changes_the_instance() {
    let yaml = |wait: &str, period: &str| {
        format!(
            "bulkhead.instances: {{ x: {{ max_wait_duration: {wait} }}, y: {{}} }}\n\
             ratelimiter.instances.x: {{ limit_refresh_period: {period} }}"
        )
    };
    let registry = registry(&yaml("1s", "1s"));
    let (x, y, limiter) =
        (registry.bulkhead("x"), registry.bulkhead("y"), registry.rate_limiter("x"));
    x.change_max_concurrent_calls(3);
    y.change_max_concurrent_calls(3);
    y.set_enabled(false);
    limiter.change_limit_for_period(7).unwrap();
    reload(&registry, &yaml("2s", "1s"));
    assert_eq!(x.max_concurrent_calls(), 25, "the configuration goes before, as a whole");
    assert_eq!((y.max_concurrent_calls(), y.config().is_enabled()), (3, false));
    assert_eq!(limiter.config().limit_for_period(), 7);
    reload(&registry, &yaml("2s", "2s"));
    assert_eq!(limiter.config().limit_for_period(), 50);
}

#[tokio::test]
async fn j06_listeners_and_counters_survive_a_reload() {
    let registry = registry("bulkhead.instances.x.max_concurrent_calls: 1");
    let bulkhead = registry.bulkhead("x");
    drop(bulkhead.try_acquire());
    let heard = Arc::new(AtomicUsize::new(0));
    let _subscription = bulkhead.events().subscribe({
        let heard = Arc::clone(&heard);
        move |_| {
            heard.fetch_add(1, Ordering::Relaxed);
        }
    });
    reload(&registry, "bulkhead.instances.x.max_concurrent_calls: 2");
    drop(registry.bulkhead("x").try_acquire());
    assert_eq!(heard.load(Ordering::Relaxed), 2);
    assert_eq!(bulkhead.metrics().finished, 2);
}

#[test]
fn j16_registry_events_tell_of_every_instance_once_and_a_listener_may_reload() {
    let registry = registry("");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let subscription = registry.events().subscribe({
        let (registry, heard) = (registry.clone(), Arc::clone(&heard));
        move |event| {
            if event.type_name() == "ENTRY_ADDED" && event.instance() == "x" {
                reload(&registry, "retry.instances.y.max_attempts: 2");
            }
            heard.lock().unwrap().push(event.to_string());
        }
    });
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| registry.retry("x"));
        }
    });
    drop(subscription);
    let heard = heard.lock().unwrap();
    let count = |text: &str| heard.iter().filter(|e| e.as_str() == text).count();
    assert_eq!(count("Registry added retry 'x'"), 1, "{heard:?}");
    assert_eq!(count("Registry added retry 'y'"), 1, "{heard:?}");
}

#[test]
fn a_listener_of_a_breaker_may_reload_while_a_reload_changes_the_breaker() {
    let yaml = "circuitbreaker.instances.x: { wait_duration_in_open_state: 1s, \
                automatic_transition_from_open_to_half_open_enabled: true }";
    let (registry, hand) = on_a_clock(yaml);
    let breaker = registry.circuit_breaker("x");
    let _subscription = breaker.events().subscribe({
        let registry = registry.clone();
        move |_| {
            if registry.metrics().reloads == 1 {
                reload(&registry, "circuitbreaker.instances.x.failure_rate_threshold: 30");
            }
        }
    });
    breaker.transition_to(State::Open).unwrap();
    hand.advance(2 * SECOND);
    // The change of state is due: whoever changes the breaker next tells of it.
    reload(&registry, &yaml.replace("{ ", "{ failure_rate_threshold: 20, "));
    assert_eq!(registry.metrics().reloads, 2);
    assert!((breaker.config().failure_rate_threshold() - 30.0).abs() < f32::EPSILON);
}

#[retry(name = "site", wait_duration = "0ms")]
#[bulkhead(name = "site")]
async fn annotated(calls: &AtomicUsize) -> Result<(), Error> {
    calls.fetch_add(1, Ordering::Relaxed);
    let nowhere = registry("bulkhead.instances.full.max_concurrent_calls: 0");
    nowhere.bulkhead("full").try_acquire().map(drop).map_err(Error::from)
}

#[tokio::test]
async fn an_annotated_function_keeps_its_instances_and_follows_their_settings() {
    let yaml = |attempts: u32| format!("retry.instances.site.max_attempts: {attempts}");
    let before = resilience::global().retry("site");
    let error = resilience::global().reload(config(&yaml(2))).unwrap_err();
    assert!(error.to_string().contains("`resilience::init` first"), "{error}");

    let registry = resilience::init(config(&yaml(2))).unwrap();
    for (attempts, total) in [(2, 2), (5, 7)] {
        reload(&registry, &yaml(attempts));
        let calls = AtomicUsize::new(0);
        assert!(annotated(&calls).await.is_err());
        assert_eq!(calls.into_inner(), attempts as usize);
        assert_eq!(before.metrics().total_calls, total, "it is the instance that it was");
    }

    // The check is that of `init`: against the program, under `strict` too.
    let strict = config("strict: true\nretry.instances.site: {}");
    let error = registry.reload(strict).unwrap_err().to_string();
    assert!(error.contains("reload::annotated") && error.contains("bulkhead 'site'"), "{error}");
    assert_eq!(before.config().max_attempts(), 5);
    let error = resilience::init(config(&yaml(2))).unwrap_err().to_string();
    assert!(error.contains("`Resilience::reload`"), "{error}");

    registry.bulkhead("site").change_max_concurrent_calls(0);
    let calls = AtomicUsize::new(0);
    assert!(annotated(&calls).await.is_err());
    assert_eq!(calls.into_inner(), 0, "the call site's own bulkhead refuses");
    registry.set_enabled(Pattern::Bulkhead, false);
    let calls = AtomicUsize::new(0);
    assert!(annotated(&calls).await.is_err());
    assert_eq!(calls.into_inner(), 5);
}

#[tokio::test]
async fn a_retry_budget_keeps_what_it_has_counted_and_a_retry_follows_to_another() {
    let yaml = |min: u32, budget: &str| {
        format!(
            "retry:\n  budgets: {{ one: {{ ratio: 0, min_per_second: {min} }}, two: {{}} }}\n  \
             instances: {{ x: {{ max_attempts: 2, wait_duration: 0, budget: {budget} }} }}"
        )
    };
    let registry = registry(&yaml(1, "one"));
    let retry = registry.retry("x");
    let call = || retry.call(|| async { Err::<(), _>("down") });
    assert!(call().await.is_err());
    let one = registry.retry_budget("one");
    assert_eq!(one.metrics().calls, 1);
    assert_eq!(
        reload(&registry, &yaml(5, "one")),
        ["retry.budgets.one.min_per_second: 1 (<text>:2) -> 5 (<text>:2)"]
    );
    assert!(call().await.is_err());
    assert_eq!(one.metrics().calls, 2);
    assert_eq!(
        reload(&registry, &yaml(5, "two")),
        ["retry.instances.x.budget: one (<text>:3) -> two (<text>:3)"]
    );
    assert!(call().await.is_err());
    assert_eq!((one.metrics().calls, registry.retry_budget("two").metrics().calls), (2, 1));
}
