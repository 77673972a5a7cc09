//! An allocator that counts, for tests of what allocates nothing or a limited number of bytes. Each
//! such test binary makes it its own: `#[global_allocator] static ALLOCATOR: Counting = Counting;`.

#![allow(unsafe_code)] // an allocator cannot be written without

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

/// The system's allocator, counting what each thread asks of it.
#[derive(Debug)]
pub struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes that are in use: below zero in a thread that frees what others have allocated.
    static BYTES: Cell<isize> = const { Cell::new(0) };
    /// The most that there were.
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: everything is the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        let bytes = BYTES.get().saturating_add_unsigned(layout.size());
        BYTES.set(bytes);
        PEAK.set(PEAK.get().max(bytes));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get().saturating_sub_unsigned(layout.size()));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

/// How many allocations this thread makes in `of`.
pub fn allocations(of: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    of();
    ALLOCATIONS.get() - before
}

/// The most bytes that this thread has in use at one moment of `of`, beyond those before it.
pub fn peak_bytes(of: impl FnOnce()) -> usize {
    let before = BYTES.get();
    PEAK.set(before);
    of();
    PEAK.get().abs_diff(before)
}
