//! One shape in every format, and files as people really write them.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use std::{fs, path::PathBuf};

use resilience::config::{Config, Format, Origin, Pattern};
use resilience_tests::config;

fn load(text: &str, format: Format) -> Config {
    config::load(text, format).unwrap()
}

/// The values that are not defaults, with their paths.
fn set(config: &Config) -> Vec<String> {
    let effective = config.effective().into_iter();
    let set = effective.filter(|(.., origin)| *origin != Origin::Default);
    set.map(|(path, value, _)| format!("{path} = {value}")).collect()
}

#[test]
fn the_formats_say_the_same() {
    let yaml = "
resilience:
  circuitbreaker:
    configs:
      default:
        slidingWindowSize: 50
    instances:
      paymentCb:
        failure-rate-threshold: 25.5
        record_exceptions:
          - java.io.IOException
          - timeout
        consecutive_failures: { timeout: 3, io: 10 }
        automatic_transition_from_open_to_half_open_enabled: true
";
    let toml = "
[resilience.circuitbreaker.configs.default]
slidingWindowSize = 50
[resilience.circuitbreaker.instances.paymentCb]
failure-rate-threshold = 25.5
record_exceptions = [
  'java.io.IOException',
  'timeout',
]
consecutive_failures = { timeout = 3, io = 10 }
automatic_transition_from_open_to_half_open_enabled = true
";
    let properties = "
resilience.circuitbreaker.configs.default.slidingWindowSize=50
resilience.circuitbreaker.instances.paymentCb.failure-rate-threshold=25.5
resilience.circuitbreaker.instances.paymentCb.record_exceptions[0]=java.io.IOException
resilience.circuitbreaker.instances.paymentCb.record_exceptions[1]=timeout
resilience.circuitbreaker.instances.paymentCb.consecutive_failures.timeout=3
resilience.circuitbreaker.instances.paymentCb.consecutive_failures.io=10
resilience.circuitbreaker.instances.paymentCb.automatic_transition_from_open_to_half_open_enabled=true
";
    let json = "{\n\t\"resilience\": {\"circuitbreaker\": {\n\
\t\"configs\": {\"default\": {\"slidingWindowSize\": 50}},\n\
\t\"instances\": {\"paymentCb\": {\"failure-rate-threshold\": 25.5,\n\
\t\"record_exceptions\": [\"java.io.IOException\", \"timeout\"],\n\
\t\"consecutive_failures\": {\"timeout\": 3, \"io\": 10},\n\
\t\"automatic_transition_from_open_to_half_open_enabled\": true}}\n}}}";
    let expected = [
        "circuitbreaker.instances.paymentCb.failure_rate_threshold = 25.5",
        "circuitbreaker.instances.paymentCb.sliding_window_size = 50",
        "circuitbreaker.instances.paymentCb.automatic_transition_from_open_to_half_open_enabled = true",
        "circuitbreaker.instances.paymentCb.record_errors = [io, timeout]",
        "circuitbreaker.instances.paymentCb.consecutive_failures = {timeout: 3, io: 10}",
    ];
    for (text, format) in [
        (yaml, Format::Yaml),
        (toml, Format::Toml),
        (properties, Format::Properties),
        (json, Format::Json),
    ] {
        assert_eq!(set(&load(text, format)), expected, "{format}");
    }
}

#[test]
fn lines_are_known_in_every_format() {
    for (text, format) in [
        ("retry:\n  instances:\n    a:\n      max_attempts: 2\n", Format::Yaml),
        ("\n\n[retry.instances.a]\nmax_attempts = 2\n", Format::Toml),
        ("#\n\n\nretry.instances.a.max_attempts = 2", Format::Properties),
        ("{\"retry\":\n{\"instances\":\n{\"a\":\n{\"max_attempts\": 2}}}}", Format::Json),
    ] {
        let config = load(text, format);
        let (.., origin) = config.effective().swap_remove(0);
        assert_eq!(origin.to_string(), "<text>:4 (retry.instances.a)", "{format}");
    }
}

#[test]
fn a_spring_applications_yaml_loads_unchanged() {
    let config = load(include_str!("config/application.yml"), Format::Yaml);
    assert_eq!(
        config.instances(Pattern::CircuitBreaker).collect::<Vec<_>>(),
        ["backendA", "backendB"]
    );
    let expected = include_str!("config/application.yml.expected");
    assert_eq!(set(&config).join("\n"), expected.trim_end());
    assert_eq!(
        config.warnings(),
        [
            "settings without effect: \
             `record_failure_predicate` at <text>:40 (write `record = path` at the attribute); \
             `circuitbreaker.circuit_breaker_aspect_order` at <text>:42 (the order is fixed; nest \
             two functions for another one); \
             `retry.metrics` at <text>:61 (metrics need no switch); \
             `subscribe_for_events` at <text>:71 (events are always available); \
             `scheduled` at <text>:74 (the runtime has its own timers)",
            "keys of older versions: `ringBufferSizeInHalfOpenState` at <text>:33 (read as \
             `permitted_number_of_calls_in_half_open_state`); `keepAliveTime` at <text>:53 (read \
             as `keep_alive_duration`); `maxConcurrentCall` at <text>:65 (read as \
             `max_concurrent_calls`)",
            "<text>: circuit breakers differ from Resilience4j, where a named base does not \
             inherit `default` and an instance named like a config takes it for its base: \
             backendB.minimum_number_of_calls is 5, there 100; \
             backendB.record_errors is [http_5xx, timeout, io], there []; \
             backendB.ignore_errors is [business, com.example.Other], there []",
        ]
    );
}

#[test]
fn spring_properties_load_unchanged() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("config_formats");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join("application.properties");
    // ISO-8859-1, as Java writes it.
    let text = include_str!("config/application.properties");
    let bytes: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    fs::write(&path, bytes).unwrap();
    let variables = [("RETRIES", "7")];
    let config = Config::builder().file(&path).vars(variables).load().unwrap();
    assert_eq!(
        set(&config),
        [
            "retry.instances.bestellung-für-alle.max_attempts = 7",
            "retry.instances.bestellung-für-alle.wait_duration = 2s",
            "retry.instances.bestellung-für-alle.retry_errors = [io, timeout, out_of_stock]",
            "circuitbreaker.instances.paymentCb.sliding_window_type = TIME_BASED",
            "circuitbreaker.instances.paymentCb.sliding_window_size = 20",
            "circuitbreaker.instances.paymentCb.minimum_number_of_calls = 20",
            "circuitbreaker.instances.paymentCb.wait_duration_in_open_state = 5s",
            "circuitbreaker.instances.paymentCb.record_errors = [http_5xx, io]",
            "ratelimiter.instances.orderRl.limit_for_period = 10",
            "ratelimiter.instances.orderRl.limit_refresh_period = 1s",
        ]
    );
}

#[test]
fn an_empty_file_means_defaults() {
    for (text, format) in [
        ("", Format::Yaml),
        ("# nothing\n", Format::Yaml),
        ("---\n", Format::Yaml),
        ("{}", Format::Yaml),
        ("", Format::Toml),
        ("# nothing", Format::Properties),
        ("", Format::Json),
        ("{}", Format::Json),
        ("\u{feff}", Format::Yaml),
    ] {
        let config = load(text, format);
        assert!(config.effective().is_empty(), "{text:?}");
    }
    let bare_root = load("resilience:\n", Format::Yaml);
    assert!(bare_root.effective().is_empty());
}

#[test]
fn json_escapes_are_resolved() {
    let text = r#"{"retry": {"instances": {"a\/b \u00e4 \ud83d\ude00": {}}}}"#;
    let config = load(text, Format::Json);
    assert_eq!(config.instances(Pattern::Retry).collect::<Vec<_>>(), ["a/b ä 😀"]);
}

#[test]
fn what_means_something_in_yaml_is_text_in_json() {
    for name in ["<<", "&a", "*a", "!t", "--- a", "# a", "a: b", "\u{2028}", "null", "~"] {
        let text = format!("{{\"retry\":{{\"instances\"\n:\t{{\"{name}\"\r\n:{{}}}}}}}}");
        let config = load(&text, Format::Json);
        assert_eq!(config.instances(Pattern::Retry).collect::<Vec<_>>(), [name]);
    }
}

#[test]
fn anchors_aliases_and_merge_keys_are_followed() {
    let text = "
x-common: &common { max_attempts: 5, wait_duration: 1s }
x-other: &other { wait_duration: 9s, fail_after_max_attempts: true }
resilience:
  retry:
    instances:
      a: *common
      b: { <<: *common, wait_duration: 2s }
      c:
        <<: [*common, *other]
";
    assert_eq!(
        set(&load(text, Format::Yaml)),
        [
            "retry.instances.a.max_attempts = 5",
            "retry.instances.a.wait_duration = 1s",
            "retry.instances.b.max_attempts = 5",
            "retry.instances.b.wait_duration = 2s",
            "retry.instances.c.max_attempts = 5",
            "retry.instances.c.wait_duration = 1s",
            "retry.instances.c.fail_after_max_attempts = true",
        ]
    );
}

#[test]
fn every_spelling_of_sections_and_keys_is_read() {
    for text in [
        "circuitbreaker.instances.a.slidingWindowSize: 7",
        "circuit-breaker.instances.a.sliding-window-size: 7",
        "CIRCUIT_BREAKER: {INSTANCES: {a: {SLIDING_WINDOW_SIZE: 7}}}",
        "circuitBreaker.backends.a.sliding_window_size: 7",
        "resilience.circuitbreaker.instances[a].slidingWindowSize: 7",
        "resilience4j.circuitbreaker:\n  instances.a:\n    slidingWindowSize: \"7\"",
        "resilience4j.circuitbreaker.backends:\n  a.slidingWindowSize: 7",
    ] {
        assert_eq!(
            set(&load(text, Format::Yaml)),
            ["circuitbreaker.instances.a.sliding_window_size = 7"],
            "{text}"
        );
    }
    let limiter = load("ratelimiter.limiters.a.limitForPeriod: 7", Format::Yaml);
    assert_eq!(set(&limiter), ["ratelimiter.instances.a.limit_for_period = 7"]);
}

#[test]
fn words_are_read_in_any_case_and_dash() {
    for word in ["TIME_BASED", "time_based", "time-based", "Time-Based", "timeBased"] {
        let text = format!("circuitbreaker.instances.a.slidingWindowType: {word}");
        assert_eq!(
            set(&load(&text, Format::Yaml)),
            ["circuitbreaker.instances.a.sliding_window_type = TIME_BASED"]
        );
    }
}

#[test]
fn an_old_ring_is_window_and_minimum_unless_the_minimum_is_given() {
    let ring = "circuitbreaker.instances.a: { ringBufferSizeInClosedState: 200 }";
    assert_eq!(
        set(&load(ring, Format::Yaml)),
        [
            "circuitbreaker.instances.a.sliding_window_size = 200",
            "circuitbreaker.instances.a.minimum_number_of_calls = 200"
        ]
    );
    let both =
        "circuitbreaker.instances.a: { minimumNumberOfCalls: 5, ringBufferSizeInClosedState: 200 }";
    assert_eq!(
        set(&load(both, Format::Yaml)),
        [
            "circuitbreaker.instances.a.sliding_window_size = 200",
            "circuitbreaker.instances.a.minimum_number_of_calls = 5"
        ]
    );
}

#[test]
fn a_list_of_every_exception_is_read_as_all_with_a_warning() {
    let config = load("retry.instances.a.retryExceptions: [java.lang.Exception]", Format::Yaml);
    assert_eq!(set(&config), ["retry.instances.a.retry_errors = []"]);
    assert_eq!(
        config.warnings(),
        [
            "<text>:1: retry.instances.a.retry_errors: `java.lang.Exception` is every error; read as \
          an empty list, which is all"
        ]
    );
}

#[test]
fn a_configuration_shows_names_and_no_values() {
    let config = load("retry.instances.a.max_attempts: 77", Format::Yaml);
    assert_eq!(format!("{config:?}"), "Config { retry: [\"a\"], strict: false, .. }");
}

#[test]
fn declared_names_are_found_and_the_nearest_offered() {
    let config = load("retry.instances: { paymentRetry: {}, other: {} }", Format::Yaml);
    assert!(config.declares(Pattern::Retry, "payment-retry"));
    assert!(!config.declares(Pattern::Bulkhead, "paymentRetry"));
    assert_eq!(config.nearest_declared(Pattern::Retry, "paymentRety"), Some("paymentRetry"));
    assert_eq!(config.nearest_declared(Pattern::Retry, "colour"), None);
}

#[test]
fn strict_comes_from_file_or_code() {
    assert!(load("strict: true", Format::Yaml).is_strict());
    assert!(!load("retry: {}", Format::Yaml).is_strict());
    let code = Config::builder().env(false).text("strict: true", Format::Yaml).strict(false);
    assert!(!code.load().unwrap().is_strict());
    assert!(Config::builder().env(false).set("strict", "true").load().unwrap().is_strict());
}
