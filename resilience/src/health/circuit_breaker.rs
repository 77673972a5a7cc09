use super::{Detail, Indicator, Status};
use crate::{
    CircuitBreaker,
    circuit_breaker::{CircuitBreakerConfig, Observation, State, percentage},
};

/// How a breaker is, if it is registered.
pub(super) fn indicator(breaker: &CircuitBreaker) -> Option<Indicator> {
    let Observation { state, config, metrics, .. } = breaker.observe();
    let text = |rate| Detail::Text(percentage(rate));
    config.register_health_indicator().then(|| Indicator {
        name: breaker.name().to_owned(),
        status: status(state, &config),
        details: vec![
            ("failureRate", text(metrics.failure_rate)),
            ("failureRateThreshold", text(config.failure_rate_threshold())),
            ("slowCallRate", text(metrics.slow_call_rate)),
            ("slowCallRateThreshold", text(config.slow_call_rate_threshold())),
            ("bufferedCalls", Detail::count(metrics.buffered_calls)),
            ("slowCalls", Detail::count(metrics.slow_calls)),
            ("slowFailedCalls", Detail::count(metrics.slow_failed_calls)),
            ("failedCalls", Detail::count(metrics.failed_calls)),
            ("notPermittedCalls", Detail::count(metrics.not_permitted_calls)),
            ("state", Detail::Text(state.to_string())),
        ],
    })
}

fn status(state: State, config: &CircuitBreakerConfig) -> Status {
    match state {
        State::Closed => Status::Up,
        State::Open if config.allow_health_indicator_to_fail() => Status::Down,
        State::Open => Status::CircuitOpen,
        State::HalfOpen => Status::CircuitHalfOpen,
        State::ForcedOpen | State::Disabled | State::MetricsOnly => Status::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaker(initial: State, may_fail: bool) -> CircuitBreaker {
        let config = CircuitBreakerConfig::builder()
            .initial_state(initial)
            .register_health_indicator(true)
            .allow_health_indicator_to_fail(may_fail)
            .build();
        CircuitBreaker::new("payment", config.unwrap())
    }

    #[test]
    fn every_state_has_its_status_and_only_open_may_be_down() {
        for (state, status, of_one_that_may_fail) in [
            (State::Closed, Status::Up, Status::Up),
            (State::Open, Status::CircuitOpen, Status::Down),
            (State::HalfOpen, Status::CircuitHalfOpen, Status::CircuitHalfOpen),
            (State::ForcedOpen, Status::Unknown, Status::Unknown),
            (State::Disabled, Status::Unknown, Status::Unknown),
            (State::MetricsOnly, Status::Unknown, Status::Unknown),
        ] {
            for (may_fail, expected) in [(false, status), (true, of_one_that_may_fail)] {
                let indicator = indicator(&breaker(state, may_fail)).unwrap();
                assert_eq!(indicator.status, expected, "{state}, {may_fail}");
            }
        }
    }

    #[test]
    fn the_details_are_resilience4js() {
        let details = indicator(&breaker(State::Closed, false)).unwrap().details;
        let text = |text: &str| Detail::Text(text.to_owned());
        assert_eq!(
            details[..2],
            [("failureRate", text("-1.0%")), ("failureRateThreshold", text("50.0%"))]
        );
        assert_eq!(details[4], ("bufferedCalls", Detail::Number(0)));
        assert_eq!(details[9], ("state", text("CLOSED")));
    }

    #[test]
    fn a_breaker_that_is_not_registered_is_not_shown() {
        let breaker = CircuitBreaker::new("payment", CircuitBreakerConfig::default());
        assert_eq!(indicator(&breaker), None);
    }
}
