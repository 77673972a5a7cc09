//! Who wins: built-in defaults, `configs.default`, bases, instances, files, code, environment.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use resilience::config::{Config, Format, Origin};
use resilience_tests::config;

const FILE: &str = "
retry:
  configs:
    default: { max_attempts: 6, wait_duration: 1s }
    middle: { base_config: low, max_attempts: 8 }
    low: { base_config: lowest, wait_duration: 3s, fail_after_max_attempts: true }
    lowest: { wait_duration: 9s, event_consumer_buffer_size: 7 }
  instances:
    plain: {}
    own: { max_attempts: 2 }
    chained: { base_config: middle }
    chained_own: { baseConfig: Middle, wait_duration: 5s }
    lists: { base_config: listed, retry_errors: [timeout] }
    listed: { base_config: listed }
  # Order in the file does not matter.
retry.configs.listed.retry_errors: [io, connect]
";

fn load(text: &str) -> Config {
    config::load(text, Format::Yaml).unwrap()
}

fn find(config: &Config, path: &str) -> (String, Origin) {
    config
        .effective()
        .into_iter()
        .find(|(known, ..)| known == path)
        .map_or_else(|| panic!("no {path}"), |(_, value, origin)| (value.to_string(), origin))
}

#[test]
fn i02_i03_i07_the_golden_table_of_inheritance() {
    let config = load(FILE);
    for (instance, key, value, origin) in [
        ("plain", "max_attempts", "6", "<text>:4 (retry.configs.default)"),
        ("plain", "wait_duration", "1s", "<text>:4 (retry.configs.default)"),
        ("plain", "fail_after_max_attempts", "false", "default"),
        ("plain", "retry_errors", "[]", "default"),
        ("own", "max_attempts", "2", "<text>:10 (retry.instances.own)"),
        ("own", "wait_duration", "1s", "<text>:4 (retry.configs.default)"),
        ("chained", "max_attempts", "8", "<text>:5 (retry.configs.middle)"),
        ("chained", "wait_duration", "3s", "<text>:6 (retry.configs.low)"),
        ("chained", "fail_after_max_attempts", "true", "<text>:6 (retry.configs.low)"),
        ("chained", "event_consumer_buffer_size", "7", "<text>:7 (retry.configs.lowest)"),
        ("chained_own", "max_attempts", "8", "<text>:5 (retry.configs.middle)"),
        ("chained_own", "wait_duration", "5s", "<text>:12 (retry.instances.chained_own)"),
        ("lists", "retry_errors", "[timeout]", "<text>:13 (retry.instances.lists)"),
        ("listed", "retry_errors", "[io, connect]", "<text>:16 (retry.configs.listed)"),
        ("listed", "max_attempts", "6", "<text>:4 (retry.configs.default)"),
    ] {
        let (found, from) = find(&config, &format!("retry.instances.{instance}.{key}"));
        assert_eq!(
            (found.as_str(), from.to_string().as_str()),
            (value, origin),
            "{instance}.{key}"
        );
    }
}

#[test]
fn i01_an_instance_that_sets_one_key_keeps_the_default_of_the_others() {
    let config = load(
        "
circuitbreaker:
  configs: { default: { failureRateThreshold: 60 } }
  instances: { a: { slidingWindowSize: 50 } }
",
    );
    assert_eq!(find(&config, "circuitbreaker.instances.a.failure_rate_threshold").0, "60");
    assert_eq!(find(&config, "circuitbreaker.instances.a.sliding_window_size").0, "50");
}

#[test]
fn i01_default_lies_below_every_base_even_when_it_is_named() {
    let config = load(
        "
retry:
  configs:
    default: { max_attempts: 6, base_config: floor }
    floor: { max_attempts: 9, wait_duration: 7s }
    upper: { base_config: default, wait_duration: 2s }
  instances: { a: { base_config: upper }, b: { base_config: default } }
",
    );
    assert_eq!(find(&config, "retry.instances.a.max_attempts").0, "6");
    assert_eq!(find(&config, "retry.instances.a.wait_duration").0, "2s");
    assert_eq!(find(&config, "retry.instances.b.wait_duration").0, "7s");
}

#[test]
fn default_may_be_named_without_being_declared() {
    let config = load("retry.instances.a.base_config: default");
    assert_eq!(find(&config, "retry.instances.a.max_attempts").0, "3");
}

#[test]
fn later_files_win_value_by_value_then_code_then_the_environment() {
    let builder = Config::builder()
        .text("retry.instances.a: { max_attempts: 2, wait_duration: 2s }", Format::Yaml)
        .text("retry.instances.a.max_attempts = 4", Format::Properties);
    let config = builder.clone().env(false).load().unwrap();
    assert_eq!(find(&config, "retry.instances.a.max_attempts").0, "4");
    assert_eq!(find(&config, "retry.instances.a.wait_duration").0, "2s");

    let builder = builder.set("retry.instances.a.max_attempts", "5");
    let config = builder.clone().env(false).load().unwrap();
    assert_eq!(find(&config, "retry.instances.a.max_attempts"), ("5".to_owned(), Origin::Code));

    let variable = "RESILIENCE_RETRY_INSTANCES_A_MAX_ATTEMPTS";
    let config = builder.vars([(variable, "6")]).load().unwrap();
    assert_eq!(
        find(&config, "retry.instances.a.max_attempts"),
        ("6".to_owned(), Origin::Environment(variable.to_owned()))
    );
}

#[test]
fn code_may_declare_instances() {
    let config =
        Config::builder().env(false).set("resilience.retry.instances.a.max_attempts", "4").load();
    let text = config.unwrap_err().to_string();
    assert!(text.contains("unknown section"), "{text}"); // paths in code are below the root
    let config = Config::builder().env(false).set("retry.instances.a.b.max_attempts", "4");
    let config = config.load().unwrap();
    assert_eq!(find(&config, "retry.instances.a.b.max_attempts").0, "4");
}

#[test]
fn a_pattern_switched_off_is_off_for_every_instance() {
    let config = load(
        "
retry:
  enabled: false
  instances: { a: { enabled: true }, b: {} }
bulkhead.instances: { c: { enabled: no }, d: {} }
",
    );
    for (path, value) in [
        ("retry.instances.a.enabled", "false"),
        ("retry.instances.b.enabled", "false"),
        ("bulkhead.instances.c.enabled", "false"),
        ("bulkhead.instances.d.enabled", "true"),
    ] {
        assert_eq!(find(&config, path).0, value, "{path}");
    }
}
