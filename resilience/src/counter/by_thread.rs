//! A counter for what comes with every call, which threads do not take from each other.
//!
//! To count up a number that other threads count up too takes a locked instruction: as long as much
//! else that a call does here, and several times that when another core has touched the number since.
//! So each thread counts in a block of memory of its own, where a load and a store do, and whoever wants
//! to know the number adds up the blocks.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64 as StdAtomicU64, Ordering},
};

use crate::sync::{atomic::AtomicU64, plain::Mutex};

/// How many threads have a block at a time; the others count in the counter itself. A bit for each.
const BLOCKS: usize = 64;

/// How many counters there are room for in a block; the others are counted in themselves.
const CELLS: usize = 1024;

/// The cells of one thread, by counter.
struct Block([StdAtomicU64; CELLS]);

/// Zeroed memory that is not there before it is written to: nothing is ever allocated here.
static ALL: [Block; BLOCKS] = [const { Block([const { StdAtomicU64::new(0) }; CELLS]) }; BLOCKS];

/// Which blocks a thread has at present.
static TAKEN: StdAtomicU64 = StdAtomicU64::new(0);

/// Which blocks a thread ever had.
static USED: StdAtomicU64 = StdAtomicU64::new(0);

static FREE_CELLS: Mutex<FreeCells> = Mutex::new(FreeCells { next: 0, returned: Vec::new() });

/// The cells that no counter has. All of them are zero, in every block.
struct FreeCells {
    /// From here on nobody has had one.
    next: usize,
    returned: Vec<usize>,
}

thread_local! {
    /// The block of the present thread, if it has one.
    static MINE: Cell<Option<&'static Block>> = const { Cell::new(None) };

    /// What gives it back. Apart, because only what need not be dropped is found without asking.
    static CHOICE: Choice = const { Choice(Cell::new(Chosen::NotYet)) };
}

struct Choice(Cell<Chosen>);

#[derive(Clone, Copy)]
enum Chosen {
    NotYet,
    Block(usize),
    /// There was none left.
    Without,
}

impl Choice {
    /// Takes a block for the present thread, unless that was tried before.
    fn choose(&self) -> Option<&'static Block> {
        let Chosen::NotYet = self.0.get() else { return None };
        // Acquire: what the last thread counted in the block is seen by this one.
        let taken = TAKEN.fetch_update(Ordering::Acquire, Ordering::Relaxed, |taken| {
            (taken != u64::MAX).then(|| taken | 1 << taken.trailing_ones())
        });
        let Ok(before) = taken else {
            self.0.set(Chosen::Without);
            return None;
        };
        let index = before.trailing_ones() as usize;
        USED.fetch_or(1 << index, Ordering::Relaxed);
        self.0.set(Chosen::Block(index));
        MINE.set(Some(&ALL[index]));
        MINE.get()
    }
}

impl Drop for Choice {
    fn drop(&mut self) {
        if let Chosen::Block(index) = self.0.get() {
            MINE.set(None);
            TAKEN.fetch_and(!(1 << index), Ordering::Release);
        }
    }
}

/// A number that only grows. It is counted up by whoever shares it, each thread apart where there is
/// room for that.
#[derive(Debug)]
pub(crate) struct ThreadCounter {
    /// What is counted here.
    shared: AtomicU64,
    /// Where the blocks count; beyond their end for a counter that has no place there.
    cell: usize,
}

impl ThreadCounter {
    /// A counter with a place in the blocks, as long as there are any.
    pub(crate) fn new() -> Self {
        // What models would have to follow is the same without.
        let cell = if cfg!(resilience_model) { None } else { FREE_CELLS.lock().take() };
        Self { shared: AtomicU64::new(0), cell: cell.unwrap_or(CELLS) }
    }

    /// A counter of its own, for what there may be very many of.
    pub(crate) fn small() -> Self {
        Self { shared: AtomicU64::new(0), cell: CELLS }
    }

    #[inline]
    pub(crate) fn increment(&self) {
        match MINE.get() {
            Some(block) if self.cell < CELLS => self.count_in(block),
            _ => self.increment_elsewise(),
        }
    }

    #[inline(never)]
    fn increment_elsewise(&self) {
        let block = CHOICE.try_with(Choice::choose).ok().flatten();
        match block {
            Some(block) if self.cell < CELLS => self.count_in(block),
            _ => drop(self.shared.fetch_add(1, Ordering::Relaxed)),
        }
    }

    #[inline]
    fn count_in(&self, mine: &Block) {
        if let Some(cell) = mine.0.get(self.cell) {
            // Nobody else writes to it.
            cell.store(cell.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> u64 {
        let in_blocks: u64 = self.cells().map(|cell| cell.load(Ordering::Relaxed)).sum();
        self.shared.load(Ordering::Relaxed) + in_blocks
    }

    /// Its cells in the blocks that a thread ever had: in all others they are zero.
    fn cells(&self) -> impl Iterator<Item = &'static StdAtomicU64> {
        let (used, cell) = (USED.load(Ordering::Relaxed), self.cell);
        let blocks = ALL.iter().enumerate().filter(move |(index, _)| used >> index & 1 != 0);
        blocks.filter_map(move |(_, block)| block.0.get(cell))
    }
}

impl FreeCells {
    fn take(&mut self) -> Option<usize> {
        self.returned.pop().or_else(|| {
            let cell = self.next;
            self.next += usize::from(cell < CELLS);
            (cell < CELLS).then_some(cell)
        })
    }
}

impl Drop for ThreadCounter {
    fn drop(&mut self) {
        if self.cell >= CELLS {
            return;
        }
        // Whoever has counted here did so before this was dropped, and who gets the cell next learns of
        // it through the lock.
        self.cells().for_each(|cell| cell.store(0, Ordering::Relaxed));
        FREE_CELLS.lock().returned.push(self.cell);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, Barrier},
        thread,
    };

    use super::*;

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
