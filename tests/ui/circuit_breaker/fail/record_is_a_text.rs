// wrong: "is_timeout"
// instead: write `record = is_timeout`

use resilience::{Error, circuit_breaker};

#[circuit_breaker(record = "is_timeout")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
