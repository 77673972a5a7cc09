use serde_json::json;

use super::run::Folder;

const YAML: &str = "\
retry:
  configs:
    default: { max_attempts: 4 }
  instances:
    pay: { wait_duration: 1s }
";

fn folder(yaml: &str) -> Folder {
    Folder::new().with("r.yaml", yaml)
}

#[test]
fn every_setting_is_shown_with_its_origin() {
    let ran = folder(YAML).run(&["check", "r.yaml"]);
    for line in [
        ["retry.instances.pay.max_attempts", "4", "r.yaml:3", "(retry.configs.default)"],
        ["retry.instances.pay.wait_duration", "1s", "r.yaml:5", "(retry.instances.pay)"],
    ] {
        assert!(ran.has_line(&line), "{line:?} is not in:\n{}", ran.answer);
    }
    assert!(ran.has_line(&["retry.instances.pay.retry_after_max", "30s", "default"]));
    assert!(ran.answer.ends_with("\n0 errors, 0 warnings, 0 hints\n"));
    assert_eq!((ran.status, ran.remarks.as_str()), (0, ""));
}

#[test]
fn a_later_file_wins() {
    let folder = folder(YAML).with("more.yaml", "retry.instances.pay.wait_duration: 2s");
    let ran = folder.run(&["check", "r.yaml", "more.yaml"]);
    let line = ["retry.instances.pay.wait_duration", "2s", "more.yaml:1", "(retry.instances.pay)"];
    assert!(ran.has_line(&line), "{}", ran.answer);
}

#[test]
fn a_long_list_is_cut_in_the_table_and_whole_in_json() {
    let kinds: Vec<String> = (0..9_000).map(|n| format!("kind_{n}")).collect();
    let folder = folder(&format!("retry.instances.pay.retry_errors: [{}]", kinds.join(", ")));
    let shown = folder.run(&["check", "r.yaml"]).answer;
    assert!(shown.lines().all(|line| line.chars().count() < 400));
    let json = folder.run(&["check", "r.yaml", "--json"]).json();
    let settings = json["settings"].as_array().unwrap();
    assert!(settings.iter().any(|one| one["value"].as_array().is_some_and(|v| v.len() == 9_000)));
}

#[test]
fn everything_that_is_wrong_is_told_at_once_and_fails() {
    let yaml = YAML.replace("1s", "fast").replace('4', "0");
    let ran = folder(&yaml).run(&["check", "r.yaml"]);
    assert_eq!(ran.status, 1);
    for part in [
        "error: r.yaml:3: retry.configs.default.max_attempts = 0: expected a whole number from 1",
        "error: r.yaml:5: retry.instances.pay.wait_duration = fast: expected a duration",
        "2 errors, 0 warnings, 0 hints",
    ] {
        assert!(ran.answer.contains(part), "{part:?} is not in:\n{}", ran.answer);
    }
}

#[test]
fn a_file_that_is_not_there_fails() {
    let ran = Folder::new().run(&["check", "nowhere.yaml"]);
    assert_eq!(ran.status, 1);
    assert!(ran.answer.starts_with("error: nowhere.yaml: cannot read the file"), "{}", ran.answer);
}

#[test]
fn wrong_arguments_are_another_status() {
    for arguments in [&["check"][..], &["chek", "r.yaml"], &["check", "r.yaml", "--jsn"]] {
        let ran = folder(YAML).run(arguments);
        assert_eq!((ran.status, ran.answer.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.remarks.contains("Usage: resilience"), "{}", ran.remarks);
    }
}

#[test]
fn warnings_fail_only_where_they_are_denied() {
    let folder = folder("retry.instances.pay: { randomized_wait_factor: 0.2 }");
    let ran = folder.run(&["check", "r.yaml"]);
    assert_eq!(ran.status, 0);
    assert!(ran.answer.contains("[without_switch]"), "{}", ran.answer);
    assert_eq!(folder.run(&["check", "r.yaml", "--deny-warnings"]).status, 1);
}

#[test]
fn hints_never_fail() {
    let folder = folder("circuitbreaker.instances.pay: {}\nbulkhead.instances.pay: {}");
    let ran = folder.run(&["check", "r.yaml", "--deny-warnings"]);
    assert_eq!(ran.status, 0);
    assert!(ran.answer.ends_with("0 errors, 0 warnings, 1 hint\n"), "{}", ran.answer);
}

#[test]
fn the_environment_counts_only_where_it_is_asked_for() {
    let variable = [("RESILIENCE_RETRY_INSTANCES_PAY_MAXATTEMPTS", "9")];
    let folder = folder(YAML);
    let with = folder.run_with(&["check", "r.yaml", "--env"], &variable);
    let origin = "environment RESILIENCE_RETRY_INSTANCES_PAY_MAXATTEMPTS";
    assert!(with.answer.contains(origin), "{}", with.answer);
    let without = folder.run_with(&["check", "r.yaml"], &variable);
    assert!(!without.answer.contains(origin));
}

#[test]
fn a_profile_makes_its_documents_count() {
    let yaml = format!(
        "{YAML}---\nspring.config.activate.on-profile: prod\nretry.instances.pay.wait_duration: 7s"
    );
    let folder = folder(&yaml);
    let wait = |answer: &str| answer.contains("7s");
    assert!(wait(&folder.run(&["check", "r.yaml", "--profile", "prod"]).answer));
    assert!(!wait(&folder.run(&["check", "r.yaml"]).answer));
}

#[test]
fn strict_makes_errors_of_classes_without_a_kind() {
    let folder = folder("retry.instances.pay.retry_errors: [com.example.Declined]");
    let ran = folder.run(&["check", "r.yaml"]);
    assert_eq!(ran.status, 0);
    assert!(ran.answer.contains("warning: r.yaml:1: retry.instances.pay.retry_errors"));
    let strict = folder.run(&["check", "r.yaml", "--strict"]);
    assert_eq!(strict.status, 1);
    assert!(strict.answer.contains("error: r.yaml:1"), "{}", strict.answer);
}

/// Programs read this: the names of the fields stay.
#[test]
fn json_has_the_settings_and_the_findings() {
    let yaml = "retry.instances.pay: { retry_errors: [io], randomized_wait_factor: 0.2 }";
    let ran = folder(yaml).run(&["check", "r.yaml", "--json"]);
    let json = ran.json();
    assert_eq!(json["version"], 1);
    let setting = |path: &str| {
        let settings = json["settings"].as_array().unwrap();
        settings.iter().find(|setting| setting["path"] == path).unwrap().clone()
    };
    let file =
        json!({ "kind": "file", "file": "r.yaml", "line": 1, "entry": "retry.instances.pay" });
    let path = "retry.instances.pay.retry_errors";
    assert_eq!(setting(path), json!({ "path": path, "value": ["io"], "origin": file }));
    let path = "retry.instances.pay.wait_duration";
    let default = json!({ "kind": "default" });
    assert_eq!(setting(path), json!({ "path": path, "value": "500ms", "origin": default }));
    assert_eq!(
        json["findings"],
        json!([{
            "code": "without_switch",
            "severity": "warning",
            "path": "retry.instances.pay.randomized_wait_factor",
            "value": "0.2",
            "place": "r.yaml:1",
            "message": "does nothing without `enable_randomized_wait: true`",
            "instead": "write that too, or leave this out",
        }])
    );
}

#[test]
fn json_tells_of_a_refused_file_too() {
    let ran = folder("retry.instances.pay.max_attempts: 0").run(&["check", "r.yaml", "--json"]);
    assert_eq!(ran.status, 1);
    let json = ran.json();
    assert_eq!(json["settings"], json!([]));
    assert_eq!(json["findings"][0]["code"], "refused");
    assert_eq!(json["findings"][0]["severity"], "error");
    assert_eq!(json["findings"][0]["place"], "r.yaml:1");
}

#[test]
fn a_breaker_that_can_never_open_fails_as_it_stops_the_start() {
    let ran = folder("circuitbreaker.instances.pay.record_errors: [com.example.Declined]")
        .run(&["check", "r.yaml"]);
    assert_eq!(ran.status, 1);
    let wanted = "error: r.yaml:1: circuitbreaker.instances.pay.record_errors = \
                  [com.example.Declined]: no error kind is known for any of these classes";
    assert!(ran.answer.contains(wanted), "{}", ran.answer);
}

/// A log reads lines: nothing from outside may make one of its own.
#[test]
fn the_name_of_a_file_stays_on_its_line() {
    for name in ["a\nerror: b.yaml", "a\n.yaml", "\u{1b}[2J.yaml"] {
        for task in [&["check"][..], &["explain"], &["import"], &["simulate", "--scenario", name]] {
            let instance: &[&str] = if task == ["explain"] { &["pay"] } else { &[] };
            let ran = Folder::new().run(&[task, &[name], instance].concat());
            assert_eq!(ran.status, 1, "{task:?} {name:?}");
            let told = format!("{}{}", ran.answer, ran.remarks);
            assert_eq!(
                told.matches("error: ").count(),
                1 + name.matches("error").count(),
                "{told}"
            );
            assert!(!told.contains(['\u{1b}']) && !told.contains("\n.yaml"), "{told}");
            assert!(!told.contains("\nerror: b"), "{told}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_told() {
    let folder = folder(YAML);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let ran = folder.run_into(&["check", "r.yaml"], full.into());
    assert_eq!(ran.status, 1);
    assert!(ran.remarks.starts_with("error: cannot write the answer: "), "{}", ran.remarks);
}

#[cfg(unix)]
#[test]
fn a_reader_who_has_gone_has_read_enough_and_is_told_the_rest() {
    let folder = Folder::new()
        .with("a.yaml", "resilience4j.ratelimiter.instances.pay.subscribeForEvents: true");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ran = folder.run_into(&["import", "a.yaml"], writer.into());
    assert_eq!(ran.status, 0, "{}", ran.remarks);
    assert!(ran.remarks.contains("subscribe_for_events"), "{}", ran.remarks);
}

#[test]
fn a_placeholder_for_the_environment_is_told_to_need_it() {
    let folder = folder("retry.instances.pay.max_attempts: ${ATTEMPTS}");
    let variable = [("ATTEMPTS", "4")];
    let without = folder.run_with(&["check", "r.yaml"], &variable);
    assert!(without.answer.contains("the environment is not read"), "{}", without.answer);
    let with = folder.run_with(&["check", "r.yaml", "--env"], &variable);
    assert!(with.has_line(&[
        "retry.instances.pay.max_attempts",
        "4",
        "r.yaml:1",
        "(retry.instances.pay)"
    ]));
}
