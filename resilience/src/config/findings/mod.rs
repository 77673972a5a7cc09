//! What is questionable in settings that are each allowed: one rule a file.
//!
//! A rule tells only what somebody wrote, or what follows from it: built-in defaults are never
//! questioned, nor what a Spring application has in its file as a matter of course.

mod attempts_beyond_total;
mod cap_below_wait;
pub(crate) mod class_for_kind;
mod finding;
mod half_open_below_limit;
mod lease_below_limit;
pub(crate) mod lease_bound;
mod limit_below_wait;
mod minimum_above_window;
mod open_outlasts_retry;
mod permits_above_limit;
mod probes_above_decision;
mod quorum_above_nodes;
mod rate_below_minimum;
mod recorded_and_ignored;
mod refusals_counted;
mod report;
mod share_of_limit;
mod slow_above_limit;
mod subject;
#[cfg(all(test, feature = "config"))]
mod support;
mod timeout_beyond_total;
mod without_switch;

use std::collections::HashSet;

pub use finding::{Finding, Severity};
pub use report::Report;
pub(crate) use subject::{Subject, Subjects, Together};

/// Looks at all subjects and adds what it finds.
type Rule = fn(&Subjects, &mut Vec<Finding>);

const RULES: &[Rule] = &[
    minimum_above_window::check,
    rate_below_minimum::check,
    probes_above_decision::check,
    recorded_and_ignored::check,
    without_switch::check,
    cap_below_wait::check,
    attempts_beyond_total::check,
    slow_above_limit::check,
    limit_below_wait::check,
    timeout_beyond_total::check,
    half_open_below_limit::check,
    lease_below_limit::check,
    open_outlasts_retry::check,
    permits_above_limit::check,
    refusals_counted::check,
    lease_bound::check,
    share_of_limit::check,
    quorum_above_nodes::check,
];

/// What all rules find. What several instances inherit is told once.
pub(crate) fn of(subjects: &Subjects) -> Vec<Finding> {
    let mut found = Vec::new();
    for rule in RULES {
        rule(subjects, &mut found);
    }
    let mut known = HashSet::new();
    found.retain(|finding| {
        known.insert((finding.code, finding.place.clone(), finding.message.clone()))
    });
    found
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{support::found, *};
    use crate::Config;

    /// As people write it who come from Spring: every pattern under the same names.
    const USUAL: &str = "
resilience4j:
  circuitbreaker:
    configs:
      default:
        registerHealthIndicator: true
        slidingWindowSize: 10
        minimumNumberOfCalls: 5
        permittedNumberOfCallsInHalfOpenState: 3
        automaticTransitionFromOpenToHalfOpenEnabled: true
        waitDurationInOpenState: 5s
        failureRateThreshold: 50
        recordExceptions: [java.io.IOException, java.util.concurrent.TimeoutException]
    instances:
      orders: { baseConfig: default }
      stock: { slidingWindowSize: 20, slidingWindowType: TIME_BASED, minimumNumberOfCalls: 20 }
  retry:
    configs:
      default: { maxAttempts: 3, waitDuration: 100, retryExceptions: [java.io.IOException] }
    instances:
      orders: { baseConfig: default }
      stock: { enableExponentialBackoff: true, exponentialBackoffMultiplier: 2 }
  bulkhead:
    instances:
      orders: { maxConcurrentCalls: 10 }
      stock: { maxConcurrentCalls: 20, maxWaitDuration: 10ms }
  ratelimiter:
    instances:
      orders: { limitForPeriod: 10, limitRefreshPeriod: 1s, timeoutDuration: 0 }
      stock: { limitForPeriod: 6, limitRefreshPeriod: 500ms, timeoutDuration: 3s }
  timelimiter:
    configs:
      default: { timeoutDuration: 2s, cancelRunningFuture: false }
    instances:
      orders: { baseConfig: default }
      stock: { baseConfig: default }
";

    fn worst(text: &str) -> Option<Severity> {
        found(text).iter().filter(|one| one.code != "reading").map(|one| one.severity).max()
    }

    #[test]
    fn what_spring_applications_have_as_a_matter_of_course_is_not_questioned() {
        assert!(worst(USUAL) <= Some(Severity::Hint), "{:#?}", found(USUAL));
    }

    #[test]
    fn built_in_defaults_are_not_questioned() {
        let text = "
circuitbreaker.instances.a: {}
retry.instances.a: {}
ratelimiter.instances.a: {}
timelimiter.instances.a: {}
bulkhead.instances.a: {}
thread-pool-bulkhead.instances.b: {}";
        assert!(worst(text) <= Some(Severity::Hint), "{:#?}", found(text));
        assert_eq!(Config::default().report(), Report::default());
    }

    #[test]
    fn what_many_inherit_is_told_once() {
        let text = "
circuitbreaker:
  configs:
    default: { sliding_window_size: 5, minimum_number_of_calls: 10 }
  instances: { a: {}, b: {}, c: {} }";
        assert_eq!(found(text).len(), 1);
    }
}
