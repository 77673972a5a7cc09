//! More probes let through than the half-open breaker waits for: those beyond decide nothing.

use resilience_settings::Pattern;

use super::{Finding, Subjects};
use crate::config::Origin;

const CODE: &str = "probes_above_decision";
const PERMITTED: &str = "permitted_number_of_calls_in_half_open_state";
const MINIMUM: &str = "minimum_number_of_calls";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for breaker in subjects.instances(Pattern::CircuitBreaker) {
        let settings = breaker.settings();
        let (permitted, minimum) = (settings.u32(PERMITTED), settings.u32(MINIMUM));
        let decides_early = settings.word("half_open_evaluation") == "eager"
            && settings.word("failure_counting") == "rate"
            && settings.integer("half_open_success_threshold").is_none();
        let written = breaker.wrote(PERMITTED) && breaker.wrote(MINIMUM);
        // A minimum below all others was not written for these probes; in Resilience4j a base does
        // not even inherit it.
        let written = written
            && (!is_of_default(&settings.origin(MINIMUM))
                || is_of_default(&settings.origin(PERMITTED)));
        if decides_early && written && permitted > minimum {
            let message = format!(
                "a half-open breaker decides once {minimum} probes (`{MINIMUM}`) are back; the other \
                 {} have no say",
                permitted - minimum
            );
            let instead = format!("write at most {minimum}, or `half_open_evaluation: conclusive`");
            found.push(breaker.finding(CODE, PERMITTED, message).instead(instead));
        }
    }
}

fn is_of_default(origin: &Origin) -> bool {
    matches!(origin, Origin::File { entry, .. } if entry == "circuitbreaker.configs.default")
}

#[cfg(all(test, feature = "config"))]
mod tests {
    use super::{
        super::support::{fires, texts},
        *,
    };

    fn breaker(settings: &str) -> String {
        format!("circuitbreaker.instances.pay: {{ {settings} }}")
    }

    #[test]
    fn probes_without_a_say_are_told() {
        let text = breaker(&format!("{PERMITTED}: 10, {MINIMUM}: 4"));
        let texts = texts(CODE, &text);
        assert_eq!(texts.len(), 1);
        assert!(texts[0].contains("decides once 4 probes"), "{}", texts[0]);
        assert!(texts[0].contains("the other 6 have no say; write at most 4"), "{}", texts[0]);
    }

    #[test]
    fn a_minimum_that_lies_below_all_others_was_not_written_for_these_probes() {
        let text = |minimum: &str, permitted: &str| {
            format!(
                "circuitbreaker:\n  configs:\n    default: {{ {minimum} }}\n  instances:\n    \
                 pay: {{ {permitted} }}"
            )
        };
        let (permitted, minimum) = (format!("{PERMITTED}: 10"), format!("{MINIMUM}: 4"));
        assert!(!fires(CODE, &text(&minimum, &permitted)));
        assert!(fires(CODE, &text(&format!("{minimum}, {permitted}"), "")));
        assert!(fires(CODE, &text(&permitted, &minimum)));
    }

    #[test]
    fn probes_that_count_and_defaults_are_left_alone() {
        for settings in [
            format!("{PERMITTED}: 3, {MINIMUM}: 5"),
            format!("{MINIMUM}: 5"), // ten by default, as most files have it
            format!("{PERMITTED}: 10, {MINIMUM}: 4, half_open_evaluation: conclusive"),
            format!("{PERMITTED}: 10, {MINIMUM}: 4, half_open_success_threshold: 8"),
            format!("{PERMITTED}: 10, {MINIMUM}: 4, failure_counting: consecutive"),
        ] {
            assert!(!fires(CODE, &breaker(&settings)), "{settings}");
        }
    }
}
