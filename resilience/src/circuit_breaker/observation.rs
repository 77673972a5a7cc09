use std::sync::Arc;

use super::{CircuitBreakerConfig, CircuitBreakerMetrics, State};

/// What an observer finds at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Observation {
    /// The state that a call would meet.
    pub(crate) state: State,
    /// Since when, in nanoseconds on the instance's clock.
    #[cfg(feature = "actuator")]
    pub(crate) since: u64,
    /// OPEN: until when.
    #[cfg(feature = "actuator")]
    pub(crate) open_until: Option<u64>,
    pub(crate) config: Arc<CircuitBreakerConfig>,
    pub(crate) metrics: CircuitBreakerMetrics,
}

/// A rate as Resilience4j writes it, `-1.0%` where it is undefined.
pub(crate) fn percentage(rate: f32) -> String {
    format!("{rate:?}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_has_as_many_digits_as_java_gives_it() {
        let texts = [-1.0, 50.0, 100.0 / 3.0].map(percentage);
        assert_eq!(texts, ["-1.0%", "50.0%", "33.333332%"]);
    }
}
