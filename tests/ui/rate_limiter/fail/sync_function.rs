// wrong: fn
// instead: make it `async`

use resilience::{Error, rate_limiter};

#[rate_limiter(name = "payment")]
fn pay(amount: u32) -> Result<u32, Error> {
    Ok(amount)
}

fn main() {
    let _ = pay(1);
}
