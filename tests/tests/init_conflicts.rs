//! Functions that would share an instance by accident, or that contradict each other, stop the
//! start; all of it comes out at once.

use resilience::{Config, Error, bulkhead, circuit_breaker, config::Format, retry};

mod first {
    #[super::retry]
    pub async fn load() -> Result<u32, super::Error> {
        Ok(1)
    }
}

mod second {
    #[super::retry]
    pub async fn load() -> Result<u32, super::Error> {
        Ok(2)
    }
}

#[bulkhead(name = "shared", max_concurrent_calls = 1)]
async fn one_slot() -> Result<u32, Error> {
    Ok(3)
}

#[bulkhead(name = "shared", max_concurrent_calls = 2)]
async fn two_slots() -> Result<u32, Error> {
    Ok(4)
}

#[circuit_breaker(name = "torn", enable_exponential_backoff = true, enable_randomized_wait = true)]
async fn contradicts_itself() -> Result<u32, Error> {
    Ok(5)
}

#[bulkhead(name = "pooled")]
async fn wrong_type() -> Result<u32, Error> {
    Ok(6)
}

#[circuit_breaker(name = "neverOpens", record_errors = ["no_such_kind"])]
async fn can_never_open() -> Result<u32, Error> {
    Ok(7)
}

#[retry(name = "spender", budget = "bakend")]
async fn spends_what_nobody_declares() -> Result<u32, Error> {
    Ok(8)
}

#[tokio::test]
async fn every_conflict_stops_the_start_and_names_both_sides() {
    let yaml = "thread-pool-bulkhead.instances.pooled: {}\nretry.budgets.backend: {}";
    let config = Config::from_str(yaml, Format::Yaml).unwrap();
    let error = resilience::init(config).unwrap_err();
    let text = error.to_string();
    let line_with = |parts: &[&str]| {
        assert!(
            text.lines().any(|line| parts.iter().all(|part| line.contains(part))),
            "no line with {parts:?} in: {text}"
        );
    };
    line_with(&["first::load", "second::load", "#[retry]", "'load'"]);
    line_with(&["one_slot", "two_slots", "'shared'", "different inline settings"]);
    line_with(&["contradicts_itself", "init_conflicts.rs:"]);
    line_with(&["wrong_type", "'pooled'", "thread_pool"]);
    line_with(&["neverOpens.record_errors", "no_such_kind", "could never open"]);
    line_with(&["spends_what_nobody_declares", "budget = bakend", "did you mean `backend`?"]);
    assert_eq!(error.problems().len(), 6, "{text}");

    // The functions work all the same, for whoever does not call `init`.
    let calls = (first::load().await, second::load().await, one_slot().await, two_slots().await);
    assert_eq!(calls, (Ok(1), Ok(2), Ok(3), Ok(4)));
    assert_eq!((contradicts_itself().await, wrong_type().await), (Ok(5), Ok(6)));
    assert_eq!((can_never_open().await, spends_what_nobody_declares().await), (Ok(7), Ok(8)));
}
