use std::fmt;

use serde::Serialize;

/// A whole number, such as a reading of a gauge.
#[derive(Debug, Clone, Serialize)]
pub(in crate::demo) struct Number {
    name: &'static str,
    rule: Rule,
    value: u64,
    samples: Vec<u64>,
}

/// How the value comes from the samples.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Rule {
    /// The largest.
    Max,
    /// All together.
    Sum,
    /// All together, those of the first half taken away: readings before, and then readings after.
    Growth,
}

impl Number {
    /// What was read once.
    pub(in crate::demo) fn once(name: &'static str, value: u64) -> Self {
        Self::sum(name, [value])
    }

    /// What the samples come to together.
    pub(in crate::demo) fn sum(name: &'static str, samples: impl IntoIterator<Item = u64>) -> Self {
        let samples: Vec<_> = samples.into_iter().collect();
        Self { name, rule: Rule::Sum, value: samples.iter().sum(), samples }
    }

    /// The largest sample; 0 without any.
    pub(in crate::demo) fn max(name: &'static str, samples: impl IntoIterator<Item = u64>) -> Self {
        let samples: Vec<_> = samples.into_iter().collect();
        let value = samples.iter().copied().max().unwrap_or_default();
        Self { name, rule: Rule::Max, value, samples }
    }

    /// By how much the readings of counters have grown together; they never become less.
    pub(in crate::demo) fn growth<const N: usize>(
        name: &'static str,
        before: [u64; N],
        after: [u64; N],
    ) -> Self {
        let value = after.iter().sum::<u64>() - before.iter().sum::<u64>();
        Self { name, rule: Rule::Growth, value, samples: [before, after].concat() }
    }

    pub(in crate::demo) fn value(&self) -> u64 {
        self.value
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_comes_from_the_samples_by_the_rule() {
        assert_eq!(Number::once("slots", 3).to_string(), "slots 3");
        assert_eq!(Number::sum("requests", [1, 2, 1]).value(), 4);
        assert_eq!(Number::max("seconds", [1, 2, 1]).value(), 2);
        assert_eq!(Number::max("seconds", []).value(), 0);
        let growth = Number::growth("charges", [1, 2], [4, 3]);
        assert_eq!((growth.value(), growth.samples), (4, vec![1, 2, 4, 3]));
    }
}
