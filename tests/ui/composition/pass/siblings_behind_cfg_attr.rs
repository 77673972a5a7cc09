//! `cfg_attr` siblings compose wherever they stand; paths may be written in full.

#![deny(warnings)]

use resilience::{Error, retry};

#[retry(max_attempts = 2)]
#[cfg_attr(all(), resilience::circuit_breaker(name = "a"), doc = "Composed.")]
#[cfg_attr(any(), resilience::bulkhead(no_such_key = 1))]
#[cfg_attr(all(), cfg_attr(all(), resilience::rate_limiter))]
#[resilience::time_limiter(timeout_duration = "1s")]
async fn after(text: String) -> Result<usize, Error> {
    Ok(text.len())
}

#[cfg_attr(all(), resilience::circuit_breaker)]
#[must_use = "not ours"]
#[retry]
#[inline]
async fn before(text: String) -> Result<usize, Error> {
    Ok(text.len())
}

fn main() {
    drop(after(String::new()));
    drop(before(String::new()));
}
