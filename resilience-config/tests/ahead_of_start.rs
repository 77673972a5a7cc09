//! A load before the start of the program, such as at its compilation: without its environment and profiles.

use resilience_config::{ConfigError, Format, Loaded, Loader};
use resilience_settings::Pattern;

fn load_ahead(text: &str) -> Result<Loaded, ConfigError> {
    let mut loader = Loader::new();
    loader.env(false);
    loader.ahead_of_start(true);
    loader.text(text, Format::Yaml);
    loader.load()
}

fn attempts(loaded: &Loaded, name: &str) -> String {
    let path = format!("retry.instances.{name}.max_attempts");
    let effective = loaded.effective();
    let found = effective.iter().find(|(known, ..)| *known == path);
    found.map(|(_, value, _)| value.to_string()).unwrap_or_default()
}

#[test]
fn an_entry_is_declared_by_a_value_that_is_not_known_there() {
    let loaded = load_ahead("retry.instances.pay.max_attempts: ${ATTEMPTS}").unwrap();
    assert!(loaded.declares(Pattern::Retry, "pay"));
    assert_eq!(attempts(&loaded, "pay"), "3", "the default");
}

#[test]
fn a_placeholder_with_a_default_is_read_and_checked() {
    let loaded = load_ahead("retry.instances.pay.max_attempts: ${ATTEMPTS:5}").unwrap();
    assert_eq!(attempts(&loaded, "pay"), "5");
    let error = load_ahead("retry.instances.pay.max_attempts: ${ATTEMPTS:0}").unwrap_err();
    assert!(error.to_string().contains("expected a whole number from 1"), "{error}");
}

#[test]
fn every_place_for_a_value_may_be_one_that_is_not_known_there() {
    for text in [
        "retry.instances.pay.base_config: ${BASE}",
        "retry.instances.pay.budget: ${BUDGET}",
        "retry.enabled: ${ON}\nretry.instances.pay: {}",
        "resilience: { strict: '${STRICT}', retry: { instances: { pay: {} } } }",
        "error_kind_aliases: { com.example.X: '${KIND}' }\nretry.instances.pay: {}",
        "retry.instances.pay.ignore_errors: [io, '${KIND}']",
        "retry.instances.pay:\n  ignore_errors[0]: ${KIND}\n  ignore_errors[1]: io",
        "retry.instances.pay:\n  ignore_errors[0]: io\n  ignore_errors[1]: ${KIND}",
        "retry.instances.pay: {}\ncircuitbreaker.instances.b.consecutive_failures: { io: '${N}' }",
    ] {
        let loaded = load_ahead(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(loaded.declares(Pattern::Retry, "pay"), "{text}");
    }
}

#[test]
fn a_value_that_leads_to_another_one_that_is_not_known_is_not_known_either() {
    let text = "limits: { attempts: '${ATTEMPTS}' }\n\
                resilience: { retry: { instances: { pay: { max_attempts: '${limits.attempts}' } } } }";
    assert_eq!(attempts(&load_ahead(text).unwrap(), "pay"), "3");
}

#[test]
fn what_is_wrong_besides_is_told() {
    for (text, wanted) in [
        ("retry.instances.pay.max_atempts: ${ATTEMPTS}", "did you mean `max_attempts`?"),
        ("retry.instances.pay: { max_attempts: '${A}', wait_duration: soon }", "wait_duration"),
        ("retry.instances.pay:\n  max_attempts: ${A}\n  maxAttempts: 3", "two spellings"),
        ("retri.instances.pay.max_attempts: ${ATTEMPTS}", "did you mean `retry`?"),
    ] {
        let error = load_ahead(text).unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
}

#[test]
fn what_may_fit_together_after_all_is_not_refused() {
    let text = "circuitbreaker.instances.pay:\n  half_open_success_threshold: 20\n  \
                permitted_number_of_calls_in_half_open_state: ";
    assert!(load_ahead(&format!("{text}${{PROBES}}")).is_ok());
    assert!(load_ahead(&format!("{text}19")).is_err());
}

#[test]
fn a_circle_is_wrong_in_every_environment() {
    let text = "a: ${b}\nb: ${a}\nresilience.retry.instances.pay.max_attempts: ${a}";
    let error = load_ahead(text).unwrap_err();
    assert!(error.to_string().contains("leads back to itself"), "{error}");
}

#[test]
fn without_being_asked_for_a_value_that_is_not_known_is_refused() {
    let mut loader = Loader::new();
    loader.env(false);
    loader.text("retry.instances.pay.max_attempts: ${ATTEMPTS}", Format::Yaml);
    assert!(loader.load().is_err());
}

const CONTRADICTION: &str =
    "{ half_open_success_threshold: 20, permitted_number_of_calls_in_half_open_state: 19 }";

#[test]
fn a_value_that_is_not_known_hides_no_contradiction_of_other_entries() {
    let other = "circuitbreaker.instances.other: { sliding_window_size: \"${SIZE}\" }";
    let error = load_ahead(&format!("circuitbreaker.instances.pay: {CONTRADICTION}\n{other}"));
    assert!(error.unwrap_err().to_string().contains("pay.half_open_success_threshold"));
}

#[test]
fn what_inherits_a_value_that_is_not_known_may_fit_together() {
    for (base, base_config) in
        [("default", ""), ("low", "base_config: low, "), ("low", "base_config: high, ")]
    {
        let text = |probes: &str| {
            format!(
                "circuitbreaker:\n  configs:\n    \
                 {base}: {{ permitted_number_of_calls_in_half_open_state: \"{probes}\" }}\n    \
                 high: {{ base_config: {base} }}\n  instances:\n    \
                 pay: {{ {base_config}half_open_success_threshold: 20 }}"
            )
        };
        assert!(load_ahead(&text("${PROBES}")).is_ok(), "{base_config}");
        assert!(load_ahead(&text("19")).is_err(), "{base_config}");
    }
}

const PROFILES: &str = "
retry.instances.always: {}
---
spring.config.activate.on-profile: test
retry.instances.inTest: { max_attempts: 0 }
retry.configs.patient: {}
---
spring.config.activate.on-profile: '!test'
retry.instances.elsewhere: {}
---
spring.config.activate.on-cloud-platform: kubernetes
retry.instances.inCloud: {}
";

#[test]
fn names_are_declared_by_the_documents_of_all_profiles_that_exclude_each_other() {
    let loaded = load_ahead(PROFILES).unwrap();
    let names: Vec<&str> = loaded.names_of_all_profiles(Pattern::Retry).collect();
    assert_eq!(names, ["always", "elsewhere", "inTest"]);
    assert!(loaded.declares_in_a_profile(Pattern::Retry, "in-test"));
    assert_eq!(loaded.unknown_base(Pattern::Retry, "patient"), None);
    let unknown = loaded.unknown_base(Pattern::Retry, "patien").unwrap_or_default();
    assert!(unknown.contains("did you mean `patient`?"), "{unknown}");
}

#[test]
fn values_of_profiles_that_are_not_active_are_neither_checked_nor_taken() {
    let ahead = load_ahead(PROFILES).unwrap();
    assert!(!ahead.declares(Pattern::Retry, "inTest"));
    assert_eq!(attempts(&ahead, "inTest"), "");
    let mut loader = Loader::new();
    loader.env(false);
    loader.ahead_of_start(true);
    loader.profile("test");
    loader.text(PROFILES, Format::Yaml);
    assert!(loader.load().unwrap_err().to_string().contains("inTest.max_attempts = 0"));
}

#[test]
fn values_are_checked_under_the_profiles_that_the_file_makes_active() {
    let error = load_ahead(
        &format!("spring.profiles.active: test{PROFILES}")
            .replace("test\nretry", "test\n---\nretry"),
    );
    assert!(error.unwrap_err().to_string().contains("inTest.max_attempts = 0"));
}

#[test]
fn at_the_start_the_names_of_other_profiles_are_not_declared() {
    let mut loader = Loader::new();
    loader.env(false);
    loader.text(PROFILES, Format::Yaml);
    let at_start = loader.load().unwrap();
    assert!(!at_start.declares_in_a_profile(Pattern::Retry, "inTest"));
}

#[test]
fn the_store_may_be_declared_where_the_program_runs() {
    for redis in ["", "redis.namespace: shop", "redis.url: ${REDIS_URL}"] {
        let limiter = "ratelimiter.instances.orders:\n  { scope: global, on_store_failure: open, \
                       limit_refresh_period: 1s }";
        assert!(load_ahead(&format!("{redis}\n{limiter}")).is_ok(), "{redis}");
    }
}
