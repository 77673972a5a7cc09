//! A call that takes more permissions than a period ever has.

use resilience_settings::Pattern;

use super::{Finding, Subjects};

const CODE: &str = "permits_above_limit";
const LIMIT: &str = "limit_for_period";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for together in subjects.together() {
        let Some(limiter) = together.member(Pattern::RateLimiter) else { continue };
        let permits = together.permits;
        if permits > limiter.settings().u32(LIMIT) {
            let message = format!(
                "{} takes `permits = {permits}` a call, which no period has: every call is refused",
                together.who
            );
            let instead = format!("write at least {permits} here, or fewer permits there");
            found.push(limiter.finding(CODE, LIMIT, message).instead(instead));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Subject, Together},
        *,
    };
    use crate::config::Settings;

    fn found(permits: u32) -> usize {
        let mut subjects = Subjects::default();
        let limiter = subjects.add(Subject::new("a", Settings::defaults(Pattern::RateLimiter)));
        subjects.join(Together::new("f".into(), permits, vec![limiter]));
        let mut found = Vec::new();
        check(&subjects, &mut found);
        found.len()
    }

    #[test]
    fn a_call_that_takes_more_than_a_period_has_is_told() {
        assert_eq!(found(51), 1);
    }

    #[test]
    fn a_call_that_takes_what_a_period_has_is_left_alone() {
        assert_eq!(found(50), 0);
    }
}
