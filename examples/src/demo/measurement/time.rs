use std::{fmt, time::Duration};

use serde::{Serialize, Serializer};

/// A time that is no latency of an answer.
#[derive(Debug, Clone, Serialize)]
pub(in crate::demo) struct Time {
    name: &'static str,
    unit: &'static str,
    rule: Rule,
    #[serde(serialize_with = "as_ms")]
    value: Duration,
    #[serde(serialize_with = "all_as_ms")]
    samples: Vec<Duration>,
}

/// How the value comes from the samples.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Rule {
    Max,
    Median,
}

impl Time {
    /// What was measured once.
    pub(in crate::demo) fn once(name: &'static str, value: Duration) -> Self {
        Self::max(name, vec![value])
    }

    /// The longest sample; zero without any.
    pub(in crate::demo) fn max(name: &'static str, samples: Vec<Duration>) -> Self {
        let value = samples.iter().copied().max().unwrap_or_default();
        Self { name, unit: MS, rule: Rule::Max, value, samples }
    }

    /// The sample in the middle, the lower one of two; zero without any.
    pub(in crate::demo) fn median(name: &'static str, mut samples: Vec<Duration>) -> Self {
        samples.sort_unstable();
        let middle = samples.len().saturating_sub(1) / 2;
        let value = samples.get(middle).copied().unwrap_or_default();
        Self { name, unit: MS, rule: Rule::Median, value, samples }
    }

    pub(in crate::demo) fn value(&self) -> Duration {
        self.value
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, Shown(self.value))
    }
}

/// The unit of all times in the report.
pub(super) const MS: &str = "ms";

/// Milliseconds, to the nanosecond.
pub(in crate::demo) fn ms(duration: Duration) -> f64 {
    duration.div_duration_f64(Duration::from_millis(1))
}

pub(super) fn as_ms<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    ms(*duration).serialize(to)
}

pub(super) fn all_as_ms<S: Serializer>(all: &[Duration], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(all.iter().copied().map(ms))
}

/// A duration in the three digits that matter.
pub(super) struct Shown(pub(super) Duration);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // From the number that the report has, so that others who round it get the same digits.
        let ms = ms(self.0);
        let (value, unit) = match ms {
            ..0.001 => return write!(f, "{:.0} ns", ms * 1e6),
            ..1.0 => (ms * 1e3, "µs"),
            ..1e3 => (ms, "ms"),
            _ => (ms / 1e3, "s"),
        };
        let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
        write!(f, "{value:.decimals$} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_shown_in_the_digits_that_matter() {
        for (nanos, shown) in [
            (999, "999 ns"),
            (1_230, "1.23 µs"),
            (45_600_000, "45.6 ms"),
            (789_000_000, "789 ms"),
            (2_000_000_000, "2.00 s"),
            (1_005_000, "1.00 ms"), // as the number in the report is a little below
        ] {
            assert_eq!(Shown(Duration::from_nanos(nanos)).to_string(), shown);
        }
    }

    #[test]
    fn the_value_is_a_sample_by_the_rule() {
        let samples = || [3, 1, 2, 9].map(Duration::from_millis).to_vec();
        assert_eq!(Time::max("idle after", samples()).to_string(), "idle after 9.00 ms");
        assert_eq!(Time::median("each", samples()).value(), Duration::from_millis(2));
        assert_eq!(Time::median("each", Vec::new()).value(), Duration::ZERO);
    }
}
