//! The demo's report for machines: whatever it says can be computed again.

#![allow(clippy::unwrap_used, reason = "a failure here fails the test")]

use std::{
    collections::BTreeMap,
    process::{Command, Output},
};

use parking_lot::Mutex;
use serde_json::{Value, json};

/// What a demo measures is the machine's answer to one demo.
static MACHINE: Mutex<()> = Mutex::new(());

/// Runs these scenes with these environment variables.
fn demo(scenes: &[&str], variables: &[(&str, &str)]) -> Output {
    let _alone = MACHINE.lock();
    let mut command = Command::new(env!("CARGO_BIN_EXE_demo"));
    command.arg("--json").args(scenes).envs(variables.iter().copied());
    command.output().unwrap()
}

/// Asserts that a promise was kept, except for times: those depend on who else uses the machine.
fn assert_kept(scene: &Value, promise: &Value) {
    let measurements = list(&promise["measurements"]);
    let is_time = |measured: &Value| matches!(text(&measured["kind"]), "time" | "latencies");
    if !measurements.iter().any(is_time) {
        assert_eq!(promise["kept"], true, "scene {}: {promise:#}", scene["scene"]);
        return;
    }
    if promise["kept"] == false {
        println!("scene {}, on a busy machine: {promise:#}", scene["scene"]);
    }
    // What is counted in such a promise is promised of all, however late; only of a limit it is a share
    // that passes.
    for count in measurements.iter().filter(|measured| text(&measured["kind"]) == "count") {
        let is_limited = text(&count["name"]) == "passed";
        let is_all = count["value"] == count["of"];
        assert!(is_limited || is_all, "scene {}: {promise:#}", scene["scene"]);
    }
}

/// All of standard output: anything beside the report would not be read.
fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Computes every number of the report from its samples, and every text from the numbers.
fn assert_can_be_computed(report: &Value) {
    for promise in report["scenes"].as_array().unwrap().iter().flat_map(|s| list(&s["promises"])) {
        let texts: Vec<_> = list(&promise["measurements"]).iter().map(computed).collect();
        assert!(!texts.is_empty(), "{promise}");
        assert_eq!(promise["measured"], texts.join("; "));
    }
}

/// The text of a measurement whose numbers are right.
fn computed(measurement: &Value) -> String {
    let name = text(&measurement["name"]);
    let samples = list(&measurement["samples"]);
    assert!(!samples.is_empty(), "{measurement}");
    let is = |field: &str, value: Value| assert_eq!(measurement[field], value, "{measurement}");
    match text(&measurement["kind"]) {
        "count" => {
            let expected = measurement["expected"].as_object().unwrap();
            let is_expected = |s: &&Value| expected.iter().all(|(part, value)| s[part] == *value);
            let value = samples.iter().filter(is_expected).count();
            is("value", json!(value));
            is("of", json!(samples.len()));
            format!("{value} of {} {name}", samples.len())
        }
        "facts" => {
            let facts: Vec<_> = samples.iter().map(text).collect();
            format!("{name} {}", facts.join(", then "))
        }
        "tally" => {
            let mut values = BTreeMap::<_, usize>::new();
            for sample in samples {
                *values.entry(text(sample)).or_default() += 1;
            }
            is("values", json!(values));
            let told = values.iter().map(|(value, times)| format!("{times} {value}"));
            format!("{name} {}", told.collect::<Vec<_>>().join(", "))
        }
        "number" => {
            let samples: Vec<_> = samples.iter().map(|sample| sample.as_u64().unwrap()).collect();
            let sum = |samples: &[u64]| samples.iter().sum::<u64>();
            let value: u64 = match text(&measurement["rule"]) {
                "sum" => sum(&samples),
                "max" => *samples.iter().max().unwrap(),
                "growth" => {
                    let (before, after) = samples.split_at(samples.len() / 2);
                    sum(after) - sum(before)
                }
                rule => panic!("unknown rule {rule}"),
            };
            is("value", json!(value));
            format!("{name} {value}")
        }
        "time" => {
            is("unit", json!("ms"));
            let times = sorted(samples);
            let value = match text(&measurement["rule"]) {
                "max" => times[times.len() - 1],
                "median" => times[(times.len() - 1) / 2],
                rule => panic!("unknown rule {rule}"),
            };
            is("value", json!(value));
            format!("{name} {}", shown(value))
        }
        "latencies" => {
            is("unit", json!("ms"));
            let times = sorted(samples);
            let [p50, p95, p99] =
                [50, 95, 99].map(|percent| times[(times.len() * percent).div_ceil(100) - 1]);
            let (min, max) = (times[0], times[times.len() - 1]);
            is("count", json!(times.len()));
            for (field, value) in
                [("min", min), ("p50", p50), ("p95", p95), ("p99", p99), ("max", max)]
            {
                is(field, json!(value));
            }
            let [p50, p95, p99, min, max] = [p50, p95, p99, min, max].map(shown);
            format!("{name} p50 {p50}, p95 {p95}, p99 {p99}, min {min}, max {max}")
        }
        kind => panic!("unknown kind {kind}"),
    }
}

fn sorted(samples: &[Value]) -> Vec<f64> {
    let mut times: Vec<_> = samples.iter().map(|sample| sample.as_f64().unwrap()).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// Milliseconds in three digits and the unit that fits.
fn shown(ms: f64) -> String {
    let (value, unit) = match ms {
        ..0.001 => return format!("{:.0} ns", ms * 1e6),
        ..1.0 => (ms * 1e3, "µs"),
        ..1e3 => (ms, "ms"),
        _ => (ms / 1e3, "s"),
    };
    match value {
        ..10.0 => format!("{value:.2} {unit}"),
        ..100.0 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

#[test]
fn every_scene_keeps_its_promises_and_every_number_of_the_report_can_be_computed_from_its_samples()
{
    let output = demo(&[], &[]);
    let report = report(&output);
    assert_can_be_computed(&report);
    let scenes = list(&report["scenes"]);
    assert_eq!(scenes.len(), 8);
    for scene in scenes {
        assert_eq!(
            scene["not_run"],
            Value::Null,
            "this test needs redis-server, as scripts/test installs"
        );
        let promises = list(&scene["promises"]);
        assert!(promises.len() > 2, "{scene:#}");
        for promise in promises {
            assert_kept(scene, promise);
        }
    }
    let kept = report["kept"].as_bool().unwrap();
    assert_eq!(output.status.code(), Some(i32::from(!kept)));
    for (field, is_told) in [
        ("version", report["version"].is_string()),
        ("started_at", text(&report["started_at"]).ends_with('Z')),
        ("cores", report["machine"]["cores"].as_u64() >= Some(1)),
    ] {
        assert!(is_told, "{field}: {}", report[field]);
    }
}

#[test]
fn a_broken_promise_is_told_with_its_samples_and_by_the_exit_status() {
    let one_a_second = ("RESILIENCE_RATELIMITER_INSTANCES_ORDERRL_LIMITFORPERIOD", "1");
    let output = demo(&["--scene", "1"], &[one_a_second]);
    assert_eq!(output.status.code(), Some(1));
    let report = report(&output);
    assert_can_be_computed(&report);
    assert_eq!(report["kept"], false);
    let promise = &report["scenes"][0]["promises"][0];
    assert_eq!(promise["kept"], false, "{promise}");
    let statuses = list(&promise["measurements"][0]["samples"]).iter().map(|s| &s["http"]);
    assert!(statuses.clone().any(|status| *status == 429), "{promise}");
    assert!(statuses.clone().any(|status| *status == 200), "{promise}");
}

#[test]
fn what_the_library_says_comes_with_the_lines_in_which_it_says_so() {
    let report = report(&demo(&["--scene", "1"], &[]));
    let scene = &report["scenes"][0];
    let lines: Vec<_> = list(&scene["prometheus"]).iter().map(text).collect();
    for name in ["paymentCb", "paymentServiceCb", "inventoryCb"] {
        let value_of = |family: &str, label: &str| {
            let found = lines.iter().find(|line| {
                let labels = [format!("name=\"{name}\""), label.to_owned()];
                line.starts_with(family) && labels.iter().all(|label| line.contains(label))
            });
            let value = found.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
            value.unwrap_or_else(|| panic!("no {family} of {name} in {lines:#?}"))
        };
        let buffered = ["successful", "failed"]
            .map(|kind| value_of("resilience4j_circuitbreaker_buffered_calls", kind));
        let metric = |metric: &str| scene["metrics"][format!("{name}.{metric}")].clone();
        assert_eq!(metric("buffered_calls").as_f64(), Some(buffered[0] + buffered[1]));
        assert_eq!(metric("failed_calls").as_f64(), Some(buffered[1]));
        let open = value_of("resilience4j_circuitbreaker_state", "state=\"closed\"");
        assert_eq!(metric("state") == "CLOSED", open > 0.0);
    }
}
