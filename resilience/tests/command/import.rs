use serde_json::Value;

use super::run::Folder;

const SPRING: &str = "
server.port: 8080
resilience4j:
  circuitbreaker:
    circuitBreakerAspectOrder: 1
    configs:
      default: { slidingWindowSize: 10, recordExceptions: [java.io.IOException, com.example.Declined] }
    instances:
      payment: { baseConfig: default, waitDurationInOpenState: 10s, writableStackTraceEnabled: true }
  retry.instances.payment.maxAttempts: ${ATTEMPTS:4}
---
spring.config.activate.on-profile: prod
resilience4j.retry.instances.payment.maxAttempts: 6
";

/// Path and value of every setting that `check` shows.
fn settings(folder: &Folder, arguments: &[&str]) -> Vec<(Value, Value)> {
    let ran = folder.run(&[&["check", "--json"], arguments].concat());
    assert_eq!(ran.status, 0, "{}", ran.answer);
    let json = ran.json();
    let settings = json["settings"].as_array().expect("a list");
    settings.iter().map(|one| (one["path"].clone(), one["value"].clone())).collect()
}

#[test]
fn what_was_imported_checks_as_what_it_was_imported_from() {
    for profile in [&[][..], &["--profile", "prod"]] {
        let folder = Folder::new().with("application.yml", SPRING);
        let ran = folder.run(&[&["import", "application.yml"], profile].concat());
        assert_eq!(ran.status, 0, "{}", ran.remarks);
        let folder = folder.with("ours.yaml", &ran.answer);
        let before = settings(&folder, &[&["application.yml"], profile].concat());
        assert_eq!(settings(&folder, &["ours.yaml"]), before);
        assert!(!before.is_empty());
    }
}

#[test]
fn the_result_is_in_our_spelling_and_keeps_the_bases() {
    let ran = Folder::new().with("application.yml", SPRING).run(&["import", "application.yml"]);
    assert_eq!(
        ran.answer,
        "\
resilience:
  retry:
    instances:
      payment:
        max_attempts: 4
  circuitbreaker:
    configs:
      default:
        sliding_window_size: 10
        record_errors: [io, com.example.Declined]
    instances:
      payment:
        base_config: default
        wait_duration_in_open_state: 10s
"
    );
}

#[test]
fn what_did_not_carry_over_is_told_on_standard_error() {
    let ran = Folder::new().with("application.yml", SPRING).run(&["import", "application.yml"]);
    for part in [
        "writable_stack_trace_enabled",
        "errors carry no stack trace",
        "the order is fixed",
        "com.example.Declined: no error kind is known for this class",
        "error_kind_aliases",
    ] {
        assert!(ran.remarks.contains(part), "{part:?} is not in:\n{}", ran.remarks);
    }
}

#[test]
fn a_file_with_an_error_gives_no_answer() {
    let folder = Folder::new().with("application.yml", &SPRING.replace("10s", "soon"));
    let ran = folder.run(&["import", "application.yml"]);
    assert_eq!((ran.status, ran.answer.as_str()), (1, ""));
    assert!(ran.remarks.contains("application.yml:9"), "{}", ran.remarks);
}
