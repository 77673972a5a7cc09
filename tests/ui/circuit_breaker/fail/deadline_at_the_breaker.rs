// wrong: deadline
// instead: it belongs to `retry` and `time_limiter`

use resilience::{Error, circuit_breaker};

#[circuit_breaker(deadline)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
