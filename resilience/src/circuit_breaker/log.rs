use super::{
    State,
    engine::{Effect, Effects},
    event::defined,
};

/// Writes state changes to the log; opening is what people want to be warned of.
pub(super) fn effects(name: &str, effects: &Effects) {
    for effect in effects {
        let Effect::Transition { from, to, before, .. } = effect else { continue };
        // Left out where there were too few calls.
        let failure_rate = defined(before.rates.failure);
        let slow_call_rate = defined(before.rates.slow);
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::{
        Event, Subscriber,
        field::{Field, Visit},
        subscriber::with_default,
    };
    use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt, registry};

    use super::*;
    use crate::{CircuitBreaker, CircuitBreakerConfig};

    /// Keeps the numbers that are logged, with their names.
    #[derive(Clone, Default)]
    struct Numbers(Arc<Mutex<Vec<String>>>);

    impl<S: Subscriber> Layer<S> for Numbers {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            event.record(&mut self.clone());
        }
    }

    impl Visit for Numbers {
        fn record_f64(&mut self, field: &Field, value: f64) {
            self.0.lock().expect("no panic under it").push(format!("{} {value}", field.name()));
        }

        fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
    }

    #[test]
    fn rates_are_logged_where_there_are_any() {
        let numbers = Numbers::default();
        with_default(registry().with(numbers.clone()), || {
            let config = CircuitBreakerConfig::builder().minimum_number_of_calls(1).build();
            let breaker = CircuitBreaker::new("b", config.unwrap());
            breaker.transition_to(State::Open).unwrap();
            assert!(numbers.0.lock().unwrap().is_empty());
            breaker.reset();
            breaker.try_acquire().unwrap().failure();
        });
        assert_eq!(*numbers.0.lock().unwrap(), ["failure_rate 100", "slow_call_rate 0"]);
    }
}
