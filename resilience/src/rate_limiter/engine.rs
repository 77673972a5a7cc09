//! The decision, whatever the refill: a pure state machine that is told the time.

use super::{config::Refill, greedy::GreedyEngine, interval::IntervalEngine, quota::Quota};

/// What became of a request for permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// Taken.
    Now,
    /// Reserved; the turn comes with the reservation's due time.
    Later(Reservation),
    /// Nothing was taken. `wait` is how long the request would have had to wait, in nanoseconds,
    /// `None` when no wait is long enough.
    Refused { wait: Option<u64> },
}

/// Permissions that are taken from the future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reservation {
    /// When the turn comes.
    pub(super) due: u64,
    pub(super) permits: u32,
    /// Tells those of a greedy engine apart, in the order in which they were made. An interval
    /// engine goes by their cycles and leaves it at 0.
    pub(super) id: u64,
}

#[derive(Debug)]
pub(super) enum Engine {
    Interval(IntervalEngine),
    Greedy(GreedyEngine),
}

impl Engine {
    pub(super) fn new(quota: Quota, now: u64) -> Self {
        Self::with_available(quota, now, quota.limit.into())
    }

    /// An engine for another quota, which starts with no more than this one has left.
    pub(super) fn successor(&self, quota: Quota, now: u64) -> Self {
        Self::with_available(quota, now, self.available(now))
    }

    fn with_available(Quota { limit, period, refill }: Quota, now: u64, available: i64) -> Self {
        match refill {
            Refill::Interval => {
                Engine::Interval(IntervalEngine::new(limit, period, now, available))
            }
            Refill::Greedy => Engine::Greedy(GreedyEngine::new(limit, period, now, available)),
        }
    }

    /// Takes permissions if there are some that nobody waits for.
    #[inline]
    pub(super) fn take(&mut self, permits: u32, now: u64) -> bool {
        match self {
            Engine::Interval(engine) => engine.take(permits, now),
            Engine::Greedy(engine) => engine.take(permits, now),
        }
    }

    /// Takes permissions now, or reserves them if the wait is no longer than `timeout` nanoseconds.
    pub(super) fn acquire(&mut self, permits: u32, timeout: u64, now: u64) -> Decision {
        match self {
            Engine::Interval(engine) => engine.acquire(permits, timeout, now),
            Engine::Greedy(engine) => engine.acquire(permits, timeout, now),
        }
    }

    /// The same for permissions that could not be [taken](Self::take) just now.
    pub(super) fn reserve(&mut self, permits: u32, timeout: u64) -> Decision {
        match self {
            Engine::Interval(engine) => engine.reserve(permits, timeout),
            Engine::Greedy(engine) => engine.reserve(permits, timeout),
        }
    }

    /// Gives a reservation back, unless its turn has come already.
    pub(super) fn cancel(&mut self, reservation: Reservation, now: u64) {
        match self {
            Engine::Interval(engine) => engine.cancel(reservation, now),
            Engine::Greedy(engine) => engine.cancel(reservation, now),
        }
    }

    /// Takes all that is available and tells what that was; nothing is taken when it is negative.
    pub(super) fn drain(&mut self, now: u64) -> i64 {
        match self {
            Engine::Interval(engine) => engine.drain(now),
            Engine::Greedy(engine) => engine.drain(now),
        }
    }

    /// The permissions there are; negative when some of later periods are reserved.
    pub(super) fn available(&self, now: u64) -> i64 {
        match self {
            Engine::Interval(engine) => engine.available(now),
            Engine::Greedy(engine) => engine.available(now),
        }
    }

    /// How many periods have passed since the start.
    pub(super) fn cycle(&self, now: u64) -> u64 {
        match self {
            Engine::Interval(engine) => engine.cycle(now),
            Engine::Greedy(engine) => engine.cycle(now),
        }
    }

    /// How long a call for one permission would wait now, in nanoseconds.
    pub(super) fn wait_for_one(&self, now: u64) -> u64 {
        match self {
            Engine::Interval(engine) => engine.wait_for_one(now),
            Engine::Greedy(engine) => engine.wait_for_one(now),
        }
    }
}

/// What does not fit is further away than anybody waits.
pub(super) fn saturating_u64(n: u128) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Reservations can outgrow 64 bits only at rates beyond any machine.
pub(super) fn saturating_i64(n: i128) -> i64 {
    i64::try_from(n).unwrap_or(if n < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_cut_to_the_end_it_lies_beyond() {
        assert_eq!([i128::MIN, -7, 7, i128::MAX].map(saturating_i64), [i64::MIN, -7, 7, i64::MAX]);
        assert_eq!([7, u128::MAX].map(saturating_u64), [7, u64::MAX]);
    }
}
