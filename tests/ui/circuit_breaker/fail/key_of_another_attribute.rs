// wrong: retry_if
// instead: it belongs to `retry`

use resilience::{Error, circuit_breaker};

#[circuit_breaker(retry_if = drop)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
