//! Attempts whose waits alone take longer than the whole call may: they never start.

use std::time::Duration;

use resilience_settings::{Pattern, format_duration};

use super::{Finding, Subjects};
use crate::retry::{Interval, RetryConfig};

const CODE: &str = "attempts_beyond_total";

/// How many waits are added up at most: who has so many attempts counts on the total to end them.
const MOST: u32 = 100;

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for retry in subjects.instances(Pattern::Retry) {
        let Ok(config) = RetryConfig::from_settings(retry.settings()) else { continue };
        let (attempts, Some(total)) = (config.max_attempts(), config.total_timeout()) else {
            continue;
        };
        if let Some(most) = most_attempts(config.interval(), attempts, total) {
            let total = format_duration(total);
            let message = format!(
                "the waits alone leave no time for more than {most} within `total_timeout` = {total}"
            );
            let instead =
                format!("write `max_attempts: {most}`, shorter waits or a longer `total_timeout`");
            found.push(retry.finding(CODE, "max_attempts", message).instead(instead));
        }
    }
}

/// How many attempts can start, if that is fewer than there may be: were they to take no time, and
/// the waits as short as they can be.
fn most_attempts(interval: &Interval, attempts: u32, total: Duration) -> Option<u32> {
    let mut waited = Duration::ZERO;
    for attempt in 1..attempts.min(MOST) {
        waited = waited.saturating_add(interval.wait(attempt, 0.0)?);
        if waited > total {
            return Some(attempt);
        }
    }
    None
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{
        super::support::{fires, texts},
        *,
    };

    #[test]
    fn attempts_that_never_start_are_told() {
        let text =
            "retry.instances.a: { max_attempts: 5, wait_duration: 1s, total_timeout: 2500ms }";
        assert_eq!(
            texts(CODE, text),
            [
                "<text>:1: retry.instances.a.max_attempts = 5: the waits alone leave no time for more \
              than 3 within `total_timeout` = 2500ms; write `max_attempts: 3`, shorter waits or a \
              longer `total_timeout`"
            ]
        );
    }

    #[test]
    fn attempts_that_can_start_are_left_alone() {
        for settings in [
            "max_attempts: 3, wait_duration: 1s, total_timeout: 2s",
            "max_attempts: 5, wait_duration: 1s",
            "max_attempts: 4294967295, wait_duration: 0, total_timeout: 1s",
            "max_attempts: 3, wait_duration: 1s, total_timeout: 1s, enable_randomized_wait: true",
        ] {
            assert!(!fires(CODE, &format!("retry.instances.a: {{ {settings} }}")), "{settings}");
        }
    }
}
