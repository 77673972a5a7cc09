//! Nothing in an expansion trips a lint that a strict crate turns on.

#![forbid(unsafe_code)]
#![deny(
    warnings,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    unreachable_pub,
    unused_qualifications,
    unused_lifetimes,
    single_use_lifetimes,
    missing_debug_implementations,
    rust_2018_idioms
)]

use resilience::{CallError, Error, bulkhead, circuit_breaker, rate_limiter, retry, time_limiter};

#[retry(name = "payment", max_attempts = 3, wait_duration = "10ms", fallback = later)]
#[circuit_breaker(record = is_failure, failure_rate_threshold = 50)]
#[rate_limiter(permits = 2)]
#[time_limiter]
#[bulkhead]
async fn pay(card: String, (amount, _currency): (u32, &str), _trace: u64) -> Result<usize, Error> {
    std::future::ready(()).await;
    Ok(card.len() + amount as usize)
}

const fn is_failure(_: &Error) -> bool {
    true
}

fn later(_: CallError<Error>) -> Result<usize, Error> {
    Ok(0)
}

fn main() {
    drop(pay(String::new(), (1, ""), 2));
}
