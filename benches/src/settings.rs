//! The settings that ours and the peers' instances have in common.

use std::time::Duration;

/// Attempts of a retry, the first included.
pub const ATTEMPTS: u32 = 3;
/// What a retry waits.
pub const WAIT: Duration = Duration::from_millis(500);
/// Calls that a breaker's window holds, and that it needs to judge.
pub const WINDOW: u32 = 100;
/// Failed calls, in percent, that open a breaker.
pub const FAILURE_RATE: u8 = 50;
/// From what a call is slow.
pub const SLOW: Duration = Duration::from_mins(1);
/// How long a breaker is open, and the length of a peer's window that only knows time.
pub const OPEN: Duration = Duration::from_mins(1);
/// Probes of a half-open breaker.
pub const PROBES: u32 = 10;
/// Calls a second that a limiter lets through: more than any of these benchmarks makes.
pub const LIMIT: u32 = 1_000_000_000;
/// The time limit of a call.
pub const TIMEOUT: Duration = Duration::from_secs(1);
/// Calls at once that a bulkhead lets through.
pub const CONCURRENT: u32 = 25;
