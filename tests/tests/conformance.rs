//! Everything recorded from Resilience4j is followed to the letter, or differs for a stated reason.

use std::collections::BTreeMap;

use resilience_tests::conformance::{Fields, difference, files, folder, known, replay, scenarios};
use serde_json::Value;

fn recorded() -> Vec<Value> {
    let files = files(folder()).expect("part of the package");
    files.iter().flat_map(|file| scenarios(file).expect("part of the package")).collect()
}

#[test]
fn every_scenario_without_a_stated_difference_is_followed() {
    let mut followed = BTreeMap::<String, usize>::new();
    let mut mismatches = Vec::new();
    for scenario in recorded().iter().filter(|scenario| difference(scenario).is_none()) {
        *followed.entry(scenario.text("kind").to_owned()).or_default() += 1;
        mismatches.extend(replay(scenario).err().map(|mismatch| mismatch.to_string()));
    }
    assert!(mismatches.is_empty(), "{} differ:\n{}", mismatches.len(), mismatches.join("\n"));
    let complete = [
        ("circuit_breaker", 787),
        ("config_validation", 141),
        ("interval_function", 22),
        ("rate_limiter", 258),
        ("retry", 403),
        ("semaphore_bulkhead", 123),
        ("thread_pool_bulkhead", 40),
    ];
    let complete = complete.map(|(kind, count)| (kind.to_owned(), count));
    assert_eq!(followed, BTreeMap::from(complete), "the recording is complete");
}

#[test]
fn every_stated_difference_is_one() {
    for scenario in recorded() {
        assert!(known(&scenario), "{} is an unknown accident", scenario.text("id"));
        if let Some(why) = difference(&scenario) {
            let id = scenario.text("id");
            assert!(replay(&scenario).is_err(), "{id} is followed after all: {why}");
        }
    }
}
