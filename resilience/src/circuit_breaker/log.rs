use super::{
    State,
    engine::{Effect, Effects},
    event::defined,
};

/// A name of its own, so that filters do not depend on where this file is.
const TARGET: &str = "resilience::transition";

/// Writes state changes to the log; opening is what people want to be warned of.
pub(super) fn effects(name: &str, effects: &Effects) {
    for effect in effects {
        let Effect::Transition { from, to, before, shared, .. } = effect else { continue };
        // Left out where there were too few calls.
        let failure_rate = defined(before.rates.failure);
        let slow_call_rate = defined(before.rates.slow);
        if *to == State::Open {
            tracing::warn!(
                target: TARGET,
                circuit_breaker = name,
                from = from.as_str(),
                to = to.as_str(),
                failure_rate,
                slow_call_rate,
                shared,
                "circuit breaker opened"
            );
        } else {
            tracing::info!(
                target: TARGET,
                circuit_breaker = name,
                from = from.as_str(),
                to = to.as_str(),
                failure_rate,
                slow_call_rate,
                shared,
                "circuit breaker changed state"
            );
        }
    }
}

/// Warns of a breaker that cannot open because of a list that its errors can never be on.
pub(super) fn unnamed(name: &str) {
    tracing::warn!(
        target: "resilience",
        circuit_breaker = name,
        "an error without kinds counts as a success, because `record_errors` is set and cannot name \
         it; derive `ErrorKind` for the error type or write `record = path` at the attribute"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CircuitBreaker, CircuitBreakerConfig, test_support::capture::Capture};

    #[test]
    fn rates_are_logged_where_there_are_any() {
        let (capture, _guard) = Capture::start();
        let config = CircuitBreakerConfig::builder().minimum_number_of_calls(1).build();
        let breaker = CircuitBreaker::new("b", config.unwrap());
        breaker.transition_to(State::Open).unwrap();
        breaker.reset();
        breaker.try_acquire().unwrap().failure();
        let rates = capture.logs().into_iter().map(|log| {
            let rate = |name| log.fields.get(name).to_owned();
            (rate("failure_rate"), rate("slow_call_rate"))
        });
        let none = || (String::new(), String::new());
        let both = ("100.0".to_owned(), "0.0".to_owned());
        assert_eq!(rates.collect::<Vec<_>>(), [none(), none(), both]);
    }
}
