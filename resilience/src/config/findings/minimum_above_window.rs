//! More calls wanted before there are rates than a count window can hold: the window's size is what counts.

use resilience_settings::Pattern;

use super::{Finding, Subjects};

const CODE: &str = "minimum_above_window";
const MINIMUM: &str = "minimum_number_of_calls";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for breaker in subjects.instances(Pattern::CircuitBreaker) {
        let settings = breaker.settings();
        let (minimum, size) = (settings.u32(MINIMUM), settings.u32("sliding_window_size"));
        let counts_calls = settings.word("sliding_window_type") == "COUNT_BASED"
            && settings.word("failure_counting") == "rate";
        if counts_calls && minimum > size && breaker.wrote(MINIMUM) {
            let message = format!(
                "the window holds {size} calls, so that rates are there from {size} calls on"
            );
            let instead =
                format!("write at most {size}, or a `sliding_window_size` of at least {minimum}");
            found.push(breaker.finding(CODE, MINIMUM, message).instead(instead));
        }
    }
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{
        super::support::{fires, texts},
        *,
    };

    #[test]
    fn c06_a_minimum_above_the_window_is_told() {
        let text = "circuitbreaker.instances.pay:\n  sliding_window_size: 5\n  minimum_number_of_calls: 10";
        assert_eq!(
            texts(CODE, text),
            [
                "<text>:3: circuitbreaker.instances.pay.minimum_number_of_calls = 10: the window holds \
              5 calls, so that rates are there from 5 calls on; write at most 5, or a \
              `sliding_window_size` of at least 10"
            ]
        );
    }

    #[test]
    fn a_default_minimum_and_other_windows_are_left_alone() {
        for settings in [
            "sliding_window_size: 5",
            "sliding_window_size: 10, minimum_number_of_calls: 10",
            "sliding_window_size: 5, minimum_number_of_calls: 10, sliding_window_type: TIME_BASED",
            "sliding_window_size: 5, minimum_number_of_calls: 10, failure_counting: consecutive",
            "sliding_window_size: 5, minimum_number_of_calls: 10, enabled: false",
        ] {
            assert!(!fires(CODE, &format!("circuitbreaker.instances.pay: {{ {settings} }}")));
        }
    }
}
