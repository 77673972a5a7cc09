// wrong: -1
// instead: a whole number from 1

use resilience::{Error, circuit_breaker};

#[circuit_breaker(sliding_window_size = -1)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
