// wrong: circuit_breaker = "paymentCb"
// instead: write `#[circuit_breaker(name = "paymentCb")]`

use resilience::{Error, circuit_breaker, retry};

#[retry]
#[circuit_breaker = "paymentCb"]
async fn pay() -> Result<u32, Error> {
    Ok(1)
}

fn main() {}
