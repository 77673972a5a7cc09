//! What many instances, many waiting calls and many calls do: memory, wake-ups, order. Exits with 1
//! when something does not hold that must.

use std::process::ExitCode;

use resilience_bench::allocations::InUse;

mod keys;
mod report;
mod soak;
mod waiting;

#[global_allocator]
static ALLOCATOR: InUse = InUse;

fn main() -> ExitCode {
    let mut report = report::Report::new();
    keys::live(&mut report);
    keys::more_than_fit(&mut report);
    waiting::at_limiters(&mut report);
    waiting::at_a_bulkhead(&mut report);
    soak::many_calls(&mut report);
    report.finish()
}
