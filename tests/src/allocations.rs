//! An allocator that counts, for tests of what allocates nothing. Each such test binary makes it its
//! own: `#[global_allocator] static ALLOCATOR: Counting = Counting;`.

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
}

// SAFETY: everything is the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
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
