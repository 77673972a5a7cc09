//! A time limit on each attempt that leaves no time for another one: a timeout is never retried.

use resilience_settings::{Pattern, format_duration};

use super::{Finding, Subjects};
use crate::retry::RetryConfig;

const CODE: &str = "timeout_beyond_total";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for together in subjects.together() {
        let Some((retry, limiter)) = together.pair(Pattern::Retry, Pattern::TimeLimiter) else {
            continue;
        };
        let Ok(config) = RetryConfig::from_settings(retry.settings()) else { continue };
        let (Some(total), Some(wait)) = (config.total_timeout(), config.interval().wait(1, 0.0))
        else {
            continue;
        };
        let limit = limiter.duration("timeout_duration");
        if config.max_attempts() > 1 && limit.saturating_add(wait) > total {
            let message = format!(
                "{} has {} = {}: after an attempt that times out there is no time left for another",
                together.who,
                limiter.path("timeout_duration"),
                format_duration(limit)
            );
            let instead = format!(
                "write more than {}, or a shorter time limit",
                format_duration(limit.saturating_add(wait))
            );
            found.push(retry.finding(CODE, "total_timeout", message).instead(instead));
        }
    }
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{super::support::fires, *};

    fn text(retry: &str) -> String {
        format!(
            "retry.instances.pay: {{ {retry} }}\ntimelimiter.instances.pay: {{ timeout_duration: 2s }}"
        )
    }

    #[test]
    fn a_limit_that_leaves_no_time_for_a_retry_is_told() {
        assert!(fires(CODE, &text("total_timeout: 2s")));
    }

    #[test]
    fn a_limit_that_leaves_time_for_a_retry_is_left_alone() {
        assert!(!fires(CODE, &text("total_timeout: 5s")));
        assert!(!fires(CODE, &text("total_timeout: 2s, max_attempts: 1")));
        assert!(!fires(CODE, &text("")));
    }
}
