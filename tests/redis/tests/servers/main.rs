//! Shared limits against real servers. One program, so that the tests, which mostly wait, do so at
//! the same time.

use std::thread;

mod callers;
mod clusters;
mod counting;
mod failover;
mod faults;
mod keys;
mod leases;
mod left_alone;
mod listeners;
mod outages;
mod scripts;
mod single_flight;
mod waiting;

/// Tries several cases at the same time: mostly they wait.
fn at_once<C: Send>(cases: impl IntoIterator<Item = C>, check: impl Fn(C) + Sync) {
    thread::scope(|scope| {
        for case in cases {
            let check = &check;
            scope.spawn(move || check(case));
        }
    });
}
