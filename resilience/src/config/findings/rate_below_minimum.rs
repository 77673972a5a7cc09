//! A time window in which the expected calls never come to the minimum: the breaker cannot open.

use resilience_settings::{Pattern, format_duration};

use super::{Finding, Subjects};

const CODE: &str = "rate_below_minimum";
const RATE: &str = "expected_rate";

pub(super) fn check(subjects: &Subjects, found: &mut Vec<Finding>) {
    for breaker in subjects.instances(Pattern::CircuitBreaker) {
        let settings = breaker.settings();
        let Some(rate) = settings.float(RATE) else { continue };
        let (size, minimum) =
            (settings.u32("sliding_window_size"), settings.u32("minimum_number_of_calls"));
        let expected = rate * f64::from(size);
        let goes_by_time = settings.word("sliding_window_type") == "TIME_BASED"
            && settings.word("failure_counting") == "rate";
        // With a minimum of 1 whatever comes can open it.
        if goes_by_time && minimum > 1 && expected < f64::from(minimum) {
            let window = format_duration(std::time::Duration::from_secs(size.into()));
            let about = (expected * 10.0).floor() / 10.0;
            let seconds = (f64::from(minimum) / rate).ceil();
            let message = format!(
                "a window of {window} then holds about {about} calls, and the breaker does not \
                 open before it holds {minimum}"
            );
            let instead = format!(
                "write `minimum_number_of_calls: {:.0}` or less, or a `sliding_window_size` of at \
                 least {seconds:.0}",
                expected.floor().max(1.0)
            );
            found.push(breaker.finding(CODE, RATE, message).instead(instead));
        }
    }
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
    fn too_few_calls_for_a_time_window_are_told() {
        let text = breaker(
            "sliding_window_type: TIME_BASED, sliding_window_size: 60, expected_rate: 0.1, minimum_number_of_calls: 10",
        );
        assert_eq!(
            texts(CODE, &text),
            [
                "<text>:1: circuitbreaker.instances.pay.expected_rate = 0.1: a window of 1m then holds \
              about 6 calls, and the breaker does not open before it holds 10; write \
              `minimum_number_of_calls: 6` or less, or a `sliding_window_size` of at least 100"
            ]
        );
    }

    #[test]
    fn enough_calls_or_a_window_of_calls_are_left_alone() {
        for settings in [
            "sliding_window_type: TIME_BASED, sliding_window_size: 60, expected_rate: 2",
            "sliding_window_type: TIME_BASED, sliding_window_size: 60",
            "sliding_window_size: 60, expected_rate: 0.1",
            "sliding_window_type: TIME_BASED, expected_rate: 0.1, failure_counting: consecutive",
        ] {
            assert!(!fires(CODE, &breaker(settings)), "{settings}");
        }
    }

    #[test]
    fn a_minimum_of_one_is_reached_by_whatever_comes() {
        let text = "sliding_window_type: TIME_BASED, sliding_window_size: 10, expected_rate: 0.01, minimum_number_of_calls: 1";
        assert!(!fires(CODE, &breaker(text)));
    }

    #[test]
    fn what_is_told_to_be_written_instead_is_left_alone() {
        for (rate, size, minimum) in [(0.01, 10, 2), (0.96, 10, 10), (0.3, 7, 100), (1.7, 60, 500)]
        {
            let settings = |size: u32, minimum: u32| {
                breaker(&format!(
                    "sliding_window_type: TIME_BASED, expected_rate: {rate}, sliding_window_size: {size}, \
                     minimum_number_of_calls: {minimum}"
                ))
            };
            let told = texts(CODE, &settings(size, minimum)).concat();
            let number = |before: &str| -> u32 {
                let after = told.rsplit_once(before).unwrap().1;
                after.split(['`', ' ', ';']).next().unwrap().parse().unwrap()
            };
            let fewer = number("`minimum_number_of_calls: ");
            assert!(!fires(CODE, &settings(size, fewer)), "{told}");
            assert!(!fires(CODE, &settings(number("at least "), minimum)), "{told}");
            assert!(fires(CODE, &settings(size, fewer + 1)), "{told}");
        }
    }
}
