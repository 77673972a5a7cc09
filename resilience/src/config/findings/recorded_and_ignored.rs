//! A kind that is on the list of what counts and on that of what does not: ignoring wins.

use std::{collections::HashSet, sync::Arc};

use resilience_settings::Pattern;

use super::{Finding, Subject, Subjects};
use crate::config::shorten;

const CODE: &str = "recorded_and_ignored";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    let breakers = "the breaker could open on timeouts and slow calls only";
    for (pattern, key, never) in [
        (Pattern::CircuitBreaker, "record_errors", breakers),
        (Pattern::Retry, "retry_errors", "no error is ever retried"),
    ] {
        // Lists are inherited by many, and may be long.
        let mut known = HashSet::new();
        for one in subjects.instances(pattern) {
            let lists = [key, "ignore_errors"].map(|key| one.settings().kinds(key));
            if known.insert(lists.map(Arc::as_ptr)) {
                found.extend(overlap(one, key, lists, never));
            }
        }
    }
}

fn overlap(
    subject: &Subject,
    key: &str,
    [listed, ignored]: [&Arc<[String]>; 2],
    never: &str,
) -> Option<Finding> {
    let ignored: HashSet<&String> = ignored.iter().collect();
    let both: Vec<&str> =
        listed.iter().filter(|kind| ignored.contains(kind)).map(String::as_str).collect();
    if both.is_empty() {
        return None;
    }
    let kinds = shorten(&both.join(", "));
    let message = if both.len() == listed.len() {
        format!("`ignore_errors` has all of these too and wins: the list matches nothing, {never}")
    } else {
        format!("`ignore_errors` has {kinds} too and wins")
    };
    let instead = format!("take {kinds} off one of the two lists");
    Some(subject.finding(CODE, key, message).instead(instead))
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{
        super::support::{fires, texts},
        *,
    };

    #[test]
    fn a_list_that_matches_nothing_is_told() {
        let breaker =
            "circuitbreaker.instances.pay: { record_errors: [io], ignore_errors: [io, timeout] }";
        assert!(
            texts(CODE, breaker)[0].contains("the list matches nothing, the breaker could open")
        );
        let retry = "retry.instances.pay: { retry_errors: [io], ignore_errors: [io] }";
        assert!(texts(CODE, retry)[0].contains("no error is ever retried; take io off"));
    }

    #[test]
    fn a_kind_on_both_lists_is_told() {
        let text =
            "circuitbreaker.instances.pay: { record_errors: [io, connect], ignore_errors: [io] }";
        assert!(
            texts(CODE, text)[0]
                .ends_with("`ignore_errors` has io too and wins; take io off one of the two lists")
        );
    }

    #[test]
    fn long_lists_are_told_once_and_cut() {
        let kinds: Vec<String> = (0..3_000).map(|n| format!("kind_{n}")).collect();
        let kinds = kinds.join(", ");
        let text = format!(
            "retry:\n  configs:\n    default: {{ retry_errors: [{kinds}], ignore_errors: [{kinds}] }}\n  \
             instances: {{ a: {{}}, b: {{}} }}"
        );
        let texts = texts(CODE, &text);
        assert_eq!(texts.len(), 1);
        assert!(texts[0].len() < 1_000, "{}", texts[0]);
    }

    #[test]
    fn lists_without_a_common_kind_are_left_alone() {
        let text =
            "circuitbreaker.instances.pay: { record_errors: [io], ignore_errors: [connect] }";
        assert!(!fires(CODE, text));
        assert!(!fires(CODE, "circuitbreaker.instances.pay: { ignore_errors: [io] }"));
    }
}
