use super::blocks::{Place, add_alone};
use crate::sync::atomic::{AtomicU64, Ordering};

/// A number that only grows, for what comes with every call. Whoever shares it counts it up, each thread
/// apart where there is room for that.
#[derive(Debug)]
pub(crate) struct ThreadCounter {
    /// What is counted by threads that have no cell.
    shared: AtomicU64,
    place: Place<1>,
}

impl ThreadCounter {
    /// A counter with a place in the blocks, as long as there are any.
    pub(crate) fn new() -> Self {
        Self { shared: AtomicU64::new(0), place: Place::take() }
    }

    /// A counter of its own, for what there may be very many of.
    pub(crate) fn small() -> Self {
        Self { shared: AtomicU64::new(0), place: Place::nowhere() }
    }

    #[inline]
    pub(crate) fn increment(&self) {
        match self.place.mine() {
            Some([cell]) => add_alone(cell, 1),
            None => self.increment_shared(),
        }
    }

    #[cold]
    fn increment_shared(&self) {
        self.shared.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        let in_blocks: u64 =
            self.place.everybodys().map(|[cell]| cell.load(Ordering::Relaxed)).sum();
        self.shared.load(Ordering::Relaxed) + in_blocks
    }
}

#[cfg(test)]
mod tests {
    use std::{
        cell::Cell,
        sync::{Arc, Barrier},
        thread,
    };

    use super::{
        super::blocks::{BLOCKS, CELLS},
        *,
    };

    fn count(counter: &ThreadCounter, times: u64) {
        (0..times).for_each(|_| counter.increment());
    }

    #[test]
    fn what_more_threads_count_than_there_are_blocks_is_all_there() {
        let counter = Arc::new(ThreadCounter::new());
        let all_there = Arc::new(Barrier::new(BLOCKS + 6));
        let threads: Vec<_> = (0..BLOCKS + 6)
            .map(|_| (Arc::clone(&counter), Arc::clone(&all_there)))
            .map(|(counter, all_there)| {
                thread::spawn(move || {
                    count(&counter, 100);
                    all_there.wait();
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(counter.get(), 100 * (BLOCKS as u64 + 6));
    }

    #[test]
    fn a_thread_goes_on_where_one_that_has_ended_left_off() {
        let counter = Arc::new(ThreadCounter::new());
        for round in 1..=3 {
            let other = Arc::clone(&counter);
            thread::spawn(move || count(&other, 5)).join().unwrap();
            count(&counter, 1);
            assert_eq!(counter.get(), 6 * round);
        }
    }

    #[test]
    fn a_counter_in_the_place_of_one_that_is_gone_starts_at_zero() {
        let rounds = if cfg!(miri) { 3 } else { 3 * CELLS };
        for _ in 0..rounds {
            let counter = ThreadCounter::new();
            assert_eq!(counter.get(), 0);
            count(&counter, 2);
            assert_eq!(counter.get(), 2);
        }
    }

    #[test]
    fn counters_beyond_the_last_cell_count_as_well() {
        let counters: Vec<_> = (0..CELLS + 5).map(|_| ThreadCounter::new()).collect();
        counters.iter().zip(1..).for_each(|(counter, times)| count(counter, times % 4));
        assert!(counters.iter().zip(1..).all(|(counter, times)| counter.get() == times % 4));
        let small = ThreadCounter::small();
        count(&small, 3);
        assert_eq!(small.get(), 3);
    }

    #[test]
    fn counting_from_a_destructor_of_the_thread_is_not_lost() {
        struct Last(Arc<ThreadCounter>);

        impl Drop for Last {
            fn drop(&mut self) {
                self.0.increment();
            }
        }

        thread_local! {
            static LAST: Cell<Option<Last>> = const { Cell::new(None) };
        }

        let counter = Arc::new(ThreadCounter::new());
        let other = Arc::clone(&counter);
        thread::spawn(move || {
            LAST.set(Some(Last(Arc::clone(&other))));
            other.increment();
        })
        .join()
        .unwrap();
        assert_eq!(counter.get(), 2);
    }
}
