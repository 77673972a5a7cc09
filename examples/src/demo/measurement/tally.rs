use std::{collections::BTreeMap, fmt};

use serde::Serialize;

/// How many samples there are of each.
#[derive(Debug, Clone, Serialize)]
pub(in crate::demo) struct Tally {
    name: &'static str,
    values: BTreeMap<String, usize>,
    samples: Vec<String>,
}

impl Tally {
    pub(in crate::demo) fn of(
        name: &'static str,
        samples: impl IntoIterator<Item = String>,
    ) -> Self {
        let samples: Vec<_> = samples.into_iter().collect();
        let mut values = BTreeMap::new();
        for sample in &samples {
            *values.entry(sample.clone()).or_default() += 1;
        }
        Self { name, values, samples }
    }

    /// What there is at least one sample of.
    pub(in crate::demo) fn seen(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.values.iter().map(|(value, times)| format!("{times} {value}"));
        write!(f, "{} {}", self.name, values.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_with_how_often_it_was_seen() {
        let tally = Tally::of("settled by", ["A", "B", "A"].map(str::to_owned));
        assert_eq!(tally.to_string(), "settled by 2 A, 1 B");
        assert!(tally.seen().eq(["A", "B"]));
    }
}
