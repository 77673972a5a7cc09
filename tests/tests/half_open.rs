//! When the probes of a half-open breaker decide: tables, and every order of outcomes against brute
//! force.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::time::Duration;

use resilience::{
    CircuitBreaker, CircuitBreakerConfig, Clock,
    circuit_breaker::{HalfOpenEvaluation, State},
};

const PERMITTED: usize = 5;
const MINIMUM: usize = 3;
const THRESHOLDS: [u32; 3] = [15, 25, 50];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Probe {
    Success,
    Failure,
    Slow,
}

impl Probe {
    const ALL: [Self; 3] = [Self::Success, Self::Failure, Self::Slow];
}

#[derive(Debug, Clone, Copy)]
struct Thresholds {
    failure: u32,
    slow: u32,
}

impl Thresholds {
    fn all() -> impl Iterator<Item = Self> {
        let pairs = |failure| THRESHOLDS.map(|slow| Self { failure, slow });
        THRESHOLDS.into_iter().flat_map(pairs)
    }

    /// Whether the finished `probes` reach a threshold, in whole numbers.
    fn reached(self, probes: &[Probe]) -> bool {
        let exceeds = |kind, threshold| {
            let count = probes.iter().filter(|probe| **probe == kind).count();
            count * 100 >= threshold as usize * probes.len()
        };
        exceeds(Probe::Failure, self.failure) || exceeds(Probe::Slow, self.slow)
    }
}

fn half_open(evaluation: HalfOpenEvaluation, thresholds: Thresholds) -> CircuitBreaker {
    let config = CircuitBreakerConfig::builder()
        .permitted_number_of_calls_in_half_open_state(u32::try_from(PERMITTED).unwrap())
        .minimum_number_of_calls(u32::try_from(MINIMUM).unwrap())
        .failure_rate_threshold(thresholds.failure.into())
        .slow_call_rate_threshold(thresholds.slow.into())
        .half_open_evaluation(evaluation)
        .build()
        .unwrap();
    let (clock, _) = Clock::manual(Duration::ZERO);
    let breaker = CircuitBreaker::with_clock("probed", config, clock);
    breaker.transition_to(State::Open).unwrap();
    breaker.transition_to(State::HalfOpen).unwrap();
    breaker
}

fn record(breaker: &CircuitBreaker, probe: Probe) -> State {
    assert!(breaker.try_acquire_permission());
    match probe {
        Probe::Success => breaker.on_success(Duration::ZERO),
        Probe::Failure => breaker.on_error(Duration::ZERO, &[]),
        Probe::Slow => breaker.on_success(Duration::from_hours(1)),
    }
    breaker.state()
}

/// Every order of outcomes of `length` probes.
fn orders(length: usize) -> Vec<Vec<Probe>> {
    (0..length).fold(vec![Vec::new()], |orders, _| {
        let longer =
            |order: &Vec<Probe>| Probe::ALL.map(|next| [order.as_slice(), &[next]].concat());
        orders.iter().flat_map(longer).collect()
    })
}

/// Runs every order of outcomes and compares the state after each with what `expected` says of the
/// outcomes so far, up to the decision.
fn check(evaluation: HalfOpenEvaluation, expected: impl Fn(Thresholds, &[Probe]) -> State) {
    for thresholds in Thresholds::all() {
        for order in orders(PERMITTED) {
            let breaker = half_open(evaluation, thresholds);
            for done in 1..=PERMITTED {
                let state = record(&breaker, order[done - 1]);
                let seen = &order[..done];
                assert_eq!(state, expected(thresholds, seen), "{thresholds:?} {seen:?}");
                if state != State::HalfOpen {
                    break;
                }
            }
        }
    }
}

/// Runs orders written as `+` and `-` with a failure threshold; the breaker decides on the last of
/// each, and not earlier.
fn check_table(evaluation: HalfOpenEvaluation, table: &[(u32, &str, State)]) {
    for &(failure, order, decision) in table {
        let breaker = half_open(evaluation, Thresholds { failure, slow: 100 });
        for (index, outcome) in order.chars().enumerate() {
            let probe = if outcome == '+' { Probe::Success } else { Probe::Failure };
            let expected = if index + 1 == order.len() { decision } else { State::HalfOpen };
            assert_eq!(record(&breaker, probe), expected, "{failure} % {order} at {index}");
        }
    }
}

#[test]
fn an_eager_breaker_decides_at_the_minimum_on_what_is_there() {
    check_table(
        HalfOpenEvaluation::Eager,
        &[
            (15, "+++", State::Closed),
            (15, "++-", State::Open),
            (15, "-++", State::Open),
            (25, "+-+", State::Open),
            (50, "-++", State::Closed),
            (50, "++-", State::Closed),
            (50, "-+-", State::Open),
            (50, "---", State::Open),
        ],
    );
}

#[test]
fn an_eager_breaker_follows_the_rule_in_every_order_of_outcomes() {
    check(HalfOpenEvaluation::Eager, |thresholds, seen| {
        if seen.len() < MINIMUM {
            State::HalfOpen
        } else if thresholds.reached(seen) {
            State::Open
        } else {
            State::Closed
        }
    });
}

#[test]
fn a_conclusive_breaker_decides_when_the_remaining_probes_cannot_change_the_verdict() {
    check_table(
        HalfOpenEvaluation::Conclusive,
        &[
            (15, "-", State::Open),
            (15, "++++-", State::Open),
            (15, "+++++", State::Closed),
            (25, "--", State::Open),
            (25, "-+++-", State::Open),
            (25, "++++", State::Closed),
            (25, "-++++", State::Closed),
            (50, "---", State::Open),
            (50, "-+-+-", State::Open),
            (50, "+++", State::Closed),
            (50, "--+++", State::Closed),
        ],
    );
}

#[test]
fn a_conclusive_breaker_agrees_with_every_completion_in_every_order_of_outcomes() {
    check(HalfOpenEvaluation::Conclusive, |thresholds, seen| {
        let rest = orders(PERMITTED - seen.len());
        let opens = |rest: &Vec<Probe>| thresholds.reached(&[seen, rest].concat());
        match rest.iter().filter(|rest| opens(rest)).count() {
            0 => State::Closed,
            all if all == rest.len() => State::Open,
            _ => State::HalfOpen,
        }
    });
}

#[test]
fn the_open_time_grows_by_the_multiplier_up_to_the_cap_and_starts_anew_after_a_recovery() {
    let config = CircuitBreakerConfig::builder()
        .permitted_number_of_calls_in_half_open_state(1)
        .minimum_number_of_calls(1)
        .wait_duration_in_open_state(Duration::from_secs(5))
        .enable_exponential_backoff(true)
        .exponential_backoff_multiplier(5.0)
        .exponential_max_wait_duration_in_open_state(Duration::from_mins(3))
        .build()
        .unwrap();
    let (clock, hand) = Clock::manual(Duration::ZERO);
    let breaker = CircuitBreaker::with_clock("growing", config, clock);
    breaker.try_acquire().unwrap().failure();
    for seconds in [5, 25, 125, 180, 180] {
        let left = breaker.try_acquire().unwrap_err().retry_after().unwrap();
        assert_eq!(left, Duration::from_secs(seconds));
        hand.advance(left + Duration::from_nanos(1));
        breaker.try_acquire().unwrap().failure();
    }
    hand.advance(Duration::from_mins(3) + Duration::from_nanos(1));
    breaker.try_acquire().unwrap().success();
    assert_eq!(breaker.state(), State::Closed);
    breaker.try_acquire().unwrap().failure();
    let left = breaker.try_acquire().unwrap_err().retry_after().unwrap();
    assert_eq!(left, Duration::from_secs(5));
}
