//! Probes that lose their slot while they may still be under way.

use resilience_settings::{Pattern, format_duration};

use super::{Finding, Subjects};

const CODE: &str = "lease_below_limit";
const LEASE: &str = "probe_lease";
const LIMIT: &str = "timeout_duration";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for together in subjects.together() {
        let pair = together.pair(Pattern::CircuitBreaker, Pattern::TimeLimiter);
        let Some((breaker, limiter)) = pair else { continue };
        let (lease, limit) = (breaker.duration(LEASE), limiter.duration(LIMIT));
        if breaker.wrote(LEASE) && lease < limit {
            let message = format!(
                "a probe may take {} ({}) and gives its slot to another one before: more probes run \
                 than are permitted",
                format_duration(limit),
                limiter.path(LIMIT)
            );
            let instead = format!("write more than {}", format_duration(limit));
            found.push(breaker.finding(CODE, LEASE, message).instead(instead));
        }
    }
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{super::support::fires, *};

    fn text(lease: &str, limit: &str) -> String {
        format!(
            "circuitbreaker.instances.pay: {{ {lease} }}\ntimelimiter.instances.pay: {{ timeout_duration: {limit} }}"
        )
    }

    #[test]
    fn a_lease_below_the_limit_is_told() {
        assert!(fires(CODE, &text("probe_lease: 1s", "2s")));
    }

    #[test]
    fn a_lease_above_the_limit_or_that_nobody_wrote_is_left_alone() {
        assert!(!fires(CODE, &text("probe_lease: 3s", "2s")));
        assert!(!fires(CODE, &text("", "2m")));
    }
}
