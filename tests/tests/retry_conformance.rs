//! Retry does what Resilience4j was recorded to do.

use resilience_tests::conformance::{
    Fields, Mismatch,
    retry::{QUIRKS, replay, replay_interval, replay_validation},
    scenarios,
};
use serde_json::Value;

const FILE: &str = "retry.jsonl.gz";

/// Replays the scenarios of a kind that are no accident of Resilience4j; gives their number.
fn replay_all(kind: &str, replay: fn(&Value) -> Result<(), Mismatch>) -> usize {
    let scenarios = scenarios(FILE).unwrap();
    let of_kind = scenarios.iter().filter(|s| s.text("kind") == kind && s["quirk"].is_null());
    let results: Vec<_> = of_kind.map(replay).collect();
    let mismatches: Vec<_> =
        results.iter().filter_map(|r| r.as_ref().err().map(Mismatch::to_string)).collect();
    assert!(mismatches.is_empty(), "{} differ:\n{}", mismatches.len(), mismatches.join("\n"));
    results.len()
}

#[test]
fn every_call_goes_as_recorded() {
    assert_eq!(replay_all("retry", replay), 403);
}

#[test]
fn every_interval_is_as_recorded() {
    assert_eq!(replay_all("interval_function", replay_interval), 22);
}

#[test]
fn the_same_settings_are_accepted() {
    assert_eq!(replay_all("config_validation", replay_validation), 36);
}

#[test]
fn every_accident_of_resilience4j_is_known() {
    for scenario in scenarios(FILE).unwrap() {
        let quirk = scenario.text("quirk");
        assert!(quirk.is_empty() || QUIRKS.iter().any(|(name, _)| *name == quirk), "{quirk}");
    }
}
