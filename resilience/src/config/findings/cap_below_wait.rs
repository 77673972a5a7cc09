//! A wait that is to grow, up to less than it starts with.

use resilience_settings::{Pattern, format_duration};

use super::{Finding, Subjects};

const CODE: &str = "cap_below_wait";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for (pattern, wait, cap) in [
        (Pattern::Retry, "wait_duration", "exponential_max_wait_duration"),
        (
            Pattern::CircuitBreaker,
            "wait_duration_in_open_state",
            "exponential_max_wait_duration_in_open_state",
        ),
    ] {
        for one in subjects.instances(pattern) {
            let Some(most) = one.settings().optional_duration(cap) else { continue };
            let first = one.duration(wait);
            if one.settings().bool("enable_exponential_backoff") && most < first {
                let message = format!(
                    "is less than `{wait}` = {}: no wait ever grows",
                    format_duration(first)
                );
                let instead = format!("write more than {}", format_duration(first));
                found.push(one.finding(CODE, cap, message).instead(instead));
            }
        }
    }
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{super::support::fires, *};

    #[test]
    fn a_cap_below_the_first_wait_is_told() {
        assert!(fires(
            CODE,
            "retry.instances.a: { enable_exponential_backoff: true, exponential_max_wait_duration: 100ms }"
        ));
        assert!(fires(
            CODE,
            "circuitbreaker.instances.a: { enable_exponential_backoff: true, exponential_max_wait_duration_in_open_state: 10s }"
        ));
    }

    #[test]
    fn a_cap_above_the_first_wait_is_left_alone() {
        assert!(!fires(
            CODE,
            "retry.instances.a: { enable_exponential_backoff: true, exponential_max_wait_duration: 500ms }"
        ));
    }
}
