use std::time::Duration;

use super::{super::time::readable, AT_MOST, between, count, trial};
use crate::{
    CircuitBreakerConfig,
    circuit_breaker::{FailureCounting, HalfOpenEvaluation, SlidingWindowType},
};

pub(super) fn sentences(breaker: &CircuitBreakerConfig) -> Vec<String> {
    let mut told = Vec::new();
    match breaker.failure_counting() {
        FailureCounting::Rate => told.extend(opens_by_rate(breaker)),
        FailureCounting::Consecutive => told.push(opens_in_a_row(breaker)),
    }
    told.extend(trial::sentences(breaker));
    told.push(what_counts(breaker));
    told.push(format!("While it is open, every call is refused: {}.", open_times(breaker)));
    told.push(recovers(breaker));
    told.push(outage(breaker));
    told
}

fn opens_by_rate(breaker: &CircuitBreakerConfig) -> Vec<String> {
    let window = match breaker.sliding_window_type() {
        SlidingWindowType::CountBased => {
            format!("the last {}", count(breaker.sliding_window_size().into(), "call"))
        }
        SlidingWindowType::TimeBased => {
            let window = Duration::from_secs(breaker.sliding_window_size().into());
            format!("the calls of the last {}", readable(window))
        }
    };
    let failed = format!(
        "Opens once {}% of {window} failed, from {} on.",
        breaker.failure_rate_threshold(),
        count(breaker.window_minimum().into(), "call")
    );
    let slow = breaker.slow_call_rate_enabled().then(|| {
        format!(
            "Opens as well once {}% of them took longer than {}.",
            breaker.slow_call_rate_threshold(),
            readable(breaker.slow_call_duration_threshold())
        )
    });
    [failed].into_iter().chain(slow).collect()
}

fn opens_in_a_row(breaker: &CircuitBreakerConfig) -> String {
    let of_kinds: Vec<String> = breaker
        .consecutive_failures_by_kind()
        .map(|(kind, limit)| format!("{limit} of the kind {kind}"))
        .chain([count(breaker.consecutive_failures().into(), "failure")])
        .collect();
    format!("Opens after {} in a row.", of_kinds.join(", or "))
}

fn what_counts(breaker: &CircuitBreakerConfig) -> String {
    let failures = match breaker.record_errors() {
        [] => "Every error is a failure".to_owned(),
        kinds => format!(
            "Timeouts and errors of these kinds are failures: {}; other errors are successes",
            kinds.join(", ")
        ),
    };
    match breaker.ignore_errors() {
        [] => format!("{failures}."),
        kinds => format!("{failures}; these count as neither: {}.", kinds.join(", ")),
    }
}

/// How long the given opening in a row lasts.
fn open_time(breaker: &CircuitBreakerConfig, opening: u32) -> String {
    let [least, most] = [0.0, AT_MOST].map(|random| breaker.open_time(opening, random));
    between(least, most)
}

fn open_times(breaker: &CircuitBreakerConfig) -> String {
    let first = open_time(breaker, 1);
    if !breaker.enable_exponential_backoff() {
        return format!("for {first}");
    }
    let further: Vec<String> = (2..=5).map(|opening| open_time(breaker, opening)).collect();
    let cap = breaker
        .exponential_max_wait_duration_in_open_state()
        .map_or_else(|| "without limit".to_owned(), |cap| format!("up to {}", readable(cap)));
    format!(
        "for {first} at first, then {} and so on {cap} while it does not recover",
        further.join(", ")
    )
}

fn recovers(breaker: &CircuitBreakerConfig) -> String {
    let probes = count(breaker.permitted_number_of_calls_in_half_open_state().into(), "probe");
    let longest = breaker.max_wait_duration_in_half_open_state();
    let limit = if longest < Duration::from_millis(1) {
        String::new()
    } else {
        let to = breaker.transition_to_state_after_wait_duration();
        format!("; after {} without a verdict it goes to {to}", readable(longest))
    };
    format!("Then up to {probes} are let through: {}{limit}.", verdict(breaker))
}

/// What closes a half-open breaker and what opens it again.
fn verdict(breaker: &CircuitBreakerConfig) -> String {
    let in_a_row = breaker.half_open_success_threshold().map(|successes| match successes {
        1 => "the first that succeeds closes it".to_owned(),
        n => format!("{n} that succeed in a row close it"),
    });
    let failed = format!("{}% of them failed", breaker.half_open_failure_rate_threshold());
    let bad = if breaker.slow_call_rate_enabled() {
        format!("{failed} or {}% were slow", breaker.slow_call_rate_threshold())
    } else {
        failed
    };
    match (in_a_row, breaker.half_open_evaluation()) {
        (Some(in_a_row), _) if breaker.half_open_counts_in_a_row() => {
            format!("{in_a_row}, and the first that fails opens it again")
        }
        (Some(in_a_row), _) => format!("{in_a_row}, and it opens again once {bad}"),
        (None, HalfOpenEvaluation::Eager) => format!(
            "once {} are back it opens again if {bad}, and closes otherwise",
            breaker.half_open_minimum()
        ),
        (None, HalfOpenEvaluation::Conclusive) => format!(
            "it opens again if {bad}, and closes otherwise, as soon as those to come cannot change that"
        ),
    }
}

fn outage(breaker: &CircuitBreakerConfig) -> String {
    let cap = breaker.exponential_max_wait_duration_in_open_state();
    let longest = match (breaker.enable_exponential_backoff(), cap) {
        (true, None) => {
            return "With a wait that grows without limit, callers may be refused long \
                                after the callee is well again."
                .to_owned();
        }
        (true, Some(cap)) => cap,
        (false, _) => breaker.open_time(1, AT_MOST),
    };
    format!(
        "Once the callee is well again, callers are refused for {} more at most, and then until the \
         probes are back.",
        readable(longest)
    )
}
