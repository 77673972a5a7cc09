//! A time limit that is over before the wait for a bulkhead's slot is: the limit includes that wait.

use resilience_settings::{Pattern, format_duration};

use super::{Finding, Subjects};

const CODE: &str = "limit_below_wait";
const LIMIT: &str = "timeout_duration";
const WAIT: &str = "max_wait_duration";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for together in subjects.together() {
        let pair = together.pair(Pattern::TimeLimiter, Pattern::Bulkhead);
        let Some((limiter, bulkhead)) = pair else { continue };
        let (limit, wait) = (limiter.duration(LIMIT), bulkhead.duration(WAIT));
        if limit <= wait {
            let message = format!(
                "{} has {} = {}: the limit includes that wait, so a full bulkhead shows as timeouts",
                together.who,
                bulkhead.path(WAIT),
                format_duration(wait)
            );
            let instead = format!(
                "write a limit above {}, or a `{WAIT}` well below {}",
                format_duration(wait),
                format_duration(limit)
            );
            found.push(limiter.finding(CODE, LIMIT, message).instead(instead));
        }
    }
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{
        super::support::{fires, texts},
        *,
    };

    fn text(limit: &str, wait: &str) -> String {
        format!("timelimiter.instances.pay: {{ {limit} }}\nbulkhead.instances.pay: {{ {wait} }}")
    }

    #[test]
    fn a_limit_below_the_wait_for_a_slot_is_told() {
        let texts = texts(CODE, &text("timeout_duration: 2s", "max_wait_duration: 5s"));
        assert!(texts[0].starts_with("<text>:1: timelimiter.instances.pay.timeout_duration = 2s: the name 'pay' has bulkhead.instances.pay.max_wait_duration = 5s"), "{}", texts[0]);
        // A limit that nobody wrote counts too: the wait was.
        assert!(fires(CODE, &text("", "max_wait_duration: 1s")));
    }

    #[test]
    fn a_limit_above_the_wait_is_left_alone() {
        assert!(!fires(CODE, &text("timeout_duration: 2s", "max_wait_duration: 1s")));
        assert!(!fires(CODE, &text("", "")));
    }
}
