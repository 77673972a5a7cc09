// wrong: failure_rate_threshold
// instead: it belongs to `circuit_breaker`

use resilience::{Error, retry};

#[retry(failure_rate_threshold = 50)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
