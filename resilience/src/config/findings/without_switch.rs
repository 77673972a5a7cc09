//! Settings that do nothing before another one switches them on, which nobody wrote.

use std::collections::HashSet;

use resilience_settings::{Pattern, Value};

use super::{Finding, Subject, Subjects};
use crate::config::Settings;

const CODE: &str = "without_switch";

/// What switches settings on.
struct Switch {
    pattern: Pattern,
    key: &'static str,
    /// The value that does, as one would write it.
    on: &'static str,
    of: &'static [&'static str],
}

const fn switch(pattern: Pattern, key: &'static str, of: &'static [&'static str]) -> Switch {
    Switch { pattern, key, on: "true", of }
}

const SWITCHES: &[Switch] = &[
    switch(
        Pattern::Retry,
        "enable_exponential_backoff",
        &["exponential_backoff_multiplier", "exponential_max_wait_duration"],
    ),
    switch(Pattern::Retry, "enable_randomized_wait", &["randomized_wait_factor"]),
    switch(
        Pattern::CircuitBreaker,
        "enable_exponential_backoff",
        &["exponential_backoff_multiplier", "exponential_max_wait_duration_in_open_state"],
    ),
    switch(Pattern::CircuitBreaker, "enable_randomized_wait", &["randomized_wait_factor"]),
    Switch {
        pattern: Pattern::CircuitBreaker,
        key: "failure_counting",
        on: "consecutive",
        of: &["consecutive_failures"],
    },
    Switch {
        pattern: Pattern::RateLimiter,
        key: "scope",
        on: "global",
        of: &["algorithm", "on_store_failure", "lease"],
    },
];

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for switch in SWITCHES {
        // A value that several inherit is there for those that switch it on.
        let is_on = |one: &&Subject| switch.is_on(one.settings());
        let in_use: HashSet<_> = subjects
            .instances(switch.pattern)
            .filter(is_on)
            .flat_map(|one| switch.of.iter().map(|key| (*key, one.settings().origin(key).place())))
            .collect();
        for one in subjects.instances(switch.pattern) {
            found.extend(
                switch
                    .idle(one)
                    .filter(|key| !in_use.contains(&(*key, one.settings().origin(key).place())))
                    .map(|key| {
                        let message =
                            format!("does nothing without `{}: {}`", switch.key, switch.on);
                        one.finding(CODE, key, message).instead("write that too, or leave this out")
                    }),
            );
        }
    }
}

impl Switch {
    fn is_on(&self, settings: &Settings) -> bool {
        match settings.get(self.key) {
            Some(Value::Bool(on)) => *on,
            Some(Value::Word(word)) => word == self.on,
            _ => false,
        }
    }

    /// What was written and does nothing. Who wrote the switch as well has turned it off on purpose.
    fn idle<'a>(&'a self, one: &'a Subject) -> impl Iterator<Item = &'static str> + 'a {
        let forgotten = !self.is_on(one.settings()) && !one.wrote(self.key);
        self.of.iter().copied().filter(move |key| forgotten && one.wrote(key))
    }
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{
        super::support::{fires, texts},
        *,
    };

    #[test]
    fn every_setting_without_its_switch_is_told() {
        for (settings, wanted) in [
            (
                "retry.instances.a: { exponential_backoff_multiplier: 2 }",
                "`enable_exponential_backoff: true`",
            ),
            (
                "retry.instances.a: { exponential_max_wait_duration: 2s }",
                "`enable_exponential_backoff: true`",
            ),
            (
                "retry.instances.a: { randomized_wait_factor: 0.3 }",
                "`enable_randomized_wait: true`",
            ),
            (
                "circuitbreaker.instances.a: { consecutive_failures: 3 }",
                "`failure_counting: consecutive`",
            ),
            (
                "circuitbreaker.instances.a: { exponential_max_wait_duration_in_open_state: 2m }",
                "`enable_exponential_backoff: true`",
            ),
        ] {
            assert!(texts(CODE, settings)[0].contains(wanted), "{settings}");
        }
    }

    #[test]
    fn a_setting_with_its_switch_is_left_alone() {
        for settings in [
            "retry.instances.a: { exponential_backoff_multiplier: 2, enable_exponential_backoff: true }",
            "retry.instances.a: { exponential_backoff_multiplier: 2, enable_exponential_backoff: false }",
            "circuitbreaker.instances.a: { consecutive_failures: 3, failure_counting: consecutive }",
        ] {
            assert!(!fires(CODE, settings), "{settings}");
        }
    }

    #[test]
    fn a_value_of_a_base_that_one_instance_switches_on_is_left_alone() {
        let text = "
retry:
  configs:
    default: { exponential_backoff_multiplier: 2 }
  instances:
    a: { enable_exponential_backoff: true }
    b: {}";
        assert!(!fires(CODE, text));
        assert!(fires(CODE, &text.replace("true", "false")));
    }
}
