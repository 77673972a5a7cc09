//! A breaker that counts what the layers within it refuse, as Resilience4j's does: a full bulkhead
//! opens it although the callee is well.

use resilience_settings::Pattern;

use super::{Finding, Subjects};

const CODE: &str = "refusals_counted";
const IGNORED: &str = "ignore_errors";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for together in subjects.together() {
        let Some(breaker) = together.member(Pattern::CircuitBreaker) else { continue };
        let (recorded, ignored) =
            (breaker.settings().kinds("record_errors"), breaker.settings().kinds(IGNORED));
        let counted = [
            (Pattern::Bulkhead, "bulkhead_full"),
            (Pattern::ThreadPoolBulkhead, "bulkhead_full"),
            (Pattern::RateLimiter, "request_not_permitted"),
        ];
        let mut kinds: Vec<&str> = counted
            .into_iter()
            .filter(|(pattern, _)| together.member(*pattern).is_some())
            .map(|(_, kind)| kind)
            // Who lists one has thought of it.
            .filter(|kind| !ignored.iter().chain(&**recorded).any(|listed| listed == kind))
            .collect();
        kinds.dedup(); // both types of bulkhead refuse with one kind
        if kinds.is_empty() {
            continue;
        }
        let counted = if recorded.is_empty() { "failures" } else { "successes" };
        let kinds = kinds.join(", ");
        let message = format!("{} counts {kinds} as {counted} of the callee", together.who);
        let instead = format!("add {kinds} where they should not count");
        found.push(breaker.finding(CODE, IGNORED, message).hint().instead(instead));
    }
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{
        super::{
            Severity,
            support::{fires, found, texts},
        },
        *,
    };

    fn text(breaker: &str) -> String {
        format!(
            "circuitbreaker.instances.pay: {{ {breaker} }}\nbulkhead.instances.pay: {{}}\nratelimiter.instances.pay: {{}}"
        )
    }

    #[test]
    fn j15_refusals_that_count_are_hinted_at() {
        let texts = texts(CODE, &text(""));
        assert!(texts[0].contains("counts bulkhead_full, request_not_permitted as failures"));
        assert!(found(&text("")).iter().all(|finding| finding.severity == Severity::Hint));
    }

    #[test]
    fn one_kind_of_both_types_of_bulkhead_is_told_once() {
        let texts = texts(CODE, &(text("") + "\nthread-pool-bulkhead.instances.pay: {}"));
        assert!(texts[0].contains("counts bulkhead_full, request_not_permitted as"), "{texts:?}");
    }

    #[test]
    fn beside_a_record_list_refusals_count_as_successes() {
        assert!(texts(CODE, &text("record_errors: [io]"))[0].contains("as successes"));
    }

    #[test]
    fn j15_refusals_that_are_ignored_or_recorded_are_left_alone() {
        assert!(!fires(CODE, &text("ignore_errors: [bulkhead_full, request_not_permitted]")));
        let both = "record_errors: [bulkhead_full], ignore_errors: [request_not_permitted]";
        assert!(!fires(CODE, &text(both)));
        assert!(!fires(CODE, "circuitbreaker.instances.pay: {}"));
    }
}
