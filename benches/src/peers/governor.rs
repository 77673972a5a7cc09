//! governor's limiter, on its default clock and on the standard library's.

use std::num::NonZero;

use governor::{
    DefaultDirectRateLimiter, Quota, RateLimiter,
    clock::{Clock, MonotonicClock},
    middleware::NoOpMiddleware,
    state::{InMemoryState, NotKeyed},
};

use crate::settings;

/// A limiter on the standard library's clock, which ours uses too.
pub type OnStdClock = RateLimiter<
    NotKeyed,
    InMemoryState,
    MonotonicClock,
    NoOpMiddleware<<MonotonicClock as Clock>::Instant>,
>;

fn quota() -> Quota {
    Quota::per_second(const { NonZero::new(settings::LIMIT).expect("not 0") })
}

/// A limiter that lets everything through, on governor's default clock (the processor's counter).
pub fn limiter() -> DefaultDirectRateLimiter {
    RateLimiter::direct(quota())
}

/// The same on the standard library's clock.
pub fn on_std_clock() -> OnStdClock {
    RateLimiter::direct_with_clock(quota(), MonotonicClock)
}

/// A limiter that has no token left for an hour.
///
/// # Panics
///
/// Never: the first token is there.
pub fn empty() -> DefaultDirectRateLimiter {
    let limiter = RateLimiter::direct(Quota::per_hour(NonZero::<u32>::MIN));
    limiter.check().expect("the first token");
    limiter
}
