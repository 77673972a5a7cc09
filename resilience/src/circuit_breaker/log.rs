use super::{
    State,
    engine::{Effect, Effects},
};

/// Writes state changes to the log; opening is what people want to be warned of.
pub(super) fn effects(name: &str, effects: &Effects) {
    for effect in effects {
        let Effect::Transition { from, to, before, .. } = effect else { continue };
        let (failure_rate, slow_call_rate) = (before.rates.failure, before.rates.slow);
        if *to == State::Open {
            tracing::warn!(
                circuit_breaker = name,
                from = from.as_str(),
                to = to.as_str(),
                failure_rate,
                slow_call_rate,
                "circuit breaker opened"
            );
        } else {
            tracing::info!(
                circuit_breaker = name,
                from = from.as_str(),
                to = to.as_str(),
                failure_rate,
                slow_call_rate,
                "circuit breaker changed state"
            );
        }
    }
}

/// Warns of a breaker that cannot open because of a list that its errors can never be on.
pub(super) fn unnamed(name: &str) {
    tracing::warn!(
        circuit_breaker = name,
        "an error without kinds counts as a success, because `record_errors` is set and cannot name \
         it; derive `ErrorKind` for the error type or write `record = path` at the attribute"
    );
}
