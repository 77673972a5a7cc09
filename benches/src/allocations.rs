//! Allocators that count. A benchmark makes one of them its global one.

#![allow(unsafe_code)] // an allocator cannot be written without

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::atomic::{AtomicI64, Ordering::Relaxed},
};

/// The system's allocator, counting for each thread what it asks for: cheap, and nothing that two
/// threads share, so that it does not weigh on those who allocate.
#[derive(Debug)]
pub struct ByThread;

/// The system's allocator, counting what is in use in all.
#[derive(Debug)]
pub struct InUse;

thread_local! {
    static MADE: Cell<u64> = const { Cell::new(0) };
}
static ALLOCATIONS: AtomicI64 = AtomicI64::new(0);
static BYTES: AtomicI64 = AtomicI64::new(0);

// SAFETY: everything is the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for ByThread {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MADE.set(MADE.get() + 1);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

// SAFETY: everything is the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for InUse {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        BYTES.fetch_add(bytes(layout), Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        ALLOCATIONS.fetch_sub(1, Relaxed);
        BYTES.fetch_sub(bytes(layout), Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

fn bytes(layout: Layout) -> i64 {
    i64::try_from(layout.size()).unwrap_or(i64::MAX)
}

/// How many allocations this thread makes in a `call` on average, with [`ByThread`] as the allocator.
pub fn of_a_call<O>(calls: u32, call: &mut impl FnMut() -> O) -> f64 {
    let before = MADE.get();
    (0..calls).for_each(|_| drop(call()));
    let made = MADE.get() - before;
    u32::try_from(made).map_or(f64::INFINITY, f64::from) / f64::from(calls)
}

/// How many allocations are in use, with [`InUse`] as the allocator.
pub fn in_use() -> i64 {
    ALLOCATIONS.load(Relaxed)
}

/// How many bytes these have.
pub fn bytes_in_use() -> i64 {
    BYTES.load(Relaxed)
}
