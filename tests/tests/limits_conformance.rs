//! Rate limiter and bulkheads against what was recorded from Resilience4j.

use resilience_tests::conformance::{Fields, Mismatch, bulkhead, rate_limiter, scenarios};
use serde_json::Value;

/// Accidental behaviour of Resilience4j that we do not copy, and why.
const REFUSED: [(&str, &str); 2] = [
    (
        "drain_uses_stale_permissions",
        "draining must leave nothing, and must not forgive what waiting calls have reserved",
    ),
    ("over_release", "a bulkhead that was released too often would admit more than its maximum"),
];

fn is_refused(scenario: &Value) -> bool {
    REFUSED.iter().any(|(quirk, _)| *quirk == scenario.text("quirk"))
}

/// Time limiters are recorded in the same file and are replayed with their own tests.
fn is_ours(scenario: &Value) -> bool {
    scenario.text("module") != "time_limiter"
}

fn check(file: &str, expected: usize, replay: fn(&Value) -> Result<(), Mismatch>) {
    let mut scenarios = scenarios(file).expect("the recording is part of the package");
    scenarios.retain(|scenario| is_ours(scenario) && !is_refused(scenario));
    assert_eq!(scenarios.len(), expected, "{file} is complete");
    let mismatches: Vec<_> =
        scenarios.iter().filter_map(|s| replay(s).err()).map(|m| m.to_string()).collect();
    assert!(mismatches.is_empty(), "{} differ:\n{}", mismatches.len(), mismatches.join("\n"));
}

#[test]
fn the_rate_limiter_decides_as_recorded() {
    check("rate_limiter.jsonl.gz", 270, rate_limiter::replay);
}

#[test]
fn the_bulkheads_decide_as_recorded() {
    check("bulkhead.jsonl.gz", 183, bulkhead::replay);
}

#[test]
fn what_is_refused_differs_from_the_recording_in_every_scenario() {
    for (file, replay) in [
        ("rate_limiter.jsonl.gz", rate_limiter::replay as fn(&Value) -> Result<(), Mismatch>),
        ("bulkhead.jsonl.gz", bulkhead::replay),
    ] {
        let refused: Vec<_> = scenarios(file).unwrap().into_iter().filter(is_refused).collect();
        assert!(!refused.is_empty());
        for scenario in refused {
            assert!(replay(&scenario).is_err(), "{} is no difference", scenario.text("id"));
        }
    }
}

#[test]
fn every_quirk_of_the_recording_is_known() {
    for file in ["rate_limiter.jsonl.gz", "bulkhead.jsonl.gz"] {
        for scenario in scenarios(file).unwrap() {
            let quirk = scenario.text("quirk");
            assert!(quirk.is_empty() || is_refused(&scenario), "{quirk}");
        }
    }
}
