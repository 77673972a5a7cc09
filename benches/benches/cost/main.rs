//! What a protected call costs around a body that is ready at once, ours beside the peers' in one run.

use std::path::Path;

use resilience_bench::{Run, allocations::ByThread};

mod bulkhead;
mod circuit_breaker;
mod keyed;
mod many;
mod rate_limiter;
mod retry;
mod stack;
mod time_limiter;
mod two_threads;
mod windows;

#[global_allocator]
static ALLOCATOR: ByThread = ByThread;

/// How often every row is measured, each time between all others.
const PASSES: u32 = 3;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime");
    let _entered = runtime.enter();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("tmp is in target");
    let mut run = Run::new(target);
    let subjects = [
        retry::rows,
        circuit_breaker::rows,
        windows::rows,
        rate_limiter::rows,
        time_limiter::rows,
        bulkhead::rows,
        stack::rows,
        keyed::rows,
        many::rows,
        two_threads::rows,
    ];
    // A neighbour of the machine may be busy for as long as one row takes.
    for _ in 0..PASSES {
        run.next_pass();
        for subject in subjects {
            subject(&mut run);
        }
    }
    run.finish();
}
