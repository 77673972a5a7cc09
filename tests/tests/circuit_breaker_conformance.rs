//! The circuit breaker does what Resilience4j was recorded to do.

use resilience_tests::conformance::{Fields, circuit_breaker::replay, scenarios};

const FILE: &str = "circuit_breaker.jsonl.gz";

/// Scenarios of the file that are not replayed as they are, and why.
const NOT_COPIED: &[(&str, &str)] = &[
    ("cb-handmade-085", "refused: a reset ends the timer of the open state it leaves"),
    ("cb-handmade-086", "refused: a reset ends the timer of the half-open state it leaves"),
    ("cb-handmade-087", "refused: OPEN after DISABLED has a window, late results do not fail"),
    ("cb-handmade-088", "refused: OPEN after FORCED_OPEN has a window, late results do not fail"),
    ("cb-handmade-089", "refused: there is no way to ask for OPEN without saying for how long"),
];

#[test]
fn every_scenario_that_is_no_accident_of_resilience4j_is_followed_to_the_letter() {
    let mut replayed = 0;
    let mut mismatches = Vec::new();
    for scenario in scenarios(FILE).unwrap() {
        if scenario["quirk"].is_null() {
            replayed += 1;
            mismatches.extend(replay(&scenario).err().map(|mismatch| mismatch.to_string()));
        }
    }
    assert_eq!(replayed, 858);
    assert!(mismatches.is_empty(), "{} differ:\n{}", mismatches.len(), mismatches.join("\n"));
}

#[test]
fn every_accident_of_resilience4j_is_known_and_not_copied() {
    let accidents: Vec<_> = scenarios(FILE)
        .unwrap()
        .into_iter()
        .filter(|scenario| !scenario["quirk"].is_null())
        .collect();
    let ids: Vec<_> = accidents.iter().map(|scenario| scenario.text("id")).collect();
    let known: Vec<_> = NOT_COPIED.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, known);
    for scenario in &accidents {
        assert!(replay(scenario).is_err(), "{} is copied after all", scenario.text("id"));
    }
}
