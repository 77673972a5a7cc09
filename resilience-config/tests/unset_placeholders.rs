//! A file that is read where the environment of its program is not, such as at its compilation.

use resilience_config::{ConfigError, Format, Loaded, Loader};
use resilience_settings::Pattern;

fn load_elsewhere(text: &str) -> Result<Loaded, ConfigError> {
    let mut loader = Loader::new();
    loader.env(false);
    loader.leave_out_unset(true);
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
    let loaded = load_elsewhere("retry.instances.pay.max_attempts: ${ATTEMPTS}").unwrap();
    assert!(loaded.declares(Pattern::Retry, "pay"));
    assert_eq!(attempts(&loaded, "pay"), "3", "the default");
}

#[test]
fn a_placeholder_with_a_default_is_read_and_checked() {
    let loaded = load_elsewhere("retry.instances.pay.max_attempts: ${ATTEMPTS:5}").unwrap();
    assert_eq!(attempts(&loaded, "pay"), "5");
    let error = load_elsewhere("retry.instances.pay.max_attempts: ${ATTEMPTS:0}").unwrap_err();
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
        let loaded = load_elsewhere(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(loaded.declares(Pattern::Retry, "pay"), "{text}");
    }
}

#[test]
fn a_value_that_leads_to_another_one_that_is_not_known_is_not_known_either() {
    let text = "limits: { attempts: '${ATTEMPTS}' }\n\
                resilience: { retry: { instances: { pay: { max_attempts: '${limits.attempts}' } } } }";
    assert_eq!(attempts(&load_elsewhere(text).unwrap(), "pay"), "3");
}

#[test]
fn what_is_wrong_besides_is_told() {
    for (text, wanted) in [
        ("retry.instances.pay.max_atempts: ${ATTEMPTS}", "did you mean `max_attempts`?"),
        ("retry.instances.pay: { max_attempts: '${A}', wait_duration: soon }", "wait_duration"),
        ("retry.instances.pay:\n  max_attempts: ${A}\n  maxAttempts: 3", "two spellings"),
        ("retri.instances.pay.max_attempts: ${ATTEMPTS}", "did you mean `retry`?"),
    ] {
        let error = load_elsewhere(text).unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
}

#[test]
fn what_may_fit_together_after_all_is_not_refused() {
    let text = "circuitbreaker.instances.pay:\n  half_open_success_threshold: 20\n  \
                permitted_number_of_calls_in_half_open_state: ";
    assert!(load_elsewhere(&format!("{text}${{PROBES}}")).is_ok());
    assert!(load_elsewhere(&format!("{text}19")).is_err());
}

#[test]
fn a_circle_is_wrong_in_every_environment() {
    let text = "a: ${b}\nb: ${a}\nresilience.retry.instances.pay.max_attempts: ${a}";
    let error = load_elsewhere(text).unwrap_err();
    assert!(error.to_string().contains("leads back to itself"), "{error}");
}

#[test]
fn without_being_asked_for_a_value_that_is_not_known_is_refused() {
    let mut loader = Loader::new();
    loader.env(false);
    loader.text("retry.instances.pay.max_attempts: ${ATTEMPTS}", Format::Yaml);
    assert!(loader.load().is_err());
}

#[test]
fn the_store_may_be_declared_where_the_program_runs() {
    for redis in ["", "redis.namespace: shop", "redis.url: ${REDIS_URL}"] {
        let limiter = "ratelimiter.instances.orders:\n  { scope: global, on_store_failure: open, \
                       limit_refresh_period: 1s }";
        assert!(load_elsewhere(&format!("{redis}\n{limiter}")).is_ok(), "{redis}");
    }
}
