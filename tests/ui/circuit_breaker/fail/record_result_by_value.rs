// wrong: is_empty
// instead: fn(&u32) -> bool

use resilience::{Error, circuit_breaker};

#[circuit_breaker(record_result = is_empty)]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn is_empty(value: u32) -> bool {
    value == 0
}

fn main() {}
