use std::time::Duration;

/// Up to which length, this one included, a call is counted in the bucket of the same place; what took
/// longer than the last has the bucket after it.
pub(crate) const BOUNDS: [Duration; 15] = [
    Duration::from_millis(1),
    Duration::from_micros(2_500),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(25),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_millis(2_500),
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(30),
    Duration::from_mins(1),
];

pub(super) const BUCKETS: usize = BOUNDS.len() + 1;

const BOUNDS_IN_NANOS: [u64; BOUNDS.len()] = {
    let mut nanos = [0; BOUNDS.len()];
    let mut i = 0;
    while i < BOUNDS.len() {
        nanos[i] = BOUNDS[i].as_secs() * 1_000_000_000 + BOUNDS[i].subsec_nanos() as u64;
        i += 1;
    }
    nanos
};

/// The bucket of a call that took so many nanoseconds.
#[inline]
pub(super) fn bucket(elapsed: u64) -> usize {
    // By far the most frequent of calls that the cost of counting could matter to.
    if elapsed <= BOUNDS_IN_NANOS[0] {
        return 0;
    }
    BOUNDS_IN_NANOS.partition_point(|&bound| bound < elapsed)
}

/// How long the calls of one outcome took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Timing {
    /// Calls, those included that were not timed.
    pub(crate) count: u64,
    /// How long they took together.
    pub(crate) sum: Duration,
    /// The longest of the last one to two minutes.
    pub(crate) max: Duration,
    /// Calls by length: see [`BOUNDS`]. Those that were not timed are in none.
    pub(crate) buckets: [u64; BUCKETS],
}

impl Timing {
    /// That of both together.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
        for (mine, others) in self.buckets.iter_mut().zip(other.buckets) {
            *mine += others;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_its_bucket() {
        for (index, &bound) in BOUNDS_IN_NANOS.iter().enumerate() {
            assert_eq!(bucket(bound), index);
            assert_eq!(bucket(bound + 1), index + 1);
        }
        assert_eq!(bucket(0), 0);
        assert_eq!(bucket(u64::MAX), BOUNDS.len());
    }
}
