//! What a scrape says: names, labels, numbers, and what happens to them as instances come and go.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do
#![allow(clippy::float_cmp)] // what was counted is exact

use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::Duration,
};

use proptest::prelude::*;
use resilience::{Config, Resilience, circuit_breaker::State, metrics::CONTENT_TYPE};
use resilience_tests::{
    exposition::Exposition,
    observed::{config, program, registry, succeed},
};

fn scrape(registry: &Resilience) -> Exposition {
    let text = registry.prometheus();
    let exposition = Exposition::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(exposition.flaws(), [""; 0], "{text}");
    exposition
}

const PAYMENT: (&str, &str) = ("name", "payment");

#[tokio::test]
async fn a_scrape_is_a_good_text_of_the_format() {
    let (registry, _hand) = program().await;
    let exposition = scrape(&registry);
    assert!(exposition.samples().count() > 100);
    assert!(exposition.samples().all(|s| s.labels[0] == ("application".into(), "orders".into())));
    assert_eq!(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
}

#[test]
fn a_registry_without_instances_tells_of_itself() {
    let (registry, _hand) = registry("");
    let exposition = scrape(&registry);
    assert_eq!(exposition.value("resilience_config_last_reload_successful", &[]), 1.0);
    assert!(exposition.samples().all(|sample| sample.name.starts_with("resilience_config_")));
}

#[tokio::test]
async fn a_circuit_breaker_tells_its_state_and_how_calls_ended() {
    let (registry, hand) = program().await;
    let exposition = scrape(&registry);
    let value = |metric: &str, label: (&str, &str)| {
        exposition.value(&format!("resilience4j_circuitbreaker_{metric}"), &[PAYMENT, label])
    };
    let states = ["closed", "open", "half_open", "forced_open", "disabled", "metrics_only"];
    let is_open = states.map(|state| value("state", ("state", state)));
    assert_eq!(is_open, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    let kinds = |metric, kinds: &[&str]| -> Vec<f64> {
        kinds.iter().map(|kind| value(metric, ("kind", kind))).collect()
    };
    assert_eq!(kinds("buffered_calls", &["successful", "failed"]), [2.0, 2.0]);
    assert_eq!(kinds("slow_calls", &["successful", "failed"]), [1.0, 0.0]);
    let ends = ["successful", "failed", "ignored"];
    assert_eq!(kinds("calls_seconds_count", &ends), [2.0, 2.0, 1.0]);
    assert_eq!(kinds("calls_total", &ends), [2.0, 2.0, 1.0]);
    assert_eq!(kinds("calls_total", &["cancelled"]), [1.0]);
    assert_eq!(kinds("not_permitted_calls_total", &["not_permitted"]), [1.0]);
    let no_label = ("key", "");
    assert_eq!(value("failure_rate", no_label), 50.0);
    assert_eq!(value("slow_call_rate", no_label), 25.0);
    assert_eq!(value("max_buffered_calls", no_label), 4.0);
    assert_eq!(value("transitions_total", no_label), 1.0);

    hand.advance(Duration::from_secs(10));
    succeed(&registry.circuit_breaker("payment"));
    let exposition = scrape(&registry);
    let state =
        |state| exposition.value("resilience4j_circuitbreaker_state", &[PAYMENT, ("state", state)]);
    assert_eq!([state("open"), state("half_open")], [0.0, 1.0]);
    let rate = exposition.value("resilience4j_circuitbreaker_failure_rate", &[PAYMENT]);
    assert_eq!(rate, -1.0, "too few calls");
}

#[tokio::test]
async fn a_circuit_breaker_tells_how_long_calls_took() {
    let (registry, _hand) = program().await;
    let exposition = scrape(&registry);
    let value = |suffix: &str, labels: &[(&str, &str)]| {
        let labels = [&[PAYMENT, ("kind", "successful")], labels].concat();
        exposition.value(&format!("resilience4j_circuitbreaker_calls_seconds{suffix}"), &labels)
    };
    assert_eq!(value("_sum", &[]), 0.077);
    assert_eq!(value("_max", &[]), 0.07);
    let up_to = |bound| value("_bucket", &[("le", bound)]);
    assert_eq!(["0.005", "0.01", "0.05", "0.1", "+Inf"].map(up_to), [0.0, 1.0, 1.0, 2.0, 2.0]);
}

#[tokio::test]
async fn the_other_patterns_tell_how_calls_ended_and_what_is_left() {
    let (registry, _hand) = program().await;
    let exposition = scrape(&registry);
    for (metric, label, expected) in [
        ("retry_calls_total", ("kind", "successful_without_retry"), 1.0),
        ("retry_calls_total", ("kind", "successful_with_retry"), 1.0),
        ("retry_calls_total", ("kind", "failed_without_retry"), 0.0),
        ("retry_calls_total", ("kind", "failed_with_retry"), 1.0),
        ("retry_attempts_total", PAYMENT, 6.0),
        ("retry_stopped_by_budget_total", PAYMENT, 0.0),
        ("ratelimiter_available_permissions", PAYMENT, 0.0),
        ("ratelimiter_waiting_threads", PAYMENT, 0.0),
        ("ratelimiter_calls_total", ("kind", "permitted"), 1.0),
        ("ratelimiter_calls_total", ("kind", "refused"), 1.0),
        ("ratelimiter_calls_total", ("kind", "cancelled"), 0.0),
        ("timelimiter_calls_total", ("kind", "successful"), 1.0),
        ("timelimiter_calls_total", ("kind", "failed"), 1.0),
        ("timelimiter_calls_total", ("kind", "timeout"), 1.0),
        ("bulkhead_available_concurrent_calls", PAYMENT, 1.0),
        ("bulkhead_max_allowed_concurrent_calls", PAYMENT, 1.0),
        ("bulkhead_queue_capacity", PAYMENT, 3.0),
        ("bulkhead_core_thread_pool_size", PAYMENT, 1.0),
        ("bulkhead_max_thread_pool_size", PAYMENT, 2.0),
    ] {
        let metric = format!("resilience4j_{metric}");
        assert_eq!(exposition.value(&metric, &[PAYMENT, label]), expected, "{metric} {label:?}");
    }
    let calls = |kind, of| {
        let labels = [PAYMENT, ("kind", kind), ("type", of)];
        exposition.value("resilience4j_bulkhead_calls_total", &labels)
    };
    assert_eq!([calls("permitted", "semaphore"), calls("rejected", "semaphore")], [1.0, 1.0]);
    assert_eq!([calls("permitted", "thread_pool"), calls("rejected", "thread_pool")], [1.0, 0.0]);
    let budget = |metric: &str| {
        exposition.value(&format!("resilience_retry_budget_{metric}"), &[("name", "backend")])
    };
    assert_eq!([budget("calls"), budget("retries"), budget("refused_total")], [3.0, 3.0, 0.0]);
}

#[tokio::test]
async fn the_table_of_the_docs_is_what_a_scrape_has() {
    let documented: BTreeSet<(String, String)> = include_str!("../../docs/metrics.md")
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        // This program shares nothing; the library's own tests look at these.
        .filter(|row| !row.starts_with("resilience_store_"))
        .map(|row| {
            let cells: Vec<&str> =
                row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            (cells[0].to_owned(), cells[1].to_owned())
        })
        .collect();
    let (registry, _hand) = program().await;
    let families = scrape(&registry).families;
    let scraped = families.into_iter().map(|family| (family.name, family.kind)).collect();
    assert_eq!(documented, scraped);
}

const KEYED: &str = "circuitbreaker.instances.shard: \
    { metric_keys: [eu], max_keys: 2, key_idle_timeout: 1s, sliding_window_size: 2 }";
const CALLS: &str = "resilience4j_circuitbreaker_calls_total";

/// The calls that succeeded under each key.
fn successes(registry: &Resilience) -> Vec<(String, f64)> {
    let exposition = scrape(registry);
    let of_key = exposition.with(CALLS, &[("name", "shard"), ("kind", "successful")]);
    of_key.map(|sample| (sample.label("key").unwrap().to_owned(), sample.value)).collect()
}

#[test]
fn a_listed_key_has_its_own_series_and_the_others_are_one() {
    let (registry, _hand) = registry(KEYED);
    let shard = registry.circuit_breaker("shard");
    succeed(&shard);
    for key in ["eu", "us", "eu", "beyond"] {
        succeed(&shard.keyed(key));
    }
    shard.keyed("eu").transition_to(State::ForcedOpen).unwrap();
    assert_eq!(successes(&registry), [(String::new(), 3.0), ("eu".into(), 2.0)]);
    let exposition = scrape(&registry);
    let state = |key| {
        let labels = [("name", "shard"), ("key", key), ("state", "forced_open")];
        exposition.value("resilience4j_circuitbreaker_state", &labels)
    };
    assert_eq!([state(""), state("eu")], [0.0, 1.0]);
    let keyed = |metric: &str| {
        let labels = [("name", "shard"), ("pattern", "circuitbreaker")];
        exposition.value(&format!("resilience_keyed_{metric}"), &labels)
    };
    assert_eq!([keyed("live"), keyed("created_total"), keyed("overflowed_total")], [2.0, 2.0, 1.0]);
    assert!(!registry.prometheus().contains("beyond"));
}

#[test]
fn what_evicted_keys_have_counted_stays() {
    let (registry, hand) = registry(KEYED);
    let shard = registry.circuit_breaker("shard");
    succeed(&shard.keyed("eu"));
    succeed(&shard.keyed("us"));
    hand.advance(Duration::from_secs(2));
    succeed(&shard.keyed("asia"));
    assert_eq!(shard.keyed_metrics().evicted, 2);
    assert_eq!(successes(&registry), [(String::new(), 2.0), ("eu".into(), 1.0)]);
    let exposition = scrape(&registry);
    let gauges = exposition.with("resilience4j_circuitbreaker_failure_rate", &[("key", "eu")]);
    assert_eq!(gauges.count(), 0, "there is none whose state it could be");
}

#[test]
fn a_key_that_is_listed_later_takes_nothing_from_the_others() {
    let (registry, _hand) = registry(KEYED);
    let shard = registry.circuit_breaker("shard");
    for key in ["eu", "us"] {
        succeed(&shard.keyed(key));
    }
    registry.reload(config(&KEYED.replace("[eu]", "[us]"))).unwrap();
    for key in ["eu", "us"] {
        succeed(&shard.keyed(key));
    }
    assert_eq!(successes(&registry), [(String::new(), 3.0), ("us".into(), 1.0)]);
}

#[test]
fn keys_are_shown_as_they_are() {
    let (registry, _hand) = registry(
        r#"
        retry:
          instances:
            'a "b" \c': { metric_keys: ["", "q\"uote", "back\\slash", "new\nline"] }
        "#,
    );
    let keys = ["", "q\"uote", "back\\slash", "new\nline"];
    let retry = registry.retry("a \"b\" \\c");
    for key in keys {
        drop(retry.keyed(key));
    }
    let exposition = scrape(&registry);
    let labels = [("name", "a \"b\" \\c"), ("kind", "failed_with_retry")];
    let series = exposition.with("resilience4j_retry_calls_total", &labels);
    let shown: Vec<&str> = series.map(|sample| sample.label("key").unwrap()).collect();
    assert_eq!(shown, ["", "back\\slash", "new\nline", "q\"uote"], "the empty key is none");
}

#[tokio::test]
async fn a_removed_instance_has_no_series_and_one_made_anew_starts_at_zero() {
    let (registry, _hand) = program().await;
    assert!(registry.remove("payment"));
    assert!(!registry.prometheus().contains("name=\"payment\""));
    let _ = registry.retry("payment");
    let exposition = scrape(&registry);
    let labels = [PAYMENT, ("kind", "successful_without_retry")];
    assert_eq!(exposition.value("resilience4j_retry_calls_total", &labels), 0.0);
}

#[test]
fn reloads_are_counted_and_may_rename_the_program() {
    let (registry, _hand) = registry("");
    let renamed = Config::builder().env(false).application("billing").load().unwrap();
    registry.reload(renamed).unwrap();
    assert!(registry.reload_from(&Config::builder().file("/nowhere.yaml")).is_err());
    let exposition = scrape(&registry);
    let reloads = |kind| exposition.value("resilience_config_reloads_total", &[("kind", kind)]);
    assert_eq!([reloads("successful"), reloads("failed")], [1.0, 1.0]);
    assert_eq!(exposition.value("resilience_config_last_reload_successful", &[]), 0.0);
    assert!(exposition.samples().all(|sample| sample.label("application") == Some("billing")));
}

/// The first counter that has fallen.
fn fallen(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>) -> Option<String> {
    before.iter().find_map(|(series, value)| {
        let now = after.get(series).filter(|now| *now < value)?;
        Some(format!("{series}: {value}, then {now}"))
    })
}

#[test]
fn no_counter_falls_while_keys_come_and_go_on_other_threads() {
    const CALLS_OF_EACH: u32 = 2_000;
    let (registry, hand) = registry(&KEYED.replace("1s", "1ms"));
    let shard = registry.circuit_breaker("shard");
    thread::scope(|scope| {
        let workers = [["eu", "us"], ["asia", "africa"]].map(|keys| {
            let (shard, hand) = (shard.clone(), hand.clone());
            scope.spawn(move || {
                for key in keys.iter().cycle().take(CALLS_OF_EACH as usize) {
                    hand.advance(Duration::from_millis(2));
                    succeed(&shard.keyed(key));
                }
            })
        });
        let mut before = scrape(&registry).counters();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let after = scrape(&registry).counters();
            assert_eq!(fallen(&before, &after), None);
            before = after;
        }
    });
    assert!(shard.keyed_metrics().evicted > 0);
    let calls: f64 = successes(&registry).iter().map(|(_, calls)| calls).sum();
    assert_eq!(calls, f64::from(2 * CALLS_OF_EACH));
}

/// Something that happens to the keyed breakers `shard`.
#[derive(Debug, Clone)]
enum Step {
    Succeed(&'static str),
    Fail(&'static str),
    Wait(u64),
    List(&'static str),
    Set(&'static str, State),
}

fn step() -> impl Strategy<Value = Step> {
    let key = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let lists = vec!["[]", "[a]", "[b, c]", "[a, b, c, d]"];
    let states = vec![State::Open, State::Closed, State::Disabled];
    prop_oneof![
        4 => key().prop_map(Step::Succeed),
        4 => key().prop_map(Step::Fail),
        2 => (1_u64..3).prop_map(Step::Wait),
        1 => prop::sample::select(lists).prop_map(Step::List),
        1 => (key(), prop::sample::select(states)).prop_map(|(key, state)| Step::Set(key, state)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_counter_falls_and_no_call_is_lost_whatever_happens(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let (registry, hand) = registry(KEYED);
        let shard = registry.circuit_breaker("shard");
        let mut before = scrape(&registry).counters();
        let mut permitted = 0.0;
        for step in steps {
            match step {
                Step::Succeed(key) | Step::Fail(key) => {
                    let breaker = shard.keyed(key);
                    let is_counted = breaker.state() != State::Disabled;
                    if let Ok(permit) = breaker.try_acquire() {
                        if matches!(step, Step::Succeed(_)) { permit.success() } else { permit.failure() }
                        permitted += f64::from(u8::from(is_counted));
                    }
                }
                Step::Wait(seconds) => hand.advance(Duration::from_secs(seconds)),
                Step::List(keys) => {
                    registry.reload(config(&KEYED.replace("[eu]", keys))).unwrap();
                }
                Step::Set(key, state) => shard.keyed(key).transition_to(state).unwrap(),
            }
            let exposition = scrape(&registry);
            let after = exposition.counters();
            prop_assert_eq!(fallen(&before, &after), None);
            before = after;
            let ended = exposition.with(CALLS, &[("name", "shard")]);
            prop_assert_eq!(ended.map(|sample| sample.value).sum::<f64>(), permitted);
        }
    }
}
