//! A call counts as slow from a time on at which it was cut short already.

use std::time::Duration;

use resilience_settings::{Pattern, format_duration};

use super::{Finding, Subjects};

const CODE: &str = "slow_above_limit";
const SLOW: &str = "slow_call_duration_threshold";
const LIMIT: &str = "timeout_duration";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for together in subjects.together() {
        let pair = together.pair(Pattern::CircuitBreaker, Pattern::TimeLimiter);
        let Some((breaker, limiter)) = pair else { continue };
        // The breaker's time includes the wait for the rate limiter, which the limit does not.
        let wait = together
            .member(Pattern::RateLimiter)
            .map_or(Duration::ZERO, |limiter| limiter.duration("timeout_duration"));
        let (slow, limit) = (breaker.duration(SLOW), limiter.duration(LIMIT));
        let most = limit.saturating_add(wait);
        if breaker.settings().bool("slow_call_rate_enabled") && breaker.wrote(SLOW) && slow > most {
            let message = format!(
                "no call takes that long, as {} has {} = {}: none ever counts as slow",
                together.who,
                limiter.path(LIMIT),
                format_duration(limit)
            );
            let instead = format!("write less than {}", format_duration(most));
            found.push(breaker.finding(CODE, SLOW, message).instead(instead));
        }
    }
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{
        super::support::{fires, texts},
        *,
    };

    fn text(slow: &str, limit: &str) -> String {
        format!(
            "circuitbreaker.instances.pay: {{ {slow} }}\ntimelimiter.instances.pay: {{ {limit} }}"
        )
    }

    #[test]
    fn a_slow_threshold_above_the_limit_is_told() {
        assert_eq!(
            texts(CODE, &text("slow_call_duration_threshold: 5s", "timeout_duration: 2s")),
            [
                "<text>:1: circuitbreaker.instances.pay.slow_call_duration_threshold = 5s: no call takes \
              that long, as the name 'pay' has timelimiter.instances.pay.timeout_duration = 2s: none ever counts as slow; write less than 2s"
            ]
        );
    }

    #[test]
    fn a_slow_threshold_that_can_be_passed_or_was_not_written_is_left_alone() {
        assert!(!fires(CODE, &text("slow_call_duration_threshold: 1s", "timeout_duration: 2s")));
        assert!(!fires(CODE, &text("", "timeout_duration: 2s")));
        assert!(!fires(CODE, &text("slow_call_duration_threshold: 5s", "enabled: false")));
        let off = "slow_call_duration_threshold: 5s, slow_call_rate_enabled: false";
        assert!(!fires(CODE, &text(off, "")));
    }

    #[test]
    fn the_wait_for_a_rate_limiter_makes_calls_slow_too() {
        let text = text("slow_call_duration_threshold: 3s", "timeout_duration: 2s");
        let with =
            |wait| format!("{text}\nratelimiter.instances.pay: {{ timeout_duration: {wait} }}");
        assert!(!fires(CODE, &with("2s")));
        assert!(fires(CODE, &with("500ms")));
    }

    #[test]
    fn instances_of_other_names_have_nothing_to_do_with_each_other() {
        let text = text("slow_call_duration_threshold: 5s", "timeout_duration: 2s");
        assert!(!fires(
            CODE,
            &text.replace("timelimiter.instances.pay", "timelimiter.instances.x")
        ));
    }
}
