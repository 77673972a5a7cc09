// wrong: on_timeout
// instead: write `fallback = [on_timeout, pay_later]` in `#[circuit_breaker]`

#![deny(deprecated)]

use resilience::{Error, TimedOut, circuit_breaker, retry, time_limiter};

#[time_limiter(fallback = on_timeout)]
#[circuit_breaker(fallback = pay_later)]
#[retry]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn pay_later(_: Error) -> Result<u32, Error> {
    Ok(2)
}

fn on_timeout(_: TimedOut) -> Result<u32, Error> {
    Ok(3)
}

fn main() {}
