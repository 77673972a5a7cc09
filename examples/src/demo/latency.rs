use std::{fmt, time::Duration};

/// How long answers took, sorted.
#[derive(Debug, Clone, Default)]
pub struct Latencies(Vec<Duration>);

impl Latencies {
    /// The latency that the given share, in percent, of the answers did not exceed.
    ///
    /// By the nearest rank, so that it is always one that was measured; zero without answers.
    pub fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// Says whether half of the answers came within `half`, and all within `all`.
    ///
    /// Two bounds, as one would either say nothing or break on a machine that is busy elsewhere.
    pub fn within(&self, half: Duration, all: Duration) -> bool {
        self.percentile(50) <= half && self.max() <= all
    }

    /// The quickest answer; zero without answers.
    pub fn min(&self) -> Duration {
        self.0.first().copied().unwrap_or_default()
    }

    /// The slowest answer; zero without answers.
    pub fn max(&self) -> Duration {
        self.0.last().copied().unwrap_or_default()
    }
}

impl FromIterator<Duration> for Latencies {
    fn from_iter<I: IntoIterator<Item = Duration>>(durations: I) -> Self {
        let mut sorted: Vec<_> = durations.into_iter().collect();
        sorted.sort_unstable();
        Self(sorted)
    }
}

impl fmt::Display for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p95, p99] = [50, 95, 99].map(|percent| Shown(self.percentile(percent)));
        write!(f, "p50 {p50}, p95 {p95}, p99 {p99}, max {}", Shown(self.max()))
    }
}

/// A duration in the three digits that matter.
pub(super) struct Shown(pub(super) Duration);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let (unit, size) = match nanos {
            0..1_000 => return write!(f, "{nanos} ns"),
            1_000..1_000_000 => ("µs", 1e-6),
            1_000_000..1_000_000_000 => ("ms", 1e-3),
            _ => ("s", 1.0),
        };
        let value = self.0.as_secs_f64() / size;
        let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
        write!(f, "{value:.decimals$} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_values_by_nearest_rank() {
        let latencies: Latencies = (1..=20).rev().map(Duration::from_millis).collect();
        assert_eq!(latencies.percentile(50), Duration::from_millis(10));
        assert_eq!(latencies.percentile(95), Duration::from_millis(19));
        assert_eq!(latencies.percentile(99), Duration::from_millis(20));
        assert_eq!(latencies.percentile(100), latencies.max());
    }

    #[test]
    fn one_slow_answer_among_quick_ones_counts_for_the_outer_bound_only() {
        let [quick, slow] = [10, 800].map(Duration::from_millis);
        let latencies = Latencies::from_iter([quick, quick, quick, slow]);
        assert!(latencies.within(quick, slow));
        assert!(!latencies.within(quick, quick));
        assert!(!Latencies::from_iter([quick, slow, slow]).within(quick, slow));
    }

    #[test]
    fn durations_are_shown_in_the_digits_that_matter() {
        for (nanos, shown) in [
            (999, "999 ns"),
            (1_230, "1.23 µs"),
            (45_600_000, "45.6 ms"),
            (789_000_000, "789 ms"),
            (2_000_000_000, "2.00 s"),
        ] {
            assert_eq!(Shown(Duration::from_nanos(nanos)).to_string(), shown);
        }
    }
}
