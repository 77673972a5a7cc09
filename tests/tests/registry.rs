//! The registry: identity of instances, scopes, removal, and what configuration gives them.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use resilience::{Config, Resilience, config::Format};

fn registry(yaml: &str) -> Resilience {
    Resilience::from_config(Config::from_str(yaml, Format::Yaml).expect("a valid configuration"))
        .expect("a valid configuration")
}

#[test]
fn every_spelling_of_a_name_is_the_same_instance() {
    let registry = registry("bulkhead.instances.payment-bh.max_concurrent_calls: 1");
    let bulkhead = registry.bulkhead("paymentBh");
    let _permit = bulkhead.try_acquire().unwrap();
    assert_eq!(registry.bulkhead("PAYMENT_BH").available_concurrent_calls(), 0);
    assert_eq!(bulkhead.name(), "payment-bh", "the declared spelling is the instance's");
    assert!(registry.remove("paymentBh"));
    assert_eq!(registry.bulkhead("PAYMENT_BH").name(), "payment-bh", "also when made anew");
}

#[test]
fn names_that_nobody_declares_are_told_apart_to_the_letter() {
    let registry = registry("");
    let hosts = ["10.1.1.12", "10.1.11.2", "v1-1", "v11", "V11"];
    for host in hosts {
        assert_eq!(registry.circuit_breaker(host).name(), host);
    }
    assert_eq!(registry.circuit_breakers().len(), hosts.len());
}

#[test]
fn i11_names_of_any_printable_characters_are_names() {
    let long = "n".repeat(200);
    for name in ["a.b/c", "two words", "zahlung-für-größe", "支払い", "{\"le\"=\\}", long.as_str()]
    {
        let quoted = serde_json::to_string(name).unwrap();
        let yaml = format!("bulkhead.instances: {{ {quoted}: {{ max_concurrent_calls: 3 }} }}");
        let bulkhead = registry(&yaml).find_bulkhead(name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!((bulkhead.name(), bulkhead.max_concurrent_calls()), (name, 3));
    }
}

#[test]
fn a_removed_instance_lets_go_of_its_listeners_even_of_one_that_uses_the_registry() {
    struct UsesRegistry(Resilience, Arc<AtomicBool>);
    impl Drop for UsesRegistry {
        fn drop(&mut self) {
            self.0.circuit_breaker("other");
            self.1.store(true, Relaxed);
        }
    }
    let registry = registry("circuitbreaker.instances.x: {}");
    let gone = Arc::new(AtomicBool::new(false));
    let captured = UsesRegistry(registry.clone(), Arc::clone(&gone));
    let breaker = registry.circuit_breaker("x");
    breaker.events().subscribe(move |_| assert!(!captured.1.load(Relaxed))).forever();
    assert!(registry.remove("x"));
    assert!(gone.load(Relaxed));
    assert!(registry.find_circuit_breaker("other").is_some());
}

#[test]
fn a_misspelt_look_up_is_said_once_with_the_nearest_name() {
    let registry = registry("retry.instances.payment: {}");
    registry.retry("paymnt");
    registry.retry("paymnt");
    registry.retry("PAYMENT");
    let warnings = registry.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("looks up retry 'paymnt'"), "{warnings:?}");
    assert!(warnings[0].contains("did you mean 'payment'"), "{warnings:?}");
}

#[test]
fn a_java_class_that_stands_for_no_kind_is_pointed_to_its_alias() {
    let registry = registry("retry.instances.a.ignore_errors: [com.example.OutOfStock]");
    assert!(registry.warnings()[0].contains("error_kind_aliases"), "{:?}", registry.warnings());
}

#[test]
fn j16_a_race_for_one_name_makes_one_instance() {
    let registry = registry("");
    let barrier = Arc::new(Barrier::new(64));
    let threads: Vec<_> = (0..64)
        .map(|_| {
            let (registry, barrier) = (registry.clone(), Arc::clone(&barrier));
            std::thread::spawn(move || {
                barrier.wait();
                registry.bulkhead("x").try_acquire().map(std::mem::forget).is_ok()
            })
        })
        .collect();
    let admitted = threads.into_iter().filter_map(|t| t.join().ok()).filter(|ok| *ok).count();
    assert_eq!(admitted, 25, "64 threads share the 25 slots of one instance");
    assert_eq!(registry.bulkheads().len(), 1);
}

#[test]
fn declared_instances_are_there_from_the_start_and_found_without_being_made() {
    let registry = registry("retry.instances.payment: { max_attempts: 5 }");
    assert_eq!(registry.find_retry("payment").unwrap().config().max_attempts(), 5);
    assert!(registry.find_retry("other").is_none());
    assert!(registry.find_bulkhead("payment").is_none(), "names are per pattern");
}

#[test]
fn a_removed_name_is_made_anew_and_old_handles_live_on() {
    let registry = registry("bulkhead.instances.x.max_concurrent_calls: 1");
    let old = registry.bulkhead("x");
    let _permit = old.try_acquire().unwrap();
    assert!(registry.remove("x"));
    assert!(!registry.remove("x"));
    assert!(registry.find_bulkhead("x").is_none());
    assert_eq!(registry.bulkhead("x").available_concurrent_calls(), 1);
    assert_eq!(old.available_concurrent_calls(), 0);
}

#[test]
fn contradicting_settings_stop_the_start_with_every_problem() {
    let yaml = "
circuitbreaker:
  instances:
    a: { enable_exponential_backoff: true, enable_randomized_wait: true }
thread-pool-bulkhead:
  instances:
    p: { core_thread_pool_size: 4, max_thread_pool_size: 2 }
";
    let error = Config::from_str(yaml, Format::Yaml).unwrap_err();
    assert_eq!(error.problems().len(), 2, "{error}");
}

#[test]
fn a_record_list_that_matches_nothing_stops_the_start() {
    let yaml = "circuitbreaker.instances.a.record_errors: [no_such_kind]";
    let error = Resilience::from_config(Config::from_str(yaml, Format::Yaml).unwrap()).unwrap_err();
    assert!(error.to_string().contains("could never open"), "{error}");
}

#[test]
fn an_unknown_kind_is_a_warning_with_the_nearest_and_an_error_under_strict() {
    let yaml = "retry.instances.a.ignore_errors: [bulkhead_ful, io]";
    let registry = registry(yaml);
    let warnings = registry.warnings();
    assert!(warnings.iter().any(|w| w.contains("did you mean `bulkhead_full`")), "{warnings:?}");
    let strict = Config::from_str(&format!("strict: true\n{yaml}"), Format::Yaml).unwrap();
    assert!(Resilience::from_config(strict).is_err());
}

#[tokio::test]
async fn a_scope_is_left_when_its_future_ends_and_does_not_cross_a_bare_spawn() {
    let inner = registry("retry.instances.x.max_attempts: 9");
    let joined = inner.scope(async { tokio::spawn(async { 1 }).await.unwrap() }).await;
    assert_eq!(joined, 1);
    assert_eq!(inner.spawn(async { 2 }).await.unwrap(), 2);
    assert_eq!(inner.scope_sync(|| 3), 3);
}

#[test]
fn effective_configuration_tells_where_each_value_comes_from() {
    let registry = registry("timelimiter.instances.t.timeout_duration: 2s");
    let effective = registry.effective_config();
    let (_, value, origin) =
        effective.iter().find(|(path, ..)| path.ends_with("t.timeout_duration")).unwrap();
    assert_eq!(value.to_string(), "2s");
    assert!(origin.to_string().contains(":1"), "{origin}");
    assert_eq!(registry.time_limiter("t").config().timeout_duration(), Duration::from_secs(2));
}
