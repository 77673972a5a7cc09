//! What a process admits by itself while the store is away.

use resilience_settings::Pattern;

use super::{Finding, Subjects};
use crate::rate_limiter::share_of;

const CODE: &str = "share_of_limit";
const POLICY: &str = "on_store_failure";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    let nodes = subjects.nodes();
    for limiter in subjects.instances(Pattern::RateLimiter) {
        let settings = limiter.settings();
        if !settings.is_global() || settings.optional_word(POLICY) != Some("local") {
            continue;
        }
        let limit = settings.u32("limit_for_period");
        let share = share_of(limit, nodes);
        let message = format!(
            "while the store is away each process admits {share} of {limit} calls a period"
        );
        let mut finding = limiter.finding(CODE, POLICY, message).hint();
        if nodes == 1 {
            finding = finding.instead("write at `redis.nodes` how many processes share the limit");
        }
        found.push(finding);
    }
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::super::support::{fires, texts};

    const GLOBAL: &str = "
redis: { url: redis://a, namespace: x, nodes: 3 }
ratelimiter.instances.orders: { limit_refresh_period: 1s, scope: global,
  on_store_failure: local }";

    #[test]
    fn the_share_of_a_process_is_told() {
        let expected = "<text>:4: ratelimiter.instances.orders.on_store_failure = local: while the \
                        store is away each process admits 16 of 50 calls a period";
        assert_eq!(texts(super::CODE, GLOBAL), [expected]);
    }

    #[test]
    fn a_share_that_is_the_whole_limit_is_told_how_to_be_less() {
        let texts = texts(super::CODE, &GLOBAL.replace(", nodes: 3", ""));
        assert!(texts[0].contains("admits 50 of 50 calls a period; write at `redis.nodes`"));
    }

    #[test]
    fn other_policies_have_no_share() {
        assert!(!fires(super::CODE, &GLOBAL.replace("local", "open")));
    }
}
