//! Java classes on lists of error kinds that no kind is known for: they match nothing.
//!
//! No rule as the others: a start knows the kinds of the whole program and tells more.

use std::{collections::HashSet, sync::Arc};

use resilience_settings::Pattern;

use super::{Finding, Severity, Subject, Subjects};

const CODE: &str = "unknown_kind";

/// `undeclared` is what instances run on that the configuration does not declare.
pub(crate) fn check(
    subjects: &Subjects,
    undeclared: &[Subject],
    severity: Severity,
) -> Vec<Finding> {
    let mut found = Vec::new();
    // Lists are inherited by many, and may be long.
    let mut known = HashSet::new();
    for (pattern, keys) in [
        (Pattern::CircuitBreaker, ["record_errors", "ignore_errors"]),
        (Pattern::Retry, ["retry_errors", "ignore_errors"]),
    ] {
        let undeclared = undeclared.iter().filter(|one| one.settings().pattern() == pattern);
        for one in subjects.instances(pattern).chain(undeclared) {
            for key in keys {
                let list = one.settings().kinds(key);
                if !known.insert(Arc::as_ptr(list)) {
                    continue;
                }
                let classes: Vec<&String> = list.iter().filter(|kind| kind.contains('.')).collect();
                if key == "record_errors" && !list.is_empty() && classes.len() == list.len() {
                    found.push(matches_nothing(one, key));
                } else {
                    found.extend(classes.iter().map(|class| unknown(one, key, class, severity)));
                }
            }
        }
    }
    found
}

fn unknown(one: &Subject, key: &str, class: &str, severity: Severity) -> Finding {
    Finding {
        severity,
        value: Some(class.to_owned()),
        ..one.finding(CODE, key, "no error kind is known for this class")
    }
    .instead("say which kind it is with `error_kind_aliases`")
}

/// No program starts with a breaker that can never open.
fn matches_nothing(one: &Subject, key: &str) -> Finding {
    let message =
        "no error kind is known for any of these classes, so the breaker could never open";
    Finding { severity: Severity::Error, ..one.finding(CODE, key, message) }
        .instead("say which kinds they are with `error_kind_aliases`")
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{
        super::support::{fires, found, texts},
        *,
    };

    #[test]
    fn a_class_without_a_kind_is_told_once_for_all_that_inherit_it() {
        let text = "
circuitbreaker:
  configs:
    default: { ignore_errors: [com.example.Declined, java.io.IOException] }
  instances: { a: {}, b: {} }";
        assert_eq!(
            texts(CODE, text),
            [
                "<text>:4: circuitbreaker.instances.a.ignore_errors = com.example.Declined: no error \
              kind is known for this class; say which kind it is with `error_kind_aliases`"
            ]
        );
    }

    #[test]
    fn a_record_list_of_unknown_classes_alone_stops_the_start() {
        let breaker = |kinds: &str| {
            found(&format!("circuitbreaker.instances.a.record_errors: [{kinds}]"))
                .iter()
                .map(|one| one.severity)
                .collect::<Vec<_>>()
        };
        assert_eq!(breaker("com.example.Declined, com.example.Other"), [Severity::Error]);
        assert_eq!(breaker("com.example.Declined, io"), [Severity::Warning]);
        let retry = found("retry.instances.a.retry_errors: [com.example.Declined]");
        assert_eq!(retry[0].severity, Severity::Warning);
    }

    #[test]
    fn a_default_that_no_instance_inherits_is_looked_at_too() {
        let text = "circuitbreaker.configs.default.record_errors: [com.example.Declined]";
        let told = texts(CODE, text).concat();
        let wanted =
            "<text>:1: circuitbreaker.configs.default.record_errors = [com.example.Declined]";
        assert!(told.starts_with(wanted), "{told}");
    }

    #[test]
    fn a_class_with_an_alias_is_left_alone() {
        let text = "
error_kind_aliases: { com.example.Declined: declined }
circuitbreaker.instances.a.ignore_errors: [com.example.Declined]";
        assert!(!fires(CODE, text));
    }
}
