//! The decision, how much time a call has left: pure arithmetic that is told the time.

/// The time that one call has, in nanoseconds on the instance's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeLimit {
    /// Unset while nobody has looked at the clock.
    started: Option<u64>,
    limit: u64,
}

impl TimeLimit {
    /// Of `limit` nanoseconds, from `started` on or else from when [`left`](Self::left) is asked first.
    pub(super) fn new(started: Option<u64>, limit: u64) -> Self {
        Self { started, limit }
    }

    /// Until `end`, from `now` on.
    pub(crate) fn until(end: u64, now: u64) -> Self {
        Self::new(Some(now), end.saturating_sub(now))
    }

    pub(super) fn limit(self) -> u64 {
        self.limit
    }

    /// When the time is over; `None` while it has not begun.
    pub(crate) fn end(self) -> Option<u64> {
        Some(self.started?.saturating_add(self.limit))
    }

    /// Whether it is over at `now`.
    pub(crate) fn is_over(self, now: u64) -> bool {
        self.end().is_some_and(|end| end <= now)
    }

    /// What is left at `now`; zero once the time is over.
    pub(super) fn left(&mut self, now: u64) -> u64 {
        let started = *self.started.get_or_insert(now);
        // A clock that is behind the start has let no time pass.
        self.limit.saturating_sub(now.saturating_sub(started))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_runs_down_to_zero_and_no_further() {
        let mut limit = TimeLimit::new(Some(100), 30);
        assert_eq!([100, 110, 130, 500].map(|now| limit.left(now)), [30, 20, 0, 0]);
        assert_eq!([129, 130].map(|now| limit.is_over(now)), [false, true]);
    }

    #[test]
    fn a_clock_that_is_behind_the_start_gives_no_more_than_the_limit() {
        assert_eq!(TimeLimit::new(Some(100), 30).left(0), 30);
    }

    #[test]
    fn without_a_start_the_time_runs_from_the_first_look() {
        let mut limit = TimeLimit::new(None, 30);
        assert_eq!((limit.end(), limit.is_over(u64::MAX)), (None, false));
        assert_eq!([500, 510].map(|now| limit.left(now)), [30, 20]);
        assert_eq!(limit.end(), Some(530));
    }
}
