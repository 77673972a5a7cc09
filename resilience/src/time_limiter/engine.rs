//! The decision, how much time a call has left: pure arithmetic that is told the time.

use std::time::Duration;

/// The time that one call has, in nanoseconds on the instance's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeLimit {
    started: u64,
    limit: u64,
}

impl TimeLimit {
    pub(super) fn new(started: u64, limit: u64) -> Self {
        Self { started, limit }
    }

    pub(super) fn limit(self) -> Duration {
        Duration::from_nanos(self.limit)
    }

    /// When the time is over.
    pub(super) fn end(self) -> u64 {
        self.started.saturating_add(self.limit)
    }

    /// What is left at `now`; zero once the time is over.
    pub(super) fn left(self, now: u64) -> Duration {
        // A clock that is behind the start has let no time pass.
        let spent = now.saturating_sub(self.started);
        Duration::from_nanos(self.limit.saturating_sub(spent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_runs_down_to_zero_and_no_further() {
        let limit = TimeLimit::new(100, 30);
        assert_eq!([100, 110, 130, 500].map(|now| limit.left(now).as_nanos()), [30, 20, 0, 0]);
    }

    #[test]
    fn a_clock_that_is_behind_the_start_gives_no_more_than_the_limit() {
        assert_eq!(TimeLimit::new(100, 30).left(0), Duration::from_nanos(30));
    }
}
