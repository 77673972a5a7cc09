use std::{fmt, time::Duration};

use serde::{Serialize, Serializer};

use super::time::{MS, Shown, all_as_ms, as_ms};

/// How long answers took, to the microsecond, sorted.
#[derive(Debug, Clone)]
pub(in crate::demo) struct Latencies {
    name: &'static str,
    samples: Vec<Duration>,
}

impl Latencies {
    pub(in crate::demo) fn of(
        name: &'static str,
        latencies: impl IntoIterator<Item = Duration>,
    ) -> Self {
        let mut samples: Vec<_> = latencies.into_iter().map(whole_micros).collect();
        samples.sort_unstable();
        Self { name, samples }
    }

    /// The latency that the given share, in percent, of the answers did not exceed.
    ///
    /// By the nearest rank, so that it is always one that was measured; zero without answers.
    pub(in crate::demo) fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.samples.len() * percent).div_ceil(100);
        self.samples.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// Says whether there are answers, half of which came within `half`, and all within `all`.
    ///
    /// Two bounds, as one would either say nothing or break on a machine that is busy elsewhere.
    pub(in crate::demo) fn within(&self, half: Duration, all: Duration) -> bool {
        !self.samples.is_empty() && self.percentile(50) <= half && self.max() <= all
    }

    /// The quickest answer; zero without answers.
    pub(in crate::demo) fn min(&self) -> Duration {
        self.samples.first().copied().unwrap_or_default()
    }

    /// The slowest answer; zero without answers.
    pub(in crate::demo) fn max(&self) -> Duration {
        self.samples.last().copied().unwrap_or_default()
    }
}

/// What is below is noise, and would make up half of a long report.
pub(in crate::demo) fn whole_micros(duration: Duration) -> Duration {
    Duration::new(duration.as_secs(), duration.subsec_micros() * 1_000)
}

impl Serialize for Latencies {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Whole<'a> {
            name: &'static str,
            unit: &'static str,
            count: usize,
            #[serde(serialize_with = "as_ms")]
            min: Duration,
            #[serde(serialize_with = "as_ms")]
            p50: Duration,
            #[serde(serialize_with = "as_ms")]
            p95: Duration,
            #[serde(serialize_with = "as_ms")]
            p99: Duration,
            #[serde(serialize_with = "as_ms")]
            max: Duration,
            #[serde(serialize_with = "all_as_ms")]
            samples: &'a [Duration],
        }
        let [p50, p95, p99] = [50, 95, 99].map(|percent| self.percentile(percent));
        let (name, samples) = (self.name, &self.samples[..]);
        let (count, min, max) = (samples.len(), self.min(), self.max());
        Whole { name, unit: MS, count, min, p50, p95, p99, max, samples }.serialize(to)
    }
}

impl fmt::Display for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p95, p99] = [50, 95, 99].map(|percent| Shown(self.percentile(percent)));
        write!(f, "{} p50 {p50}, p95 {p95}, p99 {p99}", self.name)?;
        write!(f, ", min {}, max {}", Shown(self.min()), Shown(self.max()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_values_by_nearest_rank() {
        let latencies = Latencies::of("answers", (1..=20).rev().map(Duration::from_millis));
        assert_eq!(latencies.percentile(50), Duration::from_millis(10));
        assert_eq!(latencies.percentile(95), Duration::from_millis(19));
        assert_eq!(latencies.percentile(99), Duration::from_millis(20));
        assert_eq!(latencies.percentile(100), latencies.max());
    }

    #[test]
    fn one_slow_answer_among_quick_ones_counts_for_the_outer_bound_only() {
        let [quick, slow] = [10, 800].map(Duration::from_millis);
        let latencies = Latencies::of("answers", [quick, quick, quick, slow]);
        assert!(latencies.within(quick, slow));
        assert!(!latencies.within(quick, quick));
        assert!(!Latencies::of("answers", [quick, slow, slow]).within(quick, slow));
        assert!(!Latencies::of("answers", []).within(quick, slow), "nothing was measured");
    }
}
