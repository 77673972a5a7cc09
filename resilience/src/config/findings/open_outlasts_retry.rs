//! A retry of what an open breaker refuses, which gives up before the breaker lets anything through.

use std::time::Duration;

use resilience_settings::{Pattern, format_duration};

use super::{Finding, Subjects};
use crate::retry::RetryConfig;

const CODE: &str = "open_outlasts_retry";
const OPEN: &str = "wait_duration_in_open_state";

/// How many waits are added up at most.
const MOST: u32 = 100;

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for together in subjects.together() {
        let Some((retry, breaker)) = together.pair(Pattern::Retry, Pattern::CircuitBreaker) else {
            continue;
        };
        let Ok(config) = RetryConfig::from_settings(retry.settings()) else { continue };
        if !config.retry_errors().iter().any(|kind| kind == "call_not_permitted") {
            continue;
        }
        let open = breaker.duration(OPEN);
        let held = longest(&config, open);
        if held < open {
            let message = format!(
                "{} retries what the open breaker refuses for at most {}, and {} = {}: \
                 who calls as it opens is held up, and refused all the same",
                together.who,
                format_duration(held),
                breaker.path(OPEN),
                format_duration(open)
            );
            found.push(retry.finding(CODE, "retry_errors", message).instead(
                "take `call_not_permitted` off the list, or let the breaker open for less",
            ));
        }
    }
}

/// How long refused calls wait in all: each time for as long as the breaker says, within
/// `retry_after_max`, or for the interval where that is longer.
fn longest(config: &RetryConfig, open: Duration) -> Duration {
    let mut waited = Duration::ZERO;
    for attempt in 1..config.max_attempts().min(MOST) {
        let asked = open.saturating_sub(waited).min(config.retry_after_max());
        let wait = config.interval().wait(attempt, 0.0).unwrap_or_default().max(asked);
        let after = waited.saturating_add(wait);
        if config.total_timeout().is_some_and(|total| after > total) || waited >= open {
            break;
        }
        waited = after;
    }
    waited
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{super::support::fires, *};

    fn text(retry: &str, open: &str) -> String {
        format!(
            "retry.instances.pay: {{ {retry} }}\ncircuitbreaker.instances.pay: {{ wait_duration_in_open_state: {open} }}"
        )
    }

    const RETRIED: &str = "retry_errors: [call_not_permitted, io]";

    #[test]
    fn retries_that_end_while_the_breaker_is_open_are_told() {
        assert!(fires(CODE, &text(RETRIED, "2m")));
        assert!(fires(CODE, &text(&format!("{RETRIED}, total_timeout: 5s"), "10s")));
        assert!(fires(CODE, &text(&format!("{RETRIED}, retry_after_max: 1s"), "10s")));
    }

    #[test]
    fn retries_that_see_the_breaker_half_open_are_left_alone() {
        assert!(!fires(CODE, &text(RETRIED, "10s")));
        assert!(!fires(CODE, &text(RETRIED, "1m")));
        assert!(!fires(CODE, &text("retry_errors: [io]", "2m")));
    }
}
