//! The process's monotonic clock, set once to the wall time of its first use.

use std::{
    sync::OnceLock,
    time::{SystemTime, UNIX_EPOCH},
};

use super::saturating_nanos;

/// Nanoseconds since the Unix epoch.
#[inline]
pub(super) fn now() -> u64 {
    // The distance of the two lines, which is below zero where the monotonic one is ahead: both are far
    // from where 64 bits end.
    static DISTANCE: OnceLock<u64> = OnceLock::new();
    let distance = DISTANCE.get_or_init(|| {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, saturating_nanos);
        wall.wrapping_sub(monotonic())
    });
    monotonic().wrapping_add(*distance)
}

/// Tokio's clock, which a test may have paused. It may stand before the time at which it was asked
/// first, which was another runtime's.
#[cfg(feature = "test-util")]
fn monotonic() -> u64 {
    use tokio::time::Instant;

    static FIRST: OnceLock<Instant> = OnceLock::new();
    let now = Instant::now();
    let first = *FIRST.get_or_init(|| now);
    match now.checked_duration_since(first) {
        Some(since) => saturating_nanos(since),
        None => saturating_nanos(first.saturating_duration_since(now)).wrapping_neg(),
    }
}

/// The processor's counter of cycles.
#[cfg(all(feature = "tsc", not(feature = "test-util")))]
#[inline]
fn monotonic() -> u64 {
    static CLOCK: OnceLock<(quanta::Clock, u64)> = OnceLock::new();
    let (clock, first) = CLOCK.get_or_init(|| {
        let clock = quanta::Clock::new();
        let first = clock.raw();
        (clock, first)
    });
    clock.delta_as_nanos(*first, clock.raw())
}

/// What [`std::time::Instant`] reads there. It is asked for directly because that keeps its number to
/// itself: to get at it through a difference costs a fifth of the reading.
#[cfg(all(target_os = "linux", not(any(feature = "test-util", feature = "tsc"))))]
#[inline]
#[allow(unsafe_code)]
fn monotonic() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` lives through the call, which writes to nothing else.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    debug_assert_eq!(status, 0, "Linux always has this clock");
    #[allow(clippy::cast_sign_loss)] // never below zero: it starts with the machine
    let (seconds, nanos) = (time.tv_sec as u64, time.tv_nsec as u64);
    seconds.wrapping_mul(super::NANOS_PER_SECOND).wrapping_add(nanos)
}

#[cfg(not(any(target_os = "linux", feature = "test-util", feature = "tsc")))]
fn monotonic() -> u64 {
    use std::time::Instant;

    static FIRST: OnceLock<Instant> = OnceLock::new();
    let now = Instant::now();
    saturating_nanos(now.saturating_duration_since(*FIRST.get_or_init(|| now)))
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::*;

    #[test]
    fn it_shows_the_wall_time_and_goes_on_as_time_does() {
        let wall = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, saturating_nanos);
        let before = now();
        // Set once and then on its own: a little off, unless somebody sets the machine's clock meanwhile.
        assert!(wall().abs_diff(before) < 10_000_000_000, "{before}");
        thread::sleep(Duration::from_millis(20));
        let passed = now() - before;
        assert!((19_000_000..5_000_000_000).contains(&passed), "{passed}");
    }
}
