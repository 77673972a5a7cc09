use std::fmt;

use serde::Serialize;

use super::Sample;

/// How many samples are as expected.
#[derive(Debug, Clone, Serialize)]
pub(in crate::demo) struct Count {
    name: &'static str,
    value: usize,
    of: usize,
    /// The parts that a sample must have, with these values, to be counted.
    expected: Sample,
    samples: Vec<Sample>,
}

impl Count {
    /// Counts the samples in which every part of `expected` is the same; they may have more parts.
    pub(in crate::demo) fn of(
        name: &'static str,
        expected: Sample,
        samples: impl IntoIterator<Item = Sample>,
    ) -> Self {
        let samples: Vec<_> = samples.into_iter().collect();
        let is_expected =
            |sample: &Sample| expected.iter().all(|(part, value)| sample.get(part) == Some(value));
        let value = samples.iter().filter(|sample| is_expected(sample)).count();
        Self { name, value, of: samples.len(), expected, samples }
    }

    /// How many are as expected.
    pub(in crate::demo) fn value(&self) -> usize {
        self.value
    }

    /// Says whether there are so many samples, and all of them are as expected.
    ///
    /// The number is asked for because of no samples at all nothing has been seen.
    pub(in crate::demo) fn is_all_of(&self, number: usize) -> bool {
        self.of == number && self.value == number
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} {}", self.value, self.of, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::measurement::sample::sample;

    #[test]
    fn what_has_every_expected_part_is_counted_whatever_else_it_has() {
        let expected = sample! {"http": 200, "status": "CONFIRMED"};
        let count = Count::of(
            "CONFIRMED",
            expected,
            [
                sample! {"http": 200, "status": "CONFIRMED", "ms": 1.5},
                sample! {"http": 200, "status": "ORDERED"},
                sample! {"http": 200},
            ],
        );
        assert_eq!(count.to_string(), "1 of 3 CONFIRMED");
        assert!(!count.is_all_of(3));
    }

    #[test]
    fn all_of_fewer_samples_than_there_should_be_is_not_all() {
        let seen =
            |times| Count::of("seen", sample! {"seen": true}, vec![sample! {"seen": true}; times]);
        assert!(seen(2).is_all_of(2));
        assert!(!seen(1).is_all_of(2));
        assert!(!seen(3).is_all_of(2));
    }
}
