//! A half-open breaker that does not wait for as long as its probes may take.

use std::time::Duration;

use resilience_settings::{Pattern, format_duration};

use super::{Finding, Subjects};

const CODE: &str = "half_open_below_limit";
const HALF_OPEN: &str = "max_wait_duration_in_half_open_state";
const LIMIT: &str = "timeout_duration";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for together in subjects.together() {
        let pair = together.pair(Pattern::CircuitBreaker, Pattern::TimeLimiter);
        let Some((breaker, limiter)) = pair else { continue };
        let (longest, limit) = (breaker.duration(HALF_OPEN), limiter.duration(LIMIT));
        // Below a millisecond is without end.
        if longest >= Duration::from_millis(1) && longest < limit {
            let to = breaker.settings().word("transition_to_state_after_wait_duration");
            let message = format!(
                "a probe may take {} ({}), and the breaker goes to {to} before it is back",
                format_duration(limit),
                limiter.path(LIMIT)
            );
            let instead = format!("write more than {}", format_duration(limit));
            found.push(breaker.finding(CODE, HALF_OPEN, message).instead(instead));
        }
    }
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{super::support::fires, *};

    fn text(wait: &str) -> String {
        format!(
            "circuitbreaker.instances.pay: {{ {wait} }}\ntimelimiter.instances.pay: {{ timeout_duration: 2s }}"
        )
    }

    #[test]
    fn a_half_open_time_below_the_limit_is_told() {
        assert!(fires(CODE, &text("max_wait_duration_in_half_open_state: 1s")));
    }

    #[test]
    fn a_half_open_time_above_the_limit_or_without_end_is_left_alone() {
        assert!(!fires(CODE, &text("max_wait_duration_in_half_open_state: 3s")));
        assert!(!fires(CODE, &text("max_wait_duration_in_half_open_state: 0")));
        assert!(!fires(CODE, &text("")));
    }
}
