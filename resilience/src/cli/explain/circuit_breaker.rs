use std::time::Duration;

use super::{super::time::readable, AT_MOST, between, count, trial};
use crate::{
    CircuitBreakerConfig,
    circuit_breaker::{FailureCounting, HalfOpenEvaluation, SlidingWindowType, State},
};

pub(super) fn sentences(breaker: &CircuitBreakerConfig) -> Vec<String> {
    let mut told: Vec<String> = starts(breaker).into_iter().collect();
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

/// Where it starts in another state than all that follows is about.
fn starts(breaker: &CircuitBreakerConfig) -> Option<String> {
    let state = breaker.initial_state();
    let what = match state {
        State::Closed => return None,
        State::Open => {
            format!("calls are refused for {}, and then probes decide", open_time(breaker, 1))
        }
        State::HalfOpen => "probes decide at once".to_owned(),
        State::Disabled => {
            "every call passes and none counts, until it is closed by hand".to_owned()
        }
        State::MetricsOnly => {
            "every call passes and counts, and none opens it, until it is closed by hand".to_owned()
        }
        State::ForcedOpen => "every call is refused, until it is closed by hand".to_owned(),
    };
    Some(format!("Starts {state}: {what}. The rest is about the time after that."))
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
    let ignored = match breaker.ignore_errors() {
        [] => return format!("{failures}."),
        kinds => format!("{failures}; these count as neither: {}", kinds.join(", ")),
    };
    if breaker.ignore_errors().iter().any(|kind| kind == "timeout") {
        format!("{ignored}, but for the time limiter's own timeouts, which are failures.")
    } else {
        format!("{ignored}.")
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

/// The longest that one opening lasts; `None` where it grows without limit.
pub(super) fn longest_open(breaker: &CircuitBreakerConfig) -> Option<Duration> {
    if breaker.enable_exponential_backoff() && breaker.exponential_backoff_multiplier() > 1.0 {
        breaker.exponential_max_wait_duration_in_open_state()
    } else {
        Some(breaker.open_time(1, AT_MOST))
    }
}

fn outage(breaker: &CircuitBreakerConfig) -> String {
    let Some(longest) = longest_open(breaker) else {
        return "With a wait that grows without limit, callers may be refused long after the callee is \
                well again."
            .to_owned();
    };
    let half_open = breaker.max_wait_duration_in_half_open_state();
    let reopens = half_open >= Duration::from_millis(1)
        && breaker.transition_to_state_after_wait_duration() == State::Open;
    let again = if reopens {
        format!("; where they are not within {}, it is all to do again", readable(half_open))
    } else {
        String::new()
    };
    format!(
        "Once the callee is well again and the last failure is back, callers are refused for {} more at most, and then until the \
         probes are back{again}.",
        readable(longest)
    )
}
