use std::{
    array,
    sync::atomic::{AtomicU64 as StdAtomicU64, Ordering},
    time::Duration,
};

use super::{
    Timing,
    histogram::{BUCKETS, bucket},
};
use crate::{
    counter::{Place, add_alone},
    sync::atomic::AtomicU64,
};

/// The places of the numbers: the buckets come first.
const UNTIMED: usize = BUCKETS;
const SUM: usize = UNTIMED + 1;
const LONGEST: usize = SUM + 1;
const CELLS: usize = LONGEST + 2;

/// The longest call of a period: the period's number above its length, so that of two such words
/// the greater is the later one, or of one period the longer one. Calls of a period go into the word of its
/// parity: the last period's is there while the present one's grows.
#[derive(Clone, Copy)]
struct Longest(u64);

impl Longest {
    /// Lengths are in units of 64 nanoseconds, which fit whole milliseconds and take no more than a
    /// shift, up to some 73 minutes.
    const UNIT_SHIFT: u32 = 6;
    /// Above a length is room for the period of any time: 64 - 36 bits.
    const LENGTH_BITS: u32 = 36;
    const MAX_LENGTH: u64 = (1 << Self::LENGTH_BITS) - 1;

    /// A power of two of nanoseconds: some 69 seconds.
    #[inline]
    fn period(now: u64) -> u64 {
        now >> 36
    }

    #[inline]
    fn place(now: u64) -> usize {
        LONGEST + usize::from(Self::period(now) & 1 != 0)
    }

    #[inline]
    fn new(elapsed: u64, now: u64) -> Self {
        let length = (elapsed >> Self::UNIT_SHIFT).min(Self::MAX_LENGTH);
        Self((Self::period(now) << Self::LENGTH_BITS) | length)
    }

    /// How long it was, if it is of this period or the last.
    fn recent(self, now: u64) -> Option<Duration> {
        let age = Self::period(now).checked_sub(self.0 >> Self::LENGTH_BITS)?;
        let nanos = (self.0 & Self::MAX_LENGTH) << Self::UNIT_SHIFT;
        (age <= 1).then(|| Duration::from_nanos(nanos))
    }
}

/// Takes down how long calls take, for what comes now and then or there is very much of.
#[derive(Debug)]
pub(crate) struct SharedRecorder([AtomicU64; CELLS]);

impl SharedRecorder {
    pub(crate) fn new() -> Self {
        Self(array::from_fn(|_| AtomicU64::new(0)))
    }

    /// Counts a call that took `elapsed` and ended at `now`, in nanoseconds.
    #[cold]
    pub(crate) fn record(&self, elapsed: u64, now: u64) {
        let cells = &self.0;
        cells[bucket(elapsed)].fetch_add(1, Ordering::Relaxed);
        cells[SUM].fetch_add(elapsed, Ordering::Relaxed);
        cells[Longest::place(now)].fetch_max(Longest::new(elapsed, now).0, Ordering::Relaxed);
    }

    /// Counts a call that nobody has timed.
    #[cold]
    pub(crate) fn record_untimed(&self) {
        self.0[UNTIMED].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn timing(&self, now: u64) -> Timing {
        timing(&array::from_fn(|i| self.0[i].load(Ordering::Relaxed)), now)
    }
}

/// Takes down how long calls take, each thread apart where there is room for that.
#[derive(Debug)]
pub(crate) struct ThreadRecorder {
    /// For threads that have no cells.
    shared: SharedRecorder,
    place: Place<CELLS>,
}

impl ThreadRecorder {
    pub(crate) fn new() -> Self {
        Self { shared: SharedRecorder::new(), place: Place::take() }
    }

    /// Counts a call that took `elapsed` and ended at `now`, in nanoseconds.
    #[inline]
    pub(crate) fn record(&self, elapsed: u64, now: u64) {
        let Some(cells) = self.place.mine() else { return self.shared.record(elapsed, now) };
        add_alone(&cells[bucket(elapsed)], 1);
        add_alone(&cells[SUM], elapsed);
        let (longest, word) = (&cells[Longest::place(now)], Longest::new(elapsed, now).0);
        if word > longest.load(Ordering::Relaxed) {
            longest.store(word, Ordering::Relaxed);
        }
    }

    /// Counts a call that nobody has timed.
    #[inline]
    pub(crate) fn record_untimed(&self) {
        match self.place.mine() {
            Some(cells) => add_alone(&cells[UNTIMED], 1),
            None => self.shared.record_untimed(),
        }
    }

    /// How many calls were counted.
    pub(crate) fn count(&self) -> u64 {
        let load = |cells: &[StdAtomicU64; CELLS]| -> u64 {
            cells[..=UNTIMED].iter().map(|cell| cell.load(Ordering::Relaxed)).sum()
        };
        let in_blocks: u64 = self.place.everybodys().map(load).sum();
        self.shared.timing(0).count + in_blocks
    }

    pub(crate) fn timing(&self, now: u64) -> Timing {
        self.place.everybodys().fold(self.shared.timing(now), |sum, cells| {
            let cells = array::from_fn(|i| cells[i].load(Ordering::Relaxed));
            sum.and(&timing(&cells, now))
        })
    }
}

fn timing(cells: &[u64; CELLS], now: u64) -> Timing {
    let buckets: [u64; BUCKETS] = array::from_fn(|i| cells[i]);
    let longest = cells[LONGEST..].iter().filter_map(|&word| Longest(word).recent(now)).max();
    Timing {
        count: buckets.iter().sum::<u64>() + cells[UNTIMED],
        sum: Duration::from_nanos(cells[SUM]),
        max: longest.unwrap_or_default(),
        buckets,
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use super::*;

    const MILLI: u64 = 1_000_000;
    const MINUTE: u64 = 60_000 * MILLI;

    /// What was recorded, by both kinds of recorders.
    fn both(calls: &[(u64, u64)], now: u64) -> Timing {
        let (by_thread, shared) = (ThreadRecorder::new(), SharedRecorder::new());
        for &(elapsed, at) in calls {
            by_thread.record(elapsed, at);
            shared.record(elapsed, at);
        }
        assert_eq!(by_thread.timing(now), shared.timing(now));
        assert_eq!(by_thread.count(), calls.len() as u64);
        shared.timing(now)
    }

    #[test]
    fn calls_are_counted_by_their_length() {
        let timing = both(&[(0, 1), (MILLI, 2), (3 * MILLI, 3), (MINUTE + 1, 4)], 5);
        assert_eq!((timing.count, timing.sum.as_millis()), (4, 60_004));
        assert_eq!([timing.buckets[0], timing.buckets[2], timing.buckets[15]], [2, 1, 1]);
        assert_eq!(timing.max, Duration::from_nanos(MINUTE), "up to 64 ns less");
    }

    #[test]
    fn the_longest_call_is_forgotten_after_two_minutes_or_so() {
        let calls = [(9 * MILLI, MINUTE), (2 * MILLI, 2 * MINUTE), (MILLI, 2 * MINUTE)];
        let max = |now| u64::try_from(both(&calls, now).max.as_nanos()).unwrap();
        assert_eq!(max(2 * MINUTE), 9 * MILLI);
        assert_eq!(max(3 * MINUTE), 2 * MILLI);
        assert_eq!(max(10 * MINUTE), 0);
        assert_eq!(both(&calls, 10 * MINUTE).count, 3);
    }

    #[test]
    fn the_longest_call_is_known_at_any_time_of_the_clock() {
        for now in [0, 1 << 36, 1_800_000_000_000 * MILLI, u64::MAX - 1] {
            let calls = [(3 * MILLI, now), (2 * MILLI, now)];
            assert_eq!(both(&calls, now).max, Duration::from_millis(3), "{now}");
            assert_eq!(both(&calls, now.saturating_add(1)).max, Duration::from_millis(3), "{now}");
        }
        let clock = crate::Clock::system();
        let recorder = ThreadRecorder::new();
        recorder.record(3 * MILLI, clock.now());
        assert_eq!(recorder.timing(clock.now()).max, Duration::from_millis(3));
    }

    #[test]
    fn a_call_of_hours_is_not_taken_for_one_of_a_later_period() {
        let timing = both(&[(1_000 * MINUTE, 2 * MINUTE), (5, 3 * MINUTE)], 3 * MINUTE);
        assert_eq!(timing.max, Duration::from_nanos(Longest::MAX_LENGTH << Longest::UNIT_SHIFT));
        assert_eq!(timing.sum, Duration::from_nanos(1_000 * MINUTE + 5));
    }

    #[test]
    fn what_was_not_timed_counts_in_no_bucket() {
        let recorder = ThreadRecorder::new();
        recorder.record_untimed();
        recorder.shared.record_untimed();
        let timing = recorder.timing(0);
        assert_eq!((timing.count, recorder.count()), (2, 2));
        assert_eq!(timing.buckets, [0; BUCKETS]);
    }

    #[test]
    fn threads_record_together() {
        let recorder = Arc::new(ThreadRecorder::new());
        let threads: Vec<_> = (0..4)
            .map(|_| Arc::clone(&recorder))
            .map(|recorder| {
                thread::spawn(move || (1..=100).for_each(|n| recorder.record(64 * n, n)))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let timing = recorder.timing(100);
        assert_eq!((timing.count, timing.sum.as_nanos()), (400, 4 * 5_050 * 64));
        assert_eq!(timing.max.as_nanos(), 100 * 64);
    }
}
