use std::sync::{Arc, OnceLock};

use super::Outcome;
use crate::{
    counter::Counter,
    timing::{SharedRecorder, ThreadRecorder, Timing},
};

/// How long the calls of a breaker took, by their outcomes. Those that are one name by different keys take
/// it down together: there may be very many of them.
pub(super) struct Durations {
    recorders: Arc<Recorders>,
    own: Own,
}

/// What an instance has beside.
enum Own {
    /// An instance that is known by its name alone: the recorders of those under it.
    Parent { of_keys: OnceLock<Arc<Recorders>> },
    /// The instance of a key: its successful calls.
    Member { successful: Counter },
}

struct Recorders {
    /// What comes with every call.
    successful: ThreadRecorder,
    failed: SharedRecorder,
    ignored: SharedRecorder,
}

/// How long the calls under one name took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Timings {
    pub(crate) successful: Timing,
    pub(crate) failed: Timing,
    pub(crate) ignored: Timing,
}

impl Recorders {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            successful: ThreadRecorder::new(),
            failed: SharedRecorder::new(),
            ignored: SharedRecorder::new(),
        })
    }

    fn timings(&self, now: u64) -> Timings {
        Timings {
            successful: self.successful.timing(now),
            failed: self.failed.timing(now),
            ignored: self.ignored.timing(now),
        }
    }
}

impl Durations {
    /// Of an instance that is known by its name alone.
    pub(super) fn new() -> Self {
        Self { recorders: Recorders::new(), own: Own::Parent { of_keys: OnceLock::new() } }
    }

    /// Of an instance for a key under the one that has these.
    pub(super) fn of_key(&self) -> Self {
        let recorders = match &self.own {
            Own::Parent { of_keys } => of_keys.get_or_init(Recorders::new),
            Own::Member { .. } => &self.recorders,
        };
        let own = Own::Member { successful: Counter::default() };
        Self { recorders: Arc::clone(recorders), own }
    }

    /// Counts a success that took `elapsed` and ended at `now`, in nanoseconds.
    #[inline]
    pub(super) fn succeed(&self, elapsed: u64, now: u64) {
        self.recorders.successful.record(elapsed, now);
        self.count_own_success();
    }

    /// Counts a success that nobody has timed.
    #[inline]
    pub(super) fn succeed_untimed(&self) {
        self.recorders.successful.record_untimed();
        self.count_own_success();
    }

    #[inline]
    fn count_own_success(&self) {
        if let Own::Member { successful } = &self.own {
            successful.increment();
        }
    }

    /// Counts a call that ended at `now` and took `elapsed`, in nanoseconds, if somebody has timed it.
    pub(super) fn end(&self, outcome: Outcome, elapsed: Option<u64>, now: u64) {
        let recorder = match outcome {
            Outcome::Success => {
                return match elapsed {
                    Some(elapsed) => self.succeed(elapsed, now),
                    None => self.succeed_untimed(),
                };
            }
            Outcome::Failure => &self.recorders.failed,
            Outcome::Ignored => &self.recorders.ignored,
        };
        match elapsed {
            Some(elapsed) => recorder.record(elapsed, now),
            None => recorder.record_untimed(),
        }
    }

    /// How many calls of this instance alone succeeded.
    pub(super) fn successful(&self) -> u64 {
        match &self.own {
            Own::Parent { .. } => self.recorders.successful.count(),
            Own::Member { successful } => successful.get(),
        }
    }

    /// Those of the instance and of all under it.
    pub(super) fn timings(&self, now: u64) -> Timings {
        let own = self.recorders.timings(now);
        match &self.own {
            Own::Parent { of_keys } => match of_keys.get() {
                Some(of_keys) => own.and(&of_keys.timings(now)),
                None => own,
            },
            Own::Member { .. } => own,
        }
    }
}

impl Timings {
    fn and(self, other: &Self) -> Self {
        Self {
            successful: self.successful.and(&other.successful),
            failed: self.failed.and(&other.failed),
            ignored: self.ignored.and(&other.ignored),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::{CircuitBreaker, CircuitBreakerConfig, Clock, circuit_breaker::State};

    fn breaker(is_timed: bool) -> (CircuitBreaker, crate::ManualClock) {
        let (clock, hand) = Clock::manual(Duration::ZERO);
        let config = CircuitBreakerConfig::builder()
            .ignore_errors(["ignored"])
            .slow_call_rate_enabled(is_timed)
            .build()
            .unwrap();
        (CircuitBreaker::with_clock("b", config, clock), hand)
    }

    #[test]
    fn every_way_to_succeed_is_timed() {
        let (breaker, hand) = breaker(true);
        let call = || {
            let permit = breaker.try_acquire().unwrap();
            hand.advance(Duration::from_millis(7));
            permit.success();
        };
        call(); // calm
        breaker.try_acquire().unwrap().failure();
        call(); // with a failure in the window
        breaker.on_success(Duration::from_millis(7));
        let capture = breaker.events();
        capture.capture(true);
        call(); // observed
        let timings = breaker.timings();
        assert_eq!(timings.successful.count, 4);
        assert_eq!(timings.successful.buckets[3], 4);
        assert_eq!(timings.successful.sum, Duration::from_millis(28));
        assert_eq!(timings.failed.count, 1);
        assert_eq!(breaker.metrics().totals.successful, 4);
    }

    #[test]
    fn failures_and_ignored_errors_are_timed_apart() {
        let (breaker, _hand) = breaker(true);
        breaker.on_error(Duration::from_secs(3), &[]);
        breaker.on_error(Duration::from_secs(100), &["ignored"]);
        let timings = breaker.timings();
        assert_eq!(timings.failed.max, Duration::from_secs(3));
        assert_eq!(timings.ignored.max, Duration::from_secs(100));
        assert_eq!((timings.successful.count, timings.failed.count), (0, 1));
    }

    #[test]
    fn without_a_slow_call_rate_successes_are_counted_but_not_timed() {
        let (breaker, _hand) = breaker(false);
        for _ in 0..200 {
            breaker.try_acquire().unwrap().success(); // calm in the end
        }
        breaker.try_acquire().unwrap().failure();
        breaker.try_acquire().unwrap().success();
        let timings = breaker.timings();
        assert_eq!([timings.successful.count, timings.failed.count], [201, 1]);
        for timing in [timings.successful, timings.failed] {
            assert_eq!((timing.buckets.iter().sum(), timing.sum), (0, Duration::ZERO));
        }
    }

    #[test]
    fn calls_that_disabled_lets_in_are_not_timed() {
        let (breaker, _hand) = breaker(true);
        breaker.transition_to(State::Disabled).unwrap();
        breaker.try_acquire().unwrap().success();
        assert_eq!(breaker.timings().successful.count, 0);
    }

    #[test]
    fn the_calls_of_keys_are_timed_together() {
        let (breaker, _hand) = breaker(true);
        breaker.keyed("eu").on_success(Duration::from_millis(1));
        breaker.keyed("us").on_success(Duration::from_millis(1));
        breaker.on_success(Duration::from_millis(1));
        assert_eq!(breaker.timings().successful.count, 3);
        assert_eq!(breaker.metrics().totals.successful, 1);
        assert_eq!(breaker.keyed("eu").metrics().totals.successful, 1);
    }
}
