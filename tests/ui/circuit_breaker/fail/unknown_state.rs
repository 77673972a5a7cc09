// wrong: "AJAR"
// instead: CLOSED, OPEN, HALF_OPEN

use resilience::{Error, circuit_breaker};

#[circuit_breaker(initial_state = "AJAR")]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
