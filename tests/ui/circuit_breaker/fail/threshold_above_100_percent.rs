// wrong: 101
// instead: a number above 0 and up to 100

use resilience::{Error, circuit_breaker};

#[circuit_breaker(failure_rate_threshold = 101)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
