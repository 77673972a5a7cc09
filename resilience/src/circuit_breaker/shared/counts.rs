use std::{collections::VecDeque, ops::AddAssign, time::Duration};

use crate::clock::saturating_nanos;

/// Numbers of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in super::super) struct Counts {
    pub(in super::super) calls: u64,
    pub(in super::super) failed: u64,
    pub(in super::super) slow: u64,
}

impl Counts {
    /// What has come since there were `before`. Nothing may have: a success that is told without the lock
    /// can show before or after its neighbours.
    pub(in super::super) fn since(self, before: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(before.calls),
            failed: self.failed.saturating_sub(before.failed),
            slow: self.slow.saturating_sub(before.slow),
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.failed += other.failed;
        self.slow += other.slow;
    }
}

/// Finds out of totals that only grow what is to be told: the calls of stays in CLOSED.
///
/// So that no call has anything to count for the others.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// The stay that the breaker is in, and whether its calls are told.
    stay: (u64, bool),
    /// The totals when it began, or was told of last.
    told: Counts,
    /// From stays that have ended.
    untold: Counts,
}

impl Ledger {
    /// Begins another stay, unless it is the same.
    pub(super) fn turn(&mut self, stay: (u64, bool), totals: impl FnOnce() -> Counts) {
        if self.stay != stay {
            let totals = totals();
            self.close(totals);
            self.stay = stay;
        }
    }

    /// Takes what was not told yet.
    pub(super) fn take(&mut self, totals: Counts) -> Counts {
        self.close(totals);
        std::mem::take(&mut self.untold)
    }

    fn close(&mut self, totals: Counts) {
        if self.stay.1 {
            self.untold += totals.since(self.told);
        }
        self.told = totals;
    }
}

/// Into how many parts a window is divided, here and in the store.
const BUCKETS: u64 = 10;

/// What this process has told of within the window.
#[derive(Debug, Default)]
pub(super) struct Recent(VecDeque<(u64, Counts)>);

impl Recent {
    /// Adds what is told now; what all in the window comes to.
    pub(super) fn add(&mut self, counts: Counts, now: u64, window: Duration) -> Counts {
        let present = now / (saturating_nanos(window) / BUCKETS).max(1);
        self.0.retain(|(bucket, _)| present.checked_sub(*bucket).is_some_and(|age| age < BUCKETS));
        match self.0.back_mut() {
            Some((bucket, sums)) if *bucket == present => *sums += counts,
            _ => self.0.push_back((present, counts)),
        }
        self.0.iter().fold(Counts::default(), |mut sums, (_, counts)| {
            sums += *counts;
            sums
        })
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(calls: u64, failed: u64) -> Counts {
        Counts { calls, failed, slow: 0 }
    }

    #[test]
    fn what_was_counted_while_closed_is_told_once() {
        let mut ledger = Ledger::default();
        ledger.turn((1, true), Counts::default);
        assert_eq!(ledger.take(calls(7, 2)), calls(7, 2));
        assert_eq!(ledger.take(calls(9, 3)), calls(2, 1));
        assert_eq!(ledger.take(calls(9, 3)), calls(0, 0));
    }

    #[test]
    fn what_opened_a_breaker_is_told_after_it_and_what_came_while_open_is_not() {
        let mut ledger = Ledger::default();
        ledger.turn((1, true), Counts::default);
        ledger.turn((2, false), || calls(5, 5));
        ledger.turn((3, true), || calls(6, 6));
        assert_eq!(ledger.take(calls(8, 6)), calls(7, 5));
    }

    #[test]
    fn a_window_forgets_a_tenth_at_a_time() {
        let window = Duration::from_nanos(100);
        let mut recent = Recent::default();
        assert_eq!(recent.add(calls(1, 1), 5, window), calls(1, 1));
        assert_eq!(recent.add(calls(2, 0), 9, window), calls(3, 1));
        assert_eq!(recent.add(calls(4, 0), 99, window), calls(7, 1));
        assert_eq!(recent.add(calls(8, 0), 100, window), calls(12, 0));
        assert_eq!(recent.add(calls(0, 0), 1_000, window), calls(0, 0));
    }
}
