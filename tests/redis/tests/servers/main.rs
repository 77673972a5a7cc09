//! Shared limits against real servers. One program, so that the tests, which mostly wait, do so at
//! the same time.

mod callers;
mod clusters;
mod counting;
mod failover;
mod faults;
mod keys;
mod leases;
mod outages;
mod scripts;
mod waiting;
