//! Every kind of mistake with its exact text.

#![allow(clippy::unwrap_used)] // helpers of tests may unwrap as the tests themselves do

use std::{fs, path::PathBuf};

use resilience::config::{Config, Format};
use resilience_tests::config::{error_of, load};

fn yaml_error(text: &str) -> String {
    error_of(text, Format::Yaml)
}

/// One error per text.
fn check(table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(yaml_error(text), *expected, "{text}");
    }
}

#[test]
fn i10_values_out_of_range_are_refused_with_the_allowed_range() {
    for (entry, value, allowed) in [
        (
            "circuitbreaker.instances.a.failure_rate_threshold",
            "101",
            "a number above 0 and up to 100",
        ),
        (
            "circuitbreaker.instances.a.failure_rate_threshold",
            "0",
            "a number above 0 and up to 100",
        ),
        (
            "circuitbreaker.instances.a.failure_rate_threshold",
            "NaN",
            "a number above 0 and up to 100",
        ),
        (
            "circuitbreaker.instances.a.failure_rate_threshold",
            ".inf",
            "a number above 0 and up to 100",
        ),
        ("circuitbreaker.instances.a.sliding_window_size", "0", "a whole number from 1 to 1000000"),
        (
            "circuitbreaker.instances.a.sliding_window_size",
            "-1",
            "a whole number from 1 to 1000000",
        ),
        (
            "circuitbreaker.instances.a.sliding_window_size",
            "2.5",
            "a whole number from 1 to 1000000",
        ),
        (
            "circuitbreaker.instances.a.permitted_number_of_calls_in_half_open_state",
            "0",
            "a whole number from 1 to 1000000",
        ),
        (
            "circuitbreaker.instances.a.sliding_window_type",
            "COUNT",
            "one of COUNT_BASED, TIME_BASED",
        ),
        (
            "circuitbreaker.instances.a.randomized_wait_factor",
            "1.5",
            "a number of at least 0 and below 1",
        ),
        (
            "circuitbreaker.instances.a.consecutive_failures",
            "0",
            "a whole number of at least 1, or one per error kind",
        ),
        ("retry.instances.a.max_attempts", "0", "a whole number from 1 to 4294967295"),
        ("retry.instances.a.exponential_backoff_multiplier", "0", "a number above 0"),
        ("retry.instances.a.fail_after_max_attempts", "maybe", "true or false"),
        (
            "ratelimiter.instances.a.limit_refresh_period",
            "0",
            "a duration of at least 1ns, such as 500ms, 2s or 1m30s",
        ),
        (
            "timelimiter.instances.a.timeout_duration",
            "0s",
            "a duration of at least 1ns, such as 500ms, 2s or 1m30s",
        ),
    ] {
        assert_eq!(
            yaml_error(&format!("{entry}: {value}")),
            format!("<text>:1: {entry} = {value}: expected {allowed}")
        );
    }
}

#[test]
fn i06_what_is_no_duration_is_refused_with_the_reason() {
    for (value, reason) in [
        ("''", "it is empty"),
        ("-1s", "it is negative"),
        ("5 parsecs", "`parsecs` is no unit (ns, us, ms, s, m, h, d)"),
        ("99999999999h", "it is longer than 292 years"),
    ] {
        assert_eq!(
            yaml_error(&format!("retry.instances.a.wait_duration: {value}")),
            format!(
                "<text>:1: retry.instances.a.wait_duration = {}: \
                 expected a duration such as 500ms, 2s or 1m30s: {reason}",
                value.trim_matches('\'')
            )
        );
    }
}

#[test]
fn i06_durations_that_are_read() {
    for (text, read) in [
        ("500ms", "500ms"),
        ("2s", "2s"),
        ("1m", "1m"),
        ("1h30m", "1h30m"),
        ("PT5S", "5s"),
        ("pt0.25s", "250ms"),
        ("500", "500ms"),
        ("0ms", "0ms"),
        ("1.5s", "1500ms"),
        ("1d", "24h"),
    ] {
        let text = format!("retry.instances.a.wait_duration: {text}");
        let config = load(&text, Format::Yaml).unwrap();
        let effective = config.effective();
        let (_, value, _) =
            effective.iter().find(|(path, ..)| path.ends_with("a.wait_duration")).unwrap();
        let wanted =
            resilience::config::Value::Duration(resilience_settings::parse_duration(read).unwrap());
        assert_eq!(*value, wanted, "{text}");
    }
}

#[test]
fn a_value_of_another_shape_is_refused() {
    check(&[
        (
            "retry.instances.a.max_attempts: [1, 2]",
            "<text>:1: retry.instances.a.max_attempts = [1, 2]: \
             expected a whole number from 1 to 4294967295",
        ),
        (
            "retry.instances.a:\n  max_attempts:",
            "<text>:2: retry.instances.a.max_attempts: expected a whole number from 1 to 4294967295",
        ),
        (
            "retry.instances.a:\n  max_attempts:\n    low: 3",
            "<text>:2: retry.instances.a.max_attempts = {low: 3}: \
             expected a whole number from 1 to 4294967295",
        ),
        (
            "retry.instances.a.retry_errors: [io, {b: c}]",
            "<text>:1: retry.instances.a.retry_errors: expected a list of error kinds",
        ),
        (
            "retry.instances.a.base_config: [x]",
            "<text>:1: retry.instances.a.base_config = [x]: \
             expected the name of an entry under configs",
        ),
        (
            "retry.instances.a: 5",
            "<text>:1: retry.instances.a: expected a section of settings, such as { enabled: true }",
        ),
        (
            "retry.instances: 5",
            "<text>:1: retry.instances: expected a section of names, such as { payment: { enabled: true } }",
        ),
        ("retry: 5", "<text>:1: retry: expected a section with configs and instances"),
        ("resilience: 5", "<text>:1: expected sections"),
        ("strict: perhaps", "<text>:1: strict = perhaps: expected true or false"),
        ("- retry", "<text>:1: expected sections at the top level"),
        (
            "error_kind_aliases: {com.example.X: ''}",
            "<text>:1: error_kind_aliases.com.example.X = : expected an error kind",
        ),
    ]);
}

#[test]
fn i05_unknown_keys_and_sections_are_refused_with_the_nearest() {
    check(&[
        (
            "circuitbreaker:\n  instances:\n    a:\n      slidingWindwSize: 50",
            "<text>:4: circuitbreaker.instances.a.slidingWindwSize = 50: \
             unknown key; did you mean `sliding_window_size`?",
        ),
        (
            "retry.instances.a.recordExceptions: [x]\n",
            "<text>:1: retry.instances.a.recordExceptions = [x]: \
             unknown key; did you mean `retry_exceptions`?",
        ),
        (
            "timelimiter.instances.a.colour: red",
            "<text>:1: timelimiter.instances.a.colour = red: unknown key; known are \
             timeout_duration, cancel_running_future, max_keys, key_idle_timeout, metric_keys, \
             event_consumer_buffer_size, enabled, base_config",
        ),
        (
            "resilience:\n  circuitbraker:\n    instances: { a: {}, b: {} }",
            "<text>:2: circuitbraker: unknown section; did you mean `circuitbreaker`?",
        ),
        (
            "retry:\n  instance: { a: {} }",
            "<text>:2: retry.instance: unknown section; did you mean `instances`?",
        ),
        (
            "retry:\n  max_attempts: 3",
            "<text>:2: retry.max_attempts: a key belongs under instances.<name> or configs.<name>",
        ),
        (
            "retry: {}\nserver: { port: 80 }",
            "<text>:2: server: unknown section; known are retry, circuitbreaker, ratelimiter, \
             timelimiter, bulkhead, thread-pool-bulkhead, strict, error_kind_aliases, redis",
        ),
    ]);
}

#[test]
fn two_roots_or_none_are_refused() {
    check(&[
        (
            "resilience.retry: {}\nresilience4j:\n  retry: {}",
            "<text>:2: `resilience4j` and `resilience` in line 1 are two roots; use one of \
             `resilience`, `resilience4j` or pattern sections at the top level",
        ),
        (
            "resilience: {}\nretry: {instances: {a: {}}}",
            "<text>:2: `retry` and `resilience` in line 1 are two roots; use one of \
             `resilience`, `resilience4j` or pattern sections at the top level",
        ),
        (
            "retry: {}\nresilience: {}",
            "<text>:2: `resilience` and `retry` in line 1 are two roots; use one of \
             `resilience`, `resilience4j` or pattern sections at the top level",
        ),
        (
            "server: {port: 80}\nresilence: {}",
            "<text>:1: looked for `resilience`, `resilience4j` or one of retry, circuitbreaker, \
             ratelimiter, timelimiter, bulkhead, thread-pool-bulkhead, strict, error_kind_aliases, \
             redis at the top level and found `server`, `resilence`; did you mean `resilience`?",
        ),
    ]);
}

#[test]
fn what_is_given_twice_is_refused() {
    check(&[
        (
            "retry.instances.a:\n  max_attempts: 3\n  max_attempts: 4",
            "<text>:3: retry.instances.a.max_attempts: given twice (first in line 2)",
        ),
        (
            "retry.instances.a:\n  max_attempts: 3\n  maxAttempts: 4",
            "<text>:3: retry.instances.a.maxAttempts = 4: one key in two spellings, \
             `max_attempts` (first in line 2) and `maxAttempts`; keep one",
        ),
        (
            "retry.instances.a.retry_errors: [io]\nretry.instances.a.retryExceptions: [io]",
            "<text>:2: retry.instances.a.retryExceptions = [io]: one key in two spellings, \
             `retry_errors` (first in line 1) and `retryExceptions`; keep one",
        ),
        (
            "retry.instances.a.max_attempts: 3\nretry:\n  instances.a.max_attempts: 4",
            "<text>:3: retry.instances.a.max_attempts = 4: given twice (first in line 1)",
        ),
        (
            "retry.instances:\n  payCb: {}\n  pay-cb: {}",
            "<text>:3: retry.instances.pay-cb: `pay-cb` and `payCb` (<text>:2) are one name, case \
             and separators do not count; spell them the same",
        ),
        (
            "resilience:\n  strict: true\n  Strict: true",
            "<text>:3: strict: given twice (first in line 2)",
        ),
    ]);
}

#[test]
fn i11_names_that_are_none_are_refused() {
    let long = "x".repeat(201);
    check(&[
        (
            "retry.instances: {'': {}}",
            "<text>:1: retry.instances.: an instance name must not be empty",
        ),
        (
            "retry.instances: {\"a\\tb\": {max_attempts: 3}}",
            "<text>:1: retry.instances.a\\tb: an instance name must not contain control characters",
        ),
        (
            "retry:\n  instances: { '-': {} }\n  configs: { ' ': { max_attempts: 3 } }",
            "2 problems in the configuration:\
             \n  - <text>:2: retry.instances.-: an instance name needs a character that is no \
             separator (`-`, `_`, `.`, space)\
             \n  - <text>:3: retry.configs. : an instance name needs a character that is no \
             separator (`-`, `_`, `.`, space)",
        ),
        (
            &format!("retry.instances: {{{long}: {{}}}}"),
            &format!(
                "<text>:1: retry.instances.{}…: an instance name has at most 200 characters",
                "x".repeat(200 - "retry.instances.".len())
            ),
        ),
    ]);
}

#[test]
fn i03_bases_that_are_missing_or_lead_in_a_circle_are_refused() {
    check(&[
        (
            "retry:\n  configs: { slow: {} }\n  instances: { a: { base_config: slo } }",
            "<text>:3: retry.instances.a.base_config = slo: \
             unknown base_config; did you mean `slow`?",
        ),
        (
            "retry.instances.a.base_config: slow",
            "<text>:1: retry.instances.a.base_config = slow: \
             unknown base_config; there are no configs",
        ),
        (
            "retry.configs.a.base_config: a",
            "<text>:1: retry.configs.a.base_config = a: an entry cannot be its own base",
        ),
        (
            "retry.configs:\n  a: { base_config: b }\n  b: { base_config: c }\n  c: { base_config: a }",
            "<text>:2: retry.configs.a.base_config = b: \
             base_config leads in a circle: a -> b -> c -> a",
        ),
        (
            "retry.configs:\n  in: { base_config: a }\n  a: { base_config: b }\n  b: { base_config: a }",
            "<text>:3: retry.configs.a.base_config = b: \
             base_config leads in a circle: a -> b -> a",
        ),
        (
            "retry.configs:\n  default: { base_config: b }\n  b: { base_config: default }",
            "<text>:2: retry.configs.default.base_config = b: \
             base_config leads in a circle: default -> b -> default",
        ),
    ]);
}

#[test]
fn placeholders_without_a_value_or_in_a_circle_are_refused() {
    check(&[
        (
            "retry.instances.a.max_attempts: ${NONE}",
            "<text>:1: retry.instances.a.max_attempts = ${NONE}: the placeholder ${NONE} is not \
             set in the file and has no default; the environment is not read",
        ),
        (
            "resilience.retry.instances.a.max_attempts: ${x}\nx: ${y}\ny: ${x}",
            "<text>:1: retry.instances.a.max_attempts = ${x}: \
             the placeholder ${x} leads back to itself",
        ),
        (
            "retry.instances.a.max_attempts: ${NONE:0}",
            "<text>:1: retry.instances.a.max_attempts = 0: \
             expected a whole number from 1 to 4294967295 (written `${NONE:0}`)",
        ),
    ]);
}

#[test]
fn d27_keys_of_older_versions_with_another_meaning_are_refused() {
    check(&[(
        "resilience4j.retry.instances.a.maxRetryAttempts: 3",
        "<text>:1: retry.instances.a.maxRetryAttempts = 3: an older version's key; write \
         `max_attempts`, which counts the first call: 3 are one call and two retries",
    )]);
}

#[test]
fn all_errors_of_a_file_come_at_once_by_line() {
    let text = "
circuitbreaker:
  instances:
    a: { failure_rate_threshold: 101, base_config: gone }
    b:
      record_errors: [io]
      record_errors: [timeout]
      wait_duration_in_open_state: soon
    b-: {}
rettry: {}
";
    assert_eq!(
        yaml_error(text),
        "6 problems in the configuration:\
         \n  - <text>:4: circuitbreaker.instances.a.failure_rate_threshold = 101: \
         expected a number above 0 and up to 100\
         \n  - <text>:4: circuitbreaker.instances.a.base_config = gone: \
         unknown base_config; there are no configs\
         \n  - <text>:7: circuitbreaker.instances.b.record_errors: given twice (first in line 6)\
         \n  - <text>:8: circuitbreaker.instances.b.wait_duration_in_open_state = soon: \
         expected a duration of at least 1ms, such as 500ms, 2s or 1m30s: a number is missing or malformed\
         \n  - <text>:9: circuitbreaker.instances.b-: `b-` and `b` (<text>:5) are one name, case \
         and separators do not count; spell them the same\
         \n  - <text>:10: rettry: unknown section; did you mean `retry`?"
    );
}

#[test]
fn a_text_that_is_not_of_its_format_is_refused_with_the_line() {
    for (text, format, start) in [
        ("retry:\n  a: [", Format::Yaml, "<text>:2: no valid YAML: "),
        ("retry:\n\ta: 1", Format::Yaml, "<text>:2: no valid YAML: "),
        ("a: *b", Format::Yaml, "<text>:1: no valid YAML: "),
        ("a: 1\n&x b: &y [*y]", Format::Yaml, "<text>:2: "),
        ("? [a]\n: b", Format::Yaml, "<text>:1: a key must be plain text"),
        ("a: 1\nb: {<<: 3}", Format::Yaml, "<text>:2: `<<` takes a map or a list of maps"),
        ("[retry]\nx = ", Format::Toml, "<text>:2: no valid TOML: "),
        ("[retry]\nx = 1\nx = 2", Format::Toml, "<text>:3: no valid TOML: "),
        ("{\"retry\": {", Format::Json, "<text>:1: no valid JSON: "),
        ("\nretry: 1", Format::Json, "<text>:2: no valid JSON: expected an object"),
        ("{}\n---\n{}", Format::Json, "<text>:2: no valid JSON: trailing characters at column 1"),
        (
            "{\"a\":\n 1,}",
            Format::Json,
            "<text>:2: no valid JSON: key must be a string at column 4",
        ),
        ("{\n'a': 1}", Format::Json, "<text>:2: no valid JSON: key must be a string at column 1"),
        ("{a: 1}", Format::Json, "<text>:1: no valid JSON: key must be a string at column 2"),
        ("{\"a\": b}", Format::Json, "<text>:1: no valid JSON: expected value at column 7"),
        ("{\"a\": \"b\nc\"}", Format::Json, "<text>:1: no valid JSON: control character"),
        ("{\"a\": 01}", Format::Json, "<text>:1: no valid JSON: invalid number at column 8"),
        ("{\"a\": 1} # b", Format::Json, "<text>:1: no valid JSON: trailing characters"),
        ("{\"a\": \"\\x41\"}", Format::Json, "<text>:1: no valid JSON: invalid escape"),
        ("{\"a\": \"\\ud800\"}", Format::Json, "<text>:1: no valid JSON: "),
        ("retry.x=\\u00", Format::Properties, "<text>:1: a \\u escape needs four"),
    ] {
        let error = error_of(text, format);
        assert!(error.lines().any(|line| line.contains(start)), "{text:?}: {error}");
    }
}

fn file(name: &str, content: &[u8]) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("config_errors");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join(name);
    fs::write(&path, content).unwrap();
    path
}

fn file_error(path: &PathBuf) -> String {
    let loaded = Config::builder().env(false).file(path).load();
    loaded.unwrap_err().to_string().replace(&path.display().to_string(), "<path>")
}

/// Whoever opened it would wait for somebody to write.
#[cfg(unix)]
#[test]
fn a_pipe_is_refused_without_being_opened() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.yaml");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(file_error(&pipe)));
    let error = is_done.recv_timeout(std::time::Duration::from_secs(10)).expect("it waits");
    assert_eq!(error, "<path>: cannot read the file: it is not a regular file");
    let folder = folder.path().join("folder.yaml");
    fs::create_dir(&folder).unwrap();
    assert!(file_error(&folder).ends_with("it is not a regular file"));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let missing = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("no-such-file.yaml");
    assert!(file_error(&missing).starts_with("<path>: cannot read the file: "));
    assert_eq!(
        file_error(&file("config.ini", b"a=1")),
        "<path>: cannot tell the format; the name must end in .yaml, .yml, .toml, .properties or \
         .json"
    );
    assert_eq!(file_error(&file("latin.yaml", b"a: 1\nb: \xe4")), "<path>:2: a byte is not UTF-8");
    assert_eq!(
        file_error(&file("large.yaml", &vec![b' '; (1 << 20) + 1])),
        "<path>: larger than 1048576 bytes"
    );
    assert_eq!(
        file_error(&file("wrong.toml", b"[retry.instances.a]\n\nmax_attempts = 0\n")),
        "<path>:3: retry.instances.a.max_attempts = 0: expected a whole number from 1 to 4294967295"
    );
}

#[test]
fn problems_of_several_files_come_file_by_file() {
    let second = file("second.yaml", b"retry.instances.a.max_attempts: 0");
    let error = Config::builder()
        .env(false)
        .file(&second)
        .text("x: 1\nretry.instances.a.max_attempts: -1", Format::Yaml)
        .load()
        .unwrap_err();
    let lines: Vec<Option<String>> = error.problems().iter().map(|p| p.place.clone()).collect();
    assert_eq!(
        lines,
        [
            Some(format!("{}:1", second.display())),
            Some("<text>:1".to_owned()),
            Some("<text>:2".to_owned())
        ]
    );
}

#[test]
fn contradictions_come_with_the_other_errors_but_not_for_a_value_that_was_refused() {
    let yaml = "
thread-pool-bulkhead.instances:
  torn: { core_thread_pool_size: 4, max_thread_pool_size: 2 }
  refused: { core_thread_pool_size: 4, max_thread_pool_size: 0 }
retry.instances.a.max_attempts: 0
";
    let error = load(yaml, Format::Yaml).unwrap_err();
    let text = error.to_string();
    assert_eq!(error.problems().len(), 3, "{text}");
    assert!(
        text.contains("torn.max_thread_pool_size = 2: expected at least core_thread_pool_size"),
        "{text}"
    );
    assert_eq!(format!("{error:?}"), text, "a main that returns it shows it as it is meant");
}

#[test]
fn nothing_is_applied_when_something_is_wrong() {
    let text = "retry.instances: { a: { max_attempts: 3 }, b: { max_attempts: 0 } }";
    assert!(load(text, Format::Yaml).is_err());
}
