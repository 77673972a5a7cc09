//! How long calls take: counted by length, so that what a scrape reads does not grow with the calls.

mod histogram;
mod recorder;

pub(crate) use histogram::{BOUNDS, Timing};
pub(crate) use recorder::{SharedRecorder, ThreadRecorder};
