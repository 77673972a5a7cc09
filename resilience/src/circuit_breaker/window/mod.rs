//! Sliding windows: what the last calls, or the calls of the last seconds, came to.
//!
//! Both kinds keep running sums, so that neither recording nor reading walks over the window.

mod count;
mod time;

use count::CountWindow;
use time::TimeWindow;

/// How one call ended, as far as a window is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) failed: bool,
    pub(super) slow: bool,
}

/// Sums over the calls in a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) calls: u64,
    pub(super) failed: u64,
    pub(super) slow: u64,
    pub(super) slow_failed: u64,
}

impl Sums {
    fn add(&mut self, call: Call) {
        self.calls += 1;
        self.failed += u64::from(call.failed);
        self.slow += u64::from(call.slow);
        self.slow_failed += u64::from(call.failed && call.slow);
    }

    fn remove(&mut self, call: Call) {
        self.calls -= 1;
        self.failed -= u64::from(call.failed);
        self.slow -= u64::from(call.slow);
        self.slow_failed -= u64::from(call.failed && call.slow);
    }

    fn remove_all(&mut self, other: &Sums) {
        self.calls -= other.calls;
        self.failed -= other.failed;
        self.slow -= other.slow;
        self.slow_failed -= other.slow_failed;
    }
}

/// Which calls a window holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The last so many calls.
    Calls(u32),
    /// The calls of the current second and the seconds before it, so many in all.
    Seconds(u32),
}

/// A sliding window. Time is in nanoseconds and must not go back.
#[derive(Debug, Clone)]
pub(super) enum Window {
    Count(CountWindow),
    Time(TimeWindow),
}

impl Window {
    pub(super) fn new(shape: Shape) -> Self {
        match shape {
            Shape::Calls(size) => Window::Count(CountWindow::new(size)),
            Shape::Seconds(size) => Window::Time(TimeWindow::new(size)),
        }
    }

    pub(super) fn shape(&self) -> Shape {
        match self {
            Window::Count(window) => Shape::Calls(window.size()),
            Window::Time(window) => Shape::Seconds(window.size()),
        }
    }

    pub(super) fn record(&mut self, call: Call, now: u64) {
        match self {
            Window::Count(window) => window.record(call),
            Window::Time(window) => window.record(call, now),
        }
    }

    /// Whether the next call pushes one out. Seconds never are full.
    pub(super) fn is_full(&self) -> bool {
        match self {
            Window::Count(window) => window.is_full(),
            Window::Time(_) => false,
        }
    }

    /// Whether it holds as many successes that were not slow as fit, and nothing else.
    pub(super) fn is_full_of_successes(&self) -> bool {
        match self {
            Window::Count(window) => window.is_full_of_successes(),
            Window::Time(_) => false,
        }
    }

    /// The sums at `now`, without changing the window.
    pub(super) fn sums(&self, now: u64) -> Sums {
        match self {
            Window::Count(window) => window.sums(),
            Window::Time(window) => window.sums(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn call() -> impl Strategy<Value = Call> {
        (any::<bool>(), any::<bool>()).prop_map(|(failed, slow)| Call { failed, slow })
    }

    /// Steps of a clock: mostly within a second, sometimes far beyond any window.
    fn pause() -> impl Strategy<Value = u64> {
        prop_oneof![
            4 => 0..SECOND / 2,
            2 => 0..3 * SECOND,
            1 => 0..40 * SECOND,
            1 => Just(SECOND),
        ]
    }

    fn recount(calls: impl Iterator<Item = Call>) -> Sums {
        let mut sums = Sums::default();
        calls.for_each(|call| sums.add(call));
        sums
    }

    proptest! {
        #[test]
        fn a_count_window_equals_a_recount_of_the_last_calls(
            size in 1_u32..200,
            calls in proptest::collection::vec(call(), 0..400),
        ) {
            let mut window = Window::new(Shape::Calls(size));
            for (i, &call) in calls.iter().enumerate() {
                window.record(call, 0);
                let recorded = &calls[..=i];
                let last = recorded.iter().rev().take(size as usize).copied();
                prop_assert_eq!(window.sums(0), recount(last));
            }
        }

        #[test]
        fn c01_a_time_window_equals_a_recount_of_the_last_seconds(
            size in 1_u32..20,
            start in 0..u64::MAX / 2,
            steps in proptest::collection::vec((pause(), pause(), call()), 0..400),
        ) {
            let mut window = Window::new(Shape::Seconds(size));
            let mut now = start;
            let mut recorded = Vec::new();
            for (before, after, call) in steps {
                now += before;
                window.record(call, now);
                recorded.push((now / SECOND, call));
                now += after;
                let first = (now / SECOND + 1).saturating_sub(u64::from(size));
                let last = recorded.iter().filter(|(second, _)| *second >= first);
                prop_assert_eq!(window.sums(now), recount(last.map(|(_, call)| *call)));
            }
        }
    }

    #[test]
    fn c05_windows_of_one_call_and_of_one_second_hold_just_that() {
        let failed = Call { failed: true, slow: false };
        let fine = Call { failed: false, slow: false };
        let mut calls = Window::new(Shape::Calls(1));
        calls.record(failed, 0);
        calls.record(fine, 0);
        assert_eq!(calls.sums(0), recount([fine].into_iter()));
        let mut seconds = Window::new(Shape::Seconds(1));
        seconds.record(failed, SECOND - 1);
        seconds.record(fine, SECOND);
        assert_eq!(seconds.sums(SECOND), recount([fine].into_iter()));
    }

    #[test]
    fn reading_a_time_window_late_takes_nothing_out_of_it() {
        let failed = Call { failed: true, slow: true };
        let mut window = Window::new(Shape::Seconds(2));
        window.record(failed, 0);
        assert_eq!(window.sums(5 * SECOND), Sums::default());
        assert_eq!(window.sums(SECOND), recount([failed].into_iter()));
    }
}
