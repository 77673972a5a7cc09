//! Environment variables over a file.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use resilience::config::{Config, ConfigError, Format};
use resilience_tests::config::value;

const FILE: &str = "
circuitbreaker:
  configs:
    default: {}
    slow-backend: {}
  instances:
    paymentCb: { base_config: slow-backend }
    x: {}
    x_half_open: {}
retry.instances.pay: {}
";

fn load(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let variables = variables.iter().map(|&(name, value)| (name, value));
    Config::builder().text(FILE, Format::Yaml).vars(variables).load()
}

#[test]
fn variables_change_what_is_declared() {
    for (variable, text, path, expected) in [
        (
            "RESILIENCE_CIRCUITBREAKER_INSTANCES_PAYMENTCB_FAILURERATETHRESHOLD",
            "60",
            "circuitbreaker.instances.paymentCb.failure_rate_threshold",
            "60",
        ),
        (
            "RESILIENCE_CIRCUIT_BREAKER_INSTANCES_PAYMENT_CB_WAIT_DURATION_IN_OPEN_STATE",
            "2m",
            "circuitbreaker.instances.paymentCb.wait_duration_in_open_state",
            "2m",
        ),
        (
            "resilience_circuitbreaker_instances_paymentcb_slidingwindowtype",
            "time-based",
            "circuitbreaker.instances.paymentCb.sliding_window_type",
            "TIME_BASED",
        ),
        (
            "RESILIENCE_CIRCUITBREAKER_INSTANCES_PAYMENTCB_RECORDEXCEPTIONS",
            "java.io.IOException, timeout",
            "circuitbreaker.instances.paymentCb.record_errors",
            "[io, timeout]",
        ),
        (
            "RESILIENCE_CIRCUITBREAKER_CONFIGS_DEFAULT_SLIDINGWINDOWSIZE",
            "7",
            "circuitbreaker.instances.paymentCb.sliding_window_size",
            "7",
        ),
        (
            "RESILIENCE_CIRCUITBREAKER_CONFIGS_SLOWBACKEND_SLIDINGWINDOWSIZE",
            "8",
            "circuitbreaker.instances.paymentCb.sliding_window_size",
            "8",
        ),
        (
            "RESILIENCE_RETRY_CONFIGS_DEFAULT_MAXATTEMPTS", // no such entry in the file
            "9",
            "retry.instances.pay.max_attempts",
            "9",
        ),
        (
            "RESILIENCE_CIRCUITBREAKER_INSTANCES_X_HALF_OPEN_FAILURE_RATE_THRESHOLD",
            "5",
            "circuitbreaker.instances.x_half_open.failure_rate_threshold",
            "5",
        ),
        (
            "RESILIENCE_CIRCUITBREAKER_ENABLED",
            "false",
            "circuitbreaker.instances.x.enabled",
            "false",
        ),
        (
            "RESILIENCE_CIRCUITBREAKER_INSTANCES_X_ENABLED",
            "false",
            "circuitbreaker.instances.x.enabled",
            "false",
        ),
    ] {
        let config = load(&[(variable, text)]).unwrap();
        assert_eq!(value(&config, path), expected, "{variable}");
        assert_eq!(config.warnings(), [] as [&str; 0], "{variable}");
    }
}

#[test]
fn a_variable_may_change_the_base() {
    let config = load(&[
        ("RESILIENCE_CIRCUITBREAKER_INSTANCES_X_BASECONFIG", "slow-backend"),
        ("RESILIENCE_CIRCUITBREAKER_CONFIGS_SLOW_BACKEND_SLIDING_WINDOW_SIZE", "8"),
    ])
    .unwrap();
    assert_eq!(value(&config, "circuitbreaker.instances.x.sliding_window_size"), "8");
}

#[test]
fn a_variables_value_is_checked_like_a_files() {
    let error = load(&[
        ("RESILIENCE_CIRCUITBREAKER_INSTANCES_PAYMENTCB_FAILURERATETHRESHOLD", "101"),
        ("RESILIENCE_CIRCUITBREAKER_INSTANCES_X_BASECONFIG", "slow-backand"),
        ("RESILIENCE_STRICT", "maybe"),
    ])
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "3 problems in the configuration:\
         \n  - environment RESILIENCE_CIRCUITBREAKER_INSTANCES_PAYMENTCB_FAILURERATETHRESHOLD: \
         circuitbreaker.instances.paymentCb.failure_rate_threshold = 101: \
         expected a number above 0 and up to 100\
         \n  - environment RESILIENCE_STRICT: strict = maybe: expected true or false\
         \n  - environment RESILIENCE_CIRCUITBREAKER_INSTANCES_X_BASECONFIG: \
         circuitbreaker.instances.x.base_config = slow-backand: \
         unknown base_config; did you mean `slow-backend`?"
    );
}

#[test]
fn an_unknown_variable_is_a_warning_with_the_nearest() {
    let config = load(&[
        ("RESILIENCE_RETRY_INSTANCES_PAYY_MAXATTEMPTS", "4"),
        ("RESILIENCE_RETRY_INSTANCES_PAY_MAXATEMPTS", "4"),
        ("RESILIENCE4J_RETRY_INSTANCES_PAY_MAXATTEMPTS", "4"),
        ("RESILIENCE_PROFILES_ACTIVE", "prod"),
        ("PATH", "/bin"),
    ])
    .unwrap();
    assert_eq!(
        config.warnings(),
        [
            "environment RESILIENCE_RETRY_INSTANCES_PAYY_MAXATTEMPTS sets nothing: \
             it names no declared instance of retry; did you mean `pay`?",
            "environment RESILIENCE_RETRY_INSTANCES_PAY_MAXATEMPTS sets nothing: \
             `pay` has no such key; did you mean MAX_ATTEMPTS?",
            "environment RESILIENCE4J_RETRY_INSTANCES_PAY_MAXATTEMPTS is not read; \
             variables start with RESILIENCE_",
        ]
    );
    assert_eq!(value(&config, "retry.instances.pay.max_attempts"), "3");
}

/// What is no UTF-8 in the environment of a process.
#[cfg(unix)]
mod not_utf8 {
    use std::{ffi::OsString, os::unix::ffi::OsStringExt as _};

    use super::*;

    fn load(file: &str, variables: &[(&[u8], &[u8])]) -> Result<Config, ConfigError> {
        let os = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let variables = variables.iter().map(|(name, value)| (os(name), os(value)));
        Config::builder().text(file, Format::Yaml).vars(variables).load()
    }

    #[test]
    fn a_name_of_ours_that_is_no_text_is_a_warning() {
        let variables: &[(&[u8], &[u8])] = &[
            (b"RESILIENCE_RETRY_INSTANCES_PAY\xff_MAXATTEMPTS", b"4"),
            (b"resilience_\xff", b"4"),
            (b"OTHER_\xff", b"4"),
        ];
        let config = load(FILE, variables).unwrap();
        assert_eq!(
            config.warnings(),
            [
                "environment RESILIENCE_RETRY_INSTANCES_PAY\u{fffd}_MAXATTEMPTS sets nothing: \
                 its name is not UTF-8",
                "environment resilience_\u{fffd} sets nothing: its name is not UTF-8",
            ]
        );
        assert_eq!(value(&config, "retry.instances.pay.max_attempts"), "3");
    }

    #[test]
    fn a_value_that_is_no_text_is_an_error_wherever_it_is_read() {
        let uses_it = "retry.instances.a.max_attempts: ${ATTEMPTS}";
        for (file, variable, place) in [
            (FILE, "RESILIENCE_RETRY_INSTANCES_PAY_MAXATTEMPTS", ""),
            (FILE, "RESILIENCE_RETRY_INSTANCES_PAY_BASECONFIG", ""),
            (FILE, "RESILIENCE_RETRY_ENABLED", ""),
            (FILE, "RESILIENCE_STRICT", ""),
            (FILE, "RESILIENCE_PROFILES_ACTIVE", ""),
            (FILE, "SPRING_PROFILES_ACTIVE", ""),
            (uses_it, "ATTEMPTS", "<text>:1: retry.instances.a.max_attempts = ${ATTEMPTS}: "),
        ] {
            let error = load(file, &[(variable.as_bytes(), b"4\xff")]).unwrap_err();
            let expected = format!("{place}environment {variable}: the value is not UTF-8");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn a_value_that_is_no_text_does_not_matter_where_nobody_reads_it() {
        let variables: &[(&[u8], &[u8])] =
            &[(b"PATH", b"\xff"), (b"RESILIENCE_RETRY_INSTANCES_PAYY_MAXATTEMPTS", b"\xff")];
        let config = load(FILE, variables).unwrap();
        assert_eq!(
            config.warnings(),
            ["environment RESILIENCE_RETRY_INSTANCES_PAYY_MAXATTEMPTS sets nothing: \
              it names no declared instance of retry; did you mean `pay`?"]
        );
    }
}

#[test]
fn the_environment_declares_no_instances() {
    let config = load(&[("RESILIENCE_RETRY_INSTANCES_OTHER_MAXATTEMPTS", "4")]).unwrap();
    let names: Vec<&str> = config.instances(resilience::config::Pattern::Retry).collect();
    assert_eq!(names, ["pay"]);
    assert_eq!(config.warnings().len(), 1);
}

#[test]
fn one_setting_in_two_variables_is_an_error() {
    let error = load(&[
        ("RESILIENCE_RETRY_INSTANCES_PAY_MAXATTEMPTS", "4"),
        ("RESILIENCE_RETRY_INSTANCES_PAY_MAX_ATTEMPTS", "5"),
    ]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "environment RESILIENCE_RETRY_INSTANCES_PAY_MAX_ATTEMPTS: it sets the same as \
         RESILIENCE_RETRY_INSTANCES_PAY_MAXATTEMPTS; keep one"
    );
}

#[test]
fn names_that_a_variable_cannot_tell_apart_are_an_error_when_one_is_meant() {
    let file = "retry.instances: { 'a/b': {}, ab: {} }";
    let load = |variables: &[(&'static str, &'static str)]| {
        let variables = variables.iter().copied();
        Config::builder().text(file, Format::Yaml).vars(variables).load()
    };
    assert!(load(&[]).is_ok());
    assert_eq!(
        load(&[("RESILIENCE_RETRY_INSTANCES_AB_MAXATTEMPTS", "4")]).unwrap_err().to_string(),
        "environment RESILIENCE_RETRY_INSTANCES_AB_MAXATTEMPTS: it may mean `a/b` or `ab`; \
         rename one of them"
    );
}

#[test]
fn strict_is_known_to_the_environment() {
    assert!(load(&[("RESILIENCE_STRICT", "true")]).unwrap().is_strict());
    assert!(!load(&[]).unwrap().is_strict());
}
