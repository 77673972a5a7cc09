// wrong: fn
// instead: make it `async`

use resilience::{Error, circuit_breaker};

#[circuit_breaker(name = "payment")]
fn pay(amount: u32) -> Result<u32, Error> {
    Ok(amount)
}

fn main() {
    let _ = pay(1);
}
