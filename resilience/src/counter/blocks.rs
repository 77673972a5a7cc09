//! Memory in which each thread counts for itself.
//!
//! To count up a number that other threads count up too takes a locked instruction: as long as much
//! else that a call does here, and several times that when another core has touched the number since.
//! So each thread counts in a block of memory of its own, where a load and a store do, and whoever wants
//! to know the number adds up the blocks.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::sync::plain::Mutex;

/// How many threads have a block at a time. A bit for each.
pub(super) const BLOCKS: usize = 64;

/// How many numbers there is room for in a block.
pub(super) const CELLS: usize = 16 * 1024;

/// The cells of one thread.
struct Block([AtomicU64; CELLS]);

/// Zeroed memory that is not there before it is written to: nothing is ever allocated here.
static ALL: [Block; BLOCKS] = [const { Block([const { AtomicU64::new(0) }; CELLS]) }; BLOCKS];

/// Which blocks a thread has at present.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// Which blocks a thread ever had.
static USED: AtomicU64 = AtomicU64::new(0);

static FREE: Mutex<Free> = Mutex::new(Free { next: 0, returned: Vec::new() });

/// The cells that nobody has. All of them are zero, in every block.
struct Free {
    /// From here on nobody has had one.
    next: usize,
    /// Runs of cells: the first one, and how many.
    returned: Vec<(usize, usize)>,
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
            // Release: the next thread that takes the block goes on from what this one has counted.
            TAKEN.fetch_and(!(1 << index), Ordering::Release);
        }
    }
}

/// `N` cells next to each other in the block of every thread, all zero at first.
#[derive(Debug)]
pub(crate) struct Place<const N: usize> {
    /// Beyond the end of the blocks where there was no room.
    first: usize,
}

impl<const N: usize> Place<N> {
    /// Cells that nobody else has, as long as there are any.
    pub(crate) fn take() -> Self {
        // What models would have to follow is the same without.
        let first = if cfg!(resilience_model) { None } else { FREE.lock().take(N) };
        Self { first: first.unwrap_or(CELLS) }
    }

    /// No cells, for what there may be very many of.
    pub(crate) fn nowhere() -> Self {
        Self { first: CELLS }
    }

    /// The cells of the present thread, which nobody else writes to. It may have none.
    #[inline]
    pub(crate) fn mine(&self) -> Option<&'static [AtomicU64; N]> {
        match MINE.get() {
            Some(block) => self.within(block),
            None => self.after_choice(),
        }
    }

    #[inline(never)]
    fn after_choice(&self) -> Option<&'static [AtomicU64; N]> {
        CHOICE.try_with(Choice::choose).ok().flatten().and_then(|block| self.within(block))
    }

    #[inline]
    fn within(&self, block: &'static Block) -> Option<&'static [AtomicU64; N]> {
        block.0.get(self.first..).and_then(<[AtomicU64]>::first_chunk)
    }

    /// The cells in the blocks that a thread ever had: in all others they are zero.
    pub(crate) fn everybodys(&self) -> impl Iterator<Item = &'static [AtomicU64; N]> {
        let used = USED.load(Ordering::Relaxed);
        let blocks = ALL.iter().enumerate().filter(move |(index, _)| used >> index & 1 != 0);
        blocks.filter_map(|(_, block)| self.within(block))
    }
}

impl Free {
    fn take(&mut self, count: usize) -> Option<usize> {
        if let Some(index) = self.returned.iter().rposition(|&(_, length)| length == count) {
            return Some(self.returned.swap_remove(index).0);
        }
        let first = self.next;
        let fits = first + count <= CELLS;
        self.next += if fits { count } else { 0 };
        fits.then_some(first)
    }
}

impl<const N: usize> Drop for Place<N> {
    fn drop(&mut self) {
        if self.first >= CELLS {
            return;
        }
        // Whoever has counted here did so before this was dropped, and who gets the cells next learns of
        // it through the lock.
        self.everybodys().flatten().for_each(|cell| cell.store(0, Ordering::Relaxed));
        FREE.lock().returned.push((self.first, N));
    }
}

/// Counts up a cell that nobody else writes to.
#[inline]
pub(crate) fn add_alone(cell: &AtomicU64, n: u64) {
    cell.store(cell.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
}
